"""Two equations in the values of two joints: the heart of every closed form.

Both equations are k + a · (cos, sin) + b · (cos, sin) = 0, with the motion of the first joint and
of the second; of a prismatic joint it is (d, d²) instead. Where one of them lacks one joint, they
are solved one after the other. Otherwise the first joint is eliminated, which leaves a quartic.
"""

from math import sqrt

from jointwise.kernels._numba.arrays import TWIST, stack_array
from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.algebra.quartic import FIVE, quartic_roots
from jointwise.kernels.closed_form.subproblems import cut_circle
from jointwise.kernels.layout.arm import REVOLUTE
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.closed_form import A_FIRST, A_SECOND, B_SECOND, COUPLED

# An equation: k, two factors of the first joint, two of the second. In metres.
Equation = tuple[float, float, float, float, float]

# What is noted about a target: a joint is free, or nearly; an equation was missed narrowly; there
# were more candidates than places.
SINGULAR, NARROW, OVERFLOW = range(3)
# Shares of the arm's size. Below the first, a joint has no effect on an equation, and below the
# second next to none, which is noted: arms have rounding errors of 1e-9, from angles such as
# 1.5707963. A miss below the third counts as rounding.
NO_EFFECT, LITTLE_EFFECT, PAIR_ROUNDING = 1e-7, 1e-5, 1e-7
# A joint that may be off by more, as the ones before it may be [rad], is noted as free: singular
# joints one after the other multiply the errors.
UNCERTAIN = 0.3
# Columns of ``pairs``: the two motions, and how far the pair may be off [m].
MAX_PAIRS, PAIR_COLUMNS = (0,) * 18, FIVE


@jit_inline
def branch(
    kind: float, k: float, a: float, b: float, number: int, size: float, error: float, notes: Floats
) -> tuple[float, float, float]:
    """Solution 0 or 1 of k + a · motion + b · motion = 0: (motion, how far it may be off [m]).

    The third number is negative if there is no such solution. Number 2 is there only if the joint
    has next to no effect: (0, 0), for any value.
    """
    if kind == REVOLUTE:
        effect = sqrt(a * a + b * b)
        if effect < max(NO_EFFECT * size, 4.0 * error):
            notes[NARROW] = 1.0
        if effect < LITTLE_EFFECT * size:
            notes[SINGULAR] = 1.0
        if effect < NO_EFFECT * size:
            if number == 2:
                free = abs(k) < 10.0 * NO_EFFECT * size
                return 0.0, 0.0, size if free else -1.0
            if effect == 0.0:
                return 0.0, 0.0, -1.0
        elif number == 2:
            return 0.0, 0.0, -1.0
        x, y, dx, dy, excess = cut_circle(a, b, -k)
        if excess > PAIR_ROUNDING * size:
            if excess < error:
                notes[NARROW] = 1.0
            return 0.0, 0.0, -1.0
        sign = 2.0 * number - 1.0
        sine = sqrt(dx * dx + dy * dy)
        spread = 2.0 * error / max(sine, sqrt(error / effect)) / effect
        return x + sign * dx, y + sign * dy, error + min(spread, 4.0) * size
    if number == 2 or (a == 0.0 and b == 0.0):
        return 0.0, 0.0, -1.0
    if abs(b) * size < NO_EFFECT * abs(a):
        if number == 1:
            return 0.0, 0.0, -1.0
        return -k / a, 0.0, error + error / abs(a)
    excess = k / b - 0.25 * (a / b) * (a / b)
    if excess > PAIR_ROUNDING * size * size:
        if excess < 4.0 * error * size:
            notes[NARROW] = 1.0
        return 0.0, 0.0, -1.0
    half = sqrt(max(-excess, 0.0))
    sign = 2.0 * number - 1.0
    spread = 4.0 * error * size / max(half, sqrt(4.0 * error * size))
    return -0.5 * a / b + sign * half, 0.0, error + spread


@jit_inline
def terms_at(kind: float, u: float, v: float, a: float, b: float) -> float:
    """The part of an equation that a joint's motion gives."""
    if kind == REVOLUTE:
        return a * u + b * v
    return a * u + b * u * u


