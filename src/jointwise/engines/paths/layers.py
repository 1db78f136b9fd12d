"""Layers: all solutions of each waypoint of a path, at samples of all free quantities."""

from math import pi
from typing import NamedTuple

import numpy as np

from jointwise.backends.progress import Report
from jointwise.engines.paths.freedom import DEVIATIONS, Freedom, even_samples
from jointwise.engines.paths.sampled_arm import JOINT, SampledArm
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Bools, Floats, Ints
from jointwise.kernels.layout.closed_form import BRANCHES

# Largest number of solutions of a path: 1.6 GB.
MAX_NODES = 50_000_000
# Largest distance of neighbouring samples, as a share of the largest step.
SHARE = 0.2
# Largest distance of neighbouring samples [rad, m]; those of a redundancy are closer.
MAX_SPACING, MAX_REDUNDANCY_SPACING = 0.05, pi / 128.0
# Number of poses that are solved at a time.
ROWS = 16_384
TURN = 2.0 * pi


class Layer(NamedTuple):
    """The solutions of a waypoint.

    Attributes:
        q: (k, n) joint values [rad, m], in single precision to save memory.
        samples: (k,) the index of the sample of each.
    """

    q: np.ndarray
    samples: np.ndarray

    def some(self, which: np.ndarray) -> "Layer":
        """A layer of some of the solutions."""
        return Layer(self.q[which], self.samples[which])


class Ladder(NamedTuple):
    """The free quantities along a path, and their samples.

    Attributes:
        arm: The arm, and its own parameters.
        freedom: The deviations that targets allow.
        units: (s, f + p) samples of deviations and parameters, as shares of their ranges.
        resolution: The sample spacing of each free quantity, by its name [rad, m].
    """

    arm: SampledArm
    freedom: Freedom
    units: Floats
    resolution: dict[str, float]

    def values(self, rows: slice, units: Floats) -> Floats:
        """(k, s, f + p) values at some waypoints, from shares of that shape or (s, f + p).

        The shape is (1, s, f + p) if all waypoints have the same values.
        """
        own = self.freedom.low, self.freedom.high
        some = [each if len(each) == 1 else each[rows] for each in own]
        ends = zip(some, (self.arm.low, self.arm.high), strict=True)
        low, high = (np.hstack([a, np.tile(b, (len(a), 1))])[:, None] for a, b in ends)
        values: Floats = low + units * (high - low)
        return values

    def solutions(self, rows: slice, values: Floats, near: Floats) -> tuple[Floats, Ints]:
        """(k, s, b, n) solutions at values (k, s, f + p), and (k, s, 2) their numbers."""
        split = len(self.freedom.columns)
        poses = self.freedom.poses(rows, values[..., :split])
        shape = poses.shape[:2]
        parameters = np.broadcast_to(values, (*shape, values.shape[2]))[..., split:]
        flat = parameters.reshape(shape[0] * shape[1], -1)
        q, counts = self.arm.solutions(poses.reshape(-1, 4, 4), flat, near)
        return q.reshape(*shape, *q.shape[1:]), counts.reshape(*shape, 2)

    def values_of(self, q: Floats, T_base_tip: Floats) -> Floats | None:
        """(m, f + p) values at joint values (m, n) that reach the targets; None if unknown.

        Args:
            q: Joint values [rad, m].
            T_base_tip: (m, 4, 4) poses of the end effector there.
        """
        own, form = self.freedom.deviations(T_base_tip), self.arm.form
        parameters = [q[:, : self.arm.external]]
        if form.redundant:
            if form.fixed is None:  # the arm angle
                return None
            parameters.append(q[:, self.arm.external + form.fixed, None])
        return np.hstack([own, *parameters])

    def is_coarse(self, largest_steps: Floats) -> bool:
        """Whether samples are farther apart than the largest steps, so that few paths are possible.

        Sampled joints do not count, because they may stay where they are.
        """
        apart = [each for name, each in self.resolution.items() if not name.startswith(JOINT)]
        return max(apart, default=0.0) > float(largest_steps.max())

    def layers(self, report: Report) -> tuple[list[Layer], Bools]:
        """The solutions of all waypoints, and which have solutions only outside the limits."""
        layers: list[Layer] = []
        count, size = len(self.freedom.packed), max(ROWS // len(self.units), 1)
        outside = np.zeros(count, np.bool_)
        near, short = self.arm.arm.mid_range[None], np.min_scalar_type(len(self.units))
        for begin in range(0, count, size):
            rows = slice(begin, min(begin + size, count))
            q, counts = self.solutions(rows, self.values(rows, self.units), near)
            kept = np.arange(q.shape[2]) < counts[..., :1]
            inside, found = counts.sum(axis=1).T
            samples = np.tile(
                np.repeat(np.arange(kept.shape[1], dtype=short), kept.shape[2]), len(q)
            )
            some, ends = np.flatnonzero(kept), np.cumsum(inside)[:-1]
            solved = q.reshape(-1, q.shape[3]).take(some, axis=0).astype(np.float32)
            parts = np.split(solved, ends), np.split(samples.take(some), ends)
            layers += [Layer(*each) for each in zip(*parts, strict=True)]
            outside[rows] = (inside == 0) & (found > 0)
            report(rows.stop, sum(len(layer.q) > 0 for layer in layers))
        return layers, outside


def make_ladder(arm: SampledArm, freedom: Freedom, largest_steps: Floats, most: int) -> Ladder:
    """Samples for a path.

    Args:
        arm: The arm.
        freedom: The freedom of its targets.
        largest_steps: (n,) smallest limits of the steps of the joints [rad, m].
        most: Largest number of samples of a waypoint.

    Raises:
        InvalidInputError: The solutions would take too much memory.
    """
    count = len(freedom.packed)
    widths = np.append((freedom.high - freedom.low).max(axis=0, initial=0.0), arm.high - arm.low)
    turns = np.append(freedom.turns, arm.turns)
    spacing = np.full(len(widths), min(SHARE * float(largest_steps.max()), MAX_SPACING))
    if arm.form.redundant:
        spacing[-1] = min(spacing[-1], MAX_REDUNDANCY_SPACING)
    samples = even_samples(widths, turns, spacing, most)
    nodes = BRANCHES * count * len(samples.units)
    if nodes > MAX_NODES:
        fewer = MAX_NODES // (BRANCHES * count)
        remedy = "Split the path" + (
            f", or allow {fewer} samples (PathOptions.samples)." if fewer else "."
        )
        raise InvalidInputError(
            f"{count:,} targets at {len(samples.units):,} samples have up to {nodes:,} solutions, "
            f"which take {nodes * 32 / 1e9:.1f} GB: expected at most {MAX_NODES:,}. {remedy}"
        )
    names = [DEVIATIONS[column] for column in freedom.columns] + list(arm.names)
    resolution = dict(zip(names, (samples.spacing * widths).tolist(), strict=True))
    return Ladder(arm, freedom, samples.units, resolution)


def with_turns(layer: Layer, joint: int, low: float, high: float) -> Layer:
    """Repeat each solution for every full turn of a joint inside its limits."""
    parts = []
    value = layer.q[:, joint].astype(float)
    span = TURN if not np.isfinite(high - low) else high - low
    for turn in range(-int(span / TURN) - 1, int(span / TURN) + 2):
        turned = value + TURN * turn
        fits = np.flatnonzero((low - 1e-6 <= turned) & (turned <= high + 1e-6))
        part = layer.some(fits)
        part.q[:, joint] = turned[fits]
        parts.append(part)
    return Layer(*(np.concatenate(each) for each in zip(*parts, strict=True)))
