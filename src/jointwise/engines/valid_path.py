"""A path with invalid targets: the valid ones are followed, each from the previous valid one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from jointwise.engines.engine import Engine
from jointwise.engines.path_limits import PathLimits, ends_meet
from jointwise.kernels.layout.arrays import Bools
from jointwise.kernels.layout.task import Results
from jointwise.model import checks
from jointwise.path_options import PathOptions
from jointwise.problem import Problem
from jointwise.results.batch import ARRAYS, Details, read_only
from jointwise.results.path import IKPath
from jointwise.results.result import IDENTITY, LinkErrors
from jointwise.results.status import BreakReason, Status
from jointwise.targets import PackedTarget

# Reasons of breaks at missed targets; others have no solution.
BY_STATUS = {
    Status.OUTSIDE_LIMITS: BreakReason.OUTSIDE_LIMITS,
    Status.COLLIDES: BreakReason.COLLIDES,
    Status.COLLIDES_ALWAYS: BreakReason.COLLIDES,
    Status.INVALID: BreakReason.INVALID,
}

# Paths from which on ``device="auto"`` is a GPU.
MIN_PATHS = 1000


class PathProblem(NamedTuple):
    """A path to solve.

    Attributes:
        engine: The engine that solves it.
        problem: Its targets.
        limits: Largest steps.
        options: Its options.
    """

    engine: Engine
    problem: Problem
    limits: PathLimits
    options: PathOptions


def follow_valid(path: PathProblem) -> IKPath:
    """Joint values along a path, and why it breaks; invalid targets get a status, and NaN.

    The first valid target after invalid ones is a break. Its solution is as close to that of the
    previous valid target as the limits allow for one step.
    """
    part, valid = valid_part(path)
    found = None if part is None else path.engine.follow(*part[1:])
    return whole_path(path, valid, found)


def follow_on_gpu(paths: Sequence[PathProblem]) -> list[IKPath | None]:
    """The results of paths that are followed on a GPU; None for the others."""
    found: list[IKPath | None] = [None] * len(paths)
    chosen = [i for i, path in enumerate(paths) if _is_for_gpu(path, len(paths))]
    if not chosen:
        return found
    from concurrent.futures import ThreadPoolExecutor

    from jointwise.backends.threads import thread_count
    from jointwise.engines.tree.engine import TREE
    from jointwise.engines.tree.gpu import TOO_LARGE, runs_on_gpu

    with ThreadPoolExecutor(thread_count(None)) as pool:
        parts = list(pool.map(valid_part, [paths[i] for i in chosen]))
    some = [(part.problem, part.limits) for part, _ in parts if part is not None]
    followed = iter(TREE.follow_on_gpu(some))
    for i, (part, valid) in zip(chosen, parts, strict=True):
        path = None if part is None else next(followed)
        if part is None or path is not None:
            found[i] = whole_path(paths[i], valid, path)
        elif paths[i].options.device == "cuda":
            runs_on_gpu("cuda", TOO_LARGE)  # raises
    return found


def _is_for_gpu(path: PathProblem, count: int) -> bool:
    """Whether one of some paths is followed on a GPU."""
    engine, problem, limits, options = path
    if options.device == "cpu" or (options.device == "auto" and count < MIN_PATHS):
        return False
    from jointwise.engines.tree.engine import TREE
    from jointwise.engines.tree.gpu import COLLISIONS, runs_on_gpu

    reason = ""
    if engine is not TREE:
        reason = "paths of one serial arm are solved"
    elif problem.collision is not None:
        reason = COLLISIONS
    elif options.contacts:
        reason = "paths with contacts are solved"
    elif len(limits.by_velocity) > 1:
        reason = "targets at unequal times are followed"
    return runs_on_gpu(options.device, reason)


def valid_rows(targets: Sequence[PackedTarget]) -> Bools:
    """(m,) which rows of targets of several links have numbers that can be solved for."""
    valid: Bools = np.ones(len(targets[0].values), np.bool_)
    for each in targets:
        valid &= each.kind.are_valid(each.values)
    return valid


def valid_part(path: PathProblem) -> tuple[PathProblem | None, Bools]:
    """The path of the valid targets alone, None if there are none; (m,) which are valid."""
    _, problem, limits, options = path
    if problem.start is not None:
        checks.all_finite("start", checks.floats("start", problem.start))
    valid = valid_rows(problem.targets)
    if valid.all():
        return path, valid
    if not valid.any():
        return None, valid
    if len(limits.by_velocity) > 1:
        limits = limits._replace(by_velocity=limits.by_velocity[valid])
    targets = tuple(each._replace(values=each.values[valid]) for each in problem.targets)
    if options.contacts:
        rows = {link: each.rows(valid) for link, each in options.contacts.items()}
        options = replace(options, contacts=rows)
    return PathProblem(path.engine, problem._replace(targets=targets), limits, options), valid


def whole_path(path: PathProblem, valid: Bools, found: IKPath | None) -> IKPath:
    """The result for all targets, from that for the valid ones, and why it breaks."""
    _, problem, limits, options = path
    if found is not None and valid.all():
        return _explained(found, limits, options.closed)
    arrays, details = _nothing_solved(problem, len(valid))
    if found is not None:
        for array, name in zip(arrays, ARRAYS, strict=True):
            array[valid] = getattr(found, name)
        details = _spread(found, valid, details)
    return _explained(IKPath(*read_only(arrays), details), limits, options.closed)


def _explained(path: IKPath, limits: PathLimits, closed: bool) -> IKPath:
    """The path with the reason of each break; a closed path breaks where it does not close."""
    last = len(path) - 1
    opens = closed and not ends_meet(path.q)
    breaks = {*path.breaks, last} if opens else {*path.breaks}
    allowed = np.broadcast_to(limits.both, path.q.shape)
    reasons = []
    for i in sorted(breaks):
        missed = [k for k in (i - 1, i) if k >= 0 and not path.converged[k]]
        if missed:
            reason = BY_STATUS.get(Status(path.status[missed[0]]), BreakReason.NO_SOLUTION)
        elif i == last and i not in path.breaks:
            reason = BreakReason.NOT_CLOSED
        elif i == 0 or (np.abs(path.q[i] - path.q[i - 1]) > allowed[i]).any():
            reason = BreakReason.STEP_TOO_LARGE
        else:
            reason = BreakReason.OTHER_BRANCH
        reasons.append(reason)
    details = path._details._replace(breaks=tuple(sorted(breaks)), reasons=tuple(reasons))
    return replace(path, _details=details)


def _nothing_solved(problem: Problem, count: int) -> tuple[Results, Details]:
    """The fields of a path whose targets are all invalid."""
    arrays = Results(
        q=np.full((count, problem.model.n), np.nan),
        converged=np.zeros(count, np.bool_),
        position_error=np.full(count, np.nan),
        orientation_error=np.full(count, np.nan),
        iterations=np.zeros(count, np.int64),
        restarts=np.zeros(count, np.int64),
        status=np.full(count, Status.INVALID, np.uint8),
    )
    k, base = len(problem.links), IDENTITY if problem.base_pose is None else problem.base_pose
    errors = LinkErrors(problem.links, np.full((count, k, 2), np.nan), np.ones((count, k), bool))
    return arrays, Details(errors, np.tile(base, (count, 1, 1)))


def _spread(path: IKPath, valid: Bools, nothing: Details) -> Details:
    """The details of a path with invalid targets between its own, which are the valid ones."""
    index, details = np.flatnonzero(valid), path._details
    errors, poses, angles = details.link_errors, details.base_poses, details.tool_angles
    if isinstance(errors, LinkErrors) and isinstance(nothing.link_errors, LinkErrors):
        links, values, missed = nothing.link_errors
        values[valid], missed[valid] = errors.values, errors.missed
        errors = LinkErrors(links, values, missed)
    if poses is not None and nothing.base_poses is not None:
        nothing.base_poses[valid] = poses
        poses = nothing.base_poses
    if angles is not None:
        spread = np.full(len(valid), np.nan)
        spread[valid] = angles
        angles = spread
    breaks, colliding = (index[list(each)].tolist() for each in (path.breaks, path.colliding))
    after_gaps = index[1:][np.diff(index) > 1].tolist()
    return details._replace(
        link_errors=errors,
        base_poses=poses,
        breaks=tuple(sorted({*breaks, *after_gaps})),
        colliding=tuple(colliding),
        tool_angles=angles,
    )
