"""A grid of voxels, cut into chunks: the unit of work, and of what is written to disk."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import ceil, floor, prod
from typing import Any

import numpy as np

from jointwise.backends import cpu
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.model import checks
from jointwise.model.arm import ArmModel

Index = tuple[int, int, int]
AXES = ("x", "y", "z")
# A voxel whose centre is outside the region by this share of its edge still counts as inside, so
# that rounding does not drop voxels at the boundary.
BOUNDARY_TOL = 1e-6
# Largest number of voxels along an axis, in total, and in a chunk.
MAX_VOXELS, MAX_TOTAL, MAX_CHUNK = 100_000, 10**11, 10**7
# Integers up to here are exact in a float.
MAX_EXACT_INTEGER = 2.0**53


@dataclass(frozen=True, slots=True)
class Grid:
    """Voxels with centres at integer multiples of the resolution, so that different grids align.

    Attributes:
        resolution: Edge of a voxel [m].
        first: Centre of the first voxel, in multiples of the resolution.
        shape: Number of voxels along x, y, z.
        chunk: Number of voxels of a chunk along x, y, z; fewer in the last chunk of an axis.
    """

    resolution: float
    first: Index
    shape: Index
    chunk: Index

    def centres(self, axis: int) -> Floats:
        """Coordinates of the voxel centres along an axis [m], base frame."""
        return self.resolution * (self.first[axis] + np.arange(self.shape[axis], dtype=float))

    def slices(self, index: Index) -> tuple[slice, slice, slice]:
        """The voxels of a chunk."""
        x, y, z = (
            slice(i * edge, min((i + 1) * edge, count))
            for i, edge, count in zip(index, self.chunk, self.shape, strict=True)
        )
        return x, y, z

    def points(self, index: Index) -> Floats:
        """(k, 3) the voxel centres of a chunk [m], base frame."""
        axes = [self.centres(axis)[part] for axis, part in enumerate(self.slices(index))]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)

    def chunks(self) -> Iterator[Index]:
        """The index of every chunk, z running fastest."""
        counts = (ceil(count / edge) for count, edge in zip(self.shape, self.chunk, strict=True))
        return ((x, y, z) for x, y, z in product(*map(range, counts)))

    def layer_at(self, axis: int, coordinate: float) -> int | None:
        """Index along an axis of the voxels that contain a coordinate [m]; None if outside."""
        layer = round(coordinate / self.resolution) - self.first[axis]
        return layer if 0 <= layer < self.shape[axis] else None

    def voxel_at(self, point: Floats) -> Index | None:
        """Index of the voxel that contains a point (3,) [m]; None if it is outside the grid."""
        x, y, z = (self.layer_at(axis, float(point[axis])) for axis in range(3))
        return None if x is None or y is None or z is None else (x, y, z)


def within_reach(arm: ArmModel, points: Floats, position_tol: float) -> Bools:
    """(k,) which of ``points (k, 3)`` are not farther away than the arm is long."""
    flags = np.empty(len(points), np.bool_)
    cpu.points_within_reach(arm.packed, arm.n, points, position_tol, flags)
    return flags


def grid_over(arm: ArmModel, resolution: float, region: Any, chunk: Any, max_voxels: int) -> Grid:
    """The grid over a region, or over the whole reach of the arm.

    Args:
        arm: The arm.
        resolution: Edge of a voxel [m].
        region: ((x0, x1), (y0, y1), (z0, z1)) [m], base frame. None: the reach of the arm.
        chunk: Number of voxels along each edge of a chunk. None: as large as ``max_voxels`` allows.
        max_voxels: Largest number of voxels of a chunk if ``chunk`` is None.
    """
    size = checks.positive("resolution", resolution)
    box = _reach_box(arm) if region is None else _checked_box(region)
    if float(np.abs(box).max()) / size > MAX_EXACT_INTEGER:
        raise InvalidInputError(
            f"resolution is {resolution}: expected voxels that can be counted, at most "
            f"{MAX_VOXELS} along each axis."
        )
    first = tuple(ceil(low / size - BOUNDARY_TOL) for low in box[:, 0])
    last = tuple(floor(high / size + BOUNDARY_TOL) for high in box[:, 1])
    x, y, z = (high - low + 1 for low, high in zip(first, last, strict=True))
    if min(x, y, z) < 1 or max(x, y, z) > MAX_VOXELS:
        raise InvalidInputError(
            f"resolution is {resolution} for a region of {x} by {y} by {z} voxels: expected 1 to "
            f"{MAX_VOXELS} along each axis. Centres are multiples of the resolution."
        )
    edge = _chunk_edge((x, y, z), chunk, max_voxels)
    return Grid(size, first, (x, y, z), (min(edge, x), min(edge, y), min(edge, z)))


def check_size(grid: Grid) -> None:
    """Refuse a grid that is too large to list its chunks, or has a chunk that is too large."""
    if prod(grid.shape) > MAX_TOTAL:
        raise InvalidInputError(
            f"resolution is {grid.resolution} for a region of {prod(grid.shape):.3g} voxels: "
            f"expected at most {MAX_TOTAL:.3g}. Use a larger resolution or a smaller region."
        )
    if prod(grid.chunk) > MAX_CHUNK:
        raise InvalidInputError(
            f"chunk is {max(grid.chunk)}, so a chunk has {prod(grid.chunk):,} voxels: expected at "
            f"most {MAX_CHUNK:,}. Use a smaller chunk, such as 32."
        )


def _reach_box(arm: ArmModel) -> Floats:
    """(3, 2) a box around all points that the arm may reach [m]."""
    if not np.isfinite(arm.max_reach):
        raise InvalidInputError(
            "the arm has a prismatic joint without limits, and its reach is unbounded: expected a "
            "region, ((x0, x1), (y0, y1), (z0, z1)), or limits."
        )
    box: Floats = arm.base_origin[:, None] + np.array([-arm.max_reach, arm.max_reach])
    return box


def _checked_box(region: Any) -> Floats:
    """(3, 2) the region [m]."""
    box = checks.all_finite("region", checks.floats("region", region))
    if box.shape != (3, 2):
        raise InvalidInputError(
            f"region has shape {box.shape}: expected ((x0, x1), (y0, y1), (z0, z1))."
        )
    for name, (low, high) in zip(AXES, box.tolist(), strict=True):
        if low > high:
            raise InvalidInputError(
                f"region goes from {low} to {high} along {name}: expected the lower end first."
            )
    return box


def _chunk_edge(shape: Index, chunk: Any, max_voxels: int) -> int:
    """Number of voxels along the edge of a chunk."""
    if chunk is not None:
        edge = checks.count("chunk", chunk)
        if edge == 0:
            raise InvalidInputError("chunk is 0: expected at least 1 voxel along each edge.")
        return edge
    edge = 1
    while edge < max(shape) and np.prod(np.minimum(edge + 1, shape)) <= max_voxels:
        edge += 1
    return edge
