"""The state of joints that a tracker moves within limits, of an arm or of a whole robot."""

from abc import ABC, abstractmethod
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Floats, Motion, track_state, unpack_motion
from jointwise.model import checks
from jointwise.solvers.motion_limits import MotionLimits

# Solutions that differ by more in a joint are in another branch [rad, m].
OTHER_BRANCH = 0.1
# Where no rest is given, spare motion keeps this share of a joint's range away from its limits.
REST_MARGIN = 0.15


class MotionState(ABC):
    """What trackers share: limits, and the state of n joints, which can be saved and restored."""

    __slots__ = ("_limits", "_motion", "_state")

    def __init__(self, start: Floats, motion: MotionLimits, rest: Floats, model: bytes) -> None:
        """Joints at rest.

        Args:
            start: (n,) where they are [rad, m].
            motion: Limits and the time of a step.
            rest: (n,) where spare motion goes [rad, m].
            model: All else that decides the steps, for the checksum.
        """
        self._motion = motion
        self._limits = np.column_stack([motion.per_step, rest])
        self._state = track_state(len(start), motion.window)
        moving = self._moving
        moving.output[:] = moving.command[:] = moving.recent[:] = start
        moving.reference[:] = np.clip(start, *motion.position_limits)
        moving.followed[:] = moving.second[:] = moving.reference
        self._state[-1] = crc32(model + self._limits.tobytes())

    @property
    def _moving(self) -> Motion:
        """Views of the state."""
        return unpack_motion(self._state, len(self._limits), self._motion.window)

    @property
    def dt(self) -> float:
        """Time of a step [s]."""
        return self._motion.dt

    @property
    def state(self) -> Floats:
        """All that decides the next steps, as one array. Read-only; assign it to go back to it.

        Raises:
            InvalidInputError: An assigned state is not of a tracker with this model and limits.
        """
        state = self._state.copy()
        state.setflags(write=False)
        return state

    @state.setter
    def state(self, state: ArrayLike) -> None:
        saved = checks.floats("state", state)
        if saved.shape != self._state.shape or saved[-1] != self._state[-1]:
            raise InvalidInputError(
                f"state has shape {saved.shape} and is not of this tracker: expected the state of "
                "a tracker with the same model and limits."
            )
        if not np.isfinite(saved).all() or saved[0] not in range(self._motion.window):
            raise InvalidInputError("state is damaged: expected an array that state has returned.")
        self._state[:] = saved

    @abstractmethod
    def copy(self) -> "MotionState":
        """A tracker in the same state, which moves on its own."""

    def __copy__(self) -> "MotionState":
        return self.copy()

    def __deepcopy__(self, _: object) -> "MotionState":
        return self.copy()


def away_from_limits(motion: MotionLimits, q: Floats) -> Floats:
    """(n,) joint values moved into the inner part of their ranges, where they have one."""
    lower, upper = motion.position_limits
    ranges = np.where(np.isfinite(upper - lower), upper - lower, 0.0)
    return np.clip(q, lower + REST_MARGIN * ranges, upper - REST_MARGIN * ranges)
