"""Job: what every kind of long work consists of."""

from collections.abc import Hashable, Iterable
from threading import Event
from typing import Any, Protocol

from jointwise.engines.run_options import Device


class Job(Protocol):
    """A list of chunks, and a function of a chunk.

    The bits of a chunk depend only on the job and the index of the chunk, not on where or when it
    is computed, in which order, or how often. Jobs are sent to the workers of a cluster by pickle.
    """

    @property
    def device(self) -> Device:
        """What computes a chunk; part of the description, since a GPU rounds differently."""

    def indices(self) -> Iterable[Any]:
        """The indices of all chunks, hashable, one by one."""

    def items(self, index: Any) -> int:
        """Number of items of a chunk, such as poses, for progress; 0: there is nothing to do."""

    def compute(self, index: Any, stop: Event | None = None) -> Any:
        """Compute a chunk.

        Raises:
            CancelledError: ``stop`` was set; it is checked several times per second.
        """

    def solved(self, index: Any, chunk: Any) -> int:
        """How many items of a computed chunk are solved, for progress."""

    def versions(self) -> dict[str, str]:
        """Versions of everything that decides the bits, by name, where it is called."""


# A chunk is computed for an index.
IndexedChunk = tuple[Hashable, Any]
