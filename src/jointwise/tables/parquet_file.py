"""Parquet, with PyArrow (extra: parquet)."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.extras import require
from jointwise.tables.columns import ModelFor, TableHeader, TargetTable, read_header
from jointwise.tables.result_columns import Columns, Saved, Write


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
        name: What messages call the file.
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
    """An Arrow table of results; NaN is null."""
    pyarrow = import_pyarrow()

    def array(column: Any) -> Any:
        is_arrow = isinstance(column, (pyarrow.Array, pyarrow.ChunkedArray))
        return column if is_arrow else pyarrow.array(column, from_pandas=True)

    with column_errors():
        return pyarrow.table({name: array(column) for name, column in columns.items()})


@contextmanager
def number_errors(name: str) -> Iterator[None]:
    """Turn what PyArrow and NumPy say of a table without numbers into a sentence."""
    pyarrow = import_pyarrow()
    try:
        yield
    except InvalidInputError:
        raise
    except (pyarrow.ArrowInvalid, ValueError, TypeError) as error:
        raise InvalidInputError(f"{name} is not a table of numbers: {error}.") from None


@contextmanager
def column_errors() -> Iterator[None]:
    """Turn what PyArrow says of columns of several types into a sentence."""
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
