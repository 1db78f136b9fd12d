"""Results of tracking by a whole robot: one step, or a run of many."""

from collections.abc import Mapping
from dataclasses import dataclass
from operator import index
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jointwise.kernels.shapes import Floats
from jointwise.solvers.robot.results import TargetErrors
from jointwise.solvers.track_results import TRACK_STATUS_BY_CODE, TrackStatus, summarise


class RobotTrackResult(NamedTuple):
    """Where the joints of a robot go in a step.

    Attributes:
        joint_angles: (n,) in the order of the robot's joint names [rad]; [m] for a prismatic
            joint. Read-only.
        velocities: (n,) their velocities, from the last joint values to these [rad/s, m/s].
            Read-only.
        errors: By how much each link misses its target at ``joint_angles``, by the link's name;
            NaN if a target is invalid.
        status: What the robot does, in a sentence: ``print(result.status.value)``.

    Example:
        >>> from jointwise import Robot
        >>> robot = Robot.load("panda")
        >>> tracker = robot.track(robot.home, 0.001, max_velocity=2.0, max_acceleration=10.0)
        >>> result = tracker.step({"tip": robot.fk(robot.home)["tip"]})
        >>> result.status.name, bool(result.errors["tip"].position_error < 1e-9)
        ('FOLLOWING', True)
    """

    joint_angles: Floats
    velocities: Floats
    errors: Mapping[str, TargetErrors]
    status: TrackStatus

    def __eq__(self, other: object) -> bool:  # not by arrays, which have no single answer
        return self is other

    def __hash__(self) -> int:
        return id(self)


@dataclass(frozen=True, slots=True, eq=False)
class RobotTrackRun:
    """The steps for many sets of targets, one after the other. All arrays are read-only.

    Attributes:
        links: The k links that have targets, in the order of the errors.
        joint_angles: (m, n) joint values [rad, m].
        velocities: (m, n) their velocities [rad/s, m/s].
        position_error: (m, k) distance of each link from its target [m]; NaN for invalid sets.
        orientation_error: (m, k) angle [rad]; NaN where orientation is free.
        status: (m,) codes of a ``TrackStatus``: ``run.status == TrackStatus.SLOWED`` is a mask.

    Example:
        >>> from jointwise import Robot
        >>> robot = Robot.load("panda")
        >>> tracker = robot.track(robot.home, 0.001, max_velocity=2.0, max_acceleration=10.0)
        >>> run = tracker.run({"tip": [[0.4, 0.2, 0.5]] * 3000})
        >>> run.joint_angles.shape, run[-1].status.name
        ((3000, 7), 'FOLLOWING')
    """

    links: tuple[str, ...]
    joint_angles: Floats
    velocities: Floats
    position_error: Floats
    orientation_error: Floats
    status: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.status)

    def __getitem__(self, row: int) -> RobotTrackResult:
        """The result of one step."""
        i = range(len(self))[index(row)]
        pairs = zip(
            self.position_error[i].tolist(), self.orientation_error[i].tolist(), strict=True
        )
        errors = dict(zip(self.links, map(TargetErrors._make, pairs), strict=True))
        status = TRACK_STATUS_BY_CODE[self.status[i]]
        return RobotTrackResult(
            self.joint_angles[i], self.velocities[i], MappingProxyType(errors), status
        )

    def summary(self) -> str:
        """How many steps ended in each status, and why."""
        return summarise(self.status)
