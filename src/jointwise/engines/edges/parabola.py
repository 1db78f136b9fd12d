"""Parabolas in joint space, which round the corners of plans, proven free by edges beside them.

A part of a parabola differs from its chord by at most bend / (4 k²) in each joint value, if there
are k parts. So no point is farther from its position on the chord than the levers allow. The chords
are proven free with a wider margin, and with tables of links two apart whose contacts are wider by
a cell.
"""

from math import ceil, sqrt

import numpy as np

from jointwise.engines.edges.check import edges_free
from jointwise.engines.edges.packing import packed_edges
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.edges import (
    JOINT_OFFSET,
    JOINT_PRISMATIC,
    JOINT_RATIO,
    JOINT_VARIABLE,
    TABLE_JOINT,
    TABLE_SCALE,
    TABLE_SIDE,
    EdgeModel,
    unpack_edges,
)
from jointwise.scene.collision_model import CollisionModel

# Widening of the margin [m]: the sum of how far two points may be from their positions on chords.
TUBE = 1e-3
# Largest number of parts of a parabola; with more, it is not proven.
MAX_PARTS = 1000


def parabola_is_free(
    collision: CollisionModel,
    base: tuple[float, ...] | None,
    start: Floats,
    slope: Floats,
    bend: Floats,
) -> bool:
    """Whether the motion start + p slope + p² bend, with p from 0 to 1, is proven free.

    Args:
        collision: The shape and the obstacles.
        base: The (4, 4) numbers of the base's pose in the world; None for the identity.
        start: (n,) joint values [rad, m].
        slope: (n,) their derivative at the start.
        bend: (n,) half their second derivative.
    """
    packed = packed_edges(collision, base, TUBE)
    model = unpack_edges(packed)
    corner = start + 0.5 * slope
    end = start + slope + bend
    count = _parts(model, np.array([start, corner, end]), bend)
    if not count <= MAX_PARTS:
        return False
    p = np.linspace(0.0, 1.0, count + 1)[:, None]
    q = start + p * (slope + p * bend)
    return bool(edges_free(packed, q[:-1], q[1:]).all())


def _parts(model: EdgeModel, hull: Floats, bend: Floats) -> int:
    """The number of parts that keeps all points within the tube, and tables within a cell.

    Args:
        model: The robot.
        hull: (3, n) configurations whose convex hull contains the parabola.
        bend: (n,) half the second derivative of the joint values.
    """
    joints = model.joints
    variable, ratio = joints[:, JOINT_VARIABLE].astype(int), joints[:, JOINT_RATIO]
    slides = joints[:, JOINT_PRISMATIC] != 0.0
    values = joints[:, JOINT_OFFSET] + ratio * hull[:, variable]
    travel = np.abs(values[:, slides]).max(axis=0, initial=0.0).sum()
    bends = np.abs(ratio * bend[variable])
    levers = model.levers + np.where((model.levers > 0.0) & ~slides, travel, 0.0)
    moved = float((levers @ bends).max(initial=0.0))
    sides = model.tables.reshape(-1, TABLE_SIDE)
    cells = bends[sides[:, TABLE_JOINT].astype(int)] * sides[:, TABLE_SCALE]
    # Two points may move by ``moved`` / (4 k²) each.
    least = max(0.5 * moved / TUBE, 0.25 * float(cells.max(initial=0.0)), 1.0)
    return ceil(sqrt(least) * (1.0 + 1e-9)) + 1
