"""Candidates of arms with a spherical wrist, or a spherical shoulder as well."""

from math import sqrt

from jointwise.kernels._numba.arrays import XYZ, stack_array
from jointwise.kernels._numba.jit import jit
from jointwise.kernels.closed_form.axes import (
    KIND,
    change_frame,
    direction,
    distance,
    equation,
    height,
    moved,
    perpendicular,
    point,
    rotate,
    set_motion,
    transform_point,
    turned,
    unit,
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
from jointwise.kernels.closed_form.joint_triples import FREE, NONE, set_turn, spherical_joints
from jointwise.kernels.closed_form.structures import keep
from jointwise.kernels.closed_form.subproblems import cross, dot, plus, turn
from jointwise.kernels.layout.arm import REVOLUTE
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.closed_form import A_FIRST, A_SECOND


@jit
def spherical_candidates(
    axes: Floats,
    lead: int,
    displacement: Floats,
    scales: tuple[float, float],
    prefer: Floats,
    candidates: Floats,
    notes: Floats,
) -> int:
    """Candidates of an arm with a spherical wrist: joints 1, 2, 3 place it, 4, 5, 6 rotate it.

    With x the centre of the wrist moved by joint 3, and y the target's moved back by joint 1, joint
    2 moves x onto y: both have the same height along its axis, and the same distance from it.
    """
    size = scales[0]
    center = point(axes, 3)
    placed = transform_point(displacement, center)
    h, p = direction(axes, 1), point(axes, 1)
    revolute = axes[1, KIND] == REVOLUTE
    if revolute:
        one = equation(height(axes, 0, placed, h, -1.0), height(axes, 2, center, h, 1.0), 1.0)
        left, right = distance(axes, 0, placed, p, -1.0), distance(axes, 2, center, p, 1.0)
        two = equation(left, right, 0.5 / size)
    else:  # two heights at right angles to the axis, the first so that one joint has no effect
        g = perpendicular(h)
        if lead in (A_FIRST, A_SECOND):
            i = 2 if lead == A_FIRST else 0
            g = direction(axes, i)
            if axes[i, KIND] != REVOLUTE:
                g = cross(h, g)
                scale = 1.0 / sqrt(dot(g, g))
                g = scale * g[0], scale * g[1], scale * g[2]
        one = equation(height(axes, 0, placed, g, -1.0), height(axes, 2, center, g, 1.0), 1.0)
        g = cross(h, g)
        two = equation(height(axes, 0, placed, g, -1.0), height(axes, 2, center, g, 1.0), 1.0)
    pairs = stack_array(MAX_PAIRS, PAIR_COLUMNS, size)
    q = stack_array(XYZ, (0,) * 12, size)[0]
    free = prefer[0], prefer[1], prefer[4], prefer[5]
    found = solve_pair((axes[0, KIND], axes[2, KIND]), lead, one, two, free, scales, pairs, notes)
    side = rotate(displacement, perpendicular(direction(axes, 5)))
    aim = rotate(displacement, direction(axes, 5))
    count = 0
    for m in range(found):
        set_motion(q, 0, pairs[m, 0], pairs[m, 1])
        set_motion(q, 2, pairs[m, 2], pairs[m, 3])
        x, y = moved(axes, q, 2, center, 1.0), moved(axes, q, 0, placed, -1.0)
        error = pairs[m, 4]
        if revolute:
            x, y = plus(x, p, -1.0), plus(y, p, -1.0)
            error = set_turn(axes, q, 1, x, y, prefer, (size, error), notes)
        else:
            set_motion(q, 1, dot(h, plus(y, x, -1.0)), 0.0)
        a = turned(axes, q, 2, turned(axes, q, 1, turned(axes, q, 0, aim, -1.0), -1.0), -1.0)
        b = turned(axes, q, 2, turned(axes, q, 1, turned(axes, q, 0, side, -1.0), -1.0), -1.0)
        off, found_free = (size, error), False
        for number in range(4):
            if number == 2 and not found_free:
                break
            kind = spherical_joints(axes, 3, a, b, number, off, prefer, q, notes)
            if kind != NONE:
                found_free |= kind == FREE
                count = keep(q, candidates, count, notes)
    return count


@jit
def two_spheres_candidates(
    axes: Floats,
    arm_angle: tuple[float, float],
    displacement: Floats,
    scales: tuple[float, float],
    prefer: Floats,
    candidates: Floats,
    notes: Floats,
) -> int:
    """Candidates of seven joints with spherical shoulder and wrist, at a given arm angle.

    Joint 4 alone sets the distance from shoulder to wrist. What is left is a rotation about the
    line between them: the arm angle, (cos, sin), from the plane of that line and axis 1 to the
    elbow.
    """
    size, error = scales
    shoulder, center = point(axes, 0), point(axes, 6)
    line = unit(plus(transform_point(displacement, center), shoulder, -1.0))
    k, a, b = distance(axes, 3, center, shoulder, 1.0)
    to_wrist = plus(transform_point(displacement, center), shoulder, -1.0)
    k, scale = k - dot(to_wrist, to_wrist), 0.5 / size
    reference = plus(direction(axes, 0), line, -dot(direction(axes, 0), line))
    if dot(reference, reference) < LITTLE_EFFECT * LITTLE_EFFECT:  # the wrist is on axis 1
        notes[SINGULAR] = 1.0
    if dot(reference, reference) < NO_EFFECT * NO_EFFECT:
        reference = perpendicular(line)
    to_elbow = turn(line, arm_angle[0], arm_angle[1], unit(reference))
    elbow = plus(point(axes, 3), shoulder, -1.0)
    q = stack_array(XYZ, (0,) * 14, size)[0]
    last, outer = direction(axes, 6), direction(axes, 2)
    aim, side = rotate(displacement, last), rotate(displacement, perpendicular(last))
    count = 0
    for m in range(2):
        u, v, off = branch(axes[3, KIND], scale * k, scale * a, scale * b, m, size, error, notes)
        if off < 0.0:
            continue
        set_motion(q, 3, u, v)
        along = unit(plus(moved(axes, q, 3, center, 1.0), shoulder, -1.0))
        across = plus(elbow, along, -dot(elbow, along))
        bend = sqrt(dot(across, across)) / size
        if bend < LITTLE_EFFECT:  # the arm is straight
            notes[SINGULAR] = 1.0
        if bend < NO_EFFECT:
            across = perpendicular(along)
        across = unit(across)
        onto = change_frame(along, across, line, to_elbow, outer)
        beside = change_frame(along, across, line, to_elbow, perpendicular(outer))
        after, free_shoulder = (size, off * (1.0 + 1.0 / max(bend, NO_EFFECT))), False
        for number in range(4):
            if number == 2 and not free_shoulder:
                break
            kind = spherical_joints(axes, 0, onto, beside, number, after, prefer, q, notes)
            if kind == NONE:
                continue
            free_shoulder |= kind == FREE
            x, y = aim, side
            for i in range(4):
                x, y = turned(axes, q, i, x, -1.0), turned(axes, q, i, y, -1.0)
            free_wrist_joint = False
            for wrist in range(4):
                if wrist == 2 and not free_wrist_joint:
                    break
                kind = spherical_joints(axes, 4, x, y, wrist, after, prefer, q, notes)
                if kind != NONE:
                    free_wrist_joint |= kind == FREE
                    count = keep(q, candidates, count, notes)
    return count
