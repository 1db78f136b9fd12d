"""Many problems on a processor: eight side by side, each replaced as soon as it is done.

A slot holds a problem from its first attempt to its last. Slots that begin an attempt are swept
eight at a time; those that are swept wait for a free lane of the finish. What becomes of a
problem does not depend on its neighbours.
"""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from jointwise.kernels import LARGEST, LENGTH, REACH, ROTATION_DEFECT, STRIDES, Arm, Floats
from jointwise.kernels.descent import chords_of, errors, noise_of
from jointwise.kernels.fk import arrived, copy, set_task, unpacked, workable
from jointwise.kernels.jit import called, jit
from jointwise.kernels.lanes import WIDTH, in_lanes, some, where
from jointwise.kernels.local import XYZ, local
from jointwise.kernels.polish import advance, look
from jointwise.kernels.search import (
    CONVERGED,
    HARD,
    NEAR,
    NOT_A_ROTATION,
    PATIENCE,
    PATIENCE_WHEN_HARD,
    STALLED,
    STEPS,
    SWEEPS,
    UNREACHABLE,
    UNWORKABLE,
    defect,
    fresh_start,
    rewind,
)
from jointwise.kernels.sweep import bounded, pull, sweep, unwind, wind

# Three times as many problems at hand as there are lanes: some are swept while others finish.
SLOTS = 3 * WIDTH
FREE, BEGINS, SWEPT, FINISHES = range(4)
look_in_lanes, advance_in_lanes = called(look), called(advance)

Whole = NDArray[np.int64]
# (state, row, attempts before this one, iterations), goals, joint values, where it began.
Slots = tuple[Whole, Floats, Floats, Floats]
# Joint values, (distance, angle), (how it ended, iterations, restarts), a row a problem.
Answers = tuple[Floats, Floats, Whole]


@jit
def answer(
    answers: Answers,
    row: int,
    q: Floats,
    errors: tuple[float, float],
    ended: int,
    iterations: int,
    restarts: int,
) -> None:
    """Write what became of a problem."""
    values, off, counts = answers
    copy(q, values[row])
    off[row, 0], off[row, 1] = errors
    counts[row, 0], counts[row, 1], counts[row, 2] = ended, iterations, restarts


@jit
def take(
    arm: Arm,
    reach: float,
    target: Floats,
    weights: tuple[float, ...],
    start: Floats,
    slots: Slots,
    slot: int,
    tips: Floats,
) -> int:
    """Put a problem into a slot; how it ends if it does so before it begins."""
    links, kinds, bounds, _ = arm
    _, goals, qs, first = slots
    goal = goals[slot]
    set_task(links, target, (tips, goal, weights))
    for i in range(kinds.size):
        value = start[i] if abs(start[i]) < LARGEST else 0.0
        first[slot, i] = qs[slot, i] = bounded(kinds[i], bounds, i, value)
    x, y, z = goal[0, 0] - links[0, 0, 3], goal[0, 1] - links[0, 1, 3], goal[0, 2] - links[0, 2, 3]
    if not (workable(target) and workable(start)):
        return UNWORKABLE
    if defect(target, goal) > ROTATION_DEFECT:
        return NOT_A_ROTATION
    return UNREACHABLE if sqrt(x * x + y * y + z * z) > reach else CONVERGED


@jit
def load(slots: Slots, slot: int, lane: int, goal_: Floats, q_: Floats) -> None:
    """Put the problem of a slot into a lane."""
    _, goals, qs, _ = slots
    for i in range(qs.shape[1]):
        q_[i, lane] = qs[slot, i]
    for k in range(goals.shape[1]):
        for axis in range(3):
            goal_[k, axis, lane] = goals[slot, k, axis]


