"""Solutions in closed form of the rows of a batch."""

import numpy as np

from jointwise.kernels._numba.arrays import stack_array
from jointwise.kernels._numba.jit import jit
from jointwise.kernels.closed_form.solutions import (
    check_start,
    closed_solutions,
    is_small,
    pose_outcome,
    reach_error,
    solve_nearest,
)
from jointwise.kernels.closed_form.standard_solutions import (
    IN_DOUBT,
    JOINT_ROWS,
    NEAREST_ROWS,
    PLACED_ROWS,
    TARGET_ROWS,
    fill_lanes,
    has_standard_form,
    regular_nearest,
    regular_rows,
)
from jointwise.kernels.closed_form.structures import LANE
from jointwise.kernels.collision.contacts import touches
from jointwise.kernels.kinematics.fk import all_finite, copy_values, unpack_arm
from jointwise.kernels.kinematics.poses import is_pose
from jointwise.kernels.layout.arrays import Floats, Ints, Outcome
from jointwise.kernels.layout.closed_form import IS_INVALID, MAX_SOLUTIONS
from jointwise.kernels.layout.slots import WIDTH
from jointwise.kernels.layout.status import (
    CONVERGED,
    INVALID,
    OUTSIDE_LIMITS,
    PENDING,
    UNDECIDED,
    UNREACHABLE,
)
from jointwise.kernels.layout.task import PackedCriteria, Results


@jit
def closed_rows(
    packed_arm: Floats,
    form: Floats,
    targets: Floats,
    near: Floats,
    redundancy: Floats,
    error: float,
    begin: int,
    end: int,
    solutions: Floats,
    counts: Ints,
) -> None:
    """``closed_solutions`` of the targets (m, 4, 4) from ``begin`` to ``end``.

    Args:
        packed_arm: As for ``closed_solutions``.
        form: The same.
        targets: (m, 4, 4) poses, or (1, 4, 4) for all.
        near: (m, n) preferred joint values of each target, or (1, n) of all [rad, m].
        redundancy: (m,) or (1,) [rad, m].
        error: As for ``closed_solutions``.
        begin: The first row.
        end: The row after the last.
        solutions: (m, k, n) where they are written, k at most; NaN where there are no more.
        counts: (m, 3) what ``closed_solutions`` returns for each.
    """
    n, capacity = near.shape[1], solutions.shape[1]
    regular = has_standard_form(form) and targets.shape[0] > 1 and is_small(form, error)
    if regular:
        bounds = unpack_arm(packed_arm, n).bounds
        regular_rows(form, bounds, targets, near, begin, end, solutions, counts)
    all_found = np.empty((MAX_SOLUTIONS, n))
    for m in range(begin, end):
        if not regular or counts[m, 0] == IN_DOUBT:
            start = near[m if near.shape[0] > 1 else 0]
            value = redundancy[m if redundancy.size > 1 else 0]
            target = targets[m if targets.shape[0] > 1 else 0]
            found = 0, 0, IS_INVALID
            if is_pose(target) and all_finite(start):
                found = closed_solutions(packed_arm, form, target, start, value, error, all_found)
            counts[m, 0], counts[m, 1], counts[m, 2] = found
            for k in range(min(found[0], capacity)):
                copy_values(all_found[k], solutions[m, k])
        for k in range(counts[m, 0], capacity):
            for i in range(n):
                solutions[m, k, i] = np.nan


@jit
def nearest_rows(
    packed_arm: Floats,
    form: Floats,
    targets: Floats,
    starts: Floats,
    packed_criteria: PackedCriteria,
    begin: int,
    end: int,
    results: Results,
    progress: Ints,
) -> None:
    """``solve_nearest`` of the rows of a batch; starts and ``progress`` as in ``solve_rows``."""
    q, n = results.q, starts.shape[1]
    regular, arm = has_standard_form(form), unpack_arm(packed_arm, n)
    decides = is_small(form, reach_error(form, packed_criteria))
    poses, placed = stack_array(TARGET_ROWS, LANE, 0.0), stack_array(PLACED_ROWS, LANE, 0.0)
    near, nearest = stack_array(JOINT_ROWS, LANE, 0.0), stack_array(NEAREST_ROWS, LANE, 0.0)
    counts, waits = np.zeros((WIDTH, 3), np.int64), np.zeros(WIDTH, np.bool_)
    for first in range(begin, end, WIDTH):
        if progress[2]:
            return
        any_waits = False
        for lane in range(WIDTH):
            m = min(first + lane, end - 1)
            if first + lane == m:
                copy_values(starts[m if starts.shape[0] > 1 else 0], q[m])
                outcome = check_start(packed_arm, targets[m], packed_criteria, q[m])
                waits[lane] = outcome[0] == PENDING
                any_waits = any_waits or waits[lane]
                if not waits[lane]:
                    write_outcome(outcome, m, results, progress)
            if regular:
                fill_lanes(targets[m], q[m], poses, near, lane, lane + 1)
        if regular and any_waits:
            regular_nearest(form, arm.bounds, poses, placed, near, nearest, counts)
        for lane in range(min(WIDTH, end - first)):
            m = first + lane
            if not waits[lane]:
                continue
            inside, found, noted = counts[lane, 0], counts[lane, 1], counts[lane, 2]
            if regular and inside > 0:
                for i in range(n):
                    q[m, i] = nearest[i, lane]
                outcome = pose_outcome(packed_arm, targets[m], packed_criteria, q[m])
                if touches(packed_arm, arm, q[m]):  # another solution may be free
                    for i in range(n):
                        q[m, i] = near[i, lane]
                    outcome = solve_nearest(packed_arm, form, targets[m], packed_criteria, q[m])
            elif regular and inside == 0 and decides and noted == 0:
                status = OUTSIDE_LIMITS if found > 0 else UNREACHABLE
                outcome = status, np.nan, np.nan, 0, 0
            else:
                outcome = solve_nearest(packed_arm, form, targets[m], packed_criteria, q[m])
            write_outcome(outcome, m, results, progress)


@jit
def write_outcome(outcome: Outcome, m: int, results: Results, progress: Ints) -> None:
    """Write row m of a batch; ``UNDECIDED`` where the closed form does not decide."""
    status = UNDECIDED if outcome[0] in (PENDING, INVALID) else outcome[0]
    results.status[m], results.converged[m] = status, outcome[0] == CONVERGED
    results.position_error[m], results.orientation_error[m] = outcome[1], outcome[2]
    results.iterations[m], results.restarts[m] = 0, 0
    if status != UNDECIDED:
        progress[0] += 1
        progress[1] += outcome[0] == CONVERGED
