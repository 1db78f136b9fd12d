"""Targets in lines of text, from a file or as they arrive on standard input."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from io import BufferedIOBase
from pathlib import Path
from typing import Any, ClassVar

from jointwise.errors import InvalidInputError
from jointwise.tables.columns import ModelFor, TableHeader, TargetTable, read_header

# Bytes read from a stream at once; also the longest line.
BLOCK_BYTES = 1 << 20


class Parser(ABC):
    """Turns lines of one format into columns.

    Args:
        line: The first line, which has the names of the columns.
        number: Its number.
        name: Name of the source in messages.

    Attributes:
        json_lines: Whether the lines are JSON; else the first line is a header.
        header: The names of the columns.
    """

    json_lines: ClassVar[bool]
    header: list[str]

    def __init__(self, line: str, number: int, name: str) -> None:
        self._name = name
        self.header = self._names(line, number)

    @abstractmethod
    def _names(self, line: str, number: int) -> list[str]:
        """The names of the columns, from the first line."""

    @abstractmethod
    def columns(
        self, lines: Sequence[str], numbers: Sequence[int], extra: Sequence[str]
    ) -> dict[str, Any]:
        """The columns of lines with these numbers: floats, but lists for extra columns."""


# Makes a parser from the first line, its number, and the name of the source in messages.
OpenParser = Callable[[str, int, str], Parser]


def read_file(
    path: Path, open_parser: OpenParser, model_for: ModelFor, in_degrees: bool
) -> Iterator[TargetTable]:
    """The targets of a file in one table."""
    with path.open("rb") as file:
        yield from read_text(file, path.name, open_parser, model_for, in_degrees)


def read_text(
    stream: BufferedIOBase,
    name: str,
    open_parser: OpenParser,
    model_for: ModelFor,
    in_degrees: bool,
    block_bytes: int = -1,
) -> Iterator[TargetTable]:
    """Tables of the lines as they arrive; empty lines and lines that begin with # are ignored.

    A header alone gives one empty table.

    Args:
        stream: A file, or standard input.
        name: Its name in messages.
        open_parser: Called with the first line.
        model_for: Returns the model that the targets are for.
        in_degrees: Whether angles are degrees.
        block_bytes: Bytes to read at once, at most, without waiting for them all; -1: the whole
            file, in one table.
    """
    parser: Parser | None = None
    header: TableHeader | None = None
    has_rows = False

    def parse(rows: Sequence[str], numbers: Sequence[int]) -> TargetTable:
        assert parser is not None
        assert header is not None
        return to_targets(parser, header, rows, numbers, name, in_degrees)

    for first, lines in _read_lines(stream, name, block_bytes):
        numbers = row_numbers(lines, first)
        if numbers and parser is None:
            parser = open_parser(lines[numbers[0] - first], numbers[0], name)
            header = read_header(parser.header, name, model_for)
            del numbers[: not parser.json_lines]
        if numbers:
            has_rows = True
            yield parse([lines[number - first] for number in numbers], numbers)
    if parser is None:
        raise InvalidInputError(
            f"{name} is empty: expected CSV with a header, such as x,y,z, or JSON lines."
        )
    if not has_rows:
        yield parse([], [])


def to_targets(
    parser: Parser,
    header: TableHeader,
    rows: Sequence[str],
    numbers: Sequence[int],
    name: str,
    in_degrees: bool,
) -> TargetTable:
    """The targets in lines with these numbers, of the source with this name."""

    def locate(row: int) -> str:
        return f"in line {numbers[row]} of {name}"

    columns = parser.columns(rows, numbers, header.extra)
    table = header.table(columns, locate, in_degrees)
    return table._replace(json_lines=parser.json_lines)


def row_numbers(lines: Sequence[str], first: int) -> list[int]:
    """The numbers of the lines that are rows, without empty lines and those that begin with #."""
    return [
        number
        for number, line in enumerate(lines, first)
        if line.strip() and not line.startswith("#")
    ]


def _read_lines(
    stream: BufferedIOBase, name: str, block_bytes: int
) -> Iterator[tuple[int, list[str]]]:
    """Lines as they arrive, each time with the number of the first; -1: all lines at once."""
    if block_bytes < 0:
        data = stream.read()
        _check_end(data.rpartition(b"\n")[2], data.count(b"\n") + 1, name)
        if data:
            yield 1, decode(data, name, 1)
        return
    rest, number = b"", 1
    while block := stream.read1(block_bytes):
        complete, newline, rest = (rest + block).rpartition(b"\n")
        if newline:
            lines = decode(complete, name, number)
            yield number, lines
            number += len(lines)
        _check_end(rest, number, name)
    if rest:
        yield number, decode(rest, name, number)


def _check_end(rest: bytes, number: int, name: str) -> None:
    """Refuse a last line that is too long to be one."""
    if len(rest) > BLOCK_BYTES:
        raise InvalidInputError(f"line {number} of {name} is too long: expected lines of text.")


def decode(data: bytes, name: str, number: int) -> list[str]:
    """Bytes that begin at line ``number``, as lines."""
    try:
        text = data.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError:
        raise InvalidInputError(f"{name} is not text: expected a file in UTF-8.") from None
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")
