"""What a serial arm must not collide with, in one buffer with the arm."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from jointwise.backends import cpu
from jointwise.backends.progress import silent
from jointwise.backends.threads import new_progress, run_threads, thread_count
from jointwise.errors import GeometryWarning, warn_caller
from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.kernels.layout.arrays import UNLIMITED, Bools, Floats
from jointwise.kernels.layout.scene import pack_scene, with_scene_of
from jointwise.model.arm import ArmModel
from jointwise.model.tree_poses import body_poses, square
from jointwise.scene.collision_model import CollisionModel
from jointwise.scene.scene import Scene, kernel_world, numbered_names
from jointwise.shape.geometry import Geometry, group_spheres, kernel_tree

# Rows that a thread checks at a time.
ROWS = 4096
# Values of the first joint at which an obstacle must collide before it is reported as one that
# always does: enough that the smallest sphere moves by half its radius at most, within these.
MIN_VALUES, MAX_VALUES = 64, 2048
# Checks that are kept, each with the arm, its shape and the scene in one buffer.
MAX_CHECKS = 16


class SerialCheck:
    """An arm, its shape and the obstacles around it, packed for kernels.

    Attributes:
        packed_arm: The arm with its shape and the obstacles.
        names: What kernels number: link groups, then obstacles.
        margin: The smallest clearance of a configuration that counts as free [m].
    """

    __slots__ = ("margin", "names", "packed_arm")

    def __init__(self, arm: ArmModel, collision: CollisionModel) -> None:
        geometry, scene = collision.geometry, collision.scene
        spheres, allowed = collision.for_kernels()
        self.packed_arm = pack_scene(
            arm.packed, collision.margin, spheres, kernel_world(scene), allowed
        )
        self.names, self.margin = (*geometry.names, *numbered_names(scene)), collision.margin

    def contacts(
        self, q: Floats, base_pose: Floats | None = None, threads: int | None = 1
    ) -> Floats:
        """(m, 3) clearance [m] and the numbers of the two nearest things, for (m, n) joint values.

        NaN where joint values are; infinite where there is nothing to collide with. The base of an
        arm is part of it, so ``base_pose`` is ignored.
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

    def name_pair(self, contact: Floats) -> tuple[str, str] | None:
        """The names of the two nearest things; None if there are none."""
        a, b = int(contact[1]), int(contact[2])
        return None if a < 0 else (self.names[a], self.names[b])

    def around(self, packed_arm: Floats, n: int) -> Floats:
        """The same shape and obstacles around the arm as it is solved, such as with penalties."""
        return with_scene_of(packed_arm, self.packed_arm, n)

    def __repr__(self) -> str:
        return f"<SerialCheck with a margin of {self.margin:g} m>"


def run_rows(work: Callable[[int, int, int], None], count: int, threads: int | None) -> None:
    """Check rows on threads."""
    run_threads(work, count, ROWS, new_progress(thread_count(threads)), silent)


@lru_cache(MAX_CHECKS)
def serial_check(arm: ArmModel, collision: CollisionModel) -> SerialCheck:
    """The check of an arm; the last ones are kept."""
    warn_if_swallowed(collision, np.eye(4))
    return SerialCheck(arm, collision)


def warn_if_swallowed(collision: CollisionModel, base: Floats) -> None:
    """Warn of obstacles that collide with a link of the first joint, whatever its value is.

    Args:
        collision: The shape and the obstacles.
        base: (4, 4) the base in the frame of the scene.
    """
    geometry, scene, margin = collision.geometry, collision.scene, collision.margin
    tree, warned = kernel_tree(geometry), set[str]()
    for body in np.flatnonzero(tree.parents < 0).tolist():
        name = geometry.names[body + 1]
        values = _first_joint_values(geometry, body)
        if values is None or not _touches(scene, geometry, body, values[:1], base, margin):
            continue  # it may be free somewhere, or it is free at one value
        place = (base @ square(tree.placements[body])).round(9) + 0.0
        named = _named(scene, name, place.tobytes())
        for obstacle in scene:
            alone = Scene((obstacle,))
            if obstacle.name in named or not _touches(alone, geometry, body, values, base, margin):
                continue
            named.add(obstacle.name)
            if obstacle.name in warned:  # of another link group
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
    """The obstacles of which a warning was given, for a link group at a place.

    A robot and the arm between two of its links are checked alike, and so are other margins.
    """
    return set()


def _touches(
    scene: Scene, geometry: Geometry, body: int, values: Floats, base: Floats, margin: float
) -> bool:
    """Whether a body touches a scene at all of the values (m, v) of the variables."""
    spheres = group_spheres(geometry)[body + 1]
    places: Floats = base @ body_poses(kernel_tree(geometry), values)[:, body]
    points = np.einsum("mij,kj->mki", places[:, :3, :3], spheres[:, :3])
    points += places[:, None, :3, 3]
    gaps = scene.distance(points.reshape(-1, 3)).reshape(len(values), -1) - spheres[:, 3]
    return bool(gaps.min(axis=1).max() < margin)


@lru_cache(MAX_CHECKS)
def _first_joint_values(geometry: Geometry, body: int) -> Floats | None:
    """(m, v) values of all variables: of one on the base over its range, of the others 0.

    None if the body has no spheres, or leaves everything behind on a joint without limits.
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
