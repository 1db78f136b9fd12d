"""The collision check of a serial arm, in one buffer with the arm."""

from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np

from jointwise.backends import cpu
from jointwise.backends.progress import silent
from jointwise.backends.threads import new_progress, run_threads, thread_count
from jointwise.engines.edges.packing import packed_edges
from jointwise.engines.edges.parabola import parabola_is_free
from jointwise.errors import GeometryWarning, InvalidInputError, warn_caller
from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.kernels.layout.arrays import UNLIMITED, Bools, Floats
from jointwise.kernels.layout.scene import with_scene_of
from jointwise.model.arm import ArmModel
from jointwise.model.tree_poses import joint_poses, square
from jointwise.results.result import IDENTITY
from jointwise.scene.collision_model import CollisionModel, is_for_arms
from jointwise.scene.packing import PackedShape, with_world
from jointwise.scene.scene import Scene, kernel_distances, kernel_world, numbered_names
from jointwise.shape.attached import serial_names, serial_rows, serial_spheres
from jointwise.shape.geometry import Geometry, group_spheres, kernel_tree

# Number of rows that a thread checks at a time.
ROWS = 4096
# Numbers of values of the first joint at which an obstacle must collide before it is reported as
# always colliding: enough for the smallest sphere to move by at most half its radius, within these.
MIN_VALUES, MAX_VALUES = 64, 2048
# Number of cached checks, each with the arm, its shape and the scene in one buffer.
MAX_CHECKS = 16


class CollisionCheck:
    """The base class of the checks of an arm and of a robot.

    Attributes:
        margin: The smallest clearance of a configuration that counts as free [m].
    """

    margin: float
    _collision: CollisionModel

    def base_numbers(self, base_pose: Floats | None = None) -> tuple[float, ...] | None:
        """The numbers of the pose of the base, as ``packed_edges`` takes them.

        None for an arm, which contains its base pose.
        """
        return None

    @cached_property
    def packed_edges(self) -> Floats | None:
        """The input of the edge kernels; None if the base moves."""
        return packed_edges(self._collision, self.base_numbers())

    def parabola_is_free(
        self, start: Floats, slope: Floats, bend: Floats, base_pose: Floats | None = None
    ) -> bool:
        """Whether start + p slope + p² bend, p from 0 to 1, is proven free; all are (n,)."""
        base = self.base_numbers(base_pose)
        return parabola_is_free(self._collision, base, start, slope, bend)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of link groups, then of obstacles, in the order of the kernels' numbers."""
        raise NotImplementedError

    def name_pair(self, contact: Floats) -> tuple[str, str] | None:
        """The names of the two nearest things; None if there are none."""
        a, b = int(contact[1]), int(contact[2])
        return None if a < 0 else (self.names[a], self.names[b])

    def padding_between(self, names: tuple[str, str]) -> float:
        """How far the spheres of two link groups may extend beyond the links in total [m]."""
        geometry = self._collision.geometry
        are_links = set(names) <= set(geometry.names) - set(geometry.attached)
        return 2.0 * (geometry.padding or 0.0) if are_links else 0.0

    def __repr__(self) -> str:
        return f"<{type(self).__name__} with a margin of {self.margin:g} m>"


class SerialCheck(CollisionCheck):
    """An arm, its shape and the obstacles around it, packed for kernels.

    Attributes:
        packed_arm: The arm with its shape and the obstacles.
    """

    def __init__(self, arm: ArmModel, collision: CollisionModel) -> None:
        geometry, allowed = collision.for_kernels()
        if not is_for_arms(collision):
            raise InvalidInputError(
                f"the arm holds {' and '.join(geometry.attached)}, which may collide with "
                "different links or obstacles: expected only one attached object here. solve, "
                "clearance and is_free accept several."
            )
        self._collision, self.margin = collision, collision.margin
        world = kernel_world(collision.scene)
        allowed = None if allowed is None else serial_rows(geometry, allowed)
        self.packed_arm = with_world(_packed_shape(arm, geometry), world, self.margin, allowed)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of link groups, then of obstacles, in the order of the kernels' numbers."""
        return (*serial_names(self._collision.geometry), *numbered_names(self._collision.scene))

    def contacts(
        self, q: Floats, base_pose: Floats | None = None, threads: int | None = 1
    ) -> Floats:
        """(m, 3) clearance [m] and the numbers of the two nearest things, for (m, n) joint values.

        It is NaN where joint values are, and infinite if there is nothing to collide with. An arm
        contains its base pose, so ``base_pose`` is ignored.
        """
        contacts = np.empty((len(q), 3))

        def work(worker: int, begin: int, end: int) -> None:
            cpu.clearances(self.packed_arm, q[begin:end], contacts[begin:end])

        run_rows(work, len(q), threads)
        return contacts

    def free(self, q: Floats, base_pose: Floats | None = None, threads: int | None = 1) -> Bools:
        """(m,) whether each of (m, n) joint values keeps the margin."""
        free = np.empty(len(q), np.bool_)

        def work(worker: int, begin: int, end: int) -> None:
            cpu.free_rows(self.packed_arm, q[begin:end], free[begin:end])

        run_rows(work, len(q), threads)
        return free

    def around(self, packed_arm: Floats, n: int) -> Floats:
        """The shape and the obstacles, packed with another arm, such as one with penalties."""
        return with_scene_of(packed_arm, self.packed_arm, n)


