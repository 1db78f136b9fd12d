"""One chunk of a reach map: a block of voxels.

A chunk is a function of the job and the index of the chunk. Its bits do not depend on where or
when it is computed, in which order, or how often.
"""

from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass
from threading import Event
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jointwise.backends import cuda
from jointwise.backends.versions import versions_of
from jointwise.config import SolveConfig, check_config
from jointwise.engines.run_options import Device
from jointwise.engines.serial.check import SerialCheck
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model.arm import ArmModel
from jointwise.reach.grid import Grid, Index, within_reach
from jointwise.reach.levels import is_exact, solve_levels
from jointwise.reach.orientations import OrientationSet

# Tolerances and restarts of a map; docs/howto/reach.md has what more restarts would find.
REACH_CONFIG = SolveConfig(position_tolerance=1e-4, orientation_tolerance=1e-4, max_restarts=20)

# Poses solved at a time, which bounds the memory: about 0.2 s of one core, or a full GPU.
POSES_AT_ONCE = {"cpu": 100_000, "cuda": 4_000_000}

# Files and folders whose code decides the bits of a map.
FINGERPRINTED = (
    "backends",
    "config.py",
    "engines",
    "kernels",
    "model",
    "posture.py",
    "problem.py",
    "reach/chunks.py",
    "reach/grid.py",
    "reach/levels.py",
    "reach/orientations.py",
    "results",
    "scene",
    "shape",
    "targets",
)

Float32s = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """Everything that a chunk depends on, apart from its index.

    Attributes:
        arm: The kinematic parameters of the arm.
        grid: The voxels.
        orientations: The orientations to try in every voxel.
        config: Tolerances, restarts and their seed.
        device: ``"cpu"`` or ``"cuda"``.
        check: The collision check; None: nothing is checked.
    """

    arm: ArmModel
    grid: Grid
    orientations: OrientationSet
    config: SolveConfig
    device: Device
    check: SerialCheck | None = None

    @property
    def exact(self) -> bool:
        """Whether a closed form decides which poses are reached."""
        return is_exact(self.arm, self.orientations, self.config, self.device == "cuda")

    def indices(self) -> Iterator[Index]:
        """All chunks of the grid."""
        return self.grid.chunks()

    def items(self, index: Index) -> int:
        """Number of poses to solve in a chunk; 0 if all its voxels are beyond reach."""
        points, tolerance = self.grid.points(index), self.config.position_tolerance
        return int(within_reach(self.arm, points, tolerance).sum()) * self.orientations.count

    def compute(self, index: Index, stop: Event | None = None) -> "Chunk":
        """Solve every voxel of a chunk with every orientation."""
        return compute_chunk(self, index, stop)

    def solved(self, index: Index, chunk: "Chunk") -> int:
        """Number of poses of a computed chunk that are reached."""
        return round(float(chunk.dexterity.sum(dtype=float)) * self.orientations.count)

    def versions(self) -> dict[str, str]:
        """Versions of everything that decides the bits of a map."""
        return versions()


class Chunk(NamedTuple):
    """The results of a block of voxels.

    Attributes:
        dexterity: Share of the orientations that are reached.
        manipulability: The greatest of the solutions found; 0 where there is none.
        limit_margin: The greatest of the solutions found, 1 in the middle of the ranges; 0 where
            there is none.
        q: (..., n) joint values of the solution with the greatest product of the two [rad, m];
            NaN where there is none.
    """

    dexterity: Float32s
    manipulability: Float32s
    limit_margin: Float32s
    q: Floats


def check_search(config: SolveConfig) -> None:
    """Refuse a config that is not for the search of many poses."""
    check_config(config)
    if config.method != "combined":
        raise InvalidInputError(
            f"config has method={config.method!r}: expected 'combined', the search of reach_map "
            "and best_base."
        )


def versions() -> dict[str, str]:
    """Versions of everything that decides the bits of a map; of jointwise also a fingerprint."""
    return versions_of(*FINGERPRINTED)


def compute_chunk(job: Job, index: Index, stop: Event | None = None) -> Chunk:
    """Solve every voxel of a chunk with every orientation.

    Raises:
        CancelledError: ``stop`` was set; it is checked before every ``POSES_AT_ONCE`` poses.
    """
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
    joined = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
    return Chunk(*(array.reshape(*shape, *array.shape[1:]) for array in joined))


def _solve_voxels(job: Job, points: Floats) -> Chunk:
    """The results at ``points (k, 3)``; voxels beyond reach are not solved."""
    count, on_gpu = len(points), job.device == "cuda"
    tried = np.flatnonzero(within_reach(job.arm, points, job.config.position_tolerance))
    scores = solve_levels(job.arm, job.orientations, job.config, on_gpu, points[tried], job.check)
    measures, q = np.zeros((3, count), np.float32), np.full((count, job.arm.n), np.nan)
    measures[0, tried] = scores.counts / job.orientations.count
    measures[1:, tried], q[tried] = scores.greatest, scores.q
    dexterity, manipulability, limit_margin = measures
    return Chunk(dexterity, manipulability, limit_margin, q)
