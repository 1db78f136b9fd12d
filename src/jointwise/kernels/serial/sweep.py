"""One CCD sweep in O(n), for every kind of target, with limits and prismatic joints.

A sweep goes from tip to base. The frame of joint i depends only on the joints before i, which have
not moved yet. So nothing is computed twice: the target is transformed once into every joint's
frame, from base to tip; then the tip is transformed from tip to base. Both meet in the frame of
joint i, whose axis is z, and projecting onto the plane perpendicular to the axis is dropping z.

Each joint takes the value that minimises E, the weighted sum of squared distances between the
tip points and their targets. As a function of one revolute joint E is a sinusoid, of one prismatic
joint a parabola. So the best value has a closed form, also between limits, and E never rises.
"""

from math import pi, sqrt
from typing import NamedTuple

from jointwise.kernels._numba.arrays import QUAD, XYZ, stack_array
from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels._numba.where import any_lane, floor, where
from jointwise.kernels.algebra.trig import TURN, polar_angle
from jointwise.kernels.kinematics.box import nearest_in_box
from jointwise.kernels.kinematics.fk import joint_motions, rotate, rotate_inverse
from jointwise.kernels.kinematics.tasks import point_count
from jointwise.kernels.layout.arm import (
    BOUND_COS_HALF,
    BOUND_LOWER,
    BOUND_LOWER_COS,
    BOUND_LOWER_SIN,
    BOUND_MID_COS,
    BOUND_MID_SIN,
    BOUND_UPPER,
    BOUND_UPPER_COS,
    BOUND_UPPER_SIN,
    PRISMATIC,
    REVOLUTE,
    Arm,
)
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.task import BOX_ROWS, MAX_POINTS, Task

# Columns of ``SweepState.turns``.
OFFSET, MOVED = 0, 1


class SweepState(NamedTuple):
    """Joint values as points of the unit circle, and the target in every joint's frame.

    Attributes:
        motion: (n, 2) cosine and sine of a revolute joint; value and 0 of a prismatic one.
        turns: (n, 2) the multiple of 2π that atan2 drops, and whether the joint has moved: one
            that has not keeps its value exactly.
        targets: (n, m, 3) the target points in the frame in which joint i moves.
    """

    motion: Floats
    turns: Floats
    targets: Floats


@jit_inline
def best_turn(ex: float, ey: float, tx: float, ty: float) -> tuple[float, float]:
    """Unnormalised (cos, sin) of the rotation about z that best maps e onto t.

    atan2 instead of arccos: arccos is inaccurate for angles below 1.5e-8 rad.
    Both values vanish if e or t lies on the axis; the joint then has no effect.
    """
    return ex * tx + ey * ty, ex * ty - ey * tx


@jit_inline
def larger(a: float, b: float) -> float:
    """The larger of two numbers."""
    return where(a > b, a, b)


@jit_inline
def clamp_direction(bounds: Floats, i: int, a: float, b: float) -> tuple[float, float]:
    """(cos, sin) of the direction (a, b); outside the limits of joint i, of the better limit."""
    size = sqrt(a * a + b * b)
    c, s = a / size, b / size
    inside = (
        c * bounds[i, BOUND_MID_COS] + s * bounds[i, BOUND_MID_SIN] >= bounds[i, BOUND_COS_HALF]
    )
    lower = a * bounds[i, BOUND_LOWER_COS] + b * bounds[i, BOUND_LOWER_SIN]
    lower_is_better = lower > a * bounds[i, BOUND_UPPER_COS] + b * bounds[i, BOUND_UPPER_SIN]
    limit_c = where(lower_is_better, bounds[i, BOUND_LOWER_COS], bounds[i, BOUND_UPPER_COS])
    limit_s = where(lower_is_better, bounds[i, BOUND_LOWER_SIN], bounds[i, BOUND_UPPER_SIN])
    return where(inside, c, limit_c), where(inside, s, limit_s)


@jit_inline
def direction_angle(c: float, s: float) -> float:
    """The angle of the direction (c, s), in [-pi, pi)."""
    return where((s == 0.0) & (c < 0.0), -pi, polar_angle(c, s))


@jit_inline
def in_lower_half(c: float, s: float) -> bool:
    """Whether the direction (c, s) has a negative ``direction_angle``."""
    return (s < 0.0) | ((s == 0.0) & (c < 0.0))


