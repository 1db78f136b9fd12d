"""Where the chunks of a job are computed: on threads, on a GPU, or on a Dask cluster.

Chunks are returned in the order in which they are completed. Only a few are under way at a time,
so the memory is bounded by the size of a chunk, not of the job.
"""

import warnings
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any

from jointwise.errors import InvalidInputError, JointwiseError
from jointwise.extras import require
from jointwise.jobs.job import IndexedChunk, Job

# Chunks under way per thread: one that is computed, and the next, so that no thread waits until a
# chunk is written.
CHUNKS_PER_THREAD = 2
# How long an interrupted call waits for its threads [s].
GRACE_S = 0.5
# The item that ends a thread.
END = object()
# How often a chunk that failed on a worker is computed again.
RETRIES = 3
# How long to wait for a scheduler to respond, and between warnings about missing workers [s].
TIMEOUT_S = 10
# How often to check whether a chunk has arrived [s].
POLL_S = 0.01

# How long a main thread waits at a time for a chunk of its own threads [s].
QUEUE_POLL_S = 0.2

# The resource of workers that own a GPU, with the name in Dask's examples.
GPU = "GPU"

RESUME_HINT = "Chunks already written are kept; the same call resumes."
ADDRESS_HINT = "expected the address that dask scheduler prints, such as 'tcp://10.0.0.5:8786'."


def compute_on_threads(
    job: Job, indices: Iterable[Hashable], threads: int
) -> Generator[IndexedChunk]:
    """Compute chunks in this process: one per thread, or on a GPU one at a time.

    After Ctrl-C or an error, the threads have ``GRACE_S`` to end. Threads that compute longer, such
    as one that follows a long clip, are abandoned: they write nothing, and as daemons they do not
    keep the process alive.
    """
    threads = 1 if job.device == "cuda" else threads
    stop, remaining = Event(), iter(indices)
    waiting: SimpleQueue[Any] = SimpleQueue()
    finished: SimpleQueue[tuple[IndexedChunk | None, BaseException | None]] = SimpleQueue()

    def work() -> None:
        while (index := waiting.get()) is not END:
            try:
                finished.put(((index, job.compute(index, stop)), None))
            except BaseException as problem:  # raised where the chunks are received
                finished.put((None, problem))

    def submit(count: int) -> int:
        some = list(islice(remaining, count))
        for index in some:
            waiting.put(index)
        return len(some)

    pool = [Thread(target=work, daemon=True) for _ in range(threads)]
    for thread in pool:
        thread.start()
    try:
        pending = submit(CHUNKS_PER_THREAD * threads)
        while pending:
            chunk, problem = _next(finished)
            if problem is not None:
                raise problem
            assert chunk is not None
            yield chunk
            pending += submit(1) - 1
    finally:
        stop.set()
        with suppress(Empty):
            while True:
                waiting.get_nowait()
        for _ in pool:
            waiting.put(END)
        end = monotonic() + GRACE_S
        for thread in pool:
            thread.join(max(0.0, end - monotonic()))


def _next(queue: "SimpleQueue[Any]") -> Any:
    """The next item of a queue.

    The queue is polled, because a Ctrl-C just before the main thread begins to wait does not wake
    it.
    """
    while True:
        with suppress(Empty):
            return queue.get(timeout=QUEUE_POLL_S)


def compute_on_cluster(
    job: Job, indices: Iterable[Hashable], client: Any, versions: dict[str, str]
) -> Generator[IndexedChunk]:
    """Compute chunks on the workers of a Dask cluster and fetch them.

    The chunks of a lost worker are computed again by another one; each is returned once. A job for
    a GPU is computed by workers that have one, a chunk at a time for each.

    Args:
        job: What to compute.
        indices: The chunks.
        client: A Dask ``Client``.
        versions: The versions that ``computing_versions`` returned.

    Raises:
        JointwiseError: The cluster is lost, a worker failed, or it has other versions.
    """
    from distributed import as_completed

    remaining = iter(indices)
    running: set[Any] = set()
    # Results are fetched, too: a worker may be lost after it has computed a chunk and before it has
    # sent it.
    results = as_completed(loop=client.loop, with_results=True, raise_errors=False)

    def submit() -> None:
        limit = CHUNKS_PER_THREAD * max(1, _chunks_at_once(client, job))
        for index in islice(remaining, max(0, limit - len(running))):
            future = _submit(client, chunk_with_versions, job, index)
            running.add(future)
            results.add(future)

    try:
        with translate_errors(client):
            submit()
        while running:
            _wait_for(client, job, results.has_ready)
            for future, result in results.next_batch():
                running.discard(future)
                with translate_errors(client):
                    if future.status in ("error", "cancelled"):
                        future.result()  # raises the error
                indexed_chunk, worker_versions = result
                _check_versions(versions, worker_versions)
                yield indexed_chunk
            with translate_errors(client):
                submit()
    finally:
        with suppress(Exception):  # fails if the cluster is lost, with nothing left to cancel
            client.cancel(list(running))


