"""How good a configuration is: how freely the tip moves, and how far the limits are."""

from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from jointwise.kernels import LOWER, REVOLUTE, UPPER, Arm, Floats
from jointwise.kernels.fk import joint_frames, out_of, unpacked
from jointwise.kernels.jit import hot, jit

# Room for frames, the Jacobian and its Gram's matrix.
Scratch = tuple[Floats, Floats, Floats]


@jit
def margin(arm: Arm, q: Floats) -> float:
    """Distance to the nearest limit, as a share of half the joint's range: 1 is the middle.

    Joints without a range have nothing to be near to.
    """
    _, kinds, bounds, _ = arm
    least = 1.0
    for i in range(kinds.size):
        half = 0.5 * (bounds[i, UPPER] - bounds[i, LOWER])
        if 0.0 < half < inf:
            least = min(least, min(q[i] - bounds[i, LOWER], bounds[i, UPPER] - q[i]) / half)
    return max(least, 0.0)


@jit
def volume(jacobian: Floats, gram: Floats) -> float:
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
    for i in range(size):  # Cholesky's factor, whose diagonal has the same product
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


@hot
def quality(arm: Arm, axis: Floats, q: Floats, scratch: Scratch) -> tuple[float, float]:
    """How freely the tip moves at ``q``, its manipulability; and the margin.

    The rows of the Jacobian are how much of the tip's motion counts: 3 its velocity, 5 also the
    two turns across ``axis`` (of the tip), 6 all.
    """
    links, kinds, _, _ = arm
    frames, jacobian, gram = scratch
    rows, n = jacobian.shape
    joint_frames(links, kinds, q, frames)
    x, y, z = out_of(frames, n - 1, links[n, 0, 3], links[n, 1, 3], links[n, 2, 3])
    x, y, z = x + frames[n - 1, 0, 3], y + frames[n - 1, 1, 3], z + frames[n - 1, 2, 3]
    a, b, c = out_of(links, n, axis[0], axis[1], axis[2])
    a, b, c = out_of(frames, n - 1, a, b, c)
    # Two directions across the axis: the first also across the x or y that is farther from it.
    d, e, f = (0.0, c, -b) if abs(a) < 0.6 else (-c, 0.0, a)
    size = sqrt(d * d + e * e + f * f)
    d, e, f = d / size, e / size, f / size
    g, h, k = b * f - c * e, c * d - a * f, a * e - b * d
    for i in range(n):
        u, v, w = frames[i, 0, 2], frames[i, 1, 2], frames[i, 2, 2]
        turns = kinds[i] == REVOLUTE
        if turns:
            p, s, r = x - frames[i, 0, 3], y - frames[i, 1, 3], z - frames[i, 2, 3]
            jacobian[0, i], jacobian[1, i] = v * r - w * s, w * p - u * r
            jacobian[2, i] = u * s - v * p
        else:
            jacobian[0, i], jacobian[1, i], jacobian[2, i] = u, v, w
        for j in range(3, rows):
            jacobian[j, i] = 0.0
        if turns and rows == 5:
            jacobian[3, i], jacobian[4, i] = u * d + v * e + w * f, u * g + v * h + w * k
        elif turns and rows == 6:
            jacobian[3, i], jacobian[4, i], jacobian[5, i] = u, v, w
    return volume(jacobian, gram), margin(arm, q)


@jit
def measure(
    block: Floats,
    values: Floats,
    chosen: NDArray[np.bool_],
    axis: Floats,
    rows: int,
    freedom: Floats,
    spare: Floats,
) -> None:
    """Write manipulability and margin of each configuration; zeros of what is not ``chosen``."""
    n = values.shape[1]
    arm, _ = unpacked(block, n)
    scratch = np.empty((n, 3, 4)), np.empty((rows, n)), np.empty((6, 6))
    for row in range(values.shape[0]):
        freedom[row], spare[row] = 0.0, 0.0
        if chosen[row]:
            freedom[row], spare[row] = quality(arm, axis, values[row], scratch)
