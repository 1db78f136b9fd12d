"""The levels of a chunk: positions, then directions, then rotations; solved here or on a GPU.

What is there stays there: only which rows are reached, and in the end the best of each voxel, come
back.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jointwise import gpu, kernels
from jointwise.arm import Arm
from jointwise.batch import Problems, problems_of, solve_here, solve_there, starts_of
from jointwise.config import SolveConfig
from jointwise.kernels import Floats
from jointwise.reach.orientations import Ways
from jointwise.targets import Aim, requests

# How much harder to try a position or a direction, since all poses beyond it are lost with it. Five
# times finds hardly more than twice, and makes a map take twice as long.
HARDER = 2

Integers = NDArray[np.int64]


class Level(NamedTuple):
    """What is asked of every row that the level before has reached.

    Attributes:
        patterns: (w, ...) targets at the origin, as ``targets.requests`` makes them.
        weights: Likewise.
        ends: The patterns of way i of the level before are from ends[i] to ends[i+1].
        follow: Whether to start at the answer of the level before.
    """

    patterns: Floats
    weights: tuple[float, ...]
    ends: Integers
    follow: bool


class Weighed(NamedTuple):
    """Of each voxel: how many ways are reached, the greatest (2, k) of the measures, the best."""

    counts: Integers
    greatest: Floats
    chosen: Floats


def levels_of(arm: Arm, ways: Ways) -> Iterator[Level]:
    """First positions, then directions where there are any, then their rotations."""
    directions, rotations = len(ways.directions), len(ways.rotations)
    yield Level(*requests(arm, np.zeros((1, 3))), np.arange(2), follow=False)
    if directions:
        aims = Aim(np.zeros((directions, 3)), ways.directions, ways.axis)
        yield Level(*requests(arm, aims), np.array([0, directions]), follow=False)
    if rotations:
        poses = np.tile(np.eye(4), (rotations, 1, 1))
        poses[:, :3, :3] = ways.rotations
        yield Level(*requests(arm, poses), ways.ends, follow=True)


def weighed(
    arm: Arm, ways: Ways, config: SolveConfig, seed: int, on_gpu: bool, points: Floats
) -> Weighed:
    """Solve all levels at these points, and weigh what was found.

    Most of what cannot be reached is found out early, and a direction's answer is where its
    rotations begin.
    """
    place: Any = There if on_gpu else Here
    patient = replace(config, max_restarts=HARDER * config.max_restarts)
    count, n, levels = len(points), arm.kinds.size, list(levels_of(arm, ways))
    reached, values, firsts = np.ones(count, np.bool_), np.empty((0, n)), np.arange(count + 1)
    for each in (reached, values):
        each.setflags(write=False)  # as answers are, so that kernels compile once
    for level in levels:
        begins = np.empty(firsts[-1] + 1, np.int64)
        kernels.voxels.count(gpu.here(reached), firsts, level.ends, begins)
        rows = int(begins[-1])
        targets = place.room((rows, *level.patterns.shape[1:]))
        starts = place.room((rows, n)) if level.follow else starts_of(arm, None, rows, on_gpu)
        place.lay(level, points, firsts, begins, values, targets, starts)
        how, request = config if level is levels[-1] else patient, (targets, level.weights)
        problems = problems_of(arm, request, starts, level.follow, how, seed)
        values, reached = place.solve(arm, problems)
        firsts = begins[firsts]
    found = place.room((count,), np.int64), place.room((2, count)), place.room((count, n))
    place.weigh(arm, ways, firsts, values, reached, *found)
    return Weighed(*map(gpu.here, found))


class Here:
    """One core, and arrays of NumPy."""

    room = staticmethod(np.empty)

    @staticmethod
    def lay(level: Level, points: Floats, firsts: Any, begins: Any, *others: Any) -> None:
        """Write the targets of a level, and where they start."""
        patterns, _, ends, follow = level
        kernels.voxels.lay(follow, points, firsts, begins, ends, patterns, *others)

    @staticmethod
    def solve(arm: Arm, problems: Problems) -> tuple[Any, Any]:
        """The answers, and which are any."""
        batch = solve_here(arm, problems, workers=1, closest=False)
        return batch.joint_angles, batch.converged

    @staticmethod
    def weigh(arm: Arm, ways: Ways, *others: Any) -> None:
        """Write what was found in each voxel."""
        kernels.voxels.weigh(arm.block, ways.axis, ways.freedoms, *others)


class There:
    """The same on a GPU, and arrays there."""

    room = staticmethod(gpu.room)

    @staticmethod
    def lay(level: Level, points: Floats, *others: Any) -> None:
        """Write the targets of a level, and where they start."""
        firsts, begins, *rest = others
        given = (points, firsts, begins, level.ends, level.patterns, *rest)
        kernel = kernels.voxels_cuda.laying()
        gpu.launch(kernel, len(points), level.follow, *map(gpu.there, given))

    @staticmethod
    def solve(arm: Arm, problems: Problems) -> tuple[Any, Any]:
        """The answers, and which are any."""
        values, reached, *_ = solve_there(arm, problems, np.float64, 1, closest=False)
        return values, reached

    @staticmethod
    def weigh(arm: Arm, ways: Ways, firsts: Any, *others: Any) -> None:
        """Write what was found in each voxel."""
        kernel = kernels.voxels_cuda.weighing(arm.block.tobytes(), arm.kinds.size, ways.freedoms)
        axis = tuple(ways.axis.tolist())
        gpu.launch(kernel, len(firsts) - 1, axis, gpu.there(firsts), *others)
