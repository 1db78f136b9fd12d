"""Newton steps that follow a target from where the joints are, inside their position limits.

Half the weighted squared distances between points of the end effector and their targets has first
and second derivatives in closed form. A step solves ``(N + C + damping) move = descent``. N is the
Gauss-Newton matrix. C, the curvature, counts where the target is not reached: without it steps
overshoot the closest approach, and the arm would shake there.
"""

from math import sqrt
from typing import NamedTuple

from jointwise.kernels._numba.arrays import OCTET, QUAD, TWIST, XYZ, stack_array
from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.algebra.linear import inverse_trace, solve_positive
from jointwise.kernels.algebra.trig import cos_sin
from jointwise.kernels.kinematics.box import free_motion, nearest_in_box, without_free_motion
from jointwise.kernels.kinematics.fk import copy_values, jacobian_column, joint_frames
from jointwise.kernels.kinematics.tasks import (
    point_count,
    position_error,
    rotation_to_target,
    scaled_error_sq,
    transform_tips,
)
from jointwise.kernels.layout.arm import Arm
from jointwise.kernels.layout.arrays import Floats, Weights, packed_view
from jointwise.kernels.layout.motion import MOTION_LOWER, MOTION_UPPER
from jointwise.kernels.layout.task import BOX_ROWS, Task
from jointwise.kernels.motion.limits import clamp

# Trials of a step with more and more damping.
MAX_TRIALS, MORE_DAMPING = 6, 16.0
# A step aims at a point no farther away than this, and moves no joint farther [rad].
MAX_AHEAD, MAX_JOINT_MOVE = 0.2, 0.5
# Damping [rad²] far from singularities; within NEAR_SINGULAR of one it rises to NEWTON_MAX_DAMPING.
NEWTON_MIN_DAMPING, NEWTON_MAX_DAMPING, NEAR_SINGULAR = 1e-6, 1e-3, 0.05
# Where a Gauss-Newton step would leave more than this share of the squared error, the curvature
# counts; damping is then this share of the error.
LARGE_RESIDUAL, CURVED_DAMPING = 0.25, 0.05
# A step may raise the squared error up to here [rad²], as spare motion does; one that moves the
# joints less than this [rad, m] is not tried.
NEGLIGIBLE, AT_REST = 1e-10, 1e-7


class NewtonWorkspace(NamedTuple):
    """Scratch of a Newton step.

    Attributes:
        frames: (n, 3, 4) the frame that each joint carries, base frame.
        jacobian: (n, 6) how each joint moves the tip; positions are divided by the angular scale.
        normal: (n, n) Gauss-Newton matrix, its lower triangle.
        curvature: (n, n) what it lacks to the matrix of second derivatives.
        matrix: (n, n) the two with damping, and its factor.
        vectors: (5, n) descent, spare motion, move, trial, scratch.
    """

    frames: Floats
    jacobian: Floats
    normal: Floats
    curvature: Floats
    matrix: Floats
    vectors: Floats


@jit
def unpack_newton(buffer: Floats, n: int) -> NewtonWorkspace:
    """The workspace in a buffer; its arrays are views."""
    square = n * n
    return NewtonWorkspace(
        packed_view(buffer, 0, (n, 3, 4)),
        packed_view(buffer, 12 * n, (n, 6)),
        packed_view(buffer, 18 * n, (n, n)),
        packed_view(buffer, 18 * n + square, (n, n)),
        packed_view(buffer, 18 * n + 2 * square, (n, n)),
        packed_view(buffer, 18 * n + 3 * square, (5, n)),
    )


@jit
def set_waypoint(task: Task, scale: float, tips_base: Floats, waypoint: Floats) -> float:
    """Write the target points, or points on the way to them; return the squared error [rad²].

    With a box, they are those of its nearest pose.
    """
    if len(task.weights) == BOX_ROWS:
        nearest = stack_array(QUAD, XYZ, scale)
        errors = nearest_in_box(tips_base, task.target_points, nearest)
        set_points_ahead(nearest, task.weights, scale, tips_base, waypoint)
        return scaled_error_sq(errors, 1.0 / scale)
    return set_points_ahead(task.target_points, task.weights, scale, tips_base, waypoint)


