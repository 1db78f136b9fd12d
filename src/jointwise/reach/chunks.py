"""One chunk of a reach map: what the arm can do in a block of voxels.

A chunk depends on the job and its own place alone. So it does not matter who computes it, when,
in which order, or how often.
"""

import hashlib
import sys
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jointwise import gpu, kernels
from jointwise.arm import Arm
from jointwise.batch import Device
from jointwise.config import SolveConfig
from jointwise.kernels import Floats
from jointwise.reach import levels
from jointwise.reach.grid import Grid, Index, near
from jointwise.reach.orientations import Ways

# Good enough for a map, and how hard to try; docs/reach.md has what more restarts would find.
REACH_CONFIG = SolveConfig(position_tolerance=1e-4, orientation_tolerance=1e-4, max_restarts=20)

# Poses solved at a time, which bounds the memory: a fifth of a second of a core, a full GPU.
AT_ONCE = {"cpu": 100_000, "cuda": 4_000_000}

Singles = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """All that a chunk depends on, apart from its place.

    Attributes:
        arm: The arm in numbers.
        grid: The voxels.
        ways: How the tool is held.
        config: How to solve.
        seed: Where the sequence of fresh starts begins.
        device: What solves.
    """

    arm: Arm
    grid: Grid
    ways: Ways
    config: SolveConfig
    seed: int
    device: Device


class Chunk(NamedTuple):
    """What was found in a block of voxels.

    Attributes:
        dexterity: Share of the orientations that were reached.
        manipulability: The greatest of those reached; 0 where none was.
        margin: The greatest distance to the joint limits of those reached, 1 in the middle.
        configuration: (..., n) joint values, of those reached the ones with the greatest product
            of the two; NaN where none was.
    """

    dexterity: Singles
    manipulability: Singles
    margin: Singles
    configuration: Floats


def size_of(job: Job, index: Index) -> int:
    """How many poses a chunk is; 0 if it is farther away than the arm is long."""
    close = job.config.position_tolerance
    return int(near(job.arm, job.grid.points(index), close).sum()) * job.ways.count


@cache
def versions() -> dict[str, str]:
    """Of all that has a say in the last bit; of the code itself, a short hash of its text."""
    from importlib.metadata import version  # takes a while

    files = [Path(__file__), Path(levels.__file__)]
    files += sorted(Path(kernels.__file__).parent.glob("*.py"))
    code = hashlib.sha256(b"".join(file.read_bytes() for file in files))
    others = {name: version(name) for name in ("numpy", "numba", "llvmlite", "scipy")}
    ours = sys.modules["jointwise"].__version__  # importing the front door would import us
    return {"jointwise": ours, "kernels": code.hexdigest()[:12], **others}


def chunk_of(job: Job, index: Index, stop: Event | None = None) -> Chunk:
    """Solve every voxel of a chunk with every orientation; given up soon after ``stop`` is set."""
    points, rows = job.grid.points(index), AT_ONCE[job.device]
    if job.device == "cuda":
        rows, _ = gpu.pieces(rows, job.arm.kinds.size, there=True)
    size = max(1, rows // job.ways.count)
    pieces = []
    for begin in range(0, len(points), size):
        if stop is not None and stop.is_set():
            raise CancelledError
        pieces.append(_solve_voxels(job, points[begin : begin + size]))
    shape = tuple(part.stop - part.start for part in job.grid.slices(index))
    whole = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
    return Chunk(*(array.reshape(*shape, *array.shape[1:]) for array in whole))


def _solve_voxels(job: Job, points: Floats) -> Chunk:
    count, n = len(points), job.arm.kinds.size
    tried = np.flatnonzero(near(job.arm, points, job.config.position_tolerance))
    there = job.device == "cuda"
    found = levels.weighed(job.arm, job.ways, job.config, job.seed, there, points[tried])
    measures, values = np.zeros((3, count), np.float32), np.full((count, n), np.nan)
    measures[0, tried] = found.counts / job.ways.count
    measures[1:, tried], values[tried] = found.greatest, found.chosen
    dexterity, manipulability, margin = measures
    return Chunk(dexterity, manipulability, margin, values)


def config_described(config: SolveConfig) -> dict[str, Any]:
    """A config in words and numbers that JSON has."""
    return {
        "position_tolerance": config.position_tolerance,
        "orientation_tolerance": config.orientation_tolerance,
        "max_restarts": config.max_restarts,
        "stiffness": config.stiffness
        if isinstance(config.stiffness, float)
        else list(config.stiffness),
    }
