"""The primitives of closed forms: rotations that meet one or two equations.

A rotation is held as (cos, sin), so that no angle is computed before the last line. Subproblem 1 is
the best turn of CCD. Subproblems 2 to 4 (Paden 1986; Elias and Wen 2022) are all the same equation,
a cos + b sin = c, which is a line that cuts the unit circle.
"""

from math import sqrt

from jointwise.kernels._numba.jit import jit_inline
from jointwise.kernels._numba.where import where
from jointwise.kernels.kinematics.fk import Point

# (cos, sin) of a revolute joint, or (travel, 0) of a prismatic one.
JointMotion = tuple[float, float]


@jit_inline
def dot(a: Point, b: Point) -> float:
    """The scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@jit_inline
def cross(a: Point, b: Point) -> Point:
    """The vector product."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@jit_inline
def plus(a: Point, b: Point, scale: float) -> Point:
    """The sum a + scale · b."""
    return a[0] + scale * b[0], a[1] + scale * b[1], a[2] + scale * b[2]


@jit_inline
def turn(axis: Point, c: float, s: float, v: Point) -> Point:
    """The vector ``v`` rotated about a unit axis by the angle with this cosine and sine."""
    side, along = cross(axis, v), (1.0 - c) * dot(axis, v)
    return (
        c * v[0] + s * side[0] + along * axis[0],
        c * v[1] + s * side[1] + along * axis[1],
        c * v[2] + s * side[2] + along * axis[2],
    )


@jit_inline
def turn_onto(axis: Point, x: Point, y: Point) -> tuple[float, float, float]:
    """Subproblem 1: (cos, sin) of the rotation about an axis that brings x closest to y.

    The third number is how well it is determined: the product of the distances from the axis.
    Where it is 0, every rotation does as well, and the first is the identity.
    """
    c = dot(x, y) - dot(axis, x) * dot(axis, y)
    s = dot(axis, cross(x, y))
    size = sqrt(c * c + s * s)
    none = size == 0.0
    scale = 1.0 / where(none, 1.0, size)
    return where(none, 1.0, scale * c), scale * s, size


@jit_inline
def cut_circle(a: float, b: float, c: float) -> tuple[float, float, float, float, float]:
    """The directions (cos, sin) with a cos + b sin = c: (x, y, dx, dy, excess).

    They are (x - dx, y - dy) and (x + dx, y + dy). ``excess`` is by how much |c| is too large for
    a solution; the two are then one, the closest. Where a = b = 0, all numbers but it are NaN.
    """
    size_sq = a * a + b * b
    size = sqrt(size_sq)
    excess = abs(c) - size
    inside = where(c > size, size, where(c < -size, -size, c))
    rest = (size - inside) * (size + inside)
    half = sqrt(where(rest > 0.0, rest, 0.0 * rest))
    scale = 1.0 / size_sq
    return scale * a * inside, scale * b * inside, -scale * b * half, scale * a * half, excess


@jit_inline
def height_terms(axis: Point, point: Point, v: Point, g: Point) -> Point:
    """(k, a, b): g · (v rotated about the axis line) is k + a cos + b sin. Subproblem 4."""
    u = plus(v, point, -1.0)
    along = dot(axis, u)
    across = dot(g, u) - along * dot(g, axis)
    return dot(g, point) + along * dot(g, axis), across, dot(g, cross(axis, u))


@jit_inline
def distance_terms(axis: Point, point: Point, v: Point, center: Point) -> Point:
    """(k, a, b): |v rotated about the axis line - center|² is k + a cos + b sin. Subproblem 3."""
    u, to_axis = plus(v, point, -1.0), plus(point, center, -1.0)
    along, height = dot(axis, u), dot(to_axis, axis)
    k = dot(u, u) + dot(to_axis, to_axis) + 2.0 * along * height
    return k, 2.0 * (dot(to_axis, u) - along * height), 2.0 * dot(to_axis, cross(axis, u))


@jit_inline
def two_turns(
    first: Point, second: Point, x: Point, y: Point, sign: float
) -> tuple[float, float, float, float, float]:
    """Subproblem 2: rotations with R_first · R_second · x = y, (cos, sin, cos, sin, excess).

    The axes meet in the origin, and |x| = |y|. ``sign`` chooses one of the two solutions.
    """
    k, a, b = height_terms(second, (0.0, 0.0, 0.0), x, first)
    c, s, dc, ds, excess = cut_circle(a, b, dot(first, y) - k)
    c, s = c + sign * dc, s + sign * ds
    c1, s1, _ = turn_onto(first, turn(second, c, s, x), y)
    return c1, s1, c, s, excess
