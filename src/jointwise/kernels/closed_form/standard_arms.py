"""All solutions of a regular pose, for the arms that are asked for most, without a branch.

Two structures: a spherical wrist with axes 2 and 3 parallel, and axes 2, 3 and 4 parallel with axes
5 and 6 meeting. Both are the same three steps, in another order: joint 1 from the height of the
wrist along the parallel axes, the elbow as two links in a plane, and the wrist as three rotations.
Each step has two solutions, so that there are eight branches. A pose is regular if every step has
plainly two solutions, or plainly none. Where that is in doubt, ``closed_solutions`` decides.

The numbers of an arm are its Denavit-Hartenberg parameters, between a frame on axis 1 and one on
axis 6: ``model.regular_form`` computes them.
"""

from math import sqrt

from jointwise.kernels._numba.jit import jit_inline
from jointwise.kernels._numba.where import floor, where
from jointwise.kernels.algebra.trig import TURN, unit_angle
from jointwise.kernels.closed_form.joint_pairs import UNCERTAIN
from jointwise.kernels.layout.arm import BOUND_LOWER, BOUND_UPPER
from jointwise.kernels.layout.arrays import MAX_VALUE, Floats
from jointwise.kernels.layout.closed_form import (
    AT_LIMIT,
    PARALLEL,
    STANDARD_AFTER,
    STANDARD_ARM_SIZE,
    STANDARD_BASE_COS,
    STANDARD_BASE_HEIGHT,
    STANDARD_BASE_OFFSET,
    STANDARD_BASE_SIN,
    STANDARD_BEFORE,
    STANDARD_BENT_COS,
    STANDARD_BENT_SIN,
    STANDARD_ELBOW_COS,
    STANDARD_ELBOW_SIN,
    STANDARD_FIRST_COS,
    STANDARD_FIRST_SIN,
    STANDARD_IS_BACKWARD,
    STANDARD_LAST_COS,
    STANDARD_LAST_SIN,
    STANDARD_LOWER_LINK,
    STANDARD_OFFSETS,
    STANDARD_SIGNS,
    STANDARD_STRUCTURE,
    STANDARD_UPPER_LINK,
    STANDARD_WRIST_X,
    STANDARD_WRIST_Y,
)

# Largest deviation of a pose from a rotation that one step of Newton's method removes.
SMALL_DEFECT = 1e-8
# How far an arm of a structure may be off by rounding, as a share of its size: what a proof must
# allow for, as ``redundancy.structure_tolerance`` has it. Every sine amplifies it.
STANDARD_ROUNDING = 4e-9
# A squared sine, times the sines of the steps before, is plainly positive from the first on, and
# from the second on if rounding is not yet amplified by it. A miss is clear from the third on.
PLAINLY_FOUND, FOUND_BEYOND_ROUNDING, PLAINLY_MISSED = 1e-11, 3.0 * STANDARD_ROUNDING, 2e-7
# The product of all sines, from which on rounding errors of joint values are below 1e-9 [rad].
WELL_CONDITIONED = 3e-8
# Rotations about an axis are in doubt where what they rotate is closer to it, as a share of 1 or of
# the arm's size.
MIN_SINE = 1e-4
# Values that are outside the limits by less are in doubt [rad].
NEAR_LIMIT = 1e-8


@jit_inline
def place(form: Floats, target: Floats, placed: Floats) -> bool:
    """Write axis 6 seen from axis 1 into ``placed (12,)``: whether the target is plainly a pose.

    Args:
        form: The arm.
        target: (12,) the pose, row by row; its rotation is made exact.
        placed: Where the result is written.
    """
    gram = gram_of(target)
    xx, yy, zz, xy, xz, yz = gram
    off = abs(xx - 1.0) + abs(yy - 1.0) + abs(zz - 1.0) + abs(xy) + abs(xz) + abs(yz)
    a, b, c = 1.5 - 0.5 * xx, 1.5 - 0.5 * yy, 1.5 - 0.5 * zz
    d, e, f = -0.5 * xy, -0.5 * xz, -0.5 * yz
    for i in range(3):
        x, y, z = target[4 * i], target[4 * i + 1], target[4 * i + 2]
        target[4 * i] = x * a + y * d + z * e
        target[4 * i + 1] = x * d + y * b + z * f
        target[4 * i + 2] = x * e + y * f + z * c
    determinant = (
        target[0] * (target[5] * target[10] - target[6] * target[9])
        + target[1] * (target[6] * target[8] - target[4] * target[10])
        + target[2] * (target[4] * target[9] - target[5] * target[8])
    )
    far = abs(target[3]) + abs(target[7]) + abs(target[11])
    if form[STANDARD_IS_BACKWARD] > 0.0:
        invert(target)
    for column in range(4):  # target times STANDARD_AFTER, into ``placed``
        k = STANDARD_AFTER + column
        for i in range(3):
            value = (
                target[4 * i] * form[k]
                + target[4 * i + 1] * form[k + 4]
                + target[4 * i + 2] * form[k + 8]
            )
            placed[4 * i + column] = value + target[4 * i + 3] if column == 3 else value
    for column in range(4):  # STANDARD_BEFORE times that
        x, y, z = placed[column], placed[4 + column], placed[8 + column]
        for i in range(3):
            k = STANDARD_BEFORE + 4 * i
            value = form[k] * x + form[k + 1] * y + form[k + 2] * z
            placed[4 * i + column] = value + form[k + 3] if column == 3 else value
    clear: bool = (off < SMALL_DEFECT) & (determinant > 0.5) & (far < MAX_VALUE)
    return clear


