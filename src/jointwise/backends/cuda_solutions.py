"""All solutions of many poses on an NVIDIA GPU."""

from collections.abc import Callable
from typing import Any

import numpy as np

from jointwise.backends.cuda import launch
from jointwise.backends.device_arrays import device_array, is_on_gpu, to_device, to_host
from jointwise.kernels import cuda as kernels
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.closed_form import BRANCHES

# Poses in host memory that are copied to the GPU and solved at a time.
PIECE = 1 << 20

# Solutions (m, 8, 6) of poses, counts (m,), whether they are complete and a continuum (m,).
Solved = tuple[Any, Any, Any, Any]
# Solves poses on the CPU, with preferred joint values of each.
Careful = Callable[[Floats, Floats], Solved]


def all_solutions(
    packed_arm: Floats, form: Floats, targets: Any, near: Any, careful: Careful
) -> Solved:
    """Solutions of poses (m, 4, 4), on the GPU if the poses are, else in host memory.

    Poses that are not regular are solved on the CPU.

    Args:
        packed_arm: The arm.
        form: Its packed closed form.
        targets: (m, 4, 4) poses.
        near: (m, 6) preferred joint values of each, or (1, 6) of all [rad].
        careful: Solves the others.
    """
    kernel = kernels.solutions.solutions_kernel(packed_arm.tobytes(), form.tobytes())
    if is_on_gpu(targets):
        return _solve_resident(kernel, targets, to_device(near), careful)
    count = len(targets)
    written: Solved = (
        np.empty((count, BRANCHES, 6)),
        np.empty(count, np.int32),
        np.empty(count, np.bool_),
        np.empty(count, np.bool_),
    )
    for begin in range(0, count, PIECE):
        piece = slice(begin, begin + PIECE)
        starts = near[piece] if len(near) > 1 else near
        on_gpu = to_device(targets[piece]), to_device(starts)
        for host, device in zip(written, _solve_resident(kernel, *on_gpu, careful), strict=True):
            host[piece] = to_host(device)
    return written


def _solve_resident(kernel: Any, targets: Any, near: Any, careful: Careful) -> Solved:
    count = len(targets)
    written = (
        device_array((count, BRANCHES, 6)),
        device_array((count,), np.int32),
        device_array((count,), np.bool_),
        device_array((count,), np.bool_),
    )
    doubtful, counter = device_array((count,), np.int32), to_device(np.zeros(1, np.int32))
    if not count:
        return written
    launch(kernel, count, targets, near, BRANCHES, *written, doubtful, counter)
    few = int(to_host(counter)[0])
    if few:
        rows = doubtful[:few]
        some = device_array((few, 4, 4)), device_array((few, 6))
        launch(kernels.solutions.read_rows_kernel(), few, rows, targets, near, *some)
        solved = careful(*map(to_host, some))
        write_rows = kernels.solutions.write_rows_kernel()
        launch(write_rows, few, rows, *map(to_device, solved), *written)
    return written