@jit
def sequential_pairs(
    kinds: tuple[float, float],
    lead: int,
    first: Equation,
    second: Equation,
    prefer: tuple[float, float, float, float],
    scales: tuple[float, float],
    pairs: Floats,
    notes: Floats,
) -> int:
    """Solve the equation that lacks a joint, then the other; write the pairs, count them."""
    size, error = scales
    leading, other = (first, second) if lead in (A_FIRST, A_SECOND) else (second, first)
    swapped = lead in (A_SECOND, B_SECOND)  # the leading equation has the second joint only
    i, j = (3, 1) if swapped else (1, 3)
    kind, other_kind = (kinds[1], kinds[0]) if swapped else kinds
    free, other_free = ((prefer[2], prefer[3]), (prefer[0], prefer[1]))
    if not swapped:
        free, other_free = other_free, free
    count = 0
    for m in range(3):
        u, v, off = branch(kind, leading[0], leading[i], leading[i + 1], m, size, error, notes)
        if off < 0.0:
            continue
        if m == 2:
            u, v = free
        k = other[0] + terms_at(kind, u, v, other[i], other[i + 1])
        for n in range(3):
            x, y, total = branch(other_kind, k, other[j], other[j + 1], n, size, off, notes)
            if total < 0.0:
                continue
            if n == 2:
                x, y = other_free
            pairs[count, 4] = total
            if swapped:
                pairs[count, 0], pairs[count, 1], pairs[count, 2], pairs[count, 3] = x, y, u, v
            else:
                pairs[count, 0], pairs[count, 1], pairs[count, 2], pairs[count, 3] = u, v, x, y
            count += 1
    return count


@jit
def _fill_quartic(kind: float, conic: Floats, half: int, scale: float, quartic: Floats) -> None:
    """The conic k0 + k1 x + k2 y + k3 x² + k4 xy + k5 y² on half of a joint's range, for t.

    Revolute: (x, y) = ±(1 - t², 2t) / (1 + t²), times (1 + t²)². Prismatic: (x, y) = (d, d²), with
    d = scale · t, or d = scale / t times t⁴.
    """
    k0, k1, k2, k3, k4, k5 = conic[0], conic[1], conic[2], conic[3], conic[4], conic[5]
    if kind == REVOLUTE:
        sign = 1.0 - 2.0 * half
        k1, k2 = sign * k1, sign * k2
        quartic[0] = k0 + k1 + k3
        quartic[1] = 2.0 * (k2 + k4)
        quartic[2] = 2.0 * k0 - 2.0 * k3 + 4.0 * k5
        quartic[3] = 2.0 * (k2 - k4)
        quartic[4] = k0 - k1 + k3
        return
    power = 1.0
    values = (k0, k1, k2 + k3, k4, k5)
    for k in range(5):
        quartic[k if half == 0 else 4 - k] = power * values[k]
        power *= scale


@jit
def coupled_pairs(
    kinds: tuple[float, float],
    first: Equation,
    second: Equation,
    prefer: tuple[float, float, float, float],
    scales: tuple[float, float],
    pairs: Floats,
    notes: Floats,
) -> int:
    """Eliminate the first joint, find all roots for the second; write the pairs, count them."""
    size, error = scales
    det = first[1] * second[2] - first[2] * second[1]
    rest = stack_array(TWIST, TWIST, det)  # rows: numerators of the first motion; conic; quartic
    x, y, conic = rest[0], rest[1], rest[2]
    for k, column in enumerate((0, 3, 4)):
        x[k] = first[2] * second[column] - second[2] * first[column]
        y[k] = second[1] * first[column] - first[1] * second[column]
    square, flat = (1.0, 0.0) if kinds[0] == REVOLUTE else (0.0, 1.0)
    # x² + y² = det² of a revolute joint, x² = det y of a prismatic one.
    conic[0] = x[0] * x[0] + square * (y[0] * y[0] - det * det) - flat * det * y[0]
    conic[1] = 2.0 * (x[0] * x[1] + square * y[0] * y[1]) - flat * det * y[1]
    conic[2] = 2.0 * (x[0] * x[2] + square * y[0] * y[2]) - flat * det * y[2]
    conic[3] = x[1] * x[1] + square * y[1] * y[1]
    conic[4] = 2.0 * (x[1] * x[2] + square * y[1] * y[2])
    conic[5] = x[2] * x[2] + square * y[2] * y[2]
    off, x_off, det_off = conic_errors(kinds, first, second, scales)
    count, roots = 0, stack_array(TWIST, PAIR_COLUMNS, det)
    found_roots = stack_array((0,), (0,) * 8, det)[0]
    for half in range(2):
        quartic = roots[0]
        _fill_quartic(kinds[1], conic, half, size, quartic)
        largest = 0.0
        for k in range(5):
            largest = max(largest, abs(quartic[k]))
        found, missed = quartic_roots(quartic, 1e-12 * largest, found_roots)
        if missed < max(1e-3 * largest, off) or abs(det) < max(1e-3 * size * size, 4.0 * det_off):
            notes[NARROW] = 1.0
        for k in range(found):
            t = found_roots[k]
            if kinds[1] == REVOLUTE:
                scale = (1.0 - 2.0 * half) / (1.0 + t * t)
                u, v = scale * (1.0 - t * t), scale * 2.0 * t
                p = x[0] + x[1] * u + x[2] * v
                r = y[0] + y[1] * u + y[2] * v
            else:
                if half == 1 and abs(t) < 1e-9:
                    continue
                u, v = (size * t if half == 0 else size / t), 0.0
                p = x[0] + x[1] * u + x[2] * u * u
                r = y[0] + y[1] * u + y[2] * u * u
            if kinds[0] == REVOLUTE:
                length = sqrt(p * p + r * r)
                if length < NO_EFFECT * size * size:
                    notes[SINGULAR] = 1.0
                    p, r, length = prefer[0], prefer[1], 1.0
                elif det < 0.0:
                    length = -length
                p, r = p / length, r / length
            else:
                if det == 0.0:
                    continue
                p, r = p / det, 0.0
            pairs[count, 0], pairs[count, 1], pairs[count, 2], pairs[count, 3] = p, r, u, v
            spread = root_spread(quartic, t, off)
            if kinds[1] == REVOLUTE:
                spread, slope = (
                    2.0 * spread,
                    abs(x[1]) + abs(x[2]) + square * (abs(y[1]) + abs(y[2])),
                )
            else:
                spread = spread if half == 0 else spread / (t * t)
                slope = size * (abs(x[1]) + 2.0 * abs(x[2] * u))
                slope += square * size * (abs(y[1]) + 2.0 * abs(y[2] * u))
            first_off = (x_off + slope * spread + flat * abs(p) * det_off) / max(abs(det), 1e-300)
            spread += first_off if kinds[0] == REVOLUTE else first_off / size
            pairs[count, 4] = error + size * min(spread, 4.0)
            count += 1
    return count


