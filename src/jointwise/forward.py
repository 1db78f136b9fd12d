"""Forward kinematics: where the arm is when its joints are where they are."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from jointwise import checks, kernels
from jointwise.arm import arm_of
from jointwise.joints import DHJoint
from jointwise.kernels import Floats
from jointwise.results import FKResult

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


def forward_kinematics(joints: Iterable[DHJoint], joint_values: ArrayLike) -> FKResult:
    """Every frame of the arm, base to tip.

    Args:
        joints: DH rows from base to tip, standard convention.
        joint_values: (n,) one value per joint [rad]; [m] for a sliding joint.

    Returns:
        The tip's pose and the n+1 frames that lead to it, the first the identity.

    Raises:
        DimensionMismatchError: ``joint_values`` has not one value per joint.
        InvalidInputError: A value is not finite, or beyond 1e9, or ``joints`` are not DH rows.

    Example:
        >>> from jointwise import two_link_planar
        >>> forward_kinematics(two_link_planar(1.0, 0.5), [0.0, 0.0]).position
        array([1.5, 0. , 0. ])
    """
    arm, ends = arm_of(joints)
    n = arm.kinds.size
    values = checks.workable("joint_values", checks.joint_values("joint_values", joint_values, n))
    carried = np.empty((n, 3, 4))
    links, kinds, _, _ = kernels.parts(arm.block, n)[0]
    kernels.fk.joint_frames(links, kinds, values, carried)
    frames = np.empty((n + 1, 4, 4))
    frames[:] = np.eye(4)
    np.matmul(carried, ends, out=frames[1:, :3])
    frames.setflags(write=False)
    return FKResult(end_effector=frames[-1], frames=frames)


def fk_position(joints: Iterable[DHJoint], joint_values: ArrayLike) -> Floats:
    """(3,) where the tip is [m], base frame. Arguments as in ``forward_kinematics``."""
    return forward_kinematics(joints, joint_values).position


def fk_rotation(joints: Iterable[DHJoint], joint_values: ArrayLike) -> "Rotation":
    """How the tip is turned, as SciPy's ``Rotation``. Arguments as in ``forward_kinematics``."""
    return forward_kinematics(joints, joint_values).rotation
