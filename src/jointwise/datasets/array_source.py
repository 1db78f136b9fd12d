"""Arrays of targets in NumPy's ``.npz`` or in a Zarr folder, in slices."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from jointwise.datasets.npz_arrays import npz_arrays, npz_checksum
from jointwise.datasets.source import Piece, Source, even_pieces
from jointwise.errors import InvalidInputError
from jointwise.extras import require
from jointwise.robot import Robot
from jointwise.tables.columns import ModelFor, TargetTable
from jointwise.tables.npz_file import STARTS, TARGETS, no_targets
from jointwise.targets import pack_targets


@dataclass(frozen=True, slots=True)
class ArraySource(Source):
    """Arrays with one row per target: ``targets``, or one per link; and optionally ``starts``.

    The checksum is that of the contents of an ``.npz`` file, or of the metadata and the sizes of
    the files of a Zarr folder.

    Attributes:
        model: The model for which the targets are meant.
    """

    model: Any

    @property
    def kind(self) -> str:
        """``"zarr"`` for a folder, else ``"npz"``."""
        return "zarr" if self.path.is_dir() else "npz"

    def pieces(self) -> Iterator[Piece]:
        """Places are the first row and the end."""
        return even_pieces(self.rows, self.piece_rows)

    def read(self, piece: Piece) -> TargetTable:
        """The rows of a piece."""
        first, end = piece.place
        arrays = _arrays(self.path)
        if not isinstance(self.model, Robot):
            arrays = {name: arrays[name] for name in (TARGETS, STARTS) if name in arrays}
        shared = arrays[STARTS].ndim == 1 if STARTS in arrays else False
        sliced = {
            name: np.array(array[:] if shared and name == STARTS else array[first:end])
            for name, array in arrays.items()
        }
        starts = sliced.pop(STARTS, None)
        targets = sliced if isinstance(self.model, Robot) else sliced[TARGETS]
        return TargetTable(self.model, targets, starts)

    def empty(self) -> TargetTable:
        """The table without rows."""
        return self.read(Piece(0, 0, (0, 0)))


def open_source(path: Path, model_for: ModelFor, in_degrees: bool, piece_rows: int) -> Source:
    """Check the arrays, which are always in metres and radians."""
    path = path.resolve(strict=True)
    arrays = _arrays(path)
    names = {*arrays} - {STARTS}
    model = model_for(TARGETS not in arrays and bool(names))
    of_links = isinstance(model, Robot) and names <= {*model.link_names}
    if not names or not (of_links or TARGETS in names):
        raise no_targets(path)
    if not of_links:
        names = {TARGETS}
    for name in names:
        pack_targets(np.array(arrays[name][:0]))  # raises if the shape is wrong
    starts = arrays.get(STARTS)
    lengths = {arrays[name].shape[0] for name in names}
    lengths |= set() if starts is None or starts.ndim == 1 else {starts.shape[0]}
    if len(lengths) > 1:
        raise InvalidInputError(
            f"{path.name} has arrays of {' and '.join(map(str, sorted(lengths)))} rows: expected "
            "the same number in all."
        )
    checksum = _zarr_checksum(path) if path.is_dir() else npz_checksum(path)
    return ArraySource(path, piece_rows, lengths.pop(), checksum, model)


def _arrays(path: Path) -> dict[str, Any]:
    """The arrays by name, read only where necessary."""
    if path.is_dir():
        zarr = require("zarr", "a Zarr folder needs zarr", "reach")
        opened = zarr.open(path, mode="r")
        return dict(opened.arrays()) if isinstance(opened, zarr.Group) else {TARGETS: opened}
    return npz_arrays(path)


def _zarr_checksum(path: Path) -> int:
    """A checksum of the metadata, and the names and sizes of all files."""
    files = sorted(file for file in path.rglob("*") if file.is_file())
    sizes = [(file.relative_to(path).as_posix(), file.stat().st_size) for file in files]
    checksum = crc32(repr(sizes).encode())
    for file in files:
        if file.name in ("zarr.json", ".zarray", ".zgroup", ".zattrs"):
            checksum = crc32(file.read_bytes(), checksum)
    return checksum
