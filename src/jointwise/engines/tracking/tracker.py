"""Tracker: follows moving targets step by step, within limits of the motion."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from typing import Any, NamedTuple, Protocol
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from jointwise.engines.tracking.limits import MotionLimits
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.motion import MOTION_PREFERRED, Motion, track_state, unpack_motion
from jointwise.model import checks
from jointwise.results.tracking import TrackResult, TrackRun

# Solutions that differ by more in a joint are in another branch [rad, m].
OTHER_BRANCH = 0.1
# Without preferred values, spare motion keeps this share of a joint's range away from its limits.
INNER_MARGIN = 0.15


class Moving(NamedTuple):
    """The joints of a tracker.

    Attributes:
        motion: Limits and the time of a step.
        limits: (n, 5) limits of each joint, and where its spare motion goes.
        state: All that decides the next steps.
    """

    motion: MotionLimits
    limits: Floats
    state: Floats

    @property
    def views(self) -> Motion:
        """Views of the state."""
        return unpack_motion(self.state, len(self.limits), self.motion.window)


class Stepper(Protocol):
    """How an engine moves the joints of a tracker."""

    @property
    def description(self) -> bytes:
        """All that decides the steps beside the limits, for a checksum."""
        ...

    def step(self, moving: Moving, target: Any) -> TrackResult:
        """Move the joints by one step."""
        ...

    def run(self, moving: Moving, targets: Any) -> TrackRun:
        """Move the joints by one step for each target."""
        ...

    def other_branch(self, moving: Moving, target: Any) -> Floats | None:
        """(n,) a solution of a target in another branch, the last target if it is None."""
        ...

    def twin(self) -> Stepper:
        """Another stepper of the same kind, with memory of its own."""
        ...


class Tracker:
    """Moves joints after targets, a step at a time. Made by ``Chain.track`` and ``Robot.track``.

    Every step keeps the limits of position, velocity, acceleration and jerk, whatever the target
    is: also the next steps can, since the joints can always brake in time. The same targets give
    the same bits, by ``step`` or by ``run``.

    The target of an arm is one value. The targets of a robot are a mapping of link names; the links
    may change from step to step, joints that move none hold still, and the base does not move.

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

    __slots__ = ("_moving", "_stepper")

    def __init__(
        self, stepper: Stepper, start: Floats, motion: MotionLimits, preferred: Floats
    ) -> None:
        """A tracker at rest.

        Args:
            stepper: What moves the joints.
            start: (n,) where they are [rad, m].
            motion: Limits and the time of a step.
            preferred: (n,) where spare motion goes [rad, m].
        """
        limits = np.column_stack([motion.per_step, preferred])
        self._stepper = stepper
        self._moving = Moving(motion, limits, track_state(len(start), motion.window))
        views = self._moving.views
        views.output[:] = views.command[:] = views.recent[:] = start
        views.reference[:] = np.clip(start, *motion.position_limits)
        views.followed[:] = views.second[:] = views.reference
        self._moving.state[-1] = crc32(stepper.description + limits.tobytes())

    @property
    def dt(self) -> float:
        """Time of a step [s]."""
        return self._moving.motion.dt

    @property
    def state(self) -> Floats:
        """All that decides the next steps, as one array. Read-only; assign it to go back to it.

        Raises:
            InvalidInputError: An assigned state is not of a tracker with this model and limits.
        """
        state = self._moving.state.copy()
        state.setflags(write=False)
        return state

    @state.setter
    def state(self, state: ArrayLike) -> None:
        saved, own = checks.floats("state", state), self._moving.state
        if saved.shape != own.shape or saved[-1] != own[-1]:
            raise InvalidInputError(
                f"state has shape {saved.shape} and is not of this tracker: expected the state of "
                "a tracker with the same model and limits."
            )
        if not np.isfinite(saved).all() or saved[0] not in range(self._moving.motion.window):
            raise InvalidInputError("state is damaged: expected an array that state has returned.")
        own[:] = saved

    def step(self, target: Any) -> TrackResult:
        """Move the joints by one step towards a target.

        Args:
            target: Of any kind that ``solve`` takes; for a robot a mapping of link names to
                targets. ``step`` never raises because of its numbers: if the target cannot be
                followed, or is NaN, the joints go on to the last valid one.

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
        return self._stepper.step(self._moving, target)

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
        return self._stepper.run(self._moving, targets)

    def switch_branch(self, target: Any = None) -> bool:
        """Have the next steps move the joints to another branch that reaches a target.

        The nearest solution in another branch is searched, which takes milliseconds. The joints
        move there on a straight line in joint space, within their limits.

        Args:
            target: As for ``step``. None: the last valid target.

        Returns:
            Whether there is one; if not, nothing changes.

        Raises:
            InvalidInputError: No valid target has been given.

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("ur5e")
            >>> start = [0.0, -1.2, 1.8, -0.6, 1.5, 0.0]
            >>> tracker = arm.track(start, dt=0.001, max_velocity=3.0, max_acceleration=20.0)
            >>> pose = arm.fk(start)
            >>> result = tracker.step(pose)
            >>> tracker.switch_branch()
            True
            >>> run = tracker.run([pose] * 5000)
            >>> run[-1].status.name, arm.branch(run[-1].q) == arm.branch(start)
            ('FOLLOWING', False)
        """
        found = self._stepper.other_branch(self._moving, target)
        if found is None:
            return False
        self._moving.views.reference[:] = found
        return True

    def copy(self) -> Tracker:
        """A tracker in the same state, which moves on its own.

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("ur5e")
            >>> start = [0.0, -1.2, 1.8, -0.6, 1.5, 0.0]
            >>> tracker = arm.track(start, dt=0.001, max_velocity=3.0, max_acceleration=20.0)
            >>> ahead = tracker.copy().run([arm.fk(start)] * 10)  # the tracker itself has not moved
        """
        motion, limits, state = self._moving
        start, preferred = self._moving.views.output, limits[:, MOTION_PREFERRED]
        twin = Tracker(self._stepper.twin(), start, motion, preferred)
        twin._moving.state[:] = state
        return twin

    def __copy__(self) -> Tracker:
        return self.copy()

    def __deepcopy__(self, _: object) -> Tracker:
        return self.copy()


def away_from_limits(motion: MotionLimits, q: Floats) -> Floats:
    """(n,) joint values moved into the inner part of their ranges, where they have one."""
    lower, upper = motion.position_limits
    ranges = np.where(np.isfinite(upper - lower), upper - lower, 0.0)
    return np.clip(q, lower + INNER_MARGIN * ranges, upper - INNER_MARGIN * ranges)
