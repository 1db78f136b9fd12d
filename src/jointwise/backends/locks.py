"""Locks of files and folders, and removal of the files of killed processes."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time

# A process locks a temporary file just after creating it, so younger ones are not removed [s].
MIN_AGE_S = 60.0


@contextmanager
def locked(path: Path) -> Iterator[bool | None]:
    """Lock a file or folder while the block runs, unless another process has locked it.

    Yields:
        Whether it is locked by this call. None if there are no file locks, as on Windows and on
        some network file systems.
    """
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:
        yield None
        return
    descriptor, taken = os.open(path, os.O_RDONLY), None
    try:
        with suppress(OSError):
            try:
                flock(descriptor, LOCK_EX | LOCK_NB)
                taken = True
            except BlockingIOError:
                taken = False
        yield taken
    finally:
        os.close(descriptor)


def remove_abandoned(paths: Iterable[Path]) -> None:
    """Remove temporary files and folders whose process was killed: those that are not locked."""
    for path in paths:
        with suppress(OSError):  # another call may have removed it
            if time() - path.stat().st_mtime > MIN_AGE_S:
                with locked(path) as taken:
                    if taken:
                        shutil.rmtree(path) if path.is_dir() else path.unlink()
