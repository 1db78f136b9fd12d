"""Work on the rows of a batch, shared among threads."""

import os
from collections.abc import Callable
from threading import current_thread, main_thread

import numpy as np

from jointwise.backends.progress import Report
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Ints
from jointwise.model import checks

# More threads than the cores of any machine only take memory.
MAX_THREADS = 10_000
# How often progress is reported [s].
POLL_S = 0.1


def thread_count(threads: int | None) -> int:
    """Number of threads: the requested one, or one for every core that this process may use."""
    if threads is None:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    count = checks.count("threads", threads)
    if count == 0:
        raise InvalidInputError("threads is 0: expected at least 1, or None for all cores.")
    if count > MAX_THREADS:
        raise InvalidInputError(
            f"threads is {threads}: expected at most {MAX_THREADS}, or None for all cores."
        )
    return count


def new_progress(workers: int) -> Ints:
    """(workers, 3) rows done, rows solved, and whether to stop; all 0."""
    return np.zeros((workers, 3), np.int64)


def run_threads(
    work: Callable[[int, int, int], None], count: int, size: int, progress: Ints, report: Report
) -> None:
    """Call ``work(worker, begin, end)`` for all rows, ``size`` of them at a time.

    Args:
        work: Called in the thread of a worker, for rows from ``begin`` to ``end``.
        count: How many rows.
        size: Largest number of rows of a call.
        progress: A row for each worker, as ``new_progress`` makes them; if the caller is
            interrupted, the last column becomes 1, and workers should return.
        report: Called from time to time with the rows done and solved.
    """
    workers = len(progress)
    starts = iter(range(0, count, max(size, 1)))
    # Ctrl-C reaches only the main thread, which therefore waits for the others.
    if count <= size or (workers == 1 and current_thread() is not main_thread()):
        for begin in starts:
            work(0, begin, min(begin + size, count))
            report(*progress[:, :2].sum(axis=0).tolist())
        if not count:
            report(0, 0)
        return
    from concurrent.futures import ThreadPoolExecutor, wait

    def run(worker: int) -> None:
        for begin in starts:  # one iterator for all threads: each takes what no other has
            work(worker, begin, min(begin + size, count))
            if progress[worker, 2]:
                return

    with ThreadPoolExecutor(workers) as pool:
        pending = {pool.submit(run, worker) for worker in range(workers)}
        try:
            while pending:
                finished, pending = wait(pending, timeout=POLL_S)
                report(*progress[:, :2].sum(axis=0).tolist())
                for future in finished:
                    future.result()
        except BaseException:  # Ctrl-C too: the threads stop within one step
            progress[:, 2] = 1
            raise
