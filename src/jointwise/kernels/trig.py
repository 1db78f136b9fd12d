"""Sine, cosine and angle by polynomials, as quick as the processor's library and in lanes too."""

from math import factorial, pi, sqrt

from jointwise.kernels.jit import hot
from jointwise.kernels.lanes import floor, where

# A quarter turn in three pieces: the first two times any number below 2**20 are exact.
QUARTER = 1.5707963267341256, 6.077100506303966e-11, 2.022266248795951e-21
# Taylor's coefficients of sine and cosine, enough for an eighth of a turn.
SINE = tuple((-1.0) ** k / factorial(2 * k + 1) for k in range(8))
COSINE = tuple((-1.0) ** k / factorial(2 * k) for k in range(9))
# The arc tangent up to an eighth of a turn, to 1e-5 (Abramowitz and Stegun, 4.4.49).
ARC_TANGENT = (0.9998660, -0.3302995, 0.1801410, -0.0851330, 0.0208351)


@hot
def cos_sin(angle: float) -> tuple[float, float]:
    """Cosine and sine of an angle."""
    quarters = floor(angle * (2.0 / pi) + 0.5)
    x = ((angle - quarters * QUARTER[0]) - quarters * QUARTER[1]) - quarters * QUARTER[2]
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


@hot
def angle_of(x: float, y: float) -> float:
    """The angle of (x, y), from -pi to pi; 0 where it has none.

    A rough one, corrected by the sine of what is missing.
    """
    size = sqrt(x * x + y * y)
    none = size == 0.0
    scale = 1.0 / where(none, 1.0, size)
    c, s = scale * x, scale * y
    across, along = abs(s), abs(c)
    steep = across > along
    ratio = where(steep, along, across) / where(none, 1.0, where(steep, across, along))
    square = ratio * ratio
    rough = ARC_TANGENT[4] * square + ARC_TANGENT[3]
    for k in range(2, -1, -1):
        rough = rough * square + ARC_TANGENT[k]
    rough = rough * ratio
    rough = where(steep, 0.5 * pi - rough, rough)
    rough = where(c < 0.0, pi - rough, rough)
    rough = where(s < 0.0, -rough, rough)
    near_c, near_s = cos_sin(rough)
    miss = s * near_c - c * near_s
    return where(none, 0.0, rough + miss * (1.0 + miss * miss * (1.0 / 6.0)))