@jit_inline
def crossed_turns(c: float, s: float, c_new: float, s_new: float) -> float:
    """Full turns to add so that ``direction_angle`` continues through ±pi, for a turn in (-pi, pi].

    The angle jumps only where the direction changes half-plane on the far side. It does if a
    counterclockwise turn ends in the lower half, or a clockwise one in the upper.
    """
    ends_low = in_lower_half(c_new, s_new)
    counterclockwise = c * s_new - s * c_new >= 0.0
    one = where(counterclockwise, 1.0, -1.0)
    changed = in_lower_half(c, s) ^ ends_low
    return where(changed, where(counterclockwise ^ ends_low, 0.0, one), 0.0)


@jit_inline
def wrap_to_limits(value: float, lower: float, upper: float) -> float:
    """The angle between the limits that differs by full turns; if there is none, the nearer limit.

    An angle inside the limits stays as it is.
    """
    over, under = value > upper, value < lower
    if not any_lane(over | under):
        return value
    wrapped = value + TURN * where(
        over, floor((upper - value) / TURN), -floor((value - lower) / TURN)
    )
    below = where(over, wrapped, wrapped - TURN)
    nearer = where(below + TURN - upper < lower - below, upper, lower)
    fits = (wrapped >= lower) & (wrapped <= upper)
    return where(over | under, where(fits, wrapped, nearer), value)


@jit_inline
def clamp_joint(kinds: Floats, bounds: Floats, i: int, value: float) -> float:
    """The value of joint i brought inside its limits."""
    lower, upper = bounds[i, BOUND_LOWER], bounds[i, BOUND_UPPER]
    if kinds[i] == REVOLUTE:
        return wrap_to_limits(value, lower, upper)
    value = where(value < lower, lower, value)
    return where(value > upper, upper, value)


@jit
def clamp_joints(arm: Arm, q: Floats) -> None:
    """Bring joint values inside their limits, in place."""
    kinds, bounds = arm.kinds, arm.bounds
    for i in range(q.size):
        q[i] = clamp_joint(kinds, bounds, i, q[i])


@jit_inline
def targets_in_joint_frames(arm: Arm, task: Task, state: SweepState) -> tuple[float, float]:
    """Write the target points in every joint's frame; with a box, those of its nearest pose.

    Returns the squared distance between tip and target, and the sum of that of the directions.
    """
    if len(task.weights) == BOX_ROWS:
        zero = 0.0 * state.motion[0, 0]
        tips_base = stack_array(task.weights, XYZ, zero)
        nearest = stack_array(QUAD, XYZ, zero)
        tips_at_motion(arm, task.tip_points, state.motion, tips_base)
        nearest_in_box(tips_base, task.target_points, nearest)
        return points_in_joint_frames(arm, nearest, task, state)
    return points_in_joint_frames(arm, task.target_points, task, state)


@jit_inline
def tips_at_motion(arm: Arm, tip_points: Floats, motion: Floats, tips_base: Floats) -> None:
    """Write the points of the tip in the base frame, for the motion of each joint."""
    links, kinds, zero = arm.links, arm.kinds, 0.0 * motion[0, 0]
    for k in range(MAX_POINTS):
        x, y, z = zero + tip_points[k, 0], zero + tip_points[k, 1], zero + tip_points[k, 2]
        for i in range(kinds.size - 1, -1, -1):
            a, b = motion[i, 0], motion[i, 1]
            if kinds[i] == REVOLUTE:
                x, y = a * x - b * y, b * x + a * y
            elif k == 0:
                z = z + a
            x, y, z = rotate(links, i, x, y, z)
            if k == 0:
                x, y, z = x + links[i, 0, 3], y + links[i, 1, 3], z + links[i, 2, 3]
        tips_base[k, 0], tips_base[k, 1], tips_base[k, 2] = x, y, z


@jit_inline
def points_in_joint_frames(
    arm: Arm, points: Floats, task: Task, state: SweepState
) -> tuple[float, float]:
    """Write points of the target in every joint's frame; see ``targets_in_joint_frames``."""
    links, kinds, motion, targets = arm.links, arm.kinds, state.motion, state.targets
    tips = task.tip_points
    distance_sq = chords_sq = 0.0 * points[0, 0]
    for k in range(point_count(task.weights)):
        x, y, z = points[k, 0], points[k, 1], points[k, 2]
        for i in range(kinds.size):
            if k == 0:
                x, y, z = x - links[i, 0, 3], y - links[i, 1, 3], z - links[i, 2, 3]
            x, y, z = rotate_inverse(links, i, x, y, z)
            targets[i, k, 0], targets[i, k, 1], targets[i, k, 2] = x, y, z
            a, b = motion[i, 0], motion[i, 1]
            if kinds[i] == REVOLUTE:
                x, y = a * x + b * y, a * y - b * x
            elif k == 0:
                z = z - a
        x, y, z = x - tips[k, 0], y - tips[k, 1], z - tips[k, 2]
        if k == 0:
            distance_sq = x * x + y * y + z * z
        else:
            chords_sq = chords_sq + (x * x + y * y + z * z)
    return distance_sq, chords_sq


