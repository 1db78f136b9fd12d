"""Chain: a robot seen between two links, as a serial arm, with its kinematics and its solvers."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jointwise.config import DEFAULT_SOLVE_CONFIG, SolveConfig, check_config
from jointwise.engines.choice import is_serial
from jointwise.engines.closed_form.batch import solutions_batch
from jointwise.engines.closed_form.branches import branch_name
from jointwise.engines.closed_form.redundancy import redundancy_intervals
from jointwise.engines.closed_form.solutions import all_solutions
from jointwise.engines.run_options import Device, RunOptions
from jointwise.engines.serial.forward import jacobian, joint_frames, manipulability, tip_poses
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks, dhfile, urdf
from jointwise.model.arm import ArmModel, arm_model
from jointwise.model.dh import Row
from jointwise.model.joint_values import JointValues
from jointwise.model.joints import DHJoint
from jointwise.model.kinematic_tree import LinkPlace
from jointwise.model.outline import outline
from jointwise.model.table import table
from jointwise.model.tips import default_tip, joints_of
from jointwise.model.tree_path import Skeleton, arm_as_tree, chain_between, joint_limits
from jointwise.model.tree_poses import inverse
from jointwise.model.urdf import Source
from jointwise.model.working_radius import working_radius
from jointwise.posture import Posture, check_posture
from jointwise.problem import Problem
from jointwise.results.result import IDENTITY
from jointwise.robot import Robot
from jointwise.targets import (
    AnyTarget,
    AnyTargets,
    PackedTarget,
    Pose,
    pack_target,
    pack_targets,
)
from jointwise.verbs import Verbs

if TYPE_CHECKING:
    from jointwise.engines.serial.check import SerialCheck
    from jointwise.engines.serial.trace import Trace
    from jointwise.results.result import Check
    from jointwise.results.solutions import Solutions, SolutionsBatch
    from jointwise.scene.collision_model import CollisionModel
    from jointwise.shape.geometry import Geometry
    from jointwise.shape.sources.source import ShapeSource


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chain(Verbs):
    """A serial robot arm, from base to end effector. Made by ``Chain.from_dh`` and the like.

    It is a robot seen between two links, made by ``robot.chain(base_link, tip_link)``. The methods
    that make a chain from a file make the robot first.

    Attributes:
        robot: The robot.
        arm: The joints between the two links in numbers.
        base_link: The link that does not move; targets are in its frame.
        tip_link: The link of the end effector.

    Example:
        >>> from jointwise import Chain, puma560
        >>> arm = Chain.from_dh(puma560())
        >>> target = arm.fk([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
        >>> arm.solve(target).converged
        True
    """

    robot: Robot
    arm: ArmModel
    base_link: str
    tip_link: str
    _skeleton: Skeleton
    _base_pose: Floats = field(default_factory=lambda: IDENTITY)
    _geometry: Geometry | None = None
    _collision_model: CollisionModel | None = None

    _noun = "an arm"

    @classmethod
    def from_dh(
        cls,
        rows: Iterable[Row],
        limits: ArrayLike | None = None,
        base: Pose | None = None,
        tool: Pose | None = None,
        names: Sequence[str] | None = None,
    ) -> Chain:
        """An arm of standard Denavit-Hartenberg rows.

        Args:
            rows: From base to end effector; a row is ``Rz(theta) · Tz(d) · Tx(a) · Rx(alpha)``: a
                ``DHJoint`` or a tuple (theta, d, a, alpha). An array (n, 4) is such rows.
            limits: (n, 2) lower and upper limit of each joint [rad, m]; infinite where unlimited.
                None: no limits.
            base: Pose of the first row's frame in the base frame, (4, 4) or ``RigidTransform``, or
                its position (3,) [m].
            tool: Pose of the end effector in the last row's frame.
            names: One name per joint; ``joint1``, ``joint2``, ... if not given.

        Raises:
            InvalidInputError: Something does not fit; the text says what.

        Example:
            >>> from jointwise import DHJoint
            >>> rows = [DHJoint(a=0.4), DHJoint(a=0.3)]
            >>> arm = Chain.from_dh(rows, limits=[[-2.0, 2.0], [-2.5, 2.5]])
            >>> arm.fk([0.0, 0.0])[:3, 3]
            array([0.7, 0. , 0. ])
        """
        return Robot.from_dh(rows, limits, base, tool, names).chain()

    @classmethod
    def from_mdh(
        cls,
        rows: Iterable[Row],
        limits: ArrayLike | None = None,
        base: Pose | None = None,
        tool: Pose | None = None,
        names: Sequence[str] | None = None,
    ) -> Chain:
        """An arm of modified (Craig) Denavit-Hartenberg rows.

        A row is ``Rx(alpha) · Tx(a) · Rz(theta) · Tz(d)``: its ``a`` and ``alpha`` act before its
        motion. Everything else as in ``from_dh``.

        Example:
            >>> from jointwise import DHJoint
            >>> arm = Chain.from_mdh([DHJoint(d=0.3), DHJoint(a=0.4)], tool=[0.2, 0.0, 0.0])
            >>> arm.fk([0.0, 0.0])[:3, 3].round(6)
            array([0.6, 0. , 0.3])
        """
        return Robot.from_mdh(rows, limits, base, tool, names).chain()

    @classmethod
    def from_table(
        cls,
        path: str | PathLike[str],
        convention: dhfile.Convention | None = None,
        angles: dhfile.Angles | None = None,
    ) -> Chain:
        """An arm of the DH table in a file, as textbooks and data sheets print it.

        A CSV file has a header and one row per joint; its columns are some of ``name``, ``type``,
        ``theta``, ``d``, ``a``, ``alpha``, ``lower``, ``upper``. A TOML file has the same as
        ``joints``, a list of tables, and may set ``convention`` and ``angles`` itself, and
        ``base`` and ``tool``, each by ``xyz`` and ``rpy``. Missing numbers are 0, missing limits
        are infinite; lengths are metres.

        Args:
            path: A ``.toml`` or ``.csv`` file.
            convention: ``"standard"`` or ``"modified"`` rows; None: as the file says, else
                standard.
            angles: ``"radians"`` or ``"degrees"``; None: as the file says, else radians.

        Raises:
            InvalidInputError: The file cannot be read; the text says which row and what is wrong.

        Example:
            >>> from pathlib import Path
            >>> from tempfile import TemporaryDirectory
            >>> with TemporaryDirectory() as folder:
            ...     file = Path(folder) / "arm.toml"
            ...     _ = file.write_text("joints = [{ a = 0.4 }, { a = 0.3 }]")
            ...     arm = Chain.from_table(file)
            >>> arm.joint_names, arm.fk([0.0, 0.0])[:3, 3]
            (('joint1', 'joint2'), array([0.7, 0. , 0. ]))
        """
        return Robot.from_table(path, convention, angles).chain()

    @classmethod
    def from_urdf(
        cls, source: Source, base_link: str | None = None, tip_link: str | None = None
    ) -> Chain:
        """An arm from a URDF: the joints between two of its links.

        It is ``Robot.from_urdf(source).chain(base_link, tip_link)``, except that other parts of the
        file may be unreadable: a planar joint or a loop beside the arm is left out.

        Args:
            source: A path, an open file, or the text itself.
            base_link: The link that does not move. None: the root.
            tip_link: The link of the end effector. None: the tool frame or the hand of the only
                arm; a link of a finger, a camera or a wheel is never the default.

        Raises:
            InvalidInputError: It is no URDF, or there are several candidates; the text names them,
                the likeliest first.

        Example:
            >>> urdf = Chain.load("panda").to_urdf("panda")  # or the path of a file
            >>> Chain.from_urdf(urdf, base_link="base_link", tip_link="link4").n
            4
        """
        robot, tip = Robot._around_chain(source, base_link, tip_link)
        return robot.chain(base_link, tip)

    @classmethod
    def load(
        cls,
        name: str | PathLike[str],
        base_link: str | None = None,
        tip_link: str | None = None,
    ) -> Chain:
        """A robot by its name, as ``jointwise.robots`` lists them, or an arm from a file.

        Args:
            name: A robot's name, or the path of a ``.urdf`` file, of an ``.xml`` file with MJCF, or
                of a DH table, ``.toml`` or ``.csv``.
            base_link: As for ``from_urdf``.
            tip_link: As for ``from_urdf``.

        Example:
            >>> Chain.load("panda").n
            7
        """
        robot, tip = Robot._load(name, (base_link, tip_link))
        return robot.chain(base_link, tip)

    @classmethod
    def _between(cls, robot: Robot, base_link: str | None, tip_link: str | None) -> Chain:
        """The arm between two links of a robot; see ``Robot.chain``."""
        model = robot.model
        for link in (base_link, tip_link):
            if link is not None:
                checks.known_name("link", link, model.links, model.name)
        base = model.root if base_link is None else base_link
        tip = tip_link
        if tip is None:
            tip = default_tip(joints_of(model), base, model.title)
        if base != model.root and (robot.scene is not None or (robot.base_pose != IDENTITY).any()):
            raise InvalidInputError(
                f"the robot has a scene or a base pose, and {base!r} is not its root: make the "
                "chain first, and then use with_base and with_scene on it."
            )
        found = chain_between(model, base, tip)
        links = found.links
        if (robot.base_pose != IDENTITY).any():
            links = _moved(links, robot.base_pose)
        arm = arm_model(links, found.prismatic, found.limits)
        chain = cls(robot, arm, base, tip, found, robot.base_pose)
        return chain._like_robot()

    @classmethod
    def _from_arm(cls, arm: ArmModel, names: tuple[str, ...]) -> Chain:
        """The chain of an arm in numbers, equal to the last bit; its tip is called ``tip``."""
        robot = Robot(arm_as_tree(arm, names, "tip"))
        # The arm that the robot finds may have other signs of zeros.
        return replace(robot.chain(tip_link="tip"), arm=arm)

    def _like_robot(self) -> Chain:
        """The same with the shape and the scene of its robot, if it has them."""
        robot = self.robot
        if robot.geometry is None:
            return self
        from jointwise.shape.chain.geometry import chain_geometry

        shape = chain_geometry(
            robot.geometry, robot.model, self.arm, self.joint_names, self.base_link
        )
        chain, around = replace(self, _geometry=shape), robot._collision_model
        if around is None:
            return chain
        return chain.with_scene(
            around.scene,
            margin=around.margin,
            self_collision=around.self_collision,
            allow=around.allow,
        )

    @property
    def _numbers(self) -> ArmModel:
        return self.arm

    @property
    def joint_names(self) -> tuple[str, ...]:
        """One name per joint, from base to end effector."""
        return self._skeleton.names

    @property
    def max_velocity(self) -> Floats:
        """(n,) largest velocity of each joint [rad/s, m/s]; infinite if unknown. Read-only."""
        return self._skeleton.max_velocity

    @property
    def max_reach(self) -> float:
        """Upper bound of the distance from the first joint to the end effector [m]."""
        return self.arm.max_reach

    @property
    def home(self) -> Floats:
        """(n,) the maker's home configuration [rad, m]; ``mid_range`` if unknown. Read-only."""
        model, bodies = self.robot.model, list(self._skeleton.bodies)
        if (model.home == model.mid_range).all():
            return self.mid_range
        tree = model.tree
        values = tree.ratios[bodies] * model.home[tree.variables[bodies]] + tree.offsets[bodies]
        values.setflags(write=False)
        return values

    @property
    def base_pose(self) -> Floats:
        """(4, 4) pose of the base link in the frame of targets and scenes. Read-only."""
        return self._base_pose

    @property
    def rows(self) -> tuple[DHJoint, ...]:
        """The DH rows it was made of; empty if it was made of something else."""
        table = self.robot._dh
        whole = self.base_link == self.robot.model.root and len(self.joint_names) == self.robot.n
        return table.rows if table is not None and whole else ()

    @property
    def modified(self) -> bool:
        """Whether the rows are modified (Craig) DH rows."""
        return self.robot._dh is not None and self.robot._dh.modified

    @property
    def closed_form(self) -> str | None:
        """The structure by which all solutions are computed in closed form, or None.

        Example:
            >>> from jointwise import robots
            >>> robots.ur5e().closed_form
            'axes 2, 3 and 4 parallel, axes 5 and 6 meet'
        """
        form = self.arm.closed_form
        return None if form is None else form.description

    def with_limits(self, limits: ArrayLike | Mapping[str, ArrayLike] | None) -> Chain:
        """The same arm with other limits.

        If other joints of the robot follow one of the arm's, their limits narrow the new ones.

        Args:
            limits: As in ``from_dh``, or a mapping of some joint names to their two limits.

        Example:
            >>> arm = Chain.load("panda")
            >>> narrow = arm.with_limits(0.5 * arm.limits)
            >>> narrow.limits[0]
            array([-1.44865,  1.44865])
        """
        checked = self._checked_limits(limits)
        model, bodies = self.robot.model, list(self._skeleton.bodies)
        tree, every = model.tree, model.limits.copy()
        ends = (checked - tree.offsets[bodies, None]) / tree.ratios[bodies, None]
        every[tree.variables[bodies]] = np.sort(ends, axis=1)
        robot = self.robot._with_limits(every)
        if (robot.limits != every).any():  # narrowed by mimic joints
            checked = joint_limits(robot.model, np.array(bodies))
        arm = arm_model(self.arm.links, self.prismatic, checked)
        shape = self._geometry
        if shape is not None:
            from jointwise.shape.geometry import with_limits

            shape = with_limits(shape, checked)
        skeleton = self._skeleton._replace(limits=checked)
        return replace(self, robot=robot, arm=arm, _skeleton=skeleton)._with_shape(shape)

    def with_tool(self, tool: Pose, name: str = "tool") -> Chain:
        """The same arm with a tool: a new end effector, fixed to the old one.

        Args:
            tool: Pose of the new end effector in the old one, or its position (3,) [m] there.
            name: Name of the new link; a number is added if the robot has it.

        Example:
            >>> arm = Chain.load("ur5e")
            >>> longer = arm.with_tool([0.0, 0.0, 0.1])
            >>> longer.tip_link, round(longer.max_reach - arm.max_reach, 3) > 0
            ('tool', True)
        """
        pose, links = checks.frame("tool", tool), self.arm.links.copy()
        links[-1] = links[-1] @ pose
        robot, tip = self.robot._with_tool(self.tip_link, pose, name)
        arm = arm_model(links, self.prismatic, self.limits)
        return replace(self, robot=robot, arm=arm, tip_link=tip)

    def with_base(self, base: Pose) -> Chain:
        """The same arm at another place, such as on a table; targets are in the world then.

        Its shape moves along; the scene stays.

        Args:
            base: Pose of the base link in the world, or its position (3,) [m]; it replaces another.

        Example:
            >>> arm = Chain.load("ur5e")
            >>> on_table = arm.with_base([0.0, 0.0, 0.8])
            >>> float((on_table.fk(arm.mid_range) - arm.fk(arm.mid_range))[2, 3].round(6))
            0.8
        """
        pose = checks.frame("base", base)
        pose.setflags(write=False)
        is_moved = (self._base_pose != IDENTITY).any()
        move = pose @ inverse(self._base_pose) if is_moved else pose
        arm = arm_model(_moved(self.arm.links, move), self.prismatic, self.limits)
        shape = self._geometry
        if shape is not None:
            from jointwise.shape.geometry import moved

            shape = moved(shape, move)
        robot = self.robot
        if self.base_link == robot.model.root:
            robot = robot._with(_base_pose=pose)
        return replace(self, robot=robot, arm=arm, _base_pose=pose)._with_shape(shape)

    def _shapes_from(self, *options: Any) -> ShapeSource:
        return self.robot._shapes_from(*options)

    def _known_shapes(self) -> ShapeSource:
        return self.robot._known_shapes()

    def _carrier(self, link: str | None) -> tuple[Floats, LinkPlace | None]:
        if link is not None and link != self.tip_link:
            raise InvalidInputError(
                f"link is {link!r}: an arm carries things at its end effector, {self.tip_link!r}. "
                "Use chain.robot.attach(...) for another link."
            )
        return np.vstack([self.arm.links[-1], [0.0, 0.0, 0.0, 1.0]]), None

    def _shape_of(self, shapes: ShapeSource) -> Geometry:
        """The shape from a source, which knows the robot where its file has it."""
        arm, is_moved = self.arm, (self._base_pose != IDENTITY).any()
        if is_moved:
            links = self.arm.links.copy()
            links[0] = self._skeleton.links[0]
            arm = arm_model(links, self.prismatic, self.limits)
        shape = shapes.for_chain(self.robot.model, arm, self.joint_names, self.base_link)
        if not is_moved:
            return shape
        from jointwise.shape.geometry import moved

        return moved(shape, self._base_pose)

    def to_urdf(self, name: str = "arm") -> str:
        """The arm as the text of a URDF: joints and limits from base to end effector.

        Its links are ``base_link``, ``link1``, ``link2``, ... and ``tip``. Numbers are written in
        full, so ``Chain.from_urdf`` gives the same arm. Effort and velocity limits, which are
        unknown here, are large.

        Args:
            name: The robot's name.

        Example:
            >>> print(Chain.load("panda").to_urdf("panda")[:42])
            <?xml version="1.0"?>
            <robot name="panda">
        """
        return urdf.write(self.arm, self.joint_names, self.max_velocity, name)

    # Forward kinematics

    def fk(self, q: JointValues, device: Device = "cpu") -> Floats:
        """Forward kinematics: the pose of the end effector, ``T_base_tip``.

        Args:
            q: (n,) one value per joint [rad, m], or a mapping of joint names to values; (k, n)
                for many configurations.
            device: For many, as for ``solve_batch``; arrays on a GPU stay there.

        Returns:
            (4, 4) the pose of the end effector in the base frame, or (k, 4, 4).

        Example:
            >>> arm = Chain.load("panda")
            >>> arm.fk([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0])[:3, 3].round(3)
            array([ 0.548, -0.   ,  0.651])
        """
        return tip_poses(self.arm, self._values("q", q), device)

    def joint_frames(self, q: JointValues) -> Floats:
        """(n, 4, 4) the frame that each joint carries, base frame; z is the joint's axis.

        Args:
            q: As for ``fk``, one configuration.

        Example:
            >>> Chain.load("panda").joint_frames([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0]).shape
            (7, 4, 4)
        """
        return joint_frames(self.arm, self._values("q", q))

    def jacobian(self, q: JointValues) -> Floats:
        """(6, n) geometric Jacobian of the end effector, base frame: linear, then angular part.

        Args:
            q: As for ``fk``, one configuration.

        Example:
            >>> Chain.load("panda").jacobian([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0]).shape
            (6, 7)
        """
        return jacobian(self.arm, self._values("q", q))

    def manipulability(self, q: JointValues) -> float:
        """Yoshikawa's manipulability: the product of the singular values of the Jacobian.

        It is sqrt(det(J Jᵀ)) for six joints or more, and vanishes at a singularity. Metres and
        radians are mixed, so compare configurations of one arm only.

        Args:
            q: As for ``fk``, one configuration.

        Example:
            >>> arm = Chain.load("ur5e")
            >>> arm.manipulability([0.0, -1.0, 0.0, 0.0, 1.0, 0.0]) < 1e-6  # a straight elbow
            True
        """
        return manipulability(self.arm, self._values("q", q))

    def outline(self, q: JointValues) -> Floats:
        """(k, 3) corners of a polyline from base to end effector [m], base frame, for drawing.

        From joint to joint it goes straight to the axis of the next one, then along it: of a DH
        row these are the lengths a and d. The travel of a prismatic joint is a segment of its own.

        Args:
            q: As for ``fk``, one configuration.

        Example:
            >>> from jointwise import DHJoint
            >>> Chain.from_dh([DHJoint(d=0.5), DHJoint(a=1.0)]).outline([0.0, 0.0])
            array([[0. , 0. , 0. ],
                   [0. , 0. , 0.5],
                   [1. , 0. , 0.5]])
        """
        values = self._values("q", q)
        frames = self.joint_frames(values)
        return outline(self.arm, np.asarray(values, float), frames, self.fk(values))

    def working_radius(self) -> float:
        """Greatest distance of the end effector from the first revolute axis [m], within limits.

        The reach that data sheets print, for the end effector of this chain; many data sheets
        measure to the centre of the wrist. Infinite with an unlimited prismatic joint.

        Example:
            >>> round(Chain.load("panda").working_radius(), 3)
            0.858
        """
        return working_radius(self.arm)

    # All solutions

    def solutions(
        self,
        target: AnyTarget,
        count: int | None = 8,
        *,
        near: JointValues | None = None,
        redundancy: ArrayLike | None = None,
        all_turns: bool = False,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
    ) -> Solutions:
        """Distinct solutions, and whether there are others.

        Poses of an arm with a closed form get all solutions, and ``complete`` is then true:
        provably there are no others. An arm with seven joints has infinitely many solutions;
        those at many values of its ``redundancy`` are found. Other arms and targets are searched,
        without a proof. Solutions that differ by full turns count once. In a scene only free
        solutions are listed; if the list is empty and ``complete``, provably none is free.

        Args:
            target: As for ``solve``.
            count: Largest number of solutions; None: all that are found.
            near: Joint values as for ``fk``: the solutions come in the order of their largest joint
                change from there. None: first the nearest to the middle of the ranges, then each
                the farthest from the others.
            redundancy: A value or (k,) values of the arm angle or of the fixed joint [rad, m], as
                ``closed_form`` says: all solutions at these. For seven joints only.
            all_turns: Whether to list a solution once for each full turn of its joints inside the
                limits, instead of once; ``count`` counts these.
            config: As for ``solve``.

        Returns:
            A sequence of converged results; empty if none was found.

        Example:
            >>> from jointwise import robots
            >>> arm = robots.puma560()
            >>> arm.solutions(arm.fk([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))
            <4 solutions, complete>
        """
        packed = pack_target(target)
        chain, first = self._at_point_of(packed), self._values("near", near)
        check = chain._check_or_none()
        return all_solutions(chain.arm, packed, count, first, config, redundancy, all_turns, check)

    def solutions_batch(
        self,
        targets: AnyTargets,
        *,
        near: JointValues | None = None,
        redundancy: ArrayLike | None = None,
        threads: int | None = None,
        device: Device = "cpu",
    ) -> SolutionsBatch:
        """All solutions of many poses at once, in closed form; in a scene, all free ones.

        Args:
            targets: (m, 4, 4) poses or a SciPy ``RigidTransform`` of many; base frame. An invalid
                row has no solutions and is not ``complete``.
            near: (n,) for all or (m, n) one for each [rad, m]: full turns are chosen so that joint
                values are close to these. None: the middle of the ranges.
            redundancy: For seven joints: the arm angle or the value of the fixed joint, one for all
                or (m,) one for each [rad, m].
            threads: Threads to use. None: one for every core.
            device: As for ``solve_batch``; poses on a GPU stay there, and so do their solutions. Of
                a continuum it gives at most eight solutions. Arms with another structure than a
                spherical wrist with axes 2 and 3 parallel, or axes 2, 3 and 4 parallel, are solved
                on the CPU.

        Raises:
            InvalidInputError: The arm has no closed form, or something about the input is wrong.

        Example:
            >>> arm = Chain.load("ur5e")
            >>> found = arm.solutions_batch(arm.fk(arm.random(seed=1, count=10)))
            >>> bool(found.complete.all()), bool((found.counts > 0).all())
            (True, True)
        """
        _, (packed,) = self._packed(targets, True)
        chain, values = self._at_point_of(packed), self._values("near", near)
        options, check = RunOptions(device, threads=threads), chain._check_or_none()
        return solutions_batch(chain.arm, targets, values, redundancy, options, check)

    def redundancy_intervals(self, target: AnyTarget) -> Floats:
        """(k, 2) intervals of the redundancy in which solutions inside the limits exist [rad, m].

        The redundancy of an arm with seven joints is its arm angle or the value of a joint that is
        fixed, as ``closed_form`` says. Values within one turn are looked at: others that differ by
        full turns reach the same. Gaps shorter than a 256th of the range may be overlooked. A scene
        is not used: solutions may collide.

        Args:
            target: A pose.

        Raises:
            InvalidInputError: The arm or the target has no redundancy.

        Example:
            >>> arm = Chain.load("iiwa14")
            >>> arm.redundancy_intervals(arm.fk(arm.random(seed=1))).shape[1]
            2
        """
        return redundancy_intervals(self._at_point_of(pack_target(target)).arm, target)

    def branch(self, q: JointValues) -> str:
        """Which of the solutions of its pose a configuration is, in words.

        - Shoulder: seen from the first axis towards the wrist, axis 2 points to the left or to the
          right.
        - Elbow: above or below the line from shoulder to wrist, base frame; to its left or right
          if the arm moves in a horizontal plane. A prismatic joint 3 has no elbow.
        - Wrist: flipped where axis 4 · (axis 5 x axis 6) is negative, else straight.

        Args:
            q: Joint values as for ``fk``.

        Returns:
            The name; empty for an arm whose solutions are not told apart like that: it has no
            closed form, or seven joints, or another structure.

        Example:
            >>> from jointwise import robots
            >>> robots.ur5e().branch([0.1, -1.2, 1.5, -0.4, 1.0, 0.3])
            'shoulder left, elbow up, wrist flipped'
        """
        return branch_name(self.arm, self._values("q", q))

    def trace(
        self,
        target: AnyTarget,
        start: JointValues | None = None,
        *,
        posture: Posture | None = None,
        config: SolveConfig = DEFAULT_SOLVE_CONFIG,
    ) -> Trace:
        """The first attempt of a search, with every joint's move of every sweep.

        A closed form and a scene are not used.

        Args:
            target: As for ``solve``.
            start: As for ``solve``.
            posture: As for ``solve``.
            config: As for ``solve``.

        Example:
            >>> trace = Chain.load("panda").trace([0.4, 0.2, 0.5])
            >>> trace.sweeps, trace.converged
            (3, True)
        """
        from jointwise.engines.serial.trace import trace

        check_config(config)
        check_posture(posture)
        preferred = None
        if posture is not None and posture.q is not None:
            preferred = checks.joint_values("posture", self._values("posture", posture.q), self.n)
        first = self._values("start", start)
        if first is None:
            first = self.mid_range if preferred is None else preferred
        q, packed = checks.joint_values("start", first, self.n), pack_target(target)
        return trace(self._at_point_of(packed).arm, packed, q, config, preferred)

    def _at_point_of(self, target: PackedTarget) -> Chain:
        """The same arm with its end effector at the point of a target.

        Raises:
            InvalidInputError: The target has no position, or a weight of 0.
        """
        if not target.kind.has_position:
            raise InvalidInputError(
                f"target is a {target.kind.name}: expected one with a position. Use solve."
            )
        if not is_serial(target):
            raise InvalidInputError("target has a weight of 0: expected one above 0. Use solve.")
        return self if target.point is None else self.with_tool(target.point)

    # What the verbs ask for

    def _problem(
        self,
        targets: Any,
        many: bool,
        start: JointValues | None,
        posture: Posture | None,
        config: SolveConfig,
        path: bool = False,
    ) -> Problem:
        if many or posture is not None or type(config) is not SolveConfig:
            return Verbs._problem(self, targets, many, start, posture, config, path)
        # The most frequent case, and fast.
        if start is not None and type(start) is not np.ndarray:
            start = self._values("start", start)
        target, names = pack_target(targets), self._skeleton.names
        return tuple.__new__(
            Problem,
            (
                self.arm,
                names,
                (self.tip_link,),
                (target,),
                start,
                config,
                None,
                self._collision_model,
                None,
            ),
        )

    def _packed(self, targets: Any, many: bool) -> tuple[tuple[str, ...], tuple[PackedTarget, ...]]:
        if not many:
            return (self.tip_link,), (pack_target(targets),)
        from jointwise.backends.device_arrays import is_on_gpu

        if is_on_gpu(targets):
            from jointwise.engines.run_options import gpu_array

            return (self.tip_link,), (pack_targets(targets, gpu_array),)
        return (self.tip_link,), (pack_targets(targets),)

    def _check(self) -> Check:
        check = self._check_or_none()
        if check is None:
            raise InvalidInputError(
                "the arm has no scene: call with_scene first, arm.with_scene(scene) or "
                "arm.with_scene() for self-collision alone."
            )
        return check

    def _check_or_none(self) -> SerialCheck | None:
        if self._collision_model is None:
            return None
        from jointwise.engines.serial.check import serial_check

        return serial_check(self.arm, self._collision_model)

    def _stepper(self, posture: Posture | None) -> Any:
        from jointwise.engines.tracking.serial import SerialStepper

        if posture is not None and posture.active is not None:
            raise InvalidInputError(
                "the posture has active joints, which the tracker of an arm does not support: use "
                "chain.robot.track(...)."
            )
        return SerialStepper(self.arm)

    @property
    def _random_travel(self) -> float:
        return 5.0 * self.arm.angular_scale

    def __repr__(self) -> str:
        return f"<Chain of {checks.quantity(self.n, 'joint')}: {', '.join(self.joint_names)}>"

    def __str__(self) -> str:
        return table(self.arm, self.joint_names, self.rows, self.modified)


def _moved(links: Floats, pose: Floats) -> Floats:
    """(n+1, 3, 4) the links of an arm whose base is at a pose (4, 4)."""
    moved = links.copy()
    moved[0] = pose[:3] @ np.vstack([moved[0], [0.0, 0.0, 0.0, 1.0]])
    return moved
