"""Solids that are copies of others, moved or mirrored: one fit serves all of them."""

from collections.abc import Sequence

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.shape.solids.mesh import Mesh

# Largest difference of a vertex of a copy [m].
MAX_DIFFERENCE = 5e-7


def motion_between(meshes: Sequence[Mesh], copies: Sequence[Mesh]) -> Floats | None:
    """(4, 4) the motion that maps solids to others, maybe a reflection; None if there is none.

    It is found if the meshes have the same triangles in the same order, as those of one file do.
    """
    if len(meshes) != len(copies) or any(
        a.vertices.shape != b.vertices.shape or a.faces.shape != b.faces.shape
        for a, b in zip(meshes, copies, strict=True)
    ):
        return None
    for a, b in zip(meshes, copies, strict=True):
        if not np.array_equal(np.sort(a.faces, axis=1), np.sort(b.faces, axis=1)):
            return None
    one, other = (np.concatenate([mesh.vertices for mesh in each]) for each in (meshes, copies))
    middle, other_middle = one.mean(axis=0), other.mean(axis=0)
    left, _, right = np.linalg.svd((other - other_middle).T @ (one - middle))
    motion = np.eye(4)
    motion[:3, :3] = left @ right
    motion[:3, 3] = other_middle - motion[:3, :3] @ middle
    moved = one @ motion[:3, :3].T + motion[:3, 3]
    return motion if np.abs(moved - other).max() <= MAX_DIFFERENCE else None
