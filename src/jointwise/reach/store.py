"""A reach map on disk: a Zarr folder, written chunk by chunk.

Zarr writes every file under a temporary name and renames it, and ends every file with a checksum of
its contents. So a chunk is complete when the files of all four arrays exist and match their
checksums; no other record is kept.
"""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self

from jointwise.errors import InvalidInputError
from jointwise.jobs.store import Store, checked_path
from jointwise.reach.chunks import Chunk
from jointwise.reach.description import FORMAT, grid_from_settings
from jointwise.reach.empty_store import (
    JOINT_ARRAY,
    require_zarr,
    write_coordinates,
    write_empty,
)
from jointwise.reach.grid import AXES, Index

# Suffixes of files, which are not folders of maps.
FILE_SUFFIXES = (".csv", ".h5", ".hdf5", ".json", ".jsonl", ".npy", ".npz", ".parquet", ".txt")


class MapStore(Store):
    """The folder of a map; its description is that of ``description.describe_map``.

    Attributes:
        arrays: The Zarr arrays of a chunk, by name.
        grid: The voxels.
    """

    noun, writer, format = "map", "reach_map", FORMAT
    arm_parts: ClassVar = {
        "names": "joint names",
        "kinds": "joint types",
        "links": "links",
        "limits": "limits",
    }

    def __init__(self, path: str | PathLike[str], read_only: bool = True) -> None:
        require_zarr()
        super().__init__(path, read_only)
        self.grid = grid_from_settings(self.description["settings"])
        # Chunks in which nothing is reached are written too, since a chunk without files is not
        # complete.
        with require_zarr().config.set({"array.write_empty_chunks": True}):
            self.arrays = {name: self._open_array(self._group, name) for name in Chunk._fields}

    @classmethod
    def write_empty(cls, path: Path, description: dict[str, Any]) -> None:
        """Write a new map without chunks."""
        write_empty(path, description)

    def _open(self, read_only: bool) -> dict[str, Any]:
        self._group = _open_group(self.path, read_only)
        description: dict[str, Any] = self._group.attrs["jointwise"]
        return description

    @classmethod
    def open_or_create(cls, path: str | PathLike[str], description: dict[str, Any]) -> Self:
        """The store of the described map; a path that looks like a file is refused."""
        folder = checked_path(path)
        if folder.suffix.lower() in FILE_SUFFIXES:
            raise InvalidInputError(
                f"store is {str(path)!r}, but a map is a folder of chunks, not a {folder.suffix} "
                f"file: expected a folder such as '{folder.stem}.zarr'."
            )
        return super().open_or_create(path, description)

    def is_complete(self, index: Index) -> bool:
        """Whether the files of all arrays exist and match their checksums."""
        return all(is_intact(self._file(name, index)) for name in reversed(Chunk._fields))

    def missing_chunks(self) -> Iterator[Index]:
        """The chunks that are not complete."""
        return (index for index in self.grid.chunks() if not self.is_complete(index))

    def damaged_files(self, index: Index) -> list[Path]:
        """The files of a chunk that exist, but do not match their checksums."""
        files = (self._file(name, index) for name in Chunk._fields)
        return [file for file in files if file.exists() and not is_intact(file)]

    def repair(self) -> list[Path]:
        """Write damaged coordinates of the voxels again; return their files."""
        files = self._damaged_coordinates()
        if files:
            write_coordinates(_open_group(self.path, read_only=False), self.grid)
        return files

    def check_coordinates(self) -> None:
        """Refuse coordinates of the voxels that are damaged."""
        for file in self._damaged_coordinates():
            raise self.damage(file)

    def _damaged_coordinates(self) -> list[Path]:
        files = (self.path / axis / "c" / "0" for axis in AXES)
        return [file for file in files if not is_intact(file)]

    def read(self, name: str, index: Index) -> Any:
        """A chunk of an array; where it is missing, the fill value: nothing is reached."""
        return self._decode(name, index, self.grid.slices(index))

    def read_voxel(self, name: str, voxel: Index) -> Any:
        """The value of an array in a voxel."""
        x, y, z = (i // edge for i, edge in zip(voxel, self.grid.chunk, strict=True))
        return self._decode(name, (x, y, z), voxel)

    def write(self, index: Index, chunk: Chunk) -> None:
        """Write a chunk."""
        for name, values in zip(Chunk._fields, chunk, strict=True):
            self.arrays[name][self.grid.slices(index)] = values

    def _open_array(self, group: Any, name: str) -> Any:
        try:
            return group[name]
        except (KeyError, ValueError, TypeError):
            raise InvalidInputError(
                f"{str(self.path / name / 'zarr.json')!r} is missing or damaged, and {name} cannot "
                f"be read without it: expected a complete map. Remove {str(self.path)!r} and "
                "compute the map again."
            ) from None

    def _file(self, name: str, index: Index) -> Path:
        """The file that holds a chunk of an array."""
        key_index = (*index, 0) if name == JOINT_ARRAY else index
        key: str = self.arrays[name].metadata.encode_chunk_key(key_index)
        return self.path / name / key

    def _decode(self, name: str, index: Index, selection: Any) -> Any:
        """A selection of an array that lies in one chunk."""
        try:
            return self.arrays[name][selection]
        except (ValueError, RuntimeError, TypeError):  # what Zarr's codecs raise
            raise self.damage(self._file(name, index)) from None


def is_intact(file: Path) -> bool:
    """Whether a file exists and ends with the CRC32C of its other bytes, as Zarr writes it."""
    from google_crc32c import value

    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return False
    return int(value(content[:-4])).to_bytes(4, "little") == content[-4:]


def _open_group(path: Path, read_only: bool) -> Any:
    return require_zarr().open_group(path, mode="r" if read_only else "r+", use_consolidated=False)
