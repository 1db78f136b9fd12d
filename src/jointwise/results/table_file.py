"""Named columns of numbers in a file: CSV, NumPy's .npz or Parquet."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.extras import require
from jointwise.kernels.layout.arrays import Floats

SUFFIXES = (".csv", ".npz", ".parquet")


def save_columns(
    path: str | PathLike[str], columns: Mapping[str, Floats], arrays: Mapping[str, Any]
) -> None:
    """Write a table; the suffix of the file decides how.

    Args:
        path: The file, which is replaced.
        columns: Columns of a table, by name.
        arrays: Arrays for an ``.npz`` file, by name.

    Raises:
        InvalidInputError: The suffix is unknown.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidInputError(
            f"{file.name!r} has an unsupported suffix: expected {', '.join(SUFFIXES[:-1])} or "
            f"{SUFFIXES[-1]}."
        )
    if suffix == ".npz":
        with file.open("wb") as stream:
            np.savez(stream, **arrays)
    elif suffix == ".csv":
        import csv

        with file.open("w", encoding="utf-8", newline="") as text:
            lines = csv.writer(text, lineterminator="\n")
            lines.writerow(columns)
            lines.writerows(np.column_stack(list(columns.values())).tolist())
    else:
        pyarrow = require("pyarrow.parquet", "a .parquet file needs pyarrow", "parquet")
        pyarrow.parquet.write_table(pyarrow.table(dict(columns)), file)
