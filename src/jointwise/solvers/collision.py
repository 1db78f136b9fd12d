"""What an arm must keep clear of: itself and a scene, in one buffer with the arm."""

import warnings
from collections.abc import Callable
from functools import lru_cache
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from jointwise.backends import cpu
from jointwise.backends.progress import silent
from jointwise.backends.threads import new_progress, run_threads, thread_count
from jointwise.errors import GeometryWarning, InvalidInputError
from jointwise.kernels.shapes import PRISMATIC, UNLIMITED, Body, Bools, Floats, Tree
from jointwise.kernels.surroundings import arm_size, pack_surroundings
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.model.geometry.geometry import Geometry
from jointwise.model.tree_poses import body_poses
from jointwise.scene.scene import Scene

# Rows that a thread checks at a time.
ROWS = 4096
# Values of the first joint for which an obstacle must touch, to be called one that swallows it.
FIRST_JOINT_VALUES = 64
# Checks that are kept, each with the arm, its body and the scene in one buffer.
MAX_CHECKS = 16
# One for all calls without a scene: a check is kept for the scene itself.
NO_OBSTACLES = Scene()


class CollisionCheck:
    """An arm, its body and the obstacles around it, packed for kernels.

    Attributes:
        packed_arm: The arm with its surroundings.
        names: What kernels number: carriers, then obstacles.
        margin: The least clearance of what counts as free [m].
    """

    __slots__ = ("margin", "names", "packed_arm")

    def __init__(
        self, arm: ArmModel, geometry: Geometry, scene: Scene, margin: float, self_collision: bool
    ) -> None:
        body = geometry.body if self_collision else without_pairs(geometry.body)
        self.packed_arm = pack_surroundings(arm.packed, margin, body, scene.world)
        self.names, self.margin = (*geometry.names, *scene.numbered), margin

    def contacts(self, configurations: Floats, threads: int | None = 1) -> Floats:
        """(m, 3) clearance [m] and the numbers of the two nearest things, for (m, n) joint values.

        NaN where joint values are; infinite where there is nothing to touch.
        """
        contacts = np.empty((len(configurations), 3))

        def work(worker: int, begin: int, end: int) -> None:
            cpu.clearances(self.packed_arm, configurations[begin:end], contacts[begin:end])

        run_rows(work, len(configurations), threads)
        return contacts

    def free(self, configurations: Floats, threads: int | None = 1) -> Bools:
        """(m,) whether each of (m, n) joint values keeps the margin."""
        free = np.empty(len(configurations), np.bool_)

        def work(worker: int, begin: int, end: int) -> None:
            cpu.free_rows(self.packed_arm, configurations[begin:end], free[begin:end])

        run_rows(work, len(configurations), threads)
        return free

    def name_pair(self, contact: Floats) -> tuple[str, str] | None:
        """The names of the two nearest things; None if there are none."""
        a, b = int(contact[1]), int(contact[2])
        return None if a < 0 else (self.names[a], self.names[b])

    def around(self, packed_arm: Floats, n: int) -> Floats:
        """The same surroundings around the arm as it is solved, such as with springs."""
        return np.concatenate([packed_arm[: arm_size(n)], self.packed_arm[arm_size(n) :]])

    def __repr__(self) -> str:
        return f"<CollisionCheck with a margin of {self.margin:g} m>"


def without_pairs(body: Body) -> Body:
    """A body that is not compared with itself."""
    return body._replace(
        pairs=body.pairs[:0],
        table_pairs=body.table_pairs[:0],
        tables=body.tables[:0],
        table_ranges=body.table_ranges[:0],
    )


def run_rows(work: Callable[[int, int, int], None], count: int, threads: int | None) -> None:
    """Check rows on threads."""
    run_threads(work, count, ROWS, new_progress(thread_count(threads)), silent)


def collision_check(
    arm: ArmModel,
    geometry: Geometry | None,
    scene: Scene | None,
    margin: float = 0.0,
    self_collision: bool = True,
) -> CollisionCheck | None:
    """What to check, or None if neither geometry nor scene is known.

    Raises:
        InvalidInputError: There is a scene and no geometry, or the margin is negative.
    """
    if scene is None and margin == 0.0 and (geometry is None or not self_collision):
        return None
    margin = checked_margin(scene, margin)
    return _cached(arm, geometry, scene, margin, bool(self_collision))


