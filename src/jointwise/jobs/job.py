"""Job: the interface of all kinds of long computations."""

from collections.abc import Hashable, Iterable
from dataclasses import MISSING, field, fields
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
        """Where chunks are computed; part of the description, because a GPU rounds differently."""

    def indices(self) -> Iterable[Any]:
        """The indices of all chunks, hashable, one by one."""

    def items(self, index: Any) -> int:
        """Number of items of a chunk, such as poses, for progress; 0 if there is nothing to do."""

    def compute(self, index: Any, stop: Event | None = None) -> Any:
        """Compute a chunk.

        Raises:
            CancelledError: ``stop`` was set; it is checked from time to time.
        """

    def solved(self, index: Any, chunk: Any) -> int:
        """How many items of a computed chunk are solved, for progress."""

    def versions(self) -> dict[str, str]:
        """Versions of everything that decides the bits, by name, in the calling process."""


# A chunk is computed for an index.
IndexedChunk = tuple[Hashable, Any]


def unsent(default: Any = ()) -> Any:
    """A field of a dataclass that is not sent to workers, where it has its default.

    The class needs ``__getstate__, __setstate__ = sent_state, set_state``.
    """
    return field(default=default, repr=False, metadata={"unsent": True})


def sent_state(self: Any) -> dict[str, Any]:
    """The fields of a dataclass that are sent to workers."""
    sent = (each.name for each in fields(self) if not each.metadata.get("unsent"))
    return {name: getattr(self, name) for name in sent}


def set_state(self: Any, state: dict[str, Any]) -> None:
    """Set the fields that were sent; the others get their defaults."""
    for each in fields(self):
        value = state.get(each.name, each.default)
        assert value is not MISSING
        object.__setattr__(self, each.name, value)
