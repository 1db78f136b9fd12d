"""Run a job: compute and write the chunks that its store lacks."""

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import Any

from jointwise.backends.progress import Report, reporting
from jointwise.backends.threads import thread_count
from jointwise.jobs.dispatch import (
    compute_on_cluster,
    compute_on_threads,
    computing_versions,
    connect,
)
from jointwise.jobs.job import IndexedChunk, Job
from jointwise.jobs.store import MAX_LISTED, Store, translate_write_errors
from jointwise.jobs.workers import Workers


def run(
    job: Job,
    kind: type[Store],
    path: str | PathLike[str],
    description: dict[str, Any],
    *,
    workers: Workers,
    progress: bool,
    verb: str,
) -> None:
    """Create or resume the store of a job, and compute its missing and damaged chunks.

    The store alone decides which chunks are missing. If there are any, the versions must be those
    with which the others were computed.

    Args:
        job: What to compute.
        kind: The kind of store.
        path: Its folder.
        description: The description of the store.
        workers: The workers that compute the chunks.
        progress: Whether to show progress on standard error.
        verb: The activity that the progress bar shows.
    """
    with connect(workers.client) as cluster:
        versions = computing_versions(job, cluster)
        description = description | {"versions": description["versions"] | versions}
        with translate_write_errors(path):
            store = kind.open_or_create(path, description)
            store.remove_partials()
        with reporting(progress, "checking chunks"), translate_write_errors(path):
            items, damaged = 0, store.repair()
            for index, count in _missing_chunks(store, job):
                items += count
                damaged += store.damaged_files(index)
        # For a complete store, the versions do not matter; to resume one, they must be the same.
        if items:
            store.check_same(description, "versions")
        _warn_of_damage(store, damaged)
        if items:
            with store.lock(), reporting(progress, verb, items) as report:
                threads = thread_count(workers.threads)

                def compute(indices: Iterable[Any]) -> Generator[IndexedChunk]:
                    if cluster is None:
                        return compute_on_threads(job, indices, threads)
                    return compute_on_cluster(job, indices, cluster, versions)

                _compute_missing(store, job, compute, report)


def _warn_of_damage(store: Store, files: list[Path]) -> None:
    """Warn of damaged files, by name if there are few, which are about to be computed again."""
    if files:
        listed = ", ".join(repr(str(file)) for file in files[:MAX_LISTED])
        verb = "file is" if len(files) == 1 else f"files of {str(store.path)!r} are"
        more = ", ..." if len(files) > MAX_LISTED else ""
        warnings.warn(
            f"{len(files)} {verb} damaged and will be computed again: {listed}{more}", stacklevel=4
        )


def _missing_chunks(store: Store, job: Job) -> Iterator[tuple[Any, int]]:
    """The chunks to compute and the number of items of each, without chunks that have none."""
    missing = (index for index in job.indices() if not store.is_complete(index))
    return ((index, items) for index in missing if (items := job.items(index)))


def _compute_missing(
    store: Store,
    job: Job,
    compute: Callable[[Iterable[Any]], Generator[IndexedChunk]],
    report: Report,
) -> None:
    """Compute all missing chunks, and write them as they are completed.

    Args:
        store: Where to write them; locked.
        job: What to compute.
        compute: Computes chunks.
        report: Called with the number of items done and solved, after every chunk.
    """
    # Listed one by one as they are needed: a list of all may be too large, and another call may
    # have written some before this one had the lock.
    chunks = compute(index for index, _ in _missing_chunks(store, job))
    done = solved = 0
    # The generator is closed if writing fails or is interrupted, so that no more are computed.
    with closing(chunks):
        for index, chunk in chunks:
            with translate_write_errors(store.path):
                store.write(index, chunk)
            done += job.items(index)
            solved += job.solved(index, chunk)
            report(done, solved)
