"""All solutions of regular poses on a GPU: the same lines as on a CPU, one pose a thread."""

from functools import cache, lru_cache
from typing import Any

import numpy as np
from numba import cuda

from jointwise.kernels._numba.compile_cuda import cuda_inline, cuda_jit_cached
from jointwise.kernels.closed_form.standard_arms import place, regular_branch
from jointwise.kernels.cuda.arm import rounded_bounds
from jointwise.kernels.layout.arm import unpack_arm
from jointwise.kernels.layout.arrays import MAX_VALUE, Floats
from jointwise.kernels.layout.closed_form import FORM_STANDARD, STANDARD_SIZE


@lru_cache(maxsize=64)
def solutions_kernel(packed_arm: bytes, form: bytes) -> Any:
    """The kernel that writes all solutions of each pose, for one arm of six joints.

    Args:
        packed_arm: The bytes of a packed arm.
        form: The bytes of its packed closed form, which ends with numbers for regular poses.
    """
    numbers = np.frombuffer(form)[FORM_STANDARD : FORM_STANDARD + STANDARD_SIZE].copy()
    bounds = rounded_bounds(unpack_arm(np.frombuffer(packed_arm), 6).bounds, np.float64)

    def make_numbers() -> tuple[Floats, Floats]:
        return cuda.const.array_like(numbers), cuda.const.array_like(bounds)

    constants = cuda_inline(make_numbers, (packed_arm, form))

    def solve_poses(
        targets: Any,
        near: Any,
        branches: int,
        solutions: Any,
        counts: Any,
        complete: Any,
        continuum: Any,
        doubtful: Any,
        counter: Any,
    ) -> None:
        row = cuda.grid(1)
        if row >= targets.shape[0]:
            return
        form, limits = constants()
        target, placed = cuda.local.array(12, np.float64), cuda.local.array(12, np.float64)
        start, q = cuda.local.array(6, np.float64), cuda.local.array(6, np.float64)
        last = abs(targets[row, 3, 0]) + abs(targets[row, 3, 1]) + abs(targets[row, 3, 2])
        valid = last + abs(targets[row, 3, 3] - 1.0) == 0.0
        for k in range(12):
            target[k] = targets[row, k // 4, k % 4]
            valid = valid and abs(target[k]) < MAX_VALUE
        first = row if near.shape[0] > 1 else 0
        for i in range(6):
            start[i] = near[first, i]
            valid = valid and abs(start[i]) < MAX_VALUE
        valid = valid and place(form, target, placed)
        inside, has_free_joint = 0, False
        # How many branches is an argument, so that this stays a loop: eight copies of it would not
        # fit into the cache for instructions.
        for branch in range(branches):
            signs = (
                2.0 * (branch & 1) - 1.0,
                2.0 * ((branch >> 1) & 1) - 1.0,
                2.0 * ((branch >> 2) & 1) - 1.0,
            )
            found, clear, free, outside = regular_branch(form, placed, limits, start, signs, q)
            valid, has_free_joint = valid and clear, has_free_joint or free
            if found and outside == 0.0:
                for i in range(6):
                    solutions[row, inside, i] = q[i]
                inside += 1
        for k in range(inside, branches):
            for i in range(6):
                solutions[row, k, i] = np.nan
        counts[row], complete[row], continuum[row] = inside, not has_free_joint, has_free_joint
        if not valid:
            doubtful[cuda.atomic.add(counter, 0, 1)] = row

    return cuda_jit_cached(solve_poses, 6)


@cache
def read_rows_kernel() -> Any:
    """The kernel that copies some rows of poses and of preferred joint values."""

    def read_rows(rows: Any, targets: Any, near: Any, some_targets: Any, some_near: Any) -> None:
        k = cuda.grid(1)
        if k >= rows.size:
            return
        for i in range(4):
            for j in range(4):
                some_targets[k, i, j] = targets[rows[k], i, j]
        for i in range(6):
            some_near[k, i] = near[rows[k] if near.shape[0] > 1 else 0, i]

    return cuda_jit_cached(read_rows)


@cache
def write_rows_kernel() -> Any:
    """The kernel that writes the results of some rows to their places."""

    def write_rows(
        rows: Any,
        some_solutions: Any,
        some_counts: Any,
        some_complete: Any,
        some_continuum: Any,
        solutions: Any,
        counts: Any,
        complete: Any,
        continuum: Any,
    ) -> None:
        k = cuda.grid(1)
        if k >= rows.size:
            return
        row = rows[k]
        for i in range(some_solutions.shape[1]):
            for j in range(6):
                solutions[row, i, j] = some_solutions[k, i, j]
        counts[row], complete[row] = some_counts[k], some_complete[k]
        continuum[row] = some_continuum[k]

    return cuda_jit_cached(write_rows)
