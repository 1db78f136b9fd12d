"""Axes of an arm with all joints at 0: what its joints do to points and directions.

A joint moves about or along its axis. Its motion is two numbers, (cos, sin) or (travel, 0), and the
motions of all joints are in one array, two numbers each.
"""

from math import sqrt

from jointwise.kernels._numba.jit import jit_inline
from jointwise.kernels.closed_form.joint_pairs import Equation
from jointwise.kernels.closed_form.subproblems import (
    cross,
    distance_terms,
    dot,
    height_terms,
    plus,
    turn,
)
from jointwise.kernels.kinematics.fk import Point
from jointwise.kernels.layout.arm import REVOLUTE
from jointwise.kernels.layout.arrays import Floats

# Columns of ``axes``: direction, a point of the axis [m], type of the joint.
AXIS_COLUMNS = (0,) * 7
KIND = 6


@jit_inline
def direction(axes: Floats, i: int) -> Point:
    """The unit direction of axis i."""
    return axes[i, 0], axes[i, 1], axes[i, 2]


@jit_inline
def point(axes: Floats, i: int) -> Point:
    """A point of axis i [m]."""
    return axes[i, 3], axes[i, 4], axes[i, 5]


@jit_inline
def rotate(transform: Floats, v: Point) -> Point:
    """R · v of a transform (3, 4)."""
    return (
        transform[0, 0] * v[0] + transform[0, 1] * v[1] + transform[0, 2] * v[2],
        transform[1, 0] * v[0] + transform[1, 1] * v[1] + transform[1, 2] * v[2],
        transform[2, 0] * v[0] + transform[2, 1] * v[1] + transform[2, 2] * v[2],
    )


@jit_inline
def rotate_inverse(transform: Floats, v: Point) -> Point:
    """Rᵀ · v of a transform (3, 4)."""
    return (
        transform[0, 0] * v[0] + transform[1, 0] * v[1] + transform[2, 0] * v[2],
        transform[0, 1] * v[0] + transform[1, 1] * v[1] + transform[2, 1] * v[2],
        transform[0, 2] * v[0] + transform[1, 2] * v[1] + transform[2, 2] * v[2],
    )


@jit_inline
def transform_point(transform: Floats, v: Point) -> Point:
    """R · v + p of a transform (3, 4)."""
    x, y, z = rotate(transform, v)
    return x + transform[0, 3], y + transform[1, 3], z + transform[2, 3]


@jit_inline
def turned(axes: Floats, q: Floats, i: int, v: Point, sign: float) -> Point:
    """A direction rotated by joint i; with ``sign`` -1 back. ``q`` has the motions."""
    if axes[i, KIND] == REVOLUTE:
        return turn(direction(axes, i), q[2 * i], sign * q[2 * i + 1], v)
    return v


@jit_inline
def moved(axes: Floats, q: Floats, i: int, v: Point, sign: float) -> Point:
    """A point moved by joint i; with ``sign`` -1 back."""
    if axes[i, KIND] == REVOLUTE:
        u = plus(v, point(axes, i), -1.0)
        return plus(turn(direction(axes, i), q[2 * i], sign * q[2 * i + 1], u), point(axes, i), 1.0)
    return plus(v, direction(axes, i), sign * q[2 * i])


@jit_inline
def height(axes: Floats, i: int, v: Point, g: Point, sign: float) -> Point:
    """Terms of g · (v moved by joint i); with ``sign`` -1 moved back."""
    if axes[i, KIND] == REVOLUTE:
        k, a, b = height_terms(direction(axes, i), point(axes, i), v, g)
        return k, a, sign * b
    return dot(g, v), sign * dot(g, direction(axes, i)), 0.0


@jit_inline
def slope(axes: Floats, i: int, v: Point, g: Point, sign: float) -> Point:
    """Terms of g · (direction v rotated by joint i); with ``sign`` -1 rotated back."""
    if axes[i, KIND] == REVOLUTE:
        k, a, b = height_terms(direction(axes, i), (0.0, 0.0, 0.0), v, g)
        return k, a, sign * b
    return dot(g, v), 0.0, 0.0


@jit_inline
def distance(axes: Floats, i: int, v: Point, center: Point, sign: float) -> Point:
    """Terms of |v moved by joint i - center|²; with ``sign`` -1 moved back."""
    if axes[i, KIND] == REVOLUTE:
        k, a, b = distance_terms(direction(axes, i), point(axes, i), v, center)
        return k, a, sign * b
    u = plus(v, center, -1.0)
    return dot(u, u), sign * 2.0 * dot(direction(axes, i), u), 1.0


@jit_inline
def equation(left: Point, right: Point, scale: float) -> Equation:
    """Left terms = right terms, times a scale that makes them metres."""
    return (
        scale * (left[0] - right[0]),
        scale * left[1],
        scale * left[2],
        -scale * right[1],
        -scale * right[2],
    )


@jit_inline
def perpendicular(h: Point) -> Point:
    """A unit vector at a right angle to a unit vector."""
    x, y, z = cross(h, (1.0, 0.0, 0.0)) if abs(h[0]) < 0.6 else cross(h, (0.0, 1.0, 0.0))
    size = sqrt(x * x + y * y + z * z)
    return x / size, y / size, z / size


@jit_inline
def set_motion(q: Floats, i: int, u: float, v: float) -> None:
    """Write the motion of joint i."""
    q[2 * i], q[2 * i + 1] = u, v


@jit_inline
def unit(v: Point) -> Point:
    """A vector over its length; 0 stays 0."""
    size = sqrt(dot(v, v))
    scale = 1.0 / size if size > 0.0 else 0.0
    return scale * v[0], scale * v[1], scale * v[2]


@jit_inline
def change_frame(a: Point, b: Point, to_a: Point, to_b: Point, v: Point) -> Point:
    """The rotation that brings unit vectors a and b, at a right angle, to two others; on v."""
    c, to_c = cross(a, b), cross(to_a, to_b)
    x, y, z = dot(a, v), dot(b, v), dot(c, v)
    return plus(plus((x * to_a[0], x * to_a[1], x * to_a[2]), to_b, y), to_c, z)
