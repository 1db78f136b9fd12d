"""How a visitor's input changes the pose of a target."""

from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.model.rotation import rpy_matrix
from jointwise.targets import TargetKind


class PoseParts(TypedDict, total=False):
    """The parts of a pose that change; a part that is left out or None stays.

    Attributes:
        position: (3,) the new position [m].
        rpy: (3,) the new roll, pitch, yaw [rad].
    """

    position: ArrayLike | None
    rpy: ArrayLike | None


def moved_pose(
    T_base_target: Floats, pose: ArrayLike | None = None, **parts: Unpack[PoseParts]
) -> Floats:
    """(4, 4) the new pose of a target.

    Args:
        T_base_target: (4, 4) its current pose.
        pose: (4, 4) its new pose. None: the current one.
        parts: Changes of that pose.

    Raises:
        InvalidInputError: The numbers are invalid.
    """
    moved = T_base_target.copy() if pose is None else checks.pose("target", pose)
    position, rpy = parts.get("position"), parts.get("rpy")
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
