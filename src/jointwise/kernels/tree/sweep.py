"""A CCD sweep over a tree with many targets, and the best pose of a free base.

The energy is E = sum of w |e - t|² over the points e of all targets, which should come to t, and
over their directions. As a function of one joint it needs only sums over the targets beyond it:

    W = sum w,   P = sum w e,   Q = sum w t,   K = sum w e t^T   (directions count in K only)

From the last joint to the first, each takes its best value, and the sums beyond it move with
it. What a joint moves is beyond it, so frames are computed once. E never rises.
"""

from math import ceil, sqrt

from jointwise.kernels._numba.arrays import XYZ, stack_array
from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.algebra.trig import TURN, cos_sin, polar_angle
from jointwise.kernels.layout.arm import REVOLUTE
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
from jointwise.kernels.tree.fk import POINTS, transform_target, tree_frames

# Columns of the sums, in the memory of the moments: W, P, Q and K, row by row.
W, P, Q, K = 0, 1, 4, 7
# Of the largest eigenvalue: smaller differences are none, and sums that small turn nothing.
SAME_EIGENVALUE = 1e-9


@jit_inline
def direction_weight(target: Floats) -> float:
    """Weight of each direction of a target: a small rotation moves two of three directions."""
    return float(
        target[TARGET_ORIENTATION_WEIGHT] * (0.5 if target[TARGET_DIRECTIONS] == 3.0 else 1.0)
    )


@jit
def fill_sums(problem: TreeProblem, targets: Floats, state: Floats, memory: TreeMemory) -> None:
    """Write the sums over the targets on the link group of each joint."""
    sums, target_joints, at = memory.moments, problem.target_joints, problem.strides.size
    for i in range(sums.shape[0]):
        for column in range(MOMENTS):
            sums[i, column] = 0.0
    points = stack_array(POINTS, XYZ, 0.0)
    for k in range(target_joints.size):
        target, i = targets[k], target_joints[k] + 1
        transform_target(problem, state, memory.frames, target, k, points)
        sums[i, W] += target[TARGET_POSITION_WEIGHT]
        for p in range(int(target[TARGET_DIRECTIONS]) + 1):
            weight = target[TARGET_POSITION_WEIGHT] if p == 0 else direction_weight(target)
            for column in range(3):
                wanted = target[TARGET_POINT + 3 * p + column]
                if p == 0:
                    wanted -= state[at + 3 + 4 * column]
                    sums[i, P + column] += weight * points[0, column]
                    sums[i, Q + column] += weight * wanted
                for row in range(3):
                    sums[i, K + 3 * row + column] += weight * points[p, row] * wanted


@jit_inline
def shift(sums: Floats, x: float, y: float, z: float) -> None:
    """Take the sums about an origin that is moved by (x, y, z)."""
    by = (x, y, z)
    for row in range(3):
        for column in range(3):
            sums[K + 3 * row + column] += (
                sums[W] * by[row] * by[column]
                - by[row] * sums[Q + column]
                - sums[P + row] * by[column]
            )
    for row in range(3):
        sums[P + row] -= sums[W] * by[row]
        sums[Q + row] -= sums[W] * by[row]


@jit_inline
def turn(sums: Floats, x: float, y: float, z: float, angle: float) -> None:
    """Turn the points e of the sums about an axis of length 1 through the origin."""
    c, s = cos_sin(angle)
    for at in (P, K, K + 1, K + 2):
        step = 1 if at == P else 3
        a, b, d = sums[at], sums[at + step], sums[at + 2 * step]
        along = (1.0 - c) * (x * a + y * b + z * d)
        sums[at] = c * a + s * (y * d - z * b) + along * x
        sums[at + step] = c * b + s * (z * a - x * d) + along * y
        sums[at + 2 * step] = c * d + s * (x * b - y * a) + along * z


@jit
def best_angle(a: float, b: float, least: float, greatest: float) -> float:
    """The angle between limits that are around 0 for which a cos + b sin is greatest."""
    angle = polar_angle(a, b)
    if angle < least:
        angle += TURN * ceil((least - angle) / TURN)
    elif angle > greatest:
        angle -= TURN * ceil((angle - greatest) / TURN)
    if least <= angle <= greatest:
        return angle
    (c, s), (d, t) = cos_sin(least), cos_sin(greatest)
    angle = least if a * c + b * s > a * d + b * t else greatest
    c, s = cos_sin(angle)
    return angle if a * c + b * s > a else 0.0


@jit
def sweep_tree(problem: TreeProblem, targets: Floats, state: Floats, memory: TreeMemory) -> None:
    """Move every joint to its best value, from the last to the first, then a free base.

    Joints that share a variable keep their values.
    """
    parents, kinds, variables = problem.parents, problem.kinds, problem.variables
    ratios, alone = problem.ratios, problem.alone
    frames, lower, upper = memory.frames, memory.lower, memory.upper
    tree_frames(problem, state, frames)
    fill_sums(problem, targets, state, memory)
    for i in range(parents.size - 1, -1, -1):
        sums, v = memory.moments[i + 1], variables[i]
        if alone[i] != 0 and lower[v] < upper[v] and ratios[i] != 0.0:
            value, x, y, z = state[v], frames[i, 0, 2], frames[i, 1, 2], frames[i, 2, 2]
            least, greatest = ratios[i] * (lower[v] - value), ratios[i] * (upper[v] - value)
            least, greatest = min(least, greatest), max(least, greatest)
            move = 0.0
            if kinds[i] == REVOLUTE:
                a, b, c = frames[i, 0, 3], frames[i, 1, 3], frames[i, 2, 3]
                shift(sums, a, b, c)
                # e_x t_x + e_y t_y and e_x t_y - e_y t_x, in axes whose z is the joint's
                dot, size = sums[K] + sums[K + 4] + sums[K + 8], 0.0
                cross = x * (sums[K + 5] - sums[K + 7]) + y * (sums[K + 6] - sums[K + 2])
                cross += z * (sums[K + 1] - sums[K + 3])
                for at in range(K, K + 9):
                    size += abs(sums[at])
                for row in range(3):
                    dot -= frames[i, row, 2] * (
                        x * sums[K + row] + y * sums[K + row + 3] + z * sums[K + row + 6]
                    )
                if sqrt(dot * dot + cross * cross) > SAME_EIGENVALUE * size:
                    move = best_angle(dot, cross, least, greatest)
                    turn(sums, x, y, z, move)
                shift(sums, -a, -b, -c)
            elif sums[W] > 0.0:
                for row in range(3):
                    move += frames[i, row, 2] * (sums[Q + row] - sums[P + row])
                move = max(least, min(greatest, move / sums[W]))
                for row in range(3):
                    e = move * frames[i, row, 2]
                    sums[P + row] += sums[W] * e
                    for column in range(3):
                        sums[K + 3 * row + column] += e * sums[Q + column]
            state[v] = max(lower[v], min(upper[v], value + move / ratios[i]))
        above = parents[i] + 1
        for column in range(MOMENTS):
            memory.moments[above, column] += sums[column]
    if problem.base_unknowns > 0:
        fit_base(problem.strides.size, memory.moments[0], state)


@jit
def fit_base(at: int, sums: Floats, state: Floats) -> None:
    """Move the base to its best pose (Horn 1987); ``sums`` are of all targets, from its origin.

    Of equally good rotations it takes the smallest.
    """
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
