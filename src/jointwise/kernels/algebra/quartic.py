"""All real roots of a polynomial of degree four between -1 and 1, without complex numbers.

Between two critical points a polynomial is monotonic: the roots of its third, second and first
derivative, one after the other, bracket its own. Leading coefficients may vanish.
"""

from jointwise.kernels._numba.arrays import XYZ, stack_array
from jointwise.kernels._numba.jit import jit
from jointwise.kernels.layout.arrays import Floats

FIVE = (0,) * 5
# The interval is a little longer, so that two of them cover a circle without a gap.
END = 1.0 + 1e-9
# Steps of Newton's method and bisection for a root, at most: bisection alone needs 60.
ROOT_STEPS = 80


@jit
def _value(derivatives: Floats, level: int, t: float) -> float:
    """The derivative number ``level`` at t."""
    value = 0.0 * t
    for k in range(4 - level, -1, -1):
        value = value * t + derivatives[level, k]
    return value


@jit
def _root_between(derivatives: Floats, level: int, low: float, high: float) -> float:
    """The root between two points with values of different signs: Newton's method, bracketed."""
    rising = _value(derivatives, level, low) < 0.0
    t = 0.5 * (low + high)
    for _ in range(ROOT_STEPS):
        value = _value(derivatives, level, t)
        if value == 0.0:
            break
        if (value > 0.0) == rising:
            high = t
        else:
            low = t
        slope = _value(derivatives, level + 1, t) if level < 4 else 0.0
        step = value / slope if slope != 0.0 else 4.0
        following = t - step
        if not low < following < high:
            following = 0.5 * (low + high)
        if following == t or not low < following < high:
            break
        t = following
    return t


@jit
def quartic_roots(coefficients: Floats, touching: float, roots: Floats) -> tuple[int, float]:
    """Write the real roots in [-1, 1], ascending: (how many, smallest value that is not one).

    Args:
        coefficients: (5,) of 1, t, ..., t⁴.
        touching: An extremum below this value counts as a root.
        roots: (8,) where they are written.
    """
    derivatives = stack_array(FIVE, FIVE, touching)
    for k in range(5):
        derivatives[0, k] = coefficients[k]
    for level in range(1, 5):
        for k in range(5 - level):
            derivatives[level, k] = (k + 1.0) * derivatives[level - 1, k + 1]
    points = stack_array(XYZ, FIVE, touching)  # critical points, and those of the level above
    count, old, new, missed = 0, 0, 1, 1e30
    for level in range(3, -1, -1):
        found, low = 0, -END
        low_value = _value(derivatives, level, low)
        for k in range(count + 1):
            high = points[old, k] if k < count else END
            high_value = _value(derivatives, level, high)
            if (low_value < 0.0) != (high_value < 0.0):
                root = _root_between(derivatives, level, low, high)
                if level == 0:
                    roots[found] = root
                else:
                    points[new, found] = root
                found += 1
            elif level == 0 and k < count:
                if abs(high_value) < touching:
                    roots[found] = high
                    found += 1
                else:
                    missed = min(missed, abs(high_value))
            low, low_value = high, high_value
        count, old, new = found, new, old
    return count, missed
