"""The surface at a level of a grid of distances."""

import numpy as np

from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.shape.solids.mesh import Mesh


def level_surface(distances: Floats, voxel: float, level: float) -> Mesh:
    """The surface of all points whose distance is ``level`` [m].

    It consists of the faces between cells on either side, with corners moved onto it by one Newton
    step.

    Args:
        distances: (i, j, k) signed distances at the centres of cells [m].
        voxel: Edge of a cell [m]; the first corner is at the origin.
        level: Above the distance of what is inside [m].
    """
    inside = np.pad(distances <= level, 1)
    quads = []
    for axis in range(3):
        step = np.diff(inside.astype(np.int8), axis=axis)
        u, v = np.eye(3, dtype=int)[[(axis + 1) % 3, (axis + 2) % 3]]
        for sign, around in ((-1, [0 * u, u, u + v, v]), (1, [0 * u, v, u + v, u])):
            cells = np.argwhere(step == sign)
            cells -= 1 - np.eye(3, dtype=int)[axis]  # of the padding
            quads.append(cells[:, None] + np.array(around))
    corners, index = np.unique(np.concatenate(quads).reshape(-1, 3), axis=0, return_inverse=True)
    index = index.reshape(-1, 4)
    return Mesh(
        voxel * corners - _newton_step(distances, voxel, level, corners),
        np.concatenate([index[:, [0, 1, 2]], index[:, [0, 2, 3]]]),
    )


def _newton_step(distances: Floats, voxel: float, level: float, corners: Ints) -> Floats:
    """(k, 3) how far corners of cells are beyond a level, no more than half a cell [m]."""
    last = np.array(distances.shape) - 1
    offsets = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    around = np.clip(corners[:, None] - 1 + offsets, 0, last)
    values = distances[tuple(np.moveaxis(around, -1, 0))]
    gradient = values @ (2 * offsets - 1) / (4.0 * voxel)
    square = np.maximum((gradient**2).sum(axis=1), 0.1)
    step: Floats = ((values.mean(axis=1) - level) / square)[:, None] * gradient
    return step.clip(-0.5 * voxel, 0.5 * voxel)
