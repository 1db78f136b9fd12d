"""Plain CCD: sweep after sweep, with or without Anderson acceleration."""

from collections.abc import Callable
from math import sqrt

import numpy as np

from jointwise.kernels._numba.arrays import XYZ, stack_array
from jointwise.kernels._numba.jit import ir_inline, jit
from jointwise.kernels.algebra.linear import solve_positive
from jointwise.kernels.kinematics.fk import (
    all_finite,
    copy_values,
    joint_motions,
    unpack_arm,
)
from jointwise.kernels.kinematics.tasks import (
    chord_tolerance_sq,
    is_converged,
    is_too_far,
    point_count,
    set_task,
    task_errors,
)
from jointwise.kernels.layout.arm import REVOLUTE, Arm
from jointwise.kernels.layout.arrays import Floats, Outcome, Weights
from jointwise.kernels.layout.status import (
    CONVERGED,
    INVALID,
    ITERATION_LIMIT,
    STALLED,
    UNREACHABLE,
)
from jointwise.kernels.layout.task import Criteria, PackedCriteria, Task
from jointwise.kernels.serial.sweep import (
    SweepState,
    clamp_joint,
    from_unit_circle,
    larger,
    sweep,
    targets_in_joint_frames,
    to_unit_circle,
)

# Sweeps that Anderson acceleration combines, and the share of E they must save.
DEPTH, MIN_DECREASE = 5, 1e-9
# Rounding errors as a share of the largest possible (A, B) of a joint, see
# docs/explain/method.md; and the least value whose square does not underflow.
NOISE, MIN_NOISE = 1e-14, 1e-140


@jit
def unpack_criteria(criteria: PackedCriteria) -> Criteria:
    """The criteria as kernels read them."""
    return Criteria(criteria[0], criteria[1], criteria[2], criteria[3], criteria[4])


@ir_inline
def unpack_solve(
    packed_arm: Floats, target: Floats, weights: Weights, packed_criteria: PackedCriteria, q: Floats
) -> tuple[Arm, Task, Criteria]:
    """The arguments of a solve as kernels read them; the points of the task are the caller's."""
    arm = unpack_arm(packed_arm, q.size)
    task = Task(stack_array(weights, XYZ, 0.0), stack_array(weights, XYZ, 0.0), weights)
    set_task(arm, target, task)
    return arm, task, unpack_criteria(packed_criteria)


@jit
def rounding_noise(arm: Arm, task: Task, q: Floats) -> float:
    """The length of (A, B), see ``best_turn``, that rounding alone can produce."""
    links, kinds, target, weights = arm.links, arm.kinds, task.target_points, task.weights
    size, far = abs(0.0 * q[0]), abs(target[0, 0]) + abs(target[0, 1]) + abs(target[0, 2])
    for i in range(kinds.size + 1):
        x, y, z = links[i, 0, 3], links[i, 1, 3], links[i, 2, 3]
        size = size + sqrt(x * x + y * y + z * z)
    for i in range(kinds.size):
        if kinds[i] != REVOLUTE:
            size = size + abs(q[i])
    noise = weights[0] * size * (size + far)
    for k in range(1, len(weights)):
        noise = noise + weights[k]
    return larger(NOISE * noise, MIN_NOISE)


@jit
def sweep_state(n: int, weights: Weights) -> SweepState:
    """Memory for the sweeps of one problem."""
    return SweepState(np.empty((n, 2)), np.empty((n, 2)), np.empty((n, len(weights), 3)))


@jit
def energy(arm: Arm, task: Task, q: Floats) -> float:
    """E, which sweeps reduce: weighted squared distances, and joint penalties."""
    kinds, penalties, weights = arm.kinds, arm.joint_penalties, task.weights
    state = sweep_state(q.size, weights)
    motion = state.motion
    joint_motions(kinds, q, motion)
    distance_sq, chords_sq = targets_in_joint_frames(arm, task, state)
    total = weights[0] * distance_sq + weights[point_count(weights) - 1] * chords_sq
    for i in range(q.size):
        a, b = penalties[i, 1], penalties[i, 2]
        if kinds[i] == REVOLUTE:
            total += 2.0 * (sqrt(a * a + b * b) - a * motion[i, 0] - b * motion[i, 1])
        elif a > 0.0:
            total += a * (q[i] - b / a) ** 2
    return total


@jit
def extrapolate(arm: Arm, history: Floats, q: Floats) -> None:
    """Write the limit of the last sweeps, by Anderson's method in its reduced-rank form (1965).

    ``history (DEPTH+1, n)`` holds the joint values after each of them. The combination of moves
    that nearly cancels gives the weights of the values.
    """
    kinds, bounds = arm.kinds, arm.bounds
    n = kinds.size
    matrix, right, scratch = np.zeros((DEPTH, DEPTH)), np.ones(DEPTH), np.empty(DEPTH)
    for j in range(DEPTH):
        for k in range(j + 1):
            for i in range(n):
                matrix[j, k] += (history[j + 1, i] - history[j, i]) * (
                    history[k + 1, i] - history[k, i]
                )
    trace = 0.0
    for j in range(DEPTH):
        trace += matrix[j, j]
    for j in range(DEPTH):
        matrix[j, j] += 1e-10 * trace + 1e-300
    solve_positive(matrix, right, scratch, DEPTH)
    total = 0.0
    for j in range(DEPTH):
        total += right[j]
    for i in range(n):
        value = 0.0
        for j in range(DEPTH):
            value += right[j] / total * history[j + 1, i]
        q[i] = clamp_joint(kinds, bounds, i, value)


