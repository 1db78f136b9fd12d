"""Sine, cosine and polar angle by polynomials: as fast as the C library's, and in lanes too."""

from math import factorial, pi, sqrt

from jointwise.kernels._numba.jit import jit_inline
from jointwise.kernels._numba.where import floor, where

# A full turn [rad].
TURN = 2.0 * pi
# pi/2 in three parts: the first two times any integer below 2**20 are exact (Cody and Waite).
HALF_PI = 1.5707963267341256, 6.077100506303966e-11, 2.022266248795951e-21
# Taylor coefficients of sine and cosine, enough for angles up to pi/4.
SINE = tuple((-1.0) ** k / factorial(2 * k + 1) for k in range(8))
COSINE = tuple((-1.0) ** k / factorial(2 * k) for k in range(9))
# Arc tangent up to pi/4, to 1e-5 (Abramowitz and Stegun, 4.4.49).
ARC_TANGENT = (0.9998660, -0.3302995, 0.1801410, -0.0851330, 0.0208351)


@jit_inline
def cos_sin(angle: float) -> tuple[float, float]:
    """Cosine and sine of an angle."""
    quarters = floor(angle * (2.0 / pi) + 0.5)
    x = ((angle - quarters * HALF_PI[0]) - quarters * HALF_PI[1]) - quarters * HALF_PI[2]
    square = x * x
    c, s = COSINE[8] * square + COSINE[7], SINE[7] * square + SINE[6]
    for k in range(6, -1, -1):
        c = c * square + COSINE[k]
    for k in range(5, -1, -1):
        s = s * square + SINE[k]
    s = s * x
    halves = floor(0.5 * quarters)
    odd = quarters - 2.0 * halves > 0.5
    sign = where(halves - 2.0 * floor(0.5 * halves) > 0.5, -1.0, 1.0)
    return sign * where(odd, -s, c), sign * where(odd, c, s)


@jit_inline
def polar_angle(x: float, y: float) -> float:
    """The angle of (x, y) in [-pi, pi], as atan2(y, x); 0 at the origin."""
    size = sqrt(x * x + y * y)
    at_origin = size == 0.0
    scale = 1.0 / where(at_origin, 1.0, size)
    return where(at_origin, 0.0, unit_angle(scale * x, scale * y))


@jit_inline
def unit_angle(c: float, s: float) -> float:
    """The angle of a unit vector in [-pi, pi].

    An approximation to 1e-5, corrected by the sine of its error.
    """
    abs_s, abs_c = abs(s), abs(c)
    steep = abs_s > abs_c
    larger = where(steep, abs_s, abs_c)
    ratio = where(steep, abs_c, abs_s) / where(larger == 0.0, 1.0, larger)
    square = ratio * ratio
    angle = ARC_TANGENT[4] * square + ARC_TANGENT[3]
    for k in range(2, -1, -1):
        angle = angle * square + ARC_TANGENT[k]
    angle = angle * ratio
    angle = where(steep, 0.5 * pi - angle, angle)
    angle = where(c < 0.0, pi - angle, angle)
    angle = where(s < 0.0, -angle, angle)
    angle_cos, angle_sin = cos_sin(angle)
    sine = s * angle_cos - c * angle_sin
    return angle + sine * (1.0 + sine * sine * (1.0 / 6.0))
