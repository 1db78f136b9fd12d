"""Many problems on one core: eight side by side, each replaced as soon as it is done.

A slot holds a problem from its first attempt to its last. Slots at the beginning of an attempt are
swept eight at a time; swept slots wait for a free lane of Levenberg-Marquardt. The result of a
problem does not depend on the others.
"""

import numpy as np

from jointwise.kernels._numba.arrays import XYZ, stack_array, uncounted
from jointwise.kernels._numba.jit import jit, jit_inline, jit_noinline
from jointwise.kernels._numba.where import HAS_LANES as HAS_LANES
from jointwise.kernels._numba.where import any_lane, where
from jointwise.kernels.batch.slots import (
    ALWAYS_IN_CONTACT,
    HAS_CONTACT,
    NO_CONTACT,
    SLOT_FREE,
    SLOT_STARTING,
    SLOT_STEPPING,
    SLOT_SWEPT,
    Slots,
    StepLanes,
    SweepLanes,
    load_lane,
    unpack_slots,
)
from jointwise.kernels.collision.contacts import touches, touches_at_target
from jointwise.kernels.kinematics.fk import all_finite, copy_values, unpack_arm
from jointwise.kernels.kinematics.tasks import (
    chord_tolerance_sq,
    is_converged,
    is_too_far,
    rotation_defect,
    scaled_error_sq,
    set_task,
    task_errors,
)
from jointwise.kernels.layout.arm import Arm
from jointwise.kernels.layout.arrays import (
    MAX_VALUE,
    ROTATION_DEFECT,
    Errors,
    Floats,
    Ints,
    Weights,
)
from jointwise.kernels.layout.slots import SLOTS, WIDTH
from jointwise.kernels.layout.status import (
    COLLIDES,
    COLLIDES_ALWAYS,
    CONVERGED,
    INVALID,
    PENDING,
    STALLED,
    UNREACHABLE,
)
from jointwise.kernels.layout.task import Criteria, PackedProblem, Results, Task
from jointwise.kernels.layout.thresholds import (
    HARD_AFTER,
    MAX_STEPS,
    PATIENCE,
    PATIENCE_WHEN_HARD,
    SKIP_SWEEPS_BELOW,
    SWEEPS,
)
from jointwise.kernels.serial.descent import rounding_noise, unpack_criteria
from jointwise.kernels.serial.lm import (
    NO_ERROR_YET,
    LMWorkspace,
    evaluate_residual,
    lm_step,
    update_stall,
)
from jointwise.kernels.serial.search import make_free, restart_values, unwrap_near
from jointwise.kernels.serial.sweep import (
    SweepState,
    clamp_joint,
    from_unit_circle,
    sweep,
    targets_in_joint_frames,
    to_unit_circle,
)

if HAS_LANES:  # else rows are solved one by one, by ``search``
    from jointwise.kernels._numba.lanes import as_lanes

# Entries of ``progress``: rows done, rows solved, and whether to stop.
DONE, SOLVED, STOP = range(3)

evaluate_lanes, step_lanes = jit_noinline(evaluate_residual), jit_noinline(lm_step)


@jit_inline
def uncounted_problem(problem: PackedProblem) -> PackedProblem:
    """The same problem, without reference counting of its arrays."""
    arm, targets, starts = problem.packed_arm, problem.targets, problem.starts
    return PackedProblem(
        uncounted(arm), uncounted(targets), problem.weights, uncounted(starts), problem.criteria
    )


@jit_inline
def uncounted_results(results: Results) -> Results:
    """The same results, without reference counting of their arrays."""
    return Results(
        uncounted(results.q),
        uncounted(results.converged),
        uncounted(results.position_error),
        uncounted(results.orientation_error),
        uncounted(results.iterations),
        uncounted(results.restarts),
        uncounted(results.status),
    )


@jit
def write_result(
    results: Results, row: int, q: Floats, errors: Errors, status: int, counts: tuple[int, int]
) -> None:
    """Write the result of a problem; ``counts`` are iterations and restarts."""
    copy_values(q, results.q[row])
    results.converged[row], results.status[row] = status == CONVERGED, status
    results.position_error[row], results.orientation_error[row] = errors
    results.iterations[row], results.restarts[row] = counts


