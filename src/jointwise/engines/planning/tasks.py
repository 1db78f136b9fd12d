"""Tasks of a planner, from a user's targets or joint values, and start."""

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from jointwise.engines.planning.planner import PlanOptions, PlanTask
from jointwise.engines.planning.space import inside_limits, moving_joints, planning_space
from jointwise.engines.tree.pruned import Placed
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.model.kinematic_tree import TreeModel
from jointwise.posture import Posture
from jointwise.problem import Problem
from jointwise.results.plan import Plan, PlanDetails
from jointwise.results.status import PlanStatus
from jointwise.targets import Target, check_mapping


class PlanModel(NamedTuple):
    """The input that all plans of a model share.

    Attributes:
        model: The arm or the robot.
        noun: Its name in errors.
        values: Returns joint values in the order of the joints, from a named argument.
        problem: Returns the problem of one target, from a start.
        edges: The model and its scene, packed for edge checks.
        posture: Which joints may move; None: those on the way to the targets.
        options: How to plan.
        details: Data of the model for its plans.
    """

    model: ArmModel | TreeModel
    noun: str
    values: Callable[[str, Any], Any]
    problem: Callable[[Any, Floats], Problem]
    edges: Floats
    posture: Posture | None
    options: PlanOptions
    details: PlanDetails

    def task(self, target: Any, start: Any, q: Any) -> PlanTask:
        """The checked task: one target, several alternatives, or joint values."""
        first, goals, targets = self._start(start), None, set[Placed]()
        if q is not None and target is not None:
            raise InvalidInputError("Both target and q are given; pass only one.")
        if q is not None:
            goals = self._goals(q, first)
            problems: tuple[Problem, ...] = ()
        else:
            problems = tuple(self.problem(each, first) for each in alternatives(target))
            targets = {
                Placed(link, packed.to, 0)
                for problem in problems
                for link, packed in zip(problem.links, problem.targets, strict=True)
            }
        space = planning_space(self.model, self._moving(first, goals, targets))
        return PlanTask(first, problems, goals, self.edges, space, self.options, self.details)

    def _moving(self, start: Floats, goals: Floats | None, targets: set[Placed]) -> bytes:
        """The bytes of (n,) booleans: which joints may move."""
        names = self.details.joint_names
        if goals is None or (self.posture is None and isinstance(self.model, ArmModel)):
            return moving_joints(self.model, names, targets, None, self.posture)
        changed = (goals != start).any(axis=0)
        moving = moving_joints(self.model, names, targets, changed, self.posture)
        if (held := changed & ~np.frombuffer(moving, np.bool_)).any():
            raise InvalidInputError(
                f"q changes {names[int(held.argmax())]!r}, which is not one of the posture's "
                "active joints: expected its value at the start."
            )
        return moving

    def _start(self, start: Any) -> Floats:
        """(n,) the start, inside the limits."""
        if start is None:
            raise InvalidInputError(
                "start is missing: expected the current joint values, (n,) or a mapping."
            )
        n, names = self.model.n, self.details.joint_names
        values = checks.joint_values("start", self.values("start", start), n, self.noun)
        hint = "The start is the robot's actual configuration, so it is not clamped"
        return inside_limits("start", values, self.model, names, hint)

    def _goals(self, q: Any, start: Floats) -> Floats:
        """(k, n) joint values as goals, inside the limits."""
        names = self.details.joint_names
        if isinstance(q, Mapping):  # the other joints end where they start
            q = dict(zip(names, start.tolist(), strict=True)) | dict(q)
        values = checks.configurations("q", self.values("q", q), self.model.n, self.noun)
        if not values.size:
            raise InvalidInputError("q is empty: expected at least one configuration.")
        hint = "Choose another goal, or widen the limits"
        inside_limits("q", values, self.model, names, hint)
        return values[None] if values.ndim == 1 else values


def alternatives(target: Any) -> list[Any]:
    """The alternative targets: one, or several in a list or an array."""
    if target is None:
        raise InvalidInputError("target is missing: expected a target, or joint values as q=...")
    if isinstance(target, Mapping):
        return _alternative_mappings(target)
    if type(target) is Target:
        return list(target) if target.is_many else [target]
    array = checks.as_array(target)
    is_list = isinstance(array, (list, tuple))
    if is_list and not all(isinstance(each, (list, tuple, Real)) for each in array):
        return list(array)
    try:
        shape = np.shape(array)
    except ValueError:  # of positions and poses
        return list(array)
    if shape[:1] == (0,):
        raise InvalidInputError("target is an empty list: expected at least one target.")
    is_many = len(shape) == 3 or (len(shape) == 2 and shape[1] == 3)
    return list(np.asarray(array)) if is_many else [target]


def _alternative_mappings(targets: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Mappings of links to one target each, from a mapping whose links may have several."""
    check_mapping(targets, "target")
    columns = {link: alternatives(each) for link, each in targets.items() if each is not None}
    counts = {link: len(column) for link, column in columns.items()}
    if len(columns) < len(targets):
        return [targets]
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{link!r} has {count}" for link, count in counts.items())
        raise InvalidInputError(
            f"targets differ in number, {listed}: expected the same number of alternatives for "
            "each link."
        )
    rows = range(next(iter(counts.values())))
    return [{link: column[i] for link, column in columns.items()} for i in rows]


def batch_tasks(model: PlanModel, targets: Any, starts: Any, q: Any) -> list[PlanTask | Plan]:
    """The task of each row; the plan of an invalid one has that status."""
    if q is not None and targets is not None:
        raise InvalidInputError("Both targets and q are given; pass only one.")
    goals = [None] * len(q) if q is not None else alternatives(targets)
    values = list(q) if q is not None else [None] * len(goals)
    first = model.values("starts", starts)
    if np.ndim(first) == 2 and len(first) != len(goals):
        raise InvalidInputError(
            f"starts has {checks.quantity(len(first), 'row')} for "
            f"{checks.quantity(len(goals), 'plan')}: expected one start for all, or one for each."
        )
    each = first if np.ndim(first) == 2 else [first] * len(goals)
    tasks: list[PlanTask | Plan] = []
    for row in zip(goals, each, values, strict=True):
        try:
            tasks.append(model.task(*row))
        except InvalidInputError as error:
            nothing = np.empty((0, model.model.n))
            note = f"{error}"
            tasks.append(
                Plan(nothing, PlanStatus.INVALID, 0, None, model.details._replace(note=note))
            )
    return tasks
