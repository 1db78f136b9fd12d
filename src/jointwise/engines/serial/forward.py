"""Forward kinematics of a serial arm: frames, poses and the Jacobian at given joint values."""

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from jointwise.backends import cpu, cuda
from jointwise.backends.device_arrays import as_float_array, is_on_gpu, to_device, to_library
from jointwise.engines.run_options import Device, wants_gpu
from jointwise.errors import DimensionMismatchError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.model.arm import ArmModel


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
    """(n, 4, 4) the frame that each joint carries, base frame; see ``Chain.joint_frames``."""
    frames = np.zeros((arm.n, 4, 4))
    frames[:, :3] = frames_and_jacobian(arm, q, "q")[0]
    frames[:, 3, 3] = 1.0
    return frames


def jacobian(arm: ArmModel, q: ArrayLike) -> Floats:
    """(6, n) the geometric Jacobian, base frame; see ``Chain.jacobian``."""
    return frames_and_jacobian(arm, q, "q")[1].T + 0.0  # no minus zeros


def manipulability(arm: ArmModel, q: ArrayLike) -> float:
    """The product of the Jacobian's singular values; see ``Chain.manipulability``."""
    return float(np.linalg.svd(jacobian(arm, q), compute_uv=False).prod())


def frames_and_jacobian(arm: ArmModel, q: ArrayLike, name: str) -> tuple[Floats, Floats]:
    """(n, 3, 4) the frames that the joints carry, and (n, 6) the columns of the Jacobian."""
    values = checks.all_finite(name, checks.joint_values(name, q, arm.n))
    frames, columns = np.empty((arm.n, 3, 4)), np.empty((arm.n, 6))
    cpu.frames_and_jacobian(arm.packed, values, frames, columns)
    return frames, columns
