"""All solutions of one target: candidates in closed form, checked by forward kinematics."""

from math import ceil, floor, sqrt

import numpy as np

from jointwise.kernels._numba.arrays import XYZ, stack_array
from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.algebra.linear import solve_positive
from jointwise.kernels.algebra.trig import TURN
from jointwise.kernels.closed_form.candidate_checks import (
    EXACT,
    check_candidates,
    set_rotation,
)
from jointwise.kernels.closed_form.candidates import FOUR, fill_candidates, unlimited_arm
from jointwise.kernels.closed_form.joint_pairs import NARROW, OVERFLOW, SINGULAR
from jointwise.kernels.closed_form.standard_solutions import has_standard_form, regular_solutions
from jointwise.kernels.closed_form.structures import GROUPS, LANE
from jointwise.kernels.collision.contacts import has_scene, touches
from jointwise.kernels.kinematics.fk import all_finite, copy_values, unpack_arm
from jointwise.kernels.kinematics.poses import is_pose
from jointwise.kernels.kinematics.tasks import is_converged, set_task, task_errors
from jointwise.kernels.layout.arm import BOUND_LOWER, BOUND_UPPER, REVOLUTE, Arm
from jointwise.kernels.layout.arrays import Floats, Outcome
from jointwise.kernels.layout.closed_form import (
    AT_LIMIT,
    CLEARLY_OUTSIDE,
    FORM_FIXED,
    FORM_IS_BACKWARD,
    FORM_SIZE,
    HAS_FREE_JOINT,
    HAS_REJECTED,
    IS_AT_LIMIT,
    IS_INVALID,
    IS_NARROW,
    MAX_SOLUTIONS,
)
from jointwise.kernels.layout.status import (
    COLLIDES_ALWAYS,
    CONVERGED,
    INVALID,
    OUTSIDE_LIMITS,
    PENDING,
    UNREACHABLE,
)
from jointwise.kernels.layout.task import PackedCriteria, Task
from jointwise.kernels.layout.thresholds import MAX_STEPS, PATIENCE
from jointwise.kernels.serial.descent import unpack_criteria
from jointwise.kernels.serial.lm import (
    LMWorkspace,
    evaluate_residual,
    fill_jacobian,
    levenberg_marquardt,
)
from jointwise.kernels.serial.search import largest_change, lm_scratch
from jointwise.kernels.serial.sweep import clamp_joints

# Rows of the motions of all candidates, seven joints at most; a number for each solution.
MOTION_ROWS, ONE_EACH = (0,) * (14 * GROUPS), (0,) * MAX_SOLUTIONS
# Joints that may move farther within the tolerances may be anywhere [rad, m]. What is added to
# squared singular values, as they may be 0.
LARGEST_MOVE, MIN_GRAM = 0.2, 1e-13
# Within tolerances up to this, whatever is near a solution that collides collides too [m, rad].
TIGHT = 1e-6


@jit
def turn_inside(kinds: Floats, bounds: Floats, near: Floats, q: Floats) -> float:
    """Add full turns that bring ``q`` inside the limits, close to ``near``: by how much it is not.

    The largest distance of a joint from its limits [rad, m]; 0 if all are inside.
    """
    outside = 0.0
    for i in range(kinds.size):
        value, lower, upper = q[i], bounds[i, BOUND_LOWER], bounds[i, BOUND_UPPER]
        if kinds[i] == REVOLUTE:
            value += TURN * floor((near[i] - value) / TURN + 0.5)
            if value > upper + AT_LIMIT:
                value -= TURN * ceil((value - upper - AT_LIMIT) / TURN)
            elif value < lower - AT_LIMIT:
                value += TURN * ceil((lower - AT_LIMIT - value) / TURN)
        beyond = beyond_limits(kinds, bounds, i, value)
        if beyond <= AT_LIMIT:
            value = min(max(value, lower), upper)
        else:
            outside = max(outside, beyond)
        q[i] = value
    return outside


@jit_inline
def beyond_limits(kinds: Floats, bounds: Floats, i: int, value: float) -> float:
    """How far the value of joint i is from its limits, at most a turn away from them [rad, m]."""
    lower, upper = bounds[i, BOUND_LOWER], bounds[i, BOUND_UPPER]
    beyond: float = max(lower - value, value - upper, 0.0)
    if kinds[i] == REVOLUTE and value < lower:  # or a turn less, beyond the other limit
        beyond = min(beyond, value + TURN - upper)
    elif kinds[i] == REVOLUTE and value > upper:
        beyond = min(beyond, lower - (value - TURN))
    return beyond


