"""Cyclic Coordinate Descent: one sweep in O(n), and sweep after sweep until the tip is there.

A sweep goes from tip to base. The frame of joint i depends only on the joints before i,
which have not moved yet, so nothing is computed twice: the goal is pulled outward into every
joint's frame once, then the tips are pushed inward. Both meet in the frame of joint i, where
the axis is z and projecting onto the plane across it is dropping z.

Each joint takes the value that is best for E, the weighted sum of squared distances between
tips and goal. Along one turn E is a single sinusoid, along one slide a parabola, so the best
value is known in closed form, between limits too, and E never rises.
"""

from math import atan2, ceil, floor, pi, sqrt

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
from jointwise.kernels.jit import jit

TURN = 2.0 * pi

# Below this share of the largest pull a joint could feel, what pulls it is rounding.
NOISE = 1e-14


@jit
def best_turn(ex: float, ey: float, tx: float, ty: float) -> tuple[float, float]:
    """(A, B): the best turn about z that carries (ex, ey) onto (tx, ty) is atan2(B, A).

    No arccos to leave its domain and to lose the angles under 1.5e-8.
    """
    return ex * tx + ey * ty, ex * ty - ey * tx


@jit
def within(bound: Floats, a: float, b: float) -> tuple[float, float]:
    """(cos, sin) of the direction (a, b) or, if that is forbidden, of the better limit."""
    size = sqrt(a * a + b * b)
    c, s = a / size, b / size
    if c * bound[MID_C] + s * bound[MID_S] >= bound[COS_HALF]:
        return c, s
    if a * bound[LOW_C] + b * bound[LOW_S] > a * bound[HIGH_C] + b * bound[HIGH_S]:
        return bound[LOW_C], bound[LOW_S]
    return bound[HIGH_C], bound[HIGH_S]


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
def settle(value: float, lower: float, upper: float) -> float:
    """The turn ``value`` between its limits: the same but for whole turns, or else the nearer."""
    if value > upper:
        inside = value + TURN * floor((upper - value) / TURN)
        if inside >= lower:
            return inside
        return upper if inside + TURN - upper < lower - inside else lower
    if value < lower:
        inside = value + TURN * ceil((lower - value) / TURN)
        if inside <= upper:
            return inside
        return lower if lower - (inside - TURN) < inside - upper else upper
    return value


@jit
def bounded(kind: int, bound: Floats, value: float) -> float:
    """A joint's value between its limits."""
    if kind == REVOLUTE:
        return settle(value, bound[LOWER], bound[UPPER])
    return float(min(max(value, bound[LOWER]), bound[UPPER]))


@jit
def pull(arm: Arm, task: Task, motion: Floats, pulled: Floats) -> tuple[float, float]:
    """Carry the goal outward; write where each joint sees it, before it moves.

    Returns the squared distance of the tip and that of all directions from their goal.
    """
    links, kinds, _, _ = arm
    tips, goal, weights = task
    squared, turned = 0.0, 0.0
    for k in range(len(weights)):
        shift = 1.0 if k == 0 else 0.0
        x, y, z = goal[k, 0], goal[k, 1], goal[k, 2]
        for i in range(kinds.size):
            x, y, z = into(links[i], x, y, z, shift)
            pulled[i, k, 0], pulled[i, k, 1], pulled[i, k, 2] = x, y, z
            a, b = motion[i, 0], motion[i, 1]
            if kinds[i] == REVOLUTE:
                x, y = a * x + b * y, a * y - b * x
            else:
                z -= shift * a
        x, y, z = x - tips[k, 0], y - tips[k, 1], z - tips[k, 2]
        if k == 0:
            squared = x * x + y * y + z * z
        else:
            turned += x * x + y * y + z * z
    return squared, turned


@jit
def sweep(
    arm: Arm, task: Task, motion: Floats, wound: Floats, pulled: Floats, seen: Floats, noise: float
) -> float:
    """Move every joint, tip to base, to where it is best; return the largest move.

    ``wound`` is what ``wind`` made of the start; turns are counted there. ``seen`` is scratch.
    A joint that is pulled by no more than ``noise`` cannot help and stays.
    """
    links, kinds, bounds, springs = arm
    tips, _, weights = task
    m = len(weights)
    for k in range(m):
        seen[k, 0], seen[k, 1], seen[k, 2] = tips[k, 0], tips[k, 1], tips[k, 2]
    largest = 0.0
    for i in range(kinds.size - 1, -1, -1):
        link, bound, spring = links[i], bounds[i], springs[i]
        c, s = motion[i, 0], motion[i, 1]
        if kinds[i] == REVOLUTE:
            a, b = spring[0] * c + spring[1], spring[0] * s + spring[2]
            for k in range(m):
                cosine, sine = best_turn(seen[k, 0], seen[k, 1], pulled[i, k, 0], pulled[i, k, 1])
                a, b = a + weights[k] * cosine, b + weights[k] * sine
            if a * a + b * b > noise * noise:
                a, b = within(bound, a, b)
                wound[i, 0] += TURN * laps(c, s, a, b)
                wound[i, 1] = 1.0
                largest = max(largest, abs(a - c), abs(b - s))
                motion[i, 0], motion[i, 1] = a, b
                c, s = a, b
            for k in range(m):
                x, y = seen[k, 0], seen[k, 1]
                seen[k, 0], seen[k, 1] = c * x - s * y, s * x + c * y
        else:
            if kinds[i] == PRISMATIC:
                best = weights[0] * (pulled[i, 0, 2] - seen[0, 2]) + spring[0] * c + spring[2]
                best /= weights[0] + spring[0] + spring[1]
                slide = min(max(best, bound[LOWER]), bound[UPPER])
                largest = max(largest, abs(slide - c))
                motion[i, 0] = c = slide
            seen[0, 2] += c
        for k in range(m):
            shift = 1.0 if k == 0 else 0.0
            seen[k, 0], seen[k, 1], seen[k, 2] = out_of(
                link, seen[k, 0], seen[k, 1], seen[k, 2], shift
            )
    return largest


@jit
def wind(arm: Arm, q: Floats, motion: Floats, wound: Floats) -> None:
    """Write the motion of ``q`` and, for each joint, what its angle leaves out of its value.

    Beside that stands whether it has moved since: one that has not keeps its value exactly.
    """
    kinds = arm[1]
    motions(kinds, q, motion)
    for i in range(kinds.size):
        wound[i, 0], wound[i, 1] = 0.0, 0.0
        if kinds[i] == REVOLUTE:
            wound[i, 0] = q[i] - angle(motion[i, 0], motion[i, 1])


@jit
def unwind(arm: Arm, motion: Floats, wound: Floats, q: Floats) -> None:
    """Write the values of the joints that moved, with all their turns, between their limits."""
    _, kinds, bounds, _ = arm
    for i in range(kinds.size):
        if kinds[i] == PRISMATIC:
            q[i] = motion[i, 0]
        elif wound[i, 1] > 0.0:
            value = wound[i, 0] + angle(motion[i, 0], motion[i, 1])
            q[i] = bounded(REVOLUTE, bounds[i], value)