@jit
def conic_errors(
    kinds: tuple[float, float], first: Equation, second: Equation, scales: tuple[float, float]
) -> tuple[float, float, float]:
    """How far off ``coupled_pairs`` may be, if both equations are off by the error.

    A first motion exists where its numerators have the length of the determinant. So what these are
    off by bounds the conic, too. A prismatic joint counts in arm sizes, so that all factors are
    metres.

    Returns:
        Bounds for the values of the quartic, the numerators, and the determinant.
    """
    size, error = scales[0], 2.0 * scales[1]
    one = 1.0 if kinds[0] == REVOLUTE else size
    two = 1.0 if kinds[1] == REVOLUTE else size
    a, b = one * abs(first[1]), one * one * abs(first[2])
    c, d = one * abs(second[1]), one * one * abs(second[2])
    rest = abs(first[0]) + abs(second[0]) + two * (abs(first[3]) + abs(second[3]))
    rest += two * two * (abs(first[4]) + abs(second[4]))
    x_off = error * (b + d + rest + 2.0 * error)
    y_off = error * (a + c + rest + 2.0 * error)
    det_off = error * (a + b + c + d + 2.0 * error)
    det = one * one * one * abs(first[1] * second[2] - first[2] * second[1])
    if kinds[0] == REVOLUTE:
        total = x_off + y_off + det_off
        off = total * (2.0 * det + total)
        x_off += y_off
    else:
        off = (2.0 * (b + d) * rest + x_off) * x_off + det * y_off
        off = (off + ((a + c) * rest + y_off) * det_off) / (size * size * size * size)
        x_off, det_off = x_off / (size * size), det_off / (size * size * size)
    return off if kinds[1] != REVOLUTE else 4.0 * off, x_off, det_off


@jit_inline
def root_spread(quartic: Floats, t: float, off: float) -> float:
    """How far a root may be off where the values of the quartic are off by so much."""
    slope = quartic[1] + t * (2.0 * quartic[2] + t * (3.0 * quartic[3] + t * 4.0 * quartic[4]))
    bend = 2.0 * quartic[2] + t * (6.0 * quartic[3] + t * 12.0 * quartic[4])
    by_slope = 2.0 * off / max(abs(slope), 1e-300)
    spread: float = min(by_slope, 2.0 * sqrt(2.0 * off / max(abs(bend), 1e-300)))
    return spread


@jit
def solve_pair(
    kinds: tuple[float, float],
    lead: int,
    first: Equation,
    second: Equation,
    prefer: tuple[float, float, float, float],
    scales: tuple[float, float],
    pairs: Floats,
    notes: Floats,
) -> int:
    """Solve two equations in two joints; write the pairs, count them."""
    if lead == COUPLED:
        return coupled_pairs(kinds, first, second, prefer, scales, pairs, notes)
    return sequential_pairs(kinds, lead, first, second, prefer, scales, pairs, notes)