@jit
def may_be_inside(
    arm: Arm, unlimited: Arm, pose: Floats, scales: tuple[float, float], q: Floats
) -> bool:
    """Whether a solution outside the limits may come inside, for a target that is off a little.

    A direction with the singular value s moves by at most 2 e / s if the target is off by e, also
    where two solutions merge: s t + k t² = e has no larger root. Twice that is allowed for.

    Args:
        arm: The arm.
        unlimited: The arm without limits.
        pose: (4, 4) the target.
        scales: Size of the arm, and four times how far off the target may be [m].
        q: (n,) the solution, with the full turns of ``turn_inside`` [rad, m].
    """
    n, weights, error = q.size, (1.0, 1.0, 1.0, 1.0), scales[1] / scales[0]
    task = Task(stack_array(weights, XYZ, 0.0), stack_array(weights, XYZ, 0.0), weights)
    set_task(arm, pose, task)
    frames, jacobian = lm_scratch(n)
    workspace = LMWorkspace(frames, jacobian, stack_array(weights, XYZ, 0.0))
    evaluate_residual(unlimited, task, q, workspace)
    fill_jacobian(unlimited, workspace, 1.0 / scales[0])
    gram, column, scratch = np.empty((n, n)), np.empty(n), np.empty(n)
    clearly_outside = False
    for i in range(n):
        for row in range(n):
            column[row] = 1.0 if row == i else 0.0
            for k in range(row + 1):
                gram[row, k] = MIN_GRAM if row == k else 0.0
                for axis in range(6):
                    gram[row, k] += jacobian[row, axis] * jacobian[k, axis]
        solve_positive(gram, column, scratch, n)
        moves = error * sqrt(column[i])
        if not moves < LARGEST_MOVE or not column[i] < 0.01 / MIN_GRAM:
            return True
        beyond = beyond_limits(arm.kinds, arm.bounds, i, q[i])
        clearly_outside |= beyond > max(CLEARLY_OUTSIDE, 4.0 * sqrt(error), moves)
    return not clearly_outside


@jit
def closed_solutions(
    packed_arm: Floats,
    form: Floats,
    target: Floats,
    near: Floats,
    redundancy: float,
    error: float,
    solutions: Floats,
) -> tuple[int, int, int]:
    """Write all solutions: (how many inside the limits, how many in all, what is noted).

    Each has the full turns that bring it closest to ``near``. Those inside the limits come first.

    Args:
        packed_arm: The arm.
        form: Its closed form; see ``layout.closed_form``.
        target: (4, 4) a pose.
        near: (n,) preferred joint values [rad, m].
        redundancy: The arm angle, or the value of the fixed joint [rad, m]; ignored for six joints.
        error: How far off a target may be and count as reached [m]; decides what is narrow.
        solutions: (k, n) where they are written.
    """
    n = near.size
    arm, unlimited = unpack_arm(packed_arm, n), unlimited_arm(form, n)
    if has_standard_form(form):
        regular = regular_solutions(form, arm.bounds, target, near, solutions)
        # Without a solution, what is missed by less than the error decides.
        if regular[0] > 0 or (regular[0] == 0 and regular[2] == 0 and is_small(form, error)):
            return regular
    notes, candidates = stack_array(XYZ, XYZ, error)[0], stack_array(MOTION_ROWS, LANE, error)
    notes[SINGULAR], notes[NARROW], notes[OVERFLOW] = 0.0, 0.0, 0.0
    pose = stack_array(FOUR, FOUR, error)
    set_rotation(target, pose)
    count = fill_candidates(form, pose, near, redundancy, error, candidates, notes)
    tolerance = EXACT * max(1.0, form[FORM_SIZE])
    order = form[FORM_IS_BACKWARD] > 0.0, int(form[FORM_FIXED])
    found, rejected = check_candidates(
        unlimited, pose, tolerance, order, redundancy, candidates, count, solutions
    )
    noted = 0
    if notes[SINGULAR] > 0.0:
        noted += HAS_FREE_JOINT
    if notes[NARROW] > 0.0:
        noted += IS_NARROW
    if rejected > 0 or notes[OVERFLOW] > 0.0:
        noted += HAS_REJECTED
    inside, kinds, bounds = 0, arm.kinds, arm.bounds
    for m in range(found):
        if turn_inside(kinds, bounds, near, solutions[m]) > 0.0:
            continue
        for i in range(n):
            value = solutions[m, i]
            solutions[m, i], solutions[inside, i] = solutions[inside, i], value
        inside += 1
    scales = form[FORM_SIZE], error
    matters = inside == 0 or has_scene(packed_arm)
    for m in range(inside, found):
        if matters and noted == 0 and may_be_inside(arm, unlimited, pose, scales, solutions[m]):
            noted |= IS_AT_LIMIT
    return inside, found, noted