def run_rows(work: Callable[[int, int, int], None], count: int, threads: int | None) -> None:
    """Check rows on threads."""
    run_threads(work, count, ROWS, new_progress(thread_count(threads)), silent)


@lru_cache(MAX_CHECKS)
def _packed_shape(arm: ArmModel, geometry: Geometry) -> PackedShape:
    """An arm and its shape, packed once for all scenes."""
    return PackedShape(arm.packed, serial_spheres(geometry))


@lru_cache(MAX_CHECKS)
def serial_check(arm: ArmModel, collision: CollisionModel) -> SerialCheck:
    """The check of an arm; the last ones are cached."""
    warn_if_swallowed(collision, IDENTITY)
    return SerialCheck(arm, collision)


def warn_if_swallowed(collision: CollisionModel, base: Floats) -> None:
    """Warn of obstacles that collide with a link of the first joint, whatever its value is.

    Args:
        collision: The shape and the obstacles.
        base: (4, 4) the base in the frame of the scene; ``IDENTITY`` is fastest.
    """
    geometry, scene, margin = collision.geometry, collision.scene, collision.margin
    if not len(scene):
        return
    tree, warned = kernel_tree(geometry), set[str]()
    for body, centres, radii in _root_bodies(geometry):
        if base is not IDENTITY:
            centres = centres @ base[:3, :3].T + base[:3, 3]
        if (kernel_distances(scene, centres) - radii).min() >= margin:
            continue  # it is free at one value
        name, spheres = geometry.names[body + 1], _swept_spheres(geometry, body, base)
        place = (base @ square(tree.placements[body])).round(9) + 0.0
        named = _named(scene, name, place.tobytes())
        for obstacle in scene:
            if obstacle.name in named or not _touches(Scene((obstacle,)), spheres, margin):
                continue
            named.add(obstacle.name)
            if obstacle.name in warned:  # for another link group
                continue
            warned.add(obstacle.name)
            warn_caller(
                GeometryWarning(
                    f"{obstacle.name!r} collides with {name!r} at every value of the first joint, "
                    "so no configuration is free: move it or the base, or leave it out."
                )
            )


@lru_cache(MAX_CHECKS)
def _named(scene: Scene, link_group: str, place: bytes) -> set[str]:
    """The obstacles about which a warning was given, for a link group at a place.

    A robot and the arm between two of its links share this, and so do different margins.
    """
    return set()


def _touches(scene: Scene, spheres: Floats, margin: float) -> bool:
    """Whether spheres (m, k, 4), scene frame, collide with a scene in all of the m places."""
    points = np.ascontiguousarray(spheres[..., :3]).reshape(-1, 3)
    gaps = kernel_distances(scene, points).reshape(spheres.shape[:2]) - spheres[..., 3]
    return bool(gaps.min(axis=1).max() < margin)


@lru_cache(MAX_CHECKS)
def _root_bodies(geometry: Geometry) -> list[tuple[int, Floats, Floats]]:
    """The bodies that a joint on the base moves, with centres and radii at one of its values.

    Bodies that an unlimited joint moves away from everything are left out.
    """
    found = []
    for body in np.flatnonzero(kernel_tree(geometry).parents < 0).tolist():
        if _first_joint_values(geometry, body) is not None:
            spheres = _swept_spheres(geometry, body, IDENTITY)[0]
            found.append((body, spheres[:, :3].copy(), spheres[:, 3].copy()))
    return found


def _swept_spheres(geometry: Geometry, body: int, base: Floats) -> Floats:
    """(m, k, 4) the spheres of a body on the base at m values of its joint, scene frame."""
    values, spheres = _first_joint_values(geometry, body), group_spheres(geometry)[body + 1]
    assert values is not None
    places: Floats = base @ joint_poses(kernel_tree(geometry), values)[:, body]
    swept = np.einsum("mij,kj->mki", places[:, :3, :3], spheres[:, :3])
    swept += places[:, None, :3, 3]
    radii = np.broadcast_to(spheres[:, 3, None], (len(values), len(spheres), 1))
    return np.concatenate([swept, radii], axis=2)


@lru_cache(MAX_CHECKS)
def _first_joint_values(geometry: Geometry, body: int) -> Floats | None:
    """(m, v) values of all variables: one on the base over its range, the others at 0.

    None if the body has no spheres, or if an unlimited joint moves it away from everything.
    """
    tree, spheres = kernel_tree(geometry), group_spheres(geometry)[body + 1]
    variable, is_prismatic = tree.variables[body], tree.kinds[body] == PRISMATIC
    lower, upper = tree.lower[variable], tree.upper[variable]
    has_limits = lower > -UNLIMITED and upper < UNLIMITED
    if not len(spheres) or (is_prismatic and not has_limits):
        return None
    home = 0.5 * (lower + upper) if has_limits else np.clip(0.0, lower, upper)
    half, lever = np.pi, np.linalg.norm(spheres[:, :2], axis=1).max()
    if is_prismatic:
        half, lever = 0.5 * (upper - lower), 1.0
    low, high = np.clip([home - half, home + half], lower, upper)
    step = 0.5 * spheres[:, 3].min()
    count = int(np.clip((high - low) * lever / step, MIN_VALUES, MAX_VALUES))
    values = np.zeros((count, len(tree.lower)))
    values[:, variable] = np.linspace(low, high, count)
    return values
