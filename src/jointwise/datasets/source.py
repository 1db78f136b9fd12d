"""Sources of datasets: tables that are read in pieces."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

from jointwise.tables.columns import TableHeader, TargetTable


class Piece(NamedTuple):
    """Some rows of a source.

    Attributes:
        number: Number of the piece, from 0.
        rows: Number of rows; in text, of lines.
        place: Their place in the source.
    """

    number: int
    rows: int
    place: tuple[Any, ...]


class PieceRows(Protocol):
    """The rows of a piece that has been read: a ``TargetTable``, or rows that can be made one."""

    @property
    def size(self) -> int: ...  # noqa: D102

    def rows(self, begin: int, end: int) -> TargetTable:
        """The targets from ``begin`` to ``end``."""


@dataclass(frozen=True, slots=True)
class Source(ABC):
    """A table of targets in pieces; it can be pickled, and opens its files when it is read.

    Attributes:
        checksum_name: What the description calls the checksum.
        path: The file or folder.
        piece_rows: Rows of a piece.
        rows: Number of all rows; in text, of lines.
        checksum: A CRC-32, which differs if the contents have changed.
    """

    checksum_name: ClassVar[str] = "crc32"

    path: Path
    piece_rows: int
    rows: int
    checksum: int

    @property
    @abstractmethod
    def kind(self) -> str:
        """What the description calls the kind of file or folder."""

    def describe(self) -> dict[str, Any]:
        """The kind, rows and a checksum, which are compared before a dataset is resumed."""
        return {"kind": self.kind, "rows": self.rows, self.checksum_name: f"{self.checksum:08x}"}

    @abstractmethod
    def pieces(self) -> Iterator[Piece]:
        """All pieces in order; a source without rows has one without rows."""

    @abstractmethod
    def read(self, piece: Piece) -> PieceRows:
        """The rows of a piece."""

    @abstractmethod
    def empty(self) -> TargetTable:
        """The table without rows."""


@dataclass(frozen=True, slots=True)
class ColumnSource(Source):
    """A source with named columns.

    Attributes:
        header: The checked columns.
        in_degrees: Whether angles are degrees.
    """

    header: TableHeader
    in_degrees: bool


def even_pieces(rows: int, piece_rows: int) -> Iterator[Piece]:
    """Pieces of the same number of rows, except the last one; places are the first and the end."""
    for number, first in enumerate(range(0, max(rows, 1), piece_rows)):
        end = min(first + piece_rows, rows)
        yield Piece(number, end - first, (first, end))