@jit_inline
def gram_of(target: Floats) -> tuple[float, float, float, float, float, float]:
    """Scalar products of the columns of a rotation: xx, yy, zz, xy, xz, yz."""
    a, b, c = target[0], target[1], target[2]
    d, e, f = target[4], target[5], target[6]
    g, h, i = target[8], target[9], target[10]
    return (
        a * a + d * d + g * g,
        b * b + e * e + h * h,
        c * c + f * f + i * i,
        a * b + d * e + g * h,
        a * c + d * f + g * i,
        b * c + e * f + h * i,
    )


@jit_inline
def invert(pose: Floats) -> None:
    """Replace a pose (12,) by its inverse."""
    x, y, z = pose[3], pose[7], pose[11]
    for i in range(3):
        for k in range(i):
            pose[4 * i + k], pose[4 * k + i] = pose[4 * k + i], pose[4 * i + k]
    for i in range(3):
        pose[4 * i + 3] = -(pose[4 * i] * x + pose[4 * i + 1] * y + pose[4 * i + 2] * z)


@jit_inline
def root(square: float) -> float:
    """The square root; of a negative number, that of its absolute value."""
    return sqrt(abs(square))


@jit_inline
def inverse(value: float) -> float:
    """One over the value; 1 for 0, which a pose that is not regular may lead to."""
    return 1.0 / where(value == 0.0, 1.0, value)


@jit_inline
def is_clear(sure: float, off: float, effect: float, rest: float, found: float) -> bool:
    """Whether a step has plainly two solutions, or plainly none.

    Args:
        sure: The sines of the steps before.
        off: How far they may be off, times these sines.
        effect: How far the joint moves what is compared, as a share of the arm's size.
        rest: The squared sine of the joint.
        found: From where on that is plainly positive.
    """
    sure = sure * effect
    clear = sure * abs(rest) > where(rest > 0.0, found, PLAINLY_MISSED)
    return clear & (4.0 * off < sure)


@jit_inline
def elbow(
    form: Floats, x: float, y: float, sign: float
) -> tuple[float, float, float, float, float, float]:
    """Two links to a point in the plane: (cos, sin) of both joints, squared sine and distance.

    Of the sine of the second joint the square is returned, with its sign, as it may be negative:
    the point is then out of reach.
    """
    upper, lower = form[STANDARD_UPPER_LINK], form[STANDARD_LOWER_LINK]
    square = x * x + y * y
    c3 = (square - upper * upper - lower * lower) * (0.5 / (upper * lower))
    rest = 1.0 - c3 * c3
    s3 = sign * root(rest)
    u, v, scale = upper + lower * c3, lower * s3, inverse(square)
    c2, s2 = scale * (x * u + y * v), scale * (y * u - x * v)
    return c2, s2, c3, s3, rest, square


@jit_inline
def wrist(
    form: Floats,
    column: tuple[float, float, float],
    row: tuple[float, float],
    sign: float,
) -> tuple[float, float, float, float, float, float, float, float]:
    """Three rotations: (cos, sin) of each, the middle one's squared sine, that of the tilt.

    Rz(a) Rx Rz(b) Rx Rz(c) is the rotation whose last column and row are given.
    """
    ca, sa, cb, sb = (
        form[STANDARD_FIRST_COS],
        form[STANDARD_FIRST_SIN],
        form[STANDARD_LAST_COS],
        form[STANDARD_LAST_SIN],
    )
    x, y, z = column
    c5 = (ca * cb - z) * (1.0 / (sa * sb))
    rest = 1.0 - c5 * c5
    s5 = sign * root(rest)
    tilt = x * x + y * y
    u, v = s5 * sb, -(ca * sb * c5 + sa * cb)
    scale = inverse(root(tilt * (u * u + v * v)))
    c4, s4 = scale * (u * x + v * y), scale * (u * y - v * x)
    # The middle joint once more, from what the first leaves: by its cosine alone, half of the
    # digits are lost near a singularity.
    c5, s5 = -(ca * (c4 * y - s4 * x) + sa * z) * (1.0 / sb), (c4 * x + s4 * y) * (1.0 / sb)
    u, v, scale = sa * s5, sa * cb * c5 + ca * sb, inverse(tilt)
    c6, s6 = scale * (u * row[0] + v * row[1]), scale * (v * row[0] - u * row[1])
    return c4, s4, c5, s5, c6, s6, rest, tilt


