"""Tolerance boxes: a pose inside the box that is near the tip, and which axes are free.

Rows of the target points of a task with a box, after the point and the three directions: position
from and to; rotation from and to, of which the last column is the middle and half the width of the
turn; whether deviations are measured in the axes of the tip. The directions are in the cyclic order
that puts the axis of the turn last.

The deviation is the other frame as the reference frame sees it. The reference is the target, and
the other frame the tip, or the other way round. Its rotation is ``Exp(tilt) Exp(turn z)``, and the
tilt has no z.
"""

from math import pi, sqrt

from jointwise.kernels._numba.arrays import PAIR, XYZ, stack_array
from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels._numba.where import floor, where
from jointwise.kernels.algebra.trig import TURN, cos_sin, polar_angle
from jointwise.kernels.kinematics.fk import Column, Point
from jointwise.kernels.layout.arm import Arm
from jointwise.kernels.layout.arrays import Errors, Floats
from jointwise.kernels.layout.task import (
    BOX_IN_TOOL,
    BOX_POSITION_FROM,
    BOX_POSITION_TO,
    BOX_ROTATION_FROM,
    BOX_ROTATION_TO,
    Task,
)

# Rows that ``nearest_in_box`` writes after the tip points: the axes along which the position is
# outside or has no room, others are zero; the axes about which the rotation is free.
OUTSIDE_AXES, FREE_AXES = 4, 7
# A sine below this is none.
TINY = 1e-12
# How far inside its range a component is aimed, at most a quarter of the range [m, rad].
INSET = 1e-3
# A component is free if the room to the end of its range is this many times the error.
ROOM = 2.0


@jit
def set_box_task(arm: Arm, target: Floats, task: Task) -> None:
    """Write the points and the box of a packed target into the task."""
    links, tips, points = arm.links, task.tip_points, task.target_points
    n, turn_axis, in_tool = links.shape[0] - 1, int(target[5, 3]), target[4, 3] > 0.0
    for row in range(3):
        tips[0, row], points[0, row] = links[n, row, 3], target[row, 3]
        points[BOX_IN_TOOL, row] = target[4, 3]
    for k in range(3):
        axis = (turn_axis + 1 + k) % 3
        for row in range(3):
            tips[k + 1, row], points[k + 1, row] = links[n, row, axis], target[row, axis]
        points[BOX_POSITION_FROM, k], points[BOX_POSITION_TO, k] = target[4, axis], target[5, axis]
        low, high = target[6, axis], target[7, axis]
        if in_tool:  # the target deviates from the tip by the opposite
            low, high = -high, -low
        if k == 2:
            low, high = 0.5 * (low + high), 0.5 * (high - low)
        points[BOX_ROTATION_FROM, k], points[BOX_ROTATION_TO, k] = low, high


@jit_inline
def clamped(value: float, low: float, high: float) -> float:
    """The value brought between low and high."""
    value = where(value < low, low, value)
    return where(value > high, high, value)


@jit_inline
def excess_of(value: float, low: float, high: float) -> float:
    """By how much a value is outside its range."""
    return value - clamped(value, low, high)


@jit_inline
def into_range(value: float, low: float, high: float, error: float) -> tuple[float, bool]:
    """(a value inside the range, whether it is free to move); inside it stays.

    One that is outside is aimed a little farther inside, no farther than by the error: at the end
    of the range it would leave again while others are brought inside theirs. For the same reason
    one that is inside is free only if there is room for a step that ends the error.
    """
    inset, below, above = 0.25 * (high - low), value - low, high - value
    inset = where(inset > INSET, INSET, inset)
    inset = where(inset > error, error, inset)
    room = where(below < above, below, above)
    goal = clamped(value, low + inset, high - inset)
    return where(room < 0.0, goal, value), room > ROOM * error


