"""The tree engine: several targets at once, a free base, joints that move together."""

from collections.abc import Sequence
from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from jointwise.backends.device_arrays import is_on_gpu
from jointwise.backends.progress import reporting
from jointwise.backends.threads import new_progress, run_threads, thread_count
from jointwise.config import SolveConfig, criteria_of
from jointwise.engines.edges.check import colliding_edges
from jointwise.engines.path_limits import PathLimits
from jointwise.engines.run_options import RunOptions, require_search
from jointwise.engines.tree.contacts import with_contacts
from jointwise.engines.tree.follow import breaks_of, follow
from jointwise.engines.tree.gpu import (
    COLLISIONS,
    check_precision,
    runs_on_gpu,
    solve_batch,
    too_large,
)
from jointwise.engines.tree.request import (
    Request,
    check_numbers,
    check_tree_config,
    largest_error,
    make_request,
    start_rows,
)
from jointwise.engines.tree.solve import NO_CHECK, result_arrays, solve_rows, some_rows
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.status import COLLIDES, CONVERGED, INVALID
from jointwise.kernels.layout.task import Results
from jointwise.kernels.layout.tree import TARGET_POSITION_WEIGHT, TreeResults
from jointwise.model import checks
from jointwise.model.kinematic_tree import TreeModel
from jointwise.model.tree_path import arm_as_tree
from jointwise.model.tree_poses import inverse, square
from jointwise.path_options import PathOptions
from jointwise.problem import Problem
from jointwise.results.batch import ARRAYS, Details, IKBatch, read_only
from jointwise.results.path import IKPath
from jointwise.results.result import IKResult, LinkErrors
from jointwise.results.status import STATUS_BY_CODE

if TYPE_CHECKING:
    from jointwise.engines.tracking.motion import Moving, Stepper
    from jointwise.engines.tree.check import TreeCollisionCheck

# With ``device="auto"``, fewer sets of targets than these are solved on the CPU.
MIN_GPU_ROWS = 100_000
# Number of sets of targets that a thread takes at a time.
ROWS = 32


