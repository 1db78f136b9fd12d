"""What a target asks for, as points and directions, and how far off the end effector is.

The number of points of a task, m = 1 + its directions, tells the kinds of targets apart: a
position has no direction, an aim has one, a pose has three; a pose with a tolerance box has six
rows more. m is the length of the weights, so it is known when a kernel is compiled.
"""

from math import pi, sin, sqrt

import numpy as np

from jointwise.kernels._numba.arrays import QUAD, XYZ, stack_array
from jointwise.kernels._numba.jit import ir_inline, jit, jit_inline
from jointwise.kernels._numba.where import any_lane, where
from jointwise.kernels.algebra.trig import polar_angle
from jointwise.kernels.kinematics.box import nearest_in_box, nearest_to_base, set_box_task
from jointwise.kernels.kinematics.fk import Point, beyond_reach, joint_frames, rotate
from jointwise.kernels.layout.arm import Arm, unpack_arm
from jointwise.kernels.layout.arrays import Errors, Floats, Weights
from jointwise.kernels.layout.task import BOX_ROWS, MAX_POINTS, Criteria, Task

# Shape of a packed target, by its number of points: a position is (1, 3); an aim is (3, 3):
# position, direction, and the axis in the frame of the tip; a pose is (4, 4); with a box (8, 4).
TARGET_SHAPES = {1: (1, 3), 2: (3, 3), 4: (4, 4), BOX_ROWS: (8, 4)}


@ir_inline
def residual_size(weights: Weights) -> int:
    """Numbers in the residual: three for a position, six where orientation counts."""
    return 3 if len(weights) == 1 else 6


@ir_inline
def point_count(weights: Weights) -> int:
    """Points of a task: the position and the directions, without the rows of a box."""
    return min(len(weights), MAX_POINTS)


@jit
def set_task(arm: Arm, target: Floats, task: Task) -> None:
    """Write the points of a packed target into the task."""
    links, tips, points = arm.links, task.tip_points, task.target_points
    n, m = links.shape[0] - 1, len(task.weights)
    if m == BOX_ROWS:
        set_box_task(arm, target, task)
        return
    for k in range(m):
        for row in range(3):
            if k == 0 or m == 4:
                tips[k, row] = links[n, row, (k + 3) % 4]
            else:
                tips[k, row] = 0.0
                for column in range(3):
                    tips[k, row] += links[n, row, column] * target[2, column]
            points[k, row] = target[row, (k + 3) % 4] if m == 4 else target[k, row]


def unpack_problem(
    packed_arm: Floats, n: int, target: Floats, weights: Weights
) -> tuple[Arm, Task]:
    """The arm of n joints and the task, to call the parts of a solve one by one."""
    arm, m = unpack_arm(packed_arm, n), len(weights)
    task = Task(np.empty((m, 3)), np.empty((m, 3)), weights)
    set_task(arm, target, task)
    return arm, task


@jit
def rotation_defect(target: Floats, target_points: Floats) -> float:
    """How far a target is from unit directions at right angles, right-handed, last row 0, 0, 0, 1.

    The last row is that of a pose.
    """
    m, worst = min(target_points.shape[0], MAX_POINTS), 0.0
    if m == 4:
        for k in range(4):
            worst = max(worst, abs(target[3, k] - (1.0 if k == 3 else 0.0)))
    for j in range(1, m):
        for k in range(1, j + 1):
            dot = target_points[j, 0] * target_points[k, 0]
            dot = dot + target_points[j, 1] * target_points[k, 1]
            dot = dot + target_points[j, 2] * target_points[k, 2]
            worst = max(worst, abs(dot - (1.0 if j == k else 0.0)))
    if m == 4:
        a, b, c = target_points[1, 0], target_points[1, 1], target_points[1, 2]
        d, e, f = target_points[2, 0], target_points[2, 1], target_points[2, 2]
        x, y, z = b * f - c * e, c * d - a * f, a * e - b * d
        worst = max(worst, abs(x - target_points[3, 0]))
        worst = max(worst, abs(y - target_points[3, 1]), abs(z - target_points[3, 2]))
    return worst


@jit_inline
def transform_tips(frames: Floats, tip_points: Floats, tips_base: Floats) -> None:
    """Write the tip points in the base frame, from the frame that the last joint carries."""
    last = frames.shape[0] - 1
    for k in range(min(tip_points.shape[0], MAX_POINTS)):
        tips_base[k, 0], tips_base[k, 1], tips_base[k, 2] = rotate(
            frames, last, tip_points[k, 0], tip_points[k, 1], tip_points[k, 2]
        )
    for axis in range(3):
        tips_base[0, axis] += frames[last, axis, 3]


@jit_inline
def position_error(tips_base: Floats, target_points: Floats) -> float:
    """Distance between tip and target [m]."""
    x = target_points[0, 0] - tips_base[0, 0]
    y = target_points[0, 1] - tips_base[0, 1]
    z = target_points[0, 2] - tips_base[0, 2]
    return sqrt(x * x + y * y + z * z)