@jit
def start_problem(
    arm: Arm, problem: PackedProblem, tip_points: Floats, slots: Slots, slot: int, row: int
) -> int:
    """Put a row of the batch into a slot; ``PENDING``, or its status if it ends at once."""
    target, criteria = problem.targets[row], unpack_criteria(problem.criteria)
    start = problem.starts[row if problem.starts.shape[0] > 1 else 0]
    points = slots.target_points[slot]
    set_task(arm, target, Task(tip_points, points, problem.weights))
    kinds, bounds, q, first = arm.kinds, arm.bounds, slots.q[slot], slots.start[slot]
    for i in range(kinds.size):
        value = start[i] if abs(start[i]) < MAX_VALUE else 0.0
        first[i] = q[i] = clamp_joint(kinds, bounds, i, value)
    slots.row[slot], slots.restarts[slot], slots.iterations[slot] = row, 0, 0
    slots.contact[slot] = NO_CONTACT
    if not (all_finite(target) and all_finite(start)):
        return INVALID
    if rotation_defect(target, points) > ROTATION_DEFECT:
        return INVALID
    task = Task(tip_points, points, problem.weights)
    if is_too_far(arm, task, criteria):
        return UNREACHABLE
    if touches_at_target(problem.packed_arm, arm, task, q):
        slots.contact[slot] = ALWAYS_IN_CONTACT
    return PENDING


@jit
def sweep_lanes(
    arm: Arm, tip_points: Floats, weights: Weights, criteria: Criteria, lanes: SweepLanes
) -> None:
    """Begin an attempt in every lane: CCD sweeps; write how many, and the errors before."""
    n, m = arm.kinds.size, len(weights)
    frames, jacobian = as_lanes(np.empty((n, 3, 4, WIDTH))), as_lanes(np.empty((n + 1, 6, WIDTH)))
    state = SweepState(
        as_lanes(np.empty((n, 2, WIDTH))),
        as_lanes(np.empty((n, 2, WIDTH))),
        as_lanes(np.empty((n, m, 3, WIDTH))),
    )
    q, all_errors, counts = as_lanes(lanes.q), as_lanes(lanes.errors), as_lanes(lanes.sweeps)
    task = Task(tip_points, as_lanes(lanes.target_points), weights)
    workspace = LMWorkspace(frames, jacobian, stack_array(weights, XYZ, q[0]))
    errors = evaluate_lanes(arm, task, q, workspace)
    all_errors[0], all_errors[1] = errors
    enabled = scaled_error_sq(errors, arm.angular_scale) > SKIP_SWEEPS_BELOW
    sweeps, noise = 0.0 * errors[0], rounding_noise(arm, task, q)
    position_tol_sq = criteria.position_tol * criteria.position_tol
    chord_tol_sq = chord_tolerance_sq(criteria.orientation_tol, weights)
    to_unit_circle(arm, q, state)
    for _ in range(SWEEPS):
        distance_sq, chords_sq = targets_in_joint_frames(arm, task, state)
        within_tol = enabled & (distance_sq < position_tol_sq)
        within_tol = within_tol & (chords_sq < chord_tol_sq if m > 1 else enabled)
        if any_lane(within_tol):
            from_unit_circle(arm, state, q)
            errors = evaluate_lanes(arm, task, q, workspace)
            enabled = enabled ^ (within_tol & is_converged(errors, criteria, weights))
        sweep(arm, task, state, noise, enabled)
        sweeps = sweeps + where(enabled, 1.0, 0.0)
    from_unit_circle(arm, state, q)
    counts[0] = sweeps


@jit
def sweep_starting(
    arm: Arm,
    tip_points: Floats,
    problem: PackedProblem,
    slots: Slots,
    lanes: SweepLanes,
    results: Results,
) -> int:
    """Sweep the first slots that start an attempt; how many problems were solved at their start."""
    weights, criteria, solved = problem.weights, unpack_criteria(problem.criteria), 0
    count = 0
    for slot in range(SLOTS):
        if slots.state[slot] == SLOT_STARTING and count < WIDTH:
            lanes.slot[count] = slot
            count += 1
    for lane in range(WIDTH):  # lanes left over repeat the last problem
        load_lane(slots, lanes.slot[min(lane, count - 1)], lane, lanes.target_points, lanes.q)
    sweep_lanes(arm, tip_points, weights, criteria, lanes)
    for lane in range(count):
        slot = lanes.slot[lane]
        errors = (lanes.errors[0, lane], lanes.errors[1, lane])
        at_target = slots.restarts[slot] == 0 and is_converged(errors, criteria, weights)
        if at_target and not touches(problem.packed_arm, arm, slots.q[slot]):
            write_result(results, slots.row[slot], slots.q[slot], errors, CONVERGED, (0, 0))
            slots.state[slot] = SLOT_FREE
            solved += 1
            continue
        slots.state[slot] = SLOT_SWEPT
        slots.iterations[slot] += int(lanes.sweeps[0, lane])
        for i in range(slots.q.shape[1]):
            slots.q[slot, i] = lanes.q[i, lane]
    return solved