@jit_inline
def set_points_ahead(
    target_points: Floats, weights: Weights, scale: float, tips_base: Floats, waypoint: Floats
) -> float:
    """Write points, or points on the way to them; return the squared error [rad²].

    The way is straight for the position, and a rotation about one axis.
    """
    x, y, z, angle = rotation_to_target(tips_base, target_points)
    distance = scale * position_error(tips_base, target_points)
    error_sq = distance * distance
    if len(weights) > 1:
        error_sq += angle * angle
    share = min(1.0, MAX_AHEAD / max(sqrt(error_sq), MAX_AHEAD))
    cosine, sine = cos_sin(share * angle)
    axis_scale = 1.0 / max(angle, 1e-300)
    x, y, z = axis_scale * x, axis_scale * y, axis_scale * z
    for k in range(point_count(weights)):
        a, b, c = tips_base[k, 0], tips_base[k, 1], tips_base[k, 2]
        if share == 1.0:
            for row in range(3):
                waypoint[k, row] = target_points[k, row]
        elif k == 0:
            for row in range(3):
                ahead = share * (target_points[0, row] - tips_base[0, row])
                waypoint[0, row] = tips_base[0, row] + ahead
        else:
            along = (1.0 - cosine) * (x * a + y * b + z * c)
            waypoint[k, 0] = cosine * a + sine * (y * c - z * b) + along * x
            waypoint[k, 1] = cosine * b + sine * (z * a - x * c) + along * y
            waypoint[k, 2] = cosine * c + sine * (x * b - y * a) + along * z
    return error_sq


@jit_inline
def chord_error_sq(weights: Weights, scale: float, tips_base: Floats, waypoint: Floats) -> float:
    """Weighted sum of the squared distances between points and their waypoints [rad²]."""
    total = 0.0
    for k in range(point_count(weights)):
        for row in range(3):
            difference = waypoint[k, row] - tips_base[k, row]
            total += weights[k] * scale * scale * difference * difference
    return total


@jit_inline
def step_error_sq(task: Task, scale: float, tips_base: Floats, waypoint: Floats) -> float:
    """The squared error that a step must not raise [rad²]; with a box, what is outside of it."""
    if len(task.weights) == BOX_ROWS:
        nearest = stack_array(QUAD, XYZ, scale)
        errors = nearest_in_box(tips_base, task.target_points, nearest)
        return scaled_error_sq(errors, 1.0 / scale)
    return chord_error_sq(task.weights, scale, tips_base, waypoint)


@jit
def set_moments(
    weights: Weights, scale: float, tips_base: Floats, waypoint: Floats, moments: Floats
) -> None:
    """Write into ``moments (8, 3)`` what the directions contribute to all joints.

    In rows: the offset of the tip, the torque of the directions, and two matrices: that of their
    inertia, Σ w (1 - d dᵀ), and with the offset r of each that of its bend, Σ w (d rᵀ - d·r).
    """
    for row in range(3):
        moments[0, row], moments[1, row] = scale * (waypoint[0, row] - tips_base[0, row]), 0.0
        for column in range(3):
            moments[2 + row, column] = moments[5 + row, column] = 0.0
    for k in range(1, point_count(weights)):
        weight, dot = weights[k] * scale * scale, 0.0
        for row in range(3):
            dot += tips_base[k, row] * (waypoint[k, row] - tips_base[k, row])
        for row in range(3):
            d, after, last = tips_base[k, row], (row + 1) % 3, (row + 2) % 3
            torque = tips_base[k, after] * waypoint[k, last]
            torque -= tips_base[k, last] * waypoint[k, after]
            moments[1, row] += weight * torque
            for column in range(3):
                offset = waypoint[k, column] - tips_base[k, column]
                one = 1.0 if row == column else 0.0
                moments[2 + row, column] += weight * (one - d * tips_base[k, column])
                moments[5 + row, column] += weight * (d * offset - dot * one)


