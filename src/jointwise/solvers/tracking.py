"""Tracking a moving target, within limits of position, velocity, acceleration and jerk."""

import numpy as np
from numpy.typing import ArrayLike

from jointwise.backends import cpu
from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import (
    REST,
    TARGET_PLACE,
    Floats,
    Weights,
    newton_scratch,
)
from jointwise.model import checks
from jointwise.model.arm import ArmModel, joint_difference
from jointwise.solvers.config import DEFAULT_SOLVE_CONFIG
from jointwise.solvers.motion_limits import MotionLimits
from jointwise.solvers.motion_state import OTHER_BRANCH, MotionState, away_from_limits
from jointwise.solvers.solutions import all_solutions
from jointwise.solvers.targets import (
    KINDS,
    Target,
    TargetKind,
    Targets,
    kind_and_value,
    pack_targets,
)
from jointwise.solvers.track_results import TRACK_STATUS_BY_CODE, TrackResult, TrackRun


def track(
    arm: ArmModel, start: ArrayLike, motion: MotionLimits, rest: ArrayLike | None
) -> "Tracker":
    """A tracker at rest; see ``Chain.track``."""
    first = checks.all_finite("start", checks.joint_values("start", start, arm.n))
    if rest is None:
        return Tracker(arm, first, motion, away_from_limits(motion, first))
    last = checks.all_finite("rest", checks.joint_values("rest", rest, arm.n))
    return Tracker(arm, first, motion, last)


class Tracker(MotionState):
    """Moves an arm after a target, a step at a time. Made by ``Chain.track``.

    Every step keeps the limits of position, velocity, acceleration and jerk, whatever the target
    is: also the next steps can, since the arm can always brake in time. The same targets give the
    same bits, by ``step`` or by ``run``.

    Example:
        >>> from jointwise import Chain
        >>> arm = Chain.load("ur5e")
        >>> start = [0.0, -1.2, 1.8, -0.6, 1.5, 0.0]
        >>> tracker = arm.track(start, dt=0.001, max_velocity=3.0, max_acceleration=20.0)
        >>> target = arm.fk(start)
        >>> target[2, 3] += 0.001
        >>> result = tracker.step(target)
        >>> result.status.name, result.joint_angles.shape
        ('SLOWED', (6,))
    """

    __slots__ = ("_arm", "_code", "_scratch", "_weights")

    def __init__(self, arm: ArmModel, start: Floats, motion: MotionLimits, rest: Floats) -> None:
        """A tracker at rest.

        Args:
            arm: The arm.
            start: (n,) where it is [rad, m].
            motion: Limits and the time of a step.
            rest: (n,) where spare motion goes [rad, m].
        """
        super().__init__(start, motion, rest, arm.packed.tobytes())
        self._arm, self._scratch = arm, newton_scratch(arm.n)
        self._code = np.zeros(1, np.uint8)
        self._weights: dict[TargetKind, Weights] = {}

    def copy(self) -> "Tracker":
        """A tracker in the same state, which moves on its own.

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("ur5e")
            >>> start = [0.0, -1.2, 1.8, -0.6, 1.5, 0.0]
            >>> tracker = arm.track(start, dt=0.001, max_velocity=3.0, max_acceleration=20.0)
            >>> ahead = tracker.copy().run([arm.fk(start)] * 10)  # the tracker itself has not moved
        """
        twin = Tracker(self._arm, self._arm.home, self._motion, self._limits[:, REST])
        twin._state[:] = self._state
        return twin

    def step(self, target: Target) -> TrackResult:
        """Move the joints by one step towards a target.

        Args:
            target: Of any kind that ``Chain.solve`` takes. Numbers that are no target, such as
                NaN, do not raise: the arm goes on to the last valid target.

        Raises:
            InvalidInputError: The target has a wrong shape or type.

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("ur5e")
            >>> start = [0.0, -1.2, 1.8, -0.6, 1.5, 0.0]
            >>> tracker = arm.track(start, dt=0.001, max_velocity=3.0, max_acceleration=20.0)
            >>> tracker.step([0.5, 0.1, 0.4]).status.name
            'SLOWED'
        """
        kind, value = kind_and_value(target)
        weights = self._weights.get(kind)
        if weights is None:
            weights = self._weights[kind] = kind.weights(self._arm.angular_scale)
        n, code = self._arm.n, self._code
        results = np.empty((1, 2 * n + 2))
        self._call(kind.pack(value)[None], weights, results, code)
        results.setflags(write=False)
        row = results[0]
        angle = row.item(2 * n + 1)
        return TrackResult(
            row[:n], row[n:-2], row.item(2 * n), angle, TRACK_STATUS_BY_CODE[code.item()]
        )

    def run(self, targets: Targets) -> TrackRun:
        """Move the joints by one step for each of many targets, as ``step`` does, in one call.

        Args:
            targets: Targets of one kind, as for ``Chain.solve_batch``.

        Example:
            >>> from jointwise import Chain
            >>> arm = Chain.load("ur5e")
            >>> start = [0.0, -1.2, 1.8, -0.6, 1.5, 0.0]
            >>> tracker = arm.track(start, dt=0.001, max_velocity=3.0, max_acceleration=20.0)
            >>> run = tracker.run([[0.5, 0.1, 0.4]] * 2000)
            >>> run[-1].status.name
            'FOLLOWING'
        """
        packed, n = pack_targets(self._arm, targets), self._arm.n
        results = np.empty((len(packed.values), 2 * n + 2))
        codes = np.empty(len(packed.values), np.uint8)
        self._call(packed.values, packed.weights, results, codes)
        for array in (results, codes):
            array.setflags(write=False)
        columns = results[:, :n], results[:, n : 2 * n], results[:, 2 * n], results[:, 2 * n + 1]
        return TrackRun(*columns, codes)

    def switch(self) -> bool:
        """Have the next steps move the arm to another branch that reaches the last target.

        The nearest solution in another branch is searched, which takes milliseconds. The arm moves
        there on a straight line in joint space, within its limits.

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
            >>> tracker.switch()
            True
            >>> run = tracker.run([pose] * 5000)
            >>> run[-1].status.name, arm.branch(run[-1].joint_angles) == arm.branch(start)
            ('FOLLOWING', False)
        """
        points, *values = self._state[TARGET_PLACE:-1]
        if not points:
            raise InvalidInputError("no target to switch to: call step with a valid target first.")
        kind = next(each for each in KINDS.values() if each.directions + 1 == points)
        target = kind.unpack(np.array(values))
        reference = self._moving.reference
        found = all_solutions(
            self._arm, target, None, reference.copy(), DEFAULT_SOLVE_CONFIG, 0, None, False
        )
        for solution in found:
            change = joint_difference(self._arm, solution.joint_angles, reference)
            if np.abs(change).max() > OTHER_BRANCH:
                reference[:] = solution.joint_angles
                return True
        return False

    def _call(self, targets: Floats, weights: Weights, results: Floats, codes: ArrayLike) -> None:
        cpu.track_rows(
            self._arm.packed,
            targets,
            weights,
            self._limits,
            self._motion.dt,
            self._motion.window,
            self._state,
            self._scratch,
            results,
            codes,
        )
