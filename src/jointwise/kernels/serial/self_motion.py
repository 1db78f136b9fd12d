"""Self-motion: joints move while the end effector stays, to leave what the arm touches."""

from jointwise.kernels._numba.arrays import PAIR, TWIST, XYZ, stack_array
from jointwise.kernels._numba.jit import jit
from jointwise.kernels.algebra.linear import solve_positive
from jointwise.kernels.collision.contacts import touches
from jointwise.kernels.kinematics.box import project_to_box
from jointwise.kernels.kinematics.fk import copy_values
from jointwise.kernels.kinematics.tasks import is_converged, residual_size
from jointwise.kernels.layout.arm import Arm
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.task import BOX_ROWS, Criteria, Task
from jointwise.kernels.layout.thresholds import PATIENCE, SLIDE_LENGTH, SLIDE_MOVES, SLIDE_STEPS
from jointwise.kernels.serial.lm import (
    MIN_DAMPING,
    LMWorkspace,
    evaluate_residual,
    fill_jacobian,
    levenberg_marquardt,
)
from jointwise.kernels.serial.sweep import clamp_joint


@jit
def project_to_null_space(jacobian: Floats, size: int, direction: Floats) -> None:
    """Remove from ``direction (n,)`` what moves the end effector; its largest entry becomes 1.

    Args:
        jacobian: (n, 6) a row for each joint, how it moves the tip.
        size: How many of its columns the target prescribes.
        direction: (n,) changes of the joints.
    """
    n = direction.size
    normal, vectors = stack_array(TWIST, TWIST, 0.0), stack_array(PAIR, TWIST, 0.0)
    right, scratch = vectors[0], vectors[1]
    for row in range(size):
        right[row] = 0.0
        for column in range(row + 1):
            normal[row, column] = 0.0
        normal[row, row] = MIN_DAMPING
    for i in range(n):
        for row in range(size):
            right[row] += jacobian[i, row] * direction[i]
            for column in range(row + 1):
                normal[row, column] += jacobian[i, row] * jacobian[i, column]
    solve_positive(normal, right, scratch, size)
    largest = 1e-12
    for i in range(n):
        for row in range(size):
            direction[i] -= jacobian[i, row] * right[row]
        largest = max(largest, abs(direction[i]))
    for i in range(n):
        direction[i] /= largest


@jit
def slide(
    packed_arm: Floats,
    arm: Arm,
    task: Task,
    criteria: Criteria,
    q: Floats,
    scratch: tuple[Floats, Floats],
) -> tuple[bool, int]:
    """Move the joints of a solution that touches, until it is free: (whether it is, iterations).

    Some moves in one direction, then as many in the other, each brought back to the target.
    """
    n, kinds, bounds, iterations = q.size, arm.kinds, arm.bounds, 0
    size = residual_size(task.weights)
    if n <= size and len(task.weights) != BOX_ROWS:
        return False, 0
    arrival, direction = q.copy(), q.copy()
    workspace = LMWorkspace(scratch[0], scratch[1], stack_array(task.weights, XYZ, q[0]))
    for side in range(2):
        copy_values(arrival, q)
        for i in range(n):
            direction[i] = (arm.strides[i] - 0.5) * (1.0 - 2.0 * side)
        for _ in range(SLIDE_MOVES):
            evaluate_residual(arm, task, q, workspace)
            fill_jacobian(arm, workspace, 1.0 / arm.angular_scale)
            if len(task.weights) == BOX_ROWS:
                points, scale = task.target_points, 1.0 / arm.angular_scale
                project_to_box(workspace.tips_base, points, workspace.jacobian, scale)
            project_to_null_space(workspace.jacobian, size, direction)
            for i in range(n):
                q[i] = clamp_joint(kinds, bounds, i, q[i] + SLIDE_LENGTH * direction[i])
            steps, position_error, orientation_error = levenberg_marquardt(
                arm, task, criteria, SLIDE_STEPS, PATIENCE, q, scratch
            )
            iterations += steps
            if not is_converged((position_error, orientation_error), criteria, task.weights):
                break
            if not touches(packed_arm, arm, q):
                return True, iterations
    return False, iterations
