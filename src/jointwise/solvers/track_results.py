"""Results of tracking: one step, or a run of many."""

from dataclasses import dataclass
from math import nan
from operator import index
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jointwise.kernels.shapes import Floats
from jointwise.solvers.results import CodedStatus


class TrackStatus(CodedStatus):
    """How a step of a tracker ended; the value is a sentence, with a remedy where one helps.

    As an integer it is the code in ``TrackRun.status``.

    Example:
        >>> from jointwise import Chain
        >>> arm = Chain.load("ur5e")
        >>> start = [0.0, -1.2, 1.8, -0.6, 1.5, 0.0]
        >>> tracker = arm.track(start, dt=0.001, max_velocity=3.0, max_acceleration=20.0)
        >>> TrackStatus(tracker.run([arm.fk(start)] * 3).status[2]).name
        'FOLLOWING'
    """

    FOLLOWING = "The end effector is at the target, within 0.1 mm and 0.1 mrad."
    SLOWED = (
        "The arm is on its way to the target: its limits of velocity, acceleration or jerk do not "
        "allow more. Move the target more slowly, or raise these limits."
    )
    BLOCKED = (
        "A joint limit keeps the arm from the target; it stops at the closest point that it "
        "reaches without changing its branch. Move the target back, or call switch()."
    )
    OUT_OF_REACH = (
        "No small motion brings the end effector closer to the target, and the arm stops there. "
        "Move the target back, relax it (an aim or a position), or call switch()."
    )
    INVALID = (
        "The target is invalid, and the arm goes on to the last valid one: expected finite numbers "
        "below 1e9 and, in a pose, a rotation."
    )


# By the codes of ``kernels.track``.
TRACK_STATUS_BY_CODE = tuple(TrackStatus)


class TrackResult(NamedTuple):
    """Where the joints go in a step.

    Attributes:
        joint_angles: (n,) one value per joint [rad]; [m] for a prismatic joint. Read-only.
        velocities: (n,) their velocities, from the last joint values to these [rad/s, m/s].
            Read-only.
        position_error: Distance from end effector to target [m], at ``joint_angles``; NaN if the
            target is invalid.
        orientation_error: Angle between end effector and target [rad]; NaN if orientation is free.
        status: What the arm does, in a sentence: ``print(result.status.value)``.

    Example:
        >>> from jointwise import Chain
        >>> arm = Chain.load("ur5e")
        >>> start = [0.0, -1.2, 1.8, -0.6, 1.5, 0.0]
        >>> tracker = arm.track(start, dt=0.001, max_velocity=3.0, max_acceleration=20.0)
        >>> result = tracker.step(arm.fk(start))
        >>> result.status.value
        'The end effector is at the target, within 0.1 mm and 0.1 mrad.'
    """

    joint_angles: Floats
    velocities: Floats
    position_error: float
    orientation_error: float = nan
    status: TrackStatus = TrackStatus.FOLLOWING

    def __eq__(self, other: object) -> bool:  # not by arrays, which have no single answer
        return self is other

    def __hash__(self) -> int:
        return id(self)


@dataclass(frozen=True, slots=True, eq=False)
class TrackRun:
    """The steps for many targets, one after the other. All arrays are read-only.

    Attributes:
        joint_angles: (m, n) joint values [rad, m].
        velocities: (m, n) their velocities [rad/s, m/s].
        position_error: (m,) distances from end effector to target [m]; NaN for invalid targets.
        orientation_error: (m,) angles between them [rad]; NaN if orientation is free.
        status: (m,) codes of a ``TrackStatus``: ``run.status == TrackStatus.SLOWED`` is a mask.

    Example:
        >>> from jointwise import Chain
        >>> arm = Chain.load("ur5e")
        >>> start = [0.0, -1.2, 1.8, -0.6, 1.5, 0.0]
        >>> tracker = arm.track(start, dt=0.001, max_velocity=3.0, max_acceleration=20.0)
        >>> run = tracker.run([arm.fk(start)] * 3)
        >>> run.joint_angles.shape, run[2].status.name
        ((3, 6), 'FOLLOWING')
        >>> print(run.summary())
        3 of 3 steps followed (100.000%)
    """

    joint_angles: Floats
    velocities: Floats
    position_error: Floats
    orientation_error: Floats
    status: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.status)

    def __getitem__(self, row: int) -> TrackResult:
        """The result of one step."""
        number = range(len(self))[index(row)]
        return TrackResult(
            self.joint_angles[number],
            self.velocities[number],
            float(self.position_error[number]),
            float(self.orientation_error[number]),
            TRACK_STATUS_BY_CODE[self.status[number]],
        )

    def summary(self) -> str:
        """How many steps ended in each status, and why."""
        return summarise(self.status)


def summarise(codes: NDArray[np.uint8]) -> str:
    """How many steps ended in each status, and why, from their codes."""
    return "\n".join(track_report(np.bincount(codes, minlength=len(TrackStatus)).tolist()))


def track_report(counts: list[int]) -> list[str]:
    """How many steps followed the target, and what the others did, one line each.

    Args:
        counts: How many have each status, in the order of ``TrackStatus``.
    """
    total = sum(counts)
    lines = [f"{counts[0]:,} of {total:,} steps followed ({counts[0] / max(total, 1):.3%})"]
    for count, status in zip(counts[1:], list(TrackStatus)[1:], strict=True):
        if count:
            lines.append(f"{count:,} {status.name}: {status.value}")
    return lines
