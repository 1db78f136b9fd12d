"""Candidates of arms with three parallel axes: joints 2, 3, 4, or 1, 2, 3."""

from math import sqrt

from jointwise.kernels._numba.arrays import XYZ, stack_array
from jointwise.kernels._numba.jit import jit
from jointwise.kernels.closed_form.axes import (
    KIND,
    direction,
    distance,
    equation,
    height,
    moved,
    perpendicular,
    point,
    rotate,
    rotate_inverse,
    set_motion,
    slope,
    transform_point,
    turned,
)
from jointwise.kernels.closed_form.joint_pairs import (
    LITTLE_EFFECT,
    MAX_PAIRS,
    NO_EFFECT,
    PAIR_COLUMNS,
    SINGULAR,
    branch,
    solve_pair,
)
from jointwise.kernels.closed_form.joint_triples import parallel_joints, set_turn
from jointwise.kernels.closed_form.structures import keep
from jointwise.kernels.closed_form.subproblems import cut_circle, dot, plus, turn_onto
from jointwise.kernels.layout.arm import REVOLUTE
from jointwise.kernels.layout.arrays import Floats


@jit
def parallel_candidates(
    axes: Floats,
    lead: int,
    displacement: Floats,
    scales: tuple[float, float],
    prefer: Floats,
    candidates: Floats,
    notes: Floats,
) -> int:
    """Candidates of an arm whose joints 2, 3, 4 are parallel.

    They move nothing along their axes and do not rotate their direction h. So the height along h of
    a point of axis 6, and the component along h of its direction, depend on joints 1 and 5 alone.
    """
    size = scales[0]
    h, last, tip = direction(axes, 1), direction(axes, 5), point(axes, 5)
    aim = rotate(displacement, last)
    one = equation(slope(axes, 0, aim, h, -1.0), slope(axes, 4, last, h, 1.0), size)
    placed = transform_point(displacement, tip)
    two = equation(height(axes, 0, placed, h, -1.0), height(axes, 4, tip, h, 1.0), 1.0)
    pairs = stack_array(MAX_PAIRS, PAIR_COLUMNS, size)
    q = stack_array(XYZ, (0,) * 12, size)[0]
    free = prefer[0], prefer[1], prefer[8], prefer[9]
    found = solve_pair((axes[0, KIND], axes[4, KIND]), lead, one, two, free, scales, pairs, notes)
    count = 0
    for m in range(found):
        for wrist in range(4):
            set_motion(q, 0, pairs[m, 0], pairs[m, 1])
            set_motion(q, 4, pairs[m, 2], pairs[m, 3])
            # Joint 6 rotates h, as the target leaves it, to where joint 5 comes from.
            before = rotate_inverse(displacement, turned(axes, q, 0, h, 1.0))
            u, v, effect = turn_onto(last, before, turned(axes, q, 4, h, -1.0))
            # The less joint 5 tilts axis 6, the farther joint 6 may be off.
            off = size, pairs[m, 4] * (1.0 + 1.0 / max(sqrt(effect), NO_EFFECT))
            if effect < LITTLE_EFFECT * LITTLE_EFFECT:
                notes[SINGULAR] = 1.0
            if wrist > 0:
                if effect > NO_EFFECT * NO_EFFECT:
                    break
                u, v = free_wrist(axes, displacement, wrist, prefer, q)
            set_motion(q, 5, u, v)
            if axes[4, KIND] == REVOLUTE:
                u, v, effect = turn_onto(direction(axes, 4), turned(axes, q, 5, before, 1.0), h)
                if effect > NO_EFFECT:
                    set_motion(q, 4, u, v)
            end = moved(axes, q, 5, moved(axes, q, 4, point(axes, 3), -1.0), -1.0)
            end = moved(axes, q, 0, transform_point(displacement, end), -1.0)
            side = turned(axes, q, 4, perpendicular(direction(axes, 3)), -1.0)
            side = rotate(displacement, turned(axes, q, 5, side, -1.0))
            side = turned(axes, q, 0, side, -1.0)
            for elbow in range(3):
                if parallel_joints(axes, 1, end, side, elbow, off, prefer, q, notes):
                    count = keep(q, candidates, count, notes)
    return count


