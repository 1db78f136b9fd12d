"""Results of tracking: one step, or a run of many."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from operator import index
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jointwise.kernels.layout.arrays import Floats
from jointwise.results.result import TargetErrors, equal_fields
from jointwise.results.status import TRACK_STATUS_BY_CODE, TrackStatus, status_lines


class TrackResult(NamedTuple):
    """The result of one step of a tracker.

    Attributes:
        q: (n,) one value per joint [rad]; [m] for a prismatic joint. Read-only.
        velocities: (n,) joint velocities, from the previous joint values to these [rad/s, m/s].
            Read-only.
        position_error: Distance from link to target [m] at ``q``, the largest if there are several
            links; NaN if a target is invalid.
        orientation_error: Angle between link and target [rad], the largest of several; NaN if
            orientation is free.
        status: How the step ended, in a sentence: ``print(result.status.value)``.
        links: The k links of a robot that have targets; empty for an arm.
        link_errors: (k, 2) position [m] and orientation error [rad] of each; None
            for one link.
        contact: The link and the obstacle, or the two links, that limit the motion; None if nothing
            does.

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
    links: tuple[str, ...] = ()
    link_errors: Floats | None = None
    contact: tuple[str, str] | None = None

    @property
    def errors(self) -> Mapping[str, TargetErrors]:
        """Errors of each link of a robot at its target, by its name; empty for an arm."""
        rows = [(self.position_error, self.orientation_error)]
        if self.link_errors is not None:
            rows = self.link_errors.tolist()
        pairs = zip(self.links, map(TargetErrors._make, rows), strict=False)
        return MappingProxyType(dict(pairs))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TrackResult) and all(map(equal_fields, self, other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.q.tobytes(), self.status))

    def __str__(self) -> str:
        return str(self.status.value)


@dataclass(frozen=True, slots=True, eq=False)
class TrackRun:
    """The results of consecutive steps. All arrays are read-only.

    Attributes:
        q: (m, n) joint values [rad, m].
        velocities: (m, n) joint velocities [rad/s, m/s].
        position_error: (m,) distances from link to target [m], the largest of several; NaN for
            invalid targets.
        orientation_error: (m,) angles between link and target [rad]; NaN if orientation is free.
        status: (m,) codes of a ``TrackStatus``: ``run.status == TrackStatus.STUCK`` is a mask.
        links: The k links of a robot that have targets; empty for an arm.
        link_errors: (m, k, 2) position [m] and orientation error [rad] of each; None
            for one link.
        contacts: The ``contact`` of each step; empty without a scene.

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
    links: tuple[str, ...] = ()
    link_errors: Floats | None = None
    contacts: tuple[tuple[str, str] | None, ...] = ()

    @property
    def errors(self) -> Mapping[str, TargetErrors]:
        """Errors of each link of a robot at its target, arrays (m,); empty for an arm."""
        columns = [TargetErrors(self.position_error, self.orientation_error)]
        if self.link_errors is not None:
            columns = [TargetErrors(*each.T) for each in self.link_errors.swapaxes(0, 1)]
        return MappingProxyType(dict(zip(self.links, columns, strict=False)))

    def __len__(self) -> int:
        return len(self.status)

    def __getitem__(self, row: int) -> TrackResult:
        """The result of one step."""
        number = range(len(self))[index(row)]
        return TrackResult(
            self.q[number],
            self.velocities[number],
            float(self.position_error[number]),
            float(self.orientation_error[number]),
            TRACK_STATUS_BY_CODE[self.status[number]],
            self.links,
            None if self.link_errors is None else self.link_errors[number],
            self.contacts[number] if self.contacts else None,
        )

    def summary(self) -> str:
        """How many steps ended in each status, and why."""
        return "\n".join(status_lines(self.status, TrackStatus, "steps followed"))

    def __str__(self) -> str:
        return self.summary()


def joined(runs: list[TrackRun]) -> TrackRun:
    """Concatenate runs."""
    if len(runs) == 1:
        return runs[0]
    fields = ["q", "velocities", "position_error", "orientation_error", "status", "link_errors"]
    arrays = {name: [getattr(run, name) for run in runs] for name in fields}
    one = {name: np.concatenate(parts) for name, parts in arrays.items() if parts[0] is not None}
    for array in one.values():
        array.setflags(write=False)
    contacts = tuple([contact for run in runs for contact in run.contacts])
    return TrackRun(links=runs[0].links, contacts=contacts, **one)
