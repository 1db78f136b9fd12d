"""The sides of triangles: meshes of files may have some that face inward."""

from typing import NamedTuple

import numpy as np

from jointwise.kernels.layout.arrays import Bools, Ints
from jointwise.shape.solids.mesh import Mesh


class _Sides(NamedTuple):
    """The sides of all triangles.

    Attributes:
        face: (k,) the triangle of each.
        edge: (k,) the number of its edge; coinciding sides have the same.
        forward: (k,) whether it runs from the lower to the higher of its two vertices.
    """

    face: Ints
    edge: Ints
    forward: Bools


def is_oriented(mesh: Mesh) -> bool:
    """Whether every edge is used as often in one direction as in the other."""
    _, edge, forward = _sides(mesh)
    return not np.bincount(edge, np.where(forward, 1, -1)).any()


def oriented(mesh: Mesh) -> Mesh:
    """The surface, with its triangles anticlockwise from outside as far as that is known.

    Across each edge between two triangles, both are turned alike. A part that was consistent before
    stays as it is, because it may be the inside of a room; but a part that faces inward and is not
    within another part is turned.
    """
    sides = _sides(mesh)
    part, flip = _turned_alike(len(mesh.faces), sides)
    count = part.max() + 1
    mixed = np.bincount(part, flip, count) % np.bincount(part) > 0
    flip &= mixed[part]
    faces = np.where(flip[:, None], mesh.faces[:, ::-1], mesh.faces)
    corners = mesh.vertices[faces]
    volumes = np.bincount(part, np.linalg.det(corners - mesh.vertices.mean(axis=0)), count)
    inward = mixed & (volumes < 0.0)
    closed = _closed(part, sides)
    if volumes[closed & ~mixed].sum() < 0.0:  # all of it is inside out
        inward |= closed & ~mixed
    volumes = np.where(inward, -volumes, volumes)
    alone = closed & (volumes < 0.0)
    if alone.any():
        lower, upper = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
        np.minimum.at(lower, part, corners.min(axis=1))
        np.maximum.at(upper, part, corners.max(axis=1))
        solid = closed & (volumes > 0.0)
        for i in np.flatnonzero(alone):
            around = (lower[solid] <= lower[i]) & (upper[solid] >= upper[i])
            alone[i] = not around.all(axis=1).any()
    return Mesh(mesh.vertices, np.where((inward ^ alone)[part, None], faces[:, ::-1], faces))


def _sides(mesh: Mesh) -> _Sides:
    """Vertices at one place count as one; triangles without an area have no sides."""
    _, index = np.unique(mesh.vertices.round(9), axis=0, return_inverse=True)
    faces = index.reshape(-1)[mesh.faces]
    solid = np.flatnonzero((faces != np.roll(faces, 1, axis=1)).all(axis=1))
    ends = np.stack([faces[solid], np.roll(faces[solid], -1, axis=1)], axis=2).reshape(-1, 2)
    _, edge = np.unique(ends.min(axis=1) * len(index) + ends.max(axis=1), return_inverse=True)
    return _Sides(np.repeat(solid, 3), edge.reshape(-1), ends[:, 0] < ends[:, 1])


def _turned_alike(count: int, sides: _Sides) -> tuple[Ints, Bools]:
    """The connected part of each triangle, and which triangles to flip for consistent parts.

    Each triangle is a node of a graph twice, as it is and flipped. An edge of two triangles joins
    the nodes that are turned alike, so that a part has two components, either of which is valid. It
    has one if its triangles cannot be turned alike, and none is flipped.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    of_two = np.flatnonzero(np.bincount(sides.edge)[sides.edge] == 2)
    one, other = of_two[np.argsort(sides.edge[of_two], kind="stable")].reshape(-1, 2).T
    f, g = sides.face[one], sides.face[other]
    against = sides.forward[one] == sides.forward[other]
    rows = np.concatenate([f, f + count])
    columns = np.concatenate([g + count * against, g + count * ~against])
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(2 * count, 2 * count))
    as_is, flipped = connected_components(graph, directed=False)[1].reshape(2, count)
    _, part = np.unique(np.minimum(as_is, flipped), return_inverse=True)
    return part.reshape(-1), as_is > flipped


def _closed(part: Ints, sides: _Sides) -> Bools:
    """Which parts have no edge with a triangle on one side only."""
    edges = int(sides.edge.max(initial=0)) + 1
    own, uses = np.unique(part[sides.face] * edges + sides.edge, return_counts=True)
    closed: Bools = np.bincount(own // edges, uses % 2, part.max() + 1) == 0
    return closed
