"""Edges, the straight motions between configurations, checked for collisions."""

from itertools import pairwise

import numpy as np

from jointwise.backends import cpu
from jointwise.backends.progress import silent
from jointwise.backends.threads import new_progress, run_threads, thread_count
from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.kernels.layout.edges import EDGE_FREE
from jointwise.results.result import Check

# Number of edges that a thread checks at a time; one takes at most a millisecond.
ROWS = 256
# If the base moves, edges are checked at sample points this far apart [rad, m].
RESOLUTION = 0.01


def edges_free(packed: Floats, starts: Floats, ends: Floats, threads: int | None = 1) -> Bools:
    """(m,) whether each edge from a row of starts (m, n) to one of ends (m, n) is proven free.

    Args:
        packed: The result of ``packed_edges``.
        starts: Joint values [rad, m].
        ends: Joint values [rad, m].
        threads: Number of threads; None for one per core.
    """
    states, rows = np.empty(len(starts), np.int64), list(map(np.ascontiguousarray, (starts, ends)))

    def work(worker: int, begin: int, end: int) -> None:
        cpu.edge_states(packed, rows[0][begin:end], rows[1][begin:end], states[begin:end])

    run_threads(work, len(states), ROWS, new_progress(thread_count(threads)), silent)
    free: Bools = states == EDGE_FREE
    return free


def colliding_edges(check: Check, q: Floats, base_poses: Floats | None = None) -> tuple[int, ...]:
    """Indices of configurations whose edge from the previous configuration is not free.

    With a fixed base, the edge is not proven free. With a moving base, a sample point collides.

    Args:
        check: The collision check.
        q: (m, n) configurations [rad, m].
        base_poses: (m, 4, 4) poses of the base at them; None if it does not move.
    """
    packed = check.packed_edges
    if packed is not None:
        blocked = np.flatnonzero(~edges_free(packed, q[:-1], q[1:])) + 1
        return tuple(blocked.tolist())
    assert base_poses is not None
    found = []
    for i, (before, after) in enumerate(
        pairwise(np.hstack([q, base_poses[:, :3].reshape(len(q), 12)])), 1
    ):
        count = int(np.abs(after - before).max() / RESOLUTION) + 2
        edge = before + np.linspace(0.0, 1.0, count)[:, None] * (after - before)
        rows = np.ascontiguousarray(edge[:, : q.shape[1]])
        if not check.free(rows, _poses(edge[:, -12:])).all():
            found.append(i)
    return tuple(found)


def _poses(rows: Floats) -> Floats:
    """(k, 4, 4) poses from the first rows (k, 12) of matrices that are nearly poses."""
    poses = np.tile(np.eye(4), (len(rows), 1, 1))
    poses[:, :3] = rows.reshape(-1, 3, 4)
    left, _, right = np.linalg.svd(poses[:, :3, :3])  # the nearest rotation
    poses[:, :3, :3] = left @ right
    return poses
