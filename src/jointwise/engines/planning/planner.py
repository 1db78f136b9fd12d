"""Plans: find goals, grow trees from start and goals in slices, and wrap the path."""

from collections.abc import Callable, Sequence
from functools import partial
from threading import local
from typing import Any, NamedTuple

import numpy as np

from jointwise.backends import cpu
from jointwise.config import SolveConfig, criteria_of
from jointwise.engines.choice import engine_for
from jointwise.engines.planning.free_start import nearest_free_start
from jointwise.engines.planning.goals import FirstGoals, first_goals, more_goals
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.edges import edge_work_size
from jointwise.kernels.layout.planning import (
    COUNT_SAMPLES,
    PLAN_FOUND,
    PLAN_GOALS_COLLIDE,
    PLAN_START_COLLIDES,
    plan_memory,
    plan_path,
)
from jointwise.model import checks
from jointwise.problem import Problem
from jointwise.results.plan import Plan, PlanDetails
from jointwise.results.result import IKResult
from jointwise.results.status import PlanStatus, Status

# Number of samples after which other goals are added to the first ones.
FIRST_SAMPLES = 256
# Number of samples of a slice: Python checks for Ctrl-C between slices.
SLICE = 1000
# Number of rounds of shortcuts and cut corners.
ROUNDS = 3
# Status of a plan if no target has a solution; of several, the first one that applies.
_STATUS = {
    Status.COLLIDES: PlanStatus.GOAL_COLLIDES,
    Status.COLLIDES_ALWAYS: PlanStatus.GOAL_COLLIDES_ALWAYS,
    Status.UNREACHABLE: PlanStatus.UNREACHABLE,
}
_HOPE = {status: k for k, status in enumerate(_STATUS)}


class PlanOptions(NamedTuple):
    """How to plan.

    Attributes:
        max_samples: Largest number of samples.
        shortcuts: Whether to shorten the path.
        config: Tolerances of the target, and the seed.
    """

    max_samples: int
    shortcuts: bool
    config: SolveConfig

    def slice(self, is_first: bool, last_sample: int) -> tuple[bool, bool, int, float, int]:
        """The options of a slice, as the kernel takes them."""
        offset, rounds = criteria_of(self.config, True)[4], ROUNDS if self.shortcuts else 0
        return is_first, not is_first, min(last_sample, self.max_samples), offset, rounds


class PlanTask(NamedTuple):
    """A task of the planner.

    Attributes:
        start: (n,) joint values inside the limits [rad, m].
        problems: One for each of several targets, any of which may be reached; none for joint
            values.
        goals: (k, n) joint values as goals, inside the limits; None for targets.
        edges: The model and its scene, packed for edge checks.
        space: (4, n) limits, weights and strides.
        options: How to plan.
        details: Data of the model for its plans, such as the collision check.
    """

    start: Floats
    problems: tuple[Problem, ...]
    goals: Floats | None
    edges: Floats
    space: Floats
    options: PlanOptions
    details: PlanDetails

    @property
    def starts_free(self) -> bool:
        """Whether the start keeps the margin."""
        return bool(self.details.check.free(self.start[None], self.details.base_pose)[0])

    def plan(
        self,
        status: PlanStatus,
        waypoints: Floats | None = None,
        samples: int = 0,
        target: int | None = None,
        **details: Any,
    ) -> Plan:
        """A plan of this task; without waypoints if none is given."""
        path = np.empty((0, len(self.start))) if waypoints is None else waypoints
        path.setflags(write=False)
        about = self.details._replace(**details) if details else self.details
        return Plan(path, status, samples, target, about)

    def start_collides(self) -> Plan:
        """The plan from a start that collides."""
        check, pose = self.details.check, self.details.base_pose
        find = partial(nearest_free_start, self.start, self.space, check, pose)
        return self.plan(PlanStatus.START_COLLIDES, colliding=self.start, free_start=find)


