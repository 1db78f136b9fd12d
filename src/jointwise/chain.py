"""Chain: the serial arm between two links of a robot, and how it is created and modified."""

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

from jointwise.arm_kinematics import ArmKinematics
from jointwise.arm_solutions import ArmSolutions
from jointwise.config import SolveConfig
from jointwise.engines.choice import is_for_arms
from jointwise.errors import InvalidInputError
from jointwise.from_rows import DHRows, FromRows
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks, millimetres
from jointwise.model.arm import ArmModel, arm_model
from jointwise.model.joint_values import JointValues
from jointwise.model.joints import DHJoint
from jointwise.model.kinematic_tree import LinkPlace, TreeModel
from jointwise.model.tips import default_tip, joints_of
from jointwise.model.tree_path import (
    ChainOfRobot,
    Skeleton,
    arm_as_tree,
    chain_between,
    joint_home,
    joint_limits,
    moved_links,
)
from jointwise.model.tree_poses import inverse, link_poses
from jointwise.problem import Problem
from jointwise.results.result import IDENTITY
from jointwise.robot import Robot
from jointwise.targets import PackedTarget, Pose, in_base_frame, pack_target, pack_targets

if TYPE_CHECKING:
    from jointwise.model.urdf import Source
    from jointwise.results.result import Check
    from jointwise.scene.collision_model import CollisionModel
    from jointwise.shape.geometry import Geometry
    from jointwise.shape.sources.source import ShapeSource


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chain(ArmKinematics, ArmSolutions, FromRows):
    """A serial robot arm, from base to end effector. Create one with ``Chain.load`` and the like.

    A chain is the part of a robot between two links; ``robot.chain(base_link, tip_link)`` returns
    it. The methods that read a chain from a file read the whole robot first.

    Attributes:
        arm: Kinematic parameters of the joints between the two links.
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

        Equivalent to ``Robot.from_urdf(source).chain(base_link, tip_link)``, except that other
        parts of the file may be unsupported: a planar joint or a loop outside the arm is left out.

        Args:
            source: A path, an open file, or the text itself.
            base_link: The link that does not move. None: the root.
            tip_link: The link of the end effector. None: the tool frame or the hand of the only
                arm; a link of a finger, a camera or a wheel is never the default.

        Raises:
            InvalidInputError: The source is not a URDF, or there are several candidates; the text
                names them, the likeliest first.

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
        """Load an arm by its name, one of those in ``jointwise.robots``, or from a file.

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
        return Robot._of_rows(model, dh).chain()

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
                    f"{base!r} in this chain, so it is ambiguous whether the root or {base!r} is "
                    "fixed: make the chain from a robot without a scene and a base pose, then call "
                    "with_base and with_scene on the chain."
                )
            pose = pose @ _at_zero(model, base)
            pose.setflags(write=False)
        links = moved_links(found.links, pose) if (pose != IDENTITY).any() else found.links
        arm = arm_model(links, found.prismatic, found.limits, found.home)
        return cls(robot, arm, base, tip, found, pose)._like_robot()

    @classmethod
    def _from_arm(cls, arm: ArmModel, names: tuple[str, ...]) -> Chain:
        """The chain of an arm model, with bit-for-bit equal numbers; its tip is called ``tip``."""
        robot = Robot(arm_as_tree(arm, names, "tip"))
        # The arm that the robot returns may differ in the signs of zeros.
        return replace(robot.chain(tip_link="tip"), arm=arm)

    def _like_robot(self) -> Chain:
        """This chain with the shape and the scene of its robot, if it has them."""
        robot = self._robot
        if robot.geometry is None:
            return self
        from jointwise.shape.chain.geometry import chain_geometry

        shape = chain_geometry(robot.geometry, self._of_robot)
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
        """The whole robot, with the base pose, the scene and the attachments of the arm.

        If the arm has a scene, the shape of the whole robot is determined if it is unknown.

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
    def _of_robot(self) -> ChainOfRobot:
        """The chain in numbers, with the robot that it is seen in."""
        return ChainOfRobot(self._robot.model, self.arm, self.joint_names, self.base_link)

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
        """The DH rows of the arm; empty if it was not made from DH rows."""
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
        """Return this arm with other limits.

        If mimic joints of the robot follow a joint of the arm, their limits narrow the new ones.

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
        home = joint_home(robot.model, np.array(joints), checked)
        arm = arm_model(self.arm.links, self.prismatic, checked, home)
        shape = self._geometry
        if shape is not None:
            from jointwise.shape.geometry import with_limits

            shape = with_limits(shape, checked)
        skeleton = self._skeleton._replace(limits=checked, home=home)
        return replace(self, _robot=robot, arm=arm, _skeleton=skeleton)._with_shape(shape)

    def with_tool(self, tool: Pose, name: str = "tool", *, radius: float | None = None) -> Chain:
        """Return this arm with a tool: a new end effector, fixed to the old one.

        Collision checks treat the tool as a capsule that extends from the old to the new end
        effector. It is not checked against the last link, nor against other links that are always
        close to it, such as those of the wrist.

        Args:
            tool: Pose of the new end effector in the old one, or its position (3,) [m] there.
            name: Name of the new link; a number is appended if the name is taken.
            radius: Radius of the capsule [m]. None: the median radius of the spheres of the last
                link. 0: the tool is not checked; use this if ``attach`` adds its shape, or if it
                has none.

        Example:
            >>> arm = Chain.load("ur5e")
            >>> longer = arm.with_tool([0.0, 0.0, 0.1])
            >>> longer.tip_link, round(longer.max_reach - arm.max_reach, 3) > 0
            ('tool', True)
        """
        pose, links = checks.frame("tool", tool), self.arm.links.copy()
        millimetres.check_tool(float(np.linalg.norm(pose[:3, 3])), self.arm)
        links[-1] = links[-1] @ pose
        taken = () if self._geometry is None else self._geometry.attached
        robot, tip = self._robot._with_tool(self.tip_link, pose, name, radius, taken)
        arm = arm_model(links, self.prismatic, self.limits, self.home)
        chain = replace(self, _robot=robot, arm=arm, tip_link=tip)
        if self._geometry is None or radius == 0.0:
            return chain
        return chain._with_shape(chain._with_tools(self._geometry))

    def _with_tools(self, shape: Geometry) -> Geometry:
        if not self._robot._tools:
            return shape
        from jointwise.shape.tools import with_tool

        for tool, line in zip(self._robot._tools, self._tool_lines(), strict=True):
            if line is not None:  # otherwise the shape already has it
                shape = with_tool(shape, tool, line, self.n - 1)
        return shape

    def _tool_lines(self) -> list[Floats | None]:
        """(2, 3) the ends of each tool; None if it does not move with the end effector."""
        from jointwise.shape.chain.groups import tool_lines

        return tool_lines(self._of_robot, self._robot._tools)

    def with_base(self, base: Pose) -> Chain:
        """Return this arm at another place, such as on a table, with targets in the world frame.

        The shape moves with the arm; the scene stays.

        Args:
            base: Pose of the base link in the world, or its position (3,) [m]; it replaces an
                earlier base pose.

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
        arm = arm_model(moved_links(self.arm.links, move), self.prismatic, self.limits, self.home)
        shape = self._geometry
        if shape is not None:
            from jointwise.shape.geometry import moved

            shape = moved(shape, move)
        robot = self._robot
        if self.base_link == robot.model.root:
            robot = robot._changed(_base_pose=pose)
        elif not self._root_moves:
            robot = robot._changed(_base_pose=pose @ inverse(_at_zero(robot.model, self.base_link)))
        return replace(self, _robot=robot, arm=arm, _base_pose=pose)._with_shape(shape)

    def with_external_axis(
        self, axis: ArrayLike, limits: ArrayLike, *, part: str | None = None, **options: Any
    ) -> Chain:
        """Return this arm on an external axis, such as a rail, or relative to a part on one.

        The arm keeps its closed form: ``solve_path`` samples the values of the axis. Without
        ``part``, the axis is the first joint, and targets stay in the frame of the base, which does
        not move. With ``part``, the chain begins at the part, and targets are in its frame.

        Args:
            axis: As for ``Robot.with_external_axis``.
            limits: As for ``Robot.with_external_axis``.
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
        """Return this arm with nothing attached to any link of its robot; its tools stay.

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

        return chain._with_shape(chain_geometry(chain._robot._found_shape(), self._of_robot))

    def _shapes_from(self, *options: Any) -> ShapeSource:
        return self._robot._shapes_from(*options)

    def _known_shapes(self) -> ShapeSource:
        return self._robot._known_shapes()

    def _carrier(self, link: str | None) -> tuple[Floats, LinkPlace | None]:
        if link is not None and link != self.tip_link:
            raise InvalidInputError(
                f"link is {link!r}: objects are attached to the end effector of an arm, "
                f"{self.tip_link!r}. Use chain.robot.attach(...) for another link."
            )
        return np.vstack([self.arm.links[-1], [0.0, 0.0, 0.0, 1.0]]), None

    def _shape_of(self, shapes: ShapeSource) -> Geometry:
        """The shape from a source, whose file may describe the whole robot."""
        chain, is_moved = self._of_robot, (self._base_pose != IDENTITY).any()
        if is_moved:
            links = self.arm.links.copy()
            links[0] = self._skeleton.links[0]
            arm = arm_model(links, self.prismatic, self.limits, self.home)
            chain = chain._replace(arm=arm)
        if self._robot._tools and any(line is None for line in self._tool_lines()):
            from jointwise.shape.chain.geometry import chain_geometry

            shape = chain_geometry(self._robot._shape_of(shapes), chain)
        else:
            from jointwise.shape.chain.groups import check_beside

            shape = shapes.for_chain(chain)
            check_beside(chain, shape.links)
        if is_moved:
            from jointwise.shape.geometry import moved

            shape = moved(shape, self._base_pose)
        return self._with_tools(shape)

    def to_urdf(self, name: str = "arm") -> str:
        """The arm as the text of a URDF: joints and limits from base to end effector.

        Its links are ``base_link``, ``link1``, ``link2``, ... and ``tip``. Numbers are written in
        full, so ``Chain.from_urdf`` gives the same arm. Effort and velocity limits are unknown, so
        large ones are written.

        Args:
            name: The robot's name.

        Example:
            >>> print(Chain.load("panda").to_urdf("panda")[:42])
            <?xml version="1.0"?>
            <robot name="panda">
        """
        from jointwise.model import urdf

        return urdf.write(self.arm, self.joint_names, self.max_velocity, name)

    # What the verbs need

    def _plain_problem(
        self, target: Any, start: JointValues | None, config: SolveConfig
    ) -> Problem:
        if start is not None and type(start) is not np.ndarray:
            start = self._values("start", start)
        one = pack_target(target)
        fields = (
            self.arm,
            self._skeleton.joint_names,
            (self.tip_link,),
            (one if one.to is None else in_base_frame(one),),
            start,
            config,
            None,
            self._collision_model,
            None,
        )
        return tuple.__new__(Problem, fields)

    def _packed(self, targets: Any, many: bool) -> tuple[tuple[str, ...], tuple[PackedTarget, ...]]:
        if not many:
            one = pack_target(targets)
            return (self.tip_link,), (one if one.to is None else in_base_frame(one),)
        from jointwise.backends.device_arrays import is_on_gpu

        if is_on_gpu(targets):
            from jointwise.engines.run_options import given_on_gpu

            return (self.tip_link,), (pack_targets(targets, given_on_gpu),)
        return (self.tip_link,), (in_base_frame(pack_targets(targets)),)

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
        robot = robot._changed(
            _base_pose=chain.base_pose @ inverse(_at_zero(model, chain.base_link))
        )
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
    return robot._changed(_geometry=shape, _collision_model=moved)


def _at_zero(model: TreeModel, link: str) -> Floats:
    """(4, 4) the pose of a link with all joints at zero, clipped to their limits, root frame."""
    q = np.clip(np.zeros(model.n), *model.limits.T)
    pose: Floats = link_poses(model, q, IDENTITY)[link]
    return pose.copy()
