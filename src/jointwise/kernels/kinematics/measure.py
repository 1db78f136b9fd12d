"""How good a configuration is: its manipulability, and its margin to the joint limits."""

from math import sqrt
from typing import NamedTuple

import numpy as np

from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.kinematics.fk import (
    jacobian_column,
    joint_frames,
    rotate,
    tip_position,
    unpack_arm,
)
from jointwise.kernels.layout.arm import BOUND_LOWER, BOUND_UPPER, Arm
from jointwise.kernels.layout.arrays import UNLIMITED, Bools, Floats


class MeasureScratch(NamedTuple):
    """Memory for a measurement.

    Attributes:
        frames: (n, 3, 4) the frame that each joint carries.
        jacobian: (r, n) the rows of the Jacobian that count: 3 the velocity of the tip, 5 also the
            two rotations at right angles to an axis, 6 all.
        gram: (6, 6) its Gram matrix.
    """

    frames: Floats
    jacobian: Floats
    gram: Floats


@jit
def limit_margin(arm: Arm, q: Floats) -> float:
    """Distance to the nearest limit as a share of half the joint's range: 1 is the middle.

    Joints without a range do not count.
    """
    bounds, least = arm.bounds, 1.0
    for i in range(q.size):
        lower, upper = bounds[i, BOUND_LOWER], bounds[i, BOUND_UPPER]
        half = 0.5 * (upper - lower)
        if half > 0.0 and lower > -UNLIMITED and upper < UNLIMITED:
            least = min(least, min(q[i] - lower, upper - q[i]) / half)
    return max(least, 0.0)


@jit
def singular_product(jacobian: Floats, gram: Floats) -> float:
    """The product of the singular values of ``jacobian (rows, columns)``."""
    rows, columns = jacobian.shape
    wide = columns >= rows
    size = rows if wide else columns
    for i in range(size):
        for j in range(i + 1):
            gram[i, j] = 0.0
            for k in range(columns if wide else rows):
                if wide:
                    gram[i, j] += jacobian[i, k] * jacobian[j, k]
                else:
                    gram[i, j] += jacobian[k, i] * jacobian[k, j]
    product = 1.0
    for i in range(size):  # the diagonal of the Cholesky factor has the same product
        for j in range(i + 1):
            for k in range(j):
                gram[i, j] -= gram[i, k] * gram[j, k]
            if i > j:
                gram[i, j] /= gram[j, j]
        if gram[i, i] <= 0.0:
            return 0.0
        gram[i, i] = sqrt(gram[i, i])
        product *= gram[i, i]
    return product


@jit_inline
def manipulability(arm: Arm, axis: Floats, q: Floats, scratch: MeasureScratch) -> float:
    """Product of the singular values of the Jacobian's rows that count, at ``q``.

    Of five rows the last two are rotations at right angles to ``axis (3,)``, in the tip's frame.
    """
    kinds, frames, jacobian = arm.kinds, scratch.frames, scratch.jacobian
    rows, n = jacobian.shape
    joint_frames(arm, q, frames)
    tip = tip_position(arm, frames)
    a, b, c = rotate(arm.links, n, axis[0], axis[1], axis[2])
    a, b, c = rotate(frames, n - 1, a, b, c)
    # Two directions at right angles to the axis: the first also to the x or y farther from it.
    d, e, f = (0.0, c, -b) if abs(a) < 0.6 else (-c, 0.0, a)
    size = sqrt(d * d + e * e + f * f)
    d, e, f = d / size, e / size, f / size
    g, h, k = b * f - c * e, c * d - a * f, a * e - b * d
    for i in range(n):
        vx, vy, vz, x, y, z = jacobian_column(kinds, frames, i, tip, 1.0)
        jacobian[0, i], jacobian[1, i], jacobian[2, i] = vx, vy, vz
        if rows == 5:
            jacobian[3, i], jacobian[4, i] = x * d + y * e + z * f, x * g + y * h + z * k
        elif rows == 6:
            jacobian[3, i], jacobian[4, i], jacobian[5, i] = x, y, z
    return singular_product(jacobian, scratch.gram)


@jit
def measure_scratch(n: int, rows: int) -> MeasureScratch:
    """Memory to measure an arm of n joints by some rows of its Jacobian."""
    return MeasureScratch(np.empty((n, 3, 4)), np.empty((rows, n)), np.empty((6, 6)))


@jit
def measure(
    packed_arm: Floats,
    configurations: Floats,
    converged: Bools,
    axis: Floats,
    rows: int,
    measures: Floats,
) -> None:
    """Write ``measures (2, k)``: manipulability and limit margin of what has converged, else 0."""
    n = configurations.shape[1]
    arm, scratch = unpack_arm(packed_arm, n), measure_scratch(n, rows)
    for k in range(configurations.shape[0]):
        measures[0, k], measures[1, k] = 0.0, 0.0
        if converged[k]:
            measures[0, k] = manipulability(arm, axis, configurations[k], scratch)
            measures[1, k] = limit_margin(arm, configurations[k])