def make_plan(
    task: PlanTask,
    known: Sequence[FirstGoals] | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Plan:
    """Plan from the start to one of the goals; see ``Chain.plan``.

    Args:
        task: The task.
        known: The first goals of each target, if known.
        is_stopped: Whether to end before the budget is spent.
    """
    found = first_of(task) if known is None else known
    if task.details.check.packed_edges is None and not task.starts_free:
        return task.start_collides()  # edge checks ignore links of a free base
    for i, each in enumerate(found):
        if each.is_reached:
            if not task.starts_free:
                return task.start_collides()
            return task.plan(PlanStatus.ALREADY_THERE, task.start[None].copy(), 0, i)
    goals, owners = goals_of(found), owners_of(found)
    if not len(goals):
        return _without_goal(task, [each.result for each in found])
    return _grown(task, goals, owners, is_stopped)


def first_of(task: PlanTask) -> list[FirstGoals]:
    """The first goals of each target."""
    if task.goals is None:
        return [first_goals(problem) for problem in task.problems]
    start, goals = task.start.tolist(), task.goals
    return [
        FirstGoals(goals[i : i + 1], goal == start, None) for i, goal in enumerate(goals.tolist())
    ]


def goals_of(found: Sequence[FirstGoals]) -> Floats:
    """(k, n) the goals of all targets."""
    return found[0].q if len(found) == 1 else np.concatenate([each.q for each in found])


def owners_of(found: Sequence[FirstGoals]) -> list[int]:
    """The number of the target of each goal."""
    return [i for i, each in enumerate(found) for _ in range(len(each.q))]


def _grown(
    task: PlanTask, goals: Floats, owners: list[int], is_stopped: Callable[[], bool]
) -> Plan:
    """Grow trees until they meet; more goals are added if that takes long."""
    options, edges, more = task.options, task.edges, goals
    memory, last = memory_for(edges, task), FIRST_SAMPLES
    fixed = edges, task.space, task.start
    outcome = cpu.plan(*fixed, goals, options.slice(True, last), memory)
    if outcome[0] == PLAN_START_COLLIDES:
        return task.start_collides()
    if outcome[0] != PLAN_FOUND:
        more, whose = _more_of(task, goals, owners)
        owners = [*owners, *whose]
    while outcome[0] != PLAN_FOUND and (len(more) or last < options.max_samples):
        last += SLICE
        outcome = cpu.plan(*fixed, more, options.slice(False, last), memory)
        more = more[:0]
        if outcome[0] == PLAN_GOALS_COLLIDE or is_stopped():
            break
    code, count, goal = outcome
    if code == PLAN_GOALS_COLLIDE:
        return _without_free_goal(task, goals)
    samples = int(memory[COUNT_SAMPLES])
    if code == PLAN_FOUND:
        path = plan_path(memory, len(task.start), count)
        return task.plan(PlanStatus.PLANNED, path, samples, owners[goal])
    tried = f"{checks.quantity(samples, 'sample')} and {checks.quantity(len(owners), 'goal')}"
    return task.plan(PlanStatus.SAMPLE_LIMIT, None, samples, note=f"Tried: {tried}.")


def _more_of(task: PlanTask, goals: Floats, owners: list[int]) -> tuple[Floats, list[int]]:
    """Other goals of all targets, and the target of each."""
    found = [np.empty((0, len(task.start)))]
    whose: list[int] = []
    mine = np.array(owners)
    if task.goals is not None:  # given joint values are not replaced
        return found[0], whose
    for i, problem in enumerate(task.problems):
        more = more_goals(problem, task.space, goals[mine == i])
        found.append(more)
        whose += [i] * len(more)
    return np.concatenate(found), whose


def _without_goal(task: PlanTask, results: Sequence[IKResult | None]) -> Plan:
    """The plan if no target has a solution; the status is the most hopeful of all."""
    if not task.starts_free:
        return task.start_collides()
    kept = [result for result in results if result is not None]
    first = min(kept, key=lambda each: _HOPE.get(each.status, -1))
    status = _STATUS.get(first.status, PlanStatus.NOT_REACHED)
    if status in (PlanStatus.GOAL_COLLIDES, PlanStatus.GOAL_COLLIDES_ALWAYS):
        return task.plan(status, colliding=first.q)
    several = f"None of {len(kept)} targets has a solution. " if len(kept) > 1 else ""
    missed = first.message.removesuffix(f" {first.status.value}")
    return task.plan(status, note=f"{several}{missed}")


def _without_free_goal(task: PlanTask, goals: Floats) -> Plan:
    """The plan if all goals that were found collide."""
    results = [engine_for(problem).solve(problem) for problem in task.problems]
    if results and not any(result.converged for result in results):
        return _without_goal(task, results)
    return task.plan(PlanStatus.GOAL_COLLIDES, colliding=goals[0])


# The memory of each thread, reused for its next plan.
_KEPT = local()


def memory_for(edges: Floats, task: PlanTask) -> Floats:
    """The memory of this thread for plans of this size."""
    size = len(task.start), task.options.max_samples, edge_work_size(edges)
    if getattr(_KEPT, "size", None) != size:
        _KEPT.size, _KEPT.memory = size, plan_memory(*size)
    memory: Floats = _KEPT.memory
    return memory