@jit
def is_small(form: Floats, error: float) -> bool:
    """Whether an error [m] is so small that a regular pose without a solution is out of reach."""
    return bool(error < 20.0 * EXACT * form[FORM_SIZE])


@jit
def order_solutions(
    arm: Arm, near: Floats, by_distance: bool, count: int, solutions: Floats
) -> None:
    """Sort solutions by their largest joint change from ``near``; or else spread them.

    Spread, the nearest comes first, and then each the farthest from all before, by full turns at
    most half of one.
    """
    kinds, apart = arm.kinds, stack_array(XYZ, ONE_EACH, near[0])[0]
    for m in range(count):
        apart[m] = largest_change(solutions[m], near)
    for first in range(count):
        best = first
        for m in range(first + 1, count):
            nearer = first == 0 or by_distance
            if (apart[m] < apart[best]) if nearer else (apart[m] > apart[best]):
                best = m
        apart[first], apart[best] = apart[best], apart[first]
        for i in range(kinds.size):
            value = solutions[first, i]
            solutions[first, i], solutions[best, i] = solutions[best, i], value
        if not by_distance:
            for m in range(first + 1, count):
                change = wrapped_change(kinds, solutions[m], solutions[first])
                apart[m] = change if first == 0 else min(apart[m], change)


@jit
def wrapped_change(kinds: Floats, a: Floats, b: Floats) -> float:
    """The largest joint difference, by full turns at most half of one [rad, m]."""
    largest = 0.0
    for i in range(kinds.size):
        difference = a[i] - b[i]
        if kinds[i] == REVOLUTE:
            difference -= TURN * floor(difference / TURN + 0.5)
        largest = max(largest, abs(difference))
    return largest


@jit
def ordered_solutions(
    packed_arm: Floats,
    form: Floats,
    target: Floats,
    near: Floats,
    redundancy: float,
    error: float,
    by_distance: bool,
    solutions: Floats,
) -> tuple[int, int, int]:
    """``closed_solutions`` in the order of ``order_solutions``."""
    if not (is_pose(target) and all_finite(near)):
        return 0, 0, IS_INVALID
    inside, found, noted = closed_solutions(
        packed_arm, form, target, near, redundancy, error, solutions
    )
    order_solutions(unpack_arm(packed_arm, near.size), near, by_distance, inside, solutions)
    return inside, found, noted


@jit
def solve_nearest(
    packed_arm: Floats,
    form: Floats,
    target: Floats,
    packed_criteria: PackedCriteria,
    q: Floats,
) -> Outcome:
    """Move ``q`` to the free solution with the smallest largest change, or prove that none is.

    The status is ``UNREACHABLE``, ``OUTSIDE_LIMITS`` or ``COLLIDES_ALWAYS`` if that is proven, and
    ``PENDING`` if the closed form does not decide it: at singularities, and where the target is
    missed by little.
    """
    at_start = check_start(packed_arm, target, packed_criteria, q)
    if at_start[0] != PENDING:
        return at_start
    error, n = reach_error(form, packed_criteria), q.size
    solutions = np.empty((MAX_SOLUTIONS, n))
    inside, found, noted = closed_solutions(packed_arm, form, target, q, 0.0, error, solutions)
    if inside == 0 and noted == 0:
        return OUTSIDE_LIMITS if found > 0 else UNREACHABLE, np.nan, np.nan, 0, 0
    if inside == 0:
        return nearest_inside(packed_arm, target, packed_criteria, found, solutions, q)
    free = nearest_free(packed_arm, inside, q, solutions)
    loose = max(packed_criteria[0], packed_criteria[1]) > TIGHT
    if free < 0 and (noted != 0 or loose):  # a solution that is not listed may be free
        return PENDING, np.nan, np.nan, 0, 0
    copy_values(solutions[max(free, 0)], q)
    outcome = pose_outcome(packed_arm, target, packed_criteria, q)
    if free < 0 and outcome[0] == CONVERGED:
        return COLLIDES_ALWAYS, outcome[1], outcome[2], 0, 0
    return outcome


