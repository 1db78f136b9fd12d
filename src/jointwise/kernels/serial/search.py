"""The combined solver: CCD sweeps, then Levenberg-Marquardt, then restarts.

A target that is not reached ends in its closest approach: CCD until no joint moves. It stays near
the start, unless another configuration is closer by a tenth; so a second solve from there does not
leave it, and an arm does not leap while such a target is dragged.
"""

from math import inf, sqrt

import numpy as np

from jointwise.kernels._numba.jit import jit
from jointwise.kernels._numba.where import floor
from jointwise.kernels.algebra.trig import TURN
from jointwise.kernels.collision.contacts import touches, touches_at_target
from jointwise.kernels.kinematics.fk import all_finite, copy_values
from jointwise.kernels.kinematics.tasks import (
    is_converged,
    is_too_far,
    rotation_defect,
    scaled_error_sq,
    task_errors,
)
from jointwise.kernels.layout.arm import BOUND_COS_HALF, BOUND_LOWER, BOUND_UPPER, PRISMATIC, Arm
from jointwise.kernels.layout.arrays import (
    ROTATION_DEFECT,
    UNLIMITED,
    Errors,
    Floats,
    Outcome,
    Weights,
)
from jointwise.kernels.layout.status import (
    COLLIDES,
    COLLIDES_ALWAYS,
    CONVERGED,
    INVALID,
    ITERATION_LIMIT,
    OUTSIDE_LIMITS,
    PENDING,
    STALLED,
    UNREACHABLE,
)
from jointwise.kernels.layout.task import Criteria, PackedCriteria, Task
from jointwise.kernels.layout.thresholds import (
    FAR_RESTARTS,
    HARD_AFTER,
    MAX_ENDS,
    MAX_STEPS,
    MAX_SWEEPS,
    MIN_MOVE,
    MUCH_CLOSER,
    NEARBY_RESTARTS,
    OUTSIDE_ATTEMPTS,
    PATIENCE,
    PATIENCE_WHEN_HARD,
    PROMISING,
    SHORT_MIN_MOVE,
    SHORT_SWEEPS,
    SKIP_SWEEPS_BELOW,
    SWEEPS,
    UNLIMITED_ATTEMPTS,
)
from jointwise.kernels.serial.descent import descend, descend_anderson, energy, unpack_solve
from jointwise.kernels.serial.lm import levenberg_marquardt
from jointwise.kernels.serial.self_motion import slide
from jointwise.kernels.serial.sweep import clamp_joints

# Frames and Jacobian of a workspace; see ``lm.LMWorkspace``.
Scratch = tuple[Floats, Floats]


