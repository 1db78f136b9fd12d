"""Edges, the straight motions between configurations, checked for collisions at sample points."""

from itertools import pairwise

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.results.result import Check

# Between configurations, joint values are checked so far apart [rad, m].
RESOLUTION = 0.01


def colliding_edges(check: Check, q: Floats, base_poses: Floats | None = None) -> tuple[int, ...]:
    """Indices of configurations to which the edge from the one before is not free.

    Args:
        check: What must not collide.
        q: (m, n) configurations [rad, m].
        base_poses: (m, 4, 4) poses of the base at them; None if it does not move.
    """
    states = q
    if base_poses is not None:
        states = np.hstack([q, base_poses[:, :3].reshape(len(q), 12)])
    found = []
    for i, (before, after) in enumerate(pairwise(states), 1):
        count = int(np.abs(after - before).max() / RESOLUTION) + 2
        edge = before + np.linspace(0.0, 1.0, count)[:, None] * (after - before)
        poses = None if base_poses is None else _poses(edge[:, -12:])
        if not check.free(np.ascontiguousarray(edge[:, : q.shape[1]]), poses).all():
            found.append(i)
    return tuple(found)


def _poses(rows: Floats) -> Floats:
    """(k, 4, 4) poses from the first rows (k, 12) of matrices whose rotation is about right."""
    poses = np.tile(np.eye(4), (len(rows), 1, 1))
    poses[:, :3] = rows.reshape(-1, 3, 4)
    left, _, right = np.linalg.svd(poses[:, :3, :3])  # the nearest rotation
    poses[:, :3, :3] = left @ right
    return poses
