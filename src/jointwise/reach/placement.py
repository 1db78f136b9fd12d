"""Where to stand: the base from which a list of poses is reached with the most to spare."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jointwise import kernels
from jointwise.chain import Chain
from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Floats
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.reach.chunks import REACH_CONFIG
from jointwise.reach.orientations import UP
from jointwise.solvers.batch import BatchOptions, Device, solve_batch
from jointwise.solvers.results import IKBatch

# Answers looked at for each pose; the one with the most to spare counts.
STARTS = 4
# Solves at a time.
ROWS = 200_000
# More places than anyone waits for.
MOST = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """How well each of the candidates serves, and the best. All arrays are read-only.

    Attributes:
        best: Which candidate is best: most poses reached, then the largest ``margin``, then the
            largest ``manipulability``: arms without limits are equally far from them everywhere.
        base: (4, 4) its pose.
        reached: (k,) how many of the poses each candidate reaches.
        margin: (k,) the least distance to a joint limit over the poses reached, as a share of half
            the joint's range; 0 where none is reached.
        manipulability: (k,) the least over the poses reached; 0 where none is.
        joint_angles: (m, n) joint values for the poses from the best; NaN where it fails.
    """

    best: int
    base: Floats
    reached: NDArray[np.int64]
    margin: Floats
    manipulability: Floats
    joint_angles: Floats

    def __str__(self) -> str:
        x, y, z = self.base[:3, 3]
        return (
            f"stand at {x:.3f}, {y:.3f}, {z:.3f} m (candidate {self.best} of {len(self.reached)}): "
            f"{self.reached[self.best]} of {len(self.joint_angles)} poses reached, "
            f"margin {self.margin[self.best]:.2f}"
        )


def best_base(
    chain: Chain,
    targets: ArrayLike,
    candidates: ArrayLike,
    device: Device = "cpu",
    threads: int | None = None,
    seed: int = 0,
) -> Placement:
    """Solve every pose from every candidate, and take the base that has the most to spare.

    Args:
        chain: The arm.
        targets: (m, 4, 4) poses of the tip, or (m, 3) positions [m], in the world.
        candidates: (k, 4, 4) where the arm's base frame may be put in the world.
        device: As for ``solve_batch``.
        threads: As for ``solve_batch``.
        seed: As for ``solve_batch``.

    Raises:
        InvalidInputError: There are no targets or candidates, or they are no poses.
    """
    if not isinstance(chain, Chain):
        raise InvalidInputError(f"chain is {chain!r}: expected a Chain.")
    bases, (moved, whole) = (
        checks.frames("candidates", candidates),
        checks.places("targets", targets),
    )
    if not len(moved) or not len(bases):
        raise InvalidInputError("targets or candidates is empty: expected at least one of each.")
    m, n = len(moved), chain.n
    starts = np.vstack([chain.home, chain.random(seed, STARTS - 1)])
    reached, (margin, freedom) = np.zeros(len(bases), np.int64), np.zeros((2, len(bases)))
    best, answers = -1, np.empty((m, n))
    step = max(1, ROWS // m)
    for begin in range(0, len(bases), step):
        some = slice(begin, begin + step)
        seen = _seen(bases[some], moved)
        asked = seen if whole else np.ascontiguousarray(seen[:, :3, 3])
        measures, values = _most_to_spare(chain, asked, starts, whole, device, threads, seed)
        measures, values = measures.reshape(2, -1, m), values.reshape(-1, m, n)
        there = ~np.isnan(measures[0])
        reached[some] = there.sum(axis=1)
        least = np.where(there, measures, np.inf).min(axis=2)
        margin[some], freedom[some] = np.where(there.any(axis=1), least, 0.0)
        # The last key is the first to sort by; of equals the first candidate.
        now = begin + int(np.lexsort([-freedom[some], -margin[some], -reached[some]])[0])
        if best < 0 or (reached[now], margin[now], freedom[now]) > (
            reached[best],
            margin[best],
            freedom[best],
        ):
            best, answers = now, values[now - begin]
    base = bases[best].copy()
    for array in (base, reached, margin, freedom, answers):
        array.setflags(write=False)
    return Placement(best, base, reached, margin, freedom, answers)


def standing_places(targets: ArrayLike, reach: float, step: float, height: float = 0.0) -> Floats:
    """(k, 4, 4) upright bases on a level grid around the targets, for ``best_base`` to try.

    Args:
        targets: (m, 4, 4) poses or (m, 3) positions [m], in the world.
        reach: How far from the middle of the targets to go [m], such as ``chain.reach``.
        step: From place to place [m].
        height: Of the floor [m].
    """
    points = checks.places("targets", targets)[0][:, :2, 3]
    if not len(points):
        raise InvalidInputError("targets is empty: expected at least one.")
    far, apart = checks.positive("reach", reach), checks.positive("step", step)
    if (2.0 * far / apart + 1.0) ** 2 > MOST:
        raise InvalidInputError(
            f"step is {step} for {2.0 * far:.3g} m each way, more than {MOST:,} places: expected a "
            "larger step, or a smaller reach."
        )
    middle = points.mean(axis=0)
    along = np.arange(-(far // apart), far // apart + 1.0) * apart
    across = np.stack(np.meshgrid(along, along, indexing="ij"), axis=-1).reshape(-1, 2)
    places = middle + across[np.hypot(*across.T) <= far]
    bases = np.tile(np.eye(4), (len(places), 1, 1))
    bases[:, :2, 3], bases[:, 2, 3] = places, checks.number("height", height)
    return bases


def _seen(bases: Floats, poses: Floats) -> Floats:
    """(k * m, 4, 4) each of the poses as it is from each of the bases."""
    turned = np.swapaxes(bases[:, None, :3, :3], -1, -2)
    seen = np.tile(np.eye(4), (len(bases), len(poses), 1, 1))
    seen[..., :3, :3] = turned @ poses[:, :3, :3]
    seen[..., :3, 3:] = turned @ (poses[:, :3, 3:] - bases[:, None, :3, 3:])
    return checks.all_finite("targets seen from candidates", seen).reshape(-1, 4, 4)


def _most_to_spare(
    chain: Chain,
    asked: Floats,
    starts: Floats,
    whole: bool,
    device: Device,
    threads: int | None,
    seed: int,
) -> tuple[Floats, Floats]:
    """(2, k) margin and manipulability of the best answer found for each target; its (k, n).

    The best is the one with the largest margin, of equals the largest manipulability. NaN where
    none is reached.
    """
    most, values = np.full((2, len(asked)), np.nan), np.full((len(asked), chain.n), np.nan)
    for start in starts:
        options = BatchOptions(device, threads=threads, closest=False)
        batch = solve_batch(chain.arm, asked, start, REACH_CONFIG, seed, options)
        freedom, margin = measure(chain.arm, batch, 6 if whole else 3, UP)
        worse = (margin < most[0]) | ((margin == most[0]) & (freedom <= most[1]))
        better = batch.converged & ~worse
        most[:, better] = margin[better], freedom[better]
        values[better] = batch.joint_angles[better]
    return most, values


def measure(arm: ArmModel, batch: IKBatch, jacobian_rows: int, axis: Floats) -> Floats:
    """(2, k) manipulability and limit margin of each solution, 0 where there is none."""
    measures = np.empty((2, len(batch)))
    kernels.measure.measure(
        arm.packed, batch.joint_angles, batch.converged, axis, jacobian_rows, measures
    )
    return measures