@jit_inline
def nearest_position(tips: Floats, points: Floats, nearest: Floats) -> float:
    """Write a position in the box, and the axes along which it counts; the error [m]."""
    in_tool, square = points[BOX_IN_TOOL, 0] > 0.5, 0.0 * tips[0, 0]
    deviations = stack_array(PAIR, XYZ, square)
    x, y, z = tips[0, 0], tips[0, 1], tips[0, 2]
    dx, dy, dz = x - points[0, 0], y - points[0, 1], z - points[0, 2]
    for k in range(3):
        a = where(in_tool, tips[k + 1, 0], points[k + 1, 0])
        b = where(in_tool, tips[k + 1, 1], points[k + 1, 1])
        c = where(in_tool, tips[k + 1, 2], points[k + 1, 2])
        deviation = a * dx + b * dy + c * dz
        excess = excess_of(deviation, points[BOX_POSITION_FROM, k], points[BOX_POSITION_TO, k])
        square, deviations[0, k] = square + excess * excess, deviation
        tips[OUTSIDE_AXES + k, 0], tips[OUTSIDE_AXES + k, 1] = a, b
        tips[OUTSIDE_AXES + k, 2] = c
    distance = sqrt(square)
    for k in range(3):
        low, high = points[BOX_POSITION_FROM, k], points[BOX_POSITION_TO, k]
        goal, free = into_range(deviations[0, k], low, high, distance)
        move, counts = goal - deviations[0, k], where(free, 0.0, 1.0)
        x, y = x + move * tips[OUTSIDE_AXES + k, 0], y + move * tips[OUTSIDE_AXES + k, 1]
        z = z + move * tips[OUTSIDE_AXES + k, 2]
        for axis in range(3):
            tips[OUTSIDE_AXES + k, axis] = counts * tips[OUTSIDE_AXES + k, axis]
    nearest[0, 0], nearest[0, 1], nearest[0, 2] = x, y, z
    return distance


@jit_inline
def set_rotation(tilt_x: float, tilt_y: float, turn: float, rotation: Floats) -> None:
    """Write ``Exp(tilt) Exp(turn z)`` into ``rotation (3, 3)``."""
    size = sqrt(tilt_x * tilt_x + tilt_y * tilt_y)
    scale = 1.0 / where(size > 0.0, size, 1.0)
    x, y = scale * tilt_x, scale * tilt_y
    (c, s), (ct, st) = cos_sin(size), cos_sin(turn)
    v = 1.0 - c
    a, b, d = c + x * x * v, x * y * v, c + y * y * v
    rotation[0, 0], rotation[0, 1], rotation[0, 2] = ct * a + st * b, ct * b - st * a, y * s
    rotation[1, 0], rotation[1, 1], rotation[1, 2] = ct * b + st * d, ct * d - st * b, -x * s
    rotation[2, 0] = st * (x * s) - ct * (y * s)
    rotation[2, 1] = ct * (x * s) + st * (y * s)
    rotation[2, 2] = c


@jit_inline
def remove_component(axes: Floats, k: int, j: int) -> None:
    """Make row k orthogonal to row j, which is a unit vector or zero."""
    dot = axes[k, 0] * axes[j, 0] + axes[k, 1] * axes[j, 1] + axes[k, 2] * axes[j, 2]
    for axis in range(3):
        axes[k, axis] = axes[k, axis] - dot * axes[j, axis]


@jit_inline
def normalise(axes: Floats, k: int, free: bool) -> None:
    """Make row k a unit vector, or zero where it is not free or has no length."""
    square = axes[k, 0] * axes[k, 0] + axes[k, 1] * axes[k, 1] + axes[k, 2] * axes[k, 2]
    long = square > 1e-12
    scale = where(free & long, 1.0 / sqrt(where(long, square, 1.0)), 0.0)
    for axis in range(3):
        axes[k, axis] = scale * axes[k, axis]


@jit_inline
def see_other(tips: Floats, points: Floats, reference: Floats, seen: Floats) -> None:
    """Write the axes of the reference, base frame, and the axes of the other frame seen from it."""
    in_tool, zero = points[BOX_IN_TOOL, 0] > 0.5, 0.0 * tips[0, 0]
    for i in range(3):
        for axis in range(3):
            reference[i, axis] = where(in_tool, tips[i + 1, axis], zero + points[i + 1, axis])
    for i in range(3):
        for j in range(3):
            dot = zero
            for axis in range(3):
                other = where(in_tool, zero + points[j + 1, axis], tips[j + 1, axis])
                dot = dot + reference[i, axis] * other
            seen[i, j] = dot


@jit_inline
def tilt_and_turn(seen: Floats) -> Point:
    """(x, y, turn): the rotation ``seen (3, 3)`` as a tilt about x and y after a turn about z."""
    sine, cosine = sqrt(seen[0, 2] * seen[0, 2] + seen[1, 2] * seen[1, 2]), seen[2, 2]
    tiny = sine <= TINY
    scale = where(tiny, 1.0, polar_angle(cosine, sine) / where(tiny, 1.0, sine))
    x = where(tiny & (cosine < 0.0), pi, -scale * seen[1, 2])
    turn = polar_angle(seen[0, 0] + seen[1, 1], seen[1, 0] - seen[0, 1])
    return x, scale * seen[0, 2], turn