class TreeEngine:
    """Solves problems of whole robots."""

    def solve(self, problem: Problem) -> IKResult:
        """Joint values for one set of targets."""
        problem, config = of_robot(problem), problem.config
        check_tree_config(config)
        request, check = make_request(problem, many=False), _check_of(problem)
        results = result_arrays(request)
        around = NO_CHECK if check is None else check.packed(request, config)
        criteria = criteria_of(config, problem.start is not None)
        solve_rows(request, criteria, (0, 1), results, request.tree.memory, around)
        if results[2][0, 0] == INVALID:
            check_numbers(problem.links, problem.targets)
            checks.all_finite("start", checks.floats("start", problem.start))
        return _one_result(request, config, results, check)

    def solve_batch(self, problem: Problem, options: RunOptions) -> IKBatch:
        """Joint values for each of many sets of targets."""
        problem = of_robot(problem)
        if any(is_on_gpu(each.values) for each in problem.targets):
            raise InvalidInputError(
                "targets is on the GPU, which is for one target of a serial arm: expected NumPy "
                "arrays for a robot, with device='cuda' to solve them on a GPU."
            )
        check_precision(options.dtype, problem.config)
        require_search(problem.config, "targets of whole robots are")
        check_tree_config(problem.config)
        request = make_request(problem, True, options.threads)
        reason = "a posture with a weight is applied" if request.has_preference else ""
        reason = reason if problem.collision is None else COLLISIONS
        reason = reason or too_large(request)
        if options.device == "auto" and len(request.targets) < MIN_GPU_ROWS:
            reason = "few rows are solved"
        if runs_on_gpu(options.device, reason):
            config, results = problem.config, result_arrays(request)
            criteria = criteria_of(config, problem.start is not None)
            with reporting(options.progress, "solving", len(request.targets)) as report:
                solve_batch(request, criteria, results, report)
            return IKBatch(*_collected(request, config, results, None, along_path=False))
        return self._solve_rows(problem, request, options)

    def _solve_rows(self, problem: Problem, request: Request, options: RunOptions) -> IKBatch:
        config, check = problem.config, _check_of(problem)
        count, workers = len(request.targets), thread_count(options.threads)
        results, counts = result_arrays(request), new_progress(workers)
        criteria = criteria_of(config, problem.start is not None)
        memories = [request.tree.memory for _ in range(workers)]
        singly = len(request.starts) > 1 and (check is not None or request.held is not None)
        around = NO_CHECK if check is None or singly or not count else check.packed(request, config)

        def work(worker: int, begin: int, end: int) -> None:
            if singly:
                for i in range(begin, end):
                    row, part = request.row(i), some_rows(results, slice(i, i + 1))
                    checked = NO_CHECK if check is None else check.packed(row, config)
                    solve_rows(row, criteria, (0, 1), part, memories[worker], checked)
            else:
                solve_rows(request, criteria, (begin, end), results, memories[worker], around)
            counts[worker, 0] += end - begin
            counts[worker, 1] += int((results[2][begin:end, 0] == CONVERGED).sum())

        with reporting(options.progress, "solving", count) as report:
            run_threads(work, count, ROWS, counts, report)
        return IKBatch(*_collected(request, config, results, check, along_path=False))

    def follow(self, problem: Problem, limits: PathLimits, options: PathOptions) -> IKPath:
        """Joint values along a path."""
        problem = _of_path(problem)
        check = _check_of(problem)
        path = self._followed(problem, limits, options, check)
        if options.contacts and np.isfinite(path.q).all():
            path = self._in_contact(problem, limits, options, check, path)
        path = _with_breaks(problem, limits, path)
        if check is None:
            return path
        free = check.free(path.q, path.base_poses)
        status = np.where(path.converged & ~free, COLLIDES, path.status).astype(np.uint8)
        converged = path.converged & free
        for array in (status, converged):
            array.setflags(write=False)
        colliding = colliding_edges(check, path.q, path.base_poses)
        details = path._details._replace(colliding=colliding)
        return replace(path, status=status, converged=converged, _details=details)

    def follow_on_gpu(self, paths: Sequence[tuple[Problem, PathLimits]]) -> list[IKPath | None]:
        """Joint values along many paths, without contacts and collisions.

        None for paths of a robot that is too large for a GPU.
        """
        from jointwise.engines.tree.clips import Clips, alike, follow_clips, joined

        groups: dict[object, list[int]] = {}
        for i, (problem, limits) in enumerate(paths):
            groups.setdefault(alike(problem, limits), []).append(i)
        found: list[IKPath | None] = [None] * len(paths)
        for members in groups.values():
            every, rows = joined([paths[i][0] for i in members])
            problem, each_limits = _of_path(every), [paths[i][1] for i in members]
            request, posture = make_request(problem, True, None), problem.posture
            if too_large(request):
                continue
            smoothness = 0.0 if posture is None else posture.smoothness
            has_start, config = problem.start is not None, problem.config
            clips = Clips(request, rows, each_limits, config, smoothness, has_start)
            results = follow_clips(clips)
            whole = IKPath(*_collected(request, config, results, None, along_path=True))
            for i, own, of_path in zip(members, rows, each_limits, strict=True):
                found[i] = _with_breaks(problem, of_path, _part(whole, own))
        return found

    def _followed(
        self,
        problem: Problem,
        limits: PathLimits,
        options: PathOptions,
        check: "TreeCollisionCheck | None",
        counts: Floats | None = None,
        begin: tuple[Floats, Floats] | None = None,
    ) -> IKPath:
        """Joint values along a path.

        Args:
            problem: The targets; those of contacts are the last.
            limits: Velocity limits.
            options: Whether to show progress.
            check: The collision check.
            counts: (m, c) factors of the weights of the targets of contacts; None without contacts.
            begin: Joint values and pose of the base near which the path begins.
        """
        request, config = make_request(problem, True), problem.config
        links = len(problem.links) if counts is None else len(problem.links) - counts.shape[1]
        if counts is not None:
            request.targets[:, links : len(problem.links), TARGET_POSITION_WEIGHT] *= counts
        first = None
        if begin is not None:
            moved = inverse(request.base) @ begin[1]
            first = np.append(begin[0][request.tree.variables], moved[:3])
        smoothness = 0.0 if problem.posture is None else problem.posture.smoothness
        has_start = problem.start is not None
        with reporting(options.progress, "following", len(request.targets)) as report:
            results = follow(request, config, limits, smoothness, has_start, check, first)
            report(len(request.targets), int((results.outcomes[:, 0] == CONVERGED).sum()))
        reported = request._replace(
            tree=replace(request.tree, links=request.tree.links[:links]),
            weighted=request.weighted[:links],
        )
        return IKPath(*_collected(reported, config, results, check, along_path=True))

    def _in_contact(
        self,
        problem: Problem,
        limits: PathLimits,
        options: PathOptions,
        check: "TreeCollisionCheck | None",
        path: IKPath,
    ) -> IKPath:
        """The path, solved again with the places of its contacts, which are close to it."""
        assert options.contacts is not None
        held, counts = with_contacts(problem, options.contacts, path.q, path.base_poses)
        from_start = problem.start is not None and limits.is_timed
        begin = None if from_start else (path.q[0], path.base_poses[0])
        return self._followed(held, limits, options, check, counts, begin)

    def stepper(self, problem: Problem, moving: "Moving") -> "Stepper":
        """A stepper that moves the joints of a tracker towards targets of these links and kinds."""
        from jointwise.engines.tree.stepper import TreeStepper

        by_link = isinstance(problem.model, TreeModel)
        return TreeStepper(of_robot(problem), moving, by_link, self.solve)


