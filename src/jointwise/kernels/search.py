"""The combined solver: CCD sweeps, then Levenberg-Marquardt, then restarts.

A target that is not reached ends in its closest approach: CCD until no joint moves. It stays near
the start, unless another configuration is closer by a tenth; so a second solve from there does not
leave it, and an arm does not leap while such a target is dragged.
"""

from math import inf, sqrt

import numpy as np

from jointwise.kernels._numba.arrays import XYZ, stack_array
from jointwise.kernels._numba.jit import int64_const, jit
from jointwise.kernels._numba.where import floor
from jointwise.kernels.descent import descend, descend_anderson, energy, unpack_criteria
from jointwise.kernels.fk import all_finite, beyond_reach, copy_values, unpack_arm
from jointwise.kernels.lm import levenberg_marquardt
from jointwise.kernels.shapes import (
    BLOCKED,
    CONVERGED,
    COS_HALF,
    INVALID,
    ITERATION_LIMIT,
    LOWER,
    PRISMATIC,
    ROTATION_DEFECT,
    STALLED,
    UNLIMITED,
    UNREACHABLE,
    UPPER,
    Arm,
    Criteria,
    Errors,
    Floats,
    Outcome,
    PackedCriteria,
    Task,
    Weights,
)
from jointwise.kernels.sweep import TURN, clamp_joints
from jointwise.kernels.tasks import (
    is_converged,
    rotation_defect,
    scaled_error_sq,
    set_task,
    task_errors,
)

# Frames and Jacobian of a workspace; see ``lm.LMWorkspace``.
Scratch = tuple[Floats, Floats]

# CCD sweeps of an attempt, and its Levenberg-Marquardt steps at most. Below a squared error of
# SKIP_SWEEPS_BELOW [rad²] the steps alone move the joints least.
SWEEPS, MAX_STEPS, SKIP_SWEEPS_BELOW = int64_const(3), int64_const(50), 0.1
# Steps in which the squared error must halve, for the first attempts and from HARD_AFTER on.
PATIENCE, HARD_AFTER, PATIENCE_WHEN_HARD = int64_const(4), 10, int64_const(8)
# Restarts in the neighbourhood of the start, before all of the joint ranges is searched.
NEARBY_RESTARTS = 4.0
# The closest approach of a target that is not reached: sweeps at most, and the largest move that
# counts as none [rad, m]; the same for a short descent, which decides whether an attempt is better.
MAX_SWEEPS, MIN_MOVE = int64_const(20_000), 1e-10
SHORT_SWEEPS, SHORT_MIN_MOVE = int64_const(100), 1e-4
# An attempt replaces the closest approach only if it is closer by a tenth, so that the arm stays
# near its start. Ends of attempts that are compared, at most; those farther than PROMISING times
# the closest approach are not.
MUCH_CLOSER, MAX_ENDS, PROMISING = 0.9, 128, 1.5
# Restarts for a target beyond reach.
FAR_RESTARTS = 8
# Attempts without limits before the status BLOCKED is ruled out.
UNLIMITED_ATTEMPTS = 20


@jit
def restart_values(arm: Arm, criteria: Criteria, start: Floats, count: int, q: Floats) -> None:
    """Write into ``q`` the start of restart number ``count``, from a Kronecker sequence.

    Joints without limits are sampled within a turn around the start. If ``near_start`` is asked
    for, the first restarts fill growing boxes around the start.
    """
    kinds, bounds, strides = arm.kinds, arm.bounds, arm.strides
    for i in range(kinds.size):
        lower, upper = bounds[i, LOWER], bounds[i, UPPER]
        low, high = lower, upper
        if lower <= -UNLIMITED or upper >= UNLIMITED:
            half = 5.0 * arm.angular_scale if kinds[i] == PRISMATIC else 0.5 * TURN
            low, high = max(lower, start[i] - half), min(upper, start[i] + half)
        if criteria.near_start and count <= NEARBY_RESTARTS:
            half = 0.5 * (high - low) * count / (NEARBY_RESTARTS + 1.0)
            low, high = max(low, start[i] - half), min(high, start[i] + half)
        share = (criteria.sequence_offset + count * strides[i]) % 1.0
        q[i] = low + share * (high - low)


