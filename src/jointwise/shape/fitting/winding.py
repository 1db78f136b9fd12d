"""Winding numbers: which points are inside a surface."""

import numpy as np

from jointwise.kernels.layout.arrays import Floats, Ints

# Numbers of points and triangles whose solid angles are computed together.
MAX_TERMS = 100_000
# Surfaces with at most this many triangles are not divided.
FEW = 128


def winding_numbers(points: Floats, triangles: Floats) -> Floats:
    """(k,) how often a surface winds around each point: 0 outside, 1 inside.

    If the surface has gaps, the number is in between, so 0.5 separates inside from outside even for
    meshes that are not quite closed.

    The surface is halved recursively. Around a point outside the bounding box of a half, the half
    winds as often as any other surface in the box with the same boundary, so a surface of few
    triangles can replace it (Jacobson, Kavan and Sorkine-Hornung, 2013).

    Args:
        points: (k, 3) the points [m].
        triangles: (m, 3, 3) the surface.
    """
    vertices, index = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    result = np.zeros(len(points))
    pending = [(index.reshape(-1, 3), np.arange(len(points)))]
    while pending:
        faces, near = pending.pop()
        corners = vertices[faces]
        lower, upper = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
        in_box = ((points[near] >= lower) & (points[near] <= upper)).all(axis=1)
        outer, inner = near[~in_box], near[in_box]
        edges, times = _boundary(faces, len(vertices))
        if len(edges) < len(faces) > FEW:
            apex = np.broadcast_to(0.5 * (lower + upper), (len(edges), 3))
            fan = np.stack([vertices[edges[:, 0]], vertices[edges[:, 1]], apex], axis=1)
            result[outer] += solid_angles(points[outer], fan, times)
        elif len(faces) > FEW:
            inner = near
        if len(faces) <= FEW:
            result[near] += solid_angles(points[near], corners, np.ones(len(faces)))
        elif len(inner):
            middles = corners.mean(axis=1)[:, (upper - lower).argmax()]
            order, half = np.argsort(middles), len(faces) // 2
            pending += [(faces[order[:half]], inner), (faces[order[half:]], inner)]
    return result / (4.0 * np.pi)


def _boundary(faces: Ints, count: int) -> tuple[Ints, Floats]:
    """Edges (k, 2) that are passed more often in one direction than in the other; the surplus."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    codes, index = np.unique(np.sort(edges, axis=1) @ [count, 1], return_inverse=True)
    surplus = np.bincount(index, np.sign(edges[:, 1] - edges[:, 0]))
    kept = surplus != 0.0
    return np.stack(np.divmod(codes[kept], count), axis=1), surplus[kept]


def solid_angles(points: Floats, triangles: Floats, weights: Floats) -> Floats:
    """(k,) the weighted sum of the solid angles of triangles (m, 3, 3), seen from each point."""
    result = np.zeros(len(points))
    rows = max(1, MAX_TERMS // max(1, len(triangles)))
    for first in range(0, len(points), rows):
        a, b, c = (
            corner - points[first : first + rows, None] for corner in triangles.swapaxes(0, 1)
        )
        la, lb, lc = (np.sqrt(np.einsum("ijk,ijk->ij", corner, corner)) for corner in (a, b, c))
        ab, bc, ca = (np.einsum("ijk,ijk->ij", *two) for two in ((a, b), (b, c), (c, a)))
        volume = np.einsum("ijk,ijk->ij", a, np.cross(b, c))
        angles = np.arctan2(volume, la * lb * lc + ab * lc + bc * la + ca * lb)
        result[first : first + rows] = 2.0 * (angles @ weights)
    return result
