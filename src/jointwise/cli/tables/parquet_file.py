"""Parquet, with PyArrow (extra: parquet)."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from jointwise.cli.models import ArmOptions
from jointwise.cli.tables.columns import TargetTable, read_header
from jointwise.cli.tables.result_columns import Columns, Saved, Write
from jointwise.errors import InvalidInputError
from jointwise.extras import require


def read(path: Path, options: ArmOptions, in_degrees: bool) -> Iterator[TargetTable]:
    """The targets of a file in one table; null is NaN. Extra columns stay as they are."""
    pyarrow = _import_pyarrow()
    try:
        table = pyarrow.parquet.read_table(path)
        header = read_header(table.column_names, path.name, options)
        columns = {
            name: table[name].combine_chunks()
            if name in header.extra
            else np.asarray(table[name].to_numpy(), np.float64)
            for name in table.column_names
        }
    except InvalidInputError:
        raise
    except (pyarrow.ArrowInvalid, ValueError, TypeError) as error:
        raise InvalidInputError(f"{path.name} is not a table of numbers: {error}.") from None

    def locate(row: int) -> str:
        return f"in row {row + 1} of {path.name}"

    yield header.table(columns, locate, in_degrees)


@contextmanager
def write(path: Path) -> Iterator[Write]:
    """Write results to a file; NaN is null. The first results decide the types of the columns."""
    pyarrow = _import_pyarrow()
    file: Any = None

    def array(column: Any) -> Any:
        is_arrow = isinstance(column, (pyarrow.Array, pyarrow.ChunkedArray))
        return column if is_arrow else pyarrow.array(column, from_pandas=True)

    def write_columns(saved: Saved, columns: Columns) -> None:
        nonlocal file
        try:
            table = pyarrow.table({name: array(column) for name, column in columns.items()})
            file = file or pyarrow.parquet.ParquetWriter(path, table.schema)
            file.write_table(table.cast(file.schema))
        except pyarrow.ArrowException as error:
            raise InvalidInputError(
                f"the results cannot be written as Parquet: {error}. Expected values of one type "
                "in every column, or a .csv or .jsonl file."
            ) from None

    try:
        yield write_columns
    finally:
        if file is not None:
            file.close()


def _import_pyarrow() -> Any:
    """The module ``pyarrow``, with ``pyarrow.parquet`` imported."""
    return require("pyarrow.parquet", "a .parquet file needs pyarrow", "parquet")
