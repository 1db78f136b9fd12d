"""The levels of a reach map on a GPU: the same lines as on a CPU, one voxel a thread."""

from functools import cache, lru_cache
from typing import Any

import numpy as np
from numba import cuda

from jointwise.kernels._numba.compile_cuda import cuda_jit_cached
from jointwise.kernels.batch.voxels import (
    NextRows,
    Patterns,
    Rows,
    Scores,
    score_voxel,
    write_voxel_targets,
)
from jointwise.kernels.cuda.arm import constant_arm
from jointwise.kernels.kinematics.measure import MeasureScratch


@cache
def write_targets_kernel() -> Any:
    """The kernel that writes the targets and starts of the next level."""

    def write_all_targets(points: Any, patterns: Patterns, rows: Rows, next_rows: NextRows) -> None:
        voxel = cuda.grid(1)
        if voxel < points.shape[0]:
            write_voxel_targets(voxel, points, patterns, rows, next_rows)

    return cuda_jit_cached(write_all_targets)


@lru_cache(maxsize=64)
def score_kernel(packed_arm: bytes, n: int, jacobian_rows: int) -> Any:
    """The kernel that scores each voxel, for one arm."""
    make_arm = constant_arm(packed_arm, n, np.float64)

    def score_all_voxels(axis: Any, rows: Rows, scores: Scores) -> None:
        voxel = cuda.grid(1)
        if voxel >= rows.row_offsets.size - 1:
            return
        scratch = MeasureScratch(
            cuda.local.array((n, 3, 4), np.float64),
            cuda.local.array((jacobian_rows, n), np.float64),
            cuda.local.array((6, 6), np.float64),
        )
        score_voxel(voxel, make_arm(), axis, rows, scratch, scores)

    return cuda_jit_cached(score_all_voxels)
