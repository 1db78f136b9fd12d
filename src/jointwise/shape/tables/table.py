"""Tables of contact between two links with one link between them.

Their distance depends on two joints only. Spheres around such links would often overlap, because
the links are close together, so contact of their meshes is tabulated. Joint values are divided into
cells. A cell is free if the distance at its middle is more than any point moves within the cell;
otherwise it is divided again.
"""

from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.kernels.layout.spheres import TABLE_CELLS
from jointwise.shape.solids.mesh import Mesh
from jointwise.shape.tables.mesh_distance import MeshModel, within

# Cells are first this wide, in cells of the table; where links are far apart, they are not divided.
COARSE = 8
# Width of the smallest cells; a cell of the table is free if all of those in it are.
FINEST = 0.25
# The least distance in a cell that is free [m]; tables have whole millimetres.
FREE = 0.001
# How much farther than necessary links may have to be for a cell that can be divided, as a share.
ERROR_SHARE = 1.5
# Corners of the polygon around the circle that a point describes.
CORNERS = 48


class Table(NamedTuple):
    """Lower bounds of the distance between link groups c and c+2.

    Attributes:
        distances: (96, 96) [m], one for each cell of the values of joints c and c+1; negative where
            they may touch. The size of positive values has no meaning.
        ranges: (4,) lower and upper value of joint c, then of joint c+1 [rad, m].
        always_touch: Whether the meshes touch wherever their distance was computed.
    """

    distances: Floats
    ranges: Floats
    always_touch: bool

    @property
    def touches_everywhere(self) -> bool:
        """Whether there is no cell that is surely free of contact."""
        return self.always_touch or bool((self.distances < 0.0).all())


def joint_range(prismatic: bool, limits: Floats) -> tuple[float, float] | None:
    """The values of a joint that a table covers: a full turn, or the limits; None without any."""
    if not prismatic:
        return -np.pi, np.pi
    return (limits[0], limits[1]) if np.isfinite(limits).all() else None


