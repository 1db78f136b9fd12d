"""Solutions of regular poses, in lanes: the eight branches of one pose, or one of eight poses."""

import numpy as np

from jointwise.kernels._numba.arrays import stack_array
from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels._numba.where import HAS_LANES, where
from jointwise.kernels.closed_form.standard_arms import place, regular_branch
from jointwise.kernels.closed_form.structures import LANE
from jointwise.kernels.kinematics.fk import all_finite
from jointwise.kernels.layout.arrays import Floats, Ints, packed_view
from jointwise.kernels.layout.closed_form import (
    BRANCHES,
    CLEARLY_OUTSIDE,
    FORM_HAS_STANDARD,
    FORM_STANDARD,
    HAS_FREE_JOINT,
    IS_AT_LIMIT,
    STANDARD_SIZE,
)
from jointwise.kernels.layout.slots import WIDTH

# Rows of lanes: a pose; where it places axis 6, and whether it plainly is a pose; joint values, and
# these with their largest change; signs of a branch.
TARGET_ROWS, PLACED_ROWS, JOINT_ROWS, SIGN_ROWS = (0,) * 12, (0,) * 13, (0,) * 6, (0,) * 3
NEAREST_ROWS = (0,) * 7
IS_POSE = 12
# Rows of what a branch gives: six joint values, whether it is a solution, whether that is clear,
# whether a joint is next to free, how far it is outside the limits [rad].
FOUND, IS_CLEAR, IS_FREE, OUTSIDE, RESULTS = 6, 7, 8, 9, 10
RESULT_ROWS, ALL_RESULT_ROWS = (0,) * RESULTS, (0,) * (RESULTS * BRANCHES)
# Instead of the number of solutions: it is for ``closed_solutions`` to decide.
IN_DOUBT = -1


@jit_inline
def has_standard_form(form: Floats) -> bool:
    """Whether a packed closed form ends with a standard form."""
    return bool(form[FORM_HAS_STANDARD] != 0.0)


@jit_inline
def solve_branch(
    form: Floats, bounds: Floats, placed: Floats, near: Floats, signs: Floats, results: Floats
) -> None:
    """One branch of each lane, or of one pose; see ``regular_branch``."""
    one = 0.0 * placed[0] + 1.0
    by_signs = signs[0], signs[1], signs[2]
    found, clear, free, outside = regular_branch(form, placed, bounds, near, by_signs, results)
    results[FOUND] = where(found, one, 0.0)
    results[IS_CLEAR] = where(clear, placed[IS_POSE], 0.0)
    results[IS_FREE] = where(free, one, 0.0)
    results[OUTSIDE] = outside


if HAS_LANES:
    from jointwise.kernels._numba.lanes import as_lanes

    @jit
    def place_lanes(form: Floats, targets: Floats, placed: Floats) -> None:
        """Where eight poses place axis 6, and whether they are poses."""
        lanes, poses = as_lanes(placed), as_lanes(targets)
        clear = place(form, poses, lanes)
        lanes[IS_POSE] = where(clear, 0.0 * poses[0] + 1.0, 0.0)

    @jit
    def solve_lanes(
        form: Floats, bounds: Floats, placed: Floats, near: Floats, signs: Floats, results: Floats
    ) -> None:
        """A branch in each of eight lanes."""
        solve_branch(
            form, bounds, as_lanes(placed), as_lanes(near), as_lanes(signs), as_lanes(results)
        )

else:

    @jit
    def place_lanes(form: Floats, targets: Floats, placed: Floats) -> None:
        """The same one by one."""
        for lane in range(WIDTH):
            column = np.empty(IS_POSE)
            clear = place(form, targets[:, lane].copy(), column)
            placed[:IS_POSE, lane], placed[IS_POSE, lane] = column, 1.0 if clear else 0.0

    @jit
    def solve_lanes(
        form: Floats, bounds: Floats, placed: Floats, near: Floats, signs: Floats, results: Floats
    ) -> None:
        """The same one by one."""
        for lane in range(WIDTH):
            column = np.empty(RESULTS)
            arrays = placed[:, lane].copy(), near[:, lane].copy(), signs[:, lane].copy()
            solve_branch(form, bounds, *arrays, column)
            results[:, lane] = column


@jit_inline
def fill_lanes(
    target: Floats, near: Floats, targets: Floats, nears: Floats, first: int, end: int
) -> None:
    """Write a pose and preferred joint values into lanes; NaN where they are invalid."""
    last = abs(target[3, 0]) + abs(target[3, 1]) + abs(target[3, 2]) + abs(target[3, 3] - 1.0)
    invalid = np.nan if last > 0.0 or not all_finite(near) else 0.0
    for row in range(3):
        for column in range(4):
            for lane in range(first, end):
                targets[4 * row + column, lane] = target[row, column] + invalid
    for i in range(6):
        for lane in range(first, end):
            nears[i, lane] = near[i]


@jit_inline
def collect(
    results: Floats, step: tuple[int, int], lane: int, solutions: Floats
) -> tuple[int, int, int]:
    """Write the solutions inside the limits; what ``closed_solutions`` returns, or ``IN_DOUBT``.

    Args:
        results: Of eight branches.
        step: Rows and lanes from one branch to the next.
        lane: Of the first branch.
        solutions: (k, 6) where they are written.
    """
    inside, found, noted = 0, 0, 0
    for branch in range(BRANCHES):
        row, column = branch * step[0], lane + branch * step[1]
        if results[row + IS_CLEAR, column] == 0.0:
            return IN_DOUBT, 0, 0
        if results[row + IS_FREE, column] > 0.0:
            noted |= HAS_FREE_JOINT
        if results[row + FOUND, column] == 0.0:
            continue
        found += 1
        outside = results[row + OUTSIDE, column]
        if outside > 0.0:
            if outside < CLEARLY_OUTSIDE:
                noted |= IS_AT_LIMIT
            continue
        for i in range(6):
            solutions[inside, i] = results[row + i, column]
        inside += 1
    return inside, found, noted


