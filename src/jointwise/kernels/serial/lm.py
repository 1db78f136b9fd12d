"""Levenberg-Marquardt with joint limits inside the step.

CCD is robust and slow in its last digits; Levenberg-Marquardt is fast there and may get stuck far
from the target. The damping is proportional to the squared error (Chan and Lawrence 1988), so the
last steps are Gauss-Newton steps. A limit that holds a joint is in the active set: a joint at a
limit that the step would push outward is fixed, the others are solved for, then clamped.
"""

from typing import NamedTuple

from jointwise.kernels._numba.arrays import PAIR, QUAD, TWIST, XYZ, stack_array
from jointwise.kernels._numba.jit import ir_inline, jit, jit_inline
from jointwise.kernels._numba.where import any_lane, where
from jointwise.kernels.algebra.linear import solve_positive
from jointwise.kernels.algebra.trig import TURN
from jointwise.kernels.kinematics.box import nearest_in_box, project_to_box
from jointwise.kernels.kinematics.fk import jacobian_column, joint_frames
from jointwise.kernels.kinematics.tasks import (
    is_converged,
    position_error,
    residual_size,
    rotation_to_target,
    scaled_error_sq,
    transform_tips,
)
from jointwise.kernels.layout.arm import BOUND_LOWER, BOUND_UPPER, REVOLUTE, Arm
from jointwise.kernels.layout.arrays import Errors, Floats, Weights
from jointwise.kernels.layout.task import BOX_ROWS, Criteria, Task
from jointwise.kernels.serial.sweep import clamp_joint

# Damping as a share of the squared error, and the least, which keeps a singular system solvable.
DAMPING, MIN_DAMPING = 0.05, 1e-12
# Larger than every squared error.
NO_ERROR_YET = 1e30


class LMWorkspace(NamedTuple):
    """Scratch of a step, written by ``evaluate_residual`` and read by ``lm_step``.

    Attributes:
        frames: (n, 3, 4) the frame that each joint carries, base frame.
        jacobian: (n+1, 6) a row for each joint, how it moves the tip; last the residual.
        tips_base: (m, 3) the tip points in the base frame.
    """

    frames: Floats
    jacobian: Floats
    tips_base: Floats


@jit_inline
def evaluate_residual(arm: Arm, task: Task, q: Floats, workspace: LMWorkspace) -> Errors:
    """Errors at ``q``, (position [m], orientation [rad]); the residual goes to the workspace."""
    frames, jacobian, tips_base = workspace.frames, workspace.jacobian, workspace.tips_base
    joint_frames(arm, q, frames)
    transform_tips(frames, task.tip_points, tips_base)
    if len(task.weights) == BOX_ROWS:
        nearest = stack_array(QUAD, XYZ, q[0])
        errors = nearest_in_box(tips_base, task.target_points, nearest)
        write_residual(tips_base, nearest, jacobian)
        return errors
    return write_residual(tips_base, task.target_points, jacobian)


@jit_inline
def write_residual(tips_base: Floats, target_points: Floats, jacobian: Floats) -> Errors:
    """Write the residual into the last row of the Jacobian; the errors."""
    n = jacobian.shape[0] - 1
    for k in range(3):
        jacobian[n, k] = target_points[0, k] - tips_base[0, k]
    x, y, z, orientation_error = rotation_to_target(tips_base, target_points)
    jacobian[n, 3], jacobian[n, 4], jacobian[n, 5] = x, y, z
    return position_error(tips_base, target_points), orientation_error


@jit_inline
def fill_jacobian(arm: Arm, workspace: LMWorkspace, scale: float) -> None:
    """Write how each joint moves the tip; of an aim, rotation about the aimed axis is left out."""
    kinds, frames = arm.kinds, workspace.frames
    jacobian, tips_base = workspace.jacobian, workspace.tips_base
    tip = tips_base[0, 0], tips_base[0, 1], tips_base[0, 2]
    for i in range(kinds.size):
        a, b, c, x, y, z = jacobian_column(kinds, frames, i, tip, scale)
        if tips_base.shape[0] == 2 and kinds[i] == REVOLUTE:
            dot = x * tips_base[1, 0] + y * tips_base[1, 1] + z * tips_base[1, 2]
            x, y, z = (
                x - dot * tips_base[1, 0],
                y - dot * tips_base[1, 1],
                z - dot * tips_base[1, 2],
            )
        jacobian[i, 0], jacobian[i, 1], jacobian[i, 2] = a, b, c
        jacobian[i, 3], jacobian[i, 4], jacobian[i, 5] = x, y, z


@ir_inline
def joint_delta(jacobian: Floats, i: int, multipliers: Floats, size: int) -> float:
    """How far joint i moves: row i of the Jacobian times the multipliers."""
    delta: float = jacobian[i, 0] * multipliers[0]
    for k in range(1, size):
        delta = delta + jacobian[i, k] * multipliers[k]
    return delta