@jit
def free_wrist(
    axes: Floats, displacement: Floats, number: int, prefer: Floats, q: Floats
) -> tuple[float, float]:
    """A value of joint 6 where it is free, as axis 6 is parallel to joints 2, 3, 4.

    Number 1 is the preferred one. Numbers 2 and 3 bring the elbow to a right angle, or as close to
    that as possible: if any value is within reach, so are these.
    """
    if number == 1:
        return prefer[10], prefer[11]
    start = moved(axes, q, 4, point(axes, 3), -1.0)
    x, y, z = moved(axes, q, 0, point(axes, 1), 1.0)
    x, y, z = x - displacement[0, 3], y - displacement[1, 3], z - displacement[2, 3]
    base = rotate_inverse(displacement, (x, y, z))
    k, a, b = distance(axes, 5, start, base, -1.0)
    h, upper = direction(axes, 1), plus(point(axes, 2), point(axes, 1), -1.0)
    lower = plus(point(axes, 3), point(axes, 2), -1.0)
    whole = plus(upper, lower, 1.0)
    across = dot(upper, upper) - dot(h, upper) * dot(h, upper)
    across = across + dot(lower, lower) - dot(h, lower) * dot(h, lower)
    across = across + dot(h, whole) * dot(h, whole)
    if a == 0.0 and b == 0.0:
        return prefer[10], prefer[11]
    c, s, dc, ds, _ = cut_circle(a, b, across - k)
    sign = 2.0 * number - 5.0
    return c + sign * dc, s + sign * ds


@jit
def parallel_base_candidates(
    axes: Floats,
    displacement: Floats,
    scales: tuple[float, float],
    prefer: Floats,
    candidates: Floats,
    notes: Floats,
) -> int:
    """Candidates of an arm whose joints 1, 2, 3 are parallel, and whose axes 5 and 6 meet.

    The height of that point along the parallel axes depends on joint 4 alone, and the component of
    axis 6 along them on joints 4 and 5.
    """
    size, error = scales
    h, last, tip = direction(axes, 0), direction(axes, 5), point(axes, 5)
    placed, aim = transform_point(displacement, tip), rotate(displacement, last)
    before = rotate_inverse(displacement, h)
    q = stack_array(XYZ, (0,) * 12, size)[0]
    count = 0
    k, a, b = height(axes, 3, tip, h, 1.0)
    for m in range(3):
        u, v, off = branch(axes[3, KIND], k - dot(h, placed), a, b, m, size, error, notes)
        if off < 0.0:
            continue
        if m == 2:
            u, v = prefer[6], prefer[7]
        set_motion(q, 3, u, v)
        g = turned(axes, q, 3, h, -1.0)
        k5, a5, b5 = slope(axes, 4, last, g, 1.0)
        k5 = size * (k5 - dot(h, aim))
        for n in range(3):
            u, v, total = branch(REVOLUTE, k5, size * a5, size * b5, n, size, off, notes)
            if total < 0.0:
                continue
            if n == 2:
                u, v = prefer[8], prefer[9]
            set_motion(q, 4, u, v)
            after = turned(axes, q, 4, g, -1.0)
            total = size * set_turn(axes, q, 5, before, after, prefer, (1.0, total / size), notes)
            u, v, effect = turn_onto(direction(axes, 4), turned(axes, q, 5, before, 1.0), g)
            if effect > NO_EFFECT:
                set_motion(q, 4, u, v)
            end = moved(axes, q, 4, moved(axes, q, 3, point(axes, 2), -1.0), -1.0)
            end = transform_point(displacement, moved(axes, q, 5, end, -1.0))
            side = turned(axes, q, 3, perpendicular(direction(axes, 2)), -1.0)
            side = turned(axes, q, 5, turned(axes, q, 4, side, -1.0), -1.0)
            side = rotate(displacement, side)
            for elbow in range(3):
                if parallel_joints(axes, 0, end, side, elbow, (size, total), prefer, q, notes):
                    count = keep(q, candidates, count, notes)
    return count
