"""Parquet, with PyArrow (extra: parquet)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.extras import require
from jointwise.tables.columns import ModelFor, TableHeader, TargetTable, read_header
from jointwise.tables.result_columns import Columns, Lists, Names, Saved, Write


def read(path: Path, model_for: ModelFor, in_degrees: bool) -> Iterator[TargetTable]:
    """The targets of a file in one table; null is NaN. Extra columns stay as they are."""
    with number_errors(path.name):
        table = import_pyarrow().parquet.read_table(path)
    header = read_header(table.column_names, path.name, model_for)
    yield to_targets(table, header, path.name, in_degrees)


def to_targets(
    table: Any, header: TableHeader, name: str, in_degrees: bool, first_row: int = 0
) -> TargetTable:
    """The targets in an Arrow table.

    Args:
        table: The table.
        header: Its header.
        name: Name of the file in messages.
        in_degrees: Whether angles are degrees.
        first_row: Number of the first row in the file.
    """
    with number_errors(name):
        columns = {
            column: table[column].combine_chunks()
            if column in header.extra
            else np.asarray(table[column].to_numpy(), np.float64)
            for column in table.column_names
        }

    def locate(row: int) -> str:
        return f"in row {first_row + row + 1} of {name}"

    return header.table(columns, locate, in_degrees)


def to_table(columns: Columns) -> Any:
    """An Arrow table of results; NaN is null, and columns without NaN in any table are required."""
    pyarrow = import_pyarrow()

    def array(column: Any) -> Any:
        if isinstance(column, (pyarrow.Array, pyarrow.ChunkedArray)):
            return column
        if isinstance(column, Names):
            return pyarrow.DictionaryArray.from_arrays(array(column.codes), list(column.names))
        if isinstance(column, Lists):
            return pyarrow.LargeListArray.from_arrays(array(column.offsets), array(column.values))
        has_gaps = not isinstance(column, np.ndarray) or column.dtype.kind not in "fiub"
        return pyarrow.array(column, from_pandas=bool(has_gaps or np.isnan(column).any()))

    def is_required(column: Any) -> bool:
        is_whole = isinstance(column, np.ndarray) and column.dtype.kind in "iub"
        return is_whole or isinstance(column, (Names, Lists))

    with column_errors():
        arrays = {name: array(column) for name, column in columns.items()}
        # Parquet files are written much faster if it is known that nothing is missing.
        fields = [
            pyarrow.field(name, arrays[name].type, nullable=not is_required(column))
            for name, column in columns.items()
        ]
        return pyarrow.table(list(arrays.values()), schema=pyarrow.schema(fields))


def join(parts: Sequence[Any]) -> Any:
    """One column of a table of results from those of several tables."""
    first = parts[0]
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    if isinstance(first, Names):
        return first._replace(codes=np.concatenate([part.codes for part in parts]))
    if isinstance(first, Lists):
        counts = np.concatenate([[0], *(np.diff(part.offsets) for part in parts)])
        return Lists(np.cumsum(counts), np.concatenate([part.values for part in parts]))
    if isinstance(first, list):
        return [value for part in parts for value in part]
    return import_pyarrow().concat_arrays(parts)


@contextmanager
def number_errors(name: str) -> Iterator[None]:
    """Turn errors of PyArrow and NumPy about a table without numbers into a sentence."""
    pyarrow = import_pyarrow()
    try:
        yield
    except InvalidInputError:
        raise
    except (pyarrow.ArrowInvalid, ValueError, TypeError) as error:
        raise InvalidInputError(f"{name} is not a table of numbers: {error}.") from None


@contextmanager
def column_errors() -> Iterator[None]:
    """Turn errors of PyArrow about columns of several types into a sentence."""
    try:
        yield
    except import_pyarrow().ArrowException as error:
        raise InvalidInputError(
            f"the results cannot be written as Parquet: {error}. Expected values of one type "
            "in every column, or a .csv or .jsonl file."
        ) from None


@contextmanager
def write(path: Path) -> Iterator[Write]:
    """Write results to a file. The first results decide the types of the columns."""
    pyarrow = import_pyarrow()
    file: Any = None

    def write_columns(saved: Saved, columns: Columns) -> None:
        nonlocal file
        table = to_table(columns)
        with column_errors():
            file = file or pyarrow.parquet.ParquetWriter(path, table.schema)
            file.write_table(table.cast(file.schema))

    try:
        yield write_columns
    finally:
        if file is not None:
            file.close()


def import_pyarrow() -> Any:
    """The module ``pyarrow``, with ``pyarrow.parquet`` imported."""
    return require("pyarrow.parquet", "a .parquet file needs pyarrow", "parquet")
