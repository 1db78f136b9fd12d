"""The levels of a reach map: the rows of a voxel are one below the other on each of them.

On the first level a voxel is one row, its position. A row that is reached has several on the next
level, its ways: the directions of a position, the rotations of a direction. ``firsts (k+1,)`` says
where the rows of each voxel begin; the ways of number w among them are those from ``ends[w]`` to
``ends[w+1]``.
"""

import numpy as np
from numpy.typing import NDArray

from jointwise.kernels import Arm, Floats
from jointwise.kernels.fk import unpacked
from jointwise.kernels.jit import hot, jit
from jointwise.kernels.measure import Scratch, quality

Integers = NDArray[np.int64]


@jit
def count(reached: NDArray[np.bool_], firsts: Integers, ends: Integers, begins: Integers) -> None:
    """Write where the rows that follow each row begin on the next level, and where the last end."""
    begins[0] = 0
    for voxel in range(firsts.size - 1):
        for row in range(firsts[voxel], firsts[voxel + 1]):
            way = row - firsts[voxel]
            more = ends[way + 1] - ends[way] if reached[row] else 0
            begins[row + 1] = begins[row] + more


@hot
def lay_voxel(
    voxel: int,
    follow: bool,
    points: Floats,
    firsts: Integers,
    begins: Integers,
    ends: Integers,
    patterns: Floats,
    values: Floats,
    targets: Floats,
    starts: Floats,
) -> None:
    """Write the next level's targets: the patterns, at the voxel's point.

    If these follow, each starts at the answer of the row before it.
    """
    tall, wide, n = patterns.shape[1], patterns.shape[2], values.shape[1]
    for row in range(firsts[voxel], firsts[voxel + 1]):
        first = ends[row - firsts[voxel]]
        for at in range(begins[row], begins[row + 1]):
            pattern = first + at - begins[row]
            for j in range(tall):
                for k in range(wide):
                    targets[at, j, k] = patterns[pattern, j, k]
            for k in range(3):
                if wide == 3:
                    targets[at, 0, k] = points[voxel, k]
                else:
                    targets[at, k, 3] = points[voxel, k]
            if follow:
                for k in range(n):
                    starts[at, k] = values[row, k]


@jit
def lay(
    follow: bool,
    points: Floats,
    firsts: Integers,
    begins: Integers,
    ends: Integers,
    patterns: Floats,
    values: Floats,
    targets: Floats,
    starts: Floats,
) -> None:
    """Write the targets and starts of all voxels."""
    for voxel in range(points.shape[0]):
        lay_voxel(voxel, follow, points, firsts, begins, ends, patterns, values, targets, starts)


@hot
def weigh_voxel(
    voxel: int,
    arm: Arm,
    axis: Floats,
    firsts: Integers,
    values: Floats,
    reached: NDArray[np.bool_],
    scratch: Scratch,
    counts: Integers,
    greatest: Floats,
    chosen: Floats,
) -> None:
    """Of a voxel's rows: how many are reached, the greatest of both measures, the best values.

    The best are those with the greatest product of the two, of equals the first; NaN for none.
    """
    number, best, freest, sparest, most = 0, 0, 0.0, 0.0, 0.0
    for row in range(firsts[voxel], firsts[voxel + 1]):
        if reached[row]:
            freedom, spare = quality(arm, axis, values[row], scratch)
            if number == 0 or freedom * spare > most:
                best, most = row, freedom * spare
            number += 1
            freest, sparest = max(freest, freedom), max(sparest, spare)
    counts[voxel], greatest[0, voxel], greatest[1, voxel] = number, freest, sparest
    for k in range(values.shape[1]):
        chosen[voxel, k] = values[best, k] if number else np.nan


@jit
def weigh(
    block: Floats,
    axis: Floats,
    freedoms: int,
    firsts: Integers,
    values: Floats,
    reached: NDArray[np.bool_],
    counts: Integers,
    greatest: Floats,
    chosen: Floats,
) -> None:
    """Weigh all voxels."""
    n = values.shape[1]
    arm, _ = unpacked(block, n)
    scratch = np.empty((n, 3, 4)), np.empty((freedoms, n)), np.empty((6, 6))
    for voxel in range(firsts.size - 1):
        weigh_voxel(voxel, arm, axis, firsts, values, reached, scratch, counts, greatest, chosen)
