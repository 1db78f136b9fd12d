"""Forward kinematics: frames, poses and the Jacobian at given joint values."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from jointwise.backends import cpu, cuda
from jointwise.backends.device_arrays import as_float_array, is_on_gpu, to_device, to_library
from jointwise.errors import DimensionMismatchError
from jointwise.kernels.shapes import Floats
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.model.dh import dh_arm
from jointwise.model.joints import DHJoint
from jointwise.solvers.batch import Device, wants_gpu
from jointwise.solvers.results import FKResult

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


def forward_kinematics(joints: Iterable[DHJoint], joint_values: ArrayLike) -> FKResult:
    """Every frame of the arm, from base to end effector.

    Args:
        joints: DH rows from base to end effector, standard convention.
        joint_values: (n,) one value per joint [rad]; [m] for a prismatic joint.

    Returns:
        The pose of the end effector, and the n+1 frames that lead to it, the first the identity.

    Raises:
        DimensionMismatchError: ``joint_values`` does not have one value per joint.
        InvalidInputError: A value is not finite, or beyond 1e9, or ``joints`` are not DH rows.

    Example:
        >>> from jointwise import two_link_planar
        >>> forward_kinematics(two_link_planar(1.0, 0.5), [0.0, 0.0]).position
        array([1.5, 0. , 0. ])
    """
    arm, row_ends = dh_arm(joints)
    carried = _frames_and_jacobian(arm, joint_values, "joint_values")[0]
    frames = np.empty((arm.n + 1, 4, 4))
    frames[:] = np.eye(4)
    np.matmul(carried, row_ends, out=frames[1:, :3])
    frames.setflags(write=False)
    return FKResult(end_effector=frames[-1], frames=frames)


def fk_position(joints: Iterable[DHJoint], joint_values: ArrayLike) -> Floats:
    """(3,) position of the end effector [m], base frame; as ``forward_kinematics``.

    Example:
        >>> from jointwise import two_link_planar
        >>> fk_position(two_link_planar(1.0, 0.5), [0.0, 0.0])
        array([1.5, 0. , 0. ])
    """
    return forward_kinematics(joints, joint_values).position


def fk_rotation(joints: Iterable[DHJoint], joint_values: ArrayLike) -> Rotation:
    """Orientation of the end effector, as SciPy's ``Rotation``; as ``forward_kinematics``.

    Example:
        >>> from jointwise import two_link_planar
        >>> fk_rotation(two_link_planar(1.0, 0.5), [0.1, 0.2]).magnitude().round(3)
        np.float64(0.3)
    """
    return forward_kinematics(joints, joint_values).rotation


def tip_poses(arm: ArmModel, q: Any, device: Device) -> Floats:
    """(4, 4) or (k, 4, 4) poses of the end effector; see ``Chain.fk``."""
    if is_on_gpu(q):
        cuda.require_cuda()
        on_gpu = as_float_array("q", q)
        if on_gpu.ndim != 2 or on_gpu.shape[1] != arm.n:
            raise DimensionMismatchError(
                f"q is on the GPU with shape {on_gpu.shape}: expected (k, {arm.n})."
            )
        return cast(Floats, to_library(cuda.tip_poses(arm.packed, on_gpu), q))
    values = checks.all_finite("q", checks.configurations("q", q, arm.n))
    many = values.reshape(-1, arm.n)
    poses = np.empty((len(many), 4, 4))
    if wants_gpu(device):
        cuda.tip_poses(arm.packed, to_device(many)).copy_to_host(poses)
    else:
        cpu.tip_poses(arm.packed, many, poses)
    return poses if values.ndim == 2 else poses[0]


def joint_frames(arm: ArmModel, q: ArrayLike) -> Floats:
    """(n, 4, 4) the frame that each joint carries, base frame; see ``Chain.frames``."""
    frames = np.zeros((arm.n, 4, 4))
    frames[:, :3] = _frames_and_jacobian(arm, q, "q")[0]
    frames[:, 3, 3] = 1.0
    return frames


def jacobian(arm: ArmModel, q: ArrayLike) -> Floats:
    """(6, n) the geometric Jacobian, base frame; see ``Chain.jacobian``."""
    return _frames_and_jacobian(arm, q, "q")[1].T + 0.0  # no minus zeros


def manipulability(arm: ArmModel, q: ArrayLike) -> float:
    """The product of the Jacobian's singular values; see ``Chain.manipulability``."""
    return float(np.linalg.svd(jacobian(arm, q), compute_uv=False).prod())


def _frames_and_jacobian(arm: ArmModel, q: ArrayLike, name: str) -> tuple[Floats, Floats]:
    values = checks.all_finite(name, checks.joint_values(name, q, arm.n))
    frames, columns = np.empty((arm.n, 3, 4)), np.empty((arm.n, 6))
    cpu.frames_and_jacobian(arm.packed, values, frames, columns)
    return frames, columns
