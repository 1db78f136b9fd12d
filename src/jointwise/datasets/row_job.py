"""RowJob: the pieces of a dataset, and how one is solved."""

from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass
from threading import Event
from time import monotonic
from typing import Any

from jointwise.backends.versions import versions_of
from jointwise.config import SolveConfig
from jointwise.datasets.deciding import DECIDING
from jointwise.datasets.parts import with_statuses
from jointwise.datasets.source import Piece, Source
from jointwise.engines.run_options import Device
from jointwise.posture import Posture
from jointwise.results.batch import IKBatch
from jointwise.tables.columns import TargetTable
from jointwise.tables.parquet_file import import_pyarrow, to_table
from jointwise.tables.result_columns import ResultColumns

# Files and folders whose code decides the bits of results.
FINGERPRINTED = (*DECIDING, "chain.py", "tables")
# Rows that are solved before the time of a row is known, and how long others should take [s]:
# an interrupted piece ends after them. Every row has the same bits, whatever is solved with it.
FIRST_ROWS, SECONDS_AT_ONCE = 64, 0.2


@dataclass(frozen=True, slots=True, eq=False)
class RowJob:
    """Rows of a table, solved piece by piece.

    Attributes:
        source: The targets.
        columns: The model, and the columns of the results.
        start: Start of all rows, if the source has none.
        posture: As for ``solve_batch``.
        config: As for ``solve_batch``.
        device: ``"cpu"`` or ``"cuda"``.
    """

    source: Source
    columns: ResultColumns
    start: Any
    posture: Posture | None
    config: SolveConfig
    device: Device

    def indices(self) -> Iterator[Piece]:
        """All pieces of the source."""
        return self.source.pieces()

    def items(self, index: Piece) -> int:
        """Number of rows; at least 1, since a part without rows is written too."""
        return max(1, index.rows)

    def solved(self, index: Piece, chunk: Any) -> int:
        """Number of rows that converged."""
        return int(chunk["converged"].to_numpy().sum())

    def versions(self) -> dict[str, str]:
        """Versions of everything that decides the bits of results."""
        return versions_of(*FINGERPRINTED)

    def check(self, empty: TargetTable) -> None:
        """Refuse options that no row could be solved with."""
        self._solve(empty)

    def compute(self, index: Piece, stop: Event | None = None) -> Any:
        """The results of a piece, an Arrow table."""
        table, begin = self.source.read(index), 0
        parts: list[Any] = []
        count = table_rows(table)
        size = FIRST_ROWS if self.device == "cpu" else max(1, count)
        while begin < count or not parts:
            if stop is not None and stop.is_set():
                raise CancelledError
            rows, started = table.rows(begin, begin + size), monotonic()
            parts.append(to_table(self.columns.of_table(self._solve(rows), rows)))
            begin, seconds = begin + size, monotonic() - started
            if self.device == "cpu":
                fitting = int(size * SECONDS_AT_ONCE / max(seconds, 1e-9))
                size = max(1, min(fitting, 8 * size))
        joined = import_pyarrow().concat_tables(parts).combine_chunks()
        return with_statuses(joined)

    def _solve(self, table: TargetTable) -> IKBatch:
        starts = self.start if table.starts is None else table.starts
        return self.columns.model.solve_batch(
            table.targets,
            starts,
            posture=self.posture,
            config=self.config,
            device=self.device,
            threads=1,
        )


def table_rows(table: TargetTable) -> int:
    """Number of rows of a table."""
    targets = table.targets
    return len(next(iter(targets.values())) if isinstance(targets, dict) else targets)
