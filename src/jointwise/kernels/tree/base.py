"""The best pose of a free base (Horn 1987): the first move of an attempt of a whole robot.

The energy is E = sum of w |e - t|² over the points e of all targets, which should come to t, and
over their directions. As a function of the base's pose it needs only sums over the targets:

    W = sum w,   P = sum w e,   Q = sum w t,   K = sum w e t^T   (directions count in K only)
"""

from math import sqrt

from jointwise.kernels._numba.arrays import XYZ, stack_array
from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.tree import (
    MOMENTS,
    TARGET_DIRECTIONS,
    TARGET_ORIENTATION_WEIGHT,
    TARGET_POINT,
    TARGET_POSITION_WEIGHT,
    TreeMemory,
    TreeProblem,
)
from jointwise.kernels.tree.couplings import is_coupled
from jointwise.kernels.tree.fk import POINTS, transform_target

# Columns of the sums, in the memory of the moments: W, P, Q and K, row by row.
W, P, Q, K = 0, 1, 4, 7
# Of the largest eigenvalue: smaller differences are none.
SAME_EIGENVALUE = 1e-9


@jit_inline
def direction_weight(target: Floats) -> float:
    """Weight of each direction of a target: a small rotation moves two of three directions."""
    return float(
        target[TARGET_ORIENTATION_WEIGHT] * (0.5 if target[TARGET_DIRECTIONS] == 3.0 else 1.0)
    )


@jit
def sum_targets(
    problem: TreeProblem, targets: Floats, state: Floats, memory: TreeMemory, sums: Floats
) -> None:
    """Write the sums over all targets, about the base's origin, after ``evaluate``.

    Targets that couple branches are left out.
    """
    at = problem.strides.size
    for column in range(MOMENTS):
        sums[column] = 0.0
    points = stack_array(POINTS, XYZ, 0.0)
    for k in range(problem.target_joints.size):
        if is_coupled(problem, k):
            continue
        target = targets[k]
        transform_target(problem, state, memory.frames, target, k, points)
        sums[W] += target[TARGET_POSITION_WEIGHT]
        for p in range(int(target[TARGET_DIRECTIONS]) + 1):
            weight = target[TARGET_POSITION_WEIGHT] if p == 0 else direction_weight(target)
            for column in range(3):
                wanted = target[TARGET_POINT + 3 * p + column]
                if p == 0:
                    wanted -= state[at + 3 + 4 * column]
                    sums[P + column] += weight * points[0, column]
                    sums[Q + column] += weight * wanted
                for row in range(3):
                    sums[K + 3 * row + column] += weight * points[p, row] * wanted


@jit
def fit_base(problem: TreeProblem, targets: Floats, state: Floats, memory: TreeMemory) -> None:
    """Move the base to its best pose, after ``evaluate``; its moments are no longer valid.

    Of equally good rotations it takes the smallest.
    """
    sums, at = memory.moments[0], problem.strides.size
    sum_targets(problem, targets, state, memory, sums)
    total = sums[W]
    if total > 0.0:
        x, y, z = sums[P] / total, sums[P + 1] / total, sums[P + 2] / total
        a, b, c = sums[Q] / total, sums[Q + 1] / total, sums[Q + 2] / total
        for row in range(3):  # K about both centres
            for column in range(3):
                sums[K + 3 * row + column] -= sums[P + row] * sums[Q + column] / total
    else:
        x, y, z, a, b, c = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    n = stack_array(POINTS, POINTS, 0.0)
    trace = sums[K] + sums[K + 4] + sums[K + 8]
    n[0, 0] = trace
    n[0, 1] = sums[K + 5] - sums[K + 7]
    n[0, 2] = sums[K + 6] - sums[K + 2]
    n[0, 3] = sums[K + 1] - sums[K + 3]
    for i in range(3):
        for j in range(3):
            n[i + 1, j + 1] = sums[K + 3 * i + j] + sums[K + 3 * j + i]
        n[i + 1, i + 1] -= trace
        n[i + 1, 0] = n[0, i + 1]
    vectors = stack_array(POINTS, POINTS, 0.0)
    diagonalise(n, vectors)
    largest, scale = n[0, 0], 0.0
    for i in range(4):
        largest, scale = max(largest, n[i, i]), max(scale, abs(n[i, i]))
    q = (0.0, 0.0, 0.0, 0.0)
    for i in range(4):  # the identity, projected on the space of the best quaternions
        if n[i, i] >= largest - SAME_EIGENVALUE * scale:
            w = vectors[0, i]
            q = (
                q[0] + w * vectors[0, i],
                q[1] + w * vectors[1, i],
                q[2] + w * vectors[2, i],
                q[3] + w * vectors[3, i],
            )
    size = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    if size < SAME_EIGENVALUE * SAME_EIGENVALUE:  # half a turn: any of them
        for i in range(4):
            if n[i, i] == largest:
                q = (vectors[0, i], vectors[1, i], vectors[2, i], vectors[3, i])
        size = 1.0
    move_base(state, at, q, 1.0 / sqrt(size), (x, y, z), (a, b, c))