@jit
def sweep_lanes(
    arm: Arm,
    tips: Floats,
    goal_: Floats,
    weights: tuple[float, ...],
    length: float,
    close: float,
    aligned: float,
    q_: Floats,
    out: Floats,
) -> None:
    """Begin an attempt in every lane: move ``q_ (n, WIDTH)`` along by a few sweeps.

    Writes into ``out (3, WIDTH)`` the sweeps done, and the errors before.
    """
    n, m = arm[1].size, len(weights)
    frames, jacobian = in_lanes(np.empty((n, 3, 4, WIDTH))), in_lanes(np.empty((n + 1, 6, WIDTH)))
    motion, wound = in_lanes(np.empty((n, 2, WIDTH))), in_lanes(np.empty((n, 2, WIDTH)))
    pulled, q, result = in_lanes(np.empty((n, m, 3, WIDTH))), in_lanes(q_), in_lanes(out)
    task = (tips, in_lanes(goal_), weights)
    seen, scale = local(weights, XYZ, q[0]), 1.0 / length
    distant, turned = look_in_lanes(arm, task, q, frames, seen, jacobian)
    result[1], result[2] = distant, turned
    active = (scale * distant) * (scale * distant) + turned * turned > NEAR
    sweeps, noise = 0.0 * distant, noise_of(arm, task, q)
    chords = chords_of(aligned, weights)
    wind(arm, q, motion, wound)
    for _ in range(SWEEPS):
        squared, off = pull(arm, task, motion, pulled)
        near = active & (squared < close * close) & (off < chords if m > 1 else active)
        if some(near):
            unwind(arm, motion, wound, q)
            distant, turned = look_in_lanes(arm, task, q, frames, seen, jacobian)
            active = active ^ (near & arrived(distant, turned, close, aligned, weights))
        sweep(arm, task, motion, wound, pulled, noise, active)
        sweeps = sweeps + where(active, 1.0, 0.0)
    unwind(arm, motion, wound, q)
    result[0] = sweeps


