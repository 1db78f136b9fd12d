"""Where the chunks of a job are computed: on threads, on a GPU, or on a Dask cluster.

Chunks are returned in the order in which they are completed. Only a few are under way at a time,
so the memory is bounded by the size of a chunk, not of the job.
"""

import warnings
from collections.abc import Generator, Hashable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from itertools import islice
from threading import Event
from time import monotonic, sleep
from typing import Any

from jointwise.errors import InvalidInputError, JointwiseError
from jointwise.extras import require
from jointwise.jobs.job import IndexedChunk, Job

# Chunks under way per thread: one that is computed, and the next, so that no thread waits until a
# chunk is written.
CHUNKS_PER_THREAD = 2
# How often a chunk that failed on a worker is computed again.
RETRIES = 3
# How long to wait for a scheduler to respond, and between warnings about missing workers [s].
TIMEOUT_S = 10
# How often to check whether a chunk has arrived [s].
POLL_S = 0.01

RESUME_HINT = "Chunks already written are kept; the same call resumes."
ADDRESS_HINT = "expected the address that dask scheduler prints, such as 'tcp://10.0.0.5:8786'."


def compute_on_threads(
    job: Job, indices: Iterable[Hashable], threads: int
) -> Generator[IndexedChunk]:
    """Compute chunks in this process: one per thread, or on a GPU one at a time."""
    threads = 1 if job.device == "cuda" else threads
    remaining, stop = iter(indices), Event()
    with ThreadPoolExecutor(threads) as pool:

        def submit(count: int) -> set[Any]:
            return {
                pool.submit(_indexed_chunk, job, index, stop) for index in islice(remaining, count)
            }

        try:
            pending = submit(CHUNKS_PER_THREAD * threads)
            while pending:
                finished, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield future.result()
                    pending |= submit(1)
        finally:  # Ctrl-C too: queued chunks are cancelled, running ones end after their piece
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


def compute_on_cluster(
    job: Job, indices: Iterable[Hashable], client: Any
) -> Generator[IndexedChunk]:
    """Compute chunks on the workers of a Dask cluster and fetch them.

    The chunks of a lost worker are computed again by another one; each is returned once.

    Args:
        job: What to compute.
        indices: The chunks.
        client: A Dask ``Client``.

    Raises:
        JointwiseError: The cluster is lost, a worker failed, or it has other versions.
    """
    from distributed import as_completed

    remaining = iter(indices)
    running: set[Any] = set()
    # With results: a worker may be lost after it has computed a chunk and before it has sent it.
    results = as_completed(loop=client.loop, with_results=True, raise_errors=False)

    def submit() -> None:
        limit = CHUNKS_PER_THREAD * max(1, sum(client.nthreads().values()))
        for index in islice(remaining, max(0, limit - len(running))):
            future = client.submit(chunk_with_versions, job, index, pure=False, retries=RETRIES)
            running.add(future)
            results.add(future)

    try:
        with translate_errors(client):
            submit()
        while running:
            _wait_for_result(client, results)
            for future, result in results.next_batch():
                running.discard(future)
                with translate_errors(client):
                    if future.status in ("error", "cancelled"):
                        future.result()  # raises the error
                indexed_chunk, worker_versions = result
                _check_versions(job.versions(), worker_versions)
                yield indexed_chunk
            with translate_errors(client):
                submit()
    finally:
        with suppress(Exception):  # fails if the cluster is lost, with nothing left to cancel
            client.cancel(list(running))


def chunk_with_versions(job: Job, index: Hashable) -> tuple[IndexedChunk, dict[str, str]]:
    """A chunk, and the versions of the worker that computed it."""
    return _indexed_chunk(job, index), job.versions()


def _indexed_chunk(job: Job, index: Hashable, stop: Event | None = None) -> IndexedChunk:
    return index, job.compute(index, stop)


@contextmanager
def translate_errors(client: Any) -> Iterator[None]:
    """Turn an error of Dask or of a worker into a sentence with a remedy."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        yield
    except KilledWorker as problem:
        raise JointwiseError(
            f"the cluster lost several workers over the same chunk, {problem}. {RESUME_HINT} "
            "Check the logs and the memory of the workers first."
        ) from None
    except Exception as problem:
        lost = isinstance(problem, (CancelledError, CommClosedError)) or client.status != "running"
        what = "the cluster was lost" if lost else "a worker of the cluster failed"
        reason = " ".join(str(problem).split()).removesuffix(".")  # Dask's may have several lines
        raise JointwiseError(
            f"{what}, {type(problem).__name__}: {reason}. {RESUME_HINT}"
        ) from problem


def _wait_for_result(client: Any, results: Any) -> None:
    """Wait until a chunk arrives, and warn now and then if the cluster has no workers.

    Some clusters start without workers and add them on demand; others lose theirs.
    """
    last_check = monotonic()
    while not results.has_ready():
        sleep(POLL_S)
        if monotonic() - last_check < TIMEOUT_S:
            continue
        with translate_errors(client):
            workers = client.nthreads()
        if not workers and client.status == "running":  # else the whole cluster is lost
            warnings.warn(
                "the cluster has no workers, and the job waits for one: start dask worker with "
                "the address of the scheduler, or stop with Ctrl-C.",
                stacklevel=2,
            )
        last_check = monotonic()


def _check_versions(ours: dict[str, str], worker_versions: dict[str, str]) -> None:
    """Refuse chunks of a worker with other versions: their bits may differ."""
    differences = [
        f"{name} {worker_versions.get(name)}, not {ours.get(name)}"
        for name in sorted({*ours, *worker_versions})
        if worker_versions.get(name) != ours.get(name)
    ]
    if differences:
        raise JointwiseError(
            f"a worker of the cluster has {'; '.join(differences)}: expected the versions of the "
            f"caller, since the bits may differ. {RESUME_HINT}"
        )


@contextmanager
def connect(client: Any) -> Iterator[Any]:
    """A Dask client: the given one, a new one for an address, or None for None.

    A new client is closed at the end.
    """
    if client is None:
        yield None
        return
    Client = require("distributed", "client needs distributed", "cluster").Client
    if isinstance(client, Client):
        yield client
    elif isinstance(client, str):
        _check_address(client)
        try:
            connected = Client(client, timeout=TIMEOUT_S, set_as_default=False)
        except (OSError, ValueError) as problem:
            raise JointwiseError(
                f"no Dask scheduler responds at {client!r}, {problem}: {ADDRESS_HINT}"
            ) from None
        with connected:
            yield connected
    else:
        raise InvalidInputError(
            f"client is {client!r}: expected a Dask Client or the address of its scheduler."
        )


def _check_address(address: str) -> None:
    """Refuse what cannot be an address; Dask itself would keep trying until its timeout."""
    from distributed.comm.addressing import parse_address, parse_host_port
    from distributed.comm.registry import get_backend

    try:
        scheme, location = parse_address(address)
        get_backend(scheme)
        if scheme != "inproc":
            parse_host_port(location)
    except ValueError as problem:
        raise InvalidInputError(f"client is {address!r}, {problem}: {ADDRESS_HINT}") from None
