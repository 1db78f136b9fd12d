"""Who computes the chunks of a reach map: threads, a GPU, or a Dask cluster.

Each hands back chunks as they are done, in any order, and never has more under way than keep it
busy. So memory is bounded by the chunk, not by the map.
"""

import warnings
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from itertools import islice
from threading import Event
from time import monotonic, sleep
from typing import Any

from jointwise.errors import InvalidInputError, JointwiseError
from jointwise.reach.chunks import Chunk, Job, compute_chunk, versions
from jointwise.reach.grid import Index

# Chunks under way for each that is being computed, so that nobody waits for the writer.
AHEAD = 2
# How often a chunk is tried again that failed on a worker; how long to look for a cluster and its
# workers, and how long not to look whether a chunk is done [s].
RETRIES, PATIENCE, BRIEFLY = 3, 10, 0.01

# What a cluster's failure leaves.
STAYS = "What was written stays; the same call goes on."

Done = tuple[Index, Chunk]


def on_threads(job: Job, indices: Iterable[Index], threads: int) -> Generator[Done]:
    """Chunks computed here: one a thread; on a GPU one at a time, on all of it."""
    threads = 1 if job.device == "cuda" else threads
    waiting, stop = iter(indices), Event()
    with ThreadPoolExecutor(threads) as pool:
        try:
            pending = {
                pool.submit(_place_and_chunk, job, index, stop)
                for index in islice(waiting, AHEAD * threads)
            }
            while pending:
                finished, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield future.result()
                    pending |= {
                        pool.submit(_place_and_chunk, job, index, stop)
                        for index in islice(waiting, 1)
                    }
        finally:  # Ctrl-C too: chunks that have not begun never do, others end with their piece
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


def on_cluster(job: Job, indices: Iterable[Index], client: Any) -> Generator[Done]:
    """Chunks computed by the workers of a Dask cluster, sent back and written here.

    A chunk whose worker is lost is computed again by another; it comes back once.
    """
    from distributed import as_completed

    waiting: Iterator[Index] = iter(indices)
    running: set[Any] = set()

    def refill() -> None:
        busy = AHEAD * max(1, sum(client.nthreads().values()))
        for index in islice(waiting, max(0, busy - len(running))):
            future = client.submit(_by_whom, job, index, pure=False, retries=RETRIES)
            running.add(future)
            results.add(future)

    # A worker may be lost with a chunk that is done, so it counts when it has arrived here.
    results = as_completed(loop=client.loop, with_results=True, raise_errors=False)
    try:
        with _in_words(client):
            refill()
        while running:
            _wait_for_one(client, results)
            for future, found in results.next_batch():
                running.discard(future)
                with _in_words(client):
                    if future.status in ("error", "cancelled"):
                        future.result()  # raises what it was
                done, theirs = found
                _check_same(theirs)
                yield done
            with _in_words(client):
                refill()
    finally:  # a cluster that is lost has nothing left to cancel
        with suppress(Exception):
            client.cancel(list(running))


@contextmanager
def _in_words(client: Any) -> Iterator[None]:
    """Turn what Dask raises, or a worker, into a sentence with a remedy."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        yield
    except KilledWorker as problem:
        raise JointwiseError(
            f"the cluster lost one worker after another over the same chunk, {problem}. {STAYS} "
            "Look at the workers' logs and memory first."
        ) from None
    except Exception as problem:
        lost = isinstance(problem, (CancelledError, CommClosedError)) or client.status != "running"
        what = "the cluster was lost" if lost else "a worker of the cluster failed"
        raise JointwiseError(f"{what}, {type(problem).__name__}: {problem}. {STAYS}") from problem


def _wait_for_one(client: Any, results: Any) -> None:
    """Wait until a chunk is done; say so if nobody is there to do it.

    Some clusters begin without workers and get them when asked; others lose theirs.
    """
    began = monotonic()
    while not results.has_ready():
        sleep(BRIEFLY)
        if monotonic() - began < PATIENCE:
            continue
        with _in_words(client):
            workers = client.nthreads()
        if not workers:
            warnings.warn(
                "the cluster has no workers, and the map waits for one: start dask worker with "
                "the address of the scheduler, or stop with Ctrl-C.",
                stacklevel=2,
            )
        began = monotonic()


def _check_same(theirs: dict[str, str]) -> None:
    """A worker that computes with other versions may give other bits."""
    ours = versions()
    differences = [
        f"{name} {theirs.get(name)}, not {ours.get(name)}"
        for name in sorted({*ours, *theirs})
        if theirs.get(name) != ours.get(name)
    ]
    if differences:
        raise JointwiseError(
            f"a worker of the cluster has {'; '.join(differences)}: expected the same there as "
            f"here, or its bits may differ. {STAYS}"
        )


@contextmanager
def connected(client: Any) -> Iterator[Any]:
    """The Dask client itself, or one for the address of a scheduler, closed in the end."""
    if client is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        raise JointwiseError(
            "client is given, but distributed is missing: pip install 'jointwise[cluster]'."
        ) from None
    if isinstance(client, Client):
        yield client
    elif isinstance(client, str):
        _check_address(client)
        try:
            made = Client(client, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as problem:
            raise JointwiseError(
                f"no Dask scheduler answers at {client!r}, {problem}: expected the address that "
                "dask scheduler prints, such as 'tcp://10.0.0.5:8786'."
            ) from None
        with made:
            yield made
    else:
        raise InvalidInputError(
            f"client is {client!r}: expected a Dask Client or the address of its scheduler."
        )


def _check_address(address: str) -> None:
    """A place where a scheduler could be. Dask itself tries others for a while."""
    from distributed.comm.addressing import parse_address, parse_host_port
    from distributed.comm.registry import get_backend

    try:
        scheme, place = parse_address(address)
        get_backend(scheme)
        if scheme != "inproc":
            parse_host_port(place)
    except ValueError as problem:
        raise InvalidInputError(
            f"client is {address!r}, {problem}: expected the address that dask scheduler prints, "
            "such as 'tcp://10.0.0.5:8786'."
        ) from None


def _place_and_chunk(job: Job, index: Index, stop: Event | None = None) -> Done:
    return index, compute_chunk(job, index, stop)


def _by_whom(job: Job, index: Index) -> tuple[Done, dict[str, str]]:
    """A chunk, and the versions of the worker that computed it."""
    return _place_and_chunk(job, index), versions()