@jit_inline
def rotation_to_target(
    tips_base: Floats, target_points: Floats
) -> tuple[float, float, float, float]:
    """(x, y, z, angle): the rotation that brings the tip's directions onto the target's.

    (x, y, z) is the rotation vector, its axis times the angle [rad]. With one direction it is the
    shortest rotation, with three the only one.
    """
    zero, directions = 0.0 * tips_base[0, 0], target_points.shape[0] - 1
    x, y, z, dots = zero, zero, zero, zero
    for k in range(1, directions + 1):
        a, b, c = tips_base[k, 0], tips_base[k, 1], tips_base[k, 2]
        d, e, f = target_points[k, 0], target_points[k, 1], target_points[k, 2]
        x, y, z = x + b * f - c * e, y + c * d - a * f, z + a * e - b * d
        dots = dots + (a * d + b * e + c * f)
    if directions == 3:  # the cross products sum to 2 sin, the dot products to 1 + 2 cos
        x, y, z, dots = 0.5 * x, 0.5 * y, 0.5 * z, 0.5 * (dots - 1.0)
    size = sqrt(x * x + y * y + z * z)
    angle = polar_angle(dots, size)
    tiny, obtuse = size <= 1e-12, dots < 0.0
    scale = where(tiny, 1.0, angle / where(tiny, 1.0, size))
    angle = where(tiny, size, angle)
    x, y, z = scale * x, scale * y, scale * z
    opposite = tiny & obtuse
    if any_lane(opposite):
        a, b, c = half_turn(tips_base, target_points)
        x, y, z = where(opposite, a, x), where(opposite, b, y), where(opposite, c, z)
        angle = where(opposite, pi, angle)
    return x, y, z, angle


@jit
def half_turn(tips_base: Floats, target_points: Floats) -> Point:
    """Rotation vector of half a turn: its axis bisects each direction and its target.

    With one direction, any axis at a right angle to it will do.
    """
    a, b, c = tips_base[1, 0], tips_base[1, 1], tips_base[1, 2]
    flat = abs(a) < 0.6
    x, y, z = where(flat, 0.0, -c), where(flat, c, 0.0), where(flat, -b, a)
    longest = 1e-6 + 0.0 * a
    for k in range(1, target_points.shape[0]):
        a = tips_base[k, 0] + target_points[k, 0]
        b = tips_base[k, 1] + target_points[k, 1]
        c = tips_base[k, 2] + target_points[k, 2]
        size = sqrt(a * a + b * b + c * c)
        longer = size > longest
        x, y, z = where(longer, a, x), where(longer, b, y), where(longer, c, z)
        longest = where(longer, size, longest)
    scale = pi / sqrt(x * x + y * y + z * z)
    return scale * x, scale * y, scale * z


@jit
def task_errors(arm: Arm, task: Task, q: Floats) -> Errors:
    """(position error [m], orientation error [rad]) at ``q``, by forward kinematics."""
    frames = np.empty((arm.kinds.size, 3, 4))
    tips_base = stack_array(task.weights, XYZ, 0.0)
    joint_frames(arm, q, frames)
    transform_tips(frames, task.tip_points, tips_base)
    return tip_errors(task, tips_base)


@jit_inline
def tip_errors(task: Task, tips_base: Floats) -> Errors:
    """(position error [m], orientation error [rad]) of the tip points in the base frame."""
    if len(task.weights) == BOX_ROWS:
        nearest = stack_array(QUAD, XYZ, 0.0)
        return nearest_in_box(tips_base, task.target_points, nearest)
    distance = position_error(tips_base, task.target_points)
    if len(task.weights) == 1:
        return distance, 0.0
    return distance, rotation_to_target(tips_base, task.target_points)[3]


@jit_inline
def is_converged(errors: Errors, criteria: Criteria, weights: Weights) -> bool:
    """Whether the errors are below their tolerances; without directions, the angle is ignored."""
    within_tol = errors[0] < criteria.position_tol
    if len(weights) == 1:
        return within_tol
    return within_tol & (errors[1] < criteria.orientation_tol)


@jit_inline
def scaled_error_sq(errors: Errors, angular_scale: float) -> float:
    """The squared error [rad²]: the position error counts as the angle it weighs as much as."""
    scaled = (1.0 / angular_scale) * errors[0]
    return scaled * scaled + errors[1] * errors[1]


@jit
def chord_tolerance_sq(orientation_tol: float, weights: Weights) -> float:
    """Sum of the squared chords of all directions that a rotation by the tolerance makes."""
    half = sin(0.5 * min(orientation_tol, 3.0))
    return (8.0 if len(weights) >= 4 else 4.0) * half * half


@jit_inline
def is_too_far(arm: Arm, task: Task, criteria: Criteria) -> bool:
    """Whether the target, with all of its box, is beyond reach."""
    x, y, z = task.target_points[0, 0], task.target_points[0, 1], task.target_points[0, 2]
    tolerance = criteria.position_tol
    if len(task.weights) == BOX_ROWS:
        x, y, z, radius = nearest_to_base(arm, task.target_points)
        tolerance = tolerance + radius
    return beyond_reach(arm, x, y, z, tolerance)
