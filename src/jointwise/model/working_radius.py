"""The farthest that an arm reaches from its first axis, within its joint limits."""

import numpy as np

from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.model.arm import ArmModel

# Number of configurations from which the search starts, drawn with a fixed seed.
STARTS = 64
# Least gain of a sweep [m], below which the search ends, and the most sweeps.
MIN_GAIN, MAX_SWEEPS = 1e-9, 300
# Travel of an unlimited prismatic joint, in sizes of the arm: its effect is then clear of rounding.
UNLIMITED = 1e6
# The direction in which the end effector is moved as far as possible; across the axis.
DIRECTION = np.array([1.0, 0.0, 0.0])


def working_radius(arm: ArmModel) -> float:
    """Greatest distance of the end effector from the axis of the first revolute joint [m].

    From tip to base, each joint takes the value in its limits that moves the end effector farthest
    in a fixed direction across the axis. Such sweeps are repeated until they gain nothing, from
    many starts. The first revolute joint is free, because the distance does not depend on it.

    Returns:
        The distance; infinite if an unlimited prismatic joint leads away from the axis, NaN if no
        joint is revolute.
    """
    if arm.prismatic.all():
        return np.nan
    first = int(np.argmin(arm.prismatic))
    links, prismatic, limits = arm.links[first:], arm.prismatic[first:], arm.limits[first:].copy()
    travel = np.abs(limits[prismatic])
    size = np.linalg.norm(links[1:, :, 3], axis=1).sum() + travel[np.isfinite(travel)].sum()
    size = size or 1.0
    limits[prismatic] = np.clip(limits[prismatic], -UNLIMITED * size, UNLIMITED * size)
    limits[0] = -np.inf, np.inf
    limits[np.isinf(limits).any(axis=1)] = -np.pi, np.pi
    low, high = limits.T
    q = np.random.default_rng(0).uniform(low, high, (STARTS, len(low)))
    farthest = -np.inf
    for _ in range(MAX_SWEEPS):
        distance = _sweep(links, prismatic, low, high, q).max()
        if distance - farthest < MIN_GAIN:
            break
        farthest = distance
    return float(distance) if distance <= 2.0 * size else np.inf


def _sweep(links: Floats, prismatic: Bools, low: Floats, high: Floats, q: Floats) -> Floats:
    """Move each joint of the arms at q (k, n) to its best value; return (k,) their reach [m]."""
    directions = [np.tile(DIRECTION, (len(q), 1))]  # in the frame in which each joint moves
    for i, link in enumerate(links[1:-1]):
        direction = directions[i]
        if not prismatic[i]:
            direction = _rotate_z(direction, np.cos(q[:, i]), -np.sin(q[:, i]))
        directions.append(direction @ link[:, :3])
    tip = np.tile(links[-1, :, 3], (len(q), 1))
    for i in reversed(range(len(prismatic))):
        x, y, z = directions[i].T
        if prismatic[i]:
            q[:, i] = np.where(z > 0.0, high[i], low[i])
            tip[:, 2] += q[:, i]
        else:
            best = np.arctan2(y * tip[:, 0] - x * tip[:, 1], x * tip[:, 0] + y * tip[:, 1])
            middle, half = 0.5 * (low[i] + high[i]), 0.5 * (high[i] - low[i])
            offset = (best - middle + np.pi) % (2.0 * np.pi) - np.pi
            q[:, i] = middle + np.clip(offset, -half, half)
            tip = _rotate_z(tip, np.cos(q[:, i]), np.sin(q[:, i]))
        if i > 0:
            tip = tip @ links[i, :, :3].T + links[i, :, 3]
    distances: Floats = tip @ DIRECTION
    return distances


def _rotate_z(vectors: Floats, cosine: Floats, sine: Floats) -> Floats:
    """(k, 3) vectors, rotated about z."""
    x, y, z = vectors.T
    return np.stack([cosine * x - sine * y, sine * x + cosine * y, z], axis=1)
