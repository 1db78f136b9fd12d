"""The arm tracks the target in real time, with the history of its velocities."""

from math import nan

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.shapes import Floats
from jointwise.solvers.targets import Target
from jointwise.solvers.track_results import TrackResult

# Time of a step, and how long velocities are remembered [s].
STEP_S, HISTORY_S = 0.002, 6.0
# Joints reach their velocity limit in RAMP_S, and their acceleration limit in JERK_S [s].
RAMP_S, JERK_S = 0.25, 0.05


class LiveTracking:
    """An arm that tracks a target within limits of velocity, acceleration and jerk.

    Args:
        chain: The arm.
        q: (n,) where it starts [rad, m].
        max_velocity: Velocity limit of revolute joints [rad/s]; that of prismatic joints is as many
            times the angular scale of the arm [m/s].

    Attributes:
        q: (n,) where it is [rad, m].
        times: (m,) the last seconds [s].
        shares: (m, n) velocities then, as shares of their limits.
    """

    def __init__(self, chain: Chain, q: Floats, max_velocity: float) -> None:
        self._limits = np.where(chain.prismatic, chain.arm.angular_scale, 1.0) * max_velocity
        self._tracker = chain.track(
            q,
            STEP_S,
            max_velocity=self._limits,
            max_acceleration=self._limits / RAMP_S,
            max_jerk=self._limits / (RAMP_S * JERK_S),
        )
        self.q = q
        self.times: Floats = np.zeros(1)
        self.shares: Floats = np.zeros((1, chain.n))

    def advance(self, target: Target, seconds: float) -> TrackResult:
        """Track the target for some time [s]; the last result, of at least one step."""
        result = TrackResult(self.q, np.zeros(len(self.q)), nan)
        count = max(round(seconds / STEP_S), 1)
        for _ in range(count):
            result = self._tracker.step(target)
        self.q = result.joint_angles
        self.times = np.append(self.times, self.times[-1] + count * STEP_S)
        self.shares = np.vstack([self.shares, result.velocities / self._limits])
        recent = self.times >= self.times[-1] - HISTORY_S
        self.times, self.shares = self.times[recent], self.shares[recent]
        return result

    def switch(self) -> bool:
        """Move to another branch; whether there is one."""
        return self._tracker.switch()
