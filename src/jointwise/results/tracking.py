"""Results of tracking: one step, or a run of many."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from operator import index
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jointwise.kernels.layout.arrays import Floats
from jointwise.results.result import TargetErrors
from jointwise.results.status import TRACK_STATUS_BY_CODE, TrackStatus, status_lines


class TrackResult(NamedTuple):
    """Where the joints go in a step.

    Attributes:
        q: (n,) one value per joint [rad]; [m] for a prismatic joint. Read-only.
        velocities: (n,) their velocities, from the last joint values to these [rad/s, m/s].
            Read-only.
        position_error: Distance from link to target [m], at ``q``, the largest of several; NaN if
            a target is invalid.
        orientation_error: Angle between link and target [rad], the largest of several; NaN if
            orientation is free.
        status: What the joints do, in a sentence: ``print(result.status.value)``.
        errors: By how much each link of a robot misses its target, by the link's name; empty for
            an arm.

    Example:
        >>> from jointwise import Chain
        >>> arm = Chain.load("ur5e")
        >>> start = [0.0, -1.2, 1.8, -0.6, 1.5, 0.0]
        >>> tracker = arm.track(start, dt=0.001, max_velocity=3.0, max_acceleration=20.0)
        >>> result = tracker.step(arm.fk(start))
        >>> result.status.value
        'The target is reached, within 0.1 mm and 0.1 mrad.'
    """

    q: Floats
    velocities: Floats
    position_error: float
    orientation_error: float = nan
    status: TrackStatus = TrackStatus.FOLLOWING
    errors: Mapping[str, TargetErrors] = MappingProxyType({})

    def __eq__(self, other: object) -> bool:  # not by arrays, which have no single answer
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __str__(self) -> str:
        return str(self.status.value)


@dataclass(frozen=True, slots=True, eq=False)
class TrackRun:
    """The steps for many targets, one after the other. All arrays are read-only.

    Attributes:
        q: (m, n) joint values [rad, m].
        velocities: (m, n) their velocities [rad/s, m/s].
        position_error: (m,) distances from link to target [m], the largest of several; NaN for
            invalid targets.
        orientation_error: (m,) angles between them [rad]; NaN if orientation is free.
        status: (m,) codes of a ``TrackStatus``: ``run.status == TrackStatus.STUCK`` is a mask.
        errors: By how much each link of a robot misses its target, arrays (m,); empty for an arm.

    Example:
        >>> from jointwise import Chain
        >>> arm = Chain.load("ur5e")
        >>> start = [0.0, -1.2, 1.8, -0.6, 1.5, 0.0]
        >>> tracker = arm.track(start, dt=0.001, max_velocity=3.0, max_acceleration=20.0)
        >>> run = tracker.run([arm.fk(start)] * 3)
        >>> run.q.shape, run[2].status.name
        ((3, 6), 'FOLLOWING')
        >>> print(run.summary())
        3 of 3 steps followed (100.000%)
    """

    q: Floats
    velocities: Floats
    position_error: Floats
    orientation_error: Floats
    status: NDArray[np.uint8]
    errors: Mapping[str, TargetErrors] = field(default_factory=lambda: MappingProxyType({}))

    def __len__(self) -> int:
        return len(self.status)

    def __getitem__(self, row: int) -> TrackResult:
        """The result of one step."""
        number = range(len(self))[index(row)]
        errors = {
            link: TargetErrors(float(each.position_error[number]), float(each[1][number]))
            for link, each in self.errors.items()
        }
        return TrackResult(
            self.q[number],
            self.velocities[number],
            float(self.position_error[number]),
            float(self.orientation_error[number]),
            TRACK_STATUS_BY_CODE[self.status[number]],
            MappingProxyType(errors),
        )

    def summary(self) -> str:
        """How many steps ended in each status, and why."""
        return "\n".join(status_lines(self.status, TrackStatus, "steps followed"))

    def __str__(self) -> str:
        return self.summary()