@jit_inline
def regular_branch(
    form: Floats,
    placed: Floats,
    bounds: Floats,
    near: Floats,
    signs: tuple[float, float, float],
    q: Floats,
) -> tuple[bool, bool, bool, float]:
    """One of eight branches: (is it a solution, is that clear, is a joint next to free, outside).

    Args:
        form: The arm; see ``layout.closed_form``.
        placed: (12,) axis 6 seen from axis 1.
        bounds: (6, k) joint limits.
        near: (6,) preferred joint values [rad].
        signs: Which solution of each step, -1 or 1: base, wrist, elbow.
        q: (6,) where the joint values are written, with the full turns that bring them inside the
            limits, close to ``near``. Those that are outside are so by the last result [rad].
    """
    size = form[STANDARD_ARM_SIZE]
    per_size = 1.0 / size
    ca, sa = form[STANDARD_BASE_COS], form[STANDARD_BASE_SIN]
    x, y, z = placed[3], placed[7], placed[11]
    square = x * x + y * y
    scale = inverse(square)
    # c1 y - s1 x = k: the height of the wrist. Sines are shares of the arm's size.
    k = (ca * z - form[STANDARD_BASE_HEIGHT]) * (1.0 / sa)
    rest1 = (square - k * k) * (per_size * per_size)
    sine1 = root(rest1)
    half = signs[0] * sine1 * size
    c1, s1 = scale * (y * k + x * half), scale * (y * half - x * k)
    t1 = unit_angle(c1, s1)
    # The rotation and the point, seen from the parallel axes.
    xx, xy, xz = turn_rows(placed, 0, 1, c1, s1)
    u, v, w = turn_rows(placed, 1, 0, c1, -s1)
    a, b, c = placed[8], placed[9], placed[10]
    yx, yy, yz = ca * u + sa * a, ca * v + sa * b, ca * w + sa * c
    zx, zy, zz = ca * a - sa * u, ca * b - sa * v, ca * c - sa * w
    px = c1 * x + s1 * y - form[STANDARD_BASE_OFFSET]
    py = ca * k + sa * z
    one = 1.0 + 0.0 * x
    clear1 = is_clear(one, STANDARD_ROUNDING * one, abs(sa), rest1, FOUND_BEYOND_ROUNDING)
    effect = abs(form[STANDARD_FIRST_SIN] * form[STANDARD_LAST_SIN])
    bend = form[STANDARD_UPPER_LINK] * form[STANDARD_LOWER_LINK] * per_size * per_size
    # A joint may be off by ``off / sure``, as ``joint_pairs.branch`` and ``set_turn`` have it.
    sure = abs(sa) * sine1
    off = STANDARD_ROUNDING * (sure + 2.0)
    if form[STANDARD_STRUCTURE] == PARALLEL:
        c4, s4, c5, s5, c6, s6, rest2, tilt = wrist(form, (xz, yz, zz), (zx, zy), signs[1])
        clear2 = is_clear(sure, off, effect, rest2, FOUND_BEYOND_ROUNDING)
        sine, turn = effect * abs(s5), root(tilt)
        sure, off = sure * sine * turn, off * (sine + 2.0) * (turn + 1.0)
        dx, dy = form[STANDARD_WRIST_X], form[STANDARD_WRIST_Y]
        px, py = px - c4 * dx + s4 * dy, py - s4 * dx - c4 * dy
        c2, s2, c3, s3, rest3, distance_sq = elbow(form, px, py, signs[2])
        clear3 = is_clear(sure, off, bend, rest3, PLAINLY_FOUND)
        sine, distance = bend * abs(s3), root(distance_sq) * per_size
        spread, limit = off * (sine + 2.0), UNCERTAIN * sure * sine
        # Where two solutions nearly touch, each is off by a root instead.
        touching, apart = off < 0.01 * sure * bend, off > 0.04 * sure * bend
        clear = (spread < limit) | touching | apart
        clear = clear & (sure * sine > WELL_CONDITIONED) & (sure * distance > WELL_CONDITIONED)
        clear = clear & (turn > MIN_SINE) & (distance > MIN_SINE)
        free = ((spread > limit) & apart) | (off > UNCERTAIN * sure * distance)
        t2, t3 = unit_angle(c2, s2), unit_angle(c3, s3)
        t4 = unit_angle(c4, s4) - t2 - t3
    else:
        c2, s2, c3, s3, rest2, distance_sq = elbow(form, px, py, signs[2])
        clear2 = is_clear(sure, off, bend, rest2, FOUND_BEYOND_ROUNDING)
        sine, distance = bend * abs(s3), root(distance_sq) * per_size
        sure, off = sure * sine, off * (sine + 2.0)
        free = off > UNCERTAIN * sure * distance
        sure, off = sure * distance, off * (distance + 1.0)
        c, s = c2 * c3 - s2 * s3, s2 * c3 + c2 * s3
        ce, se, cb, sb = (
            form[STANDARD_ELBOW_COS],
            form[STANDARD_ELBOW_SIN],
            form[STANDARD_BENT_COS],
            form[STANDARD_BENT_SIN],
        )
        c, s = c * ce - s * se, s * ce + c * se
        # The last column and row of the rotation, seen from axis 4.
        v = c * yz - s * xz
        column = c * xz + s * yz, cb * v + sb * zz, cb * zz - sb * v
        row = cb * zx - sb * (c * yx - s * xx), cb * zy - sb * (c * yy - s * xy)
        c4, s4, c5, s5, c6, s6, rest3, tilt = wrist(form, column, row, signs[1])
        clear3 = is_clear(sure, off, effect, rest3, PLAINLY_FOUND)
        sine, turn = effect * abs(s5), root(tilt)
        clear = (sure * sine > WELL_CONDITIONED) & (sure * turn > WELL_CONDITIONED)
        clear = clear & (turn > MIN_SINE) & (distance > MIN_SINE)
        free = free | ((rest3 > 0.0) & (off > UNCERTAIN * sure * turn))
        t2, t3, t4 = unit_angle(c2, s2), unit_angle(c3, s3), unit_angle(c4, s4)
    q[0], q[1], q[2], q[3] = t1, t2, t3, t4
    q[4], q[5] = unit_angle(c5, s5), unit_angle(c6, s6)
    outside, doubt = to_limits(form, bounds, near, q)
    clear = clear3 & ((rest3 < 0.0) | (clear & (doubt < 1.0)))
    clear = clear1 & ((rest1 < 0.0) | (clear2 & ((rest2 < 0.0) | clear)))
    two = (rest1 > 0.0) & (rest2 > 0.0)
    found = two & (rest3 > 0.0)
    return found, clear, free & (found if form[STANDARD_STRUCTURE] == PARALLEL else two), outside


