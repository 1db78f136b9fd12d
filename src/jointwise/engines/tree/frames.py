"""Frames of a path, each solved from the previous state by reducing the errors locally."""

from typing import NamedTuple

import numpy as np

from jointwise.backends import cpu
from jointwise.engines.tree.request import Request
from jointwise.engines.tree.solve import packed_rows, result_arrays, some_rows
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.task import PackedCriteria
from jointwise.kernels.layout.tree import (
    SETTING_LOWER,
    SETTING_MAX_CHANGE,
    SETTING_UPPER,
    TreeResults,
)

# Largest number of steps of a frame, and the relative decrease of the cost below which they end.
FRAME_LIMITS = 50, 1e-5


class Frames(NamedTuple):
    """Frames of a path, which are followed without restarts.

    Attributes:
        request: The targets of the frames.
        criteria: The stopping criteria of a frame.
        settings: (6, v) settings of the variables.
        changes: (1, v) largest change of each variable between neighbouring frames [rad, m], or
            (m, v) largest change before each of m frames.
        memory: Scratch memory of a kernel.
    """

    request: Request
    criteria: PackedCriteria
    settings: Floats
    changes: Floats
    memory: Floats

    @property
    def size(self) -> int:
        """Number of frames."""
        return len(self.request.targets)

    def largest_change(self, row: int) -> Floats:
        """(v,) largest change of each variable from the previous frame to this one [rad, m]."""
        changes: Floats = self.changes[min(row, len(self.changes) - 1)]
        return changes

    def follow(self, rows: range, state: Floats, is_limited: bool) -> TreeResults:
        """Follow the targets of some frames, one after the other, from a state.

        Args:
            rows: Neighbouring frames in ascending or descending order; at least one.
            state: (v+12,) the state to start from.
            is_limited: Whether the change from this state to the first of these frames is limited,
                like the changes between frames.
        """
        stop = rows.stop if rows.stop >= 0 else None
        targets = np.ascontiguousarray(self.request.targets[rows.start : stop : rows.step])
        request, settings = self.request._replace(targets=targets), self.settings.copy()
        results = result_arrays(request)
        results.states[0] = state
        pieces = [slice(0, len(rows))]
        if len(self.changes) > 1:  # the time between frames differs
            pieces = [slice(i, i + 1) for i in range(len(rows))]
        for k, piece in enumerate(pieces):
            later = rows[k] if rows.step > 0 else rows[k] + 1
            settings[SETTING_MAX_CHANGE] = self.largest_change(later)
            if k:
                results.states[piece] = results.states[k - 1]
            part = request._replace(targets=targets[piece])
            packed = packed_rows(part, self.criteria, settings)
            frame_limits = (*FRAME_LIMITS, is_limited or k > 0)
            cpu.follow_tree(packed, frame_limits, some_rows(results, piece), self.memory)
        return results

    def move_between(self, row: int, near: Floats, bounds: tuple[Floats, Floats]) -> TreeResults:
        """Follow the targets of one frame, with all variables between bounds.

        Args:
            row: The frame.
            near: (v+12,) the state to start from, which is first moved between the bounds.
            bounds: (v,) lower and upper bounds [rad, m].
        """
        settings = self.settings.copy()
        settings[SETTING_LOWER] = np.maximum(settings[SETTING_LOWER], bounds[0])
        settings[SETTING_UPPER] = np.minimum(settings[SETTING_UPPER], bounds[1])
        return self._replace(settings=settings).follow(range(row, row + 1), near, False)