@jit_inline
def fix_joints_at_limits(arm: Arm, jacobian: Floats, weights: Weights, q: Floats) -> None:
    """Fix joints at a limit that the descent direction would push outward: the active set.

    Their rows of the Jacobian become zero, so the step does not move them (the projected step of
    Bertsekas 1982). A joint whose range covers a full turn is never fixed.
    """
    kinds, bounds, size = arm.kinds, arm.bounds, residual_size(weights)
    n = kinds.size
    for i in range(n):
        lower, upper = bounds[i, BOUND_LOWER], bounds[i, BOUND_UPPER]
        if kinds[i] == REVOLUTE and upper - lower >= TURN:
            continue
        at_upper, at_lower = q[i] >= upper, q[i] <= lower
        if any_lane(at_upper | at_lower):
            descent = joint_delta(jacobian, i, jacobian[n], size)
            outward = ((descent > 0.0) & at_upper) | ((descent < 0.0) & at_lower)
            for k in range(size):
                jacobian[i, k] = where(outward, 0.0, jacobian[i, k])


@jit_inline
def solve_damped(
    arm: Arm, jacobian: Floats, damping: float, weights: Weights, q: Floats, enabled: bool
) -> None:
    """Move ``q`` by ``Jᵀ (J Jᵀ + damping)⁻¹ residual``, clamped to the limits.

    In lanes that are not ``enabled``, nothing moves.
    """
    kinds, bounds, size = arm.kinds, arm.bounds, residual_size(weights)
    n = kinds.size
    normal, vectors = stack_array(TWIST, TWIST, damping), stack_array(PAIR, TWIST, damping)
    right, scratch = vectors[0], vectors[1]
    for row in range(size):
        right[row] = jacobian[n, row]
        for column in range(row + 1):
            normal[row, column] = 0.0 * damping
        normal[row, row] = damping
    for i in range(n):
        for row in range(size):
            for column in range(row + 1):
                product = jacobian[i, row] * jacobian[i, column]
                normal[row, column] = normal[row, column] + product
    solve_positive(normal, right, scratch, size)
    for i in range(n):
        value = clamp_joint(kinds, bounds, i, q[i] + joint_delta(jacobian, i, right, size))
        q[i] = where(enabled, value, q[i])


@jit_inline
def lm_step(
    arm: Arm, task: Task, error_sq: float, q: Floats, workspace: LMWorkspace, enabled: bool
) -> None:
    """Step from ``q``, where the residual was just evaluated: fix joints, solve, clamp."""
    jacobian, scale, n = workspace.jacobian, 1.0 / arm.angular_scale, arm.kinds.size
    for k in range(3):
        jacobian[n, k] = scale * jacobian[n, k]
    fill_jacobian(arm, workspace, scale)
    if len(task.weights) == BOX_ROWS:
        project_to_box(workspace.tips_base, task.target_points, jacobian, scale)
    fix_joints_at_limits(arm, jacobian, task.weights, q)
    damping = DAMPING * error_sq + MIN_DAMPING
    solve_damped(arm, jacobian, damping, task.weights, q, enabled)


@jit_inline
def update_stall(error_sq: float, best_error: float, steps_since_halved: int) -> tuple[float, int]:
    """The stall rule: (smallest squared error so far, steps since it last halved)."""
    if error_sq < 0.5 * best_error:
        return error_sq, 0
    return best_error, steps_since_halved + 1


@jit
def levenberg_marquardt(
    arm: Arm,
    task: Task,
    criteria: Criteria,
    max_steps: int,
    patience: int,
    q: Floats,
    scratch: tuple[Floats, Floats],
) -> tuple[int, float, float]:
    """Step from ``q`` and move it: (steps, position error [m], orientation error [rad]).

    Ends when the errors are below the tolerances, when the squared error has not halved in
    ``patience`` steps, or after ``max_steps``. ``scratch`` is frames and Jacobian of a workspace.
    """
    workspace = LMWorkspace(scratch[0], scratch[1], stack_array(task.weights, XYZ, q[0]))
    best_error, steps_since_halved, steps = NO_ERROR_YET, 0, 0
    while True:
        errors = evaluate_residual(arm, task, q, workspace)
        if steps == max_steps or is_converged(errors, criteria, task.weights):
            break
        error_sq = scaled_error_sq(errors, arm.angular_scale)
        best_error, steps_since_halved = update_stall(error_sq, best_error, steps_since_halved)
        if steps_since_halved == patience:
            break
        lm_step(arm, task, error_sq, q, workspace, True)
        steps += 1
    return steps, errors[0], errors[1]