@jit
def restart_values(arm: Arm, criteria: Criteria, start: Floats, count: int, q: Floats) -> None:
    """Write into ``q`` the start of restart number ``count``, from a Kronecker sequence.

    Joints without limits are sampled within a turn around the start. If ``near_start`` is asked
    for, the first restarts fill growing boxes around the start.
    """
    kinds, bounds, strides = arm.kinds, arm.bounds, arm.strides
    for i in range(kinds.size):
        lower, upper = bounds[i, BOUND_LOWER], bounds[i, BOUND_UPPER]
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
            if bounds[i, BOUND_LOWER] <= closer <= bounds[i, BOUND_UPPER]:
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
def make_free(
    packed_arm: Floats, arm: Arm, task: Task, criteria: Criteria, start: Floats, q: Floats
) -> tuple[bool, int]:
    """Slide along the self-motion from a solution that touches: (whether free, iterations)."""
    free, iterations = slide(packed_arm, arm, task, criteria, q, lm_scratch(q.size))
    if free:
        unwrap_near(arm, start, q)
        free = is_converged(task_errors(arm, task, q), criteria, task.weights)
    return free, iterations


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

    Ends when ``solutions (k, n)`` is full, or after ``attempts`` attempts.
    """
    arm, task, criteria = unpack_solve(packed_arm, target, weights, packed_criteria, start)
    scratch = lm_scratch(start.size)
    q = start.copy()
    found = 0
    for count in range(attempts):
        if count > 0:
            restart_values(arm, criteria, start, count, q)
        errors = task_errors(arm, task, q)
        done = attempt(arm, task, criteria, errors, PATIENCE, start, q, scratch)
        converged = is_converged((done[1], done[2]), criteria, weights)
        if converged and touches(packed_arm, arm, q):
            converged = make_free(packed_arm, arm, task, criteria, start, q)[0]
        if converged:
            copy_values(q, solutions[found])
            found += 1
            if found == solutions.shape[0]:
                break
    return found


@jit
def search_without_limits(
    packed_arm: Floats, arm: Arm, task: Task, criteria: Criteria, q: Floats, scratch: Scratch
) -> int:
    """What the arm reaches without its joint limits, from ``q``: a status.

    A solution inside the limits, or one that an attempt from there leads to, moves ``q`` and is
    ``CONVERGED``, or ``COLLIDES``. If there are solutions outside only, it is ``OUTSIDE_LIMITS``,
    and else ``STALLED``.
    """
    bounds, start = arm.bounds.copy(), q.copy()
    for i in range(arm.kinds.size):
        bounds[i, BOUND_LOWER], bounds[i, BOUND_UPPER], bounds[i, BOUND_COS_HALF] = -inf, inf, -2.0
    unlimited = Arm(
        arm.links, arm.kinds, bounds, arm.joint_penalties, arm.angular_scale, arm.reach, arm.strides
    )
    everywhere = Criteria(
        criteria.position_tol, criteria.orientation_tol, 0, False, criteria.sequence_offset
    )
    outside = 0
    for count in range(UNLIMITED_ATTEMPTS):
        if count > 0:
            restart_values(unlimited, everywhere, start, count, q)
        errors = task_errors(unlimited, task, q)
        done = attempt(unlimited, task, everywhere, errors, PATIENCE, start, q, scratch)
        if not is_converged((done[1], done[2]), criteria, task.weights):
            continue
        clamp_joints(arm, q)
        errors = task_errors(arm, task, q)
        if not is_converged(errors, criteria, task.weights):
            done = attempt(arm, task, criteria, errors, PATIENCE, start, q, scratch)
            errors = done[1], done[2]
        if is_converged(errors, criteria, task.weights):
            return COLLIDES if touches(packed_arm, arm, q) else CONVERGED
        outside += 1
        if outside == min(OUTSIDE_ATTEMPTS, criteria.max_restarts + 1):
            break
    copy_values(start, q)
    return OUTSIDE_LIMITS if outside > 0 else STALLED


@jit
def largest_change(a: Floats, b: Floats) -> float:
    """The largest joint difference between two configurations [rad, m]."""
    largest = 0.0
    for i in range(a.size):
        largest = max(largest, abs(a[i] - b[i]))
    return largest


@jit
def closest_approach(
    arm: Arm, task: Task, criteria: Criteria, ends: Floats, count: int, q: Floats
) -> tuple[int, float]:
    """Write into ``q`` the closest approach to a target that is not reached: (sweeps, last move).

    The measure is sqrt(E), see ``energy``. The local approach is CCD from the start. The end of an
    attempt replaces it only if it is closer by a tenth, or not farther and nearer to the start. So
    more attempts never make the result worse.
    ``ends`` has the start, followed by the joint values at the end of each attempt.
    """
    start = ends[0]
    copy_values(start, q)
    sweeps, moved = descend_anderson(arm, task, criteria, MIN_MOVE, MAX_SWEEPS, q)
    unwrap_near(arm, start, q)
    best, best_moved = q.copy(), moved
    best_measure = sqrt(energy(arm, task, best))
    for k in range(1, count + 1):
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
def search_attempts(
    packed_arm: Floats,
    target: Floats,
    weights: Weights,
    packed_criteria: PackedCriteria,
    ends: Floats,
    q: Floats,
) -> Outcome:
    """Attempt from ``q`` and from restarts, until one converges and moves ``q`` to a solution.

    One that touches something is slid along the self-motion. If that does not free it, the next
    attempt follows; if none is free, ``q`` is the first that converged. If none converges, the
    status is ``PENDING``, and ``ends (k, n)`` has the start, clamped, and after it the joint values
    at the end of the first attempts.
    """
    if not (all_finite(target) and all_finite(q)):
        return INVALID, np.nan, np.nan, 0, 0
    arm, task, criteria = unpack_solve(packed_arm, target, weights, packed_criteria, q)
    if rotation_defect(target, task.target_points) > ROTATION_DEFECT:
        return INVALID, np.nan, np.nan, 0, 0
    clamp_joints(arm, q)
    errors = task_errors(arm, task, q)
    if is_converged(errors, criteria, weights) and not touches(packed_arm, arm, q):
        return CONVERGED, errors[0], errors[1], 0, 0

    too_far = is_too_far(arm, task, criteria)
    always = touches_at_target(packed_arm, arm, task, q)
    max_restarts = min(criteria.max_restarts, FAR_RESTARTS) if too_far else criteria.max_restarts
    scratch, start, iterations = lm_scratch(q.size), ends[0], 0
    touching, arrived = q.copy(), False
    copy_values(q, start)
    for count in range(max_restarts + 1):
        if count > 0:
            restart_values(arm, criteria, start, count, q)
            errors = task_errors(arm, task, q)
        if not too_far:
            patience = PATIENCE if count < HARD_AFTER else PATIENCE_WHEN_HARD
            done = attempt(arm, task, criteria, errors, patience, start, q, scratch)
            iterations, errors = iterations + done[0], (done[1], done[2])
            if is_converged(errors, criteria, weights):
                if not touches(packed_arm, arm, q):
                    return CONVERGED, errors[0], errors[1], iterations, count
                if always:
                    return COLLIDES_ALWAYS, errors[0], errors[1], iterations, count
                if not arrived:
                    copy_values(q, touching)
                arrived = True
                free, moves = make_free(packed_arm, arm, task, criteria, start, q)
                iterations += moves
                if free:
                    errors = task_errors(arm, task, q)
                    return CONVERGED, errors[0], errors[1], iterations, count
        if count + 1 < ends.shape[0]:
            copy_values(q, ends[count + 1])
    if arrived:
        copy_values(touching, q)
        errors = task_errors(arm, task, q)
        return COLLIDES, errors[0], errors[1], iterations, max_restarts
    return PENDING, np.nan, np.nan, iterations, max_restarts


@jit
def search_closest(
    packed_arm: Floats,
    target: Floats,
    weights: Weights,
    packed_criteria: PackedCriteria,
    attempted: Outcome,
    ends: Floats,
    q: Floats,
) -> Outcome:
    """Move ``q`` to the closest approach, after ``search_attempts`` found no solution."""
    arm, task, criteria = unpack_solve(packed_arm, target, weights, packed_criteria, q)
    _, _, _, iterations, restarts = attempted
    count = min(restarts + 1, ends.shape[0] - 1)
    sweeps, moved = closest_approach(arm, task, criteria, ends, count, q)
    errors = task_errors(arm, task, q)
    status = STALLED
    if is_converged(errors, criteria, weights):
        status = CONVERGED
    elif is_too_far(arm, task, criteria):
        status = UNREACHABLE
    elif moved > MIN_MOVE:
        status = ITERATION_LIMIT
    else:
        status = search_without_limits(packed_arm, arm, task, criteria, q, lm_scratch(q.size))
        errors = task_errors(arm, task, q)
    return status, errors[0], errors[1], iterations + sweeps, restarts


def search(
    packed_arm: Floats,
    target: Floats,
    weights: Weights,
    packed_criteria: PackedCriteria,
    q: Floats,
) -> Outcome:
    """Move ``q`` to a solution, or to the closest approach.

    Not ``jit``: most targets are reached, so Numba compiles the closest approach when a target is
    not. The native library has all of it in one function.
    """
    ends = np.empty((min(packed_criteria[2] + 1, MAX_ENDS) + 1, q.size))
    outcome = search_attempts(packed_arm, target, weights, packed_criteria, ends, q)
    if outcome[0] != PENDING:
        return outcome
    return search_closest(packed_arm, target, weights, packed_criteria, outcome, ends, q)