@jit_inline
def set_ways(seen: Floats, tilt_x: float, tilt_y: float, ways: Floats) -> None:
    """Write the axes about which the turn, the tilt's x and its y rotate, seen by the reference."""
    sine = sqrt(seen[0, 2] * seen[0, 2] + seen[1, 2] * seen[1, 2])
    angle, tiny = sqrt(tilt_x * tilt_x + tilt_y * tilt_y), sine <= TINY
    inverse = 1.0 / where(tiny, 1.0, angle)
    share, rise = where(tiny, 1.0, inverse * sine), inverse * (1.0 - seen[2, 2])
    x, y = where(tiny, 0.0, inverse * tilt_x), where(tiny, 0.0, inverse * tilt_y)
    ways[0, 0], ways[0, 1], ways[0, 2] = seen[0, 2], seen[1, 2], seen[2, 2]
    ways[1, 0], ways[1, 1] = share + (1.0 - share) * x * x, (1.0 - share) * x * y
    ways[2, 0], ways[2, 1] = (1.0 - share) * x * y, share + (1.0 - share) * y * y
    ways[1, 2], ways[2, 2] = -rise * y, rise * x


@jit_inline
def nearest_rotation(seen: Floats, points: Floats, ways: Floats) -> float:
    """Bring the rotation ``seen (3, 3)`` into its ranges; the error [rad].

    Written into ``ways (3, 3)`` are the axes about which it is free, orthonormal or zero.
    """
    tilt_x, tilt_y, turn = tilt_and_turn(seen)
    set_ways(seen, tilt_x, tilt_y, ways)
    middle, half = points[BOX_ROTATION_FROM, 2], points[BOX_ROTATION_TO, 2]
    turn = turn - middle
    turn = turn - TURN * floor(turn / TURN + 0.5)
    low_x, high_x = points[BOX_ROTATION_FROM, 0], points[BOX_ROTATION_TO, 0]
    low_y, high_y = points[BOX_ROTATION_FROM, 1], points[BOX_ROTATION_TO, 1]
    excess_x, excess_y = excess_of(tilt_x, low_x, high_x), excess_of(tilt_y, low_y, high_y)
    excess = excess_of(turn, -half, half)
    error = sqrt(excess_x * excess_x + excess_y * excess_y + excess * excess)
    near_x, free_x = into_range(tilt_x, low_x, high_x, error)
    near_y, free_y = into_range(tilt_y, low_y, high_y, error)
    near_turn, free_turn = into_range(turn, -half, half, error)
    normalise(ways, 0, free_turn)
    remove_component(ways, 1, 0)
    normalise(ways, 1, free_x)
    remove_component(ways, 2, 0)
    remove_component(ways, 2, 1)
    normalise(ways, 2, free_y)
    set_rotation(near_x, near_y, middle + near_turn, seen)
    return error


@jit
def nearest_in_box(tips: Floats, points: Floats, nearest: Floats) -> Errors:
    """Write into ``nearest (4, 3)`` the tip points of a pose in the box near the tip.

    Each component of the deviation is brought into its range. Also written are the axes after the
    tip points, see above. Returns the errors: the lengths of what is outside of the box, of the
    position [m] and of tilt and turn together [rad].

    Args:
        tips: (10, 3) the tip points, base frame.
        points: (10, 3) the target points and the box.
        nearest: (4, 3) the result, base frame.
    """
    in_tool, zero = points[BOX_IN_TOOL, 0] > 0.5, 0.0 * tips[0, 0]
    reference, seen = stack_array(XYZ, XYZ, zero), stack_array(XYZ, XYZ, zero)
    ways = stack_array(XYZ, XYZ, zero)
    distance = nearest_position(tips, points, nearest)
    see_other(tips, points, reference, seen)
    angle = nearest_rotation(seen, points, ways)
    for k in range(3):
        for axis in range(3):
            value, way = zero, zero
            for j in range(3):
                entry = where(in_tool, seen[k, j], seen[j, k])
                value = value + points[j + 1, axis] * entry
                way = way + reference[j, axis] * ways[k, j]
            nearest[k + 1, axis] = value
            tips[FREE_AXES + k, axis] = way
    return distance, angle


