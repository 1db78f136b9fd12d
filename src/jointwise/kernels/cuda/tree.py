"""Whole robots on a GPU: a thread solves a row, or follows a clip, with the kernels of the CPU.

A thread takes the next row as soon as its warp has solved those before. Its scratch is local
memory, in which the numbers of neighbouring threads are next to each other. The robot is in memory
that all threads share, so a kernel serves all robots whose scratch has about the same size.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from jointwise.kernels._numba.compile_cuda import cuda_jit_cached, sync_warp
from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.kernels.layout.status import CONVERGED, STALLED
from jointwise.kernels.layout.tree import (
    TARGET_POINT,
    TREE_LIMBS,
    TreeResults,
    TreeRows,
)
from jointwise.kernels.serial.descent import unpack_criteria
from jointwise.kernels.tree.fk import unpack_memory
from jointwise.kernels.tree.lm import all_reached
from jointwise.kernels.tree.rows import (
    follow_tree,
    load_settings,
    load_state,
    load_targets,
    unpack_limb,
    write_row,
)
from jointwise.kernels.tree.search import compromise, search_solution

# Functions that kernels call in several places, or rarely. Calls of others are inlined: their
# arguments, hundreds of numbers, would pass through memory.
CALLS = (
    "tree_lm",
    "aim_at_box",
    "evaluate_coupled",
    "closing_step",
    "assemble_rows",
    "restart_state",
    "fit_base",
    "compromise",
)
# Threads of a warp.
WARP = 32
# Entries of the counter: rows taken, and rows that are left for the next round.
TAKEN, LEFT = range(2)


class TreeRound(NamedTuple):
    """Rows, or clips, that threads take one after the other.

    Attributes:
        rows: (r,) which rows they are.
        row_count: How many.
        lanes: Threads of a warp that take any; fewer if there are few rows.
        is_last: Whether rows without a solution end in a compromise; else they are left.
        left: (r,) the rows that are left.
        counter: (2,) rows taken, and rows left.
    """

    rows: Any
    row_count: int
    lanes: int
    is_last: bool
    left: Any
    counter: Any


@lru_cache(maxsize=64)
def search_kernel(size: int) -> Any:
    """The kernel that solves rows; ``size`` numbers of scratch."""

    def search_rows(
        packed: TreeRows, starts: Floats, round_: TreeRound, results: TreeResults
    ) -> None:
        if cuda.threadIdx.x % WARP >= round_.lanes:
            return
        buffer = cuda.local.array(size, np.float64)
        ints, floats, targets, packed_criteria, settings = packed
        states, errors, outcomes = results
        criteria = unpack_criteria(packed_criteria)
        while True:
            number = cuda.atomic.add(round_.counter, TAKEN, 1)
            if number >= round_.row_count:
                return
            row = round_.rows[number]
            start, own_settings = starts[row % starts.shape[0]], settings[row % settings.shape[0]]
            state, outcome = states[row], outcomes[row]
            for i in range(state.size):
                state[i] = start[i]
            outcome[0], outcome[1], outcome[2] = CONVERGED, 0, 0
            for limb_number in range(max(ints[TREE_LIMBS], 1)):
                limb = unpack_limb(ints, floats, limb_number)
                memory = unpack_memory(limb.problem, buffer)
                own = memory.state
                load_settings(limb, own_settings, memory)
                load_targets(limb, targets[row], memory)
                load_state(limb, start, memory)
                status, iterations, restarts = search_solution(
                    limb.problem, memory.targets, criteria, True, own, memory, None
                )
                if status == STALLED and not round_.is_last:
                    round_.left[cuda.atomic.add(round_.counter, LEFT, 1)] = row
                    break
                if status == STALLED:
                    iterations += compromise(limb.problem, memory.targets, criteria, own, memory)
                    if all_reached(limb.problem, memory.targets, memory.errors, criteria):
                        status = CONVERGED
                write_row(
                    limb, (status, iterations, restarts), memory, (state, errors[row], outcome)
                )
            sync_warp()  # rows of a warp begin together, so that its threads take the same branches

    return cuda_jit_cached(search_rows, calls=CALLS)


@lru_cache(maxsize=64)
def follow_kernel(size: int) -> Any:
    """The kernel that follows clips; ``size`` numbers of scratch."""

    def follow_clips(
        packed: TreeRows,
        offsets: Ints,
        limits: tuple[int, float, bool],
        round_: TreeRound,
        results: TreeResults,
    ) -> None:
        if cuda.threadIdx.x % WARP >= round_.lanes:
            return
        buffer = cuda.local.array(size, np.float64)
        ints, floats, targets, criteria, settings = packed
        states, errors, outcomes = results
        while True:
            number = cuda.atomic.add(round_.counter, TAKEN, 1)
            if number >= round_.row_count:
                return
            clip = round_.rows[number]
            begin, end = offsets[clip], offsets[clip + 1]
            own = settings[clip % settings.shape[0]]
            part = TreeResults(states[begin:end], errors[begin:end], outcomes[begin:end])
            rows = TreeRows(ints, floats, targets[begin:end], criteria, own)
            follow_tree(rows, limits, part, buffer)
            sync_warp()

    return cuda_jit_cached(follow_clips, calls=CALLS)


@lru_cache(maxsize=1)
def spread_kernel() -> Any:
    """The kernel that writes whole targets from those of a row and the numbers that differ."""

    def spread_targets(constant: Any, numbers: Any, targets: Any) -> None:
        at = cuda.grid(1)
        row, k = at // constant.shape[0], at % constant.shape[0]
        if row >= numbers.shape[0]:
            return
        for column in range(constant.shape[1]):
            targets[row, k, column] = constant[k, column]
        for column in range(numbers.shape[2]):
            targets[row, k, TARGET_POINT + column] = numbers[row, k, column]

    return cuda_jit_cached(spread_targets)
