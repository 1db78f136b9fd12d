"""The motion of joints: their state, and limits of velocity, acceleration and jerk."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from jointwise.errors import DimensionMismatchError, InvalidInputError
from jointwise.kernels.layout.arrays import MAX_VALUE, Floats
from jointwise.kernels.layout.motion import STATE_TARGET, Motion, track_state, unpack_motion
from jointwise.model import checks
from jointwise.results.tracking import TrackResult, TrackRun
from jointwise.targets import PackedTarget

# Largest number of commands in a moving average.
MAX_WINDOW = 100_000
# Solutions that differ by more in a joint are in another branch [rad, m].
OTHER_BRANCH = 0.1
# Index in a state of the number of the stepper that moved the joints last.
LAST_STEPPER = STATE_TARGET - 1


@dataclass(frozen=True, slots=True, eq=False)
class MotionLimits:
    """Limits of the motion of n joints that is sampled every ``dt`` [s].

    Attributes:
        dt: Time between two samples [s].
        per_step: (n, 5) lower and upper position limit, largest step, largest change of a step,
            full turn [rad, m]; see ``kernels.layout.motion``.
        window: Commands in the moving average that limits the jerk; 1 without such a limit.
    """

    dt: float
    per_step: Floats
    window: int

    @property
    def position_limits(self) -> Floats:
        """(2, n) lower and upper limits [rad, m]."""
        return self.per_step[:, :2].T


class Moving(NamedTuple):
    """The joints of a tracker, which all its steppers move.

    Attributes:
        motion: Limits and the time of a step.
        limits: (n, 6) limits of each joint, and the target of its self-motion.
        state: All that determines the next steps.
    """

    motion: MotionLimits
    limits: Floats
    state: Floats

    @property
    def views(self) -> Motion:
        """Views of the state."""
        return unpack_motion(self.state, len(self.limits), self.motion.window)

    @property
    def joint_rows(self) -> Floats:
        """(k, n) the numbers of the state that each joint has, as a view."""
        return self.state[1:LAST_STEPPER].reshape(-1, len(self.limits))


def moving_joints(motion: MotionLimits, limits: Floats) -> Moving:
    """Joints that are at 0."""
    size = track_state(len(limits), motion.window).size
    return Moving(motion, limits, np.zeros(size + 1))  # and the number of the last stepper


class Stepper(Protocol):
    """Moves the joints of a tracker towards targets of some links and kinds, in one engine."""

    def step(self, targets: tuple[PackedTarget, ...]) -> TrackResult:
        """Move the joints by one step."""
        ...

    def run(self, targets: tuple[PackedTarget, ...]) -> TrackRun:
        """Move the joints by one step for each of many targets."""
        ...

    def other_branch(self, targets: tuple[PackedTarget, ...]) -> Floats | None:
        """(n,) a solution of the targets in another branch; None if none is found."""
        ...


def motion_limits(
    position_limits: Floats,
    turns: Floats,
    dt: Any,
    max_velocity: Any,
    max_acceleration: Any,
    max_jerk: Any,
    owner: str = "an arm",
) -> MotionLimits:
    """Limits for joints with these position limits (n, 2); see ``Chain.track``.

    Args:
        position_limits: (n, 2) lower and upper limits [rad, m].
        turns: (n,) period of each joint [rad], the turn that changes nothing; 0 if there is none.
        dt: Time between two samples [s].
        max_velocity: A number for all joints, or (n,) [rad/s, m/s].
        max_acceleration: A number for all joints, or (n,) [rad/s², m/s²].
        max_jerk: A number for all joints, or (n,) [rad/s³, m/s³]; None for no limit.
        owner: Owner of the joints, for error texts.
    """
    n, seconds = len(position_limits), checks.positive("dt", dt)
    velocity = _per_joint("max_velocity", max_velocity, n, owner)
    acceleration, window = _per_joint("max_acceleration", max_acceleration, n, owner), 1
    if max_jerk is not None:
        jerk = _per_joint("max_jerk", max_jerk, n, owner)
        # The mean of k commands changes its acceleration by at most 2/k of theirs. With a higher
        # acceleration, full speed would be reached later, because the moving average is longer.
        acceleration = np.minimum(acceleration, np.sqrt(0.5 * velocity * jerk))
        window = max(int(np.ceil((2.0 * acceleration / (jerk * seconds)).max() - 1e-9)), 1)
        if window > MAX_WINDOW:
            raise InvalidInputError(
                f"max_jerk is {max_jerk}: joints would take {window * seconds:.3g} s to change "
                "their acceleration. Expected a higher limit, or a longer dt."
            )
        acceleration = np.minimum(acceleration, 0.5 * jerk * window * seconds)
    rates = (velocity * seconds, acceleration * seconds**2)
    return MotionLimits(seconds, np.column_stack([position_limits, *rates, turns]), window)


def _per_joint(name: str, value: Any, n: int, owner: str) -> Floats:
    """(n,) positive numbers, from one for all joints or one for each."""
    values = checks.floats(name, value)
    if values.shape not in ((), (n,)):
        raise DimensionMismatchError(
            f"{name} has shape {values.shape} for {owner} of {checks.quantity(n, 'joint')}: "
            f"expected a number, or one per joint, shape ({n},)."
        )
    if not ((values > 0.0) & (values < MAX_VALUE)).all():
        raise InvalidInputError(
            f"{name} is {checks.short(value)}: expected numbers above zero and below 1e9."
        )
    return np.broadcast_to(values, (n,)).copy()
