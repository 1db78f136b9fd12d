"""Where to stand: the base from which a list of poses is reached with the most to spare."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jointwise import checks
from jointwise.batch import Device, solve_batch
from jointwise.chain import Chain
from jointwise.errors import InvalidInputError
from jointwise.kernels import Floats
from jointwise.reach.chunks import REACH_CONFIG, measured
from jointwise.reach.orientations import UP

# Answers looked at for each pose; the one with the most to spare counts.
STARTS = 4
# Solves at a time.
ROWS = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """How well each of the candidates serves, and the best. All arrays are read-only.

    Attributes:
        best: Which candidate is best: most poses reached, then the largest ``margin``.
        base: (4, 4) its pose.
        reached: (k,) how many of the poses each candidate reaches.
        margin: (k,) the least distance to a joint limit over the poses reached, as a share of half
            the joint's range; 0 where none is reached.
        joint_angles: (m, n) joint values for the poses from the best; NaN where it fails.
    """

    best: int
    base: Floats
    reached: NDArray[np.int64]
    margin: Floats
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
    bases = _poses("candidates", candidates)
    wanted = checks.workable("targets", checks.floats("targets", targets))
    if wanted.ndim == 2 and wanted.shape[1] == 3:
        moved, whole = np.tile(np.eye(4), (len(wanted), 1, 1)), False
        moved[:, :3, 3] = wanted
    else:
        moved, whole = _poses("targets", wanted), True
    if not len(moved) or not len(bases):
        raise InvalidInputError("targets or candidates is empty: expected at least one of each.")
    m, n = len(moved), chain.n
    starts = np.vstack([chain.home, chain.random(seed, STARTS - 1)])
    reached, margin = np.zeros(len(bases), np.int64), np.zeros(len(bases))
    best, answers = -1, np.empty((m, n))
    step = max(1, ROWS // m)
    for begin in range(0, len(bases), step):
        some = bases[begin : begin + step]
        seen = np.linalg.inv(some)[:, None] @ moved
        asked = seen.reshape(-1, 4, 4) if whole else seen[..., :3, 3].reshape(-1, 3)
        spare, values = _most_to_spare(chain, asked, starts, whole, device, threads, seed)
        spare, values = spare.reshape(-1, m), values.reshape(-1, m, n)
        there = ~np.isnan(spare)
        reached[begin : begin + step] = there.sum(axis=1)
        least = np.where(there, spare, np.inf).min(axis=1)
        margin[begin : begin + step] = np.where(there.any(axis=1), least, 0.0)
        first = max(range(len(some)), key=lambda i: (reached[begin + i], margin[begin + i], -i))
        now = begin + first
        if best < 0 or (reached[now], margin[now]) > (reached[best], margin[best]):
            best, answers = now, values[first]
    base = bases[best].copy()
    for array in (base, reached, margin, answers):
        array.setflags(write=False)
    return Placement(best, base, reached, margin, answers)


def standing_places(targets: ArrayLike, reach: float, step: float, height: float = 0.0) -> Floats:
    """(k, 4, 4) upright bases on a level grid around the targets, for ``best_base`` to try.

    Args:
        targets: (m, 4, 4) poses or (m, 3) positions [m], in the world.
        reach: How far from the middle of the targets to go [m], such as ``chain.reach``.
        step: From place to place [m].
        height: Of the floor [m].
    """
    wanted = checks.workable("targets", checks.floats("targets", targets))
    points = wanted[:, :3, 3] if wanted.ndim == 3 else wanted
    far, apart = checks.positive("reach", reach), checks.positive("step", step)
    middle = points[:, :2].mean(axis=0)
    along = np.arange(-(far // apart), far // apart + 1.0) * apart
    across = np.stack(np.meshgrid(along, along, indexing="ij"), axis=-1).reshape(-1, 2)
    places = middle + across[np.hypot(*across.T) <= far]
    bases = np.tile(np.eye(4), (len(places), 1, 1))
    bases[:, :2, 3], bases[:, 2, 3] = places, checks.number("height", height)
    return bases


def _poses(name: str, values: Any) -> Floats:
    array = checks.floats(name, values.as_matrix() if hasattr(values, "as_matrix") else values)
    if array.ndim != 3 or array.shape[1:] != (4, 4):
        raise InvalidInputError(f"{name} has shape {array.shape}: expected (k, 4, 4), poses.")
    for i, pose in enumerate(array):
        checks.pose(f"{name}[{i}]", pose)
    return array


def _most_to_spare(
    chain: Chain,
    asked: Floats,
    starts: Floats,
    whole: bool,
    device: Device,
    threads: int | None,
    seed: int,
) -> tuple[Floats, Floats]:
    """(k,) the largest margin found for each target, NaN where none is reached; its (k, n)."""
    spare, values = np.full(len(asked), np.nan), np.full((len(asked), chain.n), np.nan)
    for start in starts:
        batch = solve_batch(
            chain.arm,
            asked,
            start,
            REACH_CONFIG,
            seed,
            device,
            np.float64,
            threads,
            progress=False,
            closest=False,
        )
        margin = measured(chain.arm, batch, 6 if whole else 3, UP, 1)[1]
        better = batch.converged & ~(margin <= spare)
        spare[better], values[better] = margin[better], batch.joint_angles[better]
    return spare, values
