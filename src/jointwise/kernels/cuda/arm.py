"""What every kernel on a GPU needs: the arm as constants, and memory of its own."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from jointwise.kernels._numba.compile_cuda import cuda_inline
from jointwise.kernels.kinematics.tasks import TARGET_SHAPES
from jointwise.kernels.layout.arm import BOUND_LOWER, BOUND_UPPER, Arm, unpack_arm
from jointwise.kernels.layout.arrays import UNLIMITED, Floats, Weights
from jointwise.kernels.layout.task import Task
from jointwise.kernels.serial.lm import LMWorkspace


class ThreadMemory(NamedTuple):
    """Arrays of one thread; they become registers.

    Attributes:
        task: What is asked for.
        target: The packed target, as in ``Task``.
        workspace: Scratch of Levenberg-Marquardt.
        q: (n,) joint values [rad, m].
        start: (n,) joint values at the beginning [rad, m].
    """

    task: Task
    target: Floats
    workspace: LMWorkspace
    q: Floats
    start: Floats


def rounded_bounds(bounds: Floats, dtype: Any) -> Any:
    """Joint limits in another precision, rounded inwards, and finite where there are none."""
    rounded = np.clip(bounds, -UNLIMITED, UNLIMITED).astype(dtype)
    for column, inward in ((BOUND_LOWER, np.inf), (BOUND_UPPER, -np.inf)):
        limit = np.clip(bounds[:, column], -UNLIMITED, UNLIMITED)
        outside = rounded[:, column] < limit if inward > 0.0 else rounded[:, column] > limit
        rounded[outside, column] = np.nextafter(rounded[outside, column], dtype(inward))
    return rounded


def constant_arm(packed_arm: bytes, n: int, dtype: Any) -> Callable[[], Arm]:
    """A function for kernels that returns the arm, as constants: products with zero cost nothing.

    Args:
        packed_arm: The bytes of a packed arm.
        n: Its number of joints.
        dtype: Floating-point type of the constants.
    """
    arm = unpack_arm(np.frombuffer(packed_arm), n)
    links, kinds, penalties, strides = (
        np.array(part, dtype) for part in (arm.links, arm.kinds, arm.joint_penalties, arm.strides)
    )
    bounds = rounded_bounds(arm.bounds, dtype)
    angular_scale, reach = dtype(arm.angular_scale), dtype(min(arm.reach, UNLIMITED))

    def make_arm() -> Arm:
        return Arm(
            cuda.const.array_like(links),
            cuda.const.array_like(kinds),
            cuda.const.array_like(bounds),
            cuda.const.array_like(penalties),
            angular_scale,
            reach,
            cuda.const.array_like(strides),
        )

    return cuda_inline(make_arm, (packed_arm, n, np.dtype(dtype).name))


def thread_memory(n: int, weights: Weights, dtype: Any) -> Callable[[], ThreadMemory]:
    """A function for kernels that returns the memory of one thread, for a kind of target."""
    m, after = len(weights), n + 1
    height, width = TARGET_SHAPES[m]
    typed = tuple(dtype(weight) for weight in weights)

    def make_memory() -> ThreadMemory:
        return ThreadMemory(
            Task(cuda.local.array((m, 3), dtype), cuda.local.array((m, 3), dtype), typed),
            cuda.local.array((height, width), dtype),
            LMWorkspace(
                cuda.local.array((n, 3, 4), dtype),
                cuda.local.array((after, 6), dtype),
                cuda.local.array((m, 3), dtype),
            ),
            cuda.local.array(n, dtype),
            cuda.local.array(n, dtype),
        )

    return cuda_inline(make_memory, (n, weights, np.dtype(dtype).name))
