"""A slow twin of what the solvers of whole robots minimise."""

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from jointwise import pose, position
from jointwise.targets import Target
from testbed.random_trees import moved_base


def weigh(target, weight=(1.0, 1.0), point=None):
    """A pose (4, 4), a position (3,) or a target with other weights, for a point on the link."""
    if not isinstance(target, Target):
        values = np.asarray(target)
        if values.ndim == 2:
            target = pose(values[:3, 3], matrix=values[:3, :3])
        else:
            target = position(values)
    return replace(target, weight=tuple(map(float, weight)), point=point)


def residual_and_jacobian(robot, q, base, link, point, free_base, h=1e-6):
    """Pose of a link with its point, and by central differences how unknowns move and turn it."""

    def pose(change):
        twist, values = (change[:6], change[6:]) if free_base else (np.zeros(6), change)
        found = robot.fk(q + values, moved_base(base, twist))[link]
        return found[:3, 3] + found[:3, :3] @ point, found[:3, :3]

    n = robot.n + (6 if free_base else 0)
    moves, turns = np.zeros((3, n)), np.zeros((3, n))
    for i in range(n):
        (p, r), (before, rotation) = pose(h * np.eye(n)[i]), pose(-h * np.eye(n)[i])
        moves[:, i] = (p - before) / (2 * h)
        turns[:, i] = Rotation.from_matrix(r @ rotation.T).as_rotvec() / (2 * h)
    return *pose(np.zeros(n)), moves, turns
