"""Whether solutions of poses at singularities are complete, and claims about them true."""

from dataclasses import dataclass

import numpy as np

from jointwise import Chain, Status
from testbed.singular import KINDS, OFFSETS, difference, singular_configurations

# Configurations that differ by less are the same [rad, m]: where two singularities meet, joints may
# move by some 1e-3 while the pose is met to 1e-9.
SAME = 1e-2


@dataclass
class Tally:
    """What was found for the poses of one row."""

    poses: int = 0
    empty: int = 0
    unsaid: int = 0
    refused: int = 0
    missed: int = 0
    unsolved: int = 0
    complete: int = 0
    worst: float = 0.0
    apart: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.poses:9}{self.empty:7}{self.unsaid:8}{self.refused:9}{self.missed:8}"
            f"{self.unsolved:10}{self.complete / max(self.poses, 1):10.2%}{self.apart:10.1e}"
            f"{self.worst:10.1e}"
        )


def check_singularity(chain: Chain, kind: str, seed: int, count: int, tally: Tally) -> None:
    """Add poses at a singularity and at all offsets from it to a tally."""
    made, joints = singular_configurations(chain, kind, seed, count), list(KINDS[kind])
    for offset in OFFSETS:
        q = made.copy()
        q[:, joints] += offset
        check_poses(chain, q, tally)


def check_poses(chain: Chain, q: np.ndarray, tally: Tally) -> np.ndarray:
    """Add the poses of configurations to a tally; those about which something false is said.

    Args:
        chain: An arm with six joints and a closed form, without limits.
        q: (m, 6) joint values, of which each pose is made.
        tally: What is found is added to it.
    """
    if not len(q):
        return q
    targets = chain.fk(q)
    found = chain.solutions_batch(targets)
    apart = np.nan_to_num(difference(chain, found.q, q[:, None]), nan=9.0)
    nearest = apart.min(axis=1, initial=9.0)
    in_list = nearest < SAME
    unsaid = found.complete & ~in_list
    tally.poses += len(q)
    tally.complete += int(found.complete.sum())
    tally.unsaid += int(unsaid.sum())
    tally.apart = max(tally.apart, float(nearest[found.complete].max(initial=0.0)))
    tally.missed += int((~in_list).sum() - unsaid.sum())
    for k in range(found.q.shape[1]):
        rows = found.counts > k
        off = np.abs(chain.fk(found.q[rows, k]) - targets[rows]).max(initial=0.0)
        tally.worst = max(tally.worst, float(off))
    for row in np.flatnonzero(found.counts == 0):
        searched = chain.solutions(targets[row], 1)
        tally.empty += not len(searched)
        for each in searched:
            tally.worst = max(tally.worst, each.position_error, each.orientation_error)
    batch = chain.solve_batch(targets, threads=1)
    refused = (batch.status == Status.UNREACHABLE) | (batch.status == Status.OUTSIDE_LIMITS)
    tally.refused += int(refused.sum())
    tally.unsolved += int((~batch.converged).sum())
    wrong: np.ndarray = q[unsaid | refused]
    return wrong
