"""Robot: a whole robot with many links, with its kinematics and its solvers."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import inf
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError
from jointwise.from_files import FromFiles
from jointwise.from_rows import DHRows
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks, data, millimetres
from jointwise.model.kinematic_tree import MASS_CENTRE, LinkPlace, TreeModel
from jointwise.model.mimics import Mimic
from jointwise.results.result import IDENTITY
from jointwise.targets import PackedTarget, Pose, link_columns, mappings_in
from jointwise.tree_kinematics import TreeKinematics

if TYPE_CHECKING:
    from jointwise.chain import Chain
    from jointwise.model.external_axis import ExternalAxis
    from jointwise.model.urdf import Source
    from jointwise.results.result import Check
    from jointwise.scene.collision_model import CollisionModel
    from jointwise.shape.geometry import Geometry
    from jointwise.shape.sources.source import ShapeSource
    from jointwise.shape.tools import Tool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Robot(TreeKinematics, FromFiles):
    """A whole robot with arms, legs and hands. Create one with ``Robot.load`` and the like.

    Mimic joints follow others, so they have no values of their own: ``joint_names`` lists the
    independent joints, in the order of joint values. If these are inside their limits, mimic joints
    are inside theirs.

    Attributes:
        model: The kinematic parameters.

    Example:
        >>> from jointwise import Robot
        >>> robot = Robot.load("panda")
        >>> robot.fk(robot.mid_range)["tip"].shape
        (4, 4)
    """

    model: TreeModel
    _shapes: Callable[[], ShapeSource] | None = None
    _geometry: Geometry | None = None
    _collision_model: CollisionModel | None = None
    _base_pose: Floats = field(default_factory=lambda: IDENTITY)
    _dh: DHRows | None = None
    _tools: tuple[Tool, ...] = ()

    _noun = "a robot"

    @classmethod
    def _of_rows(cls, model: TreeModel, dh: DHRows) -> Robot:
        millimetres.check_robot(model)
        return cls(model, _dh=dh)

    @classmethod
    def _of_file(cls, model: TreeModel, shapes: Callable[[], ShapeSource]) -> Robot:
        millimetres.check_robot(model)
        return cls(model, shapes)

    # The shape

    def _shapes_from(
        self, source: str | PathLike[str] | Geometry | None, padding: float, srdf: Source | None
    ) -> ShapeSource:
        """The source of shapes that ``with_geometry`` asks for."""
        from jointwise.shape.geometry import Geometry
        from jointwise.shape.sources.file import FileShapes
        from jointwise.shape.sources.given import GivenShapes

        if isinstance(source, Geometry):
            return GivenShapes(source)
        if source is not None:
            return FileShapes(data.find_geometry(source), srdf)
        return self._known_shapes().with_options(padding, srdf)

    def _known_shapes(self) -> ShapeSource:
        """The source of shapes of the robot.

        Raises:
            InvalidInputError: It has none; the text names ``with_geometry``.
        """
        if self._shapes is None:
            from jointwise.shape.sources.source import no_shape_error

            raise no_shape_error(self.model.title)
        return self._shapes()

    def _shape_of(self, shapes: ShapeSource) -> Geometry:
        return self._with_tools(shapes.for_robot(self.model))

    def _carrier(self, link: str | None) -> tuple[Floats, LinkPlace | None]:
        checks.known_name("link", link, self.model.links, self.name)
        return np.eye(4), self.model.links[str(link)]

    # Modified copies

    def with_limits(self, limits: ArrayLike | Mapping[str, ArrayLike] | None) -> Robot:
        """Return this robot with other limits.

        The limits of mimic joints stay, and narrow those of the joints that they follow.

        Args:
            limits: (n, 2) lower and upper limit of each joint [rad, m], infinite where unlimited;
                or a mapping of some joint names to their two limits. None: no limits.

        Raises:
            InvalidInputError: The limits are invalid, or leave no value for a joint that others
                follow.

        Example:
            >>> robot = Robot.load("panda").with_limits({"panda_joint1": [-1.0, 1.0]})
            >>> robot.limits[0]
            array([-1.,  1.])
        """
        return self._with_limits(self._checked_limits(limits))

    def _with_limits(self, limits: Floats) -> Robot:
        """This robot with other limits (n, 2), which are checked."""
        robot = self._changed(model=self.model.with_limits(limits))
        if self._geometry is None:
            return robot
        from jointwise.shape.geometry import with_limits

        return robot._with_shape(with_limits(self._geometry, robot.limits))

    def with_base(self, base: Pose) -> Robot:
        """Return this robot at another place; a free base starts there.

        Args:
            base: Pose of the root link in the world, or its position (3,) [m]; it replaces an
                earlier base pose.

        Example:
            >>> robot = Robot.load("ur5e").with_base([0.0, 0.0, 0.8])
            >>> float(robot.fk(robot.mid_range)["base_link"][2, 3])
            0.8
        """
        pose = checks.frame("base", base)
        pose.setflags(write=False)
        return self._changed(_base_pose=pose)

    def with_tool(
        self, link: str, tool: Pose, name: str = "tool", *, radius: float | None = None
    ) -> Robot:
        """Return this robot with a tool: one more link, fixed to another.

        Collision checks treat the tool as a capsule that extends from the origin of one link to
        that of the other, or use the shape from ``attach``. It is not checked against the link that
        carries it, nor against other links that are always close to it, such as those of the wrist.

        Args:
            link: The link that carries it.
            tool: Pose of the new link in that link, or its position (3,) [m] there.
            name: Name of the new link.
            radius: Radius of the capsule [m]. None: the median radius of the spheres of the link.
                0: the tool is not checked; use this if ``attach`` adds its shape, or if it has
                none.

        Example:
            >>> robot = Robot.load("ur5e").with_tool("tip", [0.0, 0.0, 0.1], name="torch")
            >>> robot.solve({"torch": [0.4, 0.2, 0.3]}).converged
            True
        """
        checks.known_name("link", link, self.model.links, self.name)
        if checks.text("name", name) in self.model.links:
            raise InvalidInputError(f"{name!r} is already a link: choose another name.")
        if self._geometry is not None and name in self._geometry.attached:
            raise InvalidInputError(f"{name!r} is already attached: choose another name.")
        pose = checks.frame("tool", tool)
        millimetres.check_tool(float(np.linalg.norm(pose[:3, 3])), self.model)
        return self._with_tool(link, pose, name, radius)[0]

    def _with_tool(
        self,
        link: str,
        pose: Floats,
        name: str,
        radius: float | None,
        taken: tuple[str, ...] = (),
    ) -> tuple[Robot, str]:
        """The robot with one more link, and the link's name, which is made unique."""
        if self._geometry is not None:
            taken += self._geometry.attached
        unique, number = checks.text("name", name), 2
        while unique in self.model.links or unique in taken:
            unique, number = f"{name}{number}", number + 1
        from jointwise.shape.tools import Tool, checked_radius

        tool = Tool(unique, link, checked_radius(radius))
        model, tools = self.model.with_link(unique, link, pose), (*self._tools, tool)
        robot = self._changed(model=model, _tools=tools)
        if self._geometry is None or radius == 0.0:
            return robot, unique
        return robot._with_shape(robot._with_tools(self._geometry)), unique

    def _with_tools(self, shape: Geometry) -> Geometry:
        from jointwise.shape.tools import with_tools

        return with_tools(shape, self.model, self._tools)

    def with_external_axis(
        self,
        axis: ArrayLike,
        limits: ArrayLike,
        *,
        prismatic: bool = True,
        origin: ArrayLike = (0.0, 0.0, 0.0),
        part: str | None = None,
        name: str = "external_axis",
        max_velocity: float = inf,
    ) -> Robot:
        """Return this robot on an external axis, such as a rail, or beside one that carries a part.

        An axis that carries the robot becomes its first joint. An axis that carries a part, such as
        a turntable, becomes its last joint and has a link for the part: make a chain from the part
        to the tool, whose targets are then in the frame of the part. At the value 0, nothing has
        moved. Call this method once for each axis; the axis of the last call is nearest to the
        ground.

        Args:
            axis: (3,) direction of the axis, frame of the root.
            limits: (2,) lower and upper limit [m]; [rad] for a revolute axis.
            prismatic: Whether the axis slides, like a rail or a lift; otherwise it turns.
            origin: (3,) a point on the axis [m], frame of the root. A revolute axis passes through
                it, and it is the origin of the part.
            part: Name of the link of the part. None: the axis carries the robot.
            name: Name of the joint. The root of a robot on the axis is called ``NAME_base``.
            max_velocity: Its largest velocity [m/s]; [rad/s] for a revolute axis.

        Raises:
            InvalidInputError: The robot has a scene or a free base, a name is taken, or something
                else about the input is wrong; the text says what.

        Example:
            >>> on_rail = Robot.load("kr6_r900").with_external_axis([0, 1, 0], [-1.5, 1.5])
            >>> on_rail.joint_names[0], on_rail.n
            ('external_axis', 7)
        """
        from jointwise.model.external_axis import external_axis, with_axis

        if self._geometry is not None or self.free_base:
            raise InvalidInputError(
                "the robot has a shape, a scene or a free base: call with_external_axis first, "
                "then with_geometry or with_scene. A free base needs no external axis."
            )
        found = external_axis(
            self.model, axis, limits, checks.flag("prismatic", prismatic), origin, part, name
        )
        found = found._replace(max_velocity=checks.positive_or_inf("max_velocity", max_velocity))
        shapes = None if self._shapes is None else partial(_shapes_on_axis, self, found)
        return self._changed(model=with_axis(self.model, found), _shapes=shapes, _dh=None)

    # Properties

    @property
    def _numbers(self) -> TreeModel:
        return self.model

    _joints = _numbers

    @property
    def name(self) -> str:
        """The robot's name in its file."""
        return self.model.name

    @property
    def link_names(self) -> tuple[str, ...]:
        """The names of all links; the root first, parents before children."""
        return tuple(self.model.links)

    @property
    def mimics(self) -> Mapping[str, Mimic]:
        """The joint that each mimic joint follows, by its name: (joint, ratio, offset)."""
        return MappingProxyType(self.model.mimics)

    @property
    def free_base(self) -> bool:
        """Whether the root link moves freely."""
        return self.model.free_base

    def chain(self, base_link: str | None = None, tip_link: str | None = None) -> Chain:
        """The arm between two links, even if its path goes up to a common ancestor and down again.

        It has the limits, velocities, shape and scene of the robot. In a chain, a mimic joint is an
        ordinary joint with its own name and value. If another joint between base and tip moves with
        it, the chain is refused.

        Joints outside the chain are at 0, clipped to their limits. If the robot has a scene or a
        base pose, the base link is where these values place it, and targets are in the world frame.
        Links outside the chain are part of the link that carries them. Collisions between such a
        link and one at most two joints away are found, but no margin is kept between the two.

        Args:
            base_link: The link that does not move; targets are in its frame. None: the root.
            tip_link: The link of the end effector. None: the tool frame or the hand of the only
                arm.

        Raises:
            InvalidInputError: A link is unknown, or the robot has a scene or a base pose and its
                root moves relative to the base link.

        Example:
            >>> robot = Robot.load("panda")
            >>> robot.chain(robot.link_names[0], "tip").n
            7
        """
        from jointwise.chain import Chain

        return Chain._between(self, base_link, tip_link)

    def to_urdf(self) -> str:
        """The robot as the text of a URDF: all links, joints, limits and velocities.

        Numbers are written in full, so ``Robot.from_urdf`` gives the same robot. If a link has
        several joints, as MJCF allows, links are added between them. If the base has a pose, the
        root is fixed to one more link, ``world``. Shapes, masses, closed loops, the home
        configuration and whether the base is free are left out.

        Example:
            >>> print(Robot.load("panda").to_urdf()[:42])
            <?xml version="1.0"?>
            <robot name="panda">
        """
        from jointwise.model import urdf

        return urdf.write_robot(self.model, self._base_pose)

    # What the verbs ask for

    def _packed(self, targets: Any, many: bool) -> tuple[tuple[str, ...], tuple[PackedTarget, ...]]:
        known, needs_masses = self.model.links, False
        for each in [targets] if type(targets) is dict else mappings_in(targets):
            for link in each:
                if link not in known:
                    needs_masses = link == MASS_CENTRE
                    if not needs_masses:
                        checks.known_name("link", link, known, self.name, (MASS_CENTRE,))
        columns = link_columns(targets, "targets", many)
        for link, target in columns.items():
            if target.to is not None:
                checks.known_name("link", target.to, known, self.name)
                if target.to == link:
                    raise InvalidInputError(
                        f"the target of {link!r} is in its own frame: expected the frame of "
                        "another link."
                    )
        if needs_masses:
            self._masses(columns[MASS_CENTRE].kind)
        return tuple(columns), tuple(columns.values())

    def _moved_base(self) -> Floats | None:
        return None if self._base_pose is IDENTITY else self._base_pose

    def _check_or_none(self) -> Check | None:
        if self._collision_model is None:
            return None
        from jointwise.engines.tree.check import tree_check

        return tree_check(self.model, self._collision_model, self._base_pose)

    def __repr__(self) -> str:
        return f"<Robot {self.name}: {checks.quantity(self.n, 'joint')}>"

    def __str__(self) -> str:
        from jointwise.model.tree_table import tree_table

        return tree_table(self.model)


def _shapes_on_axis(robot: Robot, axis: ExternalAxis) -> ShapeSource:
    """The shapes of a robot on an external axis."""
    from jointwise.shape.sources.on_axis import ShapesOnAxis

    return ShapesOnAxis(robot._known_shapes(), robot.model, axis)
