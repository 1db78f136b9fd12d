"""A path solved as a whole, never worse than one that is followed target by target."""

from typing import NamedTuple

import numpy as np

from jointwise.backends.progress import reporting
from jointwise.engines.path_limits import PathLimits, ends_meet
from jointwise.engines.paths.freedom import Freedom, freedom_of
from jointwise.engines.paths.global_path import PathSearch
from jointwise.engines.paths.layers import MAX_NODES, make_ladder
from jointwise.engines.paths.sampled_arm import sampled_arm
from jointwise.engines.serial.follow import LARGE_STEP, Followed, PathSolver
from jointwise.engines.serial.forward import tip_poses
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.closed_form import BRANCHES
from jointwise.model import checks
from jointwise.path_options import PathOptions
from jointwise.targets import PackedTarget

# Smallest number of samples of a redundancy; with fewer, poses are followed one by one.
FEWEST = 100
# Before refinement, a followed path may be this many times shorter than that of the layers.
LONGER = 1.1
# Motion that is longer by less than this share does not count as longer.
SAME_MOTION = 1e-9


class WholePath(NamedTuple):
    """A path and its sampling.

    Attributes:
        followed: Its results.
        resolution: The sample spacing of each free quantity, by its name [rad, m]; empty if nothing
            was sampled.
        freedom: The freedom of its targets; None if unknown.
    """

    followed: Followed
    resolution: dict[str, float]
    freedom: Freedom | None


def solve_whole(
    solver: PathSolver,
    target: PackedTarget,
    start: Floats | None,
    limits: PathLimits,
    options: PathOptions,
) -> WholePath:
    """The best path found: over all solutions of all targets, or followed from one to the next.

    Args:
        solver: Follows the targets one by one.
        target: All targets.
        start: (n,) joint values before the first target [rad, m]; None: any.
        limits: Largest steps.
        options: How to solve it.
    """
    if start is not None:
        start = checks.joint_values("start", start, solver.arm.n)
    freedom, arm = freedom_of(target), sampled_arm(solver.arm)
    plain = solver.preferred is None and solver.config.method == "combined"
    samples, progress, closed = options.samples, options.progress, options.closed
    if freedom is not None and not freedom.columns:  # a long path of poses is sampled less finely
        samples = min(samples, MAX_NODES // (BRANCHES * len(target.values)))
        samples *= samples >= FEWEST or arm is None or not arm.names
    if freedom is None or arm is None or not plain or samples == 0:
        followed = solver.follow(start, progress)
        assert followed is not None
        return WholePath(followed, {}, freedom)
    steps = np.where(np.isfinite(limits.both), limits.both, LARGE_STEP)
    ladder = make_ladder(arm, freedom, steps.min(axis=0), samples)
    found, most = None, np.inf
    followed = solver.follow(start, progress, only_whole=True)
    if followed is not None and any(_quality(followed, start, closed)[:3]):
        followed = None  # it collides, or does not close: another start may be better
    if followed is not None:
        most = LONGER * followed.motion(start) + LONGER - 1.0
    search = PathSearch(ladder, steps, start, closed, solver.check)
    is_sampled = followed is None or not ladder.is_coarse(steps)
    if is_sampled:
        with reporting(progress, "solving the path", len(target.values)) as report:
            path = search.run(report, most)
        if path is not None:
            q = search.refined(path.q, path.values, path.breaks)
            found = solver.judged(q, start)
    if followed is None and (found is None or any(_quality(found, start, closed)[:3])):
        followed = solver.follow(start, progress)
    if followed is not None and (found is None or _is_as_good(followed, found, start, closed)):
        found = _refined(solver, search, followed, start, closed)
    assert found is not None
    return WholePath(found, ladder.resolution if is_sampled else {}, freedom)


def _refined(
    solver: PathSolver,
    search: PathSearch,
    followed: Followed,
    start: Floats | None,
    closed: bool,
) -> Followed:
    """A followed path, smoothed if possible."""
    q = np.array([result.q for result in followed.results])
    values = search.ladder.values_of(q, tip_poses(solver.arm, q, "cpu"))
    if values is None or not values.shape[1] or any(followed.quality(start)[:3]):
        return followed
    smoother = search.refined(q, values, followed.breaks)
    if smoother is q:
        return followed
    found = solver.judged(smoother, start)
    return found if _is_as_good(found, followed, start, closed) else followed


def _is_as_good(a: Followed, b: Followed, start: Floats | None, closed: bool) -> bool:
    """Whether the first path is not worse than the second."""
    (*bad_a, motion_a), (*bad_b, motion_b) = (_quality(each, start, closed) for each in (a, b))
    return (bad_a, motion_a) <= (bad_b, motion_b * (1.0 + SAME_MOTION))


def _quality(path: Followed, start: Floats | None, closed: bool) -> tuple[int, int, int, float]:
    missed, colliding, breaks, motion = path.quality(start)
    ends = np.array([path.results[0].q, path.results[-1].q])
    open_end = closed and not ends_meet(ends) and len(path.results) - 1 not in path.breaks
    return missed, colliding, breaks + open_end, motion
