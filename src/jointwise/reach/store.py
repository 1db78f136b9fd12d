"""A reach map on disk: chunked Zarr, written chunk by chunk, never half.

Zarr writes every file aside and renames it. So where the files of all four arrays are, the chunk
is done; nothing else keeps count.
"""

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from jointwise.chain import Chain
from jointwise.errors import InvalidInputError, JointwiseError
from jointwise.model.arm import arm_model
from jointwise.reach.chunks import Chunk
from jointwise.reach.grid import Grid, Index

FORMAT = 1
# How hard Zstd tries. Joint values hardly get smaller; this is quick, and good for empty room.
LEVEL = -5
AXES = ("x", "y", "z")
LAST = Chunk._fields[-1]  # has one axis more, the joints
# What each array means, for whoever opens the store with another tool.
MEANINGS = {
    "dexterity": ("1", "share of the tool orientations that are reached"),
    "manipulability": ("", "product of the singular values of the Jacobian, the greatest reached"),
    "margin": (
        "1",
        "distance to the nearest joint limit over half its range, the greatest reached",
    ),
    "configuration": ("rad or m", "joint values that reach one of the orientations"),
}


def arm_described(chain: Chain) -> dict[str, Any]:
    """An arm in words and numbers that JSON has; a free joint's limits are null."""
    limits = [[None if np.isinf(end) else end for end in pair] for pair in chain.limits.tolist()]
    return {
        "names": list(chain.names),
        "kinds": chain.prismatic.astype(float).tolist(),
        "links": chain.arm.links.tolist(),
        "limits": limits,
    }


def chain_of(about: dict[str, Any]) -> Chain:
    """The arm that ``arm_described`` described, to the last bit."""
    unlimited = (-np.inf, np.inf)
    limits = [
        [free if end is None else end for end, free in zip(pair, unlimited, strict=True)]
        for pair in about["limits"]
    ]
    links, prismatic = np.array(about["links"]), np.array(about["kinds"]) > 0.0
    return Chain(arm_model(links, prismatic, np.array(limits)), tuple(about["names"]))


class Store:
    """The folder of a map, opened or begun.

    Args:
        path: The folder.
        read_only: Whether nothing will be written.

    Attributes:
        about: What the map is of: format, arm, settings, versions.
        arrays: The four of every chunk, by name.
        grid: Its voxels.
    """

    def __init__(self, path: str | PathLike[str], read_only: bool = True) -> None:
        self.path = _path(path)
        group = _opened(self.path, read_only)
        self.about: dict[str, Any] = group.attrs["jointwise"]
        # Chunks in which nothing is reached are written too: they are done.
        with _zarr().config.set({"array.write_empty_chunks": True}):
            self.arrays = {name: self._array(group, name) for name in Chunk._fields}
        settings = self.about["settings"]
        first, shape, chunk = (tuple(settings[name]) for name in ("first", "shape", "chunk"))
        self.grid = Grid(settings["resolution"], first, shape, chunk)

    @classmethod
    def begin(cls, path: str | PathLike[str], grid: Grid, about: dict[str, Any]) -> "Store":
        """The store of this map, to be filled: a new one, or the one that was begun before.

        Raises:
            InvalidInputError: What is there is no map, or another one; the text says which.
        """
        folder = _path(path)
        if not folder.exists():
            _create(folder, grid, about)
        store = cls(folder, read_only=False)
        for part in ("arm", "settings"):
            store.check_same(about, part)
        return store

    def check_same(self, about: dict[str, Any], part: str) -> None:
        """The same part of what a map is of, here and there."""
        differences = list(_differences(part, self.about[part], about[part]))
        if differences:
            raise InvalidInputError(
                f"{str(self.path)!r} holds another map: {'; '.join(differences[:5])}. "
                "Expected the same to go on with it; else name another store, or remove this one."
            )

    def _array(self, group: Any, name: str) -> Any:
        try:
            return group[name]
        except (KeyError, ValueError, TypeError):
            raise InvalidInputError(
                f"{str(self.path / name / 'zarr.json')!r} is missing or damaged, and {name} cannot "
                f"be read without it: expected a whole map. Remove {str(self.path)!r} and map anew."
            ) from None

    def _file(self, name: str, index: Index) -> Path:
        """Where a chunk of an array is."""
        place = (*index, 0) if name == LAST else index
        key: str = self.arrays[name].metadata.encode_chunk_key(place)
        return self.path / name / key

    def missing(self) -> Iterator[Index]:
        """The chunks that are not written yet, or of which a file is gone or empty."""
        return (
            index
            for index in self.grid.chunks()
            if not all(_filled(self._file(name, index)) for name in reversed(Chunk._fields))
        )

    def read(self, name: str, index: Index) -> Any:
        """A chunk of an array; where it is not written yet, nothing is reached."""
        return self._decoded(name, index, self.grid.slices(index))

    def read_voxel(self, name: str, voxel: Index) -> Any:
        """The values of an array in a voxel."""
        x, y, z = (at // size for at, size in zip(voxel, self.grid.chunk, strict=True))
        return self._decoded(name, (x, y, z), voxel)

    def _decoded(self, name: str, index: Index, where: Any) -> Any:
        try:
            return self.arrays[name][where]
        except (ValueError, RuntimeError, TypeError) as problem:  # what Zarr's codecs raise
            raise JointwiseError(
                f"{str(self._file(name, index))!r} is damaged, {problem}. Remove this file and "
                "call reach_map as before: what is missing is computed again."
            ) from None

    def write(self, index: Index, chunk: Chunk) -> None:
        """Write a chunk."""
        for name, block in zip(Chunk._fields, chunk, strict=True):
            self.arrays[name][self.grid.slices(index)] = block

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other calls from writing to this store; where the system has no locks, hope so.

        Raises:
            JointwiseError: Another call is writing it.
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
                    f"{str(self.path)!r} is busy: another call is writing it. Wait until that one "
                    "ends, or name another store."
                ) from None
            except OSError:  # some network file systems have no locks
                pass
            yield
        finally:
            os.close(folder)

    def tidy(self) -> None:
        """Remove what a killed process left behind, unless another call is writing."""
        with suppress(JointwiseError), self.alone():
            for file in self.path.rglob("*.partial"):
                file.unlink(missing_ok=True)


