"""Many targets at once, on all cores: the same answers as one by one, many times as fast."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from jointwise import checks, gpu, kernels
from jointwise.arm import Arm
from jointwise.config import SolveConfig, check_config
from jointwise.errors import DimensionMismatchError, InvalidInputError
from jointwise.kernels import LARGEST, LEFT, Floats
from jointwise.progress import Report, reporting
from jointwise.results import IKBatch, Status
from jointwise.solve import block_of, inside
from jointwise.targets import Targets, requests

# Rows that a thread takes at a time: enough to keep the lanes full, few enough to share the end.
FEWEST, MOST = 64, 4096
# The least tolerance [m, rad] that single precision can hold.
COARSE = 1e-5

Device = Literal["cpu", "cuda", "auto"]


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
    thorough: bool = True,
) -> IKBatch:
    """Where the joints must go for each of many targets; see ``Chain.solve_batch``.

    What no attempt reached is looked at again one by one, for the closest approach and the reason;
    that takes long, and who is not ``thorough`` has it marked as stalled, at its start.
    """
    check_config(config)
    if config.method != "combined" or config.rest is not None:
        raise InvalidInputError(
            "config has method='ccd' or a rest posture: expected neither for a batch. "
            "Solve these one by one."
        )
    number, on_gpu = _precision(dtype, config), runs_on_gpu(device)
    if number is np.float32 and not on_gpu:
        raise InvalidInputError("dtype is float32: expected float64 on a CPU, or device='cuda'.")
    asked, weights = requests(arm, targets)
    count, n, workers = len(asked), arm.kinds.size, cores(threads)
    begins, near = starts_of(arm, starts, count), starts is not None
    found = np.empty((count, n)), np.empty((count, 2)), np.empty((count, 3), np.int64)
    block, told = block_of(arm, config, seed), np.zeros((workers, 3), np.int64)
    limits = (*config.tolerances, config.max_restarts)

    def work(worker: int, begin: int, end: int) -> None:
        if not on_gpu:
            kernels.cpu.solve_rows(
                block, asked, weights, begins, near, *limits, begin, end, *found, told[worker]
            )
        if thorough:
            _alone(
                arm, block, asked, weights, begins, near, limits, begin, end, found, told[worker]
            )

    with reporting(progress, "solving", count) as report:
        if on_gpu:
            gpu.solve_rows(block, asked, weights, begins, near, limits, number, found, report)
        if thorough or not on_gpu:
            _share(work, count, told, (lambda *_: None) if on_gpu else report)
    if not thorough:
        found[2][found[2][:, 0] == LEFT, 0] = list(Status).index(Status.STALLED)
    return IKBatch.of(*found)


def _alone(
    arm: Arm,
    block: Floats,
    asked: Floats,
    weights: tuple[float, ...],
    begins: Floats,
    near: bool,
    limits: tuple[float, float, int],
    begin: int,
    end: int,
    found: tuple[Floats, Floats, NDArray[np.int64]],
    told: NDArray[np.int64],
) -> None:
    """Solve the rows that were left one by one, as all of them could be."""
    values, off, counts = found
    for row in (begin + np.flatnonzero(counts[begin:end, 0] == LEFT)).tolist():
        if told[2]:
            return
        target, start, q = asked[row], begins[row if len(begins) > 1 else 0], values[row]
        workable = np.abs(start) < LARGEST
        q[:] = np.where(workable, start, 0.0)
        inside(arm, q)
        if not workable.all():
            target = np.full_like(target, np.nan)
        ended, *errors, iterations, restarts = kernels.search.search(
            block, target, weights, *limits, q, near
        )
        off[row], counts[row] = errors, (ended, iterations, restarts)


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


def runs_on_gpu(device: Device) -> bool:
    """Whether a GPU solves; one that is asked for must be there."""
    checks.choice("device", device, get_args(Device))
    if device == "cuda":
        gpu.check()
    return device == "cuda" or (device == "auto" and not gpu.usable())


def starts_of(arm: Arm, starts: ArrayLike | None, count: int) -> Floats:
    """(count, n) where each solve begins, or (1, n) where all do."""
    if starts is None:
        return arm.home[None].copy()
    n = arm.kinds.size
    array = checks.contiguous("starts", starts)
    if array.shape not in ((n,), (count, n)):
        raise DimensionMismatchError(
            f"starts has shape {array.shape} for {count} targets of an arm of {n} joints: "
            f"expected ({n},) for all or ({count}, {n}), one for each."
        )
    return array.reshape(-1, n)


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
    work: Callable[[int, int, int], None], count: int, told: NDArray[np.int64], report: Report
) -> None:
    """Do all rows, some at a time, a worker for each row of ``told``; stop them if interrupted."""
    workers = len(told)
    size = min(max(count // (8 * workers), FEWEST), MOST)
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
