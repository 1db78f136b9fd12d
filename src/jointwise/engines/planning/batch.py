"""Many plans at once: one kernel runs the first slice of each on all cores; the rest run singly."""

from collections.abc import Mapping, Sequence

import numpy as np

from jointwise.backends import cpu
from jointwise.backends.progress import silent
from jointwise.backends.threads import new_progress, run_threads, thread_count
from jointwise.engines.planning.goals import FirstGoals
from jointwise.engines.planning.planner import (
    FIRST_SAMPLES,
    PlanTask,
    first_of,
    goals_of,
    make_plan,
    memory_for,
    owners_of,
)
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.planning import MAX_BATCH_WAYPOINTS, PLAN_FOUND, PlanRows
from jointwise.results.plan import Plan
from jointwise.results.status import PlanStatus

# Number of rows that a thread takes at a time: few, so that Ctrl-C takes effect soon.
ROWS = 16


def make_plans(tasks: Sequence[PlanTask | Plan], threads: int | None) -> list[Plan]:
    """The plan of each task, with the same bits as ``make_plan``; all have the same options.

    Args:
        tasks: The tasks, or a plan where the input is invalid.
        threads: Number of threads; None for one per core.
    """
    known = {i: task for i, task in enumerate(tasks) if isinstance(task, PlanTask)}
    plans = {i: task for i, task in enumerate(tasks) if isinstance(task, Plan)}
    found = dict[int, list[FirstGoals]]()
    workers = thread_count(threads)

    def find(worker: int, begin: int, end: int) -> None:
        for i in numbers[begin:end]:
            try:
                found[i] = first_of(known[i])
            except InvalidInputError as error:  # a target with NaN
                plans[i] = known[i].plan(PlanStatus.INVALID, note=f"{error}")

    def finish(worker: int, begin: int, end: int) -> None:
        for i in numbers[begin:end]:
            plans[i] = make_plan(known[i], found[i], lambda: bool(progress[worker, 2]))

    numbers = list(known)
    run_threads(find, len(numbers), ROWS, new_progress(workers), silent)
    numbers = [i for i in numbers if i in found]
    ordinary = [i for i in numbers if _is_ordinary(known[numbers[0]], known[i], found[i])]
    plans |= _first_slices({i: known[i] for i in ordinary}, found, workers)
    numbers, progress = [i for i in numbers if i not in plans], new_progress(workers)
    run_threads(finish, len(numbers), 1, progress, silent)
    return [plans[i] for i in range(len(tasks))]


def _is_ordinary(first: PlanTask, task: PlanTask, found: Sequence[FirstGoals]) -> bool:
    """Whether a task has goals, does not start at one, and moves the same joints as the first."""
    has_goals = any(len(each.q) for each in found)
    return has_goals and task.space is first.space and not any(each.is_reached for each in found)


def _first_slices(
    tasks: Mapping[int, PlanTask], found: Mapping[int, Sequence[FirstGoals]], workers: int
) -> dict[int, Plan]:
    """The plans that the first slice finds, by the numbers of the tasks."""
    if not tasks:
        return {}
    count, first = len(tasks), next(iter(tasks.values()))
    goals = [goals_of(found[i]) for i in tasks]
    rows = PlanRows(
        np.array([task.start for task in tasks.values()]),
        np.concatenate(goals),
        np.concatenate([[0], np.cumsum([len(each) for each in goals])]).astype(np.int64),
        np.empty((count, MAX_BATCH_WAYPOINTS, len(first.start))),
        np.zeros((count, 4), np.int64),
    )
    edges, options = first.edges, first.options.slice(True, FIRST_SAMPLES)

    def work(worker: int, begin: int, end: int) -> None:
        memory = memory_for(edges, first)
        cpu.plan_rows(edges, first.space, rows, options, begin, end, memory)

    run_threads(work, count, ROWS, new_progress(workers), silent)
    plans = {}
    for row, (i, task) in enumerate(tasks.items()):
        code, length, goal, samples = rows.outcomes[row].tolist()
        if code == PLAN_FOUND and length <= MAX_BATCH_WAYPOINTS:
            path, target = rows.paths[row, :length].copy(), owners_of(found[i])[goal]
            plans[i] = task.plan(PlanStatus.PLANNED, path, samples, target)
    return plans
