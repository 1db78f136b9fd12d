"""Many targets at once, on all cores: the same answers as one by one, many times as fast."""

import os
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from jointwise import checks, gpu, kernels
from jointwise.arm import Arm
from jointwise.config import SolveConfig, check_config
from jointwise.errors import DimensionMismatchError, InvalidInputError
from jointwise.kernels import LARGEST, LOWER, UPPER, Floats
from jointwise.progress import Report, reporting, silent
from jointwise.results import ENDINGS, IKBatch, Status
from jointwise.solve import block_of, grouped, inside
from jointwise.targets import Request, Targets, requests

# Rows that a thread takes at a time: enough to keep the lanes full, few enough to share the end.
FEWEST, MOST = 64, 4096
# The least tolerance [m, rad] that single precision can hold.
COARSE = 1e-5

Device = Literal["cpu", "cuda", "auto"]


class Problems(NamedTuple):
    """What kernels that solve rows are told, in their order; see ``kernels.cpu.solve_rows``."""

    block: Floats
    asked: Floats
    weights: tuple[float, ...]
    begins: Floats
    near: bool
    close: float
    aligned: float
    max_restarts: int


def solve_batch(
    arm: Arm,
    targets: Targets,
    starts: ArrayLike | None,
    config: SolveConfig,
    seed: int,
    device: Device,
    dtype: DTypeLike,
    threads: int | None,
    progress: bool,
    closest: bool = True,
) -> IKBatch:
    """Where the joints must go for each of many targets; see ``Chain.solve_batch``."""
    check_config(config)
    if config.method != "combined" or config.rest is not None:
        raise InvalidInputError(
            "config has method='ccd' or a rest posture: expected neither for a batch. "
            "Solve these one by one."
        )
    number, there = _precision(dtype, config), checks.on_gpu(targets)
    if there:
        gpu.check_library(targets, number)
    on_gpu = wants_gpu(device) or there
    if number is np.float32 and not on_gpu:
        raise InvalidInputError("dtype is float32: expected float64 on a CPU, or device='cuda'.")
    request = requests(arm, targets, gpu.array if there else checks.contiguous)
    begins = starts_of(arm, starts, len(request[0]), there)
    problems = problems_of(arm, request, begins, starts is not None, config, seed)
    with reporting(progress, "solving", len(request[0])) as report:
        if not on_gpu:
            return solve_here(arm, problems, cores(threads), closest, report)
        found = solve_there(arm, problems, number, cores(threads), closest, report)
    return IKBatch(*(gpu.handed_back(each, targets) for each in found))


def problems_of(
    arm: Arm, request: Request, begins: Floats, near: bool, config: SolveConfig, seed: int
) -> Problems:
    """What kernels are told of many requests, and where each begins, or all do."""
    (asked, weights), block = request, block_of(arm, config, seed)
    limits = (*config.tolerances, config.max_restarts)
    return Problems(block, asked, weights, begins, near, *limits)


