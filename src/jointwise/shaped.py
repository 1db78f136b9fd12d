"""Shaped: the shape and the scene of arms and whole robots."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.model import checks, millimetres
from jointwise.model.arm import ArmModel
from jointwise.model.joint_values import JointValues
from jointwise.model.kinematic_tree import LinkPlace, TreeModel
from jointwise.targets import Pose

if TYPE_CHECKING:
    from typing import Self

    from jointwise.model.urdf import Source
    from jointwise.results.result import Check
    from jointwise.scene.collision_model import CollisionModel
    from jointwise.scene.scene import Scene
    from jointwise.shape.geometry import Geometry
    from jointwise.shape.sources.source import ShapeSource


class Shaped(ABC):
    """A model with a shape, which is determined when it is needed, and a scene."""

    __slots__ = ()

    _geometry: Geometry | None
    _collision_model: CollisionModel | None
    _base_pose: Floats
    _noun: ClassVar[str]

    # Implemented by Chain and Robot.

    @property
    @abstractmethod
    def _numbers(self) -> ArmModel | TreeModel:
        """The kinematic parameters."""

    @abstractmethod
    def _shapes_from(
        self, source: str | PathLike[str] | Geometry | None, padding: float, srdf: Source | None
    ) -> ShapeSource:
        """The source of shapes that ``with_geometry`` asks for."""

    @abstractmethod
    def _known_shapes(self) -> ShapeSource:
        """The source of shapes; raises an error that names ``with_geometry`` if none is known."""

    @abstractmethod
    def _shape_of(self, shapes: ShapeSource) -> Geometry:
        """The shape from a source."""

    @abstractmethod
    def _with_tools(self, shape: Geometry) -> Geometry:
        """A shape with the tools of the model; existing tools stay."""

    @abstractmethod
    def _carrier(self, link: str | None) -> tuple[Floats, LinkPlace | None]:
        """(4, 4) the frame of a link that carries things, and its place in a robot."""

    @abstractmethod
    def _check_or_none(self) -> Check | None:
        """The collision check; None if nothing is checked."""

    @abstractmethod
    def _moved_base(self) -> Floats | None:
        """(4, 4) the pose of the base, unless it is the identity or part of the arm."""

    @abstractmethod
    def _configurations(
        self, q: JointValues, base_pose: Any, name: str = "q"
    ) -> tuple[Floats, Floats | None]:
        """(n,) or (k, n) joint values, and (4, 4) or (k, 4, 4) poses of the base."""

    def _changed(self, **fields: Any) -> Self:
        changed: Self = replace(self, **fields)  # type: ignore[type-var]
        return changed

    @property
    def base_pose(self) -> Floats:
        """(4, 4) pose of the base in the world; where a free base starts. Read-only."""
        return self._base_pose

    def _check(self) -> Check:
        """The collision check; raises an error that names ``with_scene`` if nothing is checked."""
        check = self._check_or_none()
        if check is None:
            name = self._noun.partition(" ")[2]
            raise InvalidInputError(
                f"the {name} has no scene: call with_scene first, {name}.with_scene(scene) or "
                f"{name}.with_scene() for self-collision alone."
            )
        return check

    # The shape

    @property
    def geometry(self) -> Geometry | None:
        """The shape; None until something needs it, such as ``with_scene``."""
        return self._geometry

    def with_geometry(
        self,
        source: str | PathLike[str] | Geometry | None = None,
        *,
        padding: float = 0.015,
        srdf: Source | None = None,
    ) -> Self:
        """Return this model with a shape, which collision checks need.

        ``with_scene`` finds a shape by itself; call this method to use your own spheres, or
        options.

        Args:
            source: A JSON file of spheres, as ``Geometry.save`` writes it, the name of a robot with
                these joints, or the ``geometry`` of another model with the same joints, even if its
                base is elsewhere. A file of a robot may name links as well as joints. None: spheres
                are fitted to the collision shapes of the model's file.
            padding: How far a fitted sphere may extend beyond the shapes [m].
            srdf: An SRDF for a fit: its disabled pairs of links, and its spheres.

        Raises:
            InvalidInputError: The source cannot be read, or belongs to another model.

        Example:
            >>> from jointwise import Chain
            >>> Chain.load("panda").with_geometry("panda").geometry.count
            343
        """
        return self._with_shape(self._shape_of(self._shapes_from(source, padding, srdf)))

    def attach(
        self,
        name: str,
        pose: Pose | None = None,
        *,
        link: str | None = None,
        box: ArrayLike | None = None,
        cylinder: ArrayLike | None = None,
        sphere: float | None = None,
        mesh: str | PathLike[str] | None = None,
        padding: float | None = None,
    ) -> Self:
        """Return this model with something attached to a link, such as a grasped box.

        It is checked for collisions with everything except that link, and except links at most two
        joints away that it collides with at all joint values, such as the wrist behind a short
        flange. ``print(model.geometry)`` lists these links. ``detach`` removes it.

        Args:
            name: Its name in results.
            pose: Pose of its centre in the link, or its position (3,) [m] there.
            link: The link of a robot that carries it. An arm carries it at its end effector.
            box: (3,) lengths along x, y and z [m].
            cylinder: (radius, length) [m]; its axis is z.
            sphere: Radius [m].
            mesh: A file with its surface [m].
            padding: How far its spheres may extend beyond it [m]. None: 10 mm, or 5 % of its
                longest edge if that is more.

        Raises:
            InvalidInputError: The model has no shape, or not exactly one solid is given.

        Example:
            >>> from jointwise import Chain, Robot
            >>> arm = Chain.load("panda")
            >>> arm.attach("parcel", [0.0, 0.0, 0.06], box=[0.1, 0.06, 0.1]).geometry.attached
            ('parcel',)
            >>> Robot.load("panda").attach("ball", link="tip", sphere=0.05).geometry.count
            344
        """
        from jointwise.shape.attached import attach, without_constant_contacts
        from jointwise.shape.fitting.solid import solid_spheres
        from jointwise.shape.link_groups import move_spheres

        checks.text("name", name)
        T_frame_link, place = self._carrier(link)
        given = {"box": box, "cylinder": cylinder, "sphere": sphere, "mesh": mesh}
        spheres = solid_spheres(given, padding)
        millimetres.check_attached(name, spheres, self._numbers)
        T_link_solid = np.eye(4) if pose is None else checks.frame("pose", pose)
        moved = move_spheres(T_frame_link @ T_link_solid, spheres)
        held = attach(self._found_shape(), moved, name, place)
        return self._with_shape(without_constant_contacts(held, name))

    def detach(self) -> Self:
        """Return this model with nothing attached; its tools stay.

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("panda").with_scene()
            >>> arm.attach("ball", sphere=0.05).detach().geometry.count == arm.geometry.count
            True
        """
        if self._geometry is None:
            return self
        from jointwise.shape.attached import detach

        return self._with_shape(self._with_tools(detach(self._geometry)))

    def _with_shape(self, shape: Geometry | None) -> Self:
        """This model with a shape, in the same scene."""
        around = self._collision_model
        if around is not None and shape is not None:
            around = around.with_geometry(shape)
        return self._changed(_geometry=shape, _collision_model=around)

    def _found_shape(self) -> Geometry:
        """The shape, determined if it is unknown."""
        if self._geometry is not None:
            return self._geometry
        return self._shape_of(self._known_shapes())

    # The scene

    @property
    def scene(self) -> Scene | None:
        """The obstacles, world frame; None if nothing is checked."""
        return None if self._collision_model is None else self._collision_model.scene

    @property
    def margin(self) -> float:
        """The distance to keep from obstacles and from itself [m]."""
        return 0.0 if self._collision_model is None else self._collision_model.margin

    def with_scene(
        self,
        scene: Scene | None = None,
        *,
        margin: float = 0.0,
        self_collision: bool = True,
        allow: Iterable[tuple[str, str]] = (),
    ) -> Self:
        """Return this model among obstacles, which its methods avoid; an earlier scene is replaced.

        A scene is in the world frame, where the base is at ``base_pose``. If the shape of the model
        is not known yet, the one that comes with jointwise is used, or one that was fitted before.
        Otherwise spheres are fitted to the collision shapes of its URDF or MJCF file, with progress
        on standard error.

        Args:
            scene: The obstacles. None: no obstacles, so only self-collision is checked.
            margin: The distance to keep from obstacles and from itself [m]. Links separated by two
                joints are always close together, so they count only if they collide.
            self_collision: Whether to avoid collisions of the model with itself.
            allow: Pairs of names that may collide, of links and obstacles: ``[("hand", "mug")]``.

        Raises:
            InvalidInputError: The model has no shape and none can be fitted, a name is unknown, or
                the margin is negative.

        Example:
            >>> from jointwise import Chain, Scene
            >>> table = Scene().box([1.0, 2.0, 0.04], [0.5, 0.0, -0.02], name="table")
            >>> arm = Chain.load("panda").with_scene(table, margin=0.01)
            >>> arm.solve([0.4, 0.2, 0.3]).clearance >= 0.01
            True
        """
        from jointwise.scene.collision_model import collision_model

        shape = self._found_shape()
        around = collision_model(shape, scene, margin, self_collision, allow)
        for obstacle in around.scene:
            millimetres.check_obstacle(obstacle.name, obstacle._extent, self._numbers)
        return self._changed(_geometry=shape, _collision_model=around)

    def clearance(
        self, q: JointValues, base_pose: Any = None, *, threads: int | None = None
    ) -> float | Floats:
        """Smallest distance from obstacles and from itself [m]; negative in a collision.

        Distances are those of the model's spheres. Links fixed to the base are checked against
        obstacles only if the base is free. Links separated by two joints are always close
        together, so they count only if they collide.

        Args:
            q: (n,) one configuration as for ``fk``, or (k, n) many.
            base_pose: (4, 4) pose of a free base in the world, or (k, 4, 4). None: that of the
                model.
            threads: Number of threads for many configurations. None: one for every core.

        Returns:
            A number, or (k,) for many; infinite if there is nothing to collide with.

        Raises:
            InvalidInputError: The model has no scene: call ``with_scene`` first.

        Example:
            >>> from jointwise import Chain, Scene
            >>> wall = Scene().box([0.1, 2.0, 2.0], [0.8, 0.0, 0.0], name="wall")
            >>> arm = Chain.load("panda").with_scene(wall, self_collision=False)
            >>> round(arm.clearance(arm.mid_range), 3)
            0.093
        """
        rows, pose = self._checked_configurations(q, base_pose)
        found = self._check().contacts(np.atleast_2d(rows), pose, threads)[:, 0]
        return float(found[0]) if rows.ndim == 1 else found

    def is_free(
        self, q: JointValues, base_pose: Any = None, *, threads: int | None = None
    ) -> bool | Bools:
        """Whether the model keeps at least the margin from obstacles and itself.

        Several times faster than ``clearance``.

        Args:
            q: (n,) one configuration as for ``fk``, or (k, n) many.
            base_pose: As for ``clearance``.
            threads: Number of threads for many configurations. None: one for every core.

        Returns:
            A boolean, or (k,) for many.

        Example:
            >>> from jointwise import Chain, Scene
            >>> wall = Scene().box([0.1, 2.0, 2.0], [0.8, 0.0, 0.0], name="wall")
            >>> arm = Chain.load("panda").with_scene(wall)
            >>> arm.is_free(arm.mid_range), arm.is_free(arm.random(seed=1, count=4))
            (True, array([False,  True,  True,  True]))
        """
        rows, pose = self._checked_configurations(q, base_pose)
        found = self._check().free(np.atleast_2d(rows), pose, threads)
        return bool(found[0]) if rows.ndim == 1 else found

    def edge_is_free(
        self, q0: JointValues, q1: JointValues, *, threads: int | None = None
    ) -> bool | Bools:
        """Whether the straight motion between two configurations provably keeps the margin.

        The proof covers the whole motion by a bound on how far each sphere moves, so ``is_free`` is
        True at every configuration on a free edge. An edge whose clearance exceeds the margin by
        less than about a millimetre may count as not free.

        Args:
            q0: (n,) one configuration as for ``fk``, or (k, n) many.
            q1: (n,) or (k, n), as ``q0``; a single configuration is combined with each of many.
            threads: Number of threads for many edges. None: one per core.

        Returns:
            A boolean, or (k,) for many.

        Raises:
            InvalidInputError: The model has no scene, or its base is free.

        Example:
            >>> from jointwise import Chain, Scene
            >>> wall = Scene().box([0.1, 2.0, 2.0], [0.8, 0.0, 0.0], name="wall")
            >>> arm = Chain.load("panda").with_scene(wall)
            >>> q0, q1 = arm.mid_range, arm.mid_range + 0.1
            >>> arm.edge_is_free(q0, q1), arm.edge_is_free(q0, [q1, arm.random(seed=1)])
            (True, array([ True, False]))
        """
        from jointwise.engines.edges.check import edges_free

        starts, _ = self._configurations(q0, None, "q0")
        ends, _ = self._configurations(q1, None, "q1")
        if starts.ndim == ends.ndim == 2 and len(starts) != len(ends):
            raise InvalidInputError(
                f"q0 has {checks.quantity(len(starts), 'row')} and q1 has {len(ends)}: expected "
                "the same number of each, or a single configuration."
            )
        packed = self._check().packed_edges
        if packed is None:
            raise InvalidInputError(
                "the base of the robot is free, and edges are proven for a fixed base only: use "
                "is_free at configurations along the way."
            )
        rows = np.broadcast_arrays(np.atleast_2d(starts), np.atleast_2d(ends))
        found = edges_free(packed, rows[0], rows[1], threads)
        return bool(found[0]) if starts.ndim == ends.ndim == 1 else found

    def _checked_configurations(
        self, q: JointValues, base_pose: Any
    ) -> tuple[Floats, Floats | None]:
        """The configurations to check, and the pose of the base at each."""
        numbers = self._numbers
        if base_pose is None:
            return self._configurations(q, None)[0], self._moved_base()
        is_free = isinstance(numbers, TreeModel) and numbers.free_base
        given = checks.floats("base_pose", checks.as_array(base_pose))
        is_own = given.shape[-2:] == (4, 4) and np.allclose(given, self.base_pose, rtol=0.0)
        if not is_free and not is_own:
            raise InvalidInputError(
                "base_pose is given, but the base does not move: use with_base(pose)."
            )
        return self._configurations(q, base_pose)
