"""Which candidates reach the target: joint values, refined and checked by forward kinematics."""

from math import floor

import numpy as np

from jointwise.kernels._numba.arrays import XYZ, stack_array
from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels._numba.where import HAS_LANES
from jointwise.kernels.algebra.trig import TURN, polar_angle
from jointwise.kernels.closed_form.candidates import joint_of
from jointwise.kernels.closed_form.structures import GROUPS, LANE
from jointwise.kernels.kinematics.fk import joint_frames
from jointwise.kernels.kinematics.tasks import scaled_error_sq, set_task, transform_tips
from jointwise.kernels.layout.arm import REVOLUTE, Arm
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.closed_form import SAME_SOLUTION
from jointwise.kernels.layout.slots import WIDTH
from jointwise.kernels.layout.task import Task
from jointwise.kernels.serial.lm import LMWorkspace, evaluate_residual, fill_jacobian, solve_damped
from jointwise.kernels.serial.search import lm_scratch

# Largest error of a solution [m, rad], the share of it above which steps are made, and most steps.
EXACT, STEP_ABOVE, REFINE_STEPS = 1e-9, 0.01, 12
# Damping of the steps: the least, and as a share of the squared error.
REFINE_MIN_DAMPING, REFINE_DAMPING = 1e-16, 0.05
# Rows of the joint values of all candidates, seven joints at most.
VALUE_ROWS = (0,) * (7 * GROUPS)


@jit_inline
def convert_group(
    arm: Arm,
    task: Task,
    order: tuple[bool, int],
    group: int,
    candidates: Floats,
    q: Floats,
    frames: Floats,
    tips_base: Floats,
) -> float:
    """Write the joint values of candidates into ``q``: the square of their error [m²].

    Orientation counts by the chords of its axes, which a small rotation moves by its angle. The
    same lines for one candidate and for the lanes of a group; ``order`` is whether the arm is
    turned around, and the fixed joint, whose value is in ``q`` already.
    """
    kinds, n = arm.kinds, arm.kinds.size
    count = n if order[1] < 0 else n - 1
    for i in range(count):
        joint = joint_of(i, order[0], order[1]) if count == 6 else i
        u, v = candidates[2 * GROUPS * i + group], candidates[GROUPS * (2 * i + 1) + group]
        q[joint] = polar_angle(u, v) if kinds[joint] == REVOLUTE else u
    joint_frames(arm, q, frames)
    transform_tips(frames, task.tip_points, tips_base)
    square: float = 0.0 * q[0]
    for k in range(4):
        for row in range(3):
            off = tips_base[k, row] - task.target_points[k, row]
            square = square + off * off
    return square


