"""Who computes the chunks of a reach map: threads, a GPU, or a Dask cluster.

Each hands back chunks as they are done, in any order, and never has more under way than keep it
busy. So memory is bounded by the chunk, not by the map.
"""

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from typing import Any

from jointwise.errors import InvalidInputError, JointwiseError
from jointwise.reach.chunks import Chunk, Job, chunk_of
from jointwise.reach.grid import Index

# Chunks under way for each that is being computed, so that nobody waits for the writer.
AHEAD = 2
# How often a chunk is tried again that failed on a worker, and how long to look for a cluster [s].
RETRIES, PATIENCE = 3, 10

Done = tuple[Index, Chunk]


def on_threads(job: Job, indices: Iterable[Index], threads: int) -> Generator[Done]:
    """Chunks computed here: on a CPU one a thread; on a GPU one at a time, on all of it."""
    at_once, inside = (1, threads) if job.device == "cuda" else (threads, 1)
    waiting = iter(indices)
    with ThreadPoolExecutor(at_once) as pool:
        try:
            pending = {
                pool.submit(_place_and_chunk, job, index, inside)
                for index in islice(waiting, AHEAD * at_once)
            }
            while pending:
                finished, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield future.result()
                    pending |= {
                        pool.submit(_place_and_chunk, job, index, inside)
                        for index in islice(waiting, 1)
                    }
        finally:  # Ctrl-C too: chunks that have not begun never do
            pool.shutdown(wait=True, cancel_futures=True)


def on_cluster(job: Job, indices: Iterable[Index], client: Any) -> Generator[Done]:
    """Chunks computed by the workers of a Dask cluster, sent back and written here.

    A chunk whose worker is lost is computed again by another; it comes back once.
    """
    from distributed import KilledWorker, as_completed

    waiting: Iterator[Index] = iter(indices)
    running: set[Any] = set()
    results = as_completed(loop=client.loop, with_results=True)

    def refill() -> None:
        busy = AHEAD * max(1, sum(client.nthreads().values()))
        for index in islice(waiting, max(0, busy - len(running))):
            future = client.submit(_place_and_chunk, job, index, 1, pure=False, retries=RETRIES)
            running.add(future)
            results.add(future)

    try:
        refill()
        for batch in results.batches():
            for future, done in batch:
                running.discard(future)
                yield done
            refill()
    except KilledWorker as problem:
        raise JointwiseError(
            f"the cluster lost one worker after another over the same chunk, {problem}. What was "
            "written stays; look at the workers' logs and memory. The same call then goes on."
        ) from None
    finally:
        client.cancel(list(running))


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


def _place_and_chunk(job: Job, index: Index, threads: int) -> Done:
    return index, chunk_of(job, index, threads)
