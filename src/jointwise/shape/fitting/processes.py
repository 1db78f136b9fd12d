"""Calls in other processes, because coal holds Python's lock while it works.

The processes are started by their command line, not by multiprocessing, which would run the main
module of the caller again.
"""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Any

# How often the main thread checks for Ctrl-C if waiting cannot be interrupted [s].
POLL_S = 0.2
# Environment variables that limit linear algebra libraries to one core.
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
COMMAND = "from jointwise.shape.fitting.processes import serve; serve()"

Call = Callable[[], Any]
Result = tuple[int, Any]


def results(calls: Sequence[Call], workers: int) -> Iterator[Result]:
    """Call functions, in this process or in others, and yield number and result of each, when done.

    Args:
        calls: Calls that can be pickled, the longest first.
        workers: Number of processes; up to 1: none, everything is called in this process.

    Raises:
        Exception: The exception that a function raised.
    """
    if workers <= 1:
        yield from ((number, call()) for number, call in enumerate(calls))
        return
    environment = os.environ | dict.fromkeys(ONE_THREAD, "1")
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))  # it may have changed since
    pending, done = iter(enumerate(calls)), SimpleQueue[Result]()
    processes: list[subprocess.Popen[bytes]] = []
    threads: list[Thread] = []
    try:
        with _interrupts_blocked():
            for _ in range(min(workers, len(calls))):
                process = subprocess.Popen(
                    [sys.executable, "-c", COMMAND],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=environment,
                    # On Windows, Ctrl-C goes to all processes of a group, so these form another
                    # one.
                    creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
                )
                processes.append(process)
                threads.append(Thread(target=_feed, args=(process, pending, done), daemon=True))
                threads[-1].start()
        for _ in calls:
            number, result = _next(done)
            if isinstance(result, BaseException):
                raise result
            yield number, result
    finally:
        for process in processes:
            process.kill()
        for thread in threads:
            thread.join()
        for process in processes:
            process.communicate()


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C; processes started meanwhile inherit that, so none dies while it imports."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _next(done: "SimpleQueue[Result]") -> Result:
    while True:
        try:
            return done.get(timeout=POLL_S)
        except Empty:
            continue


def _feed(
    process: "subprocess.Popen[bytes]",
    pending: Iterator[tuple[int, Call]],
    done: "SimpleQueue[Result]",
) -> None:
    """Send calls to a process, one after the other, until none is left or it has been killed."""
    assert process.stdin is not None
    assert process.stdout is not None
    for number, call in pending:  # one iterator for all threads: each takes what no other has
        try:
            _send(process.stdin, call)
            done.put((number, pickle.load(process.stdout)))
        except (OSError, EOFError, pickle.UnpicklingError, ValueError) as problem:
            done.put((number, RuntimeError(f"a process that fits spheres has ended: {problem}")))
            return


def serve() -> None:
    """Answer calls on standard input until it is closed. Ctrl-C is left to the parent process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    while True:
        try:
            call = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            result = call()
        except Exception as problem:  # raised again in the calling process
            result = problem
        _send(answers, result)


def _send(stream: IO[bytes], content: Any) -> None:
    pickle.dump(content, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()