if HAS_LANES:
    from jointwise.kernels._numba.lanes import as_lanes

    @jit
    def convert_candidates(
        arm: Arm,
        task: Task,
        order: tuple[bool, int],
        value: float,
        count: int,
        candidates: Floats,
        converted: Floats,
        errors: Floats,
    ) -> None:
        """Write the joint values of all candidates and the squares of their errors, by groups.

        Args:
            arm: The arm, without limits.
            task: The target.
            order: Whether the arm is turned around, and the fixed joint or -1.
            value: The value of the fixed joint.
            count: How many candidates there are.
            candidates: Their motions; see ``structures.GROUPS``.
            converted: (8 GROUPS, 8) where the joint values are written, in the same order.
            errors: (GROUPS, 8) where the squares of the errors are written [m²].
        """
        n = arm.kinds.size
        lanes, results, squares = as_lanes(candidates), as_lanes(converted), as_lanes(errors)
        frames = as_lanes(np.empty((n, 3, 4, WIDTH)))
        tips_base, q = as_lanes(np.empty((4, 3, WIDTH))), as_lanes(np.empty((n, WIDTH)))
        if order[1] >= 0:
            q[order[1]] = 0.0 * lanes[0] + value
        for group in range((count + WIDTH - 1) // WIDTH):
            squares[group] = convert_group(arm, task, order, group, lanes, q, frames, tips_base)
            for i in range(n):
                results[GROUPS * i + group] = q[i]

else:

    @jit
    def convert_candidates(
        arm: Arm,
        task: Task,
        order: tuple[bool, int],
        value: float,
        count: int,
        candidates: Floats,
        converted: Floats,
        errors: Floats,
    ) -> None:
        """The same one by one."""
        n = arm.kinds.size
        frames, tips_base, q = np.empty((n, 3, 4)), np.empty((4, 3)), np.empty(n)
        if order[1] >= 0:
            q[order[1]] = value
        for m in range(count):
            group, lane = m // WIDTH, m % WIDTH
            column = candidates[:, lane].copy()
            errors[group, lane] = convert_group(
                arm, task, order, group, column, q, frames, tips_base
            )
            for i in range(n):
                converted[GROUPS * i + group, lane] = q[i]


@jit_inline
def is_same(kinds: Floats, a: Floats, b: Floats) -> bool:
    """Whether two configurations differ by full turns only."""
    for i in range(kinds.size):
        difference = a[i] - b[i]
        if kinds[i] == REVOLUTE:
            difference -= TURN * floor(difference / TURN + 0.5)
        if abs(difference) > SAME_SOLUTION:
            return False
    return True


@jit
def set_rotation(target: Floats, pose: Floats) -> None:
    """Write the target with its rotation exactly at right angles, by Newton's method.

    A target may deviate from a rotation by ``ROTATION_DEFECT``, which is more than a solution may.
    """
    for row in range(4):
        for column in range(4):
            pose[row, column] = target[row, column]
    gram = stack_array(XYZ, XYZ, 0.0)
    for _ in range(2):
        for i in range(3):
            for j in range(3):
                gram[i, j] = 0.0
                for k in range(3):
                    gram[i, j] -= 0.5 * pose[k, i] * pose[k, j]
            gram[i, i] += 1.5
        for row in range(3):
            x, y, z = pose[row, 0], pose[row, 1], pose[row, 2]
            for j in range(3):
                pose[row, j] = x * gram[0, j] + y * gram[1, j] + z * gram[2, j]


@jit
def refine(arm: Arm, task: Task, tolerance: float, fixed: int, q: Floats) -> bool:
    """Remove the rounding errors of a candidate by Gauss-Newton steps; whether it is a solution.

    Most candidates need none. The damping is much less than that of Levenberg-Marquardt, which
    would stall near singularities. The joint ``fixed`` keeps its value, if it is not negative.
    """
    scale, n = 1.0 / arm.angular_scale, arm.kinds.size
    frames, jacobian = lm_scratch(n)
    workspace = LMWorkspace(frames, jacobian, stack_array(task.weights, XYZ, 0.0))
    errors = evaluate_residual(arm, task, q, workspace)
    for _ in range(REFINE_STEPS):
        if max(errors[0], errors[1]) < STEP_ABOVE * tolerance:
            break
        damping = REFINE_DAMPING * scaled_error_sq(errors, arm.angular_scale) + REFINE_MIN_DAMPING
        for k in range(3):
            jacobian[n, k] = scale * jacobian[n, k]
        fill_jacobian(arm, workspace, scale)
        for k in range(6 if fixed >= 0 else 0):
            jacobian[fixed, k] = 0.0
        solve_damped(arm, jacobian, damping, task.weights, q, True)
        errors = evaluate_residual(arm, task, q, workspace)
    return max(errors[0], errors[1]) < tolerance


@jit
def check_candidates(
    arm: Arm,
    target: Floats,
    tolerance: float,
    order: tuple[bool, int],
    value: float,
    candidates: Floats,
    count: int,
    solutions: Floats,
) -> tuple[int, int]:
    """Write the candidates that reach the target, each once: (how many, how many were rejected).

    Args:
        arm: The arm, without limits.
        target: (4, 4) a pose.
        tolerance: Largest errors of a solution [m, rad].
        order: As for ``convert_candidates``.
        value: The same.
        candidates: The same.
        count: How many there are.
        solutions: (k, n) where they are written.
    """
    weights = (1.0, 1.0, 1.0, 1.0)
    task = Task(stack_array(weights, XYZ, 0.0), stack_array(weights, XYZ, 0.0), weights)
    set_task(arm, target, task)
    n, kinds = arm.kinds.size, arm.kinds
    converted, errors = stack_array(VALUE_ROWS, LANE, 0.0), stack_array(LANE, LANE, 0.0)
    convert_candidates(arm, task, order, value, count, candidates, converted, errors)
    small = STEP_ABOVE * tolerance * STEP_ABOVE * tolerance
    found, rejected = 0, 0
    for m in range(count):
        if found == solutions.shape[0]:
            return found, rejected + 1
        q, group, lane = solutions[found], m // WIDTH, m % WIDTH
        for i in range(n):
            q[i] = converted[GROUPS * i + group, lane]
        if not errors[group, lane] < small and not refine(arm, task, tolerance, order[1], q):
            rejected += 1
            continue
        new = True
        for k in range(found):
            if is_same(kinds, solutions[k], q):
                new = False
                break
        if new:
            found += 1
    return found, rejected
