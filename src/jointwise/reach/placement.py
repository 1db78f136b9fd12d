"""Where the base of an arm should stand so that it reaches a list of targets best."""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jointwise.backends import cpu
from jointwise.chain import Chain
from jointwise.errors import GeometryWarning, InvalidInputError
from jointwise.kernels.shapes import Bools, Floats
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.reach.base_checks import BaseChecks
from jointwise.reach.chunks import REACH_CONFIG
from jointwise.reach.orientations import UP
from jointwise.scene.scene import Scene
from jointwise.solvers.batch import BatchOptions, Device, solve_batch
from jointwise.solvers.collision import CollisionCheck

# Starts of each target; of the solutions found, the one with the largest limit margin counts.
STARTS = 4
# Targets solved at a time, at most, which bounds the memory.
ROWS_AT_ONCE = 200_000
# Candidates, at most.
MAX_CANDIDATES = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """How well an arm reaches the targets from each candidate base. All arrays are read-only.

    Attributes:
        best: Index of the best candidate: the most targets reached, then the largest ``margin``,
            then the largest ``manipulability``. The last decides for arms without limits, whose
            margin is 1 everywhere.
        base: (4, 4) its pose, world frame.
        reached: (k,) number of targets that each candidate reaches.
        margin: (k,) smallest limit margin over the targets reached: 1 in the middle of the joint
            ranges, 0 at a limit, or where none is reached.
        manipulability: (k,) smallest over the targets reached; 0 where none is.
        joint_angles: (m, n) joint values for each target from the best candidate [rad, m]; NaN
            where it is not reached.
        clearance: (m,) distance of the arm from the nearest obstacle and from itself at each target
            [m]; NaN where it is not reached, infinite where nothing is checked.

    Example:
        >>> from jointwise import Chain, two_link_planar
        >>> from jointwise.reach import base_candidates
        >>> arm = Chain.from_dh(two_link_planar(0.3, 0.2))
        >>> targets = [[1.0, 0.0, 0.0], [1.0, 0.2, 0.0]]
        >>> found = best_base(arm, targets, base_candidates(targets, reach=0.5, step=0.1))
        >>> found.base.shape, found.joint_angles.shape
        ((4, 4), (2, 2))
    """

    best: int
    base: Floats
    reached: NDArray[np.int64]
    margin: Floats
    manipulability: Floats
    joint_angles: Floats
    clearance: Floats

    def __str__(self) -> str:
        x, y, z = self.base[:3, 3]
        text = (
            f"base at {x:.3f}, {y:.3f}, {z:.3f} m (candidate {self.best} of {len(self.reached)}): "
            f"{self.reached[self.best]} of {len(self.joint_angles)} poses reached, "
            f"margin {self.margin[self.best]:.2f}"
        )
        nearest = np.nanmin(self.clearance, initial=np.inf)
        return text if np.isinf(nearest) else f"{text}, clearance {nearest:.3f} m"


