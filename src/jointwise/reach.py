"""One chunk of a reach map: what the arm can do in a block of voxels.

A chunk depends on the job and its own place alone. So it does not matter who computes it, when,
in which order, or how often.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jointwise import kernels
from jointwise.arm import Arm
from jointwise.batch import Device, solve_batch
from jointwise.config import SolveConfig
from jointwise.grid import Grid, Index, near
from jointwise.kernels import Floats
from jointwise.orientations import targets_at
from jointwise.results import IKBatch
from jointwise.targets import Targets

# Good enough for a map, and how hard to try. Of a hundred thousand reachable poses of real arms,
# 20 restarts miss a few of what 100 find, in a fifth of the time.
REACH_CONFIG = SolveConfig(position_tolerance=1e-4, orientation_tolerance=1e-4, max_restarts=20)

Singles = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """All that a chunk depends on, apart from its place.

    Attributes:
        arm: The arm in numbers.
        grid: The voxels.
        ways: How the tool is held, as ``ways_of`` has them.
        axis: (3,) the axis of the tool that is aimed.
        config: How to solve.
        seed: Where the sequence of fresh starts begins.
        device: What solves.
    """

    arm: Arm
    grid: Grid
    ways: Floats
    axis: Floats
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
    """How many solves a chunk is; 0 if it is farther away than the arm is long."""
    close = job.config.position_tolerance
    return int(near(job.arm, job.grid.points(index), close).sum()) * len(job.ways)


def chunk_of(job: Job, index: Index, threads: int = 1) -> Chunk:
    """Solve every voxel of a chunk with every orientation.

    What cannot be reached however the tool is held needs no more solves.
    """
    points, n = job.grid.points(index), job.arm.kinds.size
    ways, count = len(job.ways), len(points)
    shares, freest, sparest = (np.zeros(count, np.float32) for _ in range(3))
    found = Chunk(shares, freest, sparest, np.full((count, n), np.nan))
    tried = np.flatnonzero(near(job.arm, points, job.config.position_tolerance))
    if job.ways.size:
        tried = tried[_solved(job, points[tried], threads).converged]
    batch = _solved(job, targets_at(points[tried], job.ways, job.axis), threads)
    freedom, spare = measured(job.arm, batch, job.ways, job.axis, threads)
    reached = batch.converged.reshape(-1, ways)
    found.dexterity[tried] = reached.mean(axis=1)
    found.manipulability[tried] = freedom.reshape(-1, ways).max(axis=1)
    found.margin[tried] = spare.reshape(-1, ways).max(axis=1)
    good = np.where(reached, (freedom * spare).reshape(-1, ways), -1.0)
    best = np.arange(len(tried)) * ways + good.argmax(axis=1)
    some = reached.any(axis=1)
    found.configuration[tried[some]] = batch.joint_angles[best[some]]
    shape = tuple(part.stop - part.start for part in job.grid.slices(index))
    return Chunk(*(array.reshape(*shape, *array.shape[1:]) for array in found))


def _solved(job: Job, targets: Targets, threads: int) -> IKBatch:
    return solve_batch(
        job.arm,
        targets,
        None,
        job.config,
        job.seed,
        job.device,
        np.float64,
        threads,
        progress=False,
        thorough=False,
    )


def measured(
    arm: Arm, batch: IKBatch, ways: Floats, axis: Floats, threads: int
) -> tuple[Floats, Floats]:
    """(k,) manipulability and (k,) margin of each answer, 0 where there is none."""
    count = len(batch)
    freedom, spare = np.empty(count), np.empty(count)
    rows = 6 if ways.ndim == 3 else 5 if ways.shape[1] else 3

    def work(begin: int) -> None:
        end = min(begin + size, count)
        kernels.measure.measure(
            arm.block, batch.joint_angles, batch.converged, axis, rows, begin, end, freedom, spare
        )

    size = max(1, -(-count // threads))
    if threads == 1:
        work(0)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, range(0, count, size)))
    return freedom, spare


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