@jit_inline
def sweep(arm: Arm, task: Task, state: SweepState, noise: float, enabled: bool) -> float:
    """Move every joint, tip to base, to its best value; return the largest move.

    A joint on which the target pulls by no more than ``noise`` has no effect and stays. In lanes
    that are not ``enabled``, all joints stay.
    """
    links, kinds, bounds, penalties = arm.links, arm.kinds, arm.bounds, arm.joint_penalties
    motion, turns, targets = state.motion, state.turns, state.targets
    tip_points, weights = task.tip_points, task.weights
    zero = 0.0 * motion[0, 0]
    m, tips = point_count(weights), stack_array(weights, XYZ, zero)
    largest: float = zero
    for k in range(m):
        for axis in range(3):
            tips[k, axis] = zero + tip_points[k, axis]
    for i in range(kinds.size - 1, -1, -1):
        c, s = motion[i, 0], motion[i, 1]
        if kinds[i] == REVOLUTE:
            a, b = penalties[i, 0] * c + penalties[i, 1], penalties[i, 0] * s + penalties[i, 2]
            for k in range(m):
                cosine, sine = best_turn(tips[k, 0], tips[k, 1], targets[i, k, 0], targets[i, k, 1])
                a, b = a + weights[k] * cosine, b + weights[k] * sine
            moves = enabled & (a * a + b * b > noise * noise)
            a, b = clamp_direction(bounds, i, a, b)
            a, b = where(moves, a, c), where(moves, b, s)
            turns[i, OFFSET] = turns[i, OFFSET] + TURN * crossed_turns(c, s, a, b)
            turns[i, MOVED] = where(moves, 1.0, turns[i, MOVED])
            largest = larger(largest, larger(abs(a - c), abs(b - s)))
            motion[i, 0], motion[i, 1] = c, s = a, b
            for k in range(m):
                x, y = tips[k, 0], tips[k, 1]
                tips[k, 0], tips[k, 1] = c * x - s * y, s * x + c * y
        else:
            if kinds[i] == PRISMATIC:
                best = weights[0] * (targets[i, 0, 2] - tips[0, 2])
                best = best + (penalties[i, 0] * c + penalties[i, 2])
                best = best / (weights[0] + penalties[i, 0] + penalties[i, 1])
                slide = where(enabled, clamp_joint(kinds, bounds, i, best), c)
                largest = larger(largest, abs(slide - c))
                motion[i, 0] = c = slide
            tips[0, 2] = tips[0, 2] + c
        for k in range(m):
            tips[k, 0], tips[k, 1], tips[k, 2] = rotate(
                links, i, tips[k, 0], tips[k, 1], tips[k, 2]
            )
        for axis in range(3):
            tips[0, axis] = tips[0, axis] + links[i, axis, 3]
    return largest


@jit
def to_unit_circle(arm: Arm, q: Floats, state: SweepState) -> None:
    """Write the motion of ``q`` and the turns that its angles leave out."""
    kinds, motion, turns = arm.kinds, state.motion, state.turns
    joint_motions(kinds, q, motion)
    for i in range(kinds.size):
        turns[i, OFFSET], turns[i, MOVED] = 0.0 * q[i], 0.0 * q[i]
        if kinds[i] == REVOLUTE:
            nearest = floor(q[i] / TURN + 0.5)
            # Near ±pi the sign of the sine decides.
            by_sine = floor(q[i] / TURN) + where(
                in_lower_half(motion[i, 0], motion[i, 1]), 1.0, 0.0
            )
            near_pi = abs(q[i] - TURN * nearest) > 3.0
            turns[i, OFFSET] = TURN * where(near_pi, by_sine, nearest)


@jit
def from_unit_circle(arm: Arm, state: SweepState, q: Floats) -> None:
    """Write the values of the joints that moved, with all their turns, inside their limits."""
    kinds, bounds, motion, turns = arm.kinds, arm.bounds, state.motion, state.turns
    for i in range(kinds.size):
        if kinds[i] == PRISMATIC:
            q[i] = motion[i, 0]
        elif kinds[i] == REVOLUTE:
            value = turns[i, OFFSET] + direction_angle(motion[i, 0], motion[i, 1])
            q[i] = where(turns[i, MOVED] > 0.0, clamp_joint(kinds, bounds, i, value), q[i])
