"""Cyclic Coordinate Descent: one sweep in O(n), and sweep after sweep until the tip is there.

A sweep goes from tip to base. The frame of joint i depends only on the joints before i,
which have not moved yet, so nothing is computed twice: the target is pulled outward into
every joint's frame once, then the tip is pushed inward. Both meet in the frame of joint i,
where the axis is z and projecting onto the plane across it is dropping z.
"""

from math import atan2, cos, nan, pi, sin, sqrt

import numpy as np

from jointwise.kernels import Floats, Kinds
from jointwise.kernels.fk import REVOLUTE, into, motions, out_of, tip_position, workable
from jointwise.kernels.jit import jit

# Tip or target this close to a joint's axis, as a share of the arm's size, tells it no
# direction to turn: what is left there is rounding.
ON_AXIS = 1e-10
# Lengths below this vanish when squared twice [m].
NOTHING = 1e-75


@jit
def best_turn(ex: float, ey: float, tx: float, ty: float) -> tuple[float, float]:
    """(A, B): the best turn about z that carries (ex, ey) onto (tx, ty) is atan2(B, A).

    No arccos to leave its domain and to lose the angles under 1.5e-8.
    """
    return ex * tx + ey * ty, ex * ty - ey * tx


@jit
def angle(c: float, s: float) -> float:
    """The angle of the direction (c, s), in [-pi, pi)."""
    return -pi if s == 0.0 and c < 0.0 else atan2(s, c)


@jit
def laps(c: float, s: float, c_new: float, s_new: float) -> int:
    """Full turns that make ``angle`` continue through ±pi, for a turn in (-pi, pi].

    The angle jumps only where the direction changes half-plane on the far side. It does
    if a counterclockwise turn ends in the lower half, or a clockwise one in the upper.
    """
    low = s < 0.0 or (s == 0.0 and c < 0.0)
    low_new = s_new < 0.0 or (s_new == 0.0 and c_new < 0.0)
    counterclockwise = c * s_new - s * c_new >= 0.0
    if low == low_new or counterclockwise != low_new:
        return 0
    return 1 if counterclockwise else -1


@jit
def pull(links: Floats, kinds: Kinds, motion: Floats, target: Floats, pulled: Floats) -> float:
    """Carry the target outward; write where each joint sees it; return how far off the tip is."""
    x, y, z = target[0], target[1], target[2]
    n = kinds.size
    for i in range(n):
        x, y, z = into(links[i], x, y, z)
        pulled[i, 0], pulled[i, 1] = x, y
        a, b = motion[i, 0], motion[i, 1]
        if kinds[i] == REVOLUTE:
            x, y = a * x + b * y, a * y - b * x
        else:
            z -= a
    x, y, z = x - links[n, 0, 3], y - links[n, 1, 3], z - links[n, 2, 3]
    return sqrt(x * x + y * y + z * z)


@jit
def sweep(
    links: Floats, kinds: Kinds, motion: Floats, wound: Floats, pulled: Floats, on_axis: float
) -> None:
    """Turn every revolute joint, tip to base, to where it brings the tip closest.

    ``wound`` holds each joint's first value and, counted here, its laps since.
    A joint with tip or target within ``on_axis`` of its axis cannot help and stays.
    """
    n = kinds.size
    x, y, z = links[n, 0, 3], links[n, 1, 3], links[n, 2, 3]
    for i in range(n - 1, -1, -1):
        c, s = motion[i, 0], motion[i, 1]
        if kinds[i] == REVOLUTE:
            tx, ty = pulled[i, 0], pulled[i, 1]
            if min(x * x + y * y, tx * tx + ty * ty) > on_axis * on_axis:
                a, b = best_turn(x, y, tx, ty)
                size = sqrt(a * a + b * b)
                a, b = a / size, b / size
                wound[i, 1] += laps(c, s, a, b)
                motion[i, 0], motion[i, 1] = a, b
                c, s = a, b
            x, y = c * x - s * y, s * x + c * y
        else:
            z += c
        x, y, z = out_of(links[i], x, y, z)


@jit
def measure(
    links: Floats, kinds: Kinds, motion: Floats, wound: Floats, target: Floats, q: Floats
) -> float:
    """Write the joint values, where each started plus all it turned since; return their error.

    The error is that of the values themselves, by forward kinematics from scratch.
    """
    for i in range(kinds.size):
        if kinds[i] == REVOLUTE:
            start, lap = wound[i, 0], wound[i, 1]
            turned = angle(motion[i, 0], motion[i, 1]) - angle(cos(start), sin(start))
            q[i] = start + (turned + 2.0 * pi * lap)
    fresh = np.empty_like(motion)
    motions(kinds, q, fresh)
    x, y, z = tip_position(links, kinds, fresh)
    x, y, z = x - target[0], y - target[1], z - target[2]
    return sqrt(x * x + y * y + z * z)


@jit
def descend(
    links: Floats,
    kinds: Kinds,
    size: float,
    target: Floats,
    q: Floats,
    tolerance: float,
    max_iterations: int,
) -> tuple[float, int]:
    """Sweep until the error is below ``tolerance``; move ``q`` there: (error, sweeps done).

    ``size`` is the arm's length. Values that are not finite, or too large to compute
    with, are left alone: the error is then NaN.
    """
    if not (workable(target) and workable(q)):
        return nan, 0
    n = kinds.size
    motion = np.empty((n, 2))
    wound = np.zeros((n, 2))
    pulled = np.empty((n, 2))
    motions(kinds, q, motion)
    for i in range(n):
        wound[i, 0] = q[i]
        if kinds[i] != REVOLUTE:
            size += abs(q[i])
    on_axis = max(ON_AXIS * size, NOTHING)
    for iteration in range(max_iterations):
        error = pull(links, kinds, motion, target, pulled)
        if error < tolerance:
            error = measure(links, kinds, motion, wound, target, q)
            if error < tolerance:
                return error, iteration
        sweep(links, kinds, motion, wound, pulled, on_axis)
    return measure(links, kinds, motion, wound, target, q), max_iterations