@contextmanager
def writing(path: str | PathLike[str]) -> Iterator[None]:
    """Turn what the system says when it cannot write into a sentence with a remedy."""
    try:
        yield
    except OSError as problem:
        raise JointwiseError(
            f"{str(path)!r} cannot be written: {problem.strerror or problem}. What was written "
            "before stays readable. Make room or give leave to write; the same call then goes on."
        ) from problem


def _filled(file: Path) -> bool:
    try:
        return file.stat().st_size > 0
    except FileNotFoundError:
        return False


def _path(path: Any) -> Path:
    if not isinstance(path, (str, PathLike)):
        raise InvalidInputError(f"store is {path!r}: expected the path of a folder.")
    return Path(path)


def _zarr() -> Any:
    try:
        import zarr
    except ImportError:
        raise JointwiseError(
            "reach maps are kept with zarr, which is missing: pip install 'jointwise[reach]'."
        ) from None
    return zarr


def zarr_version() -> str:
    """Of what writes the files."""
    return str(_zarr().__version__)


def _opened(path: Path, read_only: bool) -> Any:
    zarr = _zarr()
    if not path.exists():
        raise InvalidInputError(f"there is no {str(path)!r}: expected a map that reach_map wrote.")
    try:
        if not path.is_dir():
            raise NotADirectoryError
        group = zarr.open_group(path, mode="r" if read_only else "r+", use_consolidated=False)
        number = group.attrs["jointwise"]["format"]
    except (FileNotFoundError, NotADirectoryError, KeyError, TypeError, ValueError) as problem:
        raise InvalidInputError(
            f"{str(path)!r} is no map, {type(problem).__name__}: expected a folder that reach_map "
            "wrote, or for a new map a path where nothing is."
        ) from None
    if number != FORMAT:
        raise InvalidInputError(
            f"{str(path)!r} has format {number}: expected {FORMAT}. A newer jointwise reads it."
        )
    return group


def _create(path: Path, grid: Grid, about: dict[str, Any]) -> None:
    """Make an empty store aside and put it in its place, so that there is a whole one or none."""
    zarr = _zarr()
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(".begun", f"{path.name}.", path.parent) as folder:
        aside = Path(folder) / path.name
        _write_empty(zarr, aside, grid, about)
        try:
            aside.rename(path)
        except OSError:
            if not path.exists():  # else another call was first, and this one goes on with it
                raise


def _write_empty(zarr: Any, aside: Path, grid: Grid, about: dict[str, Any]) -> None:
    """Write all of a store but its chunks."""
    joints = len(about["arm"]["names"])
    group = zarr.open_group(aside, mode="w-", zarr_format=3, attributes={"jointwise": about})
    for axis, name in enumerate(AXES):
        centres = grid.centres(axis)
        array = group.create_array(
            name,
            shape=centres.shape,
            dtype=centres.dtype,
            dimension_names=(name,),
            attributes={"units": "m", "long_name": f"{name} of the voxel's centre, base frame"},
        )
        array[:] = centres
    for name in Chunk._fields:
        whole = name == LAST
        units, meaning = MEANINGS[name]
        group.create_array(
            name,
            shape=(*grid.shape, joints) if whole else grid.shape,
            chunks=(*grid.chunk, joints) if whole else grid.chunk,
            dtype="float64" if whole else "float32",
            fill_value=np.nan if whole else 0.0,
            dimension_names=(*AXES, "joint") if whole else AXES,
            compressors=zarr.codecs.ZstdCodec(level=LEVEL),
            attributes={"units": units, "long_name": meaning},
        )
    with warnings.catch_warnings():  # xarray looks for this; Zarr warns that it is a convention
        warnings.simplefilter("ignore")
        zarr.consolidate_metadata(aside)


def _differences(name: str, stored: Any, wanted: Any) -> Iterator[str]:
    """What differs, a sentence each."""
    if isinstance(stored, dict) and isinstance(wanted, dict):
        for key in sorted({*stored, *wanted}):
            yield from _differences(f"{name}.{key}", stored.get(key), wanted.get(key))
    elif stored != wanted:
        short = max(len(str(stored)), len(str(wanted))) < 60
        yield f"{name} is {stored}, not {wanted}" if short else f"{name} differ"
