"""Rotations as angles."""

import numpy as np

from jointwise.kernels.shapes import Floats


def roll_pitch_yaw(transform: Floats) -> Floats:
    """(3,) angles about fixed x, y, z [rad] of a rotation, as URDF has them.

    Yaw comes first; pitch and roll are taken of the rotation without the yaw. So their product is
    exact also near the singularity at a pitch of ±pi/2, where roll and yaw are hardly distinct.
    """
    yaw = np.arctan2(transform[1, 0], transform[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    x = c * transform[0, :3] + s * transform[1, :3]
    y = c * transform[1, :3] - s * transform[0, :3]
    return np.array([np.arctan2(-y[2], y[1]), np.arctan2(-transform[2, 0], x[0]), yaw])