@jit
def solve_rows(
    block: Floats,
    targets: Floats,
    weights: tuple[float, ...],
    starts: Floats,
    near: bool,
    close: float,
    aligned: float,
    max_restarts: int,
    begin: int,
    end: int,
    values: Floats,
    off: Floats,
    counts: Whole,
    progress: Whole,
) -> None:
    """Solve the targets from row ``begin`` to row ``end``.

    ``starts`` has a row for each target, or one for all. Writes ``values (k, n)`` the joint
    values, ``off (k, 2)`` distance and angle, ``counts (k, 3)`` how it ended, iterations, restarts.
    What is not reached ends for now, with ``~`` its ending.
    ``progress (3,)``: rows done and rows solved are added, and it stops when the last is not 0.
    """
    n, m = values.shape[1], len(weights)
    arm, others = unpacked(block, n)
    length, strides = others[LENGTH], others[STRIDES:]
    scale, tips, answers = 1.0 / length, local(weights, XYZ, 0.0), (values, off, counts)
    reach = others[REACH] + close
    before, solved = (progress[0], progress[1]), 0
    about, goals = np.zeros((SLOTS, 4), np.int64), np.empty((SLOTS, m, 3))
    qs, first = np.empty((SLOTS, n)), np.empty((SLOTS, n))
    slots = (about, goals, qs, first)

    # Lanes of the sweeps, and lanes of the finish.
    swept_goal, swept_q, swept = np.zeros((m, 3, WIDTH)), np.zeros((n, WIDTH)), np.empty((3, WIDTH))
    taken, held = np.zeros(WIDTH, np.int64), np.zeros(WIDTH, np.int64)
    goal_, q_, looked_ = np.zeros((m, 3, WIDTH)), np.zeros((n, WIDTH)), np.empty((2, WIDTH))
    goal, q, looked = in_lanes(goal_), in_lanes(q_), in_lanes(looked_)
    frames, jacobian = in_lanes(np.empty((n, 3, 4, WIDTH))), in_lanes(np.empty((n + 1, 6, WIDTH)))
    seen, task, busy_ = local(weights, XYZ, q[0]), (tips, goal, weights), np.zeros((1, WIDTH))
    busy, lasting = in_lanes(busy_), np.zeros((3, WIDTH))  # lowest error, steps since, all steps

    row, left = begin, end - begin
    while left > 0 and progress[2] == 0:
        # New problems go into free slots.
        waiting, ready, idle = 0, 0, 0
        for slot in range(SLOTS):
            while about[slot, 0] == FREE and row < end:
                start = starts[row if starts.shape[0] > 1 else 0]
                ended = take(arm, reach, targets[row], weights, start, slots, slot, tips)
                if ended == CONVERGED:
                    about[slot, 0], about[slot, 1] = BEGINS, row
                    about[slot, 2], about[slot, 3] = 0, 0
                else:
                    nowhere = (np.nan, np.nan)
                    answer(answers, row, first[slot], nowhere, ~ended, 0, 0)
                    left -= 1
                row += 1
            waiting += about[slot, 0] == BEGINS
            ready += about[slot, 0] == SWEPT
        for lane in range(WIDTH):
            idle += busy_[0, lane] == 0.0
        # Those that begin are swept, once they fill the lanes or there is nothing else to do.
        if waiting > 0 and ready < idle and (waiting >= WIDTH or ready + WIDTH == idle):
            last = 0
            for slot in range(SLOTS):
                if about[slot, 0] == BEGINS and last < WIDTH:
                    taken[last] = slot
                    last += 1
            for lane in range(WIDTH):
                load(slots, taken[min(lane, last - 1)], lane, swept_goal, swept_q)
            sweep_lanes(arm, tips, swept_goal, weights, length, close, aligned, swept_q, swept)
            for lane in range(last):
                slot = taken[lane]
                off_before = (swept[1, lane], swept[2, lane])
                if about[slot, 2] == 0 and arrived(*off_before, close, aligned, weights):
                    answer(answers, about[slot, 1], qs[slot], off_before, CONVERGED, 0, 0)
                    about[slot, 0], left, solved = FREE, left - 1, solved + 1
                    continue
                about[slot, 0] = SWEPT
                about[slot, 3] += int(swept[0, lane])
                for i in range(n):
                    qs[slot, i] = swept_q[i, lane]
        # Free lanes of the finish take those that are swept.
        slot, used = 0, 0
        for lane in range(WIDTH):
            while busy_[0, lane] == 0.0 and slot < SLOTS:
                if about[slot, 0] == SWEPT:
                    about[slot, 0], held[lane], busy_[0, lane] = FINISHES, slot, 1.0
                    load(slots, slot, lane, goal_, q_)
                    lasting[0, lane], lasting[1, lane], lasting[2, lane] = 1e300, 0.0, 0.0
                slot += 1
            used += busy_[0, lane] > 0.0
        if used == 0:
            continue
        # A step in every lane that is not at its end.
        looked[0], looked[1] = distant, turned = look_in_lanes(arm, task, q, frames, seen, jacobian)
        for lane in range(WIDTH):
            if busy_[0, lane] == 0.0:
                continue
            slot, now = held[lane], (looked_[0, lane], looked_[1, lane])
            squared = (scale * now[0]) * (scale * now[0]) + now[1] * now[1]
            if squared < 0.5 * lasting[0, lane]:
                lasting[0, lane], lasting[1, lane] = squared, 0.0
            else:
                lasting[1, lane] += 1.0
            there = arrived(*now, close, aligned, weights)
            patience = PATIENCE if about[slot, 2] < HARD else PATIENCE_WHEN_HARD
            if not (there or lasting[2, lane] == STEPS or lasting[1, lane] == patience):
                lasting[2, lane] += 1.0
                continue
            busy_[0, lane] = 0.0
            about[slot, 3] += int(lasting[2, lane])
            for i in range(n):
                qs[slot, i] = q_[i, lane]
            if there and rewind(arm, first[slot], qs[slot]):
                now = errors(arm, (tips, goals[slot], weights), qs[slot])
                there = arrived(*now, close, aligned, weights)
            done, restarts, iterations = about[slot, 1], about[slot, 2], about[slot, 3]
            if there:
                answer(answers, done, qs[slot], now, CONVERGED, iterations, restarts)
            elif restarts < max_restarts:
                about[slot, 0], about[slot, 2] = BEGINS, restarts + 1
                fresh_start(arm, length, first[slot], near, strides, restarts + 1, qs[slot])
                continue
            else:
                nowhere, ended = (np.nan, np.nan), ~STALLED
                answer(answers, done, first[slot], nowhere, ended, iterations, restarts)
            about[slot, 0], left, solved = FREE, left - 1, solved + there
        squared = (scale * distant) * (scale * distant) + turned * turned
        advance_in_lanes(arm, task, scale, squared, q, frames, seen, jacobian, busy[0] > 0.5)
        progress[0], progress[1] = before[0] + (end - begin - left), before[1] + solved
    progress[0], progress[1] = before[0] + (end - begin - left), before[1] + solved
