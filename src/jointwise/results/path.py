"""The results along a path."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.results.batch import Details, IKBatch
from jointwise.results.result import LinkErrors
from jointwise.results.status import NO_SENTENCES, ON_PATH, BreakReason, CodedStatus, Status

if TYPE_CHECKING:
    from jointwise.results.plan import Plan


# Largest number of breaks that are listed in a text.
MAX_LISTED = 5


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class IKPath(IKBatch):
    """Joint values along a path: a batch in which each target follows the one before.

    Example:
        >>> from jointwise import robots
        >>> path = robots.panda().solve_path(np.linspace([0.4, -0.1, 0.4], [0.4, 0.1, 0.4], 5))
        >>> len(path), path.converged.all().item(), path.breaks
        (5, True, ())
    """

    @property
    def breaks(self) -> tuple[int, ...]:
        """Indices of targets that could not be reached by continuing from the previous one.

        ``break_reasons`` has the reason of each. A missed target is also a break if its step
        exceeds 0.5 [rad, m].
        """
        return self._details.breaks

    @property
    def break_reasons(self) -> Mapping[int, BreakReason]:
        """Why the path is interrupted, by the index of the target."""
        pairs = zip(self.breaks, self._details.reasons, strict=True)
        return MappingProxyType(dict(pairs))

    @property
    def pieces(self) -> tuple[range, ...]:
        """The parts of the path that have no breaks and reach all their targets, in order."""
        ends = {0, len(self), *self.breaks}
        for i in np.flatnonzero(~self.converged).tolist():
            ends |= {i, i + 1}
        spans = (range(a, b) for a, b in pairwise(sorted(ends)))
        return tuple(span for span in spans if self.converged[span.start])

    @property
    def colliding(self) -> tuple[int, ...]:
        """Indices of targets for which the motion from the previous target collides.

        The motion is straight in joint space, and must keep the margin. It is proven free, except
        where the base moves: there it is checked at points 0.01 apart [rad, m].
        """
        return self._details.colliding

    @property
    def detours(self) -> Mapping[int, Plan]:
        """Plans to targets whose motion from the previous one collides or breaks, by their index.

        Empty unless the path was solved with ``PathOptions(detours=True)``.
        """
        return MappingProxyType(dict(self._details.detours))

    @property
    def rate(self) -> float | None:
        """Targets per second [1/s]; None unless ``times`` was a single time step.

        Files of ``retarget_clips`` have the rate of the clip.
        """
        return self._details.rate

    @property
    def tool_angles(self) -> Floats:
        """(m,) rotations of the tool about its free axis [rad], unwrapped; NaN if no axis is free.

        For a pose within a box, they are measured from the pose. For aims, they are measured from
        frames that rotate as little as possible from one aim to the next.
        """
        angles = self._details.tool_angles
        return np.full(len(self), np.nan) if angles is None else angles

    @property
    def resolution(self) -> Mapping[str, float]:
        """The sample spacing of each free quantity, by its name [rad, m].

        Empty if the targets were followed one by one. A break means that no path without it was
        found at this resolution; one may exist between the samples.
        """
        return MappingProxyType(dict(self._details.resolution))

    @property
    def steps(self) -> Floats:
        """(m-1,) largest joint change between neighbours [rad, m]; NaN if one is invalid."""
        steps: Floats = np.abs(np.diff(self.q, axis=0)).max(axis=1, initial=0.0)
        steps.setflags(write=False)
        return steps

    @property
    def largest_step(self) -> float:
        """Largest joint change between neighbours [rad, m]; 0 for a single target."""
        return float(np.fmax.reduce(self.steps, initial=0.0))

    def _saved(self) -> dict[str, Any]:
        arrays = IKBatch._saved(self)
        arrays |= {
            "breaks": np.array(self.breaks, int),
            "colliding": np.array(self.colliding, int),
            "reasons": np.array(self._details.reasons, int),
            "tool_angles": self.tool_angles,
            "resolution": np.array(list(self.resolution.values())),
            "resolution_names": np.array(list(self.resolution), str),
        }
        if self.rate is not None:
            arrays["rate"] = np.array(self.rate)
        return arrays

    @classmethod
    def _loaded(cls, content: Mapping[str, Any], details: Details) -> Details:
        breaks, colliding, reasons = (
            tuple(content[name].tolist()) if name in content else ()
            for name in ("breaks", "colliding", "reasons")
        )
        names = content["resolution_names"].tolist() if "resolution" in content else []
        pairs = zip(names, content.get("resolution", ()), strict=True)
        return details._replace(
            breaks=breaks,
            colliding=colliding,
            reasons=tuple(map(BreakReason, reasons)),
            tool_angles=content.get("tool_angles"),
            resolution=tuple((name, float(value)) for name, value in pairs),
            rate=float(content["rate"]) if "rate" in content else None,
        )

    @property
    def _sentences(self) -> Mapping[CodedStatus, str]:
        is_robot = isinstance(self._details.link_errors, LinkErrors)
        return ON_PATH if is_robot else NO_SENTENCES

    def __str__(self) -> str:
        missed = np.flatnonzero(~self.converged).tolist()
        text = f"{len(self) - len(missed)} of {len(self)} targets reached, "
        text += f"largest step {self.largest_step:.3g}"
        if self.breaks:
            text += f", breaks at {listed(self.breaks)} (the first target is 0)"
        if self.colliding:
            text += f", collisions on the way to {listed(self.colliding)}"
        if missed:
            text += f". {first_missed(self, missed[0])}"
        elif self.breaks:
            text += f". First break: {self.break_reasons[self.breaks[0]].value}"
        return text


def first_missed(path: IKPath, row: int) -> str:
    """A sentence about the first missed target of a path."""
    status = Status(path.status[row])
    return f"The first missed target is {row}: {path._sentences.get(status, status.value)}"


def listed(numbers: Sequence[int]) -> str:
    """The first numbers, and how many more there are."""
    more = len(numbers) - MAX_LISTED
    return ", ".join(map(str, numbers[:MAX_LISTED])) + (f" and {more} more" if more > 0 else "")
