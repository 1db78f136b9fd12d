"""JSON lines: an object per line, with the columns as keys."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import nan
from pathlib import Path
from typing import IO, Any

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.model.checks import short
from jointwise.tables.columns import ModelFor, TargetTable
from jointwise.tables.groups import column_groups, split_link
from jointwise.tables.plain_values import json_text
from jointwise.tables.result_columns import Columns, Saved, Write, to_rows
from jointwise.tables.text import Parser, read_file


def read(path: Path, model_for: ModelFor, in_degrees: bool) -> Iterator[TargetTable]:
    """The targets of a file in one table."""
    return read_file(path, JsonLinesParser, model_for, in_degrees)


@contextmanager
def write(path: Path) -> Iterator[Write]:
    """Write results to a file."""
    with path.open("w", encoding="utf-8") as stream:
        yield writer(stream)


def writer(stream: IO[str]) -> Write:
    """Write results to a stream."""

    def write_columns(saved: Saved, columns: Columns) -> None:
        stream.writelines(json_text(row) + "\n" for row in to_rows(columns))
        stream.flush()  # a program that reads the pipe gets every result at once

    return write_columns


class JsonLinesParser(Parser):
    """Turns JSON lines into columns; all have the keys of the first."""

    json_lines = True

    def _names(self, line: str, number: int) -> list[str]:
        return list(self._object(line, number))

    def columns(
        self, lines: Sequence[str], numbers: Sequence[int], extra: Sequence[str]
    ) -> dict[str, Any]:
        """The columns of lines with these numbers; null becomes NaN, except in extra columns."""
        rows = [self._row(*pair) for pair in zip(lines, numbers, strict=True)]
        return {
            column: [row[column] for row in rows]
            if column in extra
            else np.array(
                [
                    self._number(column, row[column], number)
                    for row, number in zip(rows, numbers, strict=True)
                ]
            )
            for column in self.header
        }

    def _row(self, line: str, number: int) -> dict[str, Any]:
        row = self._object(line, number)
        if row.keys() != set(self.header):
            raise InvalidInputError(
                f"line {number} of {self._name} has the keys {', '.join(row)}: expected those of "
                f"the first line, {', '.join(self.header)}."
            )
        return row

    def _object(self, line: str, number: int) -> dict[str, Any]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise InvalidInputError(
                f"line {number} of {self._name} is {short(line.strip())}: expected a JSON object, "
                'such as {"x": 0.4, "y": 0.2, "z": 0.5}.'
            )
        return self._expand_groups(row, number)

    def _expand_groups(self, row: dict[str, Any], number: int) -> dict[str, Any]:
        """A row in which a list, such as ``"position": [x, y, z]``, is a value per column."""
        groups = column_groups()
        for key, values in list(row.items()):
            prefix, group = split_link(key)
            if group not in groups or not isinstance(values, list):
                continue
            names = [prefix + name for name in groups[group]]
            if len(values) != len(names) or not row.keys().isdisjoint(names):
                raise InvalidInputError(
                    f"{key} in line {number} of {self._name} is {short(values)}: expected "
                    f"{len(names)} numbers, {', '.join(names)}, not given elsewhere."
                )
            del row[key]
            row |= zip(names, values, strict=True)
        return row

    def _number(self, column: str, value: Any, number: int) -> float:
        if value is None:
            return nan
        try:
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                return float(value)
        except OverflowError:  # an integer of hundreds of digits
            pass
        raise InvalidInputError(
            f"{column} in line {number} of {self._name} is {short(value)}: expected a number."
        )
