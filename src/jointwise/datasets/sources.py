"""Opens a source, by the suffix of the file or the contents of the folder."""

from pathlib import Path
from typing import Any

from jointwise.datasets import array_source, parquet_source, text_source
from jointwise.datasets.source import Source
from jointwise.errors import InvalidInputError
from jointwise.tables.columns import ModelFor


def open_source(path: Path, model_for: ModelFor, in_degrees: bool, piece_rows: int) -> Source:
    """Open a file or folder of targets.

    Args:
        path: A ``.parquet`` file or a folder of them, a ``.csv`` or ``.npz`` file, or a Zarr
            folder.
        model_for: Returns the model, given whether the targets are those of links.
        in_degrees: Whether angles are degrees.
        piece_rows: Rows of a piece.

    Raises:
        InvalidInputError: It cannot be read; the text says why.
    """
    kinds = {".csv": text_source, ".npz": array_source, ".parquet": parquet_source}
    module: Any = kinds.get(path.suffix.lower())
    if path.is_dir():
        is_zarr = any((path / name).exists() for name in ("zarr.json", ".zgroup", ".zarray"))
        module = array_source if is_zarr else parquet_source
    if module is None:
        raise InvalidInputError(
            f"{path} cannot be read in pieces: expected a .parquet, .csv or .npz file, a folder "
            "of .parquet files or a Zarr folder."
        )
    try:
        opened: Source = module.open_source(path, model_for, in_degrees, piece_rows)
        return opened
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidInputError(f"{path} cannot be read: {reason}.") from None
