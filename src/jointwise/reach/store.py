"""A reach map on disk: chunked Zarr, written chunk by chunk, never half.

Zarr writes every file aside and renames it, and the arrays of a chunk are written in a fixed
order. So where the last one's file is, the chunk is done; nothing else keeps count.
"""

import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from jointwise import __version__
from jointwise.arm import arm_from
from jointwise.chain import Chain
from jointwise.errors import InvalidInputError, JointwiseError
from jointwise.reach.chunks import Chunk
from jointwise.reach.grid import Grid, Index

FORMAT = 1
# How hard Zstd tries. Joint values hardly get smaller; this is quick, and good for empty room.
LEVEL = -5
AXES = ("x", "y", "z")
LAST = Chunk._fields[-1]
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
        "kinds": chain.arm.kinds.tolist(),
        "links": chain.arm.links.tolist(),
        "limits": limits,
    }


def chain_of(about: dict[str, Any]) -> Chain:
    """The arm that ``arm_described`` described, to the last bit."""
    lower, upper = (
        np.array([free if pair[end] is None else pair[end] for pair in about["limits"]])
        for end, free in ((0, -np.inf), (1, np.inf))
    )
    arm = arm_from(np.array(about["links"]), np.array(about["kinds"]), lower, upper)
    return Chain(arm, tuple(about["names"]))


def versions() -> dict[str, str]:
    """Of all that has a say in the last bit."""
    from importlib.metadata import version  # takes a while

    others = {name: version(name) for name in ("numpy", "numba", "scipy", "zarr")}
    return {"jointwise": __version__, **others}


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
        self.path = Path(path)
        group = _opened(self.path, read_only)
        self.about: dict[str, Any] = group.attrs["jointwise"]
        # Chunks in which nothing is reached are written too: they are done.
        with _zarr().config.set({"array.write_empty_chunks": True}):
            self.arrays = {name: group[name] for name in Chunk._fields}
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

    def missing(self) -> Iterator[Index]:
        """The chunks that are not written yet."""
        folder, key = self.path / LAST, self.arrays[LAST].metadata.encode_chunk_key
        return (index for index in self.grid.chunks() if not (folder / key((*index, 0))).exists())

    def write(self, index: Index, chunk: Chunk) -> None:
        """Write a chunk. The file of its last array is the mark that it is done."""
        for name, block in zip(Chunk._fields, chunk, strict=True):
            self.arrays[name][self.grid.slices(index)] = block

    def tidy(self) -> None:
        """Remove what a killed process left behind."""
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
    aside = path.with_name(path.name + ".begun")
    shutil.rmtree(aside, ignore_errors=True)
    path.parent.mkdir(parents=True, exist_ok=True)
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
    aside.rename(path)


def _differences(name: str, stored: Any, wanted: Any) -> Iterator[str]:
    """What differs, a sentence each."""
    if isinstance(stored, dict) and isinstance(wanted, dict):
        for key in sorted({*stored, *wanted}):
            yield from _differences(f"{name}.{key}", stored.get(key), wanted.get(key))
    elif stored != wanted:
        short = max(len(str(stored)), len(str(wanted))) < 60
        yield f"{name} is {stored}, not {wanted}" if short else f"{name} differ"
