"""Tracking the moving targets of many links, within the limits of the joints."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from jointwise.backends import cpu
from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import REST, Bools, Floats
from jointwise.kernels.tree_shapes import LOWER, UPPER
from jointwise.model import checks
from jointwise.model.kinematic_tree import TreeModel
from jointwise.solvers.motion_limits import MotionLimits, motion_limits
from jointwise.solvers.motion_state import OTHER_BRANCH, MotionState, away_from_limits
from jointwise.solvers.robot.path import joint_velocities
from jointwise.solvers.robot.problem import active_variables
from jointwise.solvers.robot.requests import (
    Options,
    RobotRequest,
    into_frame,
    joint_values,
    make_request,
    many_targets_each,
    one_target_each,
    pack_values,
)
from jointwise.solvers.robot.single import solve_robot
from jointwise.solvers.robot.track_results import RobotTrackResult, RobotTrackRun
from jointwise.solvers.targets import Target, TargetKind, Targets

# The kind and the packed values (m, ...) of each link's targets.
Columns = Mapping[str, tuple[TargetKind, Floats]]


def track_robot(
    model: TreeModel,
    start: Any,
    limits: tuple[Any, Any, Any, Any],
    base: Any,
    options: Options,
) -> "RobotTracker":
    """A tracker at rest; see ``Robot.track``.

    Args:
        model: The robot.
        start: Where the joints are.
        limits: Time of a step; limits of velocity, acceleration and jerk.
        base: Pose of the root link, which does not move.
        options: Weights and offsets of targets, rest values, joints that may move.
    """
    first = joint_values("start", start, model)
    dt, velocity, acceleration, jerk = limits
    velocity = joint_velocities(model, velocity)
    motion = motion_limits(model.limits, dt, velocity, acceleration, jerk, "a robot")
    for name in ("weights", "offsets"):
        for link in getattr(options, name) or ():
            checks.known_name("link", link, model.links, model.name)
    moves_base = active_variables(model, options.active)[1]
    if moves_base and options.active is not None:
        raise InvalidInputError(
            f"active has {model.root!r}, the free base, whose motion has no limits: a tracker "
            "holds it at the pose base. Name joints only."
        )
    rest = away_from_limits(motion, first)
    if options.rest is not None:
        rest = joint_values("rest", options.rest, model)
    T_world_base = None if base is None else checks.frame("base", base)
    active = model.joint_names if options.active is None else tuple(options.active)
    kept = deepcopy(options._replace(rest=None, active=active))
    return RobotTracker(model, first, motion, rest, T_world_base, kept)


class _Plan(NamedTuple):
    """What is the same in all steps with targets for the same links, of the same kinds."""

    request: RobotRequest
    held: Bools
    times: tuple[float, int, float]
    memory: Floats


class RobotTracker(MotionState):
    """Moves a robot after the targets of its links, a step at a time. Made by ``Robot.track``.

    Every step keeps the limits of position, velocity, acceleration and jerk, whatever the targets
    are. Links that have targets may change from step to step; joints that move none hold still.
    The base does not move. The same targets give the same bits, by ``step`` or by ``run``, and in
    any order of the links.

    Example:
        >>> from jointwise import Robot
        >>> robot = Robot.load("panda")
        >>> tracker = robot.track(robot.home, 0.001, max_velocity=2.0, max_acceleration=10.0)
        >>> result = tracker.step({"tip": [0.4, 0.2, 0.5]})
        >>> result.status.name, list(result.errors)
        ('SLOWED', ['tip'])
    """

    __slots__ = ("_base", "_model", "_options", "_order", "_plans")

    def __init__(
        self,
        model: TreeModel,
        start: Floats,
        motion: MotionLimits,
        rest: Floats,
        base: Floats | None,
        options: Options,
    ) -> None:
        """A tracker at rest; arguments are checked by ``track_robot``."""
        tree, numbers = model.tree, np.eye(4) if base is None else base
        arrays = tree.placements, tree.ratios, tree.offsets, numbers
        named = repr((options.active, options.weights, options.offsets)).encode()
        super().__init__(start, motion, rest, b"".join(map(np.ndarray.tobytes, arrays)) + named)
        self._model, self._base, self._options = model, base, options
        self._order = {link: number for number, link in enumerate(model.links)}
        self._plans: dict[tuple[tuple[str, str], ...], _Plan] = {}

    def copy(self) -> "RobotTracker":
        """A tracker in the same state, which moves on its own.

        Example:
            >>> from jointwise import Robot
            >>> robot = Robot.load("panda")
            >>> tracker = robot.track(robot.home, 0.001, max_velocity=2.0, max_acceleration=10.0)
            >>> ahead = tracker.copy().run({"tip": [[0.4, 0.2, 0.5]] * 10})  # it has not moved
        """
        start, rest = self._moving.output, self._limits[:, REST]
        twin = RobotTracker(self._model, start, self._motion, rest, self._base, self._options)
        twin._state[:] = self._state
        return twin

    def step(self, targets: Mapping[str, Target]) -> RobotTrackResult:
        """Move the joints by one step towards the targets.

        Args:
            targets: A target for each of some links, as for ``Robot.solve``. Numbers that are no
                target, such as NaN, do not raise: the robot goes on to the last valid targets.

        Raises:
            InvalidInputError: A link is unknown, or no joint moves it; or a target has a wrong
                shape or type.

        Example:
            >>> from jointwise import Robot
            >>> robot = Robot.load("panda")
            >>> tracker = robot.track(robot.home, 0.001, max_velocity=2.0, max_acceleration=10.0)
            >>> tracker.step({"tip": [0.4, 0.2, 0.5], "link4": [0.0, 0.1, 0.6]}).status.name
            'SLOWED'
        """
        return self._run(one_target_each(self._model, targets))[0]

    def run(self, targets: Mapping[str, Targets] | Sequence[Mapping[str, Target]]) -> RobotTrackRun:
        """Move the joints by one step for each of many sets, as ``step`` does, in one call.

        Args:
            targets: m targets for each of some links, such as (m, 4, 4), by their names; or m
                mappings of the same links.

        Example:
            >>> from jointwise import Robot
            >>> robot = Robot.load("panda")
            >>> tracker = robot.track(robot.home, 0.001, max_velocity=2.0, max_acceleration=10.0)
            >>> run = tracker.run([{"tip": [0.4, 0.2, 0.5]}, {"tip": [0.4, 0.2, 0.51]}])
            >>> run.links, len(run)
            (('tip',), 2)
        """
        return self._run(many_targets_each(self._model, targets))

    def switch(self, targets: Mapping[str, Target]) -> bool:
        """Have the next steps move the robot to another branch that reaches all targets.

        A solution near the present one is searched, with restarts, which takes milliseconds. The
        joints move there on a straight line in joint space, within their limits.

        Args:
            targets: As for ``step``.

        Returns:
            Whether there is one; if not, nothing changes.

        Example:
            >>> from jointwise import Robot
            >>> robot = Robot.load("panda")
            >>> tracker = robot.track(robot.home, 0.001, max_velocity=2.0, max_acceleration=10.0)
            >>> tracker.switch({"tip": [0.4, 0.2, 0.5]})
            True
        """
        reference = self._moving.reference
        options = self._chosen(targets)
        result = solve_robot(self._model, targets, reference.copy(), self._base, options)
        change = np.abs(result.joint_angles - reference).max()
        if not (result.converged and change > OTHER_BRANCH):
            return False
        reference[:] = result.joint_angles
        return True

    def _chosen(self, links: Mapping[str, Any]) -> Options:
        """The options that concern some links."""
        weights, offsets = self._options.weights or {}, self._options.offsets or {}
        return self._options._replace(
            weights={link: weight for link, weight in weights.items() if link in links},
            offsets={link: point for link, point in offsets.items() if link in links},
        )

    def _plan(self, columns: Columns) -> _Plan:
        """The plan for these links and kinds of targets; kept for the next step."""
        key = tuple((link, kind.name) for link, (kind, _) in columns.items())
        plan = self._plans.get(key)
        if plan is None:
            reference = self._moving.reference.copy()
            request = make_request(
                self._model, columns, reference, self._base, self._chosen(columns)
            )
            problem = request.problem
            held, _ = active_variables(self._model, self._options.active)
            held = np.zeros(len(reference), bool) if held is None else held
            times = self._motion.dt, self._motion.window, problem.angular_scale
            plan = self._plans[key] = _Plan(request, held[problem.variables], times, problem.memory)
            # Also joints that can turn fully keep their limits: full turns count in a motion.
            request.settings[LOWER : UPPER + 1] = self._motion.position_limits[:, problem.variables]
        if plan.held.any():  # where they are: a state may have been assigned
            at = plan.request.problem.variables[plan.held]
            plan.request.settings[LOWER : UPPER + 1, plan.held] = self._moving.reference[at]
        return plan

    def _run(self, unordered: Columns) -> RobotTrackRun:
        columns = {link: unordered[link] for link in sorted(unordered, key=self._order.__getitem__)}
        plan, count = self._plan(columns), len(next(iter(columns.values()))[1])
        problem, n = plan.request.problem, self._model.n
        targets = plan.request.targets[:1].repeat(count, axis=0)
        for i, (link, (kind, values)) in enumerate(columns.items()):
            pack_values(kind, values, self._model.links[link].transform, targets[:, i])
        if self._base is not None:
            into_frame(targets, self._base)
        results, errors = np.empty((count, 2 * n)), np.empty((count, len(columns), 2))
        codes = np.empty(count, np.uint8)
        cpu.track_tree_rows(
            problem.ints,
            problem.floats,
            targets,
            plan.request.settings,
            problem.variables,
            self._limits,
            plan.times,
            self._state,
            plan.memory,
            results,
            errors,
            codes,
        )
        for array in (results, errors, codes):
            array.setflags(write=False)
        parts = results[:, :n], results[:, n:], errors[..., 0], errors[..., 1]
        return RobotTrackRun(problem.links, *parts, codes)
