"""Sources of datasets: tables that are read in pieces."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from jointwise.tables.columns import TargetTable


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


class Source(Protocol):
    """A table of targets in pieces; it can be pickled, and opens its files when it is read.

    Attributes:
        rows: Number of all rows; in text, of lines.
        piece_rows: Rows of a piece.
    """

    @property
    def rows(self) -> int: ...  # noqa: D102

    @property
    def piece_rows(self) -> int: ...  # noqa: D102

    def describe(self) -> dict[str, Any]:
        """The kind, rows and a checksum, which are compared before a dataset is resumed."""

    def pieces(self) -> Iterator[Piece]:
        """All pieces in order; a source without rows has one without rows."""

    def read(self, piece: Piece) -> PieceRows:
        """The rows of a piece."""

    def empty(self) -> TargetTable:
        """The table without rows."""


def even_pieces(rows: int, piece_rows: int) -> Iterator[Piece]:
    """Pieces of the same number of rows, except the last one; places are the first and the end."""
    for number, first in enumerate(range(0, max(rows, 1), piece_rows)):
        end = min(first + piece_rows, rows)
        yield Piece(number, end - first, (first, end))
