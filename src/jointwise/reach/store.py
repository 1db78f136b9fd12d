"""A reach map on disk: a Zarr folder, written chunk by chunk.

Zarr writes every file under a temporary name and renames it. So a chunk is complete when the files
of all four arrays exist; no other record is kept.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from jointwise.errors import InvalidInputError, JointwiseError
from jointwise.reach.chunks import Chunk
from jointwise.reach.description import FORMAT, differences, grid_from_settings
from jointwise.reach.empty_store import JOINT_ARRAY, create_empty, require_zarr
from jointwise.reach.grid import Index

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
        """The chunks that are not complete: a file of one of the arrays is missing or empty."""
        return (
            index
            for index in self.grid.chunks()
            if not all(_has_content(self._file(name, index)) for name in reversed(Chunk._fields))
        )

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
        try:
            from fcntl import LOCK_EX, LOCK_NB, flock
        except ImportError:
            yield
            return
        folder = os.open(self.path, os.O_RDONLY)
        try:
            try:
                flock(folder, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                raise JointwiseError(
                    f"{str(self.path)!r} is locked: another call is writing to it. Wait until that "
                    "call has ended, or use another store."
                ) from None
            except OSError:  # some network file systems have no locks
                pass
            yield
        finally:
            os.close(folder)

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
        except (ValueError, RuntimeError, TypeError) as problem:  # what Zarr's codecs raise
            raise JointwiseError(
                f"{str(self._file(name, index))!r} is damaged, {problem}. Remove this file and "
                "call reach_map as before: missing chunks are computed again."
            ) from None


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


def _has_content(file: Path) -> bool:
    try:
        return file.stat().st_size > 0
    except FileNotFoundError:
        return False


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