def solve_here(
    arm: Arm, problems: Problems, workers: int, closest: bool, report: Report = silent
) -> IKBatch:
    """Solve on so many cores."""
    count, n = len(problems.asked), arm.kinds.size
    found = np.empty((count, n)), np.empty((count, 2)), np.empty((count, 3), np.int64)
    values, off, counts = found
    told = np.zeros((workers, 3), np.int64)

    def work(worker: int, begin: int, end: int) -> None:
        kernels.cpu.solve_rows(*problems, begin, end, *found, told[worker])
        missed = begin + np.flatnonzero(counts[begin:end, 0] < 0)
        counts[missed, 0] = ~counts[missed, 0]
        for row in missed.tolist() if closest else ():
            if told[worker, 2]:
                return
            values[row], off[row], counts[row] = _alone(arm, problems, row)

    _share(work, count, min(max(count // (8 * workers), FEWEST), MOST), told, report)
    return IKBatch.of(*found)


def solve_there(
    arm: Arm,
    problems: Problems,
    number: type,
    processors: int,
    closest: bool,
    report: Report = silent,
) -> list[Any]:
    """The columns of an ``IKBatch``, on the GPU if the targets are."""
    count, n, there = len(problems.asked), arm.kinds.size, checks.on_gpu(problems.asked)
    size, most = gpu.pieces(count, n, there)
    found = (
        gpu.empty(count, n, number)
        if there
        else [np.empty(*each) for each in gpu.columns(count, n, number)]
    )
    told = np.zeros((most, 3), np.int64)
    missed: list[NDArray[np.int64]] = []

    def work(worker: int, begin: int, end: int) -> None:
        begins = problems.begins[begin:end] if len(problems.begins) > 1 else problems.begins
        some = [each[begin:end] for each in found]
        left = workers[worker].solve(problems.asked[begin:end], begins, problems[4:], some)
        missed.append(begin + left.astype(np.int64))
        solved = end - begin - len(left)
        told[worker, :2] += solved if closest else end - begin, solved

    with gpu.workers(most, n, number, size) as workers:
        for each in workers:
            each.set_up(problems.block, problems.weights)
        _share(work, count, size, told, report)
    if closest and missed:
        _look(arm, problems, np.concatenate(missed), found, processors, report)
    if not there:
        for column in found:
            column.setflags(write=False)
    return found


def _look(
    arm: Arm,
    problems: Problems,
    rows: NDArray[np.int64],
    found: list[Any],
    workers: int,
    report: Report,
) -> None:
    """Look at the rows that a GPU missed, here, one by one on all cores; write what is found."""
    reached, told = len(found[0]) - len(rows), np.zeros((workers, 3), np.int64)

    def work(worker: int, begin: int, end: int) -> None:
        for row in rows[begin:end].tolist():
            if told[worker, 2]:
                return
            q, off, (ended, *counts) = _alone(arm, problems, row)
            if found[0].dtype == np.float32:
                q, off, ended = _rounded(arm, problems, row, q, ended)
            ending = min(ended, len(Status) - 1)
            for column, value in zip(found, (q, ended == 0, *off, *counts, ending), strict=True):
                gpu.put(column, row, value)
            told[worker, :2] += 1, ended == 0

    def further(done: int, solved: int) -> None:
        report(reached + done, reached + solved)

    _share(work, len(rows), 1, told, further)


def _rounded(
    arm: Arm, problems: Problems, row: int, q: Floats, ended: int
) -> tuple[Floats, tuple[float, float], int]:
    """The answer as single precision holds it, inside the limits, and its errors."""
    lower, upper = arm.bounds[:, LOWER], arm.bounds[:, UPPER]
    rounded = q.astype(np.float32)
    rounded = np.where(rounded < lower, np.nextafter(rounded, np.float32(np.inf)), rounded)
    rounded = np.where(rounded > upper, np.nextafter(rounded, np.float32(-np.inf)), rounded)
    values, off = rounded.astype(float), (np.nan, np.nan)
    if ENDINGS[ended] is not Status.INVALID:
        wanted = np.array(problems.asked[row : row + 1], float)[0], problems.weights
        numbers, task = grouped(problems.block, wanted, q.size)
        off = kernels.descent.errors(numbers, task, values)
        arrived = kernels.fk.arrived(*off, problems.close, problems.aligned, problems.weights)
        if ended == 0 and not arrived:
            ended = ENDINGS.index(Status.ITERATION_LIMIT)
    return values, off, ended


def _alone(
    arm: Arm, problems: Problems, row: int
) -> tuple[Floats, tuple[float, float], tuple[int, int, int]]:
    """Solve a row by itself, as every row could be."""
    given, begins = problems.asked, problems.begins
    at = row if len(begins) > 1 else 0
    target, start = (
        np.array(each, float)[0] for each in (given[row : row + 1], begins[at : at + 1])
    )
    workable = np.abs(start) < LARGEST
    q = np.where(workable, start, 0.0)
    inside(arm, q)
    if not workable.all():
        target = np.full_like(target, np.nan)
    ended, distant, turned, iterations, restarts = kernels.search.search(
        problems.block,
        target,
        problems.weights,
        problems.close,
        problems.aligned,
        problems.max_restarts,
        q,
        problems.near,
    )
    return q, (distant, turned), (ended, iterations, restarts)


def _precision(dtype: DTypeLike, config: SolveConfig) -> type:
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    if kind == np.float64:
        return np.float64
    if kind != np.float32:
        given = repr(dtype) if kind.hasobject else str(kind)
        raise InvalidInputError(f"dtype is {given}: expected float64 or float32.")
    if min(config.tolerances) < COARSE:
        raise InvalidInputError(
            f"dtype is float32, whose numbers have seven digits: expected tolerances of {COARSE} "
            "or more, SolveConfig(position_tolerance=1e-5, orientation_tolerance=1e-5)."
        )
    return np.float32


def wants_gpu(device: Device) -> bool:
    """Whether to compute on a GPU; an error if there is none and there must be."""
    checks.choice("device", device, get_args(Device))
    if device == "cuda":
        gpu.check()
    return device == "cuda" or (device == "auto" and not gpu.usable())


def starts_of(arm: Arm, starts: Any, count: int, there: bool = False) -> Floats:
    """(count, n) where each solve begins, or (1, n) where all do; on the GPU if that is there."""
    n = arm.kinds.size
    if starts is None:
        array = arm.home.copy()
    elif checks.on_gpu(starts):
        if not there:
            raise InvalidInputError("starts is on a GPU and targets is not: expected both there.")
        array = gpu.array("starts", starts)
    else:
        array = checks.contiguous("starts", starts)
    if array.shape not in ((n,), (count, n)):
        raise DimensionMismatchError(
            f"starts has shape {array.shape} for {count} targets of an arm of {n} joints: "
            f"expected ({n},) for all or ({count}, {n}), one for each."
        )
    rows = array.reshape(array.size // n, n)
    return gpu.there(rows) if there else rows


def cores(threads: int | None) -> int:
    """How many threads to use: as many as asked for, or one for every core."""
    if threads is None:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    workers = checks.count("threads", threads)
    if workers == 0:
        raise InvalidInputError("threads is 0: expected at least 1, or None for all cores.")
    return workers


def _share(
    work: Callable[[int, int, int], None],
    count: int,
    size: int,
    told: NDArray[np.int64],
    report: Report,
) -> None:
    """Do all rows, ``size`` at a time, a worker for each row of ``told``; stop if interrupted."""
    if count <= size:
        if count:
            work(0, 0, count)
        report(*told[:, :2].sum(axis=0).tolist())
        return
    from concurrent.futures import ThreadPoolExecutor, wait

    workers = len(told)
    begins = iter(range(0, count, size))

    def go_on(worker: int) -> None:
        for begin in begins:  # one iterator for all: what one takes no other does
            work(worker, begin, min(begin + size, count))
            if told[worker, 2]:
                return

    with ThreadPoolExecutor(workers) as pool:
        pending = {pool.submit(go_on, worker) for worker in range(workers)}
        try:
            while pending:
                finished, pending = wait(pending, timeout=0.1)
                report(*told[:, :2].sum(axis=0).tolist())
                for future in finished:
                    future.result()
        except BaseException:  # Ctrl-C too: the threads stop within one step
            told[:, 2] = 1
            raise
