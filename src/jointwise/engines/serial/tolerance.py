"""Poses inside a tolerance box, solved in closed form if the search does not reach the box."""

from math import pi

import numpy as np

from jointwise.backends import cpu
from jointwise.backends.device_arrays import host_results
from jointwise.backends.threads import new_progress
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.status import CONVERGED
from jointwise.kernels.layout.task import PackedCriteria
from jointwise.model.arm import ArmModel
from jointwise.targets import POSE, PackedTarget
from jointwise.targets.deviation import poses_at, tolerance_box

# Number of samples along each axis, by the number of axes that have a range.
SAMPLES = (1, 64, 16, 8, 4, 3, 3)


def has_extent(values: Floats) -> bool:
    """Whether the box of a packed target (8, 4) holds more than the pose itself."""
    return bool(values[4:, :3].any())


def without_empty_box(target: PackedTarget) -> PackedTarget:
    """A pose itself, if the box of a single target holds nothing else."""
    if has_extent(target.values):
        return target
    return target._replace(kind=POSE, values=target.values[:4])


def sampled_deviations(values: Floats, reach: float) -> Floats:
    """(k, 6) deviations inside the box of a packed target (8, 4), the smallest first.

    Args:
        values: The target.
        reach: How far a free position is sampled [m].
    """
    box = tolerance_box(values)
    most = np.repeat([2.0 * reach, pi], 3)
    low = np.clip(box[::2].ravel(), -most, most)
    high = np.clip(box[1::2].ravel(), -most, most)
    has_range = high > low
    count = SAMPLES[int(has_range.sum())]
    axes = [
        np.linspace(a, b, count if ranges else 1)
        for a, b, ranges in zip(low, high, has_range, strict=True)
    ]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 6)
    centre = np.clip(np.zeros((1, 6)), low, high)
    return np.concatenate([centre, grid])


def solve_sampled(
    arm: ArmModel,
    packed: Floats,
    form: Floats,
    values: Floats,
    criteria: PackedCriteria,
    q: Floats,
) -> bool:
    """Move ``q`` to the nearest solution of sampled poses inside a box; return False if none.

    Args:
        arm: The arm.
        packed: The arm packed for the solve.
        form: Its packed closed form.
        values: (8, 4) the packed target.
        criteria: When to stop.
        q: (n,) the start; it becomes the result.
    """
    poses = poses_at(values, sampled_deviations(values, arm.max_reach))
    results, progress = host_results(len(poses), arm.n), new_progress(1)
    begin, end = 0, len(poses)
    cpu.nearest_rows(packed, form, poses, q[None], criteria, begin, end, results, progress[0])
    found = np.flatnonzero(results.status == CONVERGED)
    if not len(found):
        return False
    best = found[np.abs(results.q[found] - q).max(axis=1).argmin()]
    q[:] = results.q[best]
    return True
