"""The levels of a reach map: targets of the next level from the results of one, and the scores.

A level has rows, those of a voxel one after the other: on the first level one row, its position;
on the next one row for each direction of a position that is reached; on the last one row for each
rotation of a direction that is reached. Offsets are as in compressed sparse rows: the rows of
voxel v are from ``row_offsets[v]`` to ``row_offsets[v + 1]``.
"""

import numpy as np

from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.kinematics.fk import unpack_arm
from jointwise.kernels.kinematics.measure import (
    MeasureScratch,
    limit_margin,
    manipulability,
    measure_scratch,
)
from jointwise.kernels.layout.arm import Arm
from jointwise.kernels.layout.arrays import Bools, Floats, Ints
from jointwise.kernels.layout.voxels import NextRows, Patterns, Rows, Scores


@jit
def fill_next_offsets(
    converged: Bools, row_offsets: Ints, pattern_offsets: Ints, next_offsets: Ints
) -> None:
    """Write where the next rows of each row begin, and where the last end."""
    next_offsets[0] = 0
    for voxel in range(row_offsets.size - 1):
        for row in range(row_offsets[voxel], row_offsets[voxel + 1]):
            number = row - row_offsets[voxel]
            count = pattern_offsets[number + 1] - pattern_offsets[number] if converged[row] else 0
            next_offsets[row + 1] = next_offsets[row] + count


@jit_inline
def write_voxel_targets(
    voxel: int, points: Floats, patterns: Patterns, rows: Rows, next_rows: NextRows
) -> None:
    """Write the targets of a voxel on the next level: the patterns, moved to its point."""
    _, height, width = patterns.targets.shape
    row_offsets, offsets = rows.row_offsets, next_rows.offsets
    for row in range(row_offsets[voxel], row_offsets[voxel + 1]):
        first = patterns.offsets[row - row_offsets[voxel]]
        for at in range(offsets[row], offsets[row + 1]):
            pattern = first + at - offsets[row]
            for j in range(height):
                for k in range(width):
                    next_rows.targets[at, j, k] = patterns.targets[pattern, j, k]
            for k in range(3):
                if width == 3:
                    next_rows.targets[at, 0, k] = points[voxel, k]
                else:
                    next_rows.targets[at, k, 3] = points[voxel, k]
            if patterns.from_solution:
                for k in range(rows.q.shape[1]):
                    next_rows.starts[at, k] = rows.q[row, k]


@jit
def write_targets(points: Floats, patterns: Patterns, rows: Rows, next_rows: NextRows) -> None:
    """Write the targets and starts of all voxels at ``points (v, 3)``."""
    for voxel in range(points.shape[0]):
        write_voxel_targets(voxel, points, patterns, rows, next_rows)


@jit_inline
def score_voxel(
    voxel: int, arm: Arm, axis: Floats, rows: Rows, scratch: MeasureScratch, scores: Scores
) -> None:
    """Write the scores of one voxel."""
    number, best, best_product = 0, 0, 0.0
    most_manipulable, largest_margin = 0.0, 0.0
    for row in range(rows.row_offsets[voxel], rows.row_offsets[voxel + 1]):
        if rows.converged[row]:
            measure = manipulability(arm, axis, rows.q[row], scratch)
            margin = limit_margin(arm, rows.q[row])
            if number == 0 or measure * margin > best_product:
                best, best_product = row, measure * margin
            number += 1
            most_manipulable = max(most_manipulable, measure)
            largest_margin = max(largest_margin, margin)
    scores.counts[voxel] = number
    scores.greatest[0, voxel], scores.greatest[1, voxel] = most_manipulable, largest_margin
    for k in range(rows.q.shape[1]):
        scores.q[voxel, k] = rows.q[best, k] if number else np.nan


@jit
def score_voxels(
    packed_arm: Floats, axis: Floats, jacobian_rows: int, rows: Rows, scores: Scores
) -> None:
    """Write the scores of all voxels; ``axis`` and ``jacobian_rows`` as for manipulability."""
    n = rows.q.shape[1]
    arm, scratch = unpack_arm(packed_arm, n), measure_scratch(n, jacobian_rows)
    for voxel in range(rows.row_offsets.size - 1):
        score_voxel(voxel, arm, axis, rows, scratch, scores)
