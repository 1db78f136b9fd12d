"""Three levels of targets in every voxel: position, directions, rotations; on the CPU or a GPU.

Directions are solved only where the position is reached, and rotations only where their direction
is reached. If a closed form decides which poses are reached, it decides about all of them, on one
level. On a GPU, targets and results stay in device memory; only the flags of convergence and, at
the end, the scores of each voxel are copied back.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from jointwise.backends import cpu, cuda
from jointwise.backends.device_arrays import device_array, to_device, to_host
from jointwise.config import SolveConfig
from jointwise.engines.serial.batch import pack_batch, solve_cpu, solve_gpu, start_values_of
from jointwise.engines.serial.check import SerialCheck
from jointwise.engines.serial.packing import packed_arm
from jointwise.engines.serial.solve import closed_form_for
from jointwise.kernels import cuda as kernels
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.task import PackedProblem, Results
from jointwise.kernels.layout.voxels import NextRows, Patterns, Rows, Scores
from jointwise.model.arm import ArmModel
from jointwise.reach.orientations import OrientationSet
from jointwise.targets import AIM, PackedTarget, pack_targets

# Restarts of a position or a direction, as a multiple of those of a pose: if one is missed, all its
# poses are. A factor of five finds hardly more than two, and a map takes twice as long.
EARLY_RESTART_FACTOR = 2


class Level(NamedTuple):
    """The targets to solve next, for every row of the previous level that is reached.

    Attributes:
        packed: (w, ...) packed targets at the origin.
        offsets: Row r of a voxel on the previous level has the targets from offsets[r] to
            offsets[r+1].
        from_solution: Whether to start at the solution of the previous level.
    """

    packed: PackedTarget
    offsets: Any
    from_solution: bool


def is_exact(
    arm: ArmModel, orientations: OrientationSet, config: SolveConfig, on_gpu: bool
) -> bool:
    """Whether a closed form decides which poses are reached: for six joints, on a CPU.

    Poses that it leaves open, at singularities and at the border of the reach, are searched.
    """
    weights = (1.0,) * 4 if len(orientations.rotations) else ()
    return not on_gpu and closed_form_for(arm, packed_arm(arm, config), weights) is not None


def levels_of(orientations: OrientationSet, exact: bool) -> Iterator[Level]:
    """The position, then the directions if there are any, then their rotations if any.

    An exact map has all rotations on one level.
    """
    directions, rotations = len(orientations.directions), len(orientations.rotations)
    if exact:
        offsets = np.array([0, rotations])
        yield Level(_poses(orientations), offsets, from_solution=False)
        return
    yield Level(pack_targets(np.zeros((1, 3))), np.arange(2), from_solution=False)
    if directions:
        yield Level(_aims(orientations), np.array([0, directions]), from_solution=False)
    if rotations:
        yield Level(_poses(orientations), orientations.offsets, from_solution=True)


def _aims(orientations: OrientationSet) -> PackedTarget:
    origin, directions = np.zeros(3), orientations.directions
    aims = np.stack(np.broadcast_arrays(origin, directions, orientations.axis), axis=1)
    return PackedTarget(AIM, aims)


def _poses(orientations: OrientationSet) -> PackedTarget:
    poses = np.tile(np.eye(4), (len(orientations.rotations), 1, 1))
    poses[:, :3, :3] = orientations.rotations
    return pack_targets(poses)


def solve_levels(
    arm: ArmModel,
    orientations: OrientationSet,
    config: SolveConfig,
    on_gpu: bool,
    points: Floats,
    check: SerialCheck | None = None,
) -> Scores:
    """Solve all levels at ``points (v, 3)``; the scores of each voxel, in host memory."""
    backend: Any = OnGPU if on_gpu else OnCPU
    early_config = replace(config, max_restarts=EARLY_RESTART_FACTOR * config.max_restarts)
    exact = is_exact(arm, orientations, config, on_gpu)
    count, levels = len(points), list(levels_of(orientations, exact))
    rows = Rows(np.arange(count + 1), np.empty((0, arm.n)), np.ones(count, np.bool_))
    for level in levels:
        offsets = np.empty(rows.row_offsets[-1] + 1, np.int64)
        converged = to_host(rows.converged)
        cpu.fill_next_offsets(converged, rows.row_offsets, level.offsets, offsets)
        size = int(offsets[-1])
        starts = (
            backend.empty((size, arm.n))
            if level.from_solution
            else start_values_of(arm, arm.mid_range, size, on_gpu)
        )
        targets = backend.empty((size, *level.packed.values.shape[1:]))
        next_rows = NextRows(offsets, targets, starts)
        backend.write_targets(points, level, rows, next_rows)
        packed = level.packed._replace(values=targets)
        level_config = config if level is levels[-1] else early_config
        problem = pack_batch(arm, packed, starts, level.from_solution, level_config, check)
        results = backend.solve(arm, problem)
        rows = Rows(offsets[rows.row_offsets], results.q, results.converged)
    scores = Scores(
        backend.empty((count,), np.int64), backend.empty((2, count)), backend.empty((count, arm.n))
    )
    backend.score(arm, orientations, rows, scores)
    return Scores(*map(to_host, scores))


class OnCPU:
    """One core, and arrays in host memory."""

    empty = staticmethod(np.empty)

    @staticmethod
    def write_targets(points: Floats, level: Level, rows: Any, next_rows: Any) -> None:
        """Write the targets of a level, and their start values."""
        patterns = Patterns(level.packed.values, level.offsets, level.from_solution)
        cpu.write_targets(points, patterns, rows, next_rows)

    @staticmethod
    def solve(arm: ArmModel, problem: PackedProblem) -> Results:
        """Solve all rows of a level; where there is a closed form, for the targets themselves."""
        return solve_cpu(arm, problem, threads=1, search_unreached=False, exact=True)

    @staticmethod
    def score(arm: ArmModel, orientations: OrientationSet, rows: Any, scores: Any) -> None:
        """Write the scores of each voxel."""
        axis, jacobian_rows = orientations.axis, orientations.jacobian_rows
        cpu.score_voxels(arm.packed, axis, jacobian_rows, rows, scores)


class OnGPU:
    """A GPU, and arrays in its memory."""

    empty = staticmethod(device_array)

    @staticmethod
    def write_targets(points: Floats, level: Level, rows: Any, next_rows: Any) -> None:
        """Write the targets of a level, and their start values."""
        patterns = Patterns(
            to_device(level.packed.values), to_device(level.offsets), level.from_solution
        )
        kernel = kernels.voxels.write_targets_kernel()
        on_gpu = Rows(*map(to_device, rows)), NextRows(*map(to_device, next_rows))
        cuda.launch(kernel, len(points), to_device(points), patterns, *on_gpu)

    @staticmethod
    def solve(arm: ArmModel, problem: PackedProblem) -> Results:
        """Solve all rows of a level."""
        return solve_gpu(arm, problem, np.float64, 1, search_unreached=False)

    @staticmethod
    def score(arm: ArmModel, orientations: OrientationSet, rows: Any, scores: Any) -> None:
        """Write the scores of each voxel."""
        kernel = kernels.voxels.score_kernel(
            arm.packed.tobytes(), arm.n, orientations.jacobian_rows
        )
        axis, on_gpu = tuple(orientations.axis.tolist()), Rows(*map(to_device, rows))
        cuda.launch(kernel, len(rows.row_offsets) - 1, axis, on_gpu, scores)
