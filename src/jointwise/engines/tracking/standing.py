"""Search for another branch if joints have stopped short of a target that stands still."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jointwise.engines.tracking.motion import Moving, Stepper
from jointwise.results.status import STOPPED, TrackStatus
from jointwise.targets import PackedTarget

# How long a target must stand still before another branch is searched [s].
PATIENCE = 0.1

# The codes of steps.
Codes: TypeAlias = NDArray[np.uint8]
# The targets of each link; their links and kinds; and these, with the numbers of one target.
Targets: TypeAlias = tuple[PackedTarget, ...]
Key: TypeAlias = tuple[object, ...]
Numbers: TypeAlias = tuple[Key, tuple[bytes, ...]]


def bits(targets: Targets) -> tuple[bytes, ...]:
    """The numbers of a target of each link, to be compared and kept."""
    if len(targets) == 1:  # the most frequent case, and fast
        return (targets[0].values.tobytes(),)
    return tuple([each.values.tobytes() for each in targets])


class Standing:
    """Searches another branch, once for each target short of which the joints have stopped.

    A search may take milliseconds, so it waits until a target has stood still for a while. A moving
    target takes no time.
    """

    __slots__ = ("_answer", "_asked", "_before", "_patience", "_switches", "_waited")

    def __init__(self, dt: float, switches: bool) -> None:
        self._patience, self._switches = max(round(PATIENCE / dt), 1), switches
        self.forget()

    def forget(self) -> None:
        """Start over, because something else has moved the joints."""
        self._before: Numbers | None = None
        self._asked: Numbers | None = None
        self._answer, self._waited = False, 0

    def copy(self) -> Standing:
        """A copy, for a copy of the tracker."""
        twin = Standing.__new__(Standing)
        for name in self.__slots__:
            setattr(twin, name, getattr(self, name))
        return twin

    def passed(self, numbers: Numbers | None) -> None:
        """Record a step in which the joints have not stopped, by its target, None if invalid."""
        self._before, self._waited = numbers, 0

    def stopped(
        self, numbers: Numbers, targets: Targets, stepper: Stepper, moving: Moving
    ) -> TrackStatus | None:
        """Return the status of a step in which the joints have stopped, by other branches.

        Args:
            numbers: The target.
            targets: The target, one of each link.
            stepper: The stepper that has moved the joints.
            moving: The joints; their reference may move to another branch.
        """
        self._waited = self._waited + 1 if self._before == numbers else 0
        self._before = numbers
        if self._waited < self._patience:
            return None
        return self._other_branch(numbers, targets, stepper, moving)

    def first_question(self, key: Key, targets: Targets, codes: Codes) -> int | None:
        """The first of some steps after which another branch must be searched.

        Args:
            key: Links and kinds of the targets.
            targets: m targets of each link.
            codes: (m,) how the steps ended.
        """
        for first, _ in self._stretches(self._waits(key, targets, codes)):
            if self._asked != (key, bits(_row(targets, first))):
                return first
        return None

    def judge(
        self, key: Key, targets: Targets, codes: Codes, stepper: Stepper, moving: Moving
    ) -> Codes:
        """The codes of steps, updated for other branches; searches for one after the last step.

        Args:
            key: Links and kinds of the targets.
            targets: m targets of each link.
            codes: (m,) how the steps ended; only the last one may need a search.
            stepper: The stepper that has moved the joints.
            moving: The joints; their reference may move to another branch.
        """
        waits, judged = self._waits(key, targets, codes), codes.copy()
        for first, end in self._stretches(waits):
            one = _row(targets, first)
            status = self._other_branch((key, bits(one)), one, stepper, moving)
            if status is not None:
                judged[first:end] = status
        self._waited = int(waits[-1])
        valid = codes[-1] != TrackStatus.INVALID
        self._before = (key, bits(_row(targets, -1))) if valid else None
        return judged

    def _other_branch(
        self, numbers: Numbers, targets: Targets, stepper: Stepper, moving: Moving
    ) -> TrackStatus | None:
        """The status of a target that another branch reaches; None if none does."""
        switches = False
        if self._asked != numbers:
            found = stepper.other_branch(targets)
            self._asked, self._answer = numbers, found is not None
            switches = self._answer and self._switches
            if switches:
                moving.views.reference[:] = found
        if not self._answer:
            return None
        return TrackStatus.APPROACHING if switches else TrackStatus.OTHER_BRANCH

    def _waits(self, key: Key, targets: Targets, codes: Codes) -> NDArray[np.int64]:
        """(m,) for how many steps the joints have stood still short of a standing target."""
        count, waiting = len(codes), np.isin(codes, STOPPED)
        if not waiting.any():
            return np.zeros(count, np.int64)
        for each in targets:
            flat = np.ascontiguousarray(each.values).reshape(count, -1).view(np.int64)
            waiting[1:] &= (flat[1:] == flat[:-1]).all(axis=1)
        waiting[0] &= self._before == (key, bits(_row(targets, 0)))
        rows = np.arange(count)
        since = np.maximum.accumulate(np.where(waiting, -1, rows))
        return np.where(since < 0, self._waited + rows + 1, rows - since)

    def _stretches(self, waits: NDArray[np.int64]) -> list[tuple[int, int]]:
        """First row and end of each stretch of rows that have waited long enough."""
        edges = np.flatnonzero(np.diff(waits >= self._patience, prepend=False, append=False))
        return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _row(targets: Targets, row: int) -> Targets:
    """A copy of one of many targets of each link."""
    return tuple([each._replace(values=each.values[row].copy()) for each in targets])
