"""Three joints at once: those whose axes meet in a point, and those that are parallel."""

from math import sqrt

from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.closed_form.axes import (
    direction,
    distance,
    moved,
    perpendicular,
    point,
    set_motion,
    slope,
    turned,
)
from jointwise.kernels.closed_form.joint_pairs import (
    LITTLE_EFFECT,
    NO_EFFECT,
    SINGULAR,
    UNCERTAIN,
    branch,
)
from jointwise.kernels.closed_form.subproblems import dot, plus, turn, turn_onto
from jointwise.kernels.kinematics.fk import Point
from jointwise.kernels.layout.arm import REVOLUTE
from jointwise.kernels.layout.arrays import Floats

# Whether spherical joints have a solution, and whether the first of them is next to free.
NONE, REGULAR, FREE = range(3)


@jit_inline
def set_turn(
    axes: Floats,
    q: Floats,
    i: int,
    x: Point,
    y: Point,
    prefer: Floats,
    scales: tuple[float, float],
    notes: Floats,
) -> float:
    """Turn joint i so that x comes onto y, or as preferred where it has no effect.

    Args:
        axes: The axes of the arm.
        q: Where the motion is written.
        i: The joint.
        x: Where it starts, from a point of the axis.
        y: Where it ends.
        prefer: Preferred motions.
        scales: The length that x and y are compared with, and how far they may be off.
        notes: What is noted.

    Returns:
        How far points may be off after the turn.
    """
    length, error = scales
    c, s, effect = turn_onto(direction(axes, i), x, y)
    radius = sqrt(effect)
    if radius < max(LITTLE_EFFECT * length, error / UNCERTAIN):
        notes[SINGULAR] = 1.0
    if radius < NO_EFFECT * length:
        c, s = prefer[2 * i], prefer[2 * i + 1]
    set_motion(q, i, c, s)
    return error * (1.0 + length / max(radius, NO_EFFECT * length))


@jit
def spherical_joints(
    axes: Floats,
    first: int,
    aim: Point,
    side: Point,
    number: int,
    scales: tuple[float, float],
    prefer: Floats,
    q: Floats,
    notes: Floats,
) -> int:
    """Write the motions of three joints whose axes meet, for a given rotation: ``REGULAR``, ...

    Args:
        axes: The axes of the arm.
        first: The first of the three joints, a.
        aim: Where the rotation brings the axis of the last joint, c.
        side: Where it brings ``perpendicular`` of that axis.
        number: Which solution: 0 or 1 by the sign of the middle joint, b; 2 and 3 are the same with
            a as preferred, for where it is next to free.
        scales: Size of the arm, and how far the rotation may be off [m].
        prefer: Preferred motions.
        q: Where the motions are written.
        notes: What is noted.
    """
    a, b, c = first, first + 1, first + 2
    size, error = scales
    k, x, y = slope(axes, b, direction(axes, c), direction(axes, a), 1.0)
    k = size * (k - dot(direction(axes, a), aim))
    u, v, off = branch(REVOLUTE, k, size * x, size * y, number % 2, size, error, notes)
    if off < 0.0:
        return NONE
    onto = turn(direction(axes, b), u, v, direction(axes, c))
    u, v, effect = turn_onto(direction(axes, a), onto, aim)
    sine = sqrt(effect)
    free = sine < NO_EFFECT
    if sine < max(LITTLE_EFFECT, error / (UNCERTAIN * size)):
        notes[SINGULAR] = 1.0
    if free and number > 1:
        u, v = prefer[2 * a], prefer[2 * a + 1]
    set_motion(q, a, u, v)
    # The middle joint once more, from what the first leaves: by its cosine alone, half of the
    # digits are lost near a singularity.
    u, v, _ = turn_onto(direction(axes, b), direction(axes, c), turned(axes, q, a, aim, -1.0))
    set_motion(q, b, u, v)
    rest = turned(axes, q, b, turned(axes, q, a, side, -1.0), -1.0)
    u, v, _ = turn_onto(direction(axes, c), perpendicular(direction(axes, c)), rest)
    set_motion(q, c, u, v)
    return FREE if free else REGULAR


@jit
def parallel_joints(
    axes: Floats,
    first: int,
    end: Point,
    side: Point,
    number: int,
    scales: tuple[float, float],
    prefer: Floats,
    q: Floats,
    notes: Floats,
) -> bool:
    """Write the motions of three joints with parallel axes; whether there are any.

    Args:
        axes: The axes of the arm.
        first: The first of the three joints, a.
        end: Where they bring the point of the last axis, c [m].
        side: Where they bring ``perpendicular`` of that axis.
        number: Which solution: 0 or 1 by the elbow; 2 has it as preferred, if it is next to free.
        scales: Size of the arm, and how far the displacement may be off [m].
        prefer: Preferred motions.
        q: Where the motions are written.
        notes: What is noted.
    """
    a, b, c = first, first + 1, first + 2
    size, error = scales
    center = point(axes, a)
    to_end, to_last = plus(end, center, -1.0), plus(point(axes, c), center, -1.0)
    end_height, last_height = dot(direction(axes, a), to_end), dot(direction(axes, a), to_last)
    k, x, y = distance(axes, b, point(axes, c), center, 1.0)
    # Only what is at right angles to the axes counts.
    k = k - last_height * last_height - dot(to_end, to_end) + end_height * end_height
    scale = 0.5 / size
    u, v, off = branch(REVOLUTE, scale * k, scale * x, scale * y, number, size, error, notes)
    if off < 0.0:
        return False
    if number == 2:
        u, v = prefer[2 * b], prefer[2 * b + 1]
    set_motion(q, b, u, v)
    elbow = plus(moved(axes, q, b, point(axes, c), 1.0), center, -1.0)
    if off > UNCERTAIN * size:
        notes[SINGULAR] = 1.0
    set_turn(axes, q, a, elbow, to_end, prefer, (size, error), notes)
    rest = turned(axes, q, b, turned(axes, q, a, side, -1.0), -1.0)
    u, v, _ = turn_onto(direction(axes, c), perpendicular(direction(axes, c)), rest)
    set_motion(q, c, u, v)
    return True
