"""A Parquet file, or a folder of them, in pieces of row groups."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from zlib import crc32

from jointwise.datasets.source import ColumnSource, Piece, PieceRows, Source, even_pieces
from jointwise.errors import InvalidInputError
from jointwise.jobs.job import sent_state, set_state, unsent
from jointwise.tables.columns import ModelFor, TargetTable, read_header
from jointwise.tables.parquet_file import import_pyarrow, number_errors, to_targets

# Number of row groups that are cached, because a piece may be a part of one.
KEPT_GROUPS = 2
# Bytes at the end of a file: the length of its footer, and a magic number.
TAIL_BYTES = 8


@dataclass(frozen=True, slots=True)
class ParquetSource(ColumnSource):
    """Files with the same columns, in the order of their names.

    The checksum is that of the footers of all files, which have the columns, the sizes and the
    statistics of all row groups.

    Attributes:
        groups: File, number and first row of every row group; not sent to the workers of a cluster.
    """

    checksum_name, kind = "footers", "parquet"

    groups: tuple[tuple[str, int, int], ...] = unsent()

    __getstate__, __setstate__ = sent_state, set_state

    def pieces(self) -> Iterator[Piece]:
        """Places are the rows of a piece in row groups: file, group, first and end."""
        starts = [first for _, _, first in self.groups]
        ends = [*starts[1:], self.rows]
        for piece in even_pieces(self.rows, self.piece_rows):
            first, end = piece.place
            at = max(0, bisect_right(starts, first) - 1)
            parts = []
            while at < len(starts) and starts[at] < end:
                file, group, start = self.groups[at]
                within = max(first, start) - start, min(end, ends[at]) - start
                parts.append((file, group, start, *within))
                at += 1
            yield piece._replace(place=tuple(parts))

    def read(self, piece: Piece) -> PieceRows:
        """The rows of a piece."""
        if not piece.place:
            return self.empty()
        pyarrow = import_pyarrow()
        parts = []
        with number_errors(self.path.name):
            for file, group, _, first, end in piece.place:
                parts.append(_read_group(file, group).slice(first, end - first))
            table = pyarrow.concat_tables(parts)
        _, _, start, first, _ = piece.place[0]
        return ArrowRows(self, table, start + first)

    def empty(self) -> TargetTable:
        """The table without rows."""
        pyarrow = import_pyarrow()
        file = _files(self.path)[0]
        table = pyarrow.parquet.read_schema(file).empty_table()
        return to_targets(table, self.header, self.path.name, self.in_degrees)


class ArrowRows(NamedTuple):
    """Rows of a Parquet file, which become targets when they are needed.

    Attributes:
        source: Their source.
        table: The rows, an Arrow table.
        first: Number of the first one in the source.
    """

    source: ParquetSource
    table: Any
    first: int

    @property
    def size(self) -> int:
        """Number of rows."""
        return int(self.table.num_rows)

    def rows(self, begin: int, end: int) -> TargetTable:
        """The targets from ``begin`` to ``end``."""
        part, source = self.table.slice(begin, end - begin), self.source
        name, first = source.path.name, self.first + begin
        return to_targets(part, source.header, name, source.in_degrees, first)


def open_source(path: Path, model_for: ModelFor, in_degrees: bool, piece_rows: int) -> Source:
    """Read the footers of all files.

    Raises:
        InvalidInputError: A file is not Parquet, or has other columns than the first.
    """
    pyarrow = import_pyarrow()
    groups: list[tuple[str, int, int]] = []
    rows = checksum = 0
    schema = None
    for file in _files(path):
        with number_errors(file.name):
            metadata = pyarrow.parquet.read_metadata(file)
        checksum = crc32(_footer(file), checksum)
        own = metadata.schema.to_arrow_schema()
        schema = own if schema is None else schema
        if own.remove_metadata() != schema.remove_metadata():
            raise InvalidInputError(
                f"{file.name} in {path} has different columns from the first file: expected files "
                "with the same columns of the same types."
            )
        counts = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        firsts = accumulate(counts, initial=rows)
        groups += [(str(file), i, first) for i, first in zip(range(len(counts)), firsts)]  # noqa: B905
        rows += sum(counts)
    assert schema is not None
    header = read_header(schema.names, path.name, model_for)
    return ParquetSource(path, piece_rows, rows, checksum, header, in_degrees, tuple(groups))


def _files(path: Path) -> list[Path]:
    """The file, or the files of a folder without hidden ones."""
    if not path.is_dir():
        return [path.resolve(strict=True)]
    files = sorted(
        file.resolve()
        for file in path.rglob("*.parquet")
        if not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)
    )
    if not files:
        raise InvalidInputError(f"{path} has no .parquet files: expected at least one.")
    return files


def _footer(file: Path) -> bytes:
    with file.open("rb") as stream:
        stream.seek(-TAIL_BYTES, 2)
        length = int.from_bytes(stream.read(4), "little")
        stream.seek(-TAIL_BYTES - length, 2)
        return stream.read()


_reading = Lock()


def _read_group(file: str, group: int) -> Any:
    """A row group; threads that need the same one wait for the first."""
    with _reading:
        return _cached_group(file, group)


@lru_cache(KEPT_GROUPS)
def _cached_group(file: str, group: int) -> Any:
    pyarrow = import_pyarrow()
    with pyarrow.parquet.ParquetFile(
        file, memory_map=True, pre_buffer=False, page_checksum_verification=True
    ) as opened:
        return opened.read_row_group(group, use_threads=False)
