"""Singular poses: never without a solution, and none is missed where a list claims to be complete.

``python -m benchmarks singular``; an arm of ``jointwise.robots`` has ``--count`` poses a row.
"""

from jointwise import Chain
from testbed.closed_arms import STRUCTURES, random_arm
from testbed.singular import KINDS
from testbed.singular_checks import Tally, check_singularity

ARMS = ("ur5e", "irb120", "puma560", "jaco2", "stanford")
# A random arm has this share of the poses; a small table has one singularity of each arm only.
SHARE, FULL = 20, 100


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
