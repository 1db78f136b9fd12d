"""The freedom of the targets of a path: ranges of deviations from poses, and samples."""

from math import ceil, pi, prod, sqrt
from typing import NamedTuple

import numpy as np

from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.model.rotation import rotations_to_axes
from jointwise.targets import AIM, POSE, WITHIN, PackedTarget
from jointwise.targets.deviation import FREE_ROTATION, deviations_of, poses_at, tolerance_box

# Names of deviations in a resolution.
DEVIATIONS = ("x", "y", "z", "rotation x", "rotation y", "rotation z")
# Smallest number of samples of an interval, and of a full turn.
MIN_INTERVAL, MIN_TURN = 3, 24
# Sine of the angle between two axes that are distinct.
MIN_SINE = 0.1
# Factor by which their number is lowered at a time, if there are too many.
LOWERED = 0.9


class Freedom(NamedTuple):
    """Poses with tolerance boxes, one for each target of a path.

    Attributes:
        packed: (m, 8, 4) poses with boxes, as ``within`` packs them.
        R_frame_tip: (3, 3) rotation of the link in the frame that deviates: for an aim, the frame
            whose z is the axis that aims.
        columns: The free ones of the six deviations.
        low: (m, f) their least values [m, rad]; (1, f) if the boxes are equal.
        high: (m, f) or (1, f) their greatest values.
        turns: (f,) which of them are a full turn.
    """

    packed: Floats
    R_frame_tip: Floats
    columns: tuple[int, ...]
    low: Floats
    high: Floats
    turns: Bools

    @property
    def _turn(self) -> int:
        """The number of the deviation that is the turn."""
        return 3 + int(self.packed[0, 5, 3])

    @property
    def has_turn(self) -> bool:
        """Whether the turn of the tool is free."""
        return self._turn in self.columns

    def poses(self, rows: slice, values: Floats) -> Floats:
        """(k, s, 4, 4) poses of the link at deviations from the targets of some rows.

        Args:
            rows: Which k targets.
            values: (k, s, f) the free deviations [m, rad]; (1, s, f) for all targets.
        """
        deviations = np.zeros((*values.shape[:2], 6))
        deviations[..., self.columns] = values
        at_origin = self.packed[0].copy()
        at_origin[:4] = np.eye(4)
        offsets = poses_at(at_origin, deviations)
        offsets[..., :3, :3] = offsets[..., :3, :3] @ self.R_frame_tip
        return self.packed[rows, None, :4] @ offsets

    def deviations(self, T_base_tip: Floats) -> Floats:
        """(m, f) the free deviations of poses (m, 4, 4) of the link."""
        return self._all_deviations(T_base_tip)[:, self.columns]

    def tool_angles(self, T_base_tip: Floats) -> Floats:
        """(m,) turns of the link about the axis of the turn [rad], unwrapped."""
        angles: Floats = np.unwrap(self._all_deviations(T_base_tip)[:, self._turn])
        angles.setflags(write=False)
        return angles

    def _all_deviations(self, T_base_tip: Floats) -> Floats:
        poses = T_base_tip.copy()
        poses[:, :3, :3] = poses[:, :3, :3] @ self.R_frame_tip.T
        return deviations_of(self.packed, poses)


def freedom_of(target: PackedTarget) -> Freedom | None:
    """The freedom of the targets of a path; None if it cannot be sampled."""
    values, R_frame_tip = target.values, np.eye(3)
    if target.kind is AIM:
        packed, R_frame_tip = _boxed_aims(values)
    elif target.kind is WITHIN:
        packed = values
    elif target.kind is POSE:
        packed = np.concatenate([values, np.zeros_like(values)], axis=1)
    else:
        return None
    box = tolerance_box(packed)
    low, high = box[:, [0, 2]].reshape(-1, 6), box[:, [1, 3]].reshape(-1, 6)
    turn = np.arange(6) == 3 + int(packed[0, 5, 3])
    low, high = (np.where(turn, np.clip(each, -pi, pi), each) for each in (low, high))
    columns = np.flatnonzero((high > low).any(axis=0))
    low, high = low[:, columns], high[:, columns]
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return None
    if (packed[:, 4:6, 3] != packed[0, 4:6, 3]).any():  # other frames, or other axes
        return None
    turns = (high - low >= 2.0 * pi).all(axis=0) & turn[columns]
    if (low == low[0]).all() and (high == high[0]).all():
        low, high = low[:1], high[:1]
    return Freedom(packed, R_frame_tip, tuple(columns.tolist()), low, high, turns)


def _boxed_aims(values: Floats) -> tuple[Floats, Floats]:
    """(m, 8, 4) aims as poses whose turn about z is free, and the rotation of the link in these.

    The poses turn as little as possible from one aim to the next.
    """
    packed = np.zeros((len(values), 8, 4))
    packed[:, :3, 3], packed[:, 3, 3] = values[:, 0], 1.0
    packed[:, 6:, 2], packed[:, 5, 3] = (-FREE_ROTATION, FREE_ROTATION), 2.0
    rotation = rotations_to_axes(values[:1, 1])[0]
    for pose, z in zip(packed, values[:, 1], strict=True):
        y = rotation[:, 1] - z * (z @ rotation[:, 1])
        if y @ y < MIN_SINE**2:  # z is along the previous y
            y = -rotation[:, 2] + z * (z @ rotation[:, 2])
        y /= sqrt(y @ y)
        x = y[1] * z[2] - y[2] * z[1], y[2] * z[0] - y[0] * z[2], y[0] * z[1] - y[1] * z[0]
        rotation = np.array([x, y, z]).T
        pose[:3, :3] = rotation
    return packed, rotations_to_axes(values[:1, 2])[0].T


class Samples(NamedTuple):
    """Values at which free quantities are sampled.

    Attributes:
        units: (s, f) the samples of all free quantities, as shares of their ranges.
        spacing: (f,) the distance of neighbours, as a share.
    """

    units: Floats
    spacing: Floats


def even_samples(widths: Floats, turns: Bools, spacing: Floats, most: int) -> Samples:
    """Samples of ranges at the given spacing, or at a wider one if there would be too many.

    Args:
        widths: (f,) widths of the ranges [rad, m].
        turns: (f,) which of them are full turns: their ends are one.
        spacing: (f,) the largest distance of neighbours [rad, m].
        most: Largest number of samples.
    """
    least = np.where(turns, MIN_TURN, MIN_INTERVAL)
    counts = [
        max(ceil(width / apart) + (not turn), fewest)
        for width, apart, turn, fewest in zip(widths, spacing, turns, least, strict=True)
    ]
    while prod(counts) > most and any(c > f for c, f in zip(counts, least, strict=True)):
        k = int(np.argmax(counts / least))
        counts[k] = max(int(LOWERED * counts[k]), int(least[k]))
    if not counts:
        return Samples(np.zeros((1, 0)), np.zeros(0))
    axes = [np.arange(c) / (c if turn else c - 1) for c, turn in zip(counts, turns, strict=True)]
    units = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, len(axes))
    return Samples(units, np.array([axis[1] for axis in axes]))
