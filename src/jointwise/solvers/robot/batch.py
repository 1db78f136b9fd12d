"""Many sets of targets of a robot, on threads."""

from dataclasses import replace
from typing import Any

from jointwise.backends.progress import reporting
from jointwise.backends.threads import new_progress, run_threads, thread_count
from jointwise.kernels.shapes import CONVERGED, INVALID
from jointwise.model.kinematic_tree import TreeModel
from jointwise.solvers.config import DEFAULT_SOLVE_CONFIG, SolveConfig
from jointwise.solvers.robot.collision import NO_CHECK, RobotCheck
from jointwise.solvers.robot.requests import (
    DEFAULT_OPTIONS,
    Options,
    check_robot_config,
    make_request,
    many_targets_each,
    refuse,
)
from jointwise.solvers.robot.results import RobotBatch, collect
from jointwise.solvers.robot.single import result_arrays, solve_rows

# Sets of targets that a thread takes at a time.
ROWS = 32


def solve_robot_batch(
    model: TreeModel,
    targets: Any,
    start: Any = None,
    base: Any = None,
    options: Options = DEFAULT_OPTIONS,
    config: SolveConfig = DEFAULT_SOLVE_CONFIG,
    seed: int = 0,
    threads: int | None = None,
    progress: bool = False,
    check: RobotCheck | None = None,
) -> RobotBatch:
    """Solve for many sets of targets, each from the same start; see ``solve_robot``.

    Args:
        model: The robot.
        targets: A mapping of link names to m targets each, such as (m, 4, 4); or m mappings.
        start: As for ``solve_robot``.
        base: The same.
        options: The same.
        config: The same.
        seed: The same.
        threads: Number of threads; None for one per core.
        progress: Whether to show a progress bar.
        check: As for ``solve_robot``.
    """
    check_robot_config(config)
    columns = many_targets_each(model, targets)
    request = make_request(model, columns, start, base, options)
    count, workers = len(request.targets), thread_count(threads)
    results = result_arrays(request, count)
    criteria, counts = config.criteria(start is not None, seed), new_progress(workers)
    memories = [request.problem.memory for _ in range(workers)]
    around = check.packed(request, config) if check and count else NO_CHECK

    def work(worker: int, begin: int, end: int) -> None:
        solve_rows(request, criteria, (begin, end), results, memories[worker], around)
        counts[worker, 0] += end - begin
        counts[worker, 1] += int((results[2][begin:end, 0] == CONVERGED).sum())

    with reporting(progress, "solving", count) as report:
        run_threads(work, count, ROWS, counts, report)
    if (results[2][:, 0] == INVALID).any():
        refuse(columns, many=True)
    batch = RobotBatch(*collect(request, config, *results))  # type: ignore[arg-type]
    return replace(batch, check=check)
