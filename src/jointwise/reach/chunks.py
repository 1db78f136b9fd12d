"""One chunk of a reach map: a block of voxels.

A chunk depends on the job and its index alone. So it does not matter where it is computed, when,
in which order, or how often.
"""

import sys
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import cache
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jointwise.backends import cuda
from jointwise.kernels.fingerprint import fingerprint
from jointwise.kernels.shapes import Floats
from jointwise.model.arm import ArmModel
from jointwise.reach.grid import Grid, Index, within_reach
from jointwise.reach.levels import solve_levels
from jointwise.reach.orientations import OrientationSet
from jointwise.solvers.batch import Device
from jointwise.solvers.config import SolveConfig

# Tolerances and restarts of a map; docs/reach.md has what more restarts would find.
REACH_CONFIG = SolveConfig(position_tolerance=1e-4, orientation_tolerance=1e-4, max_restarts=20)

# Poses solved at a time, which bounds the memory: a fifth of a second of a core, a full GPU.
POSES_AT_ONCE = {"cpu": 100_000, "cuda": 4_000_000}

# The code that decides the bits of a map.
DECISIVE = (
    "backends",
    "kernels",
    "model/arm.py",
    "reach/chunks.py",
    "reach/grid.py",
    "reach/levels.py",
    "reach/orientations.py",
    "solvers",
)

Float32s = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """All that a chunk depends on, apart from its index.

    Attributes:
        arm: The arm in numbers.
        grid: The voxels.
        orientations: The orientations that are asked for.
        config: Tolerances and restarts.
        seed: Seed of the restarts.
        device: What solves.
    """

    arm: ArmModel
    grid: Grid
    orientations: OrientationSet
    config: SolveConfig
    seed: int
    device: Device


class Chunk(NamedTuple):
    """The results of a block of voxels.

    Attributes:
        dexterity: Share of the orientations that are reached.
        manipulability: The greatest of those reached; 0 where none is.
        margin: The greatest limit margin of those reached, 1 in the middle of the ranges.
        configuration: (..., n) joint values with the greatest product of the two, of those
            reached; NaN where none is.
    """

    dexterity: Float32s
    manipulability: Float32s
    margin: Float32s
    configuration: Floats


def poses_in(job: Job, index: Index) -> int:
    """How many poses a chunk is; 0 if all of it is beyond reach."""
    points, tolerance = job.grid.points(index), job.config.position_tolerance
    return int(within_reach(job.arm, points, tolerance).sum()) * job.orientations.count


@cache
def versions() -> dict[str, str]:
    """Versions of all that decides the bits of a map; of our own code, its fingerprint."""
    from importlib.metadata import version  # takes a while

    others = {name: version(name) for name in ("numpy", "numba", "llvmlite", "scipy")}
    ours = sys.modules["jointwise"].__version__  # an import from jointwise would import us
    return {"jointwise": ours, "kernels": fingerprint(*DECISIVE), **others}


def compute_chunk(job: Job, index: Index, stop: Event | None = None) -> Chunk:
    """Solve every voxel of a chunk with every orientation; ends early once ``stop`` is set."""
    points, poses = job.grid.points(index), POSES_AT_ONCE[job.device]
    if job.device == "cuda":
        poses, _ = cuda.piece_sizes(poses, job.arm.n, on_gpu=True)
    size = max(1, poses // job.orientations.count)
    pieces = []
    for begin in range(0, len(points), size):
        if stop is not None and stop.is_set():
            raise CancelledError
        pieces.append(_solve_voxels(job, points[begin : begin + size]))
    shape = tuple(part.stop - part.start for part in job.grid.slices(index))
    whole = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
    return Chunk(*(array.reshape(*shape, *array.shape[1:]) for array in whole))


def _solve_voxels(job: Job, points: Floats) -> Chunk:
    count, on_gpu = len(points), job.device == "cuda"
    tried = np.flatnonzero(within_reach(job.arm, points, job.config.position_tolerance))
    scores = solve_levels(job.arm, job.orientations, job.config, job.seed, on_gpu, points[tried])
    measures, values = np.zeros((3, count), np.float32), np.full((count, job.arm.n), np.nan)
    measures[0, tried] = scores.counts / job.orientations.count
    measures[1:, tried], values[tried] = scores.greatest, scores.q
    dexterity, manipulability, margin = measures
    return Chunk(dexterity, manipulability, margin, values)


def describe_config(config: SolveConfig) -> dict[str, Any]:
    """A config as JSON."""
    return {
        "position_tolerance": config.position_tolerance,
        "orientation_tolerance": config.orientation_tolerance,
        "max_restarts": config.max_restarts,
        "stiffness": config.stiffness
        if isinstance(config.stiffness, float)
        else list(config.stiffness),
    }
