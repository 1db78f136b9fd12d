"""A CSV file in pieces of lines."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from jointwise.datasets.source import ColumnSource, Piece, Source
from jointwise.errors import InvalidInputError
from jointwise.jobs.job import sent_state, set_state, unsent
from jointwise.tables.columns import ModelFor, TargetTable, read_header
from jointwise.tables.csv_file import CsvParser
from jointwise.tables.text import BLOCK_BYTES, decode, row_numbers, to_targets


@dataclass(frozen=True, slots=True)
class CsvSource(ColumnSource):
    """A CSV file whose lines have been counted; the checksum is that of the whole file.

    Attributes:
        parser: Splits lines into columns.
        first_line: Number of the line after the header, from 1.
        ends: The end of each piece [bytes], preceded by the end of the header.
    """

    kind = "csv"

    parser: CsvParser
    first_line: int
    ends: tuple[int, ...] = unsent()

    __getstate__, __setstate__ = sent_state, set_state

    def pieces(self) -> Iterator[Piece]:
        """Places are bytes from and to, and the number of the first line."""
        for number, (begin, end) in enumerate(zip(self.ends, self.ends[1:], strict=False)):
            done = number * self.piece_rows
            lines = min(self.piece_rows, self.rows - done)
            yield Piece(number, lines, (begin, end, self.first_line + done))

    def read(self, piece: Piece) -> TargetTable:
        """The rows in the lines of a piece."""
        begin, end, first = piece.place
        with self.path.open("rb") as stream:
            stream.seek(begin)
            text = stream.read(end - begin)
        return self._table(decode(text, self.path.name, first) if text else [], first)

    def empty(self) -> TargetTable:
        """The table without rows."""
        return self._table([], 1)

    def _table(self, lines: list[str], first: int) -> TargetTable:
        numbers = row_numbers(lines, first)
        rows = [lines[number - first] for number in numbers]
        name = self.path.name
        return to_targets(self.parser, self.header, rows, numbers, name, self.in_degrees)


def open_source(path: Path, model_for: ModelFor, in_degrees: bool, piece_rows: int) -> Source:
    """Read the header, and find the lines at which pieces end."""
    path = path.resolve(strict=True)
    with path.open("rb") as stream:
        number, line = 0, ""
        while not line.strip() or line.startswith("#"):
            number += 1
            data = stream.readline(BLOCK_BYTES)
            if not data:
                raise InvalidInputError(
                    f"{path.name} is empty: expected CSV with a header, such as x,y,z, or "
                    "JSON lines."
                )
            line, *others = decode(data, path.name, number)
            if others:
                raise InvalidInputError(
                    f"{path.name} has lines that end with a carriage return alone: expected "
                    "newlines."
                )
        parser = CsvParser(line, number, path.name)
        header = read_header(parser.header, path.name, model_for)
        begin = stream.tell()
        stream.seek(0)
        ends, rows, checksum = _line_ends(stream, path.name, begin, piece_rows)
    return CsvSource(
        path, piece_rows, rows, checksum, header, in_degrees, parser, number + 1, tuple(ends)
    )


def _line_ends(stream: Any, name: str, begin: int, piece_rows: int) -> tuple[list[int], int, int]:
    """The ends of pieces, the number of lines after ``begin``, and the checksum of everything."""
    checksum = crc32(stream.read(begin))
    ends, lines, offset, last = [begin], 0, begin, begin
    while block := stream.read(16 * BLOCK_BYTES):
        checksum = crc32(block, checksum)
        newlines = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")) + (offset + 1)
        wanted = np.arange(-lines % piece_rows, len(newlines) + 1, piece_rows)
        ends += newlines[wanted[wanted > 0] - 1].tolist()
        lines, offset = lines + len(newlines), offset + len(block)
        last = int(newlines[-1]) if len(newlines) else last
        if offset - last > BLOCK_BYTES:
            raise InvalidInputError(f"a line of {name} is too long: expected lines of text.")
    lines += offset > last  # the last line has no end
    if ends[-1] != offset or len(ends) == 1:
        ends.append(offset)
    return ends, lines, checksum
