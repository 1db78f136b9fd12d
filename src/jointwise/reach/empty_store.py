"""A new, empty reach map on disk: its arrays, their meanings and their compression."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from jointwise.extras import require
from jointwise.reach.chunks import Chunk
from jointwise.reach.description import grid_from_settings
from jointwise.reach.grid import AXES, Grid

# Zstandard compression level. Joint values hardly compress at any level; this one is fast, and
# compresses chunks in which nothing is reached well.
COMPRESSION_LEVEL = -5
# The array with one more axis, the joints.
JOINT_ARRAY = "q"
# Unit and meaning of each array, for readers that open the store with another tool.
MEANINGS = {
    "dexterity": ("1", "share of the tool orientations that are reached"),
    "manipulability": ("", "product of the singular values of the Jacobian, the greatest reached"),
    "limit_margin": (
        "1",
        "distance to the nearest joint limit over half its range, the greatest reached",
    ),
    "q": ("rad or m", "joint values that reach one of the orientations"),
}


def require_zarr() -> Any:
    """The module zarr; an error if it is not installed."""
    return require("zarr", "reach maps need zarr", "reach")


def write_empty(path: Path, description: dict[str, Any]) -> None:
    """Write a whole store, except for its chunks."""
    zarr = require_zarr()
    grid, joints = grid_from_settings(description["settings"]), len(description["arm"]["names"])
    group = zarr.open_group(path, mode="w-", zarr_format=3, attributes={"jointwise": description})
    write_coordinates(group, grid)
    for name in Chunk._fields:
        per_joint = name == JOINT_ARRAY
        units, meaning = MEANINGS[name]
        group.create_array(
            name,
            shape=(*grid.shape, joints) if per_joint else grid.shape,
            chunks=(*grid.chunk, joints) if per_joint else grid.chunk,
            dtype="float64" if per_joint else "float32",
            fill_value=np.nan if per_joint else 0.0,
            dimension_names=(*AXES, "joint") if per_joint else AXES,
            compressors=_compressors(),
            attributes={"units": units, "long_name": meaning},
        )
    with warnings.catch_warnings():  # xarray reads consolidated metadata; Zarr warns about it
        warnings.simplefilter("ignore")
        zarr.consolidate_metadata(path)


def write_coordinates(group: Any, grid: Grid) -> None:
    """Write the voxel centres along each axis, again if they exist."""
    for axis, name in enumerate(AXES):
        centres = grid.centres(axis)
        array = group.create_array(
            name,
            shape=centres.shape,
            chunks=centres.shape,
            dtype=centres.dtype,
            dimension_names=(name,),
            compressors=_compressors(),
            attributes={"units": "m", "long_name": f"{name} of the voxel's centre, base frame"},
            overwrite=True,
            config={"write_empty_chunks": True},  # a layer at zero
        )
        array[:] = centres


def _compressors() -> tuple[Any, Any]:
    """Compression, and a checksum at the end of every file; ``store.is_intact`` reads it."""
    codecs = require_zarr().codecs
    return codecs.ZstdCodec(level=COMPRESSION_LEVEL), codecs.Crc32cCodec()
