"""Goal sets: joint values that reach a target; the first ones at once, others when needed."""

from typing import NamedTuple

import numpy as np

from jointwise.engines.choice import engine_for
from jointwise.engines.closed_form.solutions import all_solutions
from jointwise.engines.run_options import RunOptions
from jointwise.engines.serial.engine import SERIAL, arm_at_point
from jointwise.engines.serial.link_arm import LinkArm
from jointwise.kernels.layout.arrays import UNLIMITED, Floats, Ints
from jointwise.kernels.layout.planning import SPACE_LOWER, SPACE_STRIDE, SPACE_UPPER
from jointwise.model.arm import ArmModel
from jointwise.model.joint_values import full_turns
from jointwise.problem import Problem
from jointwise.results.result import IKResult
from jointwise.targets import POSE

# Largest number of goals of a target that are added to the first ones.
MORE_GOALS = 64
# Number of starts of the search for other solutions, if there is no closed form.
SEARCHES = 16
# Goals that differ by less than this in every joint are equal [rad, m].
SAME = 1e-3


class FirstGoals(NamedTuple):
    """The first goals of a target.

    Attributes:
        q: (k, n) joint values that reach it; they may collide if ``result`` is None.
        is_reached: Whether the start already reaches it.
        result: The result of ``solve``; None if the goals are all solutions in closed form.
    """

    q: Floats
    is_reached: bool
    result: IKResult | None


class SerialPath(NamedTuple):
    """The serial arm of a problem.

    Attributes:
        arm: The arm, with its end effector at the point of the target.
        variables: (k,) its joints among those of the model; None if they are all.
    """

    arm: ArmModel
    variables: Ints | None


def serial_path(problem: Problem) -> SerialPath | None:
    """The serial arm of a problem that has one pose as its target; None if it has none.

    The solutions in closed form then do not depend on the posture or the search method.
    """
    if problem.posture is not None or problem.config.method != "combined":
        return None
    engine, target = engine_for(problem), problem.targets[0]
    if target.kind is not POSE or problem.config.stiffness:
        return None
    if engine is SERIAL:
        return SerialPath(arm_at_point(problem.model, target), None)
    if isinstance(engine, LinkArm):
        variables = None if engine.is_whole else engine.variables
        return SerialPath(arm_at_point(engine.arm, target), variables)
    return None


def first_goals(problem: Problem, result: IKResult | None = None) -> FirstGoals:
    """All solutions in closed form of six joints, else the solution near the start.

    Args:
        problem: Its start is (n,) joint values inside the limits.
        result: The result of ``solve``, if known.
    """
    path, start = serial_path(problem), problem.start
    form = None if path is None else path.arm.closed_form
    if path is not None and form is not None and form.decides:
        own = start if path.variables is None else np.ascontiguousarray(start[path.variables])
        found = all_solutions(path.arm, problem.targets[0], None, own, problem.config)
        if found._evaluate(own).converged:
            return FirstGoals(start[None], True, None)
        if len(found):
            return FirstGoals(_lifted(path, start, found.q), False, None)
    if result is None:
        result = engine_for(problem).solve(problem)
    is_reached = result.converged and bool((result.q == start).all())
    return FirstGoals(np.array(result.q[None][: result.converged]), is_reached, result)


def more_goals(problem: Problem, space: Floats, known: Floats) -> Floats:
    """Other joint values that reach a target, at most 64.

    Args:
        problem: As for ``first_goals``.
        space: (4, n) limits, weights and strides.
        known: (k, n) the first goals.
    """
    path, start = serial_path(problem), problem.start
    form = None if path is None else path.arm.closed_form
    if path is not None and form is not None and form.redundant:
        own = start if path.variables is None else np.ascontiguousarray(start[path.variables])
        options = MORE_GOALS, own, problem.config
        found = _lifted(path, start, all_solutions(path.arm, problem.targets[0], *options).q)
    elif path is None or form is None:
        found = _searched(problem, space)
    else:
        found = np.empty((0, len(start)))
    turned = other_turns(np.concatenate([known, found]), space, full_turns(problem.model), start)
    found = np.concatenate([found, turned])
    apart = np.abs(found[:, None] - known[None]).max(axis=2, initial=0.0)
    others: Floats = found[(apart > SAME).all(axis=1)][:MORE_GOALS]
    return others


def _lifted(path: SerialPath, start: Floats, q: Floats) -> Floats:
    """Joint values of the whole model from those of the path; the others stay."""
    if path.variables is None:
        return np.array(q)
    whole = np.tile(start, (len(q), 1))
    whole[:, path.variables] = q
    return whole


def _searched(problem: Problem, space: Floats) -> Floats:
    """Solutions from other starts, spread over the joint ranges."""
    start, (lower, upper) = problem.start, (space[SPACE_LOWER], space[SPACE_UPPER])
    unlimited = (lower <= -UNLIMITED) | (upper >= UNLIMITED)
    low = np.where(unlimited, np.maximum(lower, start - np.pi), lower)
    high = np.where(unlimited, np.minimum(upper, start + np.pi), upper)
    shares = (0.5 + np.arange(1, SEARCHES + 1)[:, None] * space[SPACE_STRIDE]) % 1.0
    starts = np.where(space[SPACE_STRIDE] > 0.0, low + shares * (high - low), start)
    targets = tuple(
        each._replace(values=np.tile(each.values, (SEARCHES, 1, 1))) for each in problem.targets
    )
    many = problem._replace(targets=targets, start=starts)
    found = engine_for(many).solve_batch(many, RunOptions(threads=1))
    return np.array(found.q[found.converged])


def other_turns(q: Floats, space: Floats, turns: Floats, start: Floats) -> Floats:
    """Goals (k, n) with one joint moved by full turns inside the limits; the nearest first.

    Args:
        q: (k, n) goals.
        space: (4, n) limits, weights and strides.
        turns: (n,) full turns of the joints [rad]; 0 for a joint that has none.
        start: (n,) joint values [rad, m].
    """
    moves = (space[SPACE_STRIDE] > 0.0) & (turns > 0.0)
    change = np.diag(turns)[moves]
    turned = (q[:, None] + np.concatenate([change, -change])).reshape(-1, len(start))
    inside = ((space[SPACE_LOWER] <= turned) & (turned <= space[SPACE_UPPER])).all(axis=1)
    turned = turned[inside]
    nearest: Floats = turned[np.argsort(np.abs(turned - start).max(axis=1), kind="stable")]
    return nearest
