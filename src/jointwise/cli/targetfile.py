"""Targets from a file: the columns of a CSV or Parquet file, or the arrays of an ``.npz``."""

import csv
import sys
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import Any, cast
from zipfile import BadZipFile

import numpy as np

from jointwise.chain import Chain
from jointwise.cli.columns import Asked, asked, check
from jointwise.errors import InvalidInputError, JointwiseError
from jointwise.kernels.shapes import Floats
from jointwise.model.urdf_xml import short

# Bytes of a stream that are looked at together, at most; no line is longer.
BLOCK = 1 << 20


def read(source: str, chain: Chain, in_degrees: bool) -> Iterator[Asked]:
    """The targets in a file, all at once; of a stream, ``-``, as they come.

    Raises:
        InvalidInputError: Something in it cannot be read; the text says what and in which line.
    """
    if source == "-":
        stream = cast(BufferedIOBase, sys.stdin.buffer)
        yield from _csv(stream, "the input", chain, in_degrees, BLOCK)
        return
    file = Path(source)
    try:
        match file.suffix.lower():
            case ".csv":
                with file.open("rb") as opened:
                    yield from _csv(opened, file.name, chain, in_degrees, -1)
            case ".npz":
                yield _npz(file)
            case ".parquet":
                yield _parquet(file, chain, in_degrees)
            case _:
                raise InvalidInputError(
                    f"{source} is no table: expected a .csv, .npz or .parquet file, or -."
                )
    except OSError as problem:
        raise InvalidInputError(f"{source} cannot be read, {problem.strerror}.") from None


def parquet_library() -> Any:
    """PyArrow, if it is there."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise JointwiseError(
            "a .parquet file needs pyarrow, which is not here: pip install 'jointwise[parquet]'."
        ) from None
    return pyarrow


def _csv(
    stream: BufferedIOBase, title: str, chain: Chain, in_degrees: bool, size: int
) -> Iterator[Asked]:
    """What some lines after the others ask for; with commas, semicolons or tabs between cells."""
    titles: list[str] = []
    comma = ","
    for first, lines in _lines(stream, title, size):
        numbers = [
            number
            for number, line in enumerate(lines, first)
            if line.strip() and not line.startswith("#")
        ]
        if numbers and not titles:
            head = lines[numbers.pop(0) - first]
            comma = max(",;\t", key=head.count)
            titles = [each.strip() for each in next(csv.reader([head], delimiter=comma))]
            check(titles, title, chain)
        if numbers:
            table = _table([lines[n - first] for n in numbers], numbers, titles, comma, title)
            columns = dict(zip(titles, table.T, strict=True))

            def where(row: int, numbers: list[int] = numbers) -> str:
                return f"in line {numbers[row]} of {title}"

            yield asked(columns, where, chain, in_degrees)
    if not titles:
        raise InvalidInputError(f"{title} is empty: expected a line of titles, such as x,y,z.")


def _lines(stream: BufferedIOBase, title: str, size: int) -> Iterator[tuple[int, list[str]]]:
    """(number of the first, lines): of a stream those that are there, without waiting for more."""
    rest, number = b"", 1
    while block := stream.read1(size) if size > 0 else stream.read():
        whole, newline, rest = (rest + block).rpartition(b"\n")
        if newline:
            lines = _text(whole, title, number)
            yield number, lines
            number += len(lines)
        if len(rest) > BLOCK:
            raise InvalidInputError(f"line {number} of {title} has no end: expected lines of text.")
    if rest:
        yield number, _text(rest, title, number)


def _text(data: bytes, title: str, number: int) -> list[str]:
    try:
        text = data.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError:
        raise InvalidInputError(f"{title} is no text: expected a CSV file in UTF-8.") from None
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")


def _table(
    lines: list[str], numbers: list[int], titles: list[str], comma: str, title: str
) -> Floats:
    """(m, k) the numbers in the lines."""
    try:
        table: Floats = np.loadtxt(lines, delimiter=comma, quotechar='"', ndmin=2, comments=None)
    except ValueError as problem:
        why = str(problem).rstrip(".")
    else:
        if table.shape == (len(lines), len(titles)):
            return table
        why = f"{table.shape[1]} columns under {len(titles)} titles"
    for number, line in zip(numbers, lines, strict=True):  # the slow way, to find what is wrong
        cells = next(csv.reader([line], delimiter=comma))
        if len(cells) != len(titles):
            raise InvalidInputError(
                f"line {number} of {title} has {len(cells)} cells: expected {len(titles)}, "
                "as many as there are titles."
            )
        for column, cell in zip(titles, cells, strict=True):
            try:
                float(cell)
            except ValueError:
                raise InvalidInputError(
                    f"{column} in line {number} of {title} is {short(cell.strip())}: "
                    "expected a number."
                ) from None
    raise InvalidInputError(f"{title} cannot be read: {why}.")


def _npz(file: Path) -> Asked:
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return Asked(arrays["targets"], arrays.get("starts"))
    except (ValueError, LookupError, TypeError, AttributeError, EOFError, BadZipFile):
        raise InvalidInputError(
            f"{file.name} has no targets: expected an array of this name, (m, 3) or (m, 4, 4), "
            "saved with numpy.savez."
        ) from None


def _parquet(file: Path, chain: Chain, in_degrees: bool) -> Asked:
    pyarrow = parquet_library()
    try:
        table = pyarrow.parquet.read_table(file)
        columns = {
            name: np.asarray(table[name].to_numpy(), np.float64) for name in table.column_names
        }
    except (pyarrow.ArrowInvalid, ValueError, TypeError) as problem:
        raise InvalidInputError(f"{file.name} is no table of numbers: {problem}.") from None
    check(table.column_names, file.name, chain)
    return asked(columns, lambda row: f"in row {row + 1} of {file.name}", chain, in_degrees)
