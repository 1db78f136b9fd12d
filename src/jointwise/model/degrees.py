"""Numbers that look like degrees where radians are expected, and the warning about them."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import pi, remainder
from numbers import Real
from typing import Protocol

import numpy as np

from jointwise.errors import DegreesWarning, warn_caller
from jointwise.kernels.layout.arrays import Bools, Floats

# More than two turns: unlikely as an angle in radians, and a small one in degrees [rad].
MIN_SUSPECTED = 4.0 * pi
# Two turns in degrees; larger numbers stand for "unlimited" in files [rad].
MAX_SUSPECTED = 720.0
# Multiples of pi are not suspected; they may differ from one by less than this [rad].
HALF_TURN_TOL = 1e-3
# A joint value farther outside its limits cannot be explained by wrapping [rad].
MAX_OUTSIDE = 2.0 * pi


def suspected(angle: object) -> bool:
    """Whether a value is a number too large for an angle in radians."""
    if not isinstance(angle, Real) or not MIN_SUSPECTED < abs(float(angle)) <= MAX_SUSPECTED:
        return False
    return abs(remainder(float(angle), pi)) > HALF_TURN_TOL


def warn(found: Sequence[str], remedy: str) -> None:
    """Warn about suspected angles, if any: about the first one, and how many more there are.

    Args:
        found: The given values, such as ``alpha is 90``.
        remedy: What to do if these are degrees, such as ``use math.radians``.
    """
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        warn_caller(DegreesWarning(f"{found[0]}{more}, more than two turns", remedy))


def check_limits(limits: Floats, prismatic: Bools, names: Sequence[str]) -> None:
    """Warn if limits of revolute joints look like degrees; for the methods of ``Chain``."""
    found = [
        f"limits of {name!r} are {lower:g} and {upper:g}"
        for name, (lower, upper), is_prismatic in zip(names, limits, prismatic, strict=True)
        if not is_prismatic and (suspected(lower) or suspected(upper))
    ]
    warn(found, "use numpy.radians")


class Limited(Protocol):
    """An arm or a robot."""

    @property
    def limits(self) -> Floats:
        """(n, 2) lower and upper limit of each joint [rad, m]."""
        ...

    @property
    def prismatic(self) -> Bools:
        """(n,) which joints are prismatic."""
        ...


def check_values(
    option: str,
    values: Floats,
    arm: Limited,
    names: Sequence[str],
    remedy: str = "add --deg",
) -> None:
    """Warn about the first joint value that looks like degrees.

    Args:
        option: Name of the values, such as ``--q``.
        values: (n,) or (m, n) joint values [rad, m].
        arm: The arm or robot.
        names: One name per joint.
        remedy: What to do if these are degrees.
    """
    lower, upper = arm.limits.T
    outside = (values < lower - MAX_OUTSIDE) | (values > upper + MAX_OUTSIDE)
    suspects = np.array([suspected(value) for value in values.ravel().tolist()], bool)
    large = np.isinf(upper - lower) & suspects.reshape(values.shape)
    mask = (outside | large) & ~arm.prismatic
    for index in np.argwhere(mask)[:1]:
        joint = index[-1]
        reason = "more than two turns"
        if outside[tuple(index)]:
            low, high = arm.limits[joint]
            reason = f"more than a turn outside its limits {low:g} and {high:g} rad"
        given = f"{option} has {values[tuple(index)]:g} for {names[joint]}, {reason}"
        warn_caller(DegreesWarning(given, remedy))


def check_rpy(values: Floats, locate: Callable[[int], str]) -> None:
    """Warn about the first row of angles on the command line or in a table that look like degrees.

    Args:
        values: (m, 3) angles about fixed x, y, z [rad].
        locate: Describes the place of a row.
    """
    for row in np.flatnonzero((np.abs(values) > MIN_SUSPECTED).any(axis=1))[:1].tolist():
        angles = " ".join(f"{angle:g}" for angle in values[row])
        warn([f"roll, pitch, yaw {locate(row)} are {angles}"], "add --deg")


@contextmanager
def silenced() -> Iterator[None]:
    """Suppress these warnings in this block, because the caller warns with a better remedy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegreesWarning)
        yield
