"""CSV: a header, then one line per row; cells separated by commas, semicolons or tabs."""

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from math import nan
from pathlib import Path
from typing import IO, Any

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.model.checks import short
from jointwise.tables.columns import ModelFor, TargetTable
from jointwise.tables.result_columns import Columns, Saved, Write
from jointwise.tables.text import Parser, read_file


def read(path: Path, model_for: ModelFor, in_degrees: bool) -> Iterator[TargetTable]:
    """The targets of a file in one table."""
    return read_file(path, CsvParser, model_for, in_degrees)


@contextmanager
def write(path: Path) -> Iterator[Write]:
    """Write results to a file."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        yield writer(stream)


def writer(stream: IO[str]) -> Write:
    """Write results to a stream, after a header."""
    lines, has_header = csv.writer(stream, lineterminator="\n"), False

    def write_columns(saved: Saved, columns: Columns) -> None:
        nonlocal has_header
        if not has_header:
            lines.writerow(columns)
            has_header = True
        lines.writerows(zip(*map(_cells, columns.values()), strict=True))
        stream.flush()  # a program that reads the pipe gets every result at once

    return write_columns


class CsvParser(Parser):
    """Turns lines of CSV into columns."""

    json_lines = False

    def _names(self, line: str, number: int) -> list[str]:
        self._delimiter = max(",;\t", key=line.count)
        return [cell.strip() for cell in self._cells_of(line, number)]

    def columns(
        self, lines: Sequence[str], numbers: Sequence[int], extra: Sequence[str]
    ) -> dict[str, Any]:
        """The columns of lines with these numbers; an empty cell is NaN, in extra columns text."""
        if lines and not extra:
            with suppress(ValueError):  # an empty or wrong cell, which the code below finds
                values = np.loadtxt(
                    lines, delimiter=self._delimiter, quotechar='"', ndmin=2, comments=None
                )
                if values.shape == (len(lines), len(self.header)):
                    return dict(zip(self.header, values.T, strict=True))
        rows = [self._row(*pair) for pair in zip(lines, numbers, strict=True)]
        columns = {column: [row[i] for row in rows] for i, column in enumerate(self.header)}
        return {
            column: cells if column in extra else self._numbers(column, cells, numbers)
            for column, cells in columns.items()
        }

    def _row(self, line: str, number: int) -> list[str]:
        cells = self._cells_of(line, number)
        if len(cells) != len(self.header):
            raise InvalidInputError(
                f"line {number} of {self._name} has {len(cells)} cells: expected "
                f"{len(self.header)}, as many as the header."
            )
        return cells

    def _cells_of(self, line: str, number: int) -> list[str]:
        try:
            return next(csv.reader([line], delimiter=self._delimiter))
        except csv.Error as error:
            raise InvalidInputError(f"line {number} of {self._name} is not CSV: {error}.") from None

    def _numbers(self, column: str, cells: Sequence[str], numbers: Sequence[int]) -> Any:
        values = np.empty(len(cells))
        for i, cell in enumerate(map(str.strip, cells)):
            try:
                values[i] = float(cell.replace("_", "?")) if cell else nan  # Python allows 1_000
            except ValueError:
                raise InvalidInputError(
                    f"{column} in line {numbers[i]} of {self._name} is {short(cell)}: "
                    "expected a number."
                ) from None
        return values


def _cells(column: Any) -> list[Any]:
    """The cells of a column; NaN becomes an empty cell."""
    values = column if isinstance(column, list) else column.tolist()
    return [
        str(value).lower() if isinstance(value, bool) else "" if value != value else value
        for value in values
    ]