@jit
def move_base(
    state: Floats,
    at: int,
    q: tuple[float, float, float, float],
    scale: float,
    centre: tuple[float, float, float],
    target: tuple[float, float, float],
) -> None:
    """Rotate the base by a quaternion, w first, so that a point of it comes to a target.

    Both points are from the base's origin.
    """
    w, i, j, k = scale * q[0], scale * q[1], scale * q[2], scale * q[3]
    for column in range(3):
        a, b, c = state[at + column], state[at + 4 + column], state[at + 8 + column]
        x, y, z = _rotated(w, i, j, k, a, b, c)
        state[at + column], state[at + 4 + column], state[at + 8 + column] = x, y, z
    x, y, z = _rotated(w, i, j, k, centre[0], centre[1], centre[2])
    state[at + 3] += target[0] - x
    state[at + 7] += target[1] - y
    state[at + 11] += target[2] - z


@jit_inline
def _rotated(
    w: float, i: float, j: float, k: float, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """A point, rotated by the quaternion (w, i, j, k)."""
    a, b, c = 2.0 * (j * z - k * y), 2.0 * (k * x - i * z), 2.0 * (i * y - j * x)
    return x + w * a + j * c - k * b, y + w * b + k * a - i * c, z + w * c + i * b - j * a


@jit
def diagonalise(matrix: Floats, vectors: Floats) -> None:
    """Make a symmetric matrix diagonal by Jacobi rotations; the columns of ``vectors`` turn it."""
    n = matrix.shape[0]
    for i in range(n):
        for j in range(n):
            vectors[i, j] = 1.0 if i == j else 0.0
    for _ in range(12):
        off, size = 0.0, 0.0
        for i in range(n):
            size += abs(matrix[i, i])
            for j in range(i):
                off += abs(matrix[i, j])
        if off <= 1e-15 * size:
            break
        for i in range(n):
            for j in range(i + 1, n):
                if matrix[i, j] != 0.0:
                    _rotate_pair(matrix, vectors, i, j)


@jit
def _rotate_pair(matrix: Floats, vectors: Floats, i: int, j: int) -> None:
    slope = 0.5 * (matrix[j, j] - matrix[i, i]) / matrix[i, j]
    t = 1.0 / (abs(slope) + sqrt(slope * slope + 1.0))
    t = -t if slope < 0.0 else t
    c = 1.0 / sqrt(t * t + 1.0)
    s = t * c
    for k in range(matrix.shape[0]):
        a, b = matrix[k, i], matrix[k, j]
        matrix[k, i], matrix[k, j] = c * a - s * b, s * a + c * b
    for k in range(matrix.shape[0]):
        a, b = matrix[i, k], matrix[j, k]
        matrix[i, k], matrix[j, k] = c * a - s * b, s * a + c * b
        a, b = vectors[k, i], vectors[k, j]
        vectors[k, i], vectors[k, j] = c * a - s * b, s * a + c * b
    matrix[i, j] = matrix[j, i] = 0.0