@jit_inline
def project_row(tips: Floats, points: Floats, jacobian: Floats, i: int, scale: float) -> None:
    """Remove from row i of a Jacobian what is free: motion inside the box, and the turn of axes.

    The position is then along the axes of the box.
    """
    a, b, c = jacobian[i, 0], jacobian[i, 1], jacobian[i, 2]
    x, y, z = jacobian[i, 3], jacobian[i, 4], jacobian[i, 5]
    turned = where(points[BOX_IN_TOOL, 0] > 0.5, scale, 0.0)  # the axes turn with the tip
    dx = turned * (tips[0, 0] - points[0, 0])
    dy = turned * (tips[0, 1] - points[0, 1])
    dz = turned * (tips[0, 2] - points[0, 2])
    a, b, c = a - (y * dz - z * dy), b - (z * dx - x * dz), c - (x * dy - y * dx)
    for k in range(3):
        row = OUTSIDE_AXES + k
        jacobian[i, k] = a * tips[row, 0] + b * tips[row, 1] + c * tips[row, 2]
    for k in range(3):
        row = FREE_AXES + k
        dot = x * tips[row, 0] + y * tips[row, 1] + z * tips[row, 2]
        x, y, z = x - dot * tips[row, 0], y - dot * tips[row, 1], z - dot * tips[row, 2]
    jacobian[i, 3], jacobian[i, 4], jacobian[i, 5] = x, y, z


@jit
def project_to_box(tips: Floats, points: Floats, jacobian: Floats, scale: float) -> None:
    """Remove what is free from the rows of a Jacobian (n+1, 6), of which the last is the residual.

    Args:
        tips: (10, 3) as ``nearest_in_box`` left it.
        points: (10, 3) the target points and the box.
        jacobian: Its positions have been multiplied by ``scale``.
        scale: See above.
    """
    n = jacobian.shape[0] - 1
    for i in range(n):
        project_row(tips, points, jacobian, i, scale)
    project_row(tips, points, jacobian, n, 0.0 * scale)


@jit
def without_free_motion(tips: Floats, velocity: Point, rotation: Point) -> Column:
    """What a motion of the tip changes about its deviation outside of the box, base frame."""
    (a, b, c), (x, y, z) = velocity, rotation
    u = v = w = 0.0
    for k in range(3):
        d, e, f = tips[OUTSIDE_AXES + k, 0], tips[OUTSIDE_AXES + k, 1], tips[OUTSIDE_AXES + k, 2]
        dot = a * d + b * e + c * f
        u, v, w = u + dot * d, v + dot * e, w + dot * f
        d, e, f = tips[FREE_AXES + k, 0], tips[FREE_AXES + k, 1], tips[FREE_AXES + k, 2]
        dot = x * d + y * e + z * f
        x, y, z = x - dot * d, y - dot * e, z - dot * f
    return u, v, w, x, y, z


@jit
def free_motion(tips: Floats, row: int, column: int) -> float:
    """An entry of the matrix (6, 6) that projects a motion of the tip onto what is free."""
    entry = 0.0
    if row < 3:
        entry = 1.0 if row == column else 0.0
        for k in range(OUTSIDE_AXES, OUTSIDE_AXES + 3):
            entry -= tips[k, row] * tips[k, column]
    elif column >= 3:
        for k in range(FREE_AXES, FREE_AXES + 3):
            entry += tips[k, row - 3] * tips[k, column - 3]
    return entry


@jit
def nearest_to_base(arm: Arm, points: Floats) -> tuple[float, float, float, float]:
    """The position in the box that is nearest to the first joint, and how much nearer others are.

    In the axes of the tip, which are not known, the box lies in a sphere around the target.
    """
    links, square = arm.links, 0.0 * points[0, 0]
    x, y, z = points[0, 0], points[0, 1], points[0, 2]
    dx, dy, dz = links[0, 0, 3] - x, links[0, 1, 3] - y, links[0, 2, 3] - z
    in_tool = points[BOX_IN_TOOL, 0] > 0.5
    for k in range(3):
        low, high = points[BOX_POSITION_FROM, k], points[BOX_POSITION_TO, k]
        if in_tool:
            farther = max(abs(low), abs(high))
            square = square + farther * farther
        else:
            a, b, c = points[k + 1, 0], points[k + 1, 1], points[k + 1, 2]
            near = clamped(a * dx + b * dy + c * dz, low, high)
            x, y, z = x + near * a, y + near * b, z + near * c
    return x, y, z, sqrt(square)
