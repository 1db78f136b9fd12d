"""Rotations as angles and quaternions, and back, without SciPy, which is slow to import."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jointwise.kernels.layout.arrays import Floats


def roll_pitch_yaw(transform: Floats) -> Floats:
    """(3,) angles about fixed x, y, z [rad] of a rotation, as in URDF.

    Yaw is computed first, then pitch and roll from the rotation without the yaw. So their product
    is exact even near the singularity at a pitch of ±pi/2, where roll and yaw are hardly distinct.
    """
    yaw = np.arctan2(transform[1, 0], transform[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    x = c * transform[0, :3] + s * transform[1, :3]
    y = c * transform[1, :3] - s * transform[0, :3]
    return np.array([np.arctan2(-y[2], y[1]), np.arctan2(-transform[2, 0], x[0]), yaw])


def rpy_matrix(angles: ArrayLike) -> Floats:
    """(..., 3, 3) rotations from (..., 3) angles about fixed x, y, z [rad]: the inverse."""
    cosines, sines = np.cos(angles), np.sin(angles)
    c, s = np.moveaxis(cosines, -1, 0), np.moveaxis(sines, -1, 0)
    rows = [
        [c[2] * c[1], c[2] * s[1] * s[0] - s[2] * c[0], c[2] * s[1] * c[0] + s[2] * s[0]],
        [s[2] * c[1], s[2] * s[1] * s[0] + c[2] * c[0], s[2] * s[1] * c[0] - c[2] * s[0]],
        [-s[1], c[1] * s[0], c[1] * c[0]],
    ]
    return _matrices(rows)


def quaternion_matrix(values: ArrayLike) -> Floats:
    """(..., 3, 3) rotations from (..., 4) quaternions x, y, z, w of any length but zero."""
    # By columns: NumPy is slow along a short last axis.
    columns = np.ascontiguousarray(np.moveaxis(np.asarray(values, float), -1, 0))
    x, y, z, w = columns
    x, y, z, w = columns / np.sqrt(x * x + y * y + z * z + w * w)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return _matrices(rows)


def _matrices(rows: Sequence[Sequence[Any]]) -> Floats:
    """(..., 3, 3) matrices, from the rows of their elements (...)."""
    matrices = np.empty((*np.shape(rows[0][0]), 3, 3))
    for i, row in enumerate(rows):
        for j, element in enumerate(row):
            matrices[..., i, j] = element
    return matrices


def quaternion(transform: Floats) -> Floats:
    """(4,) unit quaternion x, y, z, w of a rotation, with the sign that SciPy chooses."""
    m = transform[:3, :3]
    trace = np.trace(m)
    largest = int(np.argmax([*np.diag(m), trace]))
    if largest == 3:
        values = [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], 1.0 + trace]
    else:
        i, j, k = np.roll([0, 1, 2], -largest)
        values = [0.0, 0.0, 0.0, m[k, j] - m[j, k]]
        values[i] = 1.0 - trace + 2.0 * m[i, i]
        values[j], values[k] = m[j, i] + m[i, j], m[k, i] + m[i, k]
    unit: Floats = np.array(values) / np.linalg.norm(values)
    return unit


def rotations_to_axes(z: Floats) -> Floats:
    """(n, 3, 3) for each of (n, 3) unit vectors, a rotation whose z axis it is."""
    y = np.cross(z, np.eye(3)[np.abs(z).argmin(axis=1)])
    y /= np.linalg.norm(y, axis=1)[:, None]
    rotations = np.stack([np.cross(y, z), y, z], axis=2)
    # The two most frequent axes have no rounding errors: the identity for z, half a turn for -z.
    rotations[np.abs(z[:, 2]) == 1.0] = np.eye(3)
    rotations[z[:, 2] == -1.0, [[1], [2]], [[1], [2]]] = -1.0
    return rotations