@jit_inline
def turn_rows(placed: Floats, i: int, k: int, c: float, s: float) -> tuple[float, float, float]:
    """C times row i of a rotation, plus s times row k."""
    return (
        c * placed[4 * i] + s * placed[4 * k],
        c * placed[4 * i + 1] + s * placed[4 * k + 1],
        c * placed[4 * i + 2] + s * placed[4 * k + 2],
    )


@jit_inline
def to_limits(form: Floats, bounds: Floats, near: Floats, q: Floats) -> tuple[float, float]:
    """Turn Denavit-Hartenberg angles into joint values: (how far outside, 1 if that is in doubt).

    As ``solutions.turn_inside``, without branches.
    """
    outside = 0.0 * q[0]
    doubt = outside
    if form[STANDARD_IS_BACKWARD] > 0.0:
        for i in range(3):
            q[i], q[5 - i] = q[5 - i], q[i]
    for i in range(6):
        value = form[STANDARD_SIGNS + i] * (q[i] - form[STANDARD_OFFSETS + i])
        lower, upper = bounds[i, BOUND_LOWER], bounds[i, BOUND_UPPER]
        value = value + TURN * floor((near[i] - value) * (1.0 / TURN) + 0.5)
        above, below = (value - upper) - AT_LIMIT, (lower - value) - AT_LIMIT
        fewer = where(above > 0.0, TURN * floor(-above * (1.0 / TURN)), 0.0)
        more = where(below > 0.0, TURN * floor(-below * (1.0 / TURN)), 0.0)
        value = value + where(above > 0.0, fewer, -more)
        above, below = value - upper, lower - value
        clamped = where(above > 0.0, upper, where(below > 0.0, lower, value))
        # Outside by less on this side, or a turn away on the other one.
        other = where(above > 0.0, below + TURN, above + TURN)
        beyond = abs(value - clamped)
        beyond = where((beyond > 0.0) & (other < beyond), other, beyond)
        value = where(beyond > AT_LIMIT, value, clamped)
        doubt = where((beyond > 0.0) & (beyond < NEAR_LIMIT), 1.0, doubt)
        beyond = where(beyond > AT_LIMIT, beyond, 0.0)
        outside = where(beyond > outside, beyond, outside)
        q[i] = value
    return outside, doubt
