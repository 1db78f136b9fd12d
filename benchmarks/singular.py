"""Singular poses: never without a solution, and none is missed where a list claims to be complete.

``python -m benchmarks singular``; an arm of ``jointwise.robots`` has ``--count`` poses a row.
"""

from dataclasses import dataclass

import numpy as np

from jointwise import Chain, Status
from tests.support.closed_arms import STRUCTURES, random_arm
from tests.support.singular import KINDS, OFFSETS, difference, singular_configurations

ARMS = ("ur5e", "irb120", "puma560", "jaco2", "stanford")
# Configurations that differ by less are the same [rad, m]: where two singularities meet, joints may
# move by some 1e-3 while the pose is met to 1e-9.
SAME = 1e-2
# A random arm has this share of the poses; a small table has one singularity of each arm only.
SHARE, FULL = 20, 100


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


def singular_table(count: int, with_rivals: bool) -> None:
    """Poses at and near singularities, of robots and of random arms of every structure."""
    print("\nPoses at singularities, and off them by 1e-12 to 1e-2 [rad, m]; empty: no solution;")
    print("unsaid: the list claims to be complete, and lacks the configuration of the pose;")
    print("refused: solve says that the pose is out of reach; missed: not in the list, and said")
    print(
        "so; unsolved: solve does not converge; apart: largest distance of a configuration from a"
    )
    print("list that claims to be complete [rad, m]; error: largest of all solutions [m, rad]")
    print(f"{'':48}{'poses':>9}{'empty':>7}{'unsaid':>8}{'refused':>9}", end="")
    print(f"{'missed':>8}{'unsolved':>10}{'complete':>10}{'apart':>10}{'error':>10}")
    total, kinds = Tally(), list(KINDS) if count >= FULL else ["elbow, wrist"]
    for name in ARMS:
        chain = Chain.load(name).with_limits(None)
        for kind in kinds:
            row = Tally()
            check_singularity(chain, kind, 0, count, row)
            _print_row(f"{name}: {kind}", row, total)
    for structure in STRUCTURES:
        for backward in (False, True):
            row = Tally()
            for seed, kind in enumerate(kinds):
                chain = random_arm(structure, seed, backward)
                check_singularity(chain, kind, seed, max(count // SHARE, 1), row)
            _print_row(f"{structure}{', reversed' if backward else ''}", row, total)
    print(f"{'all':48}{total}", flush=True)


def _print_row(name: str, row: Tally, total: Tally) -> None:
    print(f"{name:48}{row}", flush=True)
    for field in ("poses", "empty", "unsaid", "refused", "missed", "unsolved", "complete"):
        setattr(total, field, getattr(total, field) + getattr(row, field))
    total.worst, total.apart = max(total.worst, row.worst), max(total.apart, row.apart)


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
    apart = np.nan_to_num(difference(chain, found.joint_angles, q[:, None]), nan=9.0)
    nearest = apart.min(axis=1, initial=9.0)
    in_list = nearest < SAME
    unsaid = found.complete & ~in_list
    tally.poses += len(q)
    tally.complete += int(found.complete.sum())
    tally.unsaid += int(unsaid.sum())
    tally.apart = max(tally.apart, float(nearest[found.complete].max(initial=0.0)))
    tally.missed += int((~in_list).sum() - unsaid.sum())
    for k in range(found.joint_angles.shape[1]):
        rows = found.counts > k
        off = np.abs(chain.fk(found.joint_angles[rows, k]) - targets[rows]).max(initial=0.0)
        tally.worst = max(tally.worst, float(off))
    for row in np.flatnonzero(found.counts == 0):
        searched = chain.solutions(targets[row], 1)
        tally.empty += not len(searched)
        for each in searched:
            tally.worst = max(tally.worst, each.position_error, each.orientation_error)
    batch = chain.solve_batch(targets, threads=1)
    codes = [list(Status).index(each) for each in (Status.UNREACHABLE, Status.BLOCKED)]
    refused = np.isin(batch.status, codes)
    tally.refused += int(refused.sum())
    tally.unsolved += int((~batch.converged).sum())
    wrong: np.ndarray = q[unsaid | refused]
    return wrong