@jit_inline
def fill_step_lanes(slots: Slots, lanes: StepLanes) -> int:
    """Free lanes take slots that are swept; how many lanes are busy."""
    state, busy, slot, count = slots.state, lanes.busy, 0, 0
    for lane in range(WIDTH):
        while busy[0, lane] == 0.0 and slot < SLOTS:
            if state[slot] == SLOT_SWEPT:
                state[slot], lanes.slot[lane], busy[0, lane] = SLOT_STEPPING, slot, 1.0
                load_lane(slots, slot, lane, lanes.target_points, lanes.q)
                lanes.best_error[lane] = NO_ERROR_YET
                lanes.steps_since_halved[lane] = lanes.steps[lane] = 0
            slot += 1
        count += busy[0, lane] > 0.0
    return count


@jit_inline
def attempt_ended(arm: Arm, slots: Slots, lanes: StepLanes, lane: int, converged: bool) -> bool:
    """Whether the attempt of a lane is over, by the rules of ``levenberg_marquardt``."""
    errors = (lanes.errors[0, lane], lanes.errors[1, lane])
    error_sq = scaled_error_sq(errors, arm.angular_scale)
    lanes.best_error[lane], lanes.steps_since_halved[lane] = update_stall(
        error_sq, lanes.best_error[lane], lanes.steps_since_halved[lane]
    )
    hard = slots.restarts[lanes.slot[lane]] >= HARD_AFTER
    patience = PATIENCE_WHEN_HARD if hard else PATIENCE
    stalled = lanes.steps_since_halved[lane] == patience
    if converged or stalled or lanes.steps[lane] == MAX_STEPS:
        return True
    lanes.steps[lane] += 1
    return False


@jit
def leave_contact(
    arm: Arm,
    tip_points: Floats,
    problem: PackedProblem,
    slots: Slots,
    slot: int,
    errors: Errors,
    results: Results,
) -> bool:
    """Free a solution that touches something, by self-motion; whether it is free.

    The first that touches is written as the result, for when none is free. If all do at this
    target, that is the end, and the slot is free for the next row.
    """
    row, q, contact = slots.row[slot], slots.q[slot], slots.contact[slot]
    counts = (slots.iterations[slot], slots.restarts[slot])
    if contact == ALWAYS_IN_CONTACT:
        write_result(results, row, q, errors, COLLIDES_ALWAYS, counts)
        slots.state[slot] = SLOT_FREE
        return False
    if contact == NO_CONTACT:
        write_result(results, row, q, errors, COLLIDES, counts)
        slots.contact[slot] = HAS_CONTACT
    task = Task(tip_points, slots.target_points[slot], problem.weights)
    criteria = unpack_criteria(problem.criteria)
    free, iterations = make_free(problem.packed_arm, arm, task, criteria, slots.start[slot], q)
    slots.iterations[slot] += iterations
    return free


@jit
def finish_attempt(
    arm: Arm,
    tip_points: Floats,
    problem: PackedProblem,
    slots: Slots,
    lanes: StepLanes,
    lane: int,
    results: Results,
) -> int:
    """Free a lane; restart its problem, or write its result: the status, or ``PENDING``."""
    weights, criteria, slot = problem.weights, unpack_criteria(problem.criteria), lanes.slot[lane]
    lanes.busy[0, lane] = 0.0
    slots.iterations[slot] += lanes.steps[lane]
    q, start = slots.q[slot], slots.start[slot]
    for i in range(q.size):
        q[i] = lanes.q[i, lane]
    errors = (lanes.errors[0, lane], lanes.errors[1, lane])
    converged = is_converged(errors, criteria, weights)
    if converged and unwrap_near(arm, start, q):
        errors = task_errors(arm, Task(tip_points, slots.target_points[slot], weights), q)
        converged = is_converged(errors, criteria, weights)
    if converged and touches(problem.packed_arm, arm, q):
        converged = leave_contact(arm, tip_points, problem, slots, slot, errors, results)
        if slots.contact[slot] == ALWAYS_IN_CONTACT:
            return COLLIDES_ALWAYS
        errors = task_errors(arm, Task(tip_points, slots.target_points[slot], weights), q)
    if not converged and slots.restarts[slot] < criteria.max_restarts:
        slots.state[slot] = SLOT_STARTING
        slots.restarts[slot] += 1
        restart_values(arm, criteria, start, slots.restarts[slot], q)
        return PENDING
    slots.state[slot] = SLOT_FREE
    counts = (slots.iterations[slot], slots.restarts[slot])
    if converged:
        write_result(results, slots.row[slot], q, errors, CONVERGED, counts)
        return CONVERGED
    if slots.contact[slot] == HAS_CONTACT:  # the first that touched has been written
        results.iterations[slots.row[slot]], results.restarts[slots.row[slot]] = counts
        return COLLIDES
    write_result(results, slots.row[slot], start, (np.nan, np.nan), STALLED, counts)
    return STALLED


