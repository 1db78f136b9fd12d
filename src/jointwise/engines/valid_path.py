"""A path with invalid targets: the others are followed, each from the valid one before."""

import numpy as np

from jointwise.engines.engine import Engine
from jointwise.engines.path_limits import PathLimits
from jointwise.kernels.layout.arrays import Bools
from jointwise.kernels.layout.task import Results
from jointwise.model import checks
from jointwise.problem import Problem
from jointwise.results.batch import ARRAYS, Details, IKPath, read_only
from jointwise.results.result import IDENTITY, LinkErrors
from jointwise.results.status import Status


def follow_valid(engine: Engine, problem: Problem, limits: PathLimits, progress: bool) -> IKPath:
    """Joint values along a path; invalid targets get a status, and NaN.

    The first valid target after invalid ones is a break. It is as near to the valid target before
    as the limits allow for one step.
    """
    if problem.start is not None:
        checks.all_finite("start", checks.floats("start", problem.start))
    valid: Bools = np.all([each.kind.are_valid(each.values) for each in problem.targets], axis=0)
    if valid.all():
        return engine.follow(problem, limits, progress)
    arrays, details = _nothing_solved(problem, len(valid))
    if valid.any():
        if len(limits.by_velocity) > 1:
            limits = limits._replace(by_velocity=limits.by_velocity[valid])
        targets = tuple(each._replace(values=each.values[valid]) for each in problem.targets)
        path = engine.follow(problem._replace(targets=targets), limits, progress)
        for array, name in zip(arrays, ARRAYS, strict=True):
            array[valid] = getattr(path, name)
        details = _spread(path, valid, details)
    return IKPath(*read_only(arrays), details)


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
    index, (errors, poses, check, *marks) = np.flatnonzero(valid), path._details
    if isinstance(errors, LinkErrors) and isinstance(nothing.link_errors, LinkErrors):
        links, values, missed = nothing.link_errors
        values[valid], missed[valid] = errors.values, errors.missed
        errors = LinkErrors(links, values, missed)
    if poses is not None and nothing.base_poses is not None:
        nothing.base_poses[valid] = poses
        poses = nothing.base_poses
    breaks, colliding = (index[list(mark)].tolist() for mark in marks)
    after_gaps = index[1:][np.diff(index) > 1].tolist()
    return Details(errors, poses, check, tuple(sorted({*breaks, *after_gaps})), tuple(colliding))
