"""Exact distances of the cells of a grid from a mesh.

The grid is halved recursively. Triangles that are too far from the middle of a block to be the
nearest of any of its cells are left out for all of them at once.
"""

from typing import Any, NamedTuple

import numpy as np

from jointwise.kernels.layout.arrays import Bools, Floats

# Blocks of this many cells are not halved; and the most distances that are computed together.
FEW_CELLS, MAX_TERMS = 64, 16_384
# Distances that differ by less are equal [m].
SLACK = 1e-12


class _Triangles(NamedTuple):
    """Triangles, each in a plane of its own: z is 0, and the first corner is the origin.

    Attributes:
        axes: (m, 3, 3) the axes of each plane, in rows.
        origins: (m, 3) the first corners along these axes [m].
        corners: (3, m, 2) the corners in the planes [m]; anticlockwise.
        solid: (m,) whether they have an area.
    """

    axes: Floats
    origins: Floats
    corners: Floats
    solid: Bools

    def some(self, chosen: Any) -> "_Triangles":
        """The chosen triangles."""
        corners = self.corners[:, chosen]
        return _Triangles(self.axes[chosen], self.origins[chosen], corners, self.solid[chosen])


def distances_from(triangles: Floats, centres: Floats) -> Floats:
    """(i, j, k) distances of points from a surface [m].

    Args:
        triangles: (m, 3, 3) its triangles [m].
        centres: (i, j, k, 3) the points, of a grid along the axes [m].
    """
    found = np.empty(centres.shape[:3])
    pending = [(found, centres, _planes(triangles))]
    while pending:
        block, points, planes = pending.pop()
        middle = 0.5 * (points[0, 0, 0] + points[-1, -1, -1])
        reach = float(np.linalg.norm(points[-1, -1, -1] - middle))
        apart = np.sqrt(_squares(planes, middle[None])[0])
        near = planes.some(apart <= apart.min() + 2.0 * reach + SLACK)
        if block.size <= FEW_CELLS or block.size * len(near.axes) <= MAX_TERMS:
            block[:] = _nearest(near, points.reshape(-1, 3)).reshape(block.shape)
            continue
        axis = int(np.argmax(block.shape))
        cut = [block.shape[axis] // 2]
        halves = zip(np.split(block, cut, axis), np.split(points, cut, axis), strict=True)
        pending += [(*half, near) for half in halves]  # views: the halves are written in place
    return found


def _planes(triangles: Floats) -> _Triangles:
    """The planes of triangles (m, 3, 3); those without an area have any plane around them."""
    a, b, c = triangles.swapaxes(0, 1)
    x, normals = b - a, np.cross(b - a, c - a)
    x = np.where((x == 0.0).all(axis=1, keepdims=True), c - a, x)
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    x = np.where(lengths > 0.0, x / np.where(lengths > 0.0, lengths, 1.0), [1.0, 0.0, 0.0])
    aside = np.eye(3)[np.abs(x).argmin(axis=1)]
    flat = np.linalg.norm(normals, axis=1, keepdims=True) <= SLACK * lengths**2
    z = np.where(flat, np.cross(x, aside), normals)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    axes = np.stack([x, np.cross(z, x), z], axis=1)
    corners = np.einsum("mij,mcj->cmi", axes, triangles - a[:, None])[..., :2]
    return _Triangles(axes, np.einsum("mij,mj->mi", axes, a), corners, ~flat[:, 0])


def _nearest(planes: _Triangles, points: Floats) -> Floats:
    """(k,) distances of points (k, 3) from the nearest triangle."""
    least, some = np.full(len(points), np.inf), max(1, MAX_TERMS // len(points))
    for first in range(0, len(planes.axes), some):
        squares = _squares(planes.some(slice(first, first + some)), points)
        least = np.minimum(least, squares.min(axis=1))
    distances: Floats = np.sqrt(least)
    return distances


def _squares(planes: _Triangles, points: Floats) -> Floats:
    """(k, m) squared distances of points (k, 3) from triangles.

    The nearest point is below the given one if that is on the inner side of all edges, else it is
    on an edge.
    """
    m = len(planes.axes)
    local = (points @ planes.axes.reshape(-1, 3).T).reshape(len(points), m, 3) - planes.origins
    u, v, heights = (np.ascontiguousarray(each) for each in np.moveaxis(local, 2, 0))
    beside, inside = np.full(u.shape, np.inf), np.broadcast_to(planes.solid, u.shape).copy()
    for corner in range(3):
        start = planes.corners[corner]
        ex, ey = (planes.corners[(corner + 1) % 3] - start).T
        du, dv = u - start[:, 0], v - start[:, 1]
        inside &= ex * dv >= ey * du
        square = ex * ex + ey * ey
        shares = (du * ex + dv * ey) / np.where(square > 0.0, square, 1.0)
        shares = shares.clip(0.0, 1.0)
        du -= shares * ex
        dv -= shares * ey
        np.minimum(beside, du * du + dv * dv, out=beside)
    beside[inside] = 0.0
    squares: Floats = heights * heights + beside
    return squares
