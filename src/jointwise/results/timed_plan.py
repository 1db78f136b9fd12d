"""A plan with times: a trapezoid of velocity on every edge, blends at constant speed."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, sqrt
from os import PathLike
from typing import NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.results.path_pieces import Piece, boundary_speeds, least_share
from jointwise.results.table_file import save_columns

# Largest number of samples of a timed plan.
MAX_SAMPLES = 10_000_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TimedPlan:
    """Joint values at evenly spaced times, at rest at every corner. Arrays are read-only.

    Attributes:
        times: (m,) times from the start [s].
        q: (m, n) joint values [rad, m] on the edges and blends of the plan, including its start,
            its end, and all corners.
        velocities: (m, n) velocities of the joints [rad/s, m/s].
        joint_names: (n,) the names of the joints.

    Example:
        >>> from jointwise import Chain
        >>> arm = Chain.load("ur5e").with_scene()
        >>> plan = arm.plan(q=arm.home + 0.1, start=arm.home)
        >>> motion = plan.timed(max_velocity=1.0, max_acceleration=10.0)
        >>> motion.q.shape == motion.velocities.shape == (len(motion.times), 6)
        True
    """

    times: Floats
    q: Floats
    velocities: Floats
    joint_names: tuple[str, ...]

    @property
    def duration(self) -> float:
        """Time from the first to the last waypoint [s]."""
        return float(self.times[-1])

    def save(self, path: str | PathLike[str]) -> None:
        """Write times, joint values and velocities to a ``.csv``, ``.npz`` or ``.parquet`` file."""
        columns = {"time": self.times, **dict(zip(self.joint_names, self.q.T, strict=True))}
        names = (f"{name}_velocity" for name in self.joint_names)
        columns |= dict(zip(names, self.velocities.T, strict=True))
        arrays = {"times": self.times, "q": self.q, "velocities": self.velocities}
        save_columns(path, columns, arrays | {"joint_names": np.array(self.joint_names)})

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return f"<TimedPlan of {self.duration:.3g} s, {len(self)} samples>"


def timed_plan(
    start: Floats,
    pieces: Sequence[Piece],
    names: tuple[str, ...],
    limits: tuple[Floats, Floats],
    dt: float,
) -> TimedPlan:
    """Time the pieces of a path: a trapezoid of velocity on an edge, constant speed on a blend.

    The time from one rest to the next is rounded up to a multiple of ``dt``, so rests are samples.

    Args:
        start: (n,) where the path begins [rad, m].
        pieces: The pieces of the path; those of zero length are left out.
        names: Names of the joints.
        limits: (n,) velocity [rad/s, m/s] and acceleration limits [rad/s², m/s²].
        dt: Time between samples [s].
    """
    moving = [piece for piece in pieces if piece.slope.any()]
    speeds = boundary_speeds(moving, *limits)
    q, velocities, total = [start[None]], [np.zeros((1, len(start)))], 0
    rests = np.flatnonzero(speeds == 0.0).tolist()
    for first, last in pairwise(rests):
        timings = [_timing(moving[i], speeds[i : i + 2], *limits) for i in range(first, last)]
        ends = np.cumsum([timing.duration for timing in timings])
        exact = float(ends[-1])
        count = max(ceil(exact / dt), 1)
        total += count
        if total > MAX_SAMPLES:
            raise InvalidInputError(
                f"dt is {dt:g}: the plan would have more than {MAX_SAMPLES:,} samples. Raise dt or "
                "the limits."
            )
        scale = exact / (count * dt)
        times: Floats = np.arange(1.0, count + 1.0) * (dt * scale)
        which = np.minimum(np.searchsorted(ends, times), len(ends) - 1)
        for i, timing in enumerate(timings):
            piece, own = moving[first + i], times[which == i] - (ends[i] - timing.duration)
            share, rate = timing.at(own)
            if i == len(timings) - 1:
                share[-1], rate[-1] = 1.0, 0.0
            q.append(piece.at(share))
            velocities.append((scale * rate)[:, None] * piece.slope_at(share))
    all_times: Floats = np.arange(total + 1.0) * dt
    arrays = all_times, np.concatenate(q), np.concatenate(velocities)
    for array in arrays:
        array.setflags(write=False)
    return TimedPlan(*arrays, names)


class _Timing(NamedTuple):
    """How the share of a piece grows: accelerating, at a constant rate, and braking.

    Attributes:
        begin: Rate at the beginning [1/s].
        peak: The largest rate [1/s].
        push: Its derivative while it rises or falls [1/s²].
        ramps: How long it rises and how long it falls [s].
        duration: Time from the beginning to the end [s].
    """

    begin: float
    peak: float
    push: float
    ramps: tuple[float, float]
    duration: float

    def at(self, times: Floats) -> tuple[Floats, Floats]:
        """(m,) shares of the piece at times (m,) and their rates [1/s]."""
        up, down = self.ramps
        early, late = np.minimum(times, up), np.clip(times - (self.duration - down), 0.0, down)
        steady = np.clip(times - up, 0.0, max(self.duration - up - down, 0.0))
        share = self.begin * early + 0.5 * self.push * early**2 + self.peak * steady
        share += self.peak * late - 0.5 * self.push * late**2
        return share, self.begin + self.push * early - self.push * late


def _timing(piece: Piece, speeds: Floats, velocity: Floats, acceleration: Floats) -> _Timing:
    """The quickest motion along a piece between speeds (2,) at its ends, by the norm."""
    begin, end = (speeds / np.linalg.norm(piece.slope)).tolist()
    if piece.is_blend:
        return _Timing(begin, begin, 0.0, (0.0, 0.0), 1.0 / begin)
    rate, push = least_share(velocity, piece.slope), least_share(acceleration, piece.slope)
    peak = max(min(rate, sqrt(push + 0.5 * (begin**2 + end**2))), begin, end)
    up, down = (peak - begin) / push, (peak - end) / push
    ramped = 0.5 * (up * (begin + peak) + down * (peak + end))
    return _Timing(begin, peak, push, (up, down), up + max(1.0 - ramped, 0.0) / peak + down)


def checked_acceleration(given: object, n: int) -> Floats:
    """(n,) acceleration limits, from one for all joints or one per joint."""
    array = checks.floats("max_acceleration", given)  # type: ignore[arg-type]
    if array.ndim:
        array = checks.joint_values("max_acceleration", array, n)
    if not ((array > 0.0) & np.isfinite(array)).all():
        raise InvalidInputError(
            f"max_acceleration is {checks.short(given)}: expected finite numbers above zero."
        )
    return np.broadcast_to(array, (n,))