@jit
def nearest_inside(
    packed_arm: Floats,
    target: Floats,
    packed_criteria: PackedCriteria,
    found: int,
    solutions: Floats,
    q: Floats,
) -> Outcome:
    """Move ``q`` to where the arm inside its limits comes from solutions outside them.

    That is ``CONVERGED`` within the tolerances, for the one with the smallest largest change. Else
    the status is ``PENDING``, and ``q`` stays.
    """
    weights, criteria = (1.0, 1.0, 1.0, 1.0), unpack_criteria(packed_criteria)
    arm, scratch = unpack_arm(packed_arm, q.size), lm_scratch(q.size)
    task = Task(stack_array(weights, XYZ, 0.0), stack_array(weights, XYZ, 0.0), weights)
    set_task(arm, target, task)
    best, smallest, steps = -1, np.inf, 0
    for m in range(found):
        clamp_joints(arm, solutions[m])
        done = levenberg_marquardt(arm, task, criteria, MAX_STEPS, PATIENCE, solutions[m], scratch)
        steps += done[0]
        change = largest_change(solutions[m], q)
        reached = is_converged((done[1], done[2]), criteria, weights)
        if reached and change < smallest and not touches(packed_arm, arm, solutions[m]):
            best, smallest = m, change
    if best < 0:
        return PENDING, np.nan, np.nan, 0, 0
    copy_values(solutions[best], q)
    errors = task_errors(arm, task, q)
    return CONVERGED, errors[0], errors[1], steps, 0


@jit
def check_start(
    packed_arm: Floats, target: Floats, packed_criteria: PackedCriteria, q: Floats
) -> Outcome:
    """Bring ``q`` inside the limits: whether the input is valid, and already at the target."""
    if not (all_finite(q) and is_pose(target)):
        return INVALID, np.nan, np.nan, 0, 0
    arm = unpack_arm(packed_arm, q.size)
    clamp_joints(arm, q)
    outcome = pose_outcome(packed_arm, target, packed_criteria, q)
    if outcome[0] == CONVERGED and touches(packed_arm, arm, q):
        return PENDING, np.nan, np.nan, 0, 0
    return outcome


@jit
def pose_outcome(
    packed_arm: Floats, target: Floats, packed_criteria: PackedCriteria, q: Floats
) -> Outcome:
    """``CONVERGED`` if joint values are at a pose, else ``PENDING``; with their errors."""
    weights, criteria = (1.0, 1.0, 1.0, 1.0), unpack_criteria(packed_criteria)
    arm = unpack_arm(packed_arm, q.size)
    task = Task(stack_array(weights, XYZ, 0.0), stack_array(weights, XYZ, 0.0), weights)
    set_task(arm, target, task)
    errors = task_errors(arm, task, q)
    status = CONVERGED if is_converged(errors, criteria, weights) else PENDING
    return status, errors[0], errors[1], 0, 0


@jit
def nearest_free(packed_arm: Floats, count: int, near: Floats, solutions: Floats) -> int:
    """The index of the solution nearest to ``near`` that touches nothing, or -1.

    Nearer ones come to the front, so that the nearest of all is the first.
    """
    arm = unpack_arm(packed_arm, near.size)
    for first in range(count):
        best, smallest = first, largest_change(solutions[first], near)
        for m in range(first + 1, count):
            change = largest_change(solutions[m], near)
            if change < smallest:
                best, smallest = m, change
        for i in range(near.size):
            value = solutions[first, i]
            solutions[first, i], solutions[best, i] = solutions[best, i], value
        if not touches(packed_arm, arm, solutions[first]):
            return first
    return -1


@jit
def reach_error(form: Floats, packed_criteria: PackedCriteria) -> float:
    """How far off a target may be and still be reached within the tolerances [m]."""
    criteria = unpack_criteria(packed_criteria)
    return float(4.0 * (criteria.position_tol + form[FORM_SIZE] * criteria.orientation_tol))
