"""Targets from a file: columns of a CSV or Parquet file, or arrays of an ``.npz`` file."""

import csv
import sys
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import Any, cast
from zipfile import BadZipFile

import numpy as np

from jointwise.chain import Chain
from jointwise.cli.tables.columns import TargetTable, check_header, table_from_columns
from jointwise.errors import InvalidInputError, JointwiseError
from jointwise.kernels.shapes import Floats
from jointwise.model.urdf_xml import short
from jointwise.solvers.targets import pack_targets

# Bytes read from a stream at once; also the longest line.
BLOCK_BYTES = 1 << 20


def read_targets(source: str, chain: Chain, in_degrees: bool) -> Iterator[TargetTable]:
    """The targets of a file in one table; of standard input, ``-``, in tables as lines arrive.

    Raises:
        InvalidInputError: The source cannot be read; the text says what is wrong in which line.
    """
    if source == "-":
        stream = cast(BufferedIOBase, sys.stdin.buffer)
        yield from _read_csv(stream, "the input", chain, in_degrees, BLOCK_BYTES)
        return
    path = Path(source)
    try:
        match path.suffix.lower():
            case ".csv":
                with path.open("rb") as file:
                    yield from _read_csv(file, path.name, chain, in_degrees, -1)
            case ".npz":
                yield _read_npz(path, chain)
            case ".parquet":
                yield _read_parquet(path, chain, in_degrees)
            case _:
                raise InvalidInputError(
                    f"{source} is not a table: expected a .csv, .npz or .parquet file, or -."
                )
    except OSError as error:
        raise InvalidInputError(f"{source} cannot be read: {error.strerror}.") from None


def import_pyarrow() -> Any:
    """The module ``pyarrow``, with ``pyarrow.parquet`` imported.

    Raises:
        JointwiseError: PyArrow is not installed; the text says how to install it.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise JointwiseError(
            "a .parquet file needs pyarrow, which is not installed: "
            "pip install 'jointwise[parquet]'."
        ) from None
    return pyarrow


def _read_csv(
    stream: BufferedIOBase, name: str, chain: Chain, in_degrees: bool, block_bytes: int
) -> Iterator[TargetTable]:
    """Tables of the lines as they arrive; cells are separated by commas, semicolons or tabs."""
    header: list[str] = []
    delimiter = ","
    for first, lines in _read_lines(stream, name, block_bytes):
        numbers = [
            number
            for number, line in enumerate(lines, first)
            if line.strip() and not line.startswith("#")
        ]
        if numbers and not header:
            line = lines[numbers.pop(0) - first]
            delimiter = max(",;\t", key=line.count)
            header = [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]
            check_header(header, name, chain)
        if numbers:
            rows = [lines[number - first] for number in numbers]
            values = _parse_rows(rows, numbers, header, delimiter, name)
            columns = dict(zip(header, values.T, strict=True))

            def locate(row: int, numbers: list[int] = numbers) -> str:
                return f"in line {numbers[row]} of {name}"

            yield table_from_columns(columns, locate, chain, in_degrees)
    if not header:
        raise InvalidInputError(f"{name} is empty: expected a header, such as x,y,z.")


def _read_lines(
    stream: BufferedIOBase, name: str, block_bytes: int
) -> Iterator[tuple[int, list[str]]]:
    """Lines as they arrive, each time with the number of the first.

    Args:
        stream: A file, or standard input.
        name: What messages call it.
        block_bytes: Bytes to read at once, at most, without waiting for them all; -1: the whole
            file.
    """
    rest, number = b"", 1
    while block := stream.read1(block_bytes) if block_bytes > 0 else stream.read():
        complete, newline, rest = (rest + block).rpartition(b"\n")
        if newline:
            lines = _decode(complete, name, number)
            yield number, lines
            number += len(lines)
        if len(rest) > BLOCK_BYTES:
            raise InvalidInputError(f"line {number} of {name} has no end: expected lines of text.")
    if rest:
        yield number, _decode(rest, name, number)


def _decode(data: bytes, name: str, number: int) -> list[str]:
    """Bytes that begin at line ``number``, as lines."""
    try:
        text = data.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError:
        raise InvalidInputError(f"{name} is not text: expected a CSV file in UTF-8.") from None
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")


def _parse_rows(
    rows: list[str], numbers: list[int], header: list[str], delimiter: str, name: str
) -> Floats:
    """(m, k) the numbers in rows of text, whose line numbers are ``numbers``."""
    try:
        values: Floats = np.loadtxt(
            rows, delimiter=delimiter, quotechar='"', ndmin=2, comments=None
        )
    except ValueError as error:
        reason = str(error).rstrip(".")
    else:
        if values.shape == (len(rows), len(header)):
            return values
        reason = f"{values.shape[1]} columns under a header of {len(header)}"
    for number, row in zip(numbers, rows, strict=True):  # slow; finds the cell that is wrong
        cells = next(csv.reader([row], delimiter=delimiter))
        if len(cells) != len(header):
            raise InvalidInputError(
                f"line {number} of {name} has {len(cells)} cells: expected {len(header)}, "
                "as many as the header."
            )
        for column, cell in zip(header, cells, strict=True):
            try:
                float(cell)
            except ValueError:
                raise InvalidInputError(
                    f"{column} in line {number} of {name} is {short(cell.strip())}: "
                    "expected a number."
                ) from None
    raise InvalidInputError(f"{name} cannot be read: {reason}.")


def _read_npz(path: Path, chain: Chain) -> TargetTable:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            targets, starts = arrays["targets"], arrays.get("starts")
    except (ValueError, LookupError, TypeError, AttributeError, EOFError, BadZipFile):
        raise InvalidInputError(
            f"{path.name} has no targets: expected an array of this name, (m, 3) or (m, 4, 4), "
            "saved with numpy.savez."
        ) from None
    return TargetTable(pack_targets(chain.arm, targets).kind, targets, starts)


def _read_parquet(path: Path, chain: Chain, in_degrees: bool) -> TargetTable:
    pyarrow = import_pyarrow()
    try:
        table = pyarrow.parquet.read_table(path)
        columns = {
            name: np.asarray(table[name].to_numpy(), np.float64) for name in table.column_names
        }
    except (pyarrow.ArrowInvalid, ValueError, TypeError) as error:
        raise InvalidInputError(f"{path.name} is not a table of numbers: {error}.") from None
    check_header(table.column_names, path.name, chain)

    def locate(row: int) -> str:
        return f"in row {row + 1} of {path.name}"

    return table_from_columns(columns, locate, chain, in_degrees)
