"""A grid of voxels, cut into chunks: the unit of work and of what is written."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import ceil, floor
from typing import Any

import numpy as np

from jointwise import kernels
from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Bools, Floats
from jointwise.model import checks
from jointwise.model.arm import ArmModel

Index = tuple[int, int, int]
# A voxel whose centre is this share of its size outside still counts as in the region.
SLACK = 1e-6
# More voxels along an axis than anyone has room for.
MOST = 100_000
# Whole numbers up to here are exact in a float.
FARTHEST = 2.0**53


@dataclass(frozen=True, slots=True)
class Grid:
    """Voxels whose centres are whole multiples of the resolution, so that grids fit together.

    Attributes:
        resolution: From centre to centre [m].
        first: The first voxel's centre, in multiples of the resolution.
        shape: Voxels along x, y, z.
        chunk: Voxels of a chunk along x, y, z; at the far ends fewer.
    """

    resolution: float
    first: Index
    shape: Index
    chunk: Index

    def centres(self, axis: int) -> Floats:
        """Where the centres are along an axis [m], base frame."""
        return self.resolution * (self.first[axis] + np.arange(self.shape[axis], dtype=float))

    def slices(self, index: Index) -> tuple[slice, slice, slice]:
        """Which voxels a chunk has."""
        x, y, z = (
            slice(at * size, min((at + 1) * size, most))
            for at, size, most in zip(index, self.chunk, self.shape, strict=True)
        )
        return x, y, z

    def points(self, index: Index) -> Floats:
        """(k, 3) the centres of a chunk's voxels [m], base frame."""
        axes = [self.centres(axis)[part] for axis, part in enumerate(self.slices(index))]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)

    def chunks(self) -> Iterator[Index]:
        """Every chunk, the last axis first."""
        counts = (ceil(most / size) for most, size in zip(self.shape, self.chunk, strict=True))
        return ((x, y, z) for x, y, z in product(*map(range, counts)))

    def at(self, point: Floats) -> Index | None:
        """The voxel a point is in; none if it is outside the grid."""
        numbers = [round(p / self.resolution) - f for p, f in zip(point, self.first, strict=True)]
        inside = all(0 <= i < most for i, most in zip(numbers, self.shape, strict=True))
        return (numbers[0], numbers[1], numbers[2]) if inside else None


def within_reach(arm: ArmModel, points: Floats, position_tol: float) -> Bools:
    """(k,) which of ``points (k, 3)`` are not farther away than the arm is long."""
    within = np.empty(len(points), np.bool_)
    kernels.fk.points_within_reach(arm.packed, arm.n, points, position_tol, within)
    return within


def grid_over(
    arm: ArmModel, resolution: float, region: Any, poses: int, orientations: int, chunk: Any
) -> Grid:
    """The voxels of a region, or of all that the arm may reach.

    Args:
        arm: The arm.
        resolution: From centre to centre [m].
        region: ((x0, x1), (y0, y1), (z0, z1)) [m], base frame; or None.
        poses: How many poses a chunk should be, about.
        orientations: Poses of a voxel.
        chunk: Voxels along each edge of a chunk, or None for as many as make up ``poses``.
    """
    size = checks.positive("resolution", resolution)
    if region is not None:
        box = checks.all_finite("region", checks.floats("region", region))
        if box.shape != (3, 2):
            raise InvalidInputError(
                f"region has shape {box.shape}: expected ((x0, x1), (y0, y1), (z0, z1))."
            )
        for name, (low, high) in zip("xyz", box.tolist(), strict=True):
            if low > high:
                raise InvalidInputError(
                    f"region goes from {low} to {high} along {name}: expected the lower end first."
                )
    elif not np.isfinite(arm.reach):
        raise InvalidInputError(
            "the arm has a sliding joint without limits and reaches everywhere: expected a "
            "region, ((x0, x1), (y0, y1), (z0, z1)), or limits."
        )
    else:
        box = arm.base_origin[:, None] + np.array([-arm.reach, arm.reach])
    if float(np.abs(box).max()) / size > FARTHEST:
        raise InvalidInputError(
            f"resolution is {resolution}: expected voxels that can be counted, {MOST} at most "
            "along each axis."
        )
    first = tuple(ceil(low / size - SLACK) for low in box[:, 0])
    shape = tuple(
        floor(high / size + SLACK) - f + 1 for high, f in zip(box[:, 1], first, strict=True)
    )
    if min(shape) < 1 or max(shape) > MOST:
        raise InvalidInputError(
            f"resolution is {resolution} for a region of {' by '.join(map(str, shape))} voxels: "
            f"expected 1 to {MOST} along each axis. Centres are multiples of the resolution."
        )
    if chunk is not None:
        edge = checks.count("chunk", chunk)
        if edge == 0:
            raise InvalidInputError("chunk is 0: expected at least 1 voxel along each edge.")
    else:
        edge = 1
        while edge < max(shape) and orientations * np.prod(np.minimum(edge + 1, shape)) <= poses:
            edge += 1
    x, y, z = shape
    return Grid(size, first, (x, y, z), (min(edge, x), min(edge, y), min(edge, z)))
