"""A visitor's thread, which does what the browser asks for, one job after the other."""

import sys
import traceback
from collections.abc import Callable, Hashable
from threading import Condition, Thread
from time import monotonic

Job = Callable[[], None]


class Worker(Thread):
    """Runs jobs one after the other. A waiting job is replaced by a newer one with the same key.

    All of a visitor's state is used on this thread only, so it needs no lock. Dragging does not
    lag: of all targets that arrive during a solve, only the latest is solved for next.
    """

    def __init__(self) -> None:
        super().__init__(name="jointwise page", daemon=True)
        self._jobs: dict[Hashable, tuple[float, Job]] = {}
        self._changed = Condition()
        self._closed = False

    def submit(self, key: Hashable, job: Job, delay: float = 0.0) -> None:
        """Run a job after ``delay`` [s]. It replaces a waiting one with the same key, at its time.

        Args:
            key: Identifies jobs of which only the latest counts.
            job: What to do.
            delay: How long to wait first [s].
        """
        with self._changed:
            due, _ = self._jobs.get(key, (monotonic() + delay, job))
            self._jobs[key] = due, job
            self._changed.notify()

    def cancel(self, key: Hashable) -> None:
        """Remove the waiting job with this key, if there is one."""
        with self._changed:
            self._jobs.pop(key, None)

    def close(self) -> None:
        """Stop after the current job; waiting jobs are not run."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def run(self) -> None:
        """Run jobs when they are due, until closed; the error of a failed job is printed."""
        while job := self._next():
            try:
                job()
            except Exception:
                traceback.print_exc(file=sys.stderr)

    def _next(self) -> Job | None:
        """Wait for the job that is due first; None when closed."""
        with self._changed:
            while not self._closed:
                key, (due, job) = min(
                    self._jobs.items(), key=lambda item: item[1][0], default=(None, (None, None))
                )
                if job is None or due is None:
                    self._changed.wait()
                elif (remaining := due - monotonic()) > 0.0:
                    self._changed.wait(remaining)
                else:
                    del self._jobs[key]
                    return job
        return None