@jit
def regular_solutions(
    form: Floats, bounds: Floats, target: Floats, near: Floats, solutions: Floats
) -> tuple[int, int, int]:
    """All solutions of a regular pose, as ``closed_solutions``; or ``IN_DOUBT``, 0, 0.

    Args:
        form: The packed closed form.
        bounds: (6, k) joint limits.
        target: (4, 4) a pose.
        near: (6,) preferred joint values [rad].
        solutions: (k, 6) where those inside the limits are written.
    """
    numbers = packed_view(form, FORM_STANDARD, (STANDARD_SIZE,))
    targets, placed = stack_array(TARGET_ROWS, LANE, 0.0), stack_array(PLACED_ROWS, LANE, 0.0)
    nears, signs = stack_array(JOINT_ROWS, LANE, 0.0), stack_array(SIGN_ROWS, LANE, 0.0)
    results = stack_array(RESULT_ROWS, LANE, 0.0)
    fill_lanes(target, near, targets, nears, 0, WIDTH)
    for k in range(3):
        for lane in range(WIDTH):
            signs[k, lane] = 2.0 * ((lane >> k) & 1) - 1.0
    place_lanes(numbers, targets, placed)
    solve_lanes(numbers, bounds, placed, nears, signs, results)
    return collect(results, (0, 1), 0, solutions)


@jit
def regular_nearest(
    form: Floats,
    bounds: Floats,
    targets: Floats,
    placed: Floats,
    near: Floats,
    nearest: Floats,
    counts: Ints,
) -> None:
    """The nearest solution of eight poses.

    Args:
        form: The packed closed form.
        bounds: (6, k) joint limits.
        targets: (12, 8) the poses, a column each.
        placed: (13, 8) memory.
        near: (6, 8) where to be near [rad].
        nearest: (7, 8) the solution inside the limits with the smallest largest joint change [rad],
            and this change.
        counts: (8, 3) as ``collect`` has them, of each pose.
    """
    numbers = packed_view(form, FORM_STANDARD, (STANDARD_SIZE,))
    signs, results = stack_array(SIGN_ROWS, LANE, 0.0), stack_array(RESULT_ROWS, LANE, 0.0)
    place_lanes(numbers, targets, placed)
    for lane in range(WIDTH):
        nearest[6, lane], counts[lane, 0], counts[lane, 1], counts[lane, 2] = np.inf, 0, 0, 0
    for branch in range(BRANCHES):
        for k in range(3):
            for lane in range(WIDTH):
                signs[k, lane] = 2.0 * ((branch >> k) & 1) - 1.0
        solve_lanes(numbers, bounds, placed, near, signs, results)
        for lane in range(WIDTH):
            if results[IS_CLEAR, lane] == 0.0 or counts[lane, 0] == IN_DOUBT:
                counts[lane, 0] = IN_DOUBT
                continue
            if results[IS_FREE, lane] > 0.0:
                counts[lane, 2] |= HAS_FREE_JOINT
            if results[FOUND, lane] == 0.0:
                continue
            counts[lane, 1] += 1
            if results[OUTSIDE, lane] > 0.0:
                if results[OUTSIDE, lane] < CLEARLY_OUTSIDE:
                    counts[lane, 2] |= IS_AT_LIMIT
                continue
            counts[lane, 0] += 1
            change = 0.0
            for i in range(6):
                change = max(change, abs(results[i, lane] - near[i, lane]))
            if change < nearest[6, lane]:
                nearest[6, lane] = change
                for i in range(6):
                    nearest[i, lane] = results[i, lane]


@jit
def regular_rows(
    form: Floats,
    bounds: Floats,
    targets: Floats,
    near: Floats,
    begin: int,
    end: int,
    solutions: Floats,
    counts: Ints,
) -> None:
    """``regular_solutions`` of rows of a batch; arguments as for ``solution_rows.closed_rows``."""
    numbers = packed_view(form, FORM_STANDARD, (STANDARD_SIZE,))
    poses, placed = stack_array(TARGET_ROWS, LANE, 0.0), stack_array(PLACED_ROWS, LANE, 0.0)
    nears, signs = stack_array(JOINT_ROWS, LANE, 0.0), stack_array(SIGN_ROWS, LANE, 0.0)
    results = stack_array(ALL_RESULT_ROWS, LANE, 0.0)
    for first in range(begin, end, WIDTH):
        for lane in range(WIDTH):
            m = min(first + lane, end - 1)
            start = near[m if near.shape[0] > 1 else 0]
            fill_lanes(targets[m], start, poses, nears, lane, lane + 1)
        place_lanes(numbers, poses, placed)
        for branch in range(BRANCHES):
            for k in range(3):
                for lane in range(WIDTH):
                    signs[k, lane] = 2.0 * ((branch >> k) & 1) - 1.0
            part = results[RESULTS * branch : RESULTS * (branch + 1)]
            solve_lanes(numbers, bounds, placed, nears, signs, part)
        for lane in range(min(WIDTH, end - first)):
            m = first + lane
            found = collect(results, (RESULTS, 0), lane, solutions[m])
            counts[m, 0], counts[m, 1], counts[m, 2] = found