def _of_path(problem: Problem) -> Problem:
    """The problem of a robot along a path, checked."""
    problem = of_robot(problem)
    check_tree_config(problem.config)
    if problem.start is not None:
        checks.joint_values("start", problem.start, problem.model.n, "a robot")
    return problem


def _with_breaks(problem: Problem, limits: PathLimits, path: IKPath) -> IKPath:
    """The path with its breaks."""
    start, before = problem.start, path.q[:1]
    if start is not None:
        before = start_rows(problem.model, start, None, 1)
    breaks = breaks_of(np.concatenate([before, path.q]), limits.max_step)
    return replace(path, _details=path._details._replace(breaks=breaks))


def _part(path: IKPath, rows: slice) -> IKPath:
    """Some rows of what was followed together."""
    details, errors = path._details, path._details.link_errors
    assert isinstance(errors, LinkErrors)
    own = LinkErrors(errors.links, errors.values[rows], errors.missed[rows])
    poses = None if details.base_poses is None else details.base_poses[rows]
    details = details._replace(link_errors=own, base_poses=poses)
    arrays = Results(*(getattr(path, name)[rows] for name in ARRAYS))
    return IKPath(*arrays, details)


def of_robot(problem: Problem) -> Problem:
    """The problem of a robot; a serial arm becomes one without branches."""
    model, names, links, *_ = problem
    if type(model) is TreeModel:
        return problem
    return problem._replace(model=arm_as_tree(model, names, links[0]))


def _check_of(problem: Problem) -> "TreeCollisionCheck | None":
    if problem.collision is None:
        return None
    from jointwise.engines.tree.check import tree_check

    assert isinstance(problem.model, TreeModel)
    return tree_check(problem.model, problem.collision, problem.base_pose)


def _one_result(
    request: Request, config: SolveConfig, results: TreeResults, check: "TreeCollisionCheck | None"
) -> IKResult:
    """The result of one set of targets; the same as the first row of ``_collected``, but faster."""
    ((state,), (errors,), (outcome,)), tree, q = results, request.tree, request.starts[0]
    v, base_pose = len(tree.variables), request.base
    q[tree.variables] = tree.unwrap(state[:v], request.turns_near[0])
    q.setflags(write=False)
    if tree.moves_base:
        base_pose = base_pose @ square(state[v:].reshape(3, 4))
        base_pose.setflags(write=False)
    rows, (near, aligned) = errors[: len(tree.links)].tolist(), config.tolerances
    for row, counts in zip(rows, request.weighted, strict=True):
        if not (counts[0] and counts[1]):
            row[:] = [error if known else nan for error, known in zip(row, counts, strict=True)]
    missed = [distance >= near or angle >= aligned for distance, angle in rows]
    position_error, orientation_error = map(largest_error, zip(*rows, strict=True))
    code, iterations, restarts = outcome.tolist()
    found = q, code == CONVERGED, position_error, iterations, STATUS_BY_CODE[code]
    link_errors = LinkErrors(tree.links, rows, missed)
    return tuple.__new__(
        IKResult, (*found, orientation_error, restarts, base_pose, link_errors, check)
    )


def _collected(
    request: Request,
    config: SolveConfig,
    results: TreeResults,
    check: "TreeCollisionCheck | None",
    along_path: bool,
) -> tuple[Any, ...]:
    """The fields of an ``IKBatch``, from the output of a kernel.

    Args:
        request: The request.
        config: The tolerances.
        results: States, errors and outcomes.
        check: The collision check.
        along_path: Whether full turns are chosen near the start of the first row only, so that
            neighbours stay neighbours.
    """
    (states, errors, outcomes), tree = results, request.tree
    errors = errors[:, : len(tree.links)]
    q, base_poses = request.unpacked(states)
    if not along_path:
        q[:, tree.variables] = tree.unwrap(q[:, tree.variables], request.turns_near)
    invalid = outcomes[:, 0] == INVALID
    q[invalid] = np.nan
    weighted = np.array(request.weighted)
    missed = (~(errors < config.tolerances) & weighted).any(axis=2)
    by_link = np.where(weighted & ~invalid[:, None, None], errors, np.nan)
    for array in (by_link, missed, base_poses):
        array.setflags(write=False)
    arrays = Results(
        q,
        outcomes[:, 0] == CONVERGED,
        _largest(by_link[..., 0]),
        _largest(by_link[..., 1]),
        outcomes[:, 1].copy(),
        outcomes[:, 2].copy(),
        outcomes[:, 0].astype(np.uint8),
    )
    details = Details(LinkErrors(tree.links, by_link, missed), base_poses, check)
    return *read_only(arrays), details


def _largest(errors: Floats) -> Floats:
    """(m,) the largest of the errors (m, k) that are not NaN; NaN if all are."""
    found: Floats = np.fmax.reduce(errors, axis=1, initial=np.nan)
    return found


TREE = TreeEngine()
