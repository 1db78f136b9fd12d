"""The combined solver: a few sweeps, a second-order finish, and fresh starts where that fails.

The best seen is kept, never the last. What cannot be reached ends in its closest approach:
sweeps until nothing moves, which a second solve from there does not leave.
"""

from math import inf, sqrt

import numpy as np

from jointwise.kernels import (
    COS_HALF,
    LENGTH,
    LOWER,
    PRISMATIC,
    REACH,
    ROTATION_DEFECT,
    STRIDES,
    UPPER,
    Arm,
    Floats,
    Task,
)
from jointwise.kernels.descent import descend, descend_further, energy, errors
from jointwise.kernels.fk import arrived, copy, set_task, unpacked, workable
from jointwise.kernels.jit import jit, plain
from jointwise.kernels.lanes import floor
from jointwise.kernels.local import XYZ, local
from jointwise.kernels.polish import Scratch, polish
from jointwise.kernels.sweep import TURN, bounded

# How a solve ended. In lanes, where one problem would hold up seven, what is not reached ends for
# now: with ``~`` its ending, a negative number, and may be looked at alone afterwards.
CONVERGED, ITERATION_LIMIT, STALLED, BLOCKED, UNREACHABLE, UNWORKABLE, NOT_A_ROTATION = range(7)

# Sweeps before the finish, its longest run, and the squared error (in radians) below which
# sweeps are no help.
SWEEPS, STEPS, NEAR = plain(3), plain(50), 0.1
# How long the finish may go on without halving the squared error; after so many restarts
# the target is a hard one, and longer.
PATIENCE, HARD, PATIENCE_WHEN_HARD = plain(4), 10, plain(8)
# Fresh starts in the neighbourhood of a start that was asked for, before going everywhere.
NEIGHBOURS = 4.0
# The closest approach: sweeps at most, the move [rad or m] that counts as none, and by what
# share of the arm's length another must be closer to be taken instead.
SETTLING, STILL, BETTER = plain(20_000), 1e-10, 1e-6
# The same for a target beyond all reach: a few short looks around, and no turning over for
# a hair's breadth while it is dragged about.
FAR_STARTS, FAR_SWEEPS, FAR_STILL, FAR_BETTER = 8, plain(100), 1e-4, 0.01
# Starts after which limits are not to blame.
UNLIMITED_STARTS = 20


@jit
def defect(target: Floats, goal: Floats) -> float:
    """How far a pose is from unit length, right angles, a right hand, and its last row."""
    worst = 0.0
    if goal.shape[0] == 4:
        for k in range(4):
            worst = max(worst, abs(target[3, k] - (1.0 if k == 3 else 0.0)))
    for j in range(1, goal.shape[0]):
        for k in range(1, j + 1):
            dot = goal[j, 0] * goal[k, 0] + goal[j, 1] * goal[k, 1] + goal[j, 2] * goal[k, 2]
            worst = max(worst, abs(dot - (1.0 if j == k else 0.0)))
    if goal.shape[0] == 4:
        x = goal[1, 1] * goal[2, 2] - goal[1, 2] * goal[2, 1]
        y = goal[1, 2] * goal[2, 0] - goal[1, 0] * goal[2, 2]
        z = goal[1, 0] * goal[2, 1] - goal[1, 1] * goal[2, 0]
        worst = max(worst, abs(x - goal[3, 0]), abs(y - goal[3, 1]), abs(z - goal[3, 2]))
    return worst


