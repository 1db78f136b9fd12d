"""What an arm must keep clear of: itself and a scene, in one buffer with the arm."""

from collections.abc import Callable
from functools import lru_cache
from math import inf
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from jointwise.backends import cpu
from jointwise.backends.progress import silent
from jointwise.backends.threads import new_progress, run_threads, thread_count
from jointwise.errors import GeometryWarning, InvalidInputError, warn_caller
from jointwise.kernels.shapes import PRISMATIC, UNLIMITED, Body, Bools, Floats, Tree
from jointwise.kernels.surroundings import arm_size, pack_surroundings
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.model.geometry.geometry import Geometry
from jointwise.model.tree_poses import body_poses
from jointwise.scene.scene import Scene

# Rows that a thread checks at a time.
ROWS = 4096
# Values of the first joint for which an obstacle must touch, to be called one that swallows it: as
# many as its smallest sphere needs to move by half its radius from one to the next, within these.
MIN_VALUES, MAX_VALUES = 64, 2048
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
    margin = checked_margin(scene, margin, self_collision)
    if scene is None and margin == 0.0 and (geometry is None or not self_collision):
        return None
    return _cached(arm, geometry, scene, margin, self_collision)


def checked_margin(scene: Scene | None, margin: float, self_collision: bool) -> float:
    """The margin [m]; what is no Scene, no boolean or a negative margin is refused."""
    if type(self_collision) is not bool:
        raise InvalidInputError(
            f"self_collision is {checks.short(self_collision)}: expected True or False."
        )
    if scene is not None and not isinstance(scene, Scene):
        is_path = isinstance(scene, str | PathLike)
        hint = f', such as Scene.from_toml("{checks.short(scene)[1:-1]}")' if is_path else ""
        raise InvalidInputError(f"scene is {checks.short(scene)}: expected a Scene{hint}.")
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
    tree, parts, named = geometry.tree, geometry.spheres_by_carrier, _named(geometry, scene)
    for body in np.flatnonzero(tree.parents < 0).tolist():
        name, spheres = geometry.names[body + 1], parts[body + 1]
        values = _first_joint_values(tree, body, spheres)
        if values is None or not _touches(scene, geometry, body, values[:1], base, margin):
            continue  # it may be free somewhere, or it is free at one value
        for obstacle in scene:
            alone = Scene((obstacle,))
            if obstacle.name in named or not _touches(alone, geometry, body, values, base, margin):
                continue
            named.add(obstacle.name)
            warn_caller(
                GeometryWarning(
                    f"{obstacle.name!r} touches {name!r} whatever the first joint does, so no "
                    "joint values are free: move it or the base, or leave it out."
                )
            )


@lru_cache(MAX_CHECKS)
def _named(geometry: Geometry, scene: Scene) -> set[str]:
    """The obstacles of a scene of which a warning was given; the margin may differ."""
    return set()


def _touches(
    scene: Scene, geometry: Geometry, body: int, values: Floats, base: Floats, margin: float
) -> bool:
    """Whether a body touches a scene at all of the values (m, v) of the variables."""
    spheres = geometry.spheres_by_carrier[body + 1]
    places: Floats = base @ body_poses(geometry.tree, values)[:, body]
    points = np.einsum("mij,kj->mki", places[:, :3, :3], spheres[:, :3])
    points += places[:, None, :3, 3]
    gaps = scene.distance(points.reshape(-1, 3)).reshape(len(values), -1) - spheres[:, 3]
    return bool(gaps.min(axis=1).max() < margin)


def _first_joint_values(tree: Tree, body: int, spheres: Floats) -> Floats | None:
    """(m, v) values of all variables: of one on the base over its range, of the others 0.

    None if the body has no spheres, or leaves everything behind on a joint without limits.
    """
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
