"""How a visitor's input changes the pose of a target."""

import numpy as np
from numpy.typing import ArrayLike

from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.model.rotation import rpy_matrix
from jointwise.targets import TargetKind


def moved_pose(
    T_base_target: Floats,
    pose: ArrayLike | None = None,
    position: ArrayLike | None = None,
    rpy: ArrayLike | None = None,
) -> Floats:
    """(4, 4) the new pose of a target.

    Args:
        T_base_target: (4, 4) its current pose.
        pose: (4, 4) its new pose. None: the current one.
        position: (3,) its new position [m]. None: that of the pose.
        rpy: (3,) its new roll, pitch, yaw [rad]. None: the orientation of the pose.

    Raises:
        InvalidInputError: The numbers are invalid.
    """
    moved = T_base_target.copy() if pose is None else checks.pose("target", pose)
    if position is not None:
        moved[:3, 3] = checks.all_finite("target", checks.position("target", position))
    if rpy is not None:
        moved[:3, :3] = rpy_matrix(checks.all_finite("rpy", checks.floats("rpy", rpy)))
    return moved


def pose_for_kind(
    T_base_target: Floats, before: TargetKind, kind: TargetKind, T_base_tip: Floats
) -> Floats:
    """(4, 4) the pose of a target whose kind changes; its position stays.

    It is not rotated where its kind leaves orientation free. If the orientation was free before,
    it is that of the end effector.

    Args:
        T_base_target: (4, 4) its current pose.
        before: Its current kind.
        kind: Its new kind.
        T_base_tip: (4, 4) the pose of the end effector.
    """
    if before.directions > 0 and kind.directions > 0:
        return T_base_target
    moved = np.eye(4) if kind.directions == 0 else T_base_tip.copy()
    moved[:3, 3] = T_base_target[:3, 3]
    return moved