def checked_margin(scene: Scene | None, margin: float) -> float:
    """The margin [m]; what is no Scene and a negative margin are refused."""
    if scene is not None and not isinstance(scene, Scene):
        raise InvalidInputError(f"scene is {checks.short(scene)}: expected a Scene.")
    if type(margin) is float and 0.0 <= margin < inf:  # what a call among obstacles has time for
        return margin
    number = checks.number("margin", margin)
    if number < 0.0:
        raise InvalidInputError(f"margin is {margin}: expected 0 or more [m].")
    return number


@lru_cache(MAX_CHECKS)
def _cached(
    arm: ArmModel,
    geometry: Geometry | None,
    scene: Scene | None,
    margin: float,
    self_collision: bool,
) -> CollisionCheck:
    if geometry is None:
        given = "margin" if scene is None else "scene"
        raise InvalidInputError(
            f"{given} is given for an arm without geometry: expected an arm whose spheres are "
            "known, such as Chain.from_urdf(source, geometry=True)."
        )
    obstacles = NO_OBSTACLES if scene is None else scene
    warn_if_swallowed(geometry, obstacles, margin, np.eye(4))
    return CollisionCheck(arm, geometry, obstacles, margin, self_collision)


def warn_if_swallowed(geometry: Geometry, scene: Scene, margin: float, base: Floats) -> None:
    """Warn of obstacles that touch what a joint on the base carries, whatever its value is.

    Args:
        geometry: The spheres.
        scene: The obstacles.
        margin: The least distance to keep [m].
        base: (4, 4) the base in the frame of the scene.
    """
    tree, parts = geometry.tree, geometry.spheres_by_carrier
    for body in np.flatnonzero(tree.parents < 0).tolist():
        name, spheres = geometry.names[body + 1], parts[body + 1]
        places: Floats = base @ body_poses(tree, _first_joint_values(tree, body))[:, body]
        points = np.einsum("mij,kj->mki", places[:, :3, :3], spheres[:, :3])
        points += places[:, None, :3, 3]
        if not len(spheres) or (scene.distance(points[0]) - spheres[:, 3]).min() >= margin:
            continue  # free at one value
        for obstacle in scene:
            distances = Scene((obstacle,)).distance(points.reshape(-1, 3))
            gaps = distances.reshape(FIRST_JOINT_VALUES, -1) - spheres[:, 3]
            if gaps.min(axis=1).max() < margin:
                warnings.warn(
                    f"{obstacle.name!r} touches {name!r} whatever the first joint does, so no "
                    "joint values are free: move it or the base, or leave it out.",
                    GeometryWarning,
                    stacklevel=5,
                )


def _first_joint_values(tree: Tree, body: int) -> Floats:
    """(64, v) values of all variables: of one on the base over its range, of the others 0."""
    variable, half = tree.variables[body], 1.0 if tree.kinds[body] == PRISMATIC else np.pi
    lower, upper = tree.lower[variable], tree.upper[variable]
    has_limits = lower > -UNLIMITED and upper < UNLIMITED
    home = 0.5 * (lower + upper) if has_limits else np.clip(0.0, lower, upper)
    low, high = np.clip([home - half, home + half], lower, upper)
    values = np.zeros((FIRST_JOINT_VALUES, len(tree.lower)))
    values[:, variable] = np.linspace(low, high, FIRST_JOINT_VALUES)
    return values


def clearance(
    check: CollisionCheck | None, arm: ArmModel, q: ArrayLike, threads: int | None
) -> float | Floats:
    """The clearance of one or many configurations; see ``Chain.clearance``."""
    rows = _rows(arm, q)
    found = check.contacts(rows, threads)[:, 0] if check else np.full(len(rows), np.inf)
    return float(found[0]) if np.ndim(q) == 1 else found


def is_free(
    check: CollisionCheck | None, arm: ArmModel, q: ArrayLike, threads: int | None
) -> bool | Bools:
    """Whether configurations are free; see ``Chain.free``."""
    rows = _rows(arm, q)
    found = check.free(rows, threads) if check else np.ones(len(rows), np.bool_)
    return bool(found[0]) if np.ndim(q) == 1 else found


def _rows(arm: ArmModel, q: ArrayLike) -> Floats:
    values = checks.configurations("q", q, arm.n)
    return checks.all_finite("q", np.ascontiguousarray(values.reshape(-1, arm.n)))
