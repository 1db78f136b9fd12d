"""Laws of a motion within limits, checked in NumPy from joint values alone, without jointwise."""

from typing import NamedTuple

import numpy as np


class Limits(NamedTuple):
    """What a motion keeps to; arrays (n,), or numbers for all joints."""

    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray | float
    acceleration: np.ndarray | float
    jerk: np.ndarray | float = np.inf


def violations(q: np.ndarray, dt: float, limits: Limits) -> dict[str, int]:
    """How many of the joint values (m, n), sampled every dt [s], pass each limit.

    Rates are differences of neighbours; what the rounding of joint values adds to them is allowed.
    """
    rounding = 4e-16 * max(np.abs(q).max(), 1.0)
    outside = (q < limits.lower - rounding) | (q > limits.upper + rounding)
    counts, values = {"position": int(outside.sum())}, q
    for name in ("velocity", "acceleration", "jerk"):
        values, rounding = np.diff(values, axis=0) / dt, 2.0 * rounding / dt
        counts[name] = int((np.abs(values) > getattr(limits, name) + rounding).sum())
    return counts


def count_unstoppable(q: np.ndarray, dt: float, limits: Limits) -> int:
    """From how many samples a joint passes a position limit if it brakes as hard as allowed."""
    position, velocity = q[1:].copy(), np.diff(q, axis=0) / dt
    outside = np.zeros(position.shape, bool)
    while velocity.any():
        slower = np.maximum(np.abs(velocity) - limits.acceleration * dt, 0.0)
        velocity = np.sign(velocity) * slower
        position += dt * velocity
        outside |= (position < limits.lower - 1e-10) | (position > limits.upper + 1e-10)
    return int(outside.sum())
