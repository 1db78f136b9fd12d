"""A reach map on disk: a Zarr folder, written chunk by chunk.

Zarr writes every file under a temporary name and renames it, and ends every file with a checksum of
its contents. So a chunk is complete when the files of all four arrays exist and match their
checksums; no other record is kept.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from jointwise.backends.locks import locked
from jointwise.errors import InvalidInputError, JointwiseError
from jointwise.reach.chunks import Chunk
from jointwise.reach.description import FORMAT, differences, grid_from_settings
from jointwise.reach.empty_store import (
    JOINT_ARRAY,
    create_empty,
    require_zarr,
    write_coordinates,
)
from jointwise.reach.grid import AXES, Index

# Differences between two maps that a message lists, at most.
MAX_LISTED = 5
# What messages call the parts of an arm's description.
ARM_PARTS = {"names": "joint names", "kinds": "joint types", "links": "links", "limits": "limits"}


class Store:
    """The folder of a map.

    Args:
        path: The folder.
        read_only: Whether nothing will be written.

    Attributes:
        path: The folder.
        description: What the map is of; see ``description.describe_map``.
        arrays: The Zarr arrays of a chunk, by name.
        grid: The voxels.

    Raises:
        InvalidInputError: The folder is not a map, or its format is unknown.
    """

    def __init__(self, path: str | PathLike[str], read_only: bool = True) -> None:
        self.path = _checked_path(path)
        group = _open_group(self.path, read_only)
        self.description: dict[str, Any] = group.attrs["jointwise"]
        self.grid = grid_from_settings(self.description["settings"])
        # Chunks in which nothing is reached are written too, since a chunk without files is not
        # complete.
        with require_zarr().config.set({"array.write_empty_chunks": True}):
            self.arrays = {name: self._open_array(group, name) for name in Chunk._fields}

    @classmethod
    def open_or_create(cls, path: str | PathLike[str], description: dict[str, Any]) -> "Store":
        """The store of the described map, for writing: an existing one, or a new empty one.

        Raises:
            InvalidInputError: What exists is not a map, or another map; the text says which.
        """
        folder = _checked_path(path)
        if not folder.exists():
            create_empty(folder, description)
        store = cls(folder, read_only=False)
        for part in ("arm", "settings"):
            store.check_same(description, part)
        return store

    def check_same(self, description: dict[str, Any], part: str) -> None:
        """Refuse a description that differs from the stored one in a part.

        Raises:
            InvalidInputError: It does; the text lists the differences.
        """
        stored, expected = self.description[part], description[part]
        found = list(differences(part, stored, expected))
        if not found:
            return
        listed = "; ".join(found[:MAX_LISTED])
        if part == "versions":
            reason = (
                f"is not complete and cannot be resumed: {listed}. Other code may compute other "
                "bits, and the two would be mixed. Use"
            )
        else:
            holds = f"another map: {listed}"
            if part == "arm":
                names = [text for key, text in ARM_PARTS.items() if stored[key] != expected[key]]
                holds = f"the map of another arm: {', '.join(names)} differ"
            reason = (
                f"holds {holds}. Expected the same arm and settings to resume it; otherwise use"
            )
        raise InvalidInputError(f"{str(self.path)!r} {reason} another store, or remove this one.")

    def missing_chunks(self) -> Iterator[Index]:
        """The chunks that are not complete: a file of one of the arrays is missing or damaged."""
        return (
            index
            for index in self.grid.chunks()
            if not all(is_intact(self._file(name, index)) for name in reversed(Chunk._fields))
        )

    def damaged_files(self, index: Index) -> list[Path]:
        """The files of a chunk that exist, but do not match their checksums."""
        files = (self._file(name, index) for name in Chunk._fields)
        return [file for file in files if file.exists() and not is_intact(file)]

    def repair_coordinates(self) -> list[Path]:
        """Write the coordinates of the voxels again, where they are damaged; those files."""
        files = self._damaged_coordinates()
        if files:
            write_coordinates(_open_group(self.path, read_only=False), self.grid)
        return files

    def check_coordinates(self) -> None:
        """Refuse coordinates of the voxels that are damaged."""
        for file in self._damaged_coordinates():
            raise _damage(file)

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

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other calls from writing to this store.

        No-op without file locks; concurrent writers are then not detected.

        Raises:
            JointwiseError: Another call is writing to it.
        """
        with locked(self.path) as taken:
            if taken is False:
                raise JointwiseError(
                    f"{str(self.path)!r} is locked: another call is writing to it. Wait until that "
                    "call has ended, or use another store."
                )
            yield

    def remove_partials(self) -> None:
        """Remove the temporary files of a killed process, unless another call is writing."""
        with suppress(JointwiseError), self.lock():
            for file in self.path.rglob("*.partial"):
                file.unlink(missing_ok=True)

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
            raise _damage(self._file(name, index)) from None


@contextmanager
def translate_write_errors(path: str | PathLike[str]) -> Iterator[None]:
    """Turn an error of the operating system into a sentence with a remedy."""
    try:
        yield
    except OSError as problem:
        raise JointwiseError(
            f"{str(path)!r} cannot be written: {problem.strerror or problem}. Chunks already "
            "written stay readable. Free some disk space or grant write permission; the same call "
            "then resumes."
        ) from problem


def is_intact(file: Path) -> bool:
    """Whether a file exists and ends with the CRC32C of its other bytes, as Zarr writes it."""
    from google_crc32c import value

    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return False
    return int(value(content[:-4])).to_bytes(4, "little") == content[-4:]


def _damage(file: Path) -> JointwiseError:
    return JointwiseError(
        f"{str(file)!r} is damaged: its contents do not match its checksum. Call reach_map as "
        "before: damaged and missing chunks are computed again."
    )


def _checked_path(path: Any) -> Path:
    if not isinstance(path, (str, PathLike)):
        raise InvalidInputError(f"store is {path!r}: expected the path of a folder.")
    return Path(path)


def _open_group(path: Path, read_only: bool) -> Any:
    zarr = require_zarr()
    if not path.exists():
        raise InvalidInputError(f"there is no {str(path)!r}: expected a map that reach_map wrote.")
    try:
        if not path.is_dir():
            raise NotADirectoryError
        group = zarr.open_group(path, mode="r" if read_only else "r+", use_consolidated=False)
        stored_format = group.attrs["jointwise"]["format"]
    except (FileNotFoundError, NotADirectoryError, KeyError, TypeError, ValueError) as problem:
        raise InvalidInputError(
            f"{str(path)!r} is not a map, {type(problem).__name__}: expected a folder that "
            "reach_map wrote, or for a new map a path that does not exist."
        ) from None
    if stored_format != FORMAT:
        _refuse_format(path, stored_format, group.attrs["jointwise"].get("versions", {}))
    return group


def _refuse_format(path: Path, stored_format: Any, versions: dict[str, str]) -> NoReturn:
    """Say that a map of another format can be neither read nor resumed, and why."""
    is_older = isinstance(stored_format, int) and stored_format < FORMAT
    age, remedy = ("an older", "Compute it again") if is_older else ("a newer", "Update jointwise")
    writer = f"jointwise {versions['jointwise']}" if "jointwise" in versions else "another version"
    raise InvalidInputError(
        f"{str(path)!r} has format {stored_format}, {age} one, and can be neither read nor "
        f"resumed: expected format {FORMAT}. {remedy}, or read it with {writer}, which wrote it."
    )
