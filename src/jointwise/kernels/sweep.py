"""Cyclic Coordinate Descent: one sweep in O(n), and sweep after sweep until the tip is there.

A sweep goes from tip to base. The frame of joint i depends only on the joints before i,
which have not moved yet, so nothing is computed twice: the goal is pulled outward into every
joint's frame once, then the tips are pushed inward. Both meet in the frame of joint i, where
the axis is z and projecting onto the plane across it is dropping z.

Each joint takes the value that is best for E, the weighted sum of squared distances between
tips and goal. Along one turn E is a single sinusoid, along one slide a parabola, so the best
value is known in closed form, between limits too, and E never rises.
"""

from math import pi, sqrt

from jointwise.kernels import (
    COS_HALF,
    HIGH_C,
    HIGH_S,
    LOW_C,
    LOW_S,
    LOWER,
    MID_C,
    MID_S,
    PRISMATIC,
    REVOLUTE,
    UPPER,
    Arm,
    Floats,
    Task,
)
from jointwise.kernels.fk import into, motions, out_of
from jointwise.kernels.jit import hot, jit
from jointwise.kernels.lanes import floor, some, where
from jointwise.kernels.local import XYZ, local
from jointwise.kernels.trig import angle_of

TURN = 2.0 * pi

# Below this share of the largest pull a joint could feel, what pulls it is rounding.
NOISE = 1e-14


@hot
def best_turn(ex: float, ey: float, tx: float, ty: float) -> tuple[float, float]:
    """(A, B): the best turn about z that carries (ex, ey) onto (tx, ty) is atan2(B, A).

    No arccos to leave its domain and to lose the angles under 1.5e-8.
    """
    return ex * tx + ey * ty, ex * ty - ey * tx


@hot
def larger(a: float, b: float) -> float:
    """The larger of two numbers."""
    return where(a > b, a, b)


@hot
def within(bounds: Floats, i: int, a: float, b: float) -> tuple[float, float]:
    """(cos, sin) of the direction (a, b) or, if joint i may not go there, of the better limit."""
    size = sqrt(a * a + b * b)
    c, s = a / size, b / size
    inside = c * bounds[i, MID_C] + s * bounds[i, MID_S] >= bounds[i, COS_HALF]
    lower = a * bounds[i, LOW_C] + b * bounds[i, LOW_S]
    lower_is_better = lower > a * bounds[i, HIGH_C] + b * bounds[i, HIGH_S]
    end_c = where(lower_is_better, bounds[i, LOW_C], bounds[i, HIGH_C])
    end_s = where(lower_is_better, bounds[i, LOW_S], bounds[i, HIGH_S])
    return where(inside, c, end_c), where(inside, s, end_s)


@hot
def angle(c: float, s: float) -> float:
    """The angle of the direction (c, s), in [-pi, pi)."""
    return where((s == 0.0) & (c < 0.0), -pi, angle_of(c, s))


@hot
def low(c: float, s: float) -> bool:
    """Whether the direction (c, s) is in the lower half, where its angle is negative."""
    return (s < 0.0) | ((s == 0.0) & (c < 0.0))


@hot
def laps(c: float, s: float, c_new: float, s_new: float) -> float:
    """Full turns that make ``angle`` continue through ±pi, for a turn in (-pi, pi].

    The angle jumps only where the direction changes half-plane on the far side. It does
    if a counterclockwise turn ends in the lower half, or a clockwise one in the upper.
    """
    ends_low = low(c_new, s_new)
    counterclockwise = c * s_new - s * c_new >= 0.0
    one = where(counterclockwise, 1.0, -1.0)
    return where(low(c, s) ^ ends_low, where(counterclockwise ^ ends_low, 0.0, one), 0.0)


@hot
def settle(value: float, lower: float, upper: float) -> float:
    """The turn ``value`` between its limits: the same but for whole turns, or else the nearer."""
    over, under = value > upper, value < lower
    if not some(over | under):
        return value
    inside = value + TURN * where(
        over, floor((upper - value) / TURN), -floor((value - lower) / TURN)
    )
    below = where(over, inside, inside - TURN)
    nearer = where(below + TURN - upper < lower - below, upper, lower)
    fits = (inside >= lower) & (inside <= upper)
    return where(over | under, where(fits, inside, nearer), value)


@hot
def bounded(kind: float, bounds: Floats, i: int, value: float) -> float:
    """The value of joint i between its limits."""
    if kind == REVOLUTE:
        return settle(value, bounds[i, LOWER], bounds[i, UPPER])
    value = where(value < bounds[i, LOWER], bounds[i, LOWER], value)
    return where(value > bounds[i, UPPER], bounds[i, UPPER], value)


