"""Every input is checked here, once: what was given, what is accepted, what to do."""

from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import DimensionMismatchError, InvalidInputError
from jointwise.kernels import LARGEST, Floats


def number(name: str, value: Any) -> float:
    """A finite number of workable size, as a float."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise InvalidInputError(f"{name} is {value!r}: expected a number.")
    if not -LARGEST < cast(float, value) < LARGEST:
        raise InvalidInputError(f"{name} is {value}: expected a finite number below 1e9.")
    return float(value)


def positive(name: str, value: Any) -> float:
    """A number above zero, as a float."""
    checked = number(name, value)
    if checked <= 0.0:
        raise InvalidInputError(f"{name} is {value}: expected a number above zero.")
    return checked


def count(name: str, value: Any) -> int:
    """A whole number, zero or more; 1e3 will do for 1000."""
    checked = number(name, value)
    if checked < 0.0 or not checked.is_integer():
        raise InvalidInputError(f"{name} is {value}: expected a whole number, 0 or more.")
    return int(checked)


def choice(name: str, value: Any, words: tuple[str, ...]) -> None:
    """One of a few words."""
    if not isinstance(value, str) or value not in words:
        accepted = " or ".join(map(repr, words))
        raise InvalidInputError(f"{name} is {value!r}: expected {accepted}.")


def floats(name: str, values: ArrayLike) -> Floats:
    """A fresh array of floats, of any shape; not yet known to be workable."""
    try:
        array = np.array(values)
    except ValueError:  # rows of different lengths
        array = np.array(None)
    if array.dtype != np.float64:
        if array.dtype.kind not in "iuf":
            raise InvalidInputError(f"{name} is {values!r}: expected numbers.")
        array = array.astype(np.float64)
    return array


def joint_values(name: str, values: ArrayLike, joints: int) -> Floats:
    """One value per joint; not yet known to be workable."""
    array = floats(name, values)
    if array.shape != (joints,):
        given = _several(array.size, "value") if array.ndim == 1 else f"shape {array.shape}"
        raise DimensionMismatchError(
            f"{name} has {given} for an arm of {_several(joints, 'joint')}: "
            f"expected one value per joint, shape ({joints},)."
        )
    return array


def position(name: str, value: Any) -> Floats:
    """(3,) a point; of a SciPy RigidTransform, its translation. Not yet known to be workable."""
    array = floats(name, value.translation if hasattr(value, "translation") else value)
    if array.shape != (3,):
        hint = {
            (2,): " For a planar arm, add z = 0.",
            (4, 4): f" Of a pose, pass its position, {name}[:3, 3].",
        }.get(array.shape, "")
        raise InvalidInputError(
            f"{name} has shape {array.shape}: expected (3,), a position x, y, z.{hint}"
        )
    return array


def workable(name: str, array: Floats) -> Floats:
    """The array itself, without NaN, infinity or numbers too large to compute with."""
    for index in np.argwhere(~(np.abs(array) < LARGEST)):
        where = ", ".join(map(str, index))
        raise InvalidInputError(
            f"{name}[{where}] is {array[tuple(index)]}: expected finite numbers below 1e9."
        )
    return array


def _several(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
