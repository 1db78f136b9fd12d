"""The outline of an arm, as a polyline."""

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.model.arm import ArmModel

# Corners closer than this are merged [m].
MIN_SEGMENT = 1e-9


def outline(arm: ArmModel, q: Floats, frames: Floats, T_base_tip: Floats) -> Floats:
    """(k, 3) corners of a polyline from base to end effector [m]; see ``Chain.outline``.

    Args:
        arm: The arm.
        q: (n,) joint values [rad, m].
        frames: (n, 4, 4) the frame that each joint carries, base frame.
        T_base_tip: (4, 4) pose of the end effector.
    """
    corners = [np.zeros(3)]
    for prismatic, value, frame in zip(arm.prismatic, q, frames, strict=True):
        axis, origin = frame[:3, 2], frame[:3, 3]
        if prismatic:
            origin = origin - value * axis
        corners += [origin + (corners[-1] - origin) @ axis * axis, origin, frame[:3, 3]]
    corners.append(T_base_tip[:3, 3])
    points = np.array(corners)
    apart = np.linalg.norm(np.diff(points, axis=0), axis=1) > MIN_SEGMENT
    distinct: Floats = points[np.concatenate([[True], apart])]
    return distinct