@jit
def descend(
    arm: Arm, task: Task, criteria: Criteria, min_move: float, max_sweeps: int, q: Floats
) -> tuple[int, float]:
    """Sweep from ``q`` and move it: (sweeps, largest move of the last one [rad, m]).

    Ends when the errors are below the tolerances, when no joint moves by more than ``min_move``
    [rad, m], or after ``max_sweeps``.
    """
    state, weights = sweep_state(q.size, task.weights), task.weights
    position_tol_sq = criteria.position_tol * criteria.position_tol
    chord_tol_sq = chord_tolerance_sq(criteria.orientation_tol, weights)
    noise = rounding_noise(arm, task, q)
    to_unit_circle(arm, q, state)
    largest, sweeps = 0.0, 0
    while sweeps < max_sweeps:
        distance_sq, chords_sq = targets_in_joint_frames(arm, task, state)
        if distance_sq < position_tol_sq and (len(weights) == 1 or chords_sq < chord_tol_sq):
            from_unit_circle(arm, state, q)
            if is_converged(task_errors(arm, task, q), criteria, weights):
                return sweeps, largest
        largest = sweep(arm, task, state, noise, True)
        sweeps += 1
        if largest <= min_move:
            break
    from_unit_circle(arm, state, q)
    return sweeps, largest


@jit
def descend_anderson(
    arm: Arm, task: Task, criteria: Criteria, min_move: float, max_sweeps: int, q: Floats
) -> tuple[int, float]:
    """Like ``descend``, with Anderson acceleration every ``DEPTH`` sweeps, where that lowers E.

    Where these lower E by less than the share ``MIN_DECREASE``, they are undone, and the largest
    move returned is 0.
    """
    history, accelerated = np.empty((DEPTH + 1, q.size)), np.empty(q.size)
    sweeps, largest = 0, 0.0
    while True:
        before = energy(arm, task, q)
        copy_values(q, history[0])
        for k in range(DEPTH):
            left = min(1, max_sweeps - sweeps)
            done, move = descend(arm, task, criteria, min_move, left, q)
            if done == 0:  # converged, or all sweeps are done
                return sweeps, largest
            sweeps, largest = sweeps + 1, move
            if largest <= min_move:
                return sweeps, largest
            copy_values(q, history[k + 1])
        swept = energy(arm, task, q)
        extrapolate(arm, history, accelerated)
        extrapolated = energy(arm, task, accelerated)
        if min(swept, extrapolated) > before * (1.0 - MIN_DECREASE):
            copy_values(history[0], q)
            return sweeps, 0.0
        if extrapolated < swept:
            copy_values(accelerated, q)


@ir_inline
def _run(
    descender: Callable[..., tuple[int, float]],
    packed_arm: Floats,
    target: Floats,
    weights: Weights,
    packed_criteria: PackedCriteria,
    min_move: float,
    max_sweeps: int,
    q: Floats,
) -> Outcome:
    if not (all_finite(target) and all_finite(q)):
        return INVALID, np.nan, np.nan, 0, 0
    arm, task, criteria = unpack_solve(packed_arm, target, weights, packed_criteria, q)
    errors = task_errors(arm, task, q)
    sweeps, largest = 0, np.inf
    if max_sweeps > 0 and not is_converged(errors, criteria, weights):
        sweeps, largest = descender(arm, task, criteria, min_move, max_sweeps, q)
        errors = task_errors(arm, task, q)
    status = STALLED
    if is_converged(errors, criteria, weights):
        status = CONVERGED
    elif is_too_far(arm, task, criteria):
        status = UNREACHABLE
    elif largest > min_move:
        status = ITERATION_LIMIT
    return status, errors[0], errors[1], sweeps, 0


@jit
def ccd(
    packed_arm: Floats,
    target: Floats,
    weights: Weights,
    packed_criteria: PackedCriteria,
    min_move: float,
    max_sweeps: int,
    q: Floats,
) -> Outcome:
    """Plain CCD from ``q``, which is overwritten with the result; stops as ``descend`` does.

    If a value is not finite, nothing moves and the errors are NaN.
    """
    return _run(descend, packed_arm, target, weights, packed_criteria, min_move, max_sweeps, q)


@jit
def ccd_anderson(
    packed_arm: Floats,
    target: Floats,
    weights: Weights,
    packed_criteria: PackedCriteria,
    min_move: float,
    max_sweeps: int,
    q: Floats,
) -> Outcome:
    """The same with Anderson acceleration."""
    return _run(
        descend_anderson, packed_arm, target, weights, packed_criteria, min_move, max_sweeps, q
    )
