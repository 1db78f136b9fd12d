"""The combined solver: CCD sweeps, then Levenberg-Marquardt, then restarts.

The best attempt is kept, never the last. A target that is not reached ends in its closest
approach: CCD until no joint moves, so that a second solve from there does not leave it.
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
# The closest approach: sweeps at most, the largest move that counts as none [rad, m], and by what
# share of the angular scale another attempt must be closer to replace the best.
MAX_SWEEPS, MIN_MOVE, MIN_GAIN = int64_const(20_000), 1e-10, 1e-6
# The same for a target beyond reach, where a few short attempts are made; a much closer one is
# asked for, so that the arm does not flip while such a target is dragged.
FAR_RESTARTS, FAR_SWEEPS, FAR_MIN_MOVE, FAR_MIN_GAIN = 8, int64_const(100), 1e-4, 0.01
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
def search(
    packed_arm: Floats, target: Floats, weights: Weights, packed_criteria: PackedCriteria, q: Floats
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
    near_start = criteria.near_start or too_far
    max_restarts = min(criteria.max_restarts, FAR_RESTARTS) if too_far else criteria.max_restarts
    min_gain = (FAR_MIN_GAIN if too_far else MIN_GAIN) * arm.angular_scale
    scratch = lm_scratch(q.size)
    start, iterations, restarts = q.copy(), 0, 0
    best = start
    while True:
        criteria = Criteria(
            criteria.position_tol,
            criteria.orientation_tol,
            max_restarts,
            near_start,
            criteria.sequence_offset,
        )
        best_distance, improved = 0.0, False
        for count in range(max_restarts + 1):
            if count > 0:
                restart_values(arm, criteria, start, count, q)
                errors = task_errors(arm, task, q)
                restarts += 1
            if too_far:
                iterations += descend_anderson(arm, task, criteria, FAR_MIN_MOVE, FAR_SWEEPS, q)[0]
            else:
                patience = PATIENCE if count < HARD_AFTER else PATIENCE_WHEN_HARD
                done = attempt(arm, task, criteria, errors, patience, start, q, scratch)
                iterations, errors = iterations + done[0], (done[1], done[2])
            if is_converged(errors, criteria, weights):
                return CONVERGED, errors[0], errors[1], iterations, restarts
            if count == 0:  # not sooner: most solves converge at once
                best_distance = sqrt(energy(arm, task, best))
            distance = sqrt(energy(arm, task, q))
            if distance < best_distance - min_gain:
                best_distance, improved = distance, True
                best = q.copy()
        copy_values(best, q)
        sweeps, moved = descend_anderson(arm, task, criteria, MIN_MOVE, MAX_SWEEPS, q)
        iterations += sweeps
        errors = task_errors(arm, task, q)
        if is_converged(errors, criteria, weights):
            return CONVERGED, errors[0], errors[1], iterations, restarts
        # Done when restarts around the best itself find nothing better: a second solve from there
        # would do just that.
        if near_start and not improved:
            break
        start = q.copy()
        best, near_start = start, True
    status = UNREACHABLE
    if not too_far:
        if moved > MIN_MOVE:
            status = ITERATION_LIMIT
        elif reached_without_limits(arm, task, criteria, q, scratch):
            status = BLOCKED
        else:
            status = STALLED
    return status, errors[0], errors[1], iterations, restarts
