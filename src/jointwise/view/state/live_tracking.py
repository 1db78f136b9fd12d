"""A model that tracks its targets in real time, with the history of its velocities."""

from math import nan
from typing import Any

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.layout.arrays import Floats
from jointwise.results.tracking import TrackResult
from jointwise.robot import Robot
from jointwise.scene.scene import Scene
from jointwise.view.state.workspace import drawing_size

# Time of a step, and how long velocities are remembered [s].
STEP_S, HISTORY_S = 0.002, 6.0
# Joints reach their velocity limit in RAMP_S, and their acceleration limit in JERK_S [s].
RAMP_S, JERK_S = 0.25, 0.05
# While a revolute joint turns by 1 rad, a prismatic one moves by this share of the model's size.
PRISMATIC_SHARE = 0.2


class LiveTracking:
    """An arm or a robot that tracks targets within limits of velocity, acceleration and jerk.

    Args:
        model: The arm or robot.
        q: (n,) its joint values at the start [rad, m].
        max_velocity: Velocity limit of revolute joints [rad/s]; prismatic joints have a
            proportional one [m/s].

    Attributes:
        q: (n,) its current joint values [rad, m].
        times: (m,) the last seconds [s].
        shares: (m, n) velocities then, as shares of their limits.
    """

    def __init__(self, model: Chain | Robot, q: Floats, max_velocity: float) -> None:
        prismatic = PRISMATIC_SHARE * drawing_size(model)
        self._limits = np.where(model.prismatic, prismatic, 1.0) * max_velocity
        self._tracker = model.track(
            q,
            STEP_S,
            max_velocity=self._limits,
            max_acceleration=self._limits / RAMP_S,
            max_jerk=self._limits / (RAMP_S * JERK_S),
        )
        self.q = q
        self.times: Floats = np.zeros(1)
        self.shares: Floats = np.zeros((1, model.n))

    def advance(self, target: Any, seconds: float) -> TrackResult:
        """Track a target for some time [s], at least one step; return the last result.

        Args:
            target: As for ``Tracker.step``.
            seconds: How long [s].
        """
        result = TrackResult(self.q, np.zeros(len(self.q)), nan)
        count = max(round(seconds / STEP_S), 1)
        for _ in range(count):
            result = self._tracker.step(target)
        self.q = result.q
        self.times = np.append(self.times, self.times[-1] + count * STEP_S)
        self.shares = np.vstack([self.shares, result.velocities / self._limits])
        recent = self.times >= self.times[-1] - HISTORY_S
        self.times, self.shares = self.times[recent], self.shares[recent]
        return result

    def replace_scene(self, scene: Scene) -> None:
        """Avoid other obstacles from now on."""
        self._tracker.scene = scene

    def switch_branch(self) -> bool:
        """Move to another branch; return whether there is one."""
        return self._tracker.switch_branch()