def best_base(
    chain: Chain,
    targets: ArrayLike,
    candidates: ArrayLike,
    device: Device = "cpu",
    threads: int | None = None,
    seed: int = 0,
    *,
    scene: Scene | None = None,
    margin: float = 0.0,
    self_collision: bool = True,
) -> Placement:
    """Solve for every target from every candidate base, and choose the best base.

    Args:
        chain: The arm.
        targets: (m, 4, 4) poses of the end effector, or (m, 3) positions [m]; world frame.
        candidates: (k, 4, 4) possible poses of the arm's base frame, world frame.
        device: As for ``solve_batch``.
        threads: As for ``solve_batch``.
        seed: As for ``solve_batch``.
        scene: Obstacles, world frame: only solutions that touch nothing count. A candidate reaches
            nothing if what is fixed to its base touches an obstacle other than those it stands on,
            whose surfaces are within 20 mm of the origin of its frame.
        margin: The least distance to keep [m].
        self_collision: Whether the arm must not touch itself, if its geometry is known.

    Raises:
        InvalidInputError: There are no targets or candidates, or they are not poses; or there is a
            scene, and the arm has no geometry.

    Example:
        >>> from jointwise import Chain, two_link_planar
        >>> from jointwise.reach import base_candidates
        >>> arm = Chain.from_dh(two_link_planar(0.3, 0.2))
        >>> targets = [[1.0, 0.0, 0.0], [1.0, 0.2, 0.0]]
        >>> found = best_base(arm, targets, base_candidates(targets, reach=0.5, step=0.1))
        >>> int(found.reached[found.best])
        2
    """
    if not isinstance(chain, Chain):
        raise InvalidInputError(f"chain is {chain!r}: expected a Chain.")
    bases = checks.frames("candidates", candidates)
    poses, are_poses = checks.places("targets", targets)
    if not len(poses) or not len(bases):
        raise InvalidInputError("targets or candidates is empty: expected at least one of each.")
    around = BaseChecks(chain, scene, margin, self_collision)
    touched = around.touched_by(bases)
    _warn_if_all_touch(touched)
    starts = np.vstack([chain.home, chain.random(seed, STARTS - 1)])
    options = BatchOptions(device, threads=threads, closest=False)

    def solve(piece: slice) -> tuple[Floats, Floats]:
        """(2, k, m) margin and manipulability of each target, NaN if not reached; q (k, m, n)."""
        if around.depend_on_base:
            (arm, check), frames = around.at(bases[piece][0]), poses
        else:
            arm, check = around.without_obstacles()
            frames = _in_base_frames(bases[piece], poses)
        rows = frames if are_poses else np.ascontiguousarray(frames[:, :3, 3])
        measures, q = _best_solutions(arm, check, rows, starts, seed, options)
        return measures.reshape(2, -1, len(poses)), q.reshape(-1, len(poses), chain.n)

    reached, (limit_margin, manipulability) = (
        np.zeros(len(bases), np.int64),
        np.zeros((2, len(bases))),
    )
    step = 1 if around.depend_on_base else max(1, ROWS_AT_ONCE // (STARTS * len(poses)))
    for begin in range(0, len(bases), step):
        piece = slice(begin, begin + step)
        if touched[begin]:  # of a scene, in which candidates are solved one by one
            continue
        measures, _ = solve(piece)
        solved = ~np.isnan(measures[0])
        smallest = np.where(solved, measures, np.inf).min(axis=2)
        reached[piece] = solved.sum(axis=1)
        limit_margin[piece], manipulability[piece] = np.where(solved.any(axis=1), smallest, 0.0)
    # The last key is sorted by first; of equals the first candidate is taken.
    best = int(np.lexsort([-manipulability, -limit_margin, -reached])[0])
    base, (_, (q,)) = bases[best].copy(), solve(slice(best, best + 1))
    if touched[best]:
        q[:] = np.nan
    _, check = around.at(base)
    clearance = check.contacts(q)[:, 0] if check else np.where(np.isnan(q[:, 0]), np.nan, np.inf)
    for array in (base, reached, limit_margin, manipulability, q, clearance):
        array.setflags(write=False)
    return Placement(best, base, reached, limit_margin, manipulability, q, clearance)


def _warn_if_all_touch(touched: list[str]) -> None:
    """Warn once, by name, if no candidate base is free."""
    if all(touched):
        names = " or ".join(repr(name) for name in dict.fromkeys(touched))
        warnings.warn(
            f"every candidate base touches {names}, so no target is reached: expected bases "
            "beside them, or on them.",
            GeometryWarning,
            stacklevel=3,
        )


def base_candidates(targets: ArrayLike, reach: float, step: float, height: float = 0.0) -> Floats:
    """(k, 4, 4) upright bases on a square grid around the targets, for ``best_base``.

    The grid is centred at the mean of the targets, in a horizontal plane.

    Args:
        targets: (m, 4, 4) poses or (m, 3) positions [m], world frame.
        reach: Largest horizontal distance from the mean of the targets [m], such as
            ``chain.reach``.
        step: Distance between neighbours [m].
        height: z of all bases [m].

    Example:
        >>> base_candidates([[2.0, 0.0, 0.5]], reach=0.1, step=0.1)[:, :3, 3]
        array([[ 1.9,  0. ,  0. ],
               [ 2. , -0.1,  0. ],
               [ 2. ,  0. ,  0. ],
               [ 2. ,  0.1,  0. ],
               [ 2.1,  0. ,  0. ]])
    """
    positions = checks.places("targets", targets)[0][:, :2, 3]
    if not len(positions):
        raise InvalidInputError("targets is empty: expected at least one.")
    radius, spacing = checks.positive("reach", reach), checks.positive("step", step)
    if (2.0 * radius / spacing + 1.0) ** 2 > MAX_CANDIDATES:
        raise InvalidInputError(
            f"step is {step} for a grid of {2.0 * radius:.3g} m by {2.0 * radius:.3g} m, more than "
            f"{MAX_CANDIDATES:,} candidates: expected a larger step, or a smaller reach."
        )
    offsets = np.arange(-(radius // spacing), radius // spacing + 1.0) * spacing
    grid = np.stack(np.meshgrid(offsets, offsets, indexing="ij"), axis=-1).reshape(-1, 2)
    origins = positions.mean(axis=0) + grid[np.hypot(*grid.T) <= radius]
    bases = np.tile(np.eye(4), (len(origins), 1, 1))
    bases[:, :2, 3], bases[:, 2, 3] = origins, checks.number("height", height)
    return bases


def standing_places(targets: ArrayLike, reach: float, step: float, height: float = 0.0) -> Floats:
    """Deprecated alias of ``base_candidates``."""
    warnings.warn(
        "standing_places is deprecated: use base_candidates.", DeprecationWarning, stacklevel=2
    )
    return base_candidates(targets, reach, step, height)


def measure(arm: ArmModel, q: Floats, converged: Bools, jacobian_rows: int, axis: Floats) -> Floats:
    """(2, k) manipulability and limit margin of each row of ``q (k, n)`` that has converged, or 0.

    Args:
        arm: The arm.
        q: (k, n) joint values [rad, m].
        converged: (k,) which rows are solutions.
        jacobian_rows: Rows of the Jacobian that count: 3, 5 or 6.
        axis: (3,) the axis at right angles to the two rotations that count if 5 rows do, in the
            frame of the end effector.
    """
    measures = np.empty((2, len(q)))
    cpu.measure(arm.packed, q, converged, axis, jacobian_rows, measures)
    return measures


def _in_base_frames(bases: Floats, poses: Floats) -> Floats:
    """(k * m, 4, 4) each of ``poses (m, 4, 4)`` in the frame of each of ``bases (k, 4, 4)``."""
    R_base_world = np.swapaxes(bases[:, None, :3, :3], -1, -2)
    T_base_target = np.tile(np.eye(4), (len(bases), len(poses), 1, 1))
    T_base_target[..., :3, :3] = R_base_world @ poses[:, :3, :3]
    T_base_target[..., :3, 3:] = R_base_world @ (poses[:, :3, 3:] - bases[:, None, :3, 3:])
    checks.all_finite("targets in the frames of candidates", T_base_target)
    return T_base_target.reshape(-1, 4, 4)


def _best_solutions(
    arm: ArmModel,
    check: CollisionCheck | None,
    targets: Floats,
    starts: Floats,
    seed: int,
    options: BatchOptions,
) -> tuple[Floats, Floats]:
    """(2, k) limit margin and manipulability of the best solution of each target; its (k, n).

    Every target is solved from each of the starts. The best solution has the largest margin, of
    equals the largest manipulability. NaN where the target is not reached.
    """
    count, jacobian_rows = len(targets), 6 if targets.ndim == 3 else 3
    tiled = np.concatenate([targets] * len(starts))
    rows = np.repeat(starts, count, axis=0)
    batch = solve_batch(arm, tiled, rows, REACH_CONFIG, seed, options, check)
    measured = measure(arm, batch.joint_angles, batch.converged, jacobian_rows, UP)
    best, best_q = np.full((2, count), np.nan), np.full((count, arm.n), np.nan)
    for k in range(len(starts)):
        piece = slice(k * count, (k + 1) * count)
        manipulability, margin = measured[:, piece]
        worse = (margin < best[0]) | ((margin == best[0]) & (manipulability <= best[1]))
        better = batch.converged[piece] & ~worse
        best[:, better] = margin[better], manipulability[better]
        best_q[better] = batch.joint_angles[piece][better]
    return best, best_q