@jit
def solve_rows(
    problem: PackedProblem,
    begin: int,
    end: int,
    results: Results,
    progress: Ints,
    buffers: tuple[Floats, Ints],
) -> None:
    """Solve the rows of a batch from ``begin`` to ``end``, and write their results.

    A row that is not reached has its start as joint values and NaN as errors, and ``STALLED``
    also stands for ``OUTSIDE_LIMITS``: ``search`` finds its closest approach. ``progress (3,)``:
    rows done and rows solved are added, and it ends when the last is not 0. ``buffers`` is memory,
    from ``slot_buffers``.
    """
    problem, results = uncounted_problem(problem), uncounted_results(results)
    n, m, weights = results.q.shape[1], len(problem.weights), problem.weights
    arm, tip_points = unpack_arm(problem.packed_arm, n), stack_array(weights, XYZ, 0.0)
    slots, swept, lanes = unpack_slots(buffers[0], buffers[1], n, m)
    criteria = unpack_criteria(problem.criteria)
    q, all_errors, busy = as_lanes(lanes.q), as_lanes(lanes.errors), as_lanes(lanes.busy)
    task = Task(tip_points, as_lanes(lanes.target_points), weights)
    frames, jacobian = as_lanes(np.empty((n, 3, 4, WIDTH))), as_lanes(np.empty((n + 1, 6, WIDTH)))
    workspace = LMWorkspace(frames, jacobian, stack_array(weights, XYZ, q[0]))

    done_before, solved_before = progress[DONE], progress[SOLVED]
    row, left, solved = begin, end - begin, 0
    state, lane_busy = slots.state, lanes.busy
    while left > 0 and progress[STOP] == 0:
        starting, ready, idle = 0, 0, 0
        for slot in range(SLOTS):
            while state[slot] == SLOT_FREE and row < end:
                status = start_problem(arm, problem, tip_points, slots, slot, row)
                if status == PENDING:
                    state[slot] = SLOT_STARTING
                else:
                    errors = (np.nan, np.nan)
                    write_result(results, row, slots.start[slot], errors, status, (0, 0))
                    left -= 1
                row += 1
            starting += state[slot] == SLOT_STARTING
            ready += state[slot] == SLOT_SWEPT
        for lane in range(WIDTH):
            idle += lane_busy[0, lane] == 0.0
        # Sweep once the lanes are full, or when there is nothing else to do.
        if starting > 0 and ready < idle and (starting >= WIDTH or ready + WIDTH == idle):
            at_start = sweep_starting(arm, tip_points, problem, slots, swept, results)
            left, solved = left - at_start, solved + at_start
        if fill_step_lanes(slots, lanes) == 0:
            continue
        errors_now = evaluate_lanes(arm, task, q, workspace)
        all_errors[0], all_errors[1] = errors_now
        for lane in range(WIDTH):
            if lane_busy[0, lane] == 0.0:
                continue
            errors = (lanes.errors[0, lane], lanes.errors[1, lane])
            converged = is_converged(errors, criteria, weights)
            if attempt_ended(arm, slots, lanes, lane, converged):
                status = finish_attempt(arm, tip_points, problem, slots, lanes, lane, results)
                left -= status != PENDING
                solved += status == CONVERGED
        error_sq = scaled_error_sq(errors_now, arm.angular_scale)
        step_lanes(arm, task, error_sq, q, workspace, busy[0] > 0.5)
        progress[DONE] = done_before + (end - begin - left)
        progress[SOLVED] = solved_before + solved
    progress[DONE] = done_before + (end - begin - left)
    progress[SOLVED] = solved_before + solved
