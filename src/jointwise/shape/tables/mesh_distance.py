"""Whether two groups of meshes are within a distance of each other, by coal."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from jointwise.extras import require
from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.shape.solids.mesh import Mesh, split_triangles

# A simplified mesh is used if it has at most this share of the triangles.
WORTHWHILE = 0.7
# Longest edge of a triangle [m]. Boxes around long slivers are mostly empty.
MAX_EDGE = 0.1


def coal_library() -> Any:
    """The library that computes distances of meshes, to which spheres are fitted.

    Raises:
        JointwiseError: It is not installed.
    """
    return require("coal", "fitting spheres to collision shapes needs coal", "geometry")


class MeshModel:
    """A mesh in coal: its convex hull, the mesh itself, and simplified meshes.

    Attributes:
        mesh: The mesh.
        hull: Its convex hull.
    """

    def __init__(self, mesh: Mesh) -> None:
        whole = _coal_model(mesh)
        whole.buildConvexHull(True, "Qt")
        self.mesh, self.hull = mesh, whole.convex
        self._exact = self.hull if mesh.is_convex else _coal_model(_without_slivers(mesh))
        self._simplified: dict[float, tuple[Any, float]] = {}

    def surface(self, error: float) -> tuple[Any, float]:
        """A model, and the largest distance of the mesh from it [m]: ``error``, or zero."""
        if error == 0.0 or self._exact is self.hull:
            return self._exact, 0.0
        level = 2.0 ** np.floor(np.log2(error))  # so that few models are made
        if level not in self._simplified:
            mesh = simplified(self.mesh, level)
            is_worthwhile = len(mesh.faces) <= WORTHWHILE * len(self.mesh.faces)
            made = (_coal_model(mesh), level) if is_worthwhile else (self._exact, 0.0)
            self._simplified[level] = made
        return self._simplified[level]


def within(
    pairs: Sequence[tuple[MeshModel, MeshModel]],
    poses: Floats,
    apart: Bools,
    distance: float,
    error: float = 0.0,
) -> Bools:
    """(k,) whether some meshes of two groups are within a distance of each other.

    Convex meshes are solids. Others are surfaces, so a mesh inside another is not detected.

    Args:
        pairs: Each mesh of the first group with each one of the second.
        poses: (k, 4, 4) poses of the second group in the frame of the first one.
        apart: (k, p) pairs known to be farther apart than the distance, which are not compared.
            Pairs that are found to be so are added.
        distance: The distance [m].
        error: Tolerance [m], which saves time: meshes that are farther by up to this may count as
            within the distance.
    """
    coal, found = coal_library(), np.zeros(len(poses), bool)
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    request.enable_contact = False
    fixed, placed = coal.Transform3s(), coal.Transform3s()

    def near(a: Any, b: Any, margin: float) -> bool:
        result.clear()
        request.security_margin = margin
        return bool(coal.collide(a, fixed, b, placed, request, result))

    models = [(a.hull, b.hull, *a.surface(0.5 * error), *b.surface(0.5 * error)) for a, b in pairs]
    for k, pose in enumerate(poses):
        placed.setTransform(pose[:3, :3], pose[:3, 3])
        for number in np.flatnonzero(~apart[k]):
            hull_a, hull_b, a, error_a, b, error_b = models[number]
            is_convex = a is hull_a and b is hull_b
            if near(hull_a, hull_b, distance) and (
                is_convex or near(a, b, distance + error_a + error_b)
            ):
                found[k] = True
                break
            apart[k, number] = True
    return found


def _coal_model(mesh: Mesh) -> Any:
    model = coal_library().BVHModelOBBRSS()
    model.beginModel(len(mesh.faces), len(mesh.vertices))
    model.addVertices(mesh.vertices)
    model.addTriangles(mesh.faces)
    model.endModel()
    return model


def _without_slivers(mesh: Mesh) -> Mesh:
    """The surface, divided into triangles whose edges are at most ``MAX_EDGE`` long."""
    corners = split_triangles(mesh.vertices[mesh.faces], MAX_EDGE)
    return Mesh(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))


def simplified(mesh: Mesh, error: float) -> Mesh:
    """A mesh of fewer triangles, no point of the given one farther than ``error`` from it [m].

    All vertices in a cell of a grid become its middle. Triangles that become a segment or a point
    are left out if another triangle has that as an edge or a corner.
    """
    pitch = 2.0 * error / np.sqrt(3.0)
    cells = np.floor(mesh.vertices / pitch)
    cells, index = np.unique(cells, axis=0, return_inverse=True)
    faces = np.sort(index.reshape(-1)[mesh.faces], axis=1)
    corners = 1 + (np.diff(faces, axis=1) > 0).sum(axis=1)
    count, vertices = len(cells), np.concatenate([pitch * (cells + 0.5), mesh.vertices])
    kept = [np.unique(faces[corners == 3], axis=0)]
    edges = np.concatenate([kept[0][:, two] for two in ([0, 1], [1, 2], [0, 2])])
    ends, which = faces[corners == 2][:, [0, 2]], np.flatnonzero(corners == 2)
    codes, rows = np.unique(ends @ [count, 1], return_index=True)
    rows = rows[~np.isin(codes, edges @ [count, 1])]
    kept.append(np.column_stack([ends[rows], count + mesh.faces[which[rows], 0]]))
    points, rows = np.unique(faces[:, 0], return_index=True)
    rows = rows[~np.isin(points, np.concatenate(kept))]  # then all three corners are at it
    kept.append(count + mesh.faces[rows])
    return Mesh(vertices, np.concatenate(kept))
