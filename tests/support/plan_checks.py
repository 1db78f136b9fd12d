"""Checks of plans by plain NumPy: spheres placed by matrices, distances one by one."""

from itertools import pairwise

import numpy as np

from jointwise.shape.geometry import group_of_spheres, kernel_spheres
from tests.support.edge_twin import from_obstacle

# Configurations of an edge that are looked at are so far apart [rad, m].
STEP = 0.01


def along(waypoints, step=STEP):
    """(m, n) configurations along a polyline, all waypoints included."""
    rows = [waypoints[:1]]
    for before, after in pairwise(waypoints):
        count = int(np.ceil(np.abs(after - before).max() / step)) + 1
        rows.append(before + np.linspace(0.0, 1.0, count + 1)[1:, None] * (after - before))
    return np.concatenate(rows)


def least_clearance(model, q):
    """The least distance of the spheres of a model from obstacles and each other [m].

    Links two joints apart, whose contacts are tabulated, are left out.
    """
    geometry, least = model.geometry, np.inf
    groups, own = group_of_spheres(geometry), kernel_spheres(geometry)
    base = np.eye(4) if model._moved_base() is None else model._moved_base()
    for row in q:
        spheres = geometry.spheres(row)
        points = spheres[:, :3] @ base[:3, :3].T + base[:3, 3]
        moved = groups > 0
        for thing in model.scene:
            gaps = from_obstacle(points[moved], thing) - spheres[moved, 3]
            least = min(least, gaps.min(initial=np.inf))
        for a, b in own.pairs:
            one, other = groups == a, groups == b
            apart = np.linalg.norm(points[one][:, None] - points[other], axis=2)
            gaps = apart - spheres[one, 3][:, None] - spheres[other, 3]
            least = min(least, gaps.min(initial=np.inf))
    return least
