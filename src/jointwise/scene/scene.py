"""Scene: the obstacles around an arm."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike

from jointwise.backends import cpu
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.kernels.layout.scene import (
    BLOCK,
    BOX_NUMBERS,
    CYLINDER_NUMBERS,
    FAR,
    World,
)
from jointwise.model import checks
from jointwise.model.urdf import Source
from jointwise.scene import files, urdf_obstacles
from jointwise.scene.box import Box
from jointwise.scene.capsule import Capsule
from jointwise.scene.cylinder import Cylinder
from jointwise.scene.grid import Grid
from jointwise.scene.half_space import HalfSpace
from jointwise.scene.obstacle import Obstacle, placed
from jointwise.scene.packing import NO_WORLD, NOTHING, with_world
from jointwise.scene.sphere import Sphere
from jointwise.shape.solids.mesh import Mesh
from jointwise.shape.solids.mesh_files import is_file, load_mesh
from jointwise.shape.solids.orientation import oriented

KINDS: tuple[Any, ...] = (Box, Sphere, Cylinder, Capsule, HalfSpace)
# Obstacles far away, which pad the last blocks.
FAR_BOX, FAR_CYLINDER = np.zeros(BOX_NUMBERS), np.zeros(CYLINDER_NUMBERS)
FAR_BOX[9] = FAR_CYLINDER[0] = FAR


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scene:
    """Obstacles in the base frame. A scene is immutable: its methods return a new scene.

    Attributes:
        obstacles: In the order in which they were added.

    Example:
        >>> scene = Scene().box([1.0, 2.0, 0.04], [0.5, 0.0, -0.02], name="table")
        >>> scene = scene.cylinder(0.05, 0.6, [0.4, 0.3, 0.3], name="pole")
        >>> scene.distance([0.4, 0.0, 0.3])
        0.25
        >>> scene
        <Scene of 2 obstacles: table, pole>
    """

    obstacles: tuple[Obstacle, ...] = ()
    _packed: dict[str, Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if not np.iterable(self.obstacles):
            raise InvalidInputError(
                f"obstacles is {checks.short(self.obstacles)}: expected a sequence of obstacles."
            )
        object.__setattr__(self, "obstacles", tuple(self.obstacles))
        names: set[str] = set()
        for each in self.obstacles:
            if not isinstance(each, Obstacle):
                raise InvalidInputError(
                    f"obstacles has {checks.short(each)}: expected obstacles. Add them with "
                    "Scene().box(...) and the like."
                )
            if each.name in names:
                raise InvalidInputError(
                    f"obstacles has the name {each.name!r} twice: expected a unique name for each."
                )
            names.add(each.name)

    def box(self, size: ArrayLike, pose: Any = None, *, name: str | None = None) -> Scene:
        """The scene with one more box.

        Args:
            size: (3,) edges along the x, y, z of its pose [m].
            pose: Pose of its centre: (4, 4), a SciPy ``RigidTransform``, or a position (3,) [m],
                base frame. None: at the origin.
            name: Its name in results; ``box1``, ``box2``, ... if not given.

        Raises:
            InvalidInputError: A length is not above zero, or the name is taken.

        Example:
            >>> Scene().box([0.5, 0.5, 0.5], [0.0, 0.0, 0.25]).distance([0.0, 0.0, 0.75])
            0.25
        """
        return self._with(Box, name, size, pose)

    def sphere(self, radius: float, position: Any = None, *, name: str | None = None) -> Scene:
        """The scene with a sphere of a radius [m] around a position (3,) [m]; see ``box``.

        Example:
            >>> Scene().sphere(0.1).distance([0.0, 0.0, 0.5])
            0.4
        """
        return self._with(Sphere, name, radius, position)

    def cylinder(
        self, radius: float, length: float, pose: Any = None, *, name: str | None = None
    ) -> Scene:
        """The scene with a cylinder about the z of its pose, centred there [m]; see ``box``.

        Example:
            >>> Scene().cylinder(0.1, 0.6).distance([0.5, 0.0, 0.0])
            0.4
        """
        return self._with(Cylinder, name, radius, length, pose)

    def capsule(
        self, radius: float, length: float, pose: Any = None, *, name: str | None = None
    ) -> Scene:
        """The scene with a capsule about the z of its pose; ``length`` is without hemispheres [m].

        Example:
            >>> Scene().capsule(0.1, 0.6).distance([0.5, 0.0, 0.0])
            0.4
        """
        return self._with(Capsule, name, radius, length, pose)

    def half_space(
        self, normal: ArrayLike, offset: float = 0.0, *, name: str | None = None
    ) -> Scene:
        """The scene with a half-space, such as a floor: all p with normal · p below ``offset`` [m].

        Args:
            normal: (3,) direction that points out of it, of any length; [0, 0, 1] for a floor.
            offset: Distance of its plane from the origin, along the normal [m].
            name: See ``box``.

        Example:
            >>> Scene().half_space([0, 0, 1], name="floor").distance([0.4, 0.2, 0.5])
            0.5
        """
        return self._with(HalfSpace, name, normal, offset)

    @classmethod
    def from_points(cls, cloud: ArrayLike, voxel: float = 0.02, name: str = "points") -> Scene:
        """A point cloud or a height map, as a grid of distances.

        A point has no size, so use a ``margin`` of about the distance between points. Distances are
        never too large. Up to four voxels outside the bounding box of the points, they are too
        small by at most the diagonal of a voxel. Farther away, they are at least the distance from
        that box enlarged by five voxels on each side.

        Args:
            cloud: (k, 3) points [m], base frame.
            voxel: Edge of a cell [m]. Halving the edge takes eight times the memory.
            name: Its name in results.

        Raises:
            InvalidInputError: A point is not finite, or there would be too many cells.

        Example:
            >>> cloud = np.random.default_rng(1).uniform(-0.1, 0.1, (1000, 3))
            >>> scene = Scene.from_points(cloud, voxel=0.02)
            >>> 0.3 < scene.distance([0.0, 0.0, 0.5]) <= 0.41
            True
        """
        return cls((Grid.of_points(name, cloud, voxel),))

    @classmethod
    def from_mesh(
        cls,
        mesh: str | PathLike[str] | tuple[ArrayLike, ArrayLike],
        pose: Any = None,
        voxel: float = 0.02,
        name: str | None = None,
    ) -> Scene:
        """A closed mesh, as a grid of distances like that of ``from_points``.

        Args:
            mesh: A file that trimesh reads, or vertices (k, 3) [m] and triangles (m, 3).
            pose: As for ``box``.
            voxel: Edge of a cell [m].
            name: Its name in results; the file's name if not given.

        Raises:
            InvalidInputError: It cannot be read, is not closed, or has no inside.

        Example:
            >>> corners = [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2]]
            >>> faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
            >>> Scene.from_mesh((corners, faces), voxel=0.01).distance([0.05, 0.05, 0.05]) < 0.0
            True
        """
        if isinstance(mesh, tuple):
            vertices = checks.all_finite("vertices", checks.floats("vertices", mesh[0]))
            solid = oriented(Mesh(vertices, _triangles(mesh[1], len(vertices))))
        else:
            if not is_file(mesh):
                raise InvalidInputError(f"mesh is {checks.short(mesh)}: expected a file.")
            solid = load_mesh(Path(mesh), np.ones(3))
            name = Path(mesh).stem if name is None else name
        return cls((Grid.of_mesh("mesh" if name is None else name, solid, voxel, pose),))

    @classmethod
    def from_urdf(cls, source: Source, pose: Any = None, voxel: float = 0.02) -> Scene:
        """The collision shapes of a URDF, with all joints at 0; each is named by its link.

        Args:
            source: A path, an open file, or the text itself.
            pose: Pose of its root, as for ``box``.
            voxel: Edge of a cell [m], for meshes.

        Example:
            >>> shape = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
            >>> Scene.from_urdf(f'<robot name="cell"><link name="ball">{shape}</link></robot>')
            <Scene of 1 obstacle: ball>
        """
        return cls(urdf_obstacles.read(source, placed(pose), voxel))

    @classmethod
    def from_toml(cls, source: str | PathLike[str] | IO[bytes]) -> Scene:
        """Obstacles from a file: a table ``[[box]]``, ``[[sphere]]``, ... for each.

        The keys of a table are ``name``, the lengths of the method [m], and, instead of a pose or
        position, ``xyz`` [m] and ``rpy`` [rad]. Half-spaces have ``normal`` and ``offset`` [m].

        Args:
            source: A path, or a file opened in binary mode.

        Raises:
            InvalidInputError: It cannot be read; the text says what is wrong and where.

        Example:
            >>> import io
            >>> text = Scene().sphere(0.1, name="ball").to_toml()
            >>> Scene.from_toml(io.BytesIO(text.encode()))
            <Scene of 1 obstacle: ball>
        """
        return cls(files.read(source, {kind.kind: kind for kind in KINDS}))

    def to_toml(self, path: str | PathLike[str] | None = None) -> str:
        """The scene in the format of ``from_toml``; also written to a file if one is given.

        Example:
            >>> print(Scene().sphere(0.1, name="ball").to_toml().rstrip())
            [[sphere]]
            name = "ball"
            radius = 0.1
            xyz = [0.0, 0.0, 0.0]
        """
        text = files.to_text(self.obstacles)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def without(self, name: str) -> Scene:
        """The scene without one of its obstacles.

        Example:
            >>> scene = Scene().sphere(0.1, name="ball").box([0.2, 0.2, 0.2], name="crate")
            >>> scene.without("ball")
            <Scene of 1 obstacle: crate>
        """
        return Scene(tuple(each for each in self.obstacles if each is not self[name]))

    def replaced(self, obstacle: Obstacle) -> Scene:
        """The scene with one obstacle replaced by another one of the same name.

        Example:
            >>> scene = Scene().sphere(0.1, name="ball")
            >>> moved = scene.replaced(scene["ball"].at([0.5, 0.0, 0.0]))
            >>> moved.distance([1.0, 0.0, 0.0])
            0.4
        """
        if not isinstance(obstacle, Obstacle):
            raise InvalidInputError(
                f"obstacle is {checks.short(obstacle)}: expected an obstacle, such as "
                "scene[name].at(pose)."
            )
        before = self[obstacle.name]
        return Scene(tuple(obstacle if each is before else each for each in self.obstacles))

    def distance(self, points: ArrayLike) -> Any:
        """Signed distance from the nearest obstacle [m]: negative inside, infinite without any.

        Args:
            points: (3,) or (k, 3) [m], base frame.

        Returns:
            A number, or (k,) for many. It is exact for all but grids.

        Example:
            >>> Scene().sphere(0.1).distance([[0.0, 0.0, 0.5], [0.0, 0.0, 0.0]])
            array([ 0.4, -0.1])
        """
        given = checks.all_finite("points", checks.floats("points", points))
        if given.shape[-1:] != (3,) or given.ndim > 2:
            raise InvalidInputError(f"points has shape {given.shape}: expected (3,) or (k, 3).")
        distances = self._distances(np.ascontiguousarray(given.reshape(-1, 3)))
        return float(distances[0]) if given.ndim == 1 else distances

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the obstacles."""
        return tuple(each.name for each in self.obstacles)

    @property
    def _world(self) -> World:
        """All obstacles as kernels read them; in the order of ``_numbered``."""
        if "world" not in self._packed:
            rows: dict[str, list[Floats]] = {"boxes": [], "cylinders": [], "grids": []}
            for each in self.obstacles:
                rows[each.packed_as].append(each._row)
            boxes = _in_blocks(rows["boxes"], FAR_BOX)
            cylinders = _in_blocks(rows["cylinders"], FAR_CYLINDER)
            grids, distances = NO_WORLD.grids, NO_WORLD.distances
            if rows["grids"]:
                parts = [each.distances.ravel() for each in self.obstacles if type(each) is Grid]
                grids, distances = np.array(rows["grids"]), np.concatenate(parts)
                grids[:, 7] = np.cumsum([0, *map(len, parts[:-1])])
            self._packed["world"] = World(boxes, cylinders, grids, distances)
        world: World = self._packed["world"]
        return world

    @property
    def _numbered(self) -> tuple[str, ...]:
        """The names by the numbers that kernels have for obstacles; "" where there is none."""
        groups: dict[str, list[str]] = {"boxes": [], "cylinders": [], "grids": []}
        for each in self.obstacles:
            groups[each.packed_as].append(each.name)
        padded = (group + [""] * (-len(group) % BLOCK) for group in groups.values())
        return tuple(name for group in padded for name in group)

    def _distances(self, points: Floats) -> Floats:
        """(k,) the ``distance`` of points (k, 3), which are not checked."""
        if "alone" not in self._packed:
            self._packed["alone"] = with_world(NOTHING, self._world)
        distances = np.full(len(points), np.inf)
        if self.obstacles:
            cpu.scene_distances(self._packed["alone"], points, distances)
        return distances

    def _with(self, kind: Any, name: str | None, *sizes: Any) -> Scene:
        if name is None:
            numbers = count(1 + sum(isinstance(each, kind) for each in self.obstacles))
            names = (f"{kind.kind}{number}" for number in numbers)
            name = next(each for each in names if each not in self.names)
        return self + Scene((kind.make(name, *sizes),))

    def __add__(self, other: Scene) -> Scene:
        """The obstacles of both scenes."""
        if not isinstance(other, Scene):
            return NotImplemented
        for name in other.names:
            if name in self.names:
                raise InvalidInputError(f"name is {name!r}, which is taken: choose another.")
        return Scene(self.obstacles + other.obstacles)

    def __getitem__(self, name: str) -> Obstacle:
        by_name: Mapping[str, Obstacle] = dict(zip(self.names, self.obstacles, strict=True))
        if name not in by_name:
            raise InvalidInputError(
                f"no obstacle is named {name!r}: expected one of {', '.join(self.names) or 'none'}."
            )
        return by_name[name]

    def __iter__(self) -> Iterator[Obstacle]:
        return iter(self.obstacles)

    def __len__(self) -> int:
        return len(self.obstacles)

    def __bool__(self) -> bool:  # an empty scene is a scene
        return True

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:8]) + (", ..." if len(self) > 8 else "")
        count = checks.quantity(len(self), "obstacle")
        return f"<Scene of {count}{': ' * bool(shown)}{shown}>"


