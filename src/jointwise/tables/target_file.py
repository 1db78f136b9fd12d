"""Targets from a file or from standard input."""

import sys
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import cast

from jointwise.errors import InvalidInputError
from jointwise.tables import text
from jointwise.tables.columns import ModelFor, TargetTable
from jointwise.tables.csv_file import CsvParser
from jointwise.tables.file_kinds import FILE_KINDS, suffix_list
from jointwise.tables.json_lines import JsonLinesParser


def read_targets(
    source: str, model_for: ModelFor, in_degrees: bool, as_they_arrive: bool = True
) -> Iterator[TargetTable]:
    """The targets of a file in one table, or of standard input, ``-``, in tables as lines arrive.

    Standard input has JSON lines if it begins with ``{``, otherwise CSV.

    Args:
        source: A file, or ``-``.
        model_for: Returns the model; the columns tell whether it is an arm.
        in_degrees: Whether angles are degrees.
        as_they_arrive: Whether lines of standard input are returned as they arrive. False: all of
            them in one table.

    Raises:
        InvalidInputError: The source cannot be read; the text says what is wrong in which line.
    """
    if source == "-":
        stream = cast(BufferedIOBase, sys.stdin.buffer)
        yield from text.read_text(
            stream,
            source_name(source),
            _open_parser,
            model_for,
            in_degrees,
            text.BLOCK_BYTES if as_they_arrive else -1,
        )
        return
    path = Path(source)
    kind = FILE_KINDS.get(path.suffix.lower())
    if kind is None:
        raise InvalidInputError(f"{source} is not a table: expected a {suffix_list()} file, or -.")
    try:
        yield from kind.read(path, model_for, in_degrees)
    except OSError as error:
        raise InvalidInputError(f"{source} cannot be read: {error.strerror}.") from None


def source_name(source: str) -> str:
    """The name of a source in messages."""
    return "the input" if source == "-" else Path(source).name


def _open_parser(line: str, number: int, name: str) -> text.Parser:
    parser = JsonLinesParser if line.lstrip().startswith("{") else CsvParser
    return parser(line, number, name)
