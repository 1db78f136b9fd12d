"""Chain: a robot seen between two links, as a serial arm, with its kinematics and its solvers."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jointwise.config import DEFAULT_SOLVE_CONFIG, SolveConfig, check_config
from jointwise.engines.choice import check_listed, check_serial, is_for_arms
from jointwise.engines.run_options import Device, RunOptions
from jointwise.engines.serial.engine import arm_at_point
from jointwise.engines.serial.forward import jacobian, joint_frames, manipulability, tip_poses
from jointwise.errors import InvalidInputError
from jointwise.from_rows import DHRows, FromRows
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.model.arm import ArmModel, arm_model
from jointwise.model.joint_values import JointValues
from jointwise.model.joints import DHJoint
from jointwise.model.kinematic_tree import LinkPlace, TreeModel
from jointwise.model.tips import default_tip, joints_of
from jointwise.model.tree_path import (
    Skeleton,
    arm_as_tree,
    chain_between,
    joint_home,
    joint_limits,
    moved_links,
)
from jointwise.model.tree_poses import inverse, link_poses
from jointwise.posture import Posture, check_posture
from jointwise.problem import Problem
from jointwise.results.result import IDENTITY
from jointwise.robot import Robot
from jointwise.targets import (
    EQUAL_WEIGHT,
    AnyTarget,
    AnyTargets,
    PackedTarget,
    Pose,
    pack_target,
    pack_targets,
)

if TYPE_CHECKING:
    from jointwise.engines.serial.trace import Trace
    from jointwise.model.urdf import Source
    from jointwise.results.result import Check
    from jointwise.results.solutions import Solutions, SolutionsBatch
    from jointwise.scene.collision_model import CollisionModel
    from jointwise.shape.geometry import Geometry
    from jointwise.shape.sources.source import ShapeSource


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chain(FromRows):
    """A serial robot arm, from base to end effector. Made by ``Chain.from_dh`` and the like.

    It is a robot seen between two links, made by ``robot.chain(base_link, tip_link)``. The methods
    that make a chain from a file make the robot first.

    Attributes:
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

    _robot: Robot
    arm: ArmModel
    base_link: str
    tip_link: str
    _skeleton: Skeleton
    _base_pose: Floats = field(default_factory=lambda: IDENTITY)
    _geometry: Geometry | None = None
    _collision_model: CollisionModel | None = None

    _noun = "an arm"

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
    def _of_rows(cls, model: TreeModel, dh: DHRows) -> Chain:
        return Robot(model, _dh=dh).chain()

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
        found, pose = chain_between(model, base, tip), robot.base_pose
        if base != model.root and (robot.scene is not None or (pose != IDENTITY).any()):
            if found.joints[0] == model.links[base].joint:
                raise InvalidInputError(
                    "the robot has a scene or a base pose, and its root moves relative to "
                    f"{base!r} in this chain, so it is not defined which is fixed: make the chain "
                    "from a robot without them, then call with_base and with_scene on the chain."
                )
            pose = pose @ _at_zero(model, base)
            pose.setflags(write=False)
        links = moved_links(found.links, pose) if (pose != IDENTITY).any() else found.links
        arm = arm_model(links, found.prismatic, found.limits)
        return cls(robot, arm, base, tip, found, pose)._like_robot()

    @classmethod
    def _from_arm(cls, arm: ArmModel, names: tuple[str, ...]) -> Chain:
        """The chain of an arm in numbers, equal to the last bit; its tip is called ``tip``."""
        robot = Robot(arm_as_tree(arm, names, "tip"))
        # The arm that the robot finds may have other signs of zeros.
        return replace(robot.chain(tip_link="tip"), arm=arm)

    def _like_robot(self) -> Chain:
        """The same with the shape and the scene of its robot, if it has them."""
        robot = self._robot
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
    def robot(self) -> Robot:
        """The robot, placed as the arm is, with its scene, if any, and everything it holds.

        If the arm has a scene, the shape of the whole robot is found, unless it is known.

        Raises:
            InvalidInputError: The arm has a scene or a base pose, and the robot's root moves
                relative to its base.

        Example:
            >>> arm = Chain.load("ur5e").with_scene(margin=0.01)
            >>> arm.robot.margin
            0.01
        """
        in_scene = self._collision_model is not None
        if (in_scene or (self._base_pose != IDENTITY).any()) and self._root_moves:
            raise InvalidInputError(
                "the arm has a scene or a base pose, and the robot's root moves relative to "
                f"{self.base_link!r}: call with_base and with_scene on a separate robot."
            )
        return _robot_in_scene(self) if in_scene else self._robot

    @property
    def _root_moves(self) -> bool:
        """Whether the root of the robot moves relative to the base link of the arm."""
        model, base = self._robot.model, self.base_link
        return base != model.root and self._skeleton.joints[0] == model.links[base].joint

    @property
    def _numbers(self) -> ArmModel:
        return self.arm

    @property
    def _joints(self) -> Skeleton:
        return self._skeleton

    @property
    def max_reach(self) -> float:
        """Upper bound of the distance from the first joint to the end effector [m]."""
        return self.arm.max_reach

    @property
    def rows(self) -> tuple[DHJoint, ...]:
        """The DH rows it was made of; empty if it was made of something else."""
        table = self._robot._dh
        whole = self.base_link == self._robot.model.root and len(self.joint_names) == self._robot.n
        return table.rows if table is not None and whole else ()

    @property
    def modified(self) -> bool:
        """Whether the rows are modified (Craig) DH rows."""
        return self._robot._dh is not None and self._robot._dh.modified

    @property
    def closed_form(self) -> str | None:
        """The structure that gives all solutions in closed form, or None.

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
        model, joints = self._robot.model, list(self._skeleton.joints)
        tree, every = model.tree, model.limits.copy()
        ends = (checked - tree.offsets[joints, None]) / tree.ratios[joints, None]
        every[tree.variables[joints]] = np.sort(ends, axis=1)
        robot = self._robot._with_limits(every)
        if (robot.limits != every).any():  # narrowed by mimic joints
            checked = joint_limits(robot.model, np.array(joints))
        arm = arm_model(self.arm.links, self.prismatic, checked)
        shape = self._geometry
        if shape is not None:
            from jointwise.shape.geometry import with_limits

            shape = with_limits(shape, checked)
        home = joint_home(robot.model, np.array(joints), checked)
        skeleton = self._skeleton._replace(limits=checked, home=home)
        return replace(self, _robot=robot, arm=arm, _skeleton=skeleton)._with_shape(shape)

    def with_tool(self, tool: Pose, name: str = "tool", *, radius: float | None = None) -> Chain:
        """The same arm with a tool: a new end effector, fixed to the old one.

        Collision checks treat the tool as a capsule with the old and the new end effector on its
        surface, at its two ends. It is not checked against the last link, nor against other links
        that are always close to it, such as those of the wrist.

        Args:
            tool: Pose of the new end effector in the old one, or its position (3,) [m] there.
            name: Name of the new link; a number is added if the robot has it.
            radius: Radius of the capsule [m]. None: the median radius of the spheres of the last
                link. 0: the tool is not checked; use it if ``attach`` adds its shape, or it has
                none.

        Example:
            >>> arm = Chain.load("ur5e")
            >>> longer = arm.with_tool([0.0, 0.0, 0.1])
            >>> longer.tip_link, round(longer.max_reach - arm.max_reach, 3) > 0
            ('tool', True)
        """
        pose, links = checks.frame("tool", tool), self.arm.links.copy()
        links[-1] = links[-1] @ pose
        taken = () if self._geometry is None else self._geometry.attached
        robot, tip = self._robot._with_tool(self.tip_link, pose, name, radius, taken)
        arm = arm_model(links, self.prismatic, self.limits)
        chain = replace(self, _robot=robot, arm=arm, tip_link=tip)
        if self._geometry is None or radius == 0.0:
            return chain
        return chain._with_shape(chain._with_tools(self._geometry))

    def _with_tools(self, shape: Geometry) -> Geometry:
        if not self._robot._tools:
            return shape
        from jointwise.shape.tools import with_tool

        for tool, line in zip(self._robot._tools, self._tool_lines(), strict=True):
            if line is not None:  # else the shape has it
                shape = with_tool(shape, tool, line, self.n - 1)
        return shape

    def _tool_lines(self) -> list[Floats | None]:
        """(2, 3) the ends of each tool; None if it does not move with the end effector."""
        from jointwise.shape.chain.groups import tool_lines

        robot, ends = self._robot, (self.arm, self.joint_names, self.base_link)
        return tool_lines(robot.model, *ends, robot._tools)

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
        arm = arm_model(moved_links(self.arm.links, move), self.prismatic, self.limits)
        shape = self._geometry
        if shape is not None:
            from jointwise.shape.geometry import moved

            shape = moved(shape, move)
        robot = self._robot
        if self.base_link == robot.model.root:
            robot = robot._with(_base_pose=pose)
        elif not self._root_moves:
            robot = robot._with(_base_pose=pose @ inverse(_at_zero(robot.model, self.base_link)))
        return replace(self, _robot=robot, arm=arm, _base_pose=pose)._with_shape(shape)

    def with_external_axis(
        self, axis: ArrayLike, limits: ArrayLike, *, part: str | None = None, **options: Any
    ) -> Chain:
        """The same arm on an external axis, such as a rail, or seen from a part that one carries.

        The closed form of the arm stays: ``solve_path`` samples the values of the axis. Without
        ``part``, the axis is the first joint, and targets stay in the frame of the base, which does
        not move. With ``part``, the chain begins at the part, and targets are in its frame.

        Args:
            axis: As for ``Robot.with_external_axis``.
            limits: The same.
            part: Name of the link of the part, such as on a turntable. None: the axis carries the
                arm.
            options: ``prismatic``, ``origin``, ``name`` and ``max_velocity`` of
                ``Robot.with_external_axis``.

        Raises:
            InvalidInputError: The arm has a scene, it does not begin at the root of its robot, or
                something else about the input is wrong; the text says what.

        Example:
            >>> arm = Chain.load("kr6_r900").with_external_axis([0, 1, 0], [-1.5, 1.5])
            >>> arm.n, arm.joint_names[0]
            (7, 'external_axis')
            >>> table = {"prismatic": False, "origin": [0.9, 0.0, 0.2]}
            >>> arm = Chain.load("kr6_r900")
            >>> arm.with_external_axis([0, 0, 1], [-3, 3], part="part", **table).base_link
            'part'
        """
        if self.base_link != self._robot.model.root or self._geometry is not None:
            raise InvalidInputError(
                "the arm has a shape or a scene, or does not begin at the root of its robot: call "
                "with_external_axis first, then with_geometry or with_scene."
            )
        robot = self._robot.with_external_axis(axis, limits, part=part, **options)
        return robot.chain(part, self.tip_link)

    def detach(self) -> Chain:
        """The same arm with nothing attached to any link of its robot; its tools stay.

        Example:
            >>> arm = Chain.load("panda").with_scene()
            >>> arm.attach("ball", sphere=0.05).detach().geometry.count == arm.geometry.count
            True
        """
        robot, shape = self._robot, self._robot.geometry
        chain = replace(self, _robot=robot.detach())
        if shape is None or not shape.attached or self._geometry is None:
            return FromRows.detach(chain)
        from jointwise.shape.chain.geometry import chain_geometry

        ends = (self.arm, self.joint_names, self.base_link)
        return chain._with_shape(chain_geometry(chain._robot._found_shape(), robot.model, *ends))

    def _shapes_from(self, *options: Any) -> ShapeSource:
        return self._robot._shapes_from(*options)

    def _known_shapes(self) -> ShapeSource:
        return self._robot._known_shapes()

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
        ends = (arm, self.joint_names, self.base_link)
        if self._robot._tools and any(line is None for line in self._tool_lines()):
            from jointwise.shape.chain.geometry import chain_geometry

            shape = chain_geometry(self._robot._shape_of(shapes), self._robot.model, *ends)
        else:
            from jointwise.shape.chain.groups import check_beside

            shape = shapes.for_chain(self._robot.model, *ends)
            check_beside(self._robot.model, self.joint_names, shape.links)
        if is_moved:
            from jointwise.shape.geometry import moved

            shape = moved(shape, self._base_pose)
        return self._with_tools(shape)

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
        from jointwise.model import urdf

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
        from jointwise.model.outline import outline

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
        from jointwise.model.working_radius import working_radius

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
        from jointwise.engines.closed_form.solutions import all_solutions

        packed = pack_target(target)
        check_listed(packed)
        arm, first = self._arm_for(packed), None if near is None else self._values("near", near)
        check = None if self._collision_model is None else self._check_or_none(arm)
        options = count, first, config, redundancy, checks.flag("all_turns", all_turns), check
        return all_solutions(arm, packed, *options)._of_link(self.tip_link)

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
        from jointwise.engines.closed_form.batch import solutions_batch

        _, (packed,) = self._packed(targets, True)
        check_listed(packed)
        arm, values = self._arm_for(packed), self._values("near", near)
        options, check = RunOptions(device, threads=threads), self._check_or_none(arm)
        return solutions_batch(arm, targets, values, redundancy, options, check)

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
        from jointwise.engines.closed_form.redundancy import redundancy_intervals

        return redundancy_intervals(self._arm_for(pack_target(target)), target)

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
        from jointwise.engines.closed_form.branches import branch_name

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
        preferred = None if posture is None else self._values("posture", posture.q)
        if preferred is not None:
            preferred = checks.joint_values("posture", preferred, self.n)
        first = self._values("start", start)
        if first is None:
            first = self.mid_range if preferred is None else preferred
        q, packed = checks.joint_values("start", first, self.n), pack_target(target)
        return trace(self._arm_for(packed), packed, q, config, preferred)

    def _arm_for(self, target: PackedTarget) -> ArmModel:
        """The arm with its end effector at the point of a target.

        Raises:
            InvalidInputError: The target has no position, or a weight of 0.
        """
        if target.weight is not EQUAL_WEIGHT or not target.kind.has_position:
            check_serial(target)
        return self.arm if target.point is None else arm_at_point(self.arm, target)

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
            return FromRows._problem(self, targets, many, start, posture, config, path)
        # The most frequent case, and fast.
        if start is not None and type(start) is not np.ndarray:
            start = self._values("start", start)
        fields = (
            self.arm,
            self._skeleton.joint_names,
            (self.tip_link,),
            (pack_target(targets),),
            start,
            config,
            None,
            self._collision_model,
            None,
        )
        return tuple.__new__(Problem, fields)

    def _packed(self, targets: Any, many: bool) -> tuple[tuple[str, ...], tuple[PackedTarget, ...]]:
        if not many:
            return (self.tip_link,), (pack_target(targets),)
        from jointwise.backends.device_arrays import is_on_gpu

        if is_on_gpu(targets):
            from jointwise.engines.run_options import given_on_gpu

            return (self.tip_link,), (pack_targets(targets, given_on_gpu),)
        return (self.tip_link,), (pack_targets(targets),)

    def _check_or_none(self, arm: ArmModel | None = None) -> Check | None:
        around, own = self._collision_model, self.arm if arm is None else arm
        if around is None:
            return None
        if is_for_arms(around):
            from jointwise.engines.serial.check import serial_check

            return serial_check(own, around)
        from jointwise.engines.tree.check import tree_check

        return tree_check(arm_as_tree(own, self.joint_names, self.tip_link), around, None)

    @property
    def _random_travel(self) -> float:
        return 5.0 * self.arm.angular_scale

    def __repr__(self) -> str:
        return f"<Chain of {checks.quantity(self.n, 'joint')}: {', '.join(self.joint_names)}>"

    def __str__(self) -> str:
        from jointwise.model.table import table

        return table(self.arm, self.joint_names, self.rows, self.modified)


@lru_cache(16)
def _robot_in_scene(chain: Chain) -> Robot:
    """The robot of an arm that has a scene, in this scene."""
    robot, around, model = chain._robot, chain._collision_model, chain._robot.model
    assert around is not None
    from jointwise.shape.attached import carried_over

    if chain.base_link != model.root:
        robot = robot._with(_base_pose=chain.base_pose @ inverse(_at_zero(model, chain.base_link)))
    if robot.geometry is None and around.geometry.joints == model.all_joint_names:
        from jointwise.shape.sources.given import GivenShapes

        robot = robot._with_shape(robot._shape_of(GivenShapes(around.geometry)))
    T_last_tip = np.vstack([chain.arm.links[-1], [0.0, 0.0, 0.0, 1.0]])
    place = model.links[chain.tip_link]
    shape = carried_over(around.geometry, robot._found_shape(), inverse(T_last_tip), place)
    pairs = [
        pair for a, b in around.allow for pair in product({a, *a.split("+")}, {b, *b.split("+")})
    ]
    moved = replace(around, allow=tuple(pairs)).with_geometry(shape)
    return robot._with(_geometry=shape, _collision_model=moved)


def _at_zero(model: TreeModel, link: str) -> Floats:
    """(4, 4) the pose of a link with all joints at zero, clipped to their limits, root frame."""
    q = np.clip(np.zeros(model.n), *model.limits.T)
    pose: Floats = link_poses(model, q, IDENTITY)[link]
    return pose.copy()
