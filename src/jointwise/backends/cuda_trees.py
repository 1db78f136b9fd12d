"""Whole robots on an NVIDIA GPU: a thread solves a row, or follows a clip."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from jointwise.backends.cuda import (
    BLOCK_THREADS,
    LOADING,
    MIN_BLOCKS,
    _blocks,
    _cuda,
    _free_memory,
    _multiprocessors,
    _simulated,
)
from jointwise.backends.device_arrays import device_array, to_device
from jointwise.backends.progress import Report, silent
from jointwise.errors import InvalidInputError
from jointwise.kernels import cuda as kernels
from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.kernels.layout.status import CONVERGED
from jointwise.kernels.layout.task import PackedCriteria
from jointwise.kernels.layout.tree import (
    PLAIN,
    TARGET_FORM,
    TARGET_POINT,
    TREE_ROWS,
    TreeResults,
    TreeRows,
    memory_size,
)

# Restarts of the rounds before the last, which has all: a row that needs many does not hold up the
# warp it is in.
FEW_RESTARTS = 1, 8
# Blocks of a multiprocessor that fit into its registers.
BLOCKS = 3
# The share of the free memory that a piece may take, and its rows at most: of a batch, and of
# clips, of which a GPU follows tens of thousands at a time.
MEMORY_SHARE, PIECE, MOST_ROWS = 0.3, 1 << 18, 1 << 23
# Numbers of scratch of a thread: at least; at most, 512 KB of local memory, some for the compiler.
MIN_SCRATCH, MAX_SCRATCH = 1024, 57_344


def scratch_size(ints: Ints) -> int:
    """Numbers of scratch of a thread: a few sizes, so that few kernels are compiled.

    Raises:
        InvalidInputError: It is more than a GPU has.
    """
    size = max(memory_size(ints), MIN_SCRATCH)
    step = 1 << (size.bit_length() - 3)  # four sizes between powers of two
    if not fits(ints):
        raise InvalidInputError(
            "device is 'cuda', but the robot has too many joints or targets for the memory of a "
            "thread: use device='cpu'."
        )
    return -(-size // step) * step


def fits(ints: Ints) -> bool:
    """Whether the scratch of a problem fits into the memory of a thread."""
    return memory_size(ints) <= MAX_SCRATCH


def solve_rows(
    packed: TreeRows, starts: Floats, results: TreeResults, report: Report = silent
) -> None:
    """Solve rows from and to NumPy arrays.

    Args:
        packed: The sets of targets; its settings are (1, 6, v) for all rows, or (m, 6, v).
        starts: (1, v+12) the state at the start for all rows, or (m, v+12).
        results: What is written.
        report: Called with the rows done and solved.
    """
    kernel = kernels.tree.search_kernel(scratch_size(packed.ints))
    count, most, done = len(packed.targets), packed.criteria[2], 0
    for begin, end in pieces(packed, np.arange(count + 1), PIECE):
        rows = slice(begin, end)
        on_gpu = upload(packed, rows)
        from_there = to_device(np.ascontiguousarray(_rows(starts, rows)))
        written, size = device_results(results, end - begin), end - begin
        left = np.arange(size)
        few = [each for each in FEW_RESTARTS if each < most and size > _warps()]
        for restarts in (*few, most):
            criteria = _with_restarts(packed.criteria, restarts)
            round_ = round_of(left, restarts == most)
            arguments = on_gpu._replace(criteria=criteria), from_there, round_, written
            _launch(kernel, round_, arguments)
            left = np.sort(round_.left.copy_to_host()[: int(round_.counter.copy_to_host()[1])])
            if not len(left):
                break
        _copy_back(written, results, rows)
        done += int((results.outcomes[rows, 0] == CONVERGED).sum())
        report(end, done)


def follow_clips(
    packed: TreeRows,
    offsets: Ints,
    limits: tuple[int, float, bool],
    results: TreeResults,
) -> None:
    """Follow clips from and to NumPy arrays, each from its state in its first row.

    Args:
        packed: The sets of targets of all clips, one clip after the other; its settings are
            (1, 6, v) for all clips, or (c, 6, v).
        offsets: (c+1,) the first row of each clip, and the number of rows.
        limits: As for ``follow_tree``.
        results: What is written.
    """
    kernel = kernels.tree.follow_kernel(scratch_size(packed.ints))
    for begin, end in pieces(packed, offsets, MOST_ROWS):
        own = offsets[begin : end + 1]
        rows = slice(int(own[0]), int(own[-1]))
        on_gpu = upload(packed, rows, slice(begin, end))
        written = device_results(results, rows.stop - rows.start, results.states[rows])
        longest_first = np.argsort(own[:-1] - own[1:], kind="stable")
        round_ = round_of(longest_first, True)
        _launch(kernel, round_, (on_gpu, to_device(own - own[0]), limits, round_, written))
        _copy_back(written, results, rows)


def pieces(packed: TreeRows, offsets: Ints, most: int) -> Iterator[tuple[int, int]]:
    """Neighbouring clips, from one to another, whose rows fit into the memory of a piece."""
    _, targets, width = packed.targets.shape
    bytes_of_row = 8 * (targets * (width + 16) + 200)
    rows = min(most, max(1, int(_free_memory() * MEMORY_SHARE / bytes_of_row)))
    begin, count = 0, len(offsets) - 1
    while begin < count:
        end = int(np.searchsorted(offsets, offsets[begin] + rows, side="right")) - 1
        end = max(end, begin + 1)
        yield begin, end
        begin = end


def upload(packed: TreeRows, rows: slice, settings: slice | None = None) -> TreeRows:
    """Some rows on the GPU; of plain targets only the numbers that differ are copied.

    Args:
        packed: All rows.
        rows: Which of them.
        settings: Which settings they have; as the rows, if None.
    """
    ints, floats, targets, criteria, all_settings = packed
    some = targets[rows]
    own = _rows(all_settings, rows if settings is None else settings)
    if _is_plain(ints, some):
        numbers = to_device(np.ascontiguousarray(some[:, :, TARGET_POINT:TARGET_FORM]))
        there = device_array(some.shape)
        kernel, count = kernels.tree.spread_kernel(), some.shape[0] * some.shape[1]
        with LOADING:
            kernel[_blocks(count), BLOCK_THREADS](
                to_device(np.ascontiguousarray(some[0])), numbers, there
            )
    else:
        there = to_device(np.ascontiguousarray(some))
    return TreeRows(
        to_device(ints), to_device(floats), there, criteria, to_device(np.ascontiguousarray(own))
    )


def _is_plain(ints: Ints, targets: Floats) -> bool:
    """Whether targets (m, k, 64) are plain, and differ in nothing but where points and axes are."""
    if ints[TREE_ROWS] or (targets[:, :, TARGET_FORM] != PLAIN).any():
        return False
    return bool((targets[:, :, :TARGET_POINT] == targets[0, :, :TARGET_POINT]).all())


def device_results(results: TreeResults, count: int, states: Floats | None = None) -> TreeResults:
    """Uninitialised results on the GPU, or with some states at the start."""
    shapes = [(count, *each.shape[1:]) for each in results]
    there = device_array(shapes[0]) if states is None else to_device(np.ascontiguousarray(states))
    return TreeResults(there, device_array(shapes[1]), device_array(shapes[2], np.int64))


def round_of(rows: Ints, is_last: bool) -> Any:
    """A round of some rows, with an empty queue of those left."""
    count = len(rows)
    lanes = min(max(-(-count // _warps()), 1), kernels.tree.WARP)
    left = device_array((count,), np.int64)
    counter = to_device(np.zeros(2, np.int64))
    return kernels.tree.TreeRound(to_device(rows), count, lanes, is_last, left, counter)


def _launch(kernel: Any, round_: Any, arguments: tuple[Any, ...]) -> None:
    """Run a kernel for a round, and wait for it."""
    threads = -(-round_.row_count // round_.lanes) * kernels.tree.WARP
    fitting = max(BLOCKS * _multiprocessors(), 1 if _simulated() else MIN_BLOCKS)
    with LOADING:
        call = kernels.rounds.KernelCall(kernel, arguments, _cuda().stream())
        _cuda().synchronize()  # arrays are copied in another stream
        call.launch(min(_blocks(threads), fitting), BLOCK_THREADS, *arguments)
    _cuda().synchronize()


def _copy_back(written: Any, results: TreeResults, rows: slice) -> None:
    for there, here in zip(written, results, strict=True):
        here[rows] = there.copy_to_host()


def _rows(values: Any, rows: slice) -> Any:
    """Some rows of what each row has, or the one that all share."""
    return values[rows] if len(values) > 1 else values


def _with_restarts(criteria: PackedCriteria, restarts: int) -> PackedCriteria:
    return (*criteria[:2], restarts, *criteria[3:])


def _warps() -> int:
    """Warps that run at a time."""
    return 2 if _simulated() else BLOCKS * _multiprocessors() * BLOCK_THREADS // kernels.tree.WARP
