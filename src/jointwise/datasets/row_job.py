"""RowJob: the pieces of a dataset, and how one is computed."""

from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from threading import Event
from time import thread_time

import numpy as np

from jointwise.backends.versions import versions_of
from jointwise.datasets.deciding import DECIDING
from jointwise.datasets.parts import to_part
from jointwise.datasets.row_verbs import MAX_ROWS, VERBS, RowCall, RowVerb
from jointwise.datasets.source import Piece, Source
from jointwise.engines.run_options import Device
from jointwise.jobs.file_store import FileChunk
from jointwise.tables.parquet_file import import_pyarrow, join, to_table
from jointwise.tables.result_columns import Columns, ResultColumns

# Files and folders whose code decides the bits of results.
FINGERPRINTED = (*DECIDING, "arm_solutions.py", "chain.py", "tables")
# Processor time of the rows that are computed at a time [s]: an interrupted piece ends after them.
# The bits of a row do not depend on the rows computed with it.
SECONDS_AT_ONCE = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class RowJob:
    """Rows of a table, computed piece by piece.

    Attributes:
        source: The targets.
        columns: The model, and the columns of the results.
        call: The call of the verb for each row.
        pace: Number of rows that this process computed at a time in its last piece; empty at first.
    """

    source: Source
    columns: ResultColumns
    call: RowCall
    pace: list[int] = field(default_factory=list, repr=False)

    @property
    def verb(self) -> RowVerb:
        """The verb of the rows."""
        return VERBS[self.call.verb]

    @property
    def device(self) -> Device:
        """``"cpu"`` or ``"cuda"``."""
        return self.call.device

    def indices(self) -> Iterator[Piece]:
        """All pieces of the source."""
        return self.source.pieces()

    def items(self, index: Piece) -> int:
        """Number of rows; at least 1, because a part without rows is written, too."""
        return max(1, index.rows)

    def solved(self, index: Piece, chunk: FileChunk) -> int:
        """Number of rows that are solved."""
        return chunk.solved

    def versions(self) -> dict[str, str]:
        """Versions of everything that decides the bits of the files."""
        return versions_of(*FINGERPRINTED) | {"pyarrow": str(import_pyarrow().__version__)}

    def compute(self, index: Piece, stop: Event | None = None) -> FileChunk:
        """The results of a piece, a Parquet file."""
        verb, read, begin = self.verb, self.source.read(index), 0
        on_gpu, parts = self.device == "cuda", list[Columns]()
        counts = np.zeros(len(verb.statuses), np.int64)
        size = max(1, read.size) if on_gpu else (self.pace or [verb.first_rows])[0]
        while begin < read.size or not parts:
            if stop is not None and stop.is_set():
                raise CancelledError
            rows, started = read.rows(begin, min(begin + size, read.size)), thread_time()
            results = self.call.results(rows)
            parts.append(self.columns.of_table(results, rows))
            counts += np.bincount(verb.codes(results), minlength=len(counts))
            begin += size
            if not on_gpu:
                fitting = int(size * SECONDS_AT_ONCE / max(thread_time() - started, 1e-9))
                size = max(1, min(fitting, 8 * size, MAX_ROWS))
                self.pace[:] = [size]
        # Join them, so that the file does not depend on how many rows were computed at a time.
        table = to_table({name: join([part[name] for part in parts]) for name in parts[0]})
        names = (status.name for status in verb.statuses)
        found = {name: n for name, n in zip(names, counts.tolist(), strict=True) if n}
        return FileChunk(to_part(index.number, table, found), verb.count_solved(found))
