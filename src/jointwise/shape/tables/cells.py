"""Distances of a table on the cells of another one, in which a joint may be held at a value."""

from typing import NamedTuple

import numpy as np

from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.kernels.layout.spheres import TABLE_CELLS

# Cells that share less than this of their width do not overlap.
MIN_OVERLAP = 1e-9


class TableAxis(NamedTuple):
    """The role of a direction of a table in another one.

    Attributes:
        joint: The joint of the other table, or -1 if it is held.
        ends: Lower and upper value that the other table has of this joint, or twice the value at
            which it is held [rad, m].
    """

    joint: int
    ends: tuple[float, float]


def resampled(distances: Floats, ranges: Floats, axes: tuple[TableAxis, TableAxis]) -> Floats:
    """The minimum of all cells of a table that a cell of another one overlaps.

    Args:
        distances: (96, 96) the table.
        ranges: (4,) lower and upper values of its two joints.
        axes: The roles of its two directions.

    Returns:
        (96, 96), or 1 instead of 96 in the direction of a joint that is held.
    """
    for axis, ends in zip(axes, ranges.reshape(2, 2), strict=True):
        overlaps = _overlaps(axis, (float(ends[0]), float(ends[1])))
        distances = np.stack([distances[cells].min(axis=0) for cells in overlaps]).T
    return distances


def _overlaps(axis: TableAxis, ends: tuple[float, float]) -> Bools:
    """(96 or 1, 96) which cells between ``ends`` overlap those of an axis."""
    lower, width = ends[0], (ends[1] - ends[0]) / TABLE_CELLS
    if axis.joint < 0:
        share = (axis.ends[0] - lower) / width
        if abs(ends[1] - ends[0] - 2.0 * np.pi) < MIN_OVERLAP:  # a full turn
            share %= TABLE_CELLS
        cell = min(max(int(share), 0), TABLE_CELLS - 1)
        held: Bools = np.arange(TABLE_CELLS)[None] == cell
        return held
    own = np.linspace(*axis.ends, TABLE_CELLS + 1)
    cells = np.linspace(*ends, TABLE_CELLS + 1)
    begin, end = np.maximum.outer(own[:-1], cells[:-1]), np.minimum.outer(own[1:], cells[1:])
    overlaps: Bools = end - begin > MIN_OVERLAP * width
    return overlaps