@hot
def pull(arm: Arm, task: Task, motion: Floats, pulled: Floats) -> tuple[float, float]:
    """Carry the goal outward; write where each joint sees it, before it moves.

    Returns the squared distance of the tip and that of all directions from their goal.
    """
    links, kinds, _, _ = arm
    tips, goal, weights = task
    squared = turned = 0.0 * goal[0, 0]
    for k in range(len(weights)):
        x, y, z = goal[k, 0], goal[k, 1], goal[k, 2]
        for i in range(kinds.size):
            if k == 0:
                x, y, z = x - links[i, 0, 3], y - links[i, 1, 3], z - links[i, 2, 3]
            x, y, z = into(links, i, x, y, z)
            pulled[i, k, 0], pulled[i, k, 1], pulled[i, k, 2] = x, y, z
            a, b = motion[i, 0], motion[i, 1]
            if kinds[i] == REVOLUTE:
                x, y = a * x + b * y, a * y - b * x
            elif k == 0:
                z = z - a
        x, y, z = x - tips[k, 0], y - tips[k, 1], z - tips[k, 2]
        if k == 0:
            squared = x * x + y * y + z * z
        else:
            turned = turned + (x * x + y * y + z * z)
    return squared, turned


@hot
def sweep(
    arm: Arm,
    task: Task,
    motion: Floats,
    wound: Floats,
    pulled: Floats,
    noise: float,
    active: bool,
) -> float:
    """Move every joint, tip to base, to where it is best; return the largest move.

    ``wound`` is what ``wind`` made of the start; turns are counted there.
    A joint that is pulled by no more than ``noise`` cannot help and stays. Where the solve is
    not ``active``, all stay.
    """
    links, kinds, bounds, springs = arm
    tips, _, weights = task
    zero = 0.0 * motion[0, 0]
    m, seen = len(weights), local(weights, XYZ, zero)
    largest: float = zero
    for k in range(m):
        for axis in range(3):
            seen[k, axis] = zero + tips[k, axis]
    for i in range(kinds.size - 1, -1, -1):
        c, s = motion[i, 0], motion[i, 1]
        if kinds[i] == REVOLUTE:
            a, b = springs[i, 0] * c + springs[i, 1], springs[i, 0] * s + springs[i, 2]
            for k in range(m):
                cosine, sine = best_turn(seen[k, 0], seen[k, 1], pulled[i, k, 0], pulled[i, k, 1])
                a, b = a + weights[k] * cosine, b + weights[k] * sine
            moves = active & (a * a + b * b > noise * noise)
            a, b = within(bounds, i, a, b)
            a, b = where(moves, a, c), where(moves, b, s)
            wound[i, 0] = wound[i, 0] + TURN * laps(c, s, a, b)
            wound[i, 1] = where(moves, 1.0, wound[i, 1])
            largest = larger(largest, larger(abs(a - c), abs(b - s)))
            motion[i, 0], motion[i, 1] = c, s = a, b
            for k in range(m):
                x, y = seen[k, 0], seen[k, 1]
                seen[k, 0], seen[k, 1] = c * x - s * y, s * x + c * y
        else:
            if kinds[i] == PRISMATIC:
                best = weights[0] * (pulled[i, 0, 2] - seen[0, 2])
                best = best + (springs[i, 0] * c + springs[i, 2])
                best = best / (weights[0] + springs[i, 0] + springs[i, 1])
                slide = where(active, bounded(PRISMATIC, bounds, i, best), c)
                largest = larger(largest, abs(slide - c))
                motion[i, 0] = c = slide
            seen[0, 2] = seen[0, 2] + c
        for k in range(m):
            seen[k, 0], seen[k, 1], seen[k, 2] = out_of(
                links, i, seen[k, 0], seen[k, 1], seen[k, 2]
            )
        for axis in range(3):
            seen[0, axis] = seen[0, axis] + links[i, axis, 3]
    return largest


@jit
def wind(arm: Arm, q: Floats, motion: Floats, wound: Floats) -> None:
    """Write the motion of ``q`` and, for each joint, what its angle leaves out of its value.

    Beside that stands whether it has moved since: one that has not keeps its value exactly.
    """
    kinds = arm[1]
    motions(kinds, q, motion)
    for i in range(kinds.size):
        wound[i, 0], wound[i, 1] = 0.0 * q[i], 0.0 * q[i]
        if kinds[i] == REVOLUTE:
            around = floor(q[i] / TURN + 0.5)
            # At ±pi the direction's sine decides.
            there = floor(q[i] / TURN) + where(low(motion[i, 0], motion[i, 1]), 1.0, 0.0)
            wound[i, 0] = TURN * where(abs(q[i] - TURN * around) > 3.0, there, around)


@jit
def unwind(arm: Arm, motion: Floats, wound: Floats, q: Floats) -> None:
    """Write the values of the joints that moved, with all their turns, between their limits."""
    _, kinds, bounds, _ = arm
    for i in range(kinds.size):
        if kinds[i] == PRISMATIC:
            q[i] = motion[i, 0]
        elif kinds[i] == REVOLUTE:
            value = wound[i, 0] + angle(motion[i, 0], motion[i, 1])
            q[i] = where(wound[i, 1] > 0.0, bounded(REVOLUTE, bounds, i, value), q[i])
