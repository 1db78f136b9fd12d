"""Every input is checked here, once: what was given, what is accepted, what to do."""

from collections.abc import Iterable
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jointwise.errors import DimensionMismatchError, InvalidInputError

Floats = NDArray[np.float64]


def number(name: str, value: Any) -> float:
    """A finite number, as a float."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise InvalidInputError(f"{name} is {value!r}: expected a number.")
    try:
        converted = float(value)
    except OverflowError:
        raise InvalidInputError(
            f"{name} is beyond the range of floating point: expected a finite number."
        ) from None
    if not isfinite(converted):
        raise InvalidInputError(f"{name} is {value}: expected a finite number.")
    return converted


def positive(name: str, value: Any) -> float:
    """A finite number above zero, as a float."""
    checked = number(name, value)
    if checked <= 0.0:
        raise InvalidInputError(f"{name} is {value}: expected a number above zero.")
    return checked


def count(name: str, value: Any) -> int:
    """A whole number, zero or more; 1e3 will do for 1000."""
    checked = number(name, value)
    if checked < 0.0 or not checked.is_integer():
        raise InvalidInputError(f"{name} is {value}: expected a whole number, 0 or more.")
    if checked >= 2.0**63:
        raise InvalidInputError(
            f"{name} is {value}: expected a whole number, 0 or more, below 2**63."
        )
    return int(value)


def choice(name: str, value: Any, valid: Iterable[str]) -> None:
    """One of a few words."""
    if value not in (words := tuple(valid)):
        accepted = " or ".join(map(repr, words))
        raise InvalidInputError(f"{name} is {value!r}: expected {accepted}.")


def floats(name: str, values: ArrayLike) -> Floats:
    """A fresh array of floats, of any shape; not yet known to be finite."""
    try:
        return np.array(values, np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{name} is {values!r}: expected numbers.") from None


def joint_values(name: str, values: ArrayLike, joints: int) -> Floats:
    """One value per joint; not yet known to be finite."""
    array = floats(name, values)
    if array.shape != (joints,):
        given = _several(array.size, "value") if array.ndim == 1 else f"shape {array.shape}"
        raise DimensionMismatchError(
            f"{name} has {given} for an arm of {_several(joints, 'joint')}: "
            f"expected one value per joint, shape ({joints},)."
        )
    return array


def position(name: str, value: Any) -> Floats:
    """(3,) a point; of a SciPy RigidTransform, its translation. Not yet known to be finite."""
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


def finite(name: str, array: Floats) -> Floats:
    """The array itself, without NaN or infinity."""
    for index in np.argwhere(~np.isfinite(array)):
        where = ", ".join(map(str, index))
        raise InvalidInputError(
            f"{name}[{where}] is {array[tuple(index)]}: expected finite numbers."
        )
    return array


def _several(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
