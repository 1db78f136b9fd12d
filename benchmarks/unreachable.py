"""Poses that the closed form proves to be out of reach, searched for with many restarts.

``python -m benchmarks unreachable``.
"""

from time import process_time

import numpy as np

from jointwise import Chain, SolveConfig, Status
from testbed.searches import searched

ARMS = ("ur5e", "irb120", "jaco2")
# Restarts of the search, for a table of at least so many poses, and for a smaller one.
RESTARTS, FULL, FEW_RESTARTS = 1000, 1000, 20


def unreachable_table(count: int, with_rivals: bool) -> None:
    """Random poses in the box around an arm: what is proven, and what a search finds of that."""
    restarts = RESTARTS if count >= FULL else FEW_RESTARTS
    print(f"\n{count} random poses in the box around each arm. outside: reached only outside the")
    print("limits, and unreachable: not even there; both are proven.")
    print(f"differ: those of them that a search with {restarts} restarts reaches, unreachable ones")
    print("without limits; open: neither reached nor proven to be out of reach; CPU time [µs]")
    print(f"{'':10}{'reached':>9}{'outside':>9}{'unreachable':>13}{'open':>6}{'differ':>8}", end="")
    print(f"{'a pose':>9}{'searched':>10}")
    for name in ARMS:
        print(unreachable_row(name, count, restarts), flush=True)


def unreachable_row(name: str, count: int, restarts: int) -> str:
    """A row of the table."""
    chain = Chain.load(name)
    targets = random_poses(chain, count)
    began = process_time()
    batch = chain.solve_batch(targets, config=SolveConfig(search_unreached=False), threads=1)
    seconds = process_time() - began
    outside = batch.status == Status.OUTSIDE_LIMITS
    unreachable = batch.status == Status.UNREACHABLE
    began = process_time()
    differ = int(searched(chain, targets[outside], restarts).sum())
    differ += int(searched(chain.with_limits(None), targets[unreachable], restarts).sum())
    search_seconds = process_time() - began
    proven = int(outside.sum() + unreachable.sum())
    left = count - int(batch.converged.sum()) - proven
    return (
        f"{name:10}{batch.converged.sum():9}{outside.sum():9}{unreachable.sum():13}{left:6}"
        f"{differ:8}{1e6 * seconds / count:9.1f}{1e6 * search_seconds / max(proven, 1):10.1f}"
    )


def random_poses(chain: Chain, count: int) -> np.ndarray:
    """(count, 4, 4) random rotations at random positions, in the cube around the reach."""
    rng = np.random.default_rng(3)
    rotations = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0]
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = rotations * np.linalg.det(rotations)[:, None, None]
    poses[:, :3, 3] = chain.arm.base_origin + chain.max_reach * rng.uniform(-1.0, 1.0, (count, 3))
    return poses
