"""A plan with times: a trapezoid of velocity on every edge, at rest at every waypoint."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, sqrt
from os import PathLike

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.results.table_file import save_columns

# Most samples of a timed plan.
MAX_SAMPLES = 10_000_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TimedPlan:
    """Joint values at evenly spaced times, at rest at every waypoint. Arrays are read-only.

    Attributes:
        times: (m,) times from the start [s].
        q: (m, n) joint values [rad, m] on the edges of the plan, including all waypoints.
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
    waypoints: Floats, names: tuple[str, ...], velocity: Floats, acceleration: Floats, dt: float
) -> TimedPlan:
    """Time each edge separately: accelerate, move at constant velocity, brake.

    The duration of an edge is rounded up to a multiple of ``dt``, so that its ends are samples.

    Args:
        waypoints: (k, n) joint values [rad, m], at least one.
        names: Names of the joints.
        velocity: (n,) velocity limits [rad/s, m/s].
        acceleration: (n,) acceleration limits [rad/s², m/s²].
        dt: Time between samples [s].
    """
    q, velocities, total = [waypoints[:1]], [np.zeros((1, waypoints.shape[1]))], 0
    for before, after in pairwise(waypoints):
        change = after - before
        if not change.any():
            continue
        rate, push = _least_share(velocity, change), _least_share(acceleration, change)
        rate = min(rate, sqrt(push))  # half of the edge to accelerate, half to brake
        exact = 1.0 / rate + rate / push
        count = max(ceil(exact / dt), 1)
        total += count
        if total > MAX_SAMPLES:
            raise InvalidInputError(
                f"dt is {dt:g}: the plan would have more than {MAX_SAMPLES:,} samples. Raise dt or "
                "the limits."
            )
        scale = exact / (count * dt)
        times: Floats = np.arange(1.0, count + 1.0) * (dt * scale)
        share, speed = _trapezoid(times, rate, push, exact)
        share[-1], speed[-1] = 1.0, 0.0
        edge = before + share[:, None] * change
        edge[-1] = after
        q.append(edge)
        velocities.append((scale * speed)[:, None] * change)
    all_times: Floats = np.arange(total + 1.0) * dt
    arrays = all_times, np.concatenate(q), np.concatenate(velocities)
    for array in arrays:
        array.setflags(write=False)
    return TimedPlan(*arrays, names)


def _least_share(limits: Floats, change: Floats) -> float:
    """The largest rate of an edge [1/s], or its change [1/s²], at which all joints keep limits."""
    moves = change != 0.0
    return float((limits[moves] / np.abs(change[moves])).min())


def _trapezoid(times: Floats, rate: float, push: float, end: float) -> tuple[Floats, Floats]:
    """(m,) shares of an edge at the given times and their rates [1/s], for a trapezoid."""
    ramp = rate / push
    early, late = np.minimum(times, ramp), np.clip(times - (end - ramp), 0.0, ramp)
    steady = np.clip(times - ramp, 0.0, end - 2.0 * ramp)
    share = 0.5 * push * early**2 + rate * steady + rate * late - 0.5 * push * late**2
    return share, push * early - push * late


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
