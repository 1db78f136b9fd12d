"""Many problems on a GPU, in rounds: all begin an attempt together, then each finishes on its own.

The steps are the same lines as on a processor. In the first kernel of a round all threads do the
same: sweep. In the second a thread takes the next attempt as soon as it is done with one, so that
a slow one does not hold up all others. In the third the first attempt of a problem that arrived is
its answer; what has none goes into the next round. Once few problems are left, each makes several
attempts at once. The numbers of the arm are constants, so that what is zero costs nothing.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numba import cuda

from jointwise.kernels import LARGEST, LENGTH, LOWER, REACH, ROTATION_DEFECT, UPPER, parts
from jointwise.kernels.descent import noise_of
from jointwise.kernels.fk import arrived, joint_frames, set_task, tip_pose, workable
from jointwise.kernels.polish import advance, look
from jointwise.kernels.search import (
    CONVERGED,
    HARD,
    NEAR,
    PATIENCE,
    PATIENCE_WHEN_HARD,
    STALLED,
    STEPS,
    UNREACHABLE,
    UNWORKABLE,
    defect,
    fresh_start,
    rewind,
)
from jointwise.kernels.sweep import bounded, pull, sweep, unwind, wind
from jointwise.kernels.unrolled import SIMULATED as SIMULATED
from jointwise.kernels.unrolled import kept, single, together
from jointwise.kernels.unrolled import unrolling as unrolling

# What a round counts: attempts taken, problems for the next round, problems not for a GPU.
TAKEN, LATER, REFUSED = range(3)


@lru_cache(maxsize=64)
def kernels_for(
    numbers: bytes, n: int, weighing: tuple[float, ...], dtype: Any
) -> tuple[Any, Any, Any]:
    """The three kernels of a round, for one arm and one kind of target."""
    exact, others = parts(np.frombuffer(numbers), n)
    EXACT_LINKS, EXACT_KINDS, EXACT_BOUNDS, EXACT_SPRINGS = exact
    LINKS, KINDS, BOUNDS, SPRINGS = (np.array(part, dtype) for part in exact)
    for column, inward in ((LOWER, np.inf), (UPPER, -np.inf)):  # rounded, and still inside
        limit = EXACT_BOUNDS[:, column]
        outside = BOUNDS[:, column] < limit if inward > 0.0 else BOUNDS[:, column] > limit
        BOUNDS[outside, column] = np.nextafter(BOUNDS[outside, column], dtype(inward))
    weights = tuple(dtype(weight) for weight in weighing)
    length, reach = dtype(others[LENGTH]), dtype(others[REACH])
    m, after, scale, rounded = len(weights), n + 1, dtype(1.0) / length, dtype is np.float32
    tall, wide = {1: (1, 3), 2: (3, 3), 4: (4, 4)}[m]
    most = int(STEPS)
    soon, late = int(PATIENCE), int(PATIENCE_WHEN_HARD)
    largest_defect = dtype(max(ROTATION_DEFECT, 10.0 * np.finfo(dtype).eps))

    def begin(
        targets: Any,
        starts: Any,
        strides: Any,
        near: bool,
        close: float,
        chords: float,
        sweeps: int,
        rows: Any,
        count: int,
        tried: int,
        at_once: int,
        qs: Any,
        spent: Any,
    ) -> None:
        slot = cuda.grid(1)
        if slot >= count * at_once:
            return
        arm = (
            cuda.const.array_like(LINKS),
            cuda.const.array_like(KINDS),
            cuda.const.array_like(BOUNDS),
            cuda.const.array_like(SPRINGS),
        )
        frames, jacobian = cuda.local.array((n, 3, 4), dtype), cuda.local.array((after, 6), dtype)
        motion, wound = cuda.local.array((n, 2), dtype), cuda.local.array((n, 2), dtype)
        pulled, seen = cuda.local.array((n, m, 3), dtype), cuda.local.array((m, 3), dtype)
        q, first = cuda.local.array(n, dtype), cuda.local.array(n, dtype)
        given, asked = cuda.local.array(n, dtype), cuda.local.array((tall, wide), dtype)
        tips, goal = cuda.local.array((m, 3), dtype), cuda.local.array((m, 3), dtype)
        striding, task, links = cuda.local.array(after, dtype), (tips, goal, weights), arm[0]
        row = slot if tried == 0 else rows[slot // at_once]
        for j in range(tall):
            for k in range(wide):
                asked[j, k] = targets[row, j, k]
        set_task(links, asked, task)
        at = row if starts.shape[0] > 1 else 0
        for i in range(n):
            given[i] = starts[at, i]
            value = given[i] if abs(given[i]) < LARGEST else dtype(0.0)
            first[i] = q[i] = bounded(arm[1][i], arm[2], i, value)
        if tried > 0:
            number = dtype(tried + slot % at_once)
            for i in range(after):
                striding[i] = strides[i]
            fresh_start(arm, length, first, near, striding, number, q)
        else:
            x, y, z = (
                goal[0, 0] - links[0, 0, 3],
                goal[0, 1] - links[0, 1, 3],
                goal[0, 2] - links[0, 2, 3],
            )
            ended = CONVERGED
            if not (workable(given) and workable(asked) and defect(asked, goal) <= largest_defect):
                ended = UNWORKABLE
            elif x * x + y * y + z * z > (reach + close) * (reach + close):
                ended = UNREACHABLE
            if ended != CONVERGED:
                spent[slot] = ~ended
                return
        distant, turned = look(arm, task, q, frames, seen, jacobian)
        done = 0
        if (scale * distant) * (scale * distant) + turned * turned > NEAR:
            noise = noise_of(arm, task, q)
            wind(arm, q, motion, wound)
            active = True
            # Their number is an argument: of a constant one all would be unrolled, too much code.
            for _ in range(sweeps):
                squared, off = pull(arm, task, motion, pulled)
                active = active and not (squared < close * close and (m == 1 or off < chords))
                sweep(arm, task, motion, wound, pulled, noise, active)
                done += 1 if active else 0
            unwind(arm, motion, wound, q)
        spent[slot] = done
        for i in range(n):
            qs[i, slot] = q[i]

    def finish(
        targets: Any,
        close: float,
        aligned: float,
        rows: Any,
        count: int,
        tried: int,
        at_once: int,
        qs: Any,
        spent: Any,
        ends: Any,
        counter: Any,
    ) -> None:
        arm = (
            cuda.const.array_like(LINKS),
            cuda.const.array_like(KINDS),
            cuda.const.array_like(BOUNDS),
            cuda.const.array_like(SPRINGS),
        )
        frames, jacobian = cuda.local.array((n, 3, 4), dtype), cuda.local.array((after, 6), dtype)
        seen, q = cuda.local.array((m, 3), dtype), cuda.local.array(n, dtype)
        asked = cuda.local.array((tall, wide), dtype)
        tips, goal = cuda.local.array((m, 3), dtype), cuda.local.array((m, 3), dtype)
        task = (tips, goal, weights)
        slot, idle, steps, waited, mark, patience = 0, True, 0, 0, 0.0, soon
        upcoming = cuda.atomic.add(counter, TAKEN, 1)
        while True:
            if idle:
                slot = upcoming
                if slot >= count * at_once:
                    return
                upcoming = cuda.atomic.add(counter, TAKEN, 1)  # early, to be there when needed
                row = slot if tried == 0 else rows[slot // at_once]
                for j in range(tall):
                    for k in range(wide):
                        asked[j, k] = targets[row, j, k]
                for i in range(n):
                    q[i] = qs[i, slot]
                if spent[slot] < 0:
                    continue
                set_task(arm[0], asked, task)
                idle, steps, waited, mark = False, 0, 0, 1e30
                patience = soon if tried + slot % at_once < HARD else late
            together()  # or those that have just begun go on apart from the others
            distant, turned = look(arm, task, q, frames, seen, jacobian)
            squared = (scale * distant) * (scale * distant) + turned * turned
            there = arrived(distant, turned, close, aligned, weights)
            if squared < 0.5 * mark:
                mark, waited = squared, 0
            else:
                waited += 1
            idle = there or steps == most or waited == patience
            if idle:
                for i in range(n):
                    qs[i, slot] = q[i]
                ends[0, slot], ends[1, slot] = distant, turned
                spent[slot] += steps
            else:
                advance(arm, task, scale, squared, q, frames, seen, jacobian, True)
                steps += 1

    def choose(
        targets: Any,
        starts: Any,
        within: float,
        turned_by: float,
        max_restarts: int,
        rows: Any,
        count: int,
        tried: int,
        at_once: int,
        qs: Any,
        spent: Any,
        ends: Any,
        later: Any,
        refused: Any,
        counter: Any,
        values: Any,
        converged: Any,
        distance: Any,
        angle: Any,
        iterations: Any,
        restarts: Any,
        status: Any,
    ) -> None:
        place = cuda.grid(1)
        if place >= count:
            return
        arm = (
            cuda.const.array_like(EXACT_LINKS),
            cuda.const.array_like(EXACT_KINDS),
            cuda.const.array_like(EXACT_BOUNDS),
            cuda.const.array_like(EXACT_SPRINGS),
        )
        frames = cuda.local.array((n, 3, 4), np.float64)
        jacobian = cuda.local.array((after, 6), np.float64)
        q, first = cuda.local.array(n, np.float64), cuda.local.array(n, np.float64)
        seen, asked = (
            cuda.local.array((m, 3), np.float64),
            cuda.local.array((tall, wide), np.float64),
        )
        tips, goal = cuda.local.array((m, 3), np.float64), cuda.local.array((m, 3), np.float64)
        task = (tips, goal, weighing)
        row = place if tried == 0 else rows[place]
        at = row if starts.shape[0] > 1 else 0
        for i in range(n):
            value = starts[at, i] if abs(starts[at, i]) < LARGEST else 0.0
            first[i] = bounded(arm[1][i], arm[2], i, 1.0 * value)
        if tried == 0:
            iterations[row] = 0
        never = spent[place * at_once] < 0
        for number in range(0 if never else at_once):
            slot = place * at_once + number
            iterations[row] += spent[slot]
            off, turned = 1.0 * ends[0, slot], 1.0 * ends[1, slot]
            if not arrived(off, turned, within, turned_by, weighing):
                continue
            for i in range(n):
                q[i] = qs[i, slot]
            if rewind(arm, first, q) or rounded:
                # What single precision calls arrived may just not be: this looks again.
                for i in range(n):
                    value = min(max(dtype(q[i]), BOUNDS[i, LOWER]), BOUNDS[i, UPPER])
                    values[row, i] = value
                    q[i] = value
                for j in range(tall):
                    for k in range(wide):
                        asked[j, k] = targets[row, j, k]
                set_task(arm[0], asked, task)
                off, turned = look(arm, task, q, frames, seen, jacobian)
                if not arrived(off, turned, within, turned_by, weighing):
                    continue
            for i in range(n):
                values[row, i] = q[i]
            distance[row], angle[row] = off, turned
            converged[row], status[row], restarts[row] = True, CONVERGED, tried + number
            return
        if never:
            refused[cuda.atomic.add(counter, REFUSED, 1)] = row
        else:
            later[cuda.atomic.add(counter, LATER, 1)] = row
        if never or tried + at_once > max_restarts:
            for i in range(n):
                values[row, i] = bounded(KINDS[i], BOUNDS, i, dtype(first[i]))
            converged[row], status[row] = False, ~spent[place * at_once] if never else STALLED
            restarts[row] = 0 if never else max_restarts
            distance[row], angle[row] = np.nan, np.nan

    if rounded:
        begin, finish = single(begin, {}), single(finish, {})
    return kept(begin), kept(finish), kept(choose)


@lru_cache(maxsize=64)
def poses_for(numbers: bytes, n: int) -> Any:
    """The kernel that says where the tip of an arm is, in double precision."""
    (LINKS, KINDS, _, _), _ = parts(np.frombuffer(numbers), n)

    def poses(configurations: Any, found: Any) -> None:
        row = cuda.grid(1)
        if row >= configurations.shape[0]:
            return
        links, kinds = cuda.const.array_like(LINKS), cuda.const.array_like(KINDS)
        frames, q = cuda.local.array((n, 3, 4), np.float64), cuda.local.array(n, np.float64)
        pose = cuda.local.array((1, 4, 4), np.float64)
        for i in range(n):
            q[i] = configurations[row, i]
        joint_frames(links, kinds, q, frames)
        tip_pose(links, frames, pose, 0)
        for j in range(4):
            for k in range(4):
                found[row, j, k] = pose[0, j, k]

    return kept(poses)