def _in_blocks(rows: list[Floats], padding: Floats) -> Floats:
    """(m b, 8) the result of ``in_blocks`` for rows (m,), but faster."""
    if not rows:
        return NO_WORLD.boxes
    padded = np.array(rows + [padding] * (-len(rows) % BLOCK))
    blocks = padded.reshape(-1, BLOCK, len(padding)).swapaxes(1, 2)
    return blocks.reshape(-1, BLOCK)


def kernel_distances(scene: Scene, points: Floats) -> Floats:
    """(k,) signed distances of points (k, 3) from the nearest obstacle [m]."""
    return scene._distances(points)


def kernel_world(scene: Scene) -> World:
    """All obstacles of a scene as kernels read them, in the order of ``numbered_names``."""
    return scene._world


def numbered_names(scene: Scene) -> tuple[str, ...]:
    """The names by the numbers that kernels have for obstacles; "" where there is none."""
    return scene._numbered


def _triangles(given: ArrayLike, count: int) -> Ints:
    """(m, 3) indices of the corners of triangles, below the number of vertices."""
    faces = checks.floats("triangles", given)
    wrong = faces[(faces % 1.0 != 0.0) | (faces < 0.0) | (faces >= count)]
    if faces.ndim != 2 or faces.shape[1] != 3 or not len(faces) or len(wrong):
        found = f"{wrong[0]:g}" if len(wrong) else f"shape {faces.shape}"
        raise InvalidInputError(
            f"triangles has {found}: expected (m, 3), indices of vertices from 0 to {count - 1}."
        )
    return faces.astype(np.int64)
