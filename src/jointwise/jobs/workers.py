"""Workers: where a job, such as a reach map, is computed."""

from dataclasses import dataclass, fields
from typing import Any

from jointwise.backends.threads import thread_count
from jointwise.engines.run_options import Device, wants_gpu
from jointwise.errors import InvalidInputError
from jointwise.model import checks


@dataclass(frozen=True, slots=True, repr=False)
class Workers:
    """Where a reach map or a dataset is computed: threads, this machine's GPU, or a Dask cluster.

    Args:
        device: ``"cpu"``, ``"cuda"`` for a GPU, or ``"auto"`` for a GPU of this machine if there is
            one.
        threads: Threads on a CPU. None: one for every core. Ignored on a GPU.
        client: A Dask ``Client``, or the address of a scheduler, to compute on a cluster, with the
            threads that its workers were started with. With ``"cuda"``, only workers that have the
            resource ``GPU`` compute, one chunk at a time each.
        chunk: Size of a chunk, the unit of work and of what is written: for a map, the number of
            voxels along its edge; for a dataset, the number of rows. None: chosen so that a chunk
            has about 100,000 poses, or four million on a GPU. For a map on a cluster of hundreds of
            cores, choose 32 to 48; see docs/howto/reach.md.

    Raises:
        InvalidInputError: A value is invalid, or the client is combined with a device or threads.

    Example:
        >>> from jointwise import Workers
        >>> Workers(threads=2)
        Workers(threads=2)
    """

    device: Device = "cpu"
    threads: int | None = None
    client: Any = None
    chunk: int | None = None

    def __post_init__(self) -> None:
        if self.client is not None and (self.device == "auto" or self.threads is not None):
            is_auto = self.device == "auto"
            option = "device='auto'" if is_auto else f"threads={self.threads}"
            expected = "'cpu' or 'cuda', which all chunks are computed on" if is_auto else "None"
            raise InvalidInputError(
                f"client is given with {option}: expected {expected}. The workers of a cluster "
                "compute with the threads they were started with."
            )
        thread_count(self.threads)  # checks threads; the next line checks the device
        _ = self.on_gpu

    def __repr__(self) -> str:  # what differs from the defaults, to keep signatures readable
        values = ((each.name, getattr(self, each.name), each.default) for each in fields(self))
        changed = [f"{name}={value!r}" for name, value, default in values if value != default]
        return f"Workers({', '.join(changed)})"

    @property
    def on_gpu(self) -> bool:
        """Whether a GPU computes the chunks; with a cluster, this machine needs none."""
        if self.client is not None and self.device == "cuda":
            return True
        return wants_gpu(self.device)


# All cores of this machine.
ALL_CORES = Workers()


def check_workers(workers: Any) -> None:
    """Refuse anything but Workers."""
    if not isinstance(workers, Workers):
        raise InvalidInputError(
            f"workers is {checks.short(workers)}: expected Workers, such as Workers(threads=2)."
        )