@jit
def unwrap_near(arm: Arm, start: Floats, q: Floats) -> bool:
    """Add full turns that bring ``q`` close to ``start``, inside the limits; whether any were."""
    kinds, bounds, changed = arm.kinds, arm.bounds, False
    for i in range(kinds.size):
        if kinds[i] != PRISMATIC and abs(start[i] - q[i]) > 0.5 * TURN:
            closer = q[i] + TURN * floor((start[i] - q[i]) / TURN + 0.5)
            if bounds[i, LOWER] <= closer <= bounds[i, UPPER]:
                q[i], changed = closer, True
    return changed


@jit
def lm_scratch(n: int) -> Scratch:
    """Memory for the frames and the Jacobian of Levenberg-Marquardt."""
    return np.empty((n, 3, 4)), np.empty((n + 1, 6))


@jit
def attempt(
    arm: Arm,
    task: Task,
    criteria: Criteria,
    errors: Errors,
    patience: int,
    start: Floats,
    q: Floats,
    scratch: Scratch,
) -> tuple[int, float, float]:
    """CCD sweeps and Levenberg-Marquardt from ``q``: (iterations, position and orientation error).

    ``errors`` are those of ``q``. Full turns are chosen so that the values are close to ``start``.
    """
    sweeps = 0
    if scaled_error_sq(errors, arm.angular_scale) > SKIP_SWEEPS_BELOW:
        sweeps = descend(arm, task, criteria, -1.0, SWEEPS, q)[0]
    steps, position_error, orientation_error = levenberg_marquardt(
        arm, task, criteria, MAX_STEPS, patience, q, scratch
    )
    if unwrap_near(arm, start, q):
        position_error, orientation_error = task_errors(arm, task, q)
    return sweeps + steps, position_error, orientation_error


@jit
def collect_solutions(
    packed_arm: Floats,
    target: Floats,
    weights: Weights,
    packed_criteria: PackedCriteria,
    attempts: int,
    start: Floats,
    solutions: Floats,
) -> int:
    """Attempt from ``start`` and from restarts; write what converges into ``solutions``, count it.

    Ends when ``solutions (k, n)`` is full, or after so many attempts.
    """
    arm, criteria = unpack_arm(packed_arm, start.size), unpack_criteria(packed_criteria)
    task = Task(stack_array(weights, XYZ, 0.0), stack_array(weights, XYZ, 0.0), weights)
    set_task(arm, target, task)
    scratch = lm_scratch(start.size)
    q = start.copy()
    found = 0
    for count in range(attempts):
        if count > 0:
            restart_values(arm, criteria, start, count, q)
        errors = task_errors(arm, task, q)
        done = attempt(arm, task, criteria, errors, PATIENCE, start, q, scratch)
        if is_converged((done[1], done[2]), criteria, weights):
            copy_values(q, solutions[found])
            found += 1
            if found == solutions.shape[0]:
                break
    return found


@jit
def reached_without_limits(
    arm: Arm, task: Task, criteria: Criteria, start: Floats, scratch: Scratch
) -> bool:
    """Whether the arm without its joint limits reaches the target from ``start``."""
    bounds = arm.bounds.copy()
    for i in range(arm.kinds.size):
        bounds[i, LOWER], bounds[i, UPPER], bounds[i, COS_HALF] = -inf, inf, -2.0
    unlimited = Arm(
        arm.links, arm.kinds, bounds, arm.springs, arm.angular_scale, arm.reach, arm.strides
    )
    everywhere = Criteria(
        criteria.position_tol, criteria.orientation_tol, 0, False, criteria.sequence_offset
    )
    q = start.copy()
    for count in range(UNLIMITED_ATTEMPTS):
        if count > 0:
            restart_values(unlimited, everywhere, start, count, q)
        errors = task_errors(unlimited, task, q)
        done = attempt(unlimited, task, everywhere, errors, PATIENCE, start, q, scratch)
        if is_converged((done[1], done[2]), criteria, task.weights):
            return True
    return False


@jit
def largest_change(a: Floats, b: Floats) -> float:
    """The largest joint difference between two configurations [rad, m]."""
    largest = 0.0
    for i in range(a.size):
        largest = max(largest, abs(a[i] - b[i]))
    return largest


