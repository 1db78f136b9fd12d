"""Solids as triangle meshes."""

from typing import NamedTuple

import numpy as np

from jointwise.kernels.layout.arrays import Floats, Ints

# A vertex this far in front of a triangle does not make a mesh concave [m].
CONVEX_TOLERANCE = 1e-6
# Number of triangles that are compared with all vertices together.
BLOCK = 64


class Mesh(NamedTuple):
    """The surface of a solid.

    Attributes:
        vertices: (k, 3) [m].
        faces: (m, 3) vertices of each triangle, anticlockwise from outside.
    """

    vertices: Floats
    faces: Ints

    def moved(self, pose: Floats) -> "Mesh":
        """This mesh, with its coordinates mapped by a pose (4, 4)."""
        return Mesh(self.vertices @ pose[:3, :3].T + pose[:3, 3], self.faces)

    @property
    def open_edges(self) -> int:
        """Edges without exactly one triangle on each side; 0 if the mesh is closed."""
        _, index = np.unique(self.vertices.round(9), axis=0, return_inverse=True)
        faces = index.reshape(-1)[self.faces]
        faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
        edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
        _, uses = np.unique(np.sort(edges, axis=1), axis=0, return_counts=True)
        return int((uses % 2).sum())

    @property
    def is_convex(self) -> bool:
        """Whether it is closed and no vertex is in front of a triangle."""
        a, b, c = self.vertices[self.faces].swapaxes(0, 1)
        normals = np.cross(b - a, c - a)
        normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
        offsets = np.einsum("ij,ij->i", normals, a) + CONVEX_TOLERANCE
        blocks = range(0, len(normals), BLOCK)
        behind = (self.vertices @ normals[k : k + BLOCK].T < offsets[k : k + BLOCK] for k in blocks)
        return all(block.all() for block in behind) and not self.open_edges


def split_triangles(triangles: Floats, edge: float) -> Floats:
    """(m, 3, 3) the same surface, of triangles whose edges are at most ``edge`` long [m]."""
    done = []
    while len(triangles):
        lengths = np.linalg.norm(triangles - np.roll(triangles, -1, axis=1), axis=2)
        longest = lengths.argmax(axis=1)
        short = lengths.max(axis=1) <= edge
        done.append(triangles[short])
        triangles, longest = triangles[~short], longest[~short]
        turns = (longest[:, None] + np.arange(3)) % 3  # the longest edge from corner a to b
        a, b, c = np.take_along_axis(triangles, turns[:, :, None], axis=1).swapaxes(0, 1)
        middle = 0.5 * (a + b)
        halves = [np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)]
        triangles = np.concatenate(halves)
    return np.concatenate(done) if done else triangles


def convex_hull(points: Floats) -> Mesh:
    """The convex hull of points that are not all in a plane."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    faces = hull.simplices.astype(np.int64)
    a, b, c = points[faces].swapaxes(0, 1)
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return Mesh(points, faces)