def tabulate(
    lower: list[Mesh],
    upper: list[Mesh],
    links: Floats,
    prismatic: tuple[bool, bool],
    ranges: Floats,
) -> Table:
    """Tabulate the distance between two link groups.

    Args:
        lower: Solids of group c, in its frame.
        upper: Solids of group c+2, in its frame.
        links: (2, 4, 4) the frame in which joint c moves, in that of group c; then the frame in
            which joint c+1 moves, in that which joint c carries.
        prismatic: Whether the two joints are prismatic.
        ranges: (4,) lower and upper values of both joints [rad, m].
    """
    one, other = (list(map(MeshModel, each)) for each in (lower, upper))
    below, above = (np.concatenate([each.hull.points() for each in some]) for some in (one, other))
    speeds = distance_speeds(below, above, links, prismatic, ranges)
    poses, pairs = partial(relative_poses, links, prismatic), list(product(one, other))
    widths = (ranges[[1, 3]] - ranges[[0, 2]]) / TABLE_CELLS
    contact: Bools = np.zeros((TABLE_CELLS, TABLE_CELLS), bool)
    size = float(COARSE)
    cells = size * np.argwhere(np.ones((TABLE_CELLS // COARSE, TABLE_CELLS // COARSE)))
    apart: Bools = np.zeros((len(cells), len(pairs)), bool)  # pairs that are apart in a whole cell
    while len(cells):
        slack, divided = 0.5 * size * float(speeds @ widths), []
        error = ERROR_SHARE * slack if size > FINEST else 0.0
        for quarter in range(4):  # one by one, because one with contact settles the others
            left = quarter + 4 * np.flatnonzero(~contact[*cells[quarter::4].astype(int).T])
            placed = poses(*(ranges[[0, 2]] + widths * (cells[left] + 0.5 * size)).T)
            near = np.zeros(len(left), bool)
            if size > FINEST:  # contact is found much faster than closeness
                near = within(pairs, placed, apart[left], 0.0)
            touching, others = left[near], left[~near]
            far = apart[others]
            close = others[within(pairs, placed[~near], far, slack + FREE, error)]
            apart[others] = far
            if size <= 1.0:
                settled = touching if size > FINEST else close
                contact[*cells[settled].astype(int).T] = True
            divided.append(close if size <= 1.0 else np.append(touching, close))
        kept = np.concatenate(divided)[: None if size > FINEST else 0]
        size *= 0.5
        quarters = size * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        cells = (cells[kept, None] + quarters).reshape(-1, 2)
        apart = np.repeat(apart[kept], 4, axis=0)
    return Table(np.where(contact, -FREE, FREE), ranges, bool(contact.all()))


def whole_millimetres(distances: Floats) -> Floats:
    """Distances [m] in whole millimetres, as in a file; -1 mm where the links may touch."""
    millimetres = np.maximum(np.floor(1e3 * distances + 1e-9), 0.0)
    bounds: Floats = np.where(millimetres == 0.0, -1.0, millimetres) / 1e3
    return bounds


def relative_poses(
    links: Floats, prismatic: tuple[bool, bool], first: Floats, second: Floats
) -> Floats:
    """(k, 4, 4) poses of group c+2 in group c, for values (k,) of the joints between them."""
    between: Floats = links[0] @ joint_motions(prismatic[0], first) @ links[1]
    poses: Floats = between @ joint_motions(prismatic[1], second)
    return poses


def joint_motions(prismatic: bool, values: Floats) -> Floats:
    """(k, 4, 4) the motions of a joint about or along z."""
    motions = np.tile(np.eye(4), (len(values), 1, 1))
    if prismatic:
        motions[:, 2, 3] = values
    else:
        c, s = np.cos(values), np.sin(values)
        motions[:, :2, :2] = np.stack([c, -s, s, c], axis=1).reshape(-1, 2, 2)
    return motions


def distance_speeds(
    below: Floats,
    above: Floats,
    links: Floats,
    prismatic: tuple[bool, bool],
    ranges: Floats,
) -> Floats:
    """(2,) how fast the distance can change with each joint value, at most [m/rad, 1].

    The distance depends on the relative motion, and either of the two groups can be taken as the
    one that rotates about the axis. So it changes no faster than the farthest point of that group
    whose points are closer to the axis.

    Args:
        below: (k, 3) points of group c in its frame [m], with all others in their convex hull.
        above: (l, 3) those of group c+2.
        links: As for ``tabulate``, and so are the next two.
        prismatic: Whether the two joints are prismatic.
        ranges: (4,) lower and upper values of both joints [rad, m].
    """
    first, second = np.linalg.inv(links)
    below_first = below @ first[:3, :3].T + first[:3, 3]
    swept = _swept(above, prismatic[1], ranges[2:]) @ links[1][:3, :3].T + links[1][:3, 3]
    below_second = _swept(below_first, prismatic[0], -ranges[:2]) @ second[:3, :3].T + second[:3, 3]
    radii = [
        min(np.linalg.norm(points[:, :2], axis=1).max() for points in two)
        for two in ((below_first, swept), (above, below_second))
    ]
    return np.where(prismatic, 1.0, radii)


def _swept(points: Floats, prismatic: bool, travel: Floats) -> Floats:
    """Points whose convex hull contains the given points at all values of a joint."""
    if prismatic:
        return np.concatenate([points + np.array([0.0, 0.0, end]) for end in travel])
    angles = np.arange(CORNERS) * 2.0 * np.pi / CORNERS
    c, s = np.cos(angles), np.sin(angles)
    x, y = (points[:, None, :2] / np.cos(np.pi / CORNERS)).transpose(2, 0, 1)
    z = np.broadcast_to(points[:, 2:], (len(points), CORNERS))
    return np.stack([c * x - s * y, s * x + c * y, z], axis=2).reshape(-1, 3)