@jit
def closest_approach(
    arm: Arm, task: Task, criteria: Criteria, start: Floats, ends: Floats, q: Floats
) -> tuple[int, float]:
    """Write into ``q`` the closest approach to a target that is not reached: (sweeps, last move).

    The measure is sqrt(E), see ``energy``. The local approach is CCD from the start. The end of an
    attempt replaces it only if it is closer by a tenth, or not farther and nearer to the start. So
    more attempts never make the result worse.
    ``ends (k, n)`` are the joint values at the end of each attempt.
    """
    copy_values(start, q)
    sweeps, moved = descend_anderson(arm, task, criteria, MIN_MOVE, MAX_SWEEPS, q)
    unwrap_near(arm, start, q)
    best, best_moved = q.copy(), moved
    best_measure = sqrt(energy(arm, task, best))
    for k in range(ends.shape[0]):
        if sqrt(energy(arm, task, ends[k])) > PROMISING * best_measure:
            continue
        copy_values(ends[k], q)
        sweeps += descend_anderson(arm, task, criteria, SHORT_MIN_MOVE, SHORT_SWEEPS, q)[0]
        unwrap_near(arm, start, q)
        measure = sqrt(energy(arm, task, q))
        nearer = largest_change(q, start) < largest_change(best, start)
        if measure < MUCH_CLOSER * best_measure or (nearer and measure <= best_measure):
            done, moved = descend_anderson(arm, task, criteria, MIN_MOVE, MAX_SWEEPS, q)
            unwrap_near(arm, start, q)
            sweeps, best_moved = sweeps + done, moved
            copy_values(q, best)
            best_measure = sqrt(energy(arm, task, best))
    copy_values(best, q)
    return sweeps, best_moved


@jit
def search(
    packed_arm: Floats,
    target: Floats,
    weights: Weights,
    packed_criteria: PackedCriteria,
    q: Floats,
) -> Outcome:
    """Move ``q`` to a solution, or to the closest approach."""
    if not (all_finite(target) and all_finite(q)):
        return INVALID, np.nan, np.nan, 0, 0
    arm, criteria = unpack_arm(packed_arm, q.size), unpack_criteria(packed_criteria)
    task = Task(stack_array(weights, XYZ, 0.0), stack_array(weights, XYZ, 0.0), weights)
    set_task(arm, target, task)
    if rotation_defect(target, task.target_points) > ROTATION_DEFECT:
        return INVALID, np.nan, np.nan, 0, 0
    clamp_joints(arm, q)
    errors = task_errors(arm, task, q)
    if is_converged(errors, criteria, weights):
        return CONVERGED, errors[0], errors[1], 0, 0

    x, y, z = task.target_points[0, 0], task.target_points[0, 1], task.target_points[0, 2]
    too_far = beyond_reach(arm, x, y, z, criteria.position_tol)
    max_restarts = min(criteria.max_restarts, FAR_RESTARTS) if too_far else criteria.max_restarts
    scratch = lm_scratch(q.size)
    start, iterations = q.copy(), 0
    ends = np.empty((0, q.size))
    for count in range(max_restarts + 1):
        if count > 0:
            restart_values(arm, criteria, start, count, q)
            errors = task_errors(arm, task, q)
        if not too_far:
            patience = PATIENCE if count < HARD_AFTER else PATIENCE_WHEN_HARD
            done = attempt(arm, task, criteria, errors, patience, start, q, scratch)
            iterations, errors = iterations + done[0], (done[1], done[2])
            if is_converged(errors, criteria, weights):
                return CONVERGED, errors[0], errors[1], iterations, count
        if count == 0:  # not sooner: most solves converge at once
            ends = np.empty((min(max_restarts + 1, MAX_ENDS), q.size))
        if count < ends.shape[0]:
            copy_values(q, ends[count])
    sweeps, moved = closest_approach(arm, task, criteria, start, ends, q)
    iterations += sweeps
    errors = task_errors(arm, task, q)
    status = STALLED
    if is_converged(errors, criteria, weights):
        status = CONVERGED
    elif too_far:
        status = UNREACHABLE
    elif moved > MIN_MOVE:
        status = ITERATION_LIMIT
    elif reached_without_limits(arm, task, criteria, q, scratch):
        status = BLOCKED
    return status, errors[0], errors[1], iterations, max_restarts
