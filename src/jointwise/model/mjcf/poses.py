"""Poses as MuJoCo writes them."""

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.model.rotation import quaternion_matrix


def pose_matrix(position: Floats, wxyz: Floats) -> Floats:
    """(4, 4) a pose from a position and a quaternion with its scalar first."""
    pose = np.eye(4)
    pose[:3, :3] = quaternion_matrix(np.roll(wxyz, -1))
    pose[:3, 3] = position
    return pose