@jit_inline
def dot_row(moments: Floats, row: int, x: float, y: float, z: float) -> float:
    """A row of the moments times (x, y, z)."""
    product: float = moments[row, 0] * x + moments[row, 1] * y + moments[row, 2] * z
    return product


@jit
def fill_system(
    arm: Arm,
    weights: Weights,
    scale: float,
    tips_base: Floats,
    waypoint: Floats,
    workspace: NewtonWorkspace,
) -> None:
    """Write the descent direction and both matrices of half the ``chord_error_sq``.

    The second derivative of a point p by joints i and j, i nearer to the base, is z_i x dp/dq_j.
    """
    kinds, frames, jacobian = arm.kinds, workspace.frames, workspace.jacobian
    normal, curvature, descent = workspace.normal, workspace.curvature, workspace.vectors[0]
    tip = tips_base[0, 0], tips_base[0, 1], tips_base[0, 2]
    moments = stack_array(OCTET, XYZ, scale)
    set_moments(weights, scale, tips_base, waypoint, moments)
    f, g, h = moments[0, 0], moments[0, 1], moments[0, 2]
    for j in range(kinds.size):
        a, b, c, x, y, z = jacobian_column(kinds, frames, j, tip, scale)
        if len(weights) == BOX_ROWS:
            a, b, c, x, y, z = without_free_motion(tips_base, (a, b, c), (x, y, z))
        jacobian[j, 0], jacobian[j, 1], jacobian[j, 2] = a, b, c
        jacobian[j, 3], jacobian[j, 4], jacobian[j, 5] = x, y, z
        descent[j] = dot_row(moments, 0, a, b, c) + dot_row(moments, 1, x, y, z)
        u, v = dot_row(moments, 2, x, y, z), dot_row(moments, 3, x, y, z)
        w = dot_row(moments, 4, x, y, z)
        p = b * h - c * g + dot_row(moments, 5, x, y, z)
        q = c * f - a * h + dot_row(moments, 6, x, y, z)
        r = a * g - b * f + dot_row(moments, 7, x, y, z)
        for i in range(j + 1):
            normal[j, i] = jacobian[i, 0] * a + jacobian[i, 1] * b + jacobian[i, 2] * c
            x, y, z = jacobian[i, 3], jacobian[i, 4], jacobian[i, 5]
            normal[j, i] += x * u + y * v + z * w
            curvature[j, i] = -(x * p + y * q + z * r)


@jit
def singular_damping(weights: Weights, tips_base: Floats, workspace: NewtonWorkspace) -> float:
    """Damping [rad²]: the least far from singularities, more the nearer one is.

    The measure is 1 / trace((J Jᵀ)⁻¹), at most the square of the smallest singular value of J.
    """
    normal, jacobian = workspace.normal, workspace.jacobian
    n, m = normal.shape[0], len(weights)
    rows = 3 if m == 1 else 6
    matrix = stack_array(TWIST, TWIST, 0.0)
    if n < rows or (m == 2 and n < 6):
        for i in range(n):
            for j in range(i + 1):
                matrix[i, j] = normal[i, j]
        rows = n
    else:
        for row in range(rows):
            for column in range(row + 1):
                matrix[row, column] = 0.0
                if m == 2 and column >= 3:  # rotation about the aimed axis is free: full rank again
                    matrix[row, column] = tips_base[1, row - 3] * tips_base[1, column - 3]
                if m == BOX_ROWS:
                    matrix[row, column] = free_motion(tips_base, row, column)
                for i in range(n):
                    matrix[row, column] += jacobian[i, row] * jacobian[i, column]
    share = 1.0 / (inverse_trace(matrix, rows) * NEAR_SINGULAR * NEAR_SINGULAR)
    near = max(1.0 - share, 0.0)
    return NEWTON_MIN_DAMPING + NEWTON_MAX_DAMPING * near * near