@jit
def fresh_start(
    arm: Arm, length: float, start: Floats, near: bool, strides: Floats, count: int, q: Floats
) -> None:
    """Write the start number ``count`` of a sequence that fills the joints' ranges evenly.

    ``strides (n+1,)`` are its steps, last where it begins. The first few of a solve that
    should stay near its start fill ever larger boxes around it.
    """
    _, kinds, bounds, _ = arm
    for i in range(kinds.size):
        lower, upper = bounds[i, LOWER], bounds[i, UPPER]
        low, high = lower, upper
        if lower == -inf or upper == inf:
            half = 5.0 * length if kinds[i] == PRISMATIC else 0.5 * TURN
            low, high = max(lower, start[i] - half), min(upper, start[i] + half)
        if near and count <= NEIGHBOURS:
            half = 0.5 * (high - low) * count / (NEIGHBOURS + 1.0)
            low, high = max(low, start[i] - half), min(high, start[i] + half)
        share = (strides[kinds.size] + count * strides[i]) % 1.0
        q[i] = low + share * (high - low)


@jit
def scratch_for(n: int) -> Scratch:
    """Room for the finish to work in."""
    return np.empty((n, 3, 4)), np.empty((n + 1, 6))


@jit
def rewind(arm: Arm, near: Floats, q: Floats) -> bool:
    """Choose whole turns that bring ``q`` close to ``near``; whether there were any."""
    _, kinds, bounds, _ = arm
    rewound = False
    for i in range(kinds.size):
        if kinds[i] != PRISMATIC and abs(near[i] - q[i]) > 0.5 * TURN:
            closer = q[i] + TURN * floor((near[i] - q[i]) / TURN + 0.5)
            if bounds[i, LOWER] <= closer <= bounds[i, UPPER]:
                q[i], rewound = closer, True
    return rewound


@jit
def attempt(
    arm: Arm,
    task: Task,
    length: float,
    close: float,
    aligned: float,
    distant: float,
    turned: float,
    patience: int,
    near: Floats,
    q: Floats,
    scratch: Scratch,
) -> tuple[int, float, float]:
    """Sweep and finish from ``q``, moving it along: (iterations, distance, angle).

    ``distant`` and ``turned`` are the errors of ``q``: near its goal the finish alone moves the
    joints least. Whole turns are chosen so that the values come close to those of ``near``.
    """
    sweeps = 0
    if (distant / length) ** 2 + turned * turned > NEAR:
        sweeps, _ = descend(arm, task, close, aligned, -1.0, SWEEPS, q)
    steps, distant, turned = polish(arm, task, length, close, aligned, STEPS, patience, q, scratch)
    if rewind(arm, near, q):
        distant, turned = errors(arm, task, q)
    return sweeps + steps, distant, turned


@jit
def gather(
    block: Floats,
    target: Floats,
    weights: tuple[float, ...],
    close: float,
    aligned: float,
    start: Floats,
    near: bool,
    attempts: int,
    found: Floats,
) -> int:
    """Attempt from ``start`` and from fresh starts; write answers into ``found``, count them."""
    arm, others = unpacked(block, start.size)
    length, strides = others[LENGTH], others[STRIDES:]
    task = (local(weights, XYZ, 0.0), local(weights, XYZ, 0.0), weights)
    set_task(arm[0], target, task)
    scratch = scratch_for(start.size)
    q = start.copy()
    number = 0
    for count in range(attempts):
        if count > 0:
            fresh_start(arm, length, start, near, strides, count, q)
        distant, turned = errors(arm, task, q)
        _, distant, turned = attempt(
            arm, task, length, close, aligned, distant, turned, PATIENCE, start, q, scratch
        )
        if arrived(distant, turned, close, aligned, weights):
            copy(q, found[number])
            number += 1
            if number == found.shape[0]:
                break
    return number


@jit
def limits_block(
    arm: Arm,
    task: Task,
    length: float,
    close: float,
    aligned: float,
    strides: Floats,
    start: Floats,
    scratch: Scratch,
) -> bool:
    """Whether the goal is reached from ``start`` by the arm without its limits."""
    links, kinds, bounds, springs = arm
    free = bounds.copy()
    for i in range(kinds.size):
        free[i, LOWER], free[i, UPPER], free[i, COS_HALF] = -inf, inf, -2.0
    unlimited = (links, kinds, free, springs)
    q = start.copy()
    for count in range(UNLIMITED_STARTS):
        if count > 0:
            fresh_start(unlimited, length, start, False, strides, count, q)
        distant, turned = errors(unlimited, task, q)
        _, distant, turned = attempt(
            unlimited, task, length, close, aligned, distant, turned, PATIENCE, start, q, scratch
        )
        if arrived(distant, turned, close, aligned, task[2]):
            return True
    return False


