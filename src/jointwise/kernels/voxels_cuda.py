"""The levels of a reach map on a GPU: the same lines, a voxel a thread."""

from functools import cache, lru_cache
from typing import Any

import numpy as np
from numba import cuda

from jointwise.kernels import parts
from jointwise.kernels.unrolled import kept
from jointwise.kernels.voxels import lay_voxel, weigh_voxel


@cache
def laying() -> Any:
    """The kernel that writes the next level's targets and starts."""

    def lay(
        follow: bool,
        points: Any,
        firsts: Any,
        begins: Any,
        ends: Any,
        patterns: Any,
        values: Any,
        targets: Any,
        starts: Any,
    ) -> None:
        voxel = cuda.grid(1)
        if voxel < points.shape[0]:
            lay_voxel(
                voxel, follow, points, firsts, begins, ends, patterns, values, targets, starts
            )

    return kept(lay)


@lru_cache(maxsize=64)
def weighing(numbers: bytes, n: int, freedoms: int) -> Any:
    """The kernel that weighs the rows of each voxel, for one arm."""
    (LINKS, KINDS, BOUNDS, SPRINGS), _ = parts(np.frombuffer(numbers), n)

    def weigh(
        axis: Any, firsts: Any, values: Any, reached: Any, counts: Any, greatest: Any, chosen: Any
    ) -> None:
        voxel = cuda.grid(1)
        if voxel >= firsts.size - 1:
            return
        arm = (
            cuda.const.array_like(LINKS),
            cuda.const.array_like(KINDS),
            cuda.const.array_like(BOUNDS),
            cuda.const.array_like(SPRINGS),
        )
        scratch = (
            cuda.local.array((n, 3, 4), np.float64),
            cuda.local.array((freedoms, n), np.float64),
            cuda.local.array((6, 6), np.float64),
        )
        weigh_voxel(voxel, arm, axis, firsts, values, reached, scratch, counts, greatest, chosen)

    return kept(weigh)