def chunk_with_versions(job: Job, index: Hashable) -> tuple[IndexedChunk, dict[str, str]]:
    """A chunk, and the versions of the worker that computed it."""
    return (index, job.compute(index)), versions_here(job)


def versions_here(job: Job) -> dict[str, str]:
    """The versions of this process; for a job on a GPU also those of the GPU."""
    if job.device != "cuda":
        return job.versions()
    from jointwise.backends import cuda

    cuda.require_cuda()
    return job.versions() | cuda.gpu_versions()


def computing_versions(job: Job, client: Any) -> dict[str, str]:
    """The versions with which all chunks must be computed.

    They are those of the caller. If a cluster computes on GPUs, a worker reports the versions of
    its GPU.

    Args:
        job: What to compute.
        client: A Dask ``Client``; None for this process.
    """
    if client is None or job.device != "cuda":
        return versions_here(job)
    future = _submit(client, versions_here, job)
    _wait_for(client, job, future.done)
    with translate_errors(client):
        found: dict[str, str] = future.result()
    ours = job.versions()
    _check_versions(ours, {name: found.get(name, "missing") for name in ours})
    return found


def _submit(client: Any, function: Callable[..., Any], job: Job, *arguments: Hashable) -> Any:
    """Have a worker call a function of a job; for a job on a GPU, a worker that owns a GPU."""
    needed = {GPU: 1} if job.device == "cuda" else None
    return client.submit(function, job, *arguments, pure=False, retries=RETRIES, resources=needed)


def _chunks_at_once(client: Any, job: Job) -> int:
    """How many chunks the workers compute at a time: one for each thread or GPU."""
    if job.device != "cuda":
        return sum(client.nthreads().values())
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return int(sum(worker["resources"].get(GPU, 0) for worker in workers))


@contextmanager
def translate_errors(client: Any) -> Iterator[None]:
    """Turn an error of Dask or of a worker into a sentence with a remedy."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        yield
    except KilledWorker as problem:
        raise JointwiseError(
            f"the cluster lost several workers during the same chunk, {problem}. {RESUME_HINT} "
            "Check the logs and the memory of the workers first."
        ) from None
    except Exception as problem:
        lost = isinstance(problem, (CancelledError, CommClosedError)) or client.status != "running"
        what = "the cluster was lost" if lost else "a worker of the cluster failed"
        reason = " ".join(str(problem).split()).removesuffix(".")  # Dask's may have several lines
        raise JointwiseError(
            f"{what}, {type(problem).__name__}: {reason}. {RESUME_HINT}"
        ) from problem


def _wait_for(client: Any, job: Job, is_ready: Callable[[], bool]) -> None:
    """Wait until something arrives, and warn from time to time if no worker can compute it.

    Some clusters start without workers and add them on demand; others lose theirs.
    """
    last_check = monotonic()
    while not is_ready():
        sleep(POLL_S)
        if monotonic() - last_check < TIMEOUT_S:
            continue
        with translate_errors(client):
            count = _chunks_at_once(client, job)
        if not count and client.status == "running":  # else the whole cluster is lost
            on_gpu = job.device == "cuda"
            workers = "workers with a GPU" if on_gpu else "workers"
            options = f" and --resources {GPU}=1" if on_gpu else ""
            warnings.warn(
                f"the cluster has no {workers}, and the job waits for one: start dask worker with "
                f"the address of the scheduler{options}, or stop with Ctrl-C.",
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
    """Refuse an invalid address; Dask itself would keep trying until its timeout."""
    from distributed.comm.addressing import parse_address, parse_host_port
    from distributed.comm.registry import get_backend

    try:
        scheme, location = parse_address(address)
        get_backend(scheme)
        if scheme != "inproc":
            parse_host_port(location)
    except ValueError as problem:
        raise InvalidInputError(f"client is {address!r}, {problem}: {ADDRESS_HINT}") from None
