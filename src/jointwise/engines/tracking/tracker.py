"""Tracker: follows moving targets step by step, within limits of the motion."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from jointwise.engines.choice import engine_for
from jointwise.engines.tracking.motion import MotionLimits, Moving, Stepper, moving_joints
from jointwise.engines.tracking.standing import Standing, bits
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.motion import MOTION_PREFERRED
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.model.kinematic_tree import TreeModel
from jointwise.posture import POSTURE_WEIGHT, Posture
from jointwise.problem import Problem
from jointwise.results.result import IDENTITY
from jointwise.results.status import STOPPED, TrackStatus
from jointwise.results.tracking import TrackResult, TrackRun, joined
from jointwise.targets import PackedTarget

if TYPE_CHECKING:
    from jointwise.engines.tracking.guard import Guard
    from jointwise.scene.scene import Scene

# Without preferred values, self-motion keeps joints away from their limits by this share of the
# range.
INNER_MARGIN = 0.15
INVALID = TrackStatus.INVALID
# Number of steps of a run in one call of a kernel.
ROWS = 2048
# The links that have targets, and the targets of each.
Targets = tuple[tuple[str, ...], tuple[PackedTarget, ...]]


class Tracker:
    """Moves joints to follow targets, step by step. ``Chain.track`` and ``Robot.track`` create it.

    Every step keeps the limits of position, velocity, acceleration and jerk, whatever the target
    is. Later steps can keep them, too, because the joints can always brake in time. The same
    targets give the same results, bit for bit, with ``step`` or ``run``.

    The target of an arm is one value. The targets of a robot are a mapping of link names. The links
    may change from step to step; joints that move none of them hold still, and the base does not
    move. As for ``solve``, the links and kinds of the targets determine the engine.

    Example:
        >>> from jointwise import Chain
        >>> arm = Chain.load("ur5e")
        >>> start = [0.0, -1.2, 1.8, -0.6, 1.5, 0.0]
        >>> tracker = arm.track(start, dt=0.001, max_velocity=3.0, max_acceleration=20.0)
        >>> target = arm.fk(start)
        >>> target[2, 3] += 0.001
        >>> result = tracker.step(target)
        >>> result.status.name, result.q.shape
        ('APPROACHING', (6,))
    """

    __slots__ = (
        "_guard",
        "_key",
        "_last",
        "_moving",
        "_packed",
        "_problem",
        "_standing",
        "_steppers",
    )

    def __init__(
        self,
        problem: Problem,
        packed: Callable[[Any, bool], Targets],
        start: Floats,
        motion: MotionLimits,
        preferred: Floats,
        switches: bool,
    ) -> None:
        """Create a tracker at rest.

        Args:
            problem: The model, the joints that may move, and the collision model. It has no
                targets.
            packed: Packs targets, one set or many.
            start: (n,) the current joint values [rad, m].
            motion: Limits and the time of a step.
            preferred: (n,) joint values that self-motion approaches [rad, m].
            switches: Whether joints that have stopped move to another branch automatically.
        """
        limits = np.column_stack([motion.per_step, preferred])
        self._problem, self._packed = problem, packed
        self._steppers: dict[tuple[object, ...], Stepper] = {}
        # The last valid targets, and their numbers as bytes, because the caller may change them.
        self._last: tuple[tuple[str, ...], tuple[PackedTarget, ...], tuple[bytes, ...]] | None
        self._last = None
        self._moving, self._standing = moving_joints(motion, limits), Standing(motion.dt, switches)
        views = self._moving.views
        views.output[:] = views.command[:] = views.recent[:] = start
        views.reference[:] = np.clip(start, *motion.position_limits)
        views.followed[:] = views.second[:] = views.reference
        self._moving.state[-1] = crc32(_description(problem) + limits.tobytes())
        self._guard = None if problem.collision is None else _guard_of(problem, self._moving)

    @property
    def dt(self) -> float:
        """Time of a step [s]."""
        return self._moving.motion.dt

    @property
    def scene(self) -> Scene | None:
        """The obstacles; None if the model has no scene. Assign it to replace them between steps.

        The joints brake if a new obstacle is in the way. Pairs of ``allow`` that name obstacles
        only of the old scene are dropped.

        Raises:
            InvalidInputError: The assigned value is not a ``Scene``, or the model has no scene.

        Example:
            >>> from jointwise import Chain, Scene
            >>> arm = Chain.load("panda").with_scene(Scene().box([0.2, 0.2, 0.4], [0.6, 0.0, 0.2]))
            >>> tracker = arm.track(arm.home, 0.001, max_velocity=2.0, max_acceleration=10.0)
            >>> tracker.scene = Scene()  # the box has been taken away
            >>> len(tracker.scene)
            0
        """
        return None if self._guard is None else self._guard.collision.scene

    @scene.setter
    def scene(self, scene: Scene) -> None:
        if self._guard is None:
            raise InvalidInputError(
                "the tracked model has no scene to replace: call with_scene() before track."
            )
        collision = self._guard.collision.with_obstacles(scene)
        self._guard.replace(collision)
        self._problem = self._problem._replace(collision=collision)
        self._standing.forget()

    @property
    def state(self) -> Floats:
        """The state that determines the next steps, a read-only array. Assign it to restore it.

        Raises:
            InvalidInputError: The assigned state is not from a tracker with this model and limits.
        """
        state = self._moving.state.copy()
        state.setflags(write=False)
        return state

    @state.setter
    def state(self, state: ArrayLike) -> None:
        saved, own = checks.floats("state", state), self._moving.state
        if saved.shape != own.shape or saved[-1] != own[-1]:
            raise InvalidInputError(
                f"state has shape {saved.shape} and is not from this tracker: expected the state "
                "of a tracker with the same model and limits."
            )
        if not np.isfinite(saved).all() or saved[0] not in range(self._moving.motion.window):
            raise InvalidInputError("state is damaged: expected an array that state has returned.")
        own[:] = saved
        self._standing.forget()

    def step(self, target: Any) -> TrackResult:
        """Move the joints by one step towards a target.

        Args:
            target: A target of any kind that ``solve`` takes; for a robot, a mapping of link names
                to targets. ``step`` never raises because of its numbers, even if the target cannot
                be followed. If it is invalid, such as NaN, the joints continue to the last valid
                one.

        Raises:
            InvalidInputError: The target has a wrong shape or type, or a link is unknown.

        Example:
            >>> from jointwise import Robot
            >>> robot = Robot.load("panda")
            >>> tracker = robot.track(
            ...     robot.mid_range, 0.001, max_velocity=2.0, max_acceleration=10.0
            ... )
            >>> tracker.step({"tip": [0.4, 0.2, 0.5], "link4": [0.0, 0.1, 0.6]}).status.name
            'APPROACHING'
        """
        links, targets = self._packed(target, False)
        stepper = self._stepper(links, targets)
        result = stepper.step(targets)
        status = result.status
        if status is INVALID:
            self._standing.passed(None)
            return result
        numbers = bits(targets)
        self._last = links, targets, numbers
        if status not in STOPPED:
            self._standing.passed((self._key, numbers))
            return result
        _, one = self._last_targets()
        known = self._standing.stopped((self._key, numbers), one, stepper, self._moving)
        return result if known is None else result._replace(status=known)

    def run(self, targets: Any) -> TrackRun:
        """Move the joints by one step for each of many targets, as ``step`` does, in one call.

        Args:
            targets: Targets of one kind, as for ``solve_batch``.

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("ur5e")
            >>> start = [0.0, -1.2, 1.8, -0.6, 1.5, 0.0]
            >>> tracker = arm.track(start, dt=0.001, max_velocity=3.0, max_acceleration=20.0)
            >>> run = tracker.run([[0.5, 0.1, 0.4]] * 2000)
            >>> run[-1].status.name
            'FOLLOWING'
        """
        links, packed = self._packed(targets, True)
        stepper, count = self._stepper(links, packed), len(packed[0].values)
        runs: list[TrackRun] = []
        done = 0
        while not runs or done < count:  # in pieces, so that Ctrl-C ends it
            rows = slice(done, done + ROWS)
            piece = tuple([each._replace(values=each.values[rows]) for each in packed])
            runs.append(self._run(stepper, piece))
            done += len(runs[-1])
        run = joined(runs)
        valid = np.flatnonzero(run.status != INVALID)
        if len(valid):
            last = tuple([each._replace(values=each.values[valid[-1]]) for each in packed])
            self._last = links, last, bits(last)
        return run

    def _run(self, stepper: Stepper, targets: tuple[PackedTarget, ...]) -> TrackRun:
        """Make steps for some targets, up to one after which another branch must be searched."""
        before = self._moving.state.copy()
        run = stepper.run(targets)
        if not len(run):
            return run
        question = self._standing.first_question(self._key, targets, run.status)
        if question is not None and question + 1 < len(run):
            self._moving.state[:] = before
            targets = tuple([each._replace(values=each.values[: question + 1]) for each in targets])
            run = stepper.run(targets)
        codes = self._standing.judge(self._key, targets, run.status, stepper, self._moving)
        codes.setflags(write=False)
        return replace(run, status=codes)

    def switch_branch(self, target: Any = None) -> bool:
        """Move the joints to another branch that reaches a target, in the next steps.

        The search for the nearest solution in another branch takes milliseconds. The joints then
        move there on a straight line in joint space, within their limits.

        Args:
            target: As for ``step``. None: the last valid target of this tracker.

        Returns:
            Whether there is such a branch; if not, nothing changes.

        Raises:
            InvalidInputError: No valid target has been given.

        Example:
            >>> from jointwise import robots
            >>> arm, start = robots.ur5e(), [0.0, -1.2, 1.8, -0.6, 1.5, 0.0]
            >>> tracker = arm.track(start, dt=0.001, max_velocity=3.0, max_acceleration=20.0)
            >>> result = tracker.step(pose := arm.fk(start))
            >>> tracker.switch_branch()
            True
            >>> run = tracker.run([pose] * 5000)
            >>> run[-1].status.name, arm.branch(run[-1].q) == arm.branch(start)
            ('FOLLOWING', False)
        """
        links, targets = self._last_targets() if target is None else self._packed(target, False)
        found = self._stepper(links, targets).other_branch(targets)
        if found is None:
            return False
        self._moving.views.reference[:] = found
        self._standing.forget()
        return True

    def copy(self) -> Tracker:
        """A tracker in the same state that moves independently of this one.

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("ur5e")
            >>> start = [0.0, -1.2, 1.8, -0.6, 1.5, 0.0]
            >>> tracker = arm.track(start, dt=0.001, max_velocity=3.0, max_acceleration=20.0)
            >>> ahead = tracker.copy().run([arm.fk(start)] * 10)  # the tracker itself has not moved
        """
        motion, limits, state = self._moving
        start, preferred = self._moving.views.output, limits[:, MOTION_PREFERRED]
        twin = Tracker(self._problem, self._packed, start, motion, preferred, switches=False)
        twin._moving.state[:], twin._last = state, self._last
        twin._standing = self._standing.copy()
        return twin

    def _last_targets(self) -> Targets:
        if self._last is None:
            raise InvalidInputError("no target to switch to: call step with a valid target first.")
        links, targets, numbers = self._last
        pairs = zip(targets, numbers, strict=True)
        return links, tuple([each._replace(values=_floats(own, each)) for each, own in pairs])

    def _stepper(self, links: tuple[str, ...], targets: tuple[PackedTarget, ...]) -> Stepper:
        """The stepper for targets of these links and kinds, cached for the next step."""
        key: tuple[object, ...] = links
        for kind, _, weight, point, to in targets:
            key += (kind, weight, None if point is None else point.tobytes(), to)
        self._key, stepper = key, self._steppers.get(key)
        if stepper is None:
            problem = self._problem._replace(links=links, targets=targets, collision=None)
            stepper = engine_for(problem).stepper(problem, self._moving)
            if self._guard is not None:
                stepper = self._guard.around(stepper, problem, self._moving)
            self._steppers[key] = stepper
        return stepper

    def __copy__(self) -> Tracker:
        return self.copy()

    def __deepcopy__(self, _: object) -> Tracker:
        return self.copy()


def away_from_limits(motion: MotionLimits, q: Floats) -> Floats:
    """(n,) joint values moved into the inner part of their ranges, where they have one."""
    lower, upper = motion.position_limits
    ranges = np.where(np.isfinite(upper - lower), upper - lower, 0.0)
    return np.clip(q, lower + INNER_MARGIN * ranges, upper - INNER_MARGIN * ranges)


def active_joints(
    posture: Posture | None, model: ArmModel | TreeModel, names: tuple[str, ...]
) -> Posture | None:
    """The joints that may move, as the posture of the problems of a tracker; None for all.

    Raises:
        InvalidInputError: A name is unknown or is that of the free base, or the posture has a
            weight or a smoothness.
    """
    if posture is None:
        return None
    if posture.weight != POSTURE_WEIGHT or posture.smoothness:
        name = "smoothness" if posture.smoothness else "weight"
        raise InvalidInputError(
            f"posture has a {name}: a tracker approaches its joint values only by self-motion, "
            "which does not affect the targets. Leave it out."
        )
    if posture.active is None:
        return None
    title = "the arm"
    if isinstance(model, TreeModel):
        title = model.name
        if model.free_base and model.root in posture.active:
            raise InvalidInputError(
                f"active has {model.root!r}, the free base, whose motion has no limits: a tracker "
                "holds it still. Name joints only."
            )
    for name in posture.active:
        checks.known_name("joint", name, names, title)
    return Posture(active=posture.active)


def _floats(numbers: bytes, target: PackedTarget) -> Floats:
    """The numbers of a target as an array, writable as all arrays of kernels."""
    return np.frombuffer(numbers).reshape(target.values.shape).copy()


def _guard_of(problem: Problem, moving: Moving) -> Guard:
    """The guard that keeps the joints away from obstacles."""
    from jointwise.engines.tracking.guard import Guard  # loads the tree engine

    return Guard(problem, moving)


def _description(problem: Problem) -> bytes:
    """All that determines the steps besides the limits, for a checksum."""
    model, posture, pose = problem.model, problem.posture, problem.base_pose
    arrays = [model.packed] if isinstance(model, ArmModel) else list(model.tree[:6])
    active = repr(None if posture is None else posture.active).encode()
    base = IDENTITY if pose is None else pose
    return b"".join(map(np.ndarray.tobytes, [*arrays, base])) + active
