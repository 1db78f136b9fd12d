"""One visitor's thread: what comes from the browser is done here, in turn."""

import sys
import traceback
from collections.abc import Callable, Hashable
from threading import Condition, Thread
from time import monotonic

Job = Callable[[], None]


class Worker(Thread):
    """Does jobs one after the other. Of jobs with the same key that wait, only the latest is done.

    So a visitor's things need no lock, and dragging never lags: of a hundred places where the
    target was while one was solved, the last counts.
    """

    def __init__(self) -> None:
        super().__init__(name="jointwise page", daemon=True)
        self._jobs: dict[Hashable, tuple[float, Job]] = {}
        self._changed = Condition()
        self._closed = False

    def put(self, key: Hashable, job: Job, delay: float = 0.0) -> None:
        """Do a job after the delay [s]; in place of one with the same key, when that was due."""
        with self._changed:
            due, _ = self._jobs.get(key, (monotonic() + delay, job))
            self._jobs[key] = due, job
            self._changed.notify()

    def drop(self, key: Hashable) -> None:
        """Forget the job of this key, if one waits."""
        with self._changed:
            self._jobs.pop(key, None)

    def close(self) -> None:
        """End after the job that is being done."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def run(self) -> None:
        """Do what is due until closed; a job that fails is reported, and the next one is done."""
        while job := self._next():
            try:
                job()
            except Exception:
                traceback.print_exc(file=sys.stderr)

    def _next(self) -> Job | None:
        """The job that is due first, once it is; none when closed."""
        with self._changed:
            while not self._closed:
                key, (due, job) = min(
                    self._jobs.items(), key=lambda item: item[1][0], default=(None, (None, None))
                )
                if job is None or due is None:
                    self._changed.wait()
                elif (early := due - monotonic()) > 0.0:
                    self._changed.wait(early)
                else:
                    del self._jobs[key]
                    return job
        return None
