"""Tables of contact between spheres, with one or two joints between their link groups.

Kernels read from a table only whether its link groups are in contact, so cells are divided only
where that is not yet known.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.spheres import TABLE_CELLS, TABLE_MAX
from jointwise.shape.tables.table import (
    COARSE,
    distance_speeds,
    joint_motions,
    relative_poses,
    whole_millimetres,
)

# Width of the smallest cells, in cells of the table.
FINEST = 0.5
# A lower bound of at least this distance counts as free [m]; tables have whole millimetres.
FREE = 0.001
# Number of distances that are computed together.
MAX_TERMS = 500_000


class SpherePair(NamedTuple):
    """Spheres that are checked against each other.

    Attributes:
        lower: (k, 4) centres and radii [m], in the frame of the first link group.
        upper: (l, 4) those of the second one, in its frame.
    """

    lower: Floats
    upper: Floats


def two_joint_table(
    pairs: Sequence[SpherePair], links: Floats, prismatic: tuple[bool, bool], ranges: Floats
) -> Floats:
    """(96, 96) lower bounds of the distance of two groups with two joints between them [m].

    Args:
        pairs: The spheres to check.
        links: (2, 4, 4) the frame in which each joint moves, in the frame that the previous one
            carries.
        prismatic: Whether the two joints are prismatic.
        ranges: (4,) lower and upper values of both joints [rad, m].
    """
    below, above = (np.concatenate([pair[side][:, :3] for pair in pairs]) for side in range(2))
    speeds = distance_speeds(below, above, links, prismatic, ranges)
    widths = (ranges[[1, 3]] - ranges[[0, 2]]) / TABLE_CELLS
    poses = partial(relative_poses, links, prismatic)
    steps = float(COARSE) / 2.0 ** np.arange(int(np.log2(COARSE / FINEST)) + 1)
    count = TABLE_CELLS // COARSE
    cells = COARSE * np.argwhere(np.ones((count, count))).astype(float)
    near = list(pairs)
    fine = np.full((int(TABLE_CELLS / FINEST),) * 2, TABLE_MAX)
    for size in steps.tolist():
        placed = poses(*(ranges[[0, 2]] + widths * (cells + 0.5 * size)).T)
        slack = 0.5 * size * float(speeds @ widths)
        near = _near(near, placed, slack + FREE)
        found = gap_function(near)(placed, slack + FREE)
        # Within a cell the distance differs from that at its middle by the slack at most.
        ends = (found - slack >= FREE) | (found + slack <= 0.0) | (size == steps[-1])
        block = int(size / FINEST)
        for (i, j), bound in zip((cells[ends] / FINEST).astype(int), found[ends], strict=True):
            fine[i : i + block, j : j + block] = bound - slack
        quarters = 0.5 * size * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        cells = (cells[~ends, None] + quarters).reshape(-1, 2)
    parts = int(1.0 / FINEST)
    table = fine.reshape(TABLE_CELLS, parts, TABLE_CELLS, parts).min(axis=(1, 3))
    return whole_millimetres(np.minimum(table, TABLE_MAX))


def one_joint_table(
    pairs: Sequence[SpherePair], link: Floats, prismatic: bool, ends: tuple[float, float]
) -> Floats:
    """(96, 96) lower bounds of the distance of two groups with one joint between them [m].

    Both directions of the table belong to this joint.
    """
    inverted = np.linalg.inv(link)
    below, above = (np.concatenate([pair[side][:, :3] for pair in pairs]) for side in range(2))
    below = below @ inverted[:3, :3].T + inverted[:3, 3]
    lever = min(np.linalg.norm(points[:, :2], axis=1).max() for points in (below, above))
    parts = int(TABLE_CELLS / FINEST)
    width = (ends[1] - ends[0]) / parts
    values = np.asarray(ends[0] + width * (np.arange(parts) + 0.5), np.float64)
    slack = 0.5 * width * (1.0 if prismatic else float(lever))
    poses: Floats = link @ joint_motions(prismatic, values)
    near = _near(pairs, poses, slack + FREE)
    found = gap_function(near)(poses, slack + FREE) - slack
    least = np.minimum(found, TABLE_MAX).reshape(TABLE_CELLS, -1).min(axis=1)
    return np.tile(whole_millimetres(least), (TABLE_CELLS, 1))


def gap_function(pairs: Sequence[SpherePair]) -> Callable[[Floats, float], Floats]:
    """The distances of spheres [m] for poses (k, 4, 4) of the upper ones; 0 or less in contact.

    The second argument of the function is a cutoff: if bounding spheres are that far apart, their
    distance is returned, which is a lower bound. If spheres overlap by that much, others may
    overlap more.
    """
    bounded = [(*pair, _around(pair.lower), _around(pair.upper)) for pair in pairs]

    def gaps(poses: Floats, far: float) -> Floats:
        found = np.full(len(poses), np.inf)
        for lower, upper, around_lower, around_upper in bounded:
            bound = _gaps(around_lower[None], around_upper[None], poses)[:, 0, 0]
            near = np.flatnonzero((bound < far) & (bound < found) & (found > -far))
            rows = max(1, MAX_TERMS // (len(lower) * len(upper)))
            for some in np.split(near, range(rows, len(near), rows)):
                bound[some] = _gaps(lower, upper, poses[some]).min(axis=(1, 2))
            found = np.minimum(found, bound)
        return found

    return gaps


def _near(pairs: Sequence[SpherePair], poses: Floats, far: float) -> list[SpherePair]:
    """The spheres that come near others at some of the poses; the others are never in contact."""
    kept = []
    for lower, upper in pairs if len(poses) else ():
        if len(poses) * max(len(lower), len(upper)) > MAX_TERMS:  # it would take longer
            kept.append(SpherePair(lower, upper))
            continue
        around_lower, around_upper = _around(lower), _around(upper)
        below = _gaps(lower, around_upper[None], poses).min(axis=(0, 1)) < far
        above = _gaps(around_lower[None], upper, poses).min(axis=(0, 2)) < far
        if below.any() and above.any():
            kept.append(SpherePair(lower[below], upper[above]))
    return kept


def _gaps(lower: Floats, upper: Floats, poses: Floats) -> Floats:
    """(k, l, m) the distances of two sets of spheres for each pose of the upper one [m]."""
    moved = upper[:, :3] @ poses[:, :3, :3].swapaxes(1, 2) + poses[:, None, :3, 3]
    squares = (moved**2).sum(axis=2)[:, :, None] + (lower[:, :3] ** 2).sum(axis=1)
    squares -= 2.0 * (moved @ lower[:, :3].T)
    gaps: Floats = np.sqrt(np.maximum(squares, 0.0)) - upper[:, 3, None] - lower[:, 3]
    return gaps


def _around(spheres: Floats) -> Floats:
    """(4,) a sphere around spheres (k, 4), found quickly."""
    centre = 0.5 * (spheres[:, :3].min(axis=0) + spheres[:, :3].max(axis=0))
    reach = np.linalg.norm(spheres[:, :3] - centre, axis=1) + spheres[:, 3]
    return np.append(centre, reach.max() + 1e-12)