@jit
def solve_move(
    limits: Floats, damping: float, curved: float, q: Floats, workspace: NewtonWorkspace
) -> bool:
    """Write the damped Newton step, inside the position limits; whether it exists and is short.

    A joint at a limit that would be pushed outward is fixed.
    """
    normal, curvature, matrix = workspace.normal, workspace.curvature, workspace.matrix
    descent, spare_motion, move = workspace.vectors[0], workspace.vectors[1], workspace.vectors[2]
    n = q.size
    for i in range(n):
        move[i] = descent[i] + damping * spare_motion[i]
    for i in range(n):
        outward = pushes_outward(limits, i, q[i], move[i])
        for j in range(i + 1):
            value = normal[i, j] + curved * curvature[i, j]
            other = pushes_outward(limits, j, q[j], descent[j] + damping * spare_motion[j])
            matrix[i, j] = 0.0 if outward or other else value
        matrix[i, i] = 1.0 if outward else matrix[i, i] + damping
        if outward:
            move[i] = 0.0
    solve_positive(matrix, move, workspace.vectors[4], n)
    for i in range(n):
        if not abs(move[i]) <= MAX_JOINT_MOVE:  # also if it is not a number
            return False
        move[i] = clamp(q[i] + move[i], limits[i, MOTION_LOWER], limits[i, MOTION_UPPER]) - q[i]
    return True


@jit_inline
def pushes_outward(limits: Floats, i: int, position: float, push: float) -> bool:
    """Whether joint i is at a limit and would be pushed beyond."""
    return (push > 0.0 and position >= limits[i, MOTION_UPPER]) or (
        push < 0.0 and position <= limits[i, MOTION_LOWER]
    )


@jit_inline
def remaining_share(damping: float, before: float, workspace: NewtonWorkspace) -> float:
    """Share of the squared error ``before`` that a Gauss-Newton step leaves, if all were linear."""
    descent, move, gained = workspace.vectors[0], workspace.vectors[2], 0.0
    for i in range(descent.size):
        gained += (descent[i] + damping * move[i]) * move[i]
    return 1.0 - gained / max(before, 1e-300)


@jit
def newton_step(
    arm: Arm,
    task: Task,
    limits: Floats,
    waypoint: Floats,
    q: Floats,
    tips_base: Floats,
    workspace: NewtonWorkspace,
) -> float:
    """Move ``q`` by a Newton step, with more damping until it does not raise the error.

    Returns the largest move of a joint [rad, m]; 0 if every trial is worse.
    """
    frames, move, trial = workspace.frames, workspace.vectors[2], workspace.vectors[3]
    weights, scale = task.weights, 1.0 / arm.angular_scale
    before = chord_error_sq(weights, scale, tips_base, waypoint)
    most = step_error_sq(task, scale, tips_base, waypoint) if len(weights) == BOX_ROWS else before
    damping = singular_damping(weights, tips_base, workspace)
    solved = solve_move(limits, damping, 0.0, q, workspace)
    if solved and remaining_share(damping, before, workspace) > LARGE_RESIDUAL:
        curved_damping = damping + CURVED_DAMPING * sqrt(before)
        solved = solve_move(limits, curved_damping, 1.0, q, workspace)
    for _ in range(MAX_TRIALS):
        if solved:
            longest = 0.0
            for i in range(q.size):
                trial[i] = q[i] + move[i]
                longest = max(longest, abs(move[i]))
            joint_frames(arm, trial, frames)
            transform_tips(frames, task.tip_points, tips_base)
            after = step_error_sq(task, scale, tips_base, waypoint)
            if longest < AT_REST or after <= max(most, NEGLIGIBLE):
                copy_values(trial, q)
                return longest
        # Far from a minimum the curvature may mislead, so it is left out.
        damping *= MORE_DAMPING
        solved = solve_move(limits, damping, 0.0, q, workspace)
    joint_frames(arm, q, frames)
    transform_tips(frames, task.tip_points, tips_base)
    return 0.0
