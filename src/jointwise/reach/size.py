"""How large a reach map will be, and how long it will take, before anything is computed."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jointwise.backends.threads import thread_count
from jointwise.chain import Chain
from jointwise.errors import InvalidInputError
from jointwise.jobs.workers import ALL_CORES, Workers, check_workers
from jointwise.model.arm import ArmModel
from jointwise.reach.chunks import REACH_CONFIG
from jointwise.reach.grid import Grid, grid_over
from jointwise.reach.orientations import Orientations, orientation_count

# Poses per second of one CPU thread and of a GPU, for a UR5e with 100 orientations. For other arms
# and settings, the rates are a third to three times as high; docs/howto/reach.md has the
# measurements.
POSES_PER_SECOND = {"cpu": 240_000, "cuda": 40_000_000}
# Bytes of dexterity, manipulability and limit margin in a voxel, and of the value of a joint.
BYTES_PER_VOXEL, BYTES_PER_JOINT = 3 * 4, 8
# Largest number of layers that are counted along an axis; in a finer grid, evenly spaced ones.
MAX_LAYERS = 100

# Seconds and bytes of each unit, the largest first.
TIME_UNITS = {"years": 31_557_600, "days": 86_400, "h": 3_600, "min": 60, "s": 1}
BYTE_UNITS = {"PB": 10**15, "TB": 10**12, "GB": 10**9, "MB": 10**6, "kB": 10**3}


@dataclass(frozen=True, slots=True)
class MapSize:
    """The size of a reach map, estimated.

    Attributes:
        voxels: Number of voxels that are not farther away than the arm is long, which are solved;
            exact up to 100 voxels along each axis, beyond that within about 1 %.
        poses: Number of poses to solve.
        bytes: Size on disk, at most [bytes].
        seconds: Time to compute it, roughly, without compiling [s].

    Example:
        >>> from jointwise import robots
        >>> size = map_size(robots.ur3e(), resolution=0.1, orientations=50)
        >>> size.poses == 50 * size.voxels
        True
    """

    voxels: int
    poses: int
    bytes: int
    seconds: float

    def __str__(self) -> str:
        size, size_unit = _in_unit(self.bytes, BYTE_UNITS)
        time, time_unit = _in_unit(self.seconds / 2, TIME_UNITS)  # minutes from two minutes on
        return (
            f"{self.voxels:,} voxels within reach, {self.poses:,} poses: at most {size:,.1f} "
            f"{size_unit}, about {max(1.0, 2 * time):,.0f} {time_unit}"
        )


def map_size(
    arm: Chain,
    resolution: float = 0.05,
    orientations: Orientations = 100,
    region: ArrayLike | None = None,
    workers: Workers = ALL_CORES,
) -> MapSize:
    """The size of the map that ``reach_map`` would compute with these arguments.

    The time assumes 240,000 poses per second and CPU thread, or 40 million on a GPU, as measured
    with a UR5e; nothing is solved, and no memory is taken for the map.

    Args:
        arm: The arm.
        resolution: As for ``reach_map``.
        orientations: As for ``reach_map``.
        region: As for ``reach_map``.
        workers: As for ``reach_map``. The number of cores of a cluster is unknown, so the time is
            that of one core.

    Raises:
        InvalidInputError: An argument is invalid; the text says what is wrong.

    Example:
        >>> from jointwise import robots
        >>> from jointwise.reach import Workers
        >>> print(map_size(robots.ur5e(), 0.05, workers=Workers(threads=2)))
        37,494 voxels within reach, 3,749,400 poses: at most 2.2 MB, about 8 s
    """
    check_chain(arm)
    check_workers(workers)
    grid = grid_over(arm.arm, resolution, region, chunk=1, max_voxels=1)
    voxels = _voxels_within_reach(arm.arm, grid)
    poses = voxels * orientation_count(orientations)
    size = voxels * (BYTES_PER_VOXEL + BYTES_PER_JOINT * arm.n)
    return MapSize(voxels, poses, size, poses / _poses_per_second(workers))


def _poses_per_second(workers: Workers) -> int:
    if workers.on_gpu:
        return POSES_PER_SECOND["cuda"]
    threads = thread_count(workers.threads) if workers.client is None else 1
    return threads * POSES_PER_SECOND["cpu"]


def check_chain(arm: Any) -> None:
    """Refuse an arm that is not a ``Chain``."""
    if not isinstance(arm, Chain):
        raise InvalidInputError(f"arm is {arm!r}: expected a Chain.")


def _voxels_within_reach(arm: ArmModel, grid: Grid) -> int:
    """Number of voxels to solve, from evenly spaced layers of the grid."""
    radius, squares = arm.max_reach + REACH_CONFIG.position_tolerance, []
    for count, first, origin in zip(grid.shape, grid.first, arm.base_origin, strict=True):
        layers = min(count, MAX_LAYERS)
        index = (np.arange(layers) + 0.5) * (count / layers) - 0.5
        squares.append(((first + index) * grid.resolution - origin) ** 2)
    x, y, z = squares
    inside = np.sqrt(x[:, None, None] + y[:, None] + z) <= radius
    # Python's integers do not overflow.
    return int(inside.sum()) * prod(grid.shape) // int(inside.size)


def _in_unit(amount: float, units: dict[str, int]) -> tuple[float, str]:
    """An amount in the largest unit of which it has at least one, or in the smallest."""
    *_, smallest = units
    name = next((name for name, size in units.items() if amount >= size), smallest)
    return amount / units[name], name
