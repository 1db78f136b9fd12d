"""Steps of a serial arm towards a target."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointwise.backends import cpu
from jointwise.config import DEFAULT_SOLVE_CONFIG
from jointwise.engines.closed_form.solutions import all_solutions
from jointwise.engines.tracking.motion import LAST_STEPPER, OTHER_BRANCH, Moving, moving_joints
from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.kernels.layout.motion import newton_scratch
from jointwise.model.arm import ArmModel, arm_model, joint_difference
from jointwise.results.status import TRACK_STATUS_BY_CODE
from jointwise.results.tracking import TrackResult, TrackRun
from jointwise.targets import PackedTarget

# How steps ended.
Codes = NDArray[np.uint8]


class SerialStepper:
    """Moves a serial arm towards one target."""

    __slots__ = (
        "_arm",
        "_code",
        "_joints",
        "_links",
        "_moving",
        "_n",
        "_number",
        "_scratch",
        "_weights",
    )

    def __init__(
        self,
        arm: ArmModel,
        target: PackedTarget,
        moving: Moving,
        links: tuple[str, ...] = (),
        number: int = 1,
    ) -> None:
        """A stepper of one kind of targets.

        Args:
            arm: The arm, with its end effector at the point of the target.
            target: Kind and weight of the targets.
            moving: The joints.
            links: The link of a robot that results name; empty for an arm.
            number: Distinguishes steppers for different links.
        """
        self._arm, self._moving, self._links, self._number = arm, moving, links, float(number)
        self._weights = target.kind.weights(arm.angular_scale, target.weight)
        self._scratch, self._code = newton_scratch(arm.n), np.zeros(1, np.uint8)
        self._joints: Any = slice(None)
        self._n = len(moving.limits)  # joints of the model, which may be more than the arm's

    def step(self, targets: tuple[PackedTarget, ...]) -> TrackResult:
        """Move the joints by one step towards a target."""
        codes, n = self._code, self._n
        row = self._rows(targets[0].values[None], codes)[0]
        status = TRACK_STATUS_BY_CODE[codes.item()]
        fields = row[:n], row[n:-2], row.item(-2), row.item(-1), status, self._links, None, None
        return tuple.__new__(TrackResult, fields)  # as TrackResult(...), but faster

    def run(self, targets: tuple[PackedTarget, ...]) -> TrackRun:
        """Move the joints by one step for each of many targets."""
        values = targets[0].values
        codes = np.empty(len(values), np.uint8)
        results = self._rows(values, codes)
        codes.setflags(write=False)
        n = self._n
        q, velocities, (distance, angle) = results[:, :n], results[:, n:-2], results[:, -2:].T
        return TrackRun(q, velocities, distance, angle, codes, self._links)

    def other_branch(self, targets: tuple[PackedTarget, ...]) -> Floats | None:
        """The nearest solution of a target in another branch."""
        reference = self._moving.views.reference.copy()
        near = reference[self._joints]
        found = all_solutions(self._arm, targets[0], None, near, DEFAULT_SOLVE_CONFIG)
        for q in found.q:
            if np.abs(joint_difference(self._arm, q, near)).max() > OTHER_BRANCH:
                reference[self._joints] = q
                return reference
        return None

    def _rows(self, targets: Floats, codes: Codes) -> Floats:
        """Joint values, velocities and errors (m, 2n + 2); writes how each step ended (m,)."""
        state = self._moving.state
        if state.item(LAST_STEPPER) != self._number:
            # Another stepper has moved the joints, so the place where this one followed its target
            # is outdated.
            views, state[LAST_STEPPER] = self._moving.views, self._number
            views.followed[:] = views.second[:] = views.reference
        results = np.empty((len(targets), 2 * self._n + 2))
        self._move(targets, results, codes)
        results.setflags(False)  # type: ignore[call-arg]  # a keyword is slower
        return results

    def _move(self, targets: Floats, results: Floats, codes: Codes) -> None:
        motion, limits, state = self._moving
        cpu.track_rows(
            self._arm.packed,
            targets,
            self._weights,
            limits,
            motion.dt,
            motion.window,
            state,
            self._scratch,
            results,
            codes,
        )


class PathStepper(SerialStepper):
    """Moves the joints of a serial path in a robot; the others brake to a stop."""

    __slots__ = ("_parts",)

    def __init__(
        self,
        arm: ArmModel,
        target: PackedTarget,
        joints: Ints,
        moving: Moving,
        links: tuple[str, ...],
        number: int,
    ) -> None:
        """A stepper of one kind of targets.

        Args:
            arm: The arm of the path, with its end effector at the point of the target.
            target: Kind and weight of the targets.
            joints: (k,) which of the n joints are on the path.
            moving: The n joints.
            links: The link, for results.
            number: Distinguishes steppers for different links.
        """
        super().__init__(arm, target, moving, links, number)
        self._joints = joints
        self._parts = [(joints, SerialStepper(arm, target, _some(moving, joints)))]
        others = np.setdiff1d(np.arange(len(moving.limits)), joints)
        if len(others):
            frames = np.tile(np.eye(4)[:3], (len(others) + 1, 1, 1))
            still = arm_model(frames, np.zeros(len(others), bool), moving.limits[others, :2])
            self._parts.insert(0, (others, SerialStepper(still, target, _some(moving, others))))

    def _move(self, targets: Floats, results: Floats, codes: Codes) -> None:
        state, rows, n = self._moving.state, self._moving.joint_rows, self._n
        nowhere, cursor = np.full_like(targets, np.nan), state[0]  # invalid, so the joints continue
        for joints, stepper in self._parts:
            own, k = stepper._moving, len(joints)
            found = np.empty((len(targets), 2 * k + 2))
            own.state[0], own.joint_rows[:] = cursor, rows[:, joints]
            stepper._move(targets if joints is self._joints else nowhere, found, codes)
            state[0], rows[:, joints] = own.state[0], own.joint_rows
            results[:, joints], results[:, n + joints] = found[:, :k], found[:, k:-2]
        results[:, -2:] = found[:, -2:]


def _some(moving: Moving, joints: Ints) -> Moving:
    """Some of the joints, with a state of their own."""
    return moving_joints(moving.motion, np.ascontiguousarray(moving.limits[joints]))