@jit
def search(
    block: Floats,
    target: Floats,
    weights: tuple[float, ...],
    close: float,
    aligned: float,
    max_restarts: int,
    q: Floats,
    near: bool,
) -> tuple[int, float, float, int, int]:
    """Move ``q`` to an answer: (how it ended, distance, angle, iterations, restarts).

    ``near`` is whether to look around ``q`` before going everywhere. Iterations are sweeps and
    steps together.
    """
    if not (workable(target) and workable(q)):
        return UNWORKABLE, np.nan, np.nan, 0, 0
    arm, others = unpacked(block, q.size)
    length, reach, strides = others[LENGTH], others[REACH], others[STRIDES:]
    links, kinds, bounds, _ = arm
    task = (local(weights, XYZ, 0.0), local(weights, XYZ, 0.0), weights)
    set_task(links, target, task)
    goal = task[1]
    if defect(target, goal) > ROTATION_DEFECT:
        return NOT_A_ROTATION, np.nan, np.nan, 0, 0
    n = kinds.size
    for i in range(n):
        q[i] = bounded(kinds[i], bounds, i, q[i])
    distant, turned = errors(arm, task, q)
    if arrived(distant, turned, close, aligned, weights):
        return CONVERGED, distant, turned, 0, 0

    x, y, z = goal[0, 0] - links[0, 0, 3], goal[0, 1] - links[0, 1, 3], goal[0, 2] - links[0, 2, 3]
    too_far = sqrt(x * x + y * y + z * z) > reach + close
    near = near or too_far
    tries = min(max_restarts, FAR_STARTS) if too_far else max_restarts
    better = (FAR_BETTER if too_far else BETTER) * length
    scratch = scratch_for(n)
    start, iterations, restarts = q.copy(), 0, 0
    best = start
    while True:
        lowest, improved = 0.0, False
        for count in range(tries + 1):
            if count > 0:
                fresh_start(arm, length, start, near, strides, count, q)
                distant, turned = errors(arm, task, q)
                restarts += 1
            if too_far:
                done, _ = descend_further(arm, task, close, aligned, FAR_STILL, FAR_SWEEPS, q)
            else:
                patience = PATIENCE if count < HARD else PATIENCE_WHEN_HARD
                done, distant, turned = attempt(
                    arm, task, length, close, aligned, distant, turned, patience, start, q, scratch
                )
            iterations += done
            if arrived(distant, turned, close, aligned, weights):
                return CONVERGED, distant, turned, iterations, restarts
            if count == 0:  # not sooner: most solves do not come here
                lowest = sqrt(energy(arm, task, best))
            found = sqrt(energy(arm, task, q))
            if found < lowest - better:
                lowest, improved = found, True
                best = q.copy()
        copy(best, q)
        done, moved = descend_further(arm, task, close, aligned, STILL, SETTLING, q)
        iterations += done
        distant, turned = errors(arm, task, q)
        if arrived(distant, turned, close, aligned, weights):
            return CONVERGED, distant, turned, iterations, restarts
        # Done when a look around the best itself finds nothing better: solving again from
        # there would do just that.
        if near and not improved:
            break
        start = q.copy()
        best, near = start, True
    if too_far:
        return UNREACHABLE, distant, turned, iterations, restarts
    if moved > STILL:
        return ITERATION_LIMIT, distant, turned, iterations, restarts
    blocked = limits_block(arm, task, length, close, aligned, strides, q, scratch)
    return BLOCKED if blocked else STALLED, distant, turned, iterations, restarts
