"""Checks of user input. Each error says what was given, what is accepted, and what to do."""

from collections import Counter
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from itertools import islice
from numbers import Real
from os import PathLike
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import DimensionMismatchError, InvalidInputError
from jointwise.kernels.layout.arrays import MAX_VALUE, ROTATION_DEFECT, Floats

FLOAT64 = np.dtype(np.float64)
# Number of names that an error lists, and in which it searches for a similar one.
MAX_LISTED, MAX_COMPARED = 12, 5000


def number(name: str, value: Any) -> float:
    """A finite number below 1e9, as a float."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise InvalidInputError(f"{name} is {value!r}: expected a number.")
    if not -MAX_VALUE < cast(float, value) < MAX_VALUE:
        raise InvalidInputError(f"{name} is {value}: expected a finite number below 1e9.")
    return float(value)


def positive(name: str, value: Any) -> float:
    """A number above zero, as a float."""
    checked = number(name, value)
    if checked <= 0.0:
        raise InvalidInputError(f"{name} is {value}: expected a number above zero.")
    return checked


def positive_or_inf(name: str, value: Any) -> float:
    """A number above zero, as a float; infinite for no limit."""
    return np.inf if isinstance(value, float) and value == np.inf else positive(name, value)


def count(name: str, value: Any) -> int:
    """An integer, zero or more; 1e3 is accepted for 1000."""
    if type(value) is int and 0 <= value < MAX_VALUE:
        return value
    checked = number(name, value)
    if checked < 0.0 or not checked.is_integer():
        raise InvalidInputError(f"{name} is {value}: expected a whole number, 0 or more.")
    return int(checked)


def seed(value: Any) -> int:
    """An integer of any size, zero or more."""
    if not isinstance(value, (int, np.integer)) or value < 0:
        raise InvalidInputError(f"seed is {value!r}: expected a whole number, 0 or more.")
    return int(value)


def flag(name: str, value: Any) -> bool:
    """True or False; texts such as "no" are refused, because Python treats them as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidInputError(f"{name} is {short(value)}: expected True or False.")
    return bool(value)


def text(name: str, value: Any) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value:
        raise InvalidInputError(f"{name} is {short(value)}: expected a string that is not empty.")
    return value


def choice(name: str, value: Any, accepted: tuple[str, ...]) -> None:
    """One of the accepted strings."""
    if not isinstance(value, str) or value not in accepted:
        expected = " or ".join(map(repr, accepted))
        raise InvalidInputError(f"{name} is {value!r}: expected {expected}.")


def floats(name: str, values: ArrayLike) -> Floats:
    """A new array of floats, of any shape; its numbers are not yet checked."""
    if type(values) is np.ndarray and values.dtype is FLOAT64:  # the most frequent case, and fast
        return values.copy()
    try:
        array = np.array(values, order="C")
    except (ValueError, TypeError):  # rows of different lengths, or an array on a GPU
        array = np.array(None)
    if array.dtype is not FLOAT64:
        if array.dtype.kind not in "iuf":
            raise InvalidInputError(f"{name} is {values!r}: expected numbers.")
        array = array.astype(np.float64)
    return array


def no_booleans(name: str, values: Any) -> None:
    """Refuse lists of a file with true or false among numbers, which would be 1 or 0."""
    pending = [values]
    while pending:
        value = pending.pop()
        if isinstance(value, bool):
            raise InvalidInputError(f"{name} has {str(value).lower()}: expected numbers.")
        if isinstance(value, list):
            pending.extend(value)


def contiguous(name: str, values: ArrayLike) -> Floats:
    """An array of floats that kernels can read: the given one if it is contiguous, else a copy."""
    if type(values) is np.ndarray and values.flags.carray and values.dtype is FLOAT64:
        return values
    return floats(name, values)


def joint_values(name: str, values: ArrayLike, joints: int, owner: str = "an arm") -> Floats:
    """One value per joint; its numbers are not yet checked."""
    array = floats(name, values)
    if array.ndim != 1 or array.size != joints:
        size = quantity(array.size, "value") if array.ndim == 1 else f"shape {array.shape}"
        raise DimensionMismatchError(
            f"{name} has {size} for {owner} of {quantity(joints, 'joint')}: "
            f"expected one value per joint, shape ({joints},)."
        )
    return array


def position(name: str, value: Any) -> Floats:
    """(3,) a point; of a SciPy RigidTransform, its translation. Its numbers are not yet checked."""
    array = floats(name, value.translation if hasattr(value, "translation") else value)
    if array.shape != (3,):
        hint = {
            (2,): " For a planar arm, add z = 0.",
            (4, 4): f" For a pose, pass its position, {name}[:3, 3].",
        }.get(array.shape, "")
        raise InvalidInputError(
            f"{name} has shape {array.shape}: expected (3,), a position x, y, z.{hint}"
        )
    return array


def all_finite(name: str, array: Floats) -> Floats:
    """The array itself, without NaN, infinity or numbers too large to compute with."""
    if (np.abs(array) < MAX_VALUE).all():  # the most frequent case, and fast
        return array
    for index in np.argwhere(~(np.abs(array) < MAX_VALUE)):
        where = ", ".join(map(str, index))
        raise InvalidInputError(
            f"{name}[{where}] is {array[tuple(index)]}: expected finite numbers below 1e9."
        )
    return array


def configurations(name: str, values: ArrayLike, joints: int, owner: str = "an arm") -> Floats:
    """(n,) one value per joint, or (k, n) for many; the numbers are not yet checked."""
    array = floats(name, values)
    if array.ndim == 2 and array.shape[1] == joints:
        return array
    return joint_values(name, array, joints, owner)


def as_array(value: Any) -> Any:
    """A pose of SciPy as an array; anything else as it is."""
    if type(value) is not np.ndarray and hasattr(value, "as_matrix"):
        return value.as_matrix()
    return value


def pose(name: str, value: Any) -> Floats:
    """(4, 4) a rigid transform, from an array or from a SciPy RigidTransform."""
    array = floats(name, as_array(value))
    if array.shape != (4, 4):
        raise InvalidInputError(
            f"{name} has shape {array.shape}: expected (4, 4), a pose.{pose_hint(array.shape)}"
        )
    all_finite(name, array)
    last = (0.0, 0.0, 0.0, 1.0)
    if np.abs(array[3] - last).max() > ROTATION_DEFECT:
        transposed = np.abs(array[:, 3] - last).max() <= ROTATION_DEFECT
        raise InvalidInputError(
            f"{name} has the last row {array[3]}: expected [0, 0, 0, 1] in a pose."
            + (f" Transposed? Pass {name}.T." if transposed else "")
        )
    rotation(f"{name} is not a pose: its rotation part", array[:3, :3])
    return array


def rotation(name: str, matrix: Floats) -> None:
    """A rotation matrix (3, 3); ``name`` is the subject of the sentence that refuses another."""
    x, y, z = matrix.T
    defect = np.abs(matrix.T @ matrix - np.eye(3)).max()
    defect = max(defect, np.abs(np.cross(x, y) - z).max())
    if defect > ROTATION_DEFECT:
        if np.cross(x, y) @ z < 0.0:
            raise InvalidInputError(
                f"{name} is a reflection. Negate one of its axes to make it right-handed."
            )
        raise InvalidInputError(
            f"{name} deviates from a rotation by {defect:.1g}. "
            "SciPy's Rotation.from_matrix gives the nearest rotation."
        )


def pose_hint(shape: tuple[int, ...]) -> str:
    """How to write the numbers of an array of another shape as a pose; "" if unknown."""
    orientations = {6: ("rpy", "roll, pitch, yaw"), 7: ("quat", "a quaternion x, y, z, w")}
    if len(shape) not in (1, 2) or shape[-1] not in orientations:
        return ""
    name, words = orientations[shape[-1]]
    rows = "" if len(shape) == 1 else ":, "
    return f" For a position and {words}: jointwise.pose(v[{rows}:3], {name}=v[{rows}3:])."


def frame(name: str, value: Any) -> Floats:
    """(4, 4) a pose, its rotation part made orthonormal; a position (3,) gets no rotation."""
    given = floats(name, as_array(value))
    if given.shape == (3,):
        array = np.eye(4)
        array[:3, 3] = all_finite(name, given)
        return array
    array = pose(name, given)
    left, _, right = np.linalg.svd(array[:3, :3])
    array[:3, :3] = left @ right
    return array


def frames(name: str, values: Any) -> Floats:
    """(k, 4, 4) poses like those of ``frame``."""
    array = floats(name, as_array(values))
    if array.ndim != 3 or array.shape[1:] != (4, 4):
        raise InvalidInputError(f"{name} has shape {array.shape}: expected (k, 4, 4), poses.")
    for i, each in enumerate(array):
        array[i] = frame(f"{name}[{i}]", each)
    return array


def places(name: str, values: Any) -> tuple[Floats, bool]:
    """(k, 4, 4) poses from poses or from positions (k, 3), and whether poses were given."""
    array = floats(name, as_array(values))
    if array.ndim == 2 and array.shape[1] == 3:
        poses = np.tile(np.eye(4), (len(array), 1, 1))
        poses[:, :3, 3] = all_finite(name, array)
        return poses, False
    if array.ndim != 3:
        raise InvalidInputError(
            f"{name} has shape {array.shape}: expected (k, 3) for positions or (k, 4, 4) for poses."
        )
    return frames(name, array), True


def names(values: Any, joints: int) -> tuple[str, ...]:
    """One name per joint, all different; joint1, joint2, ... for None."""
    if values is None:
        return tuple(f"joint{i + 1}" for i in range(joints))
    joint_names = tuple(values) if np.iterable(values) else (values,)
    if len(joint_names) != joints:
        raise DimensionMismatchError(
            f"names has {quantity(len(joint_names), 'name')} for an arm of "
            f"{quantity(joints, 'joint')}: expected one name per joint."
        )
    for i, name in enumerate(joint_names):
        if not isinstance(name, str):
            raise InvalidInputError(f"names[{i}] is {name!r}: expected a string.")
    for name, occurrences in Counter(joint_names).items():
        if occurrences > 1:
            raise InvalidInputError(f"names has {name!r} twice: expected a unique name per joint.")
    return joint_names


def limits(values: Any, joint_names: tuple[str, ...], owner: str = "an arm") -> Floats:
    """(n, 2) lower and upper limits, infinite where unlimited; None: no limits."""
    joints = len(joint_names)
    if values is None:
        return np.tile([-np.inf, np.inf], (joints, 1))
    array = floats("limits", values)
    if array.shape != (joints, 2):
        raise DimensionMismatchError(
            f"limits has shape {array.shape} for {owner} of {quantity(joints, 'joint')}: "
            f"expected ({joints}, 2), a lower and an upper value per joint."
        )
    for name, (lower, upper) in zip(joint_names, array.tolist(), strict=True):
        in_range = all(abs(end) < MAX_VALUE or abs(end) == np.inf for end in (lower, upper))
        if in_range and lower > upper:
            raise InvalidInputError(
                f"Joint {name!r}: lower limit {lower:g} is above upper limit {upper:g}."
            )
        if not (in_range and lower <= upper and lower < np.inf and upper > -np.inf):
            raise InvalidInputError(
                f"limits of {name!r} are {lower} and {upper}: expected a lower and an upper value, "
                "-inf and inf where unlimited."
            )
    return array


def parse_number(text: str) -> float:
    """The number that a text stands for; NaN if it is not a number."""
    try:
        return np.nan if "_" in text else float(text)  # Python would read 1_0 as ten
    except ValueError:
        return np.nan


def short(value: object) -> str:
    """The repr of a value, truncated to 80 characters."""
    text = repr(str(value) if isinstance(value, PathLike) else value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def quantity(count: int, noun: str) -> str:
    """A number of things, such as ``1 joint`` or ``6 joints``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def known_name(
    noun: str, name: object, known: Collection[str], title: str, suggested: tuple[str, ...] = ()
) -> None:
    """Refuse an unknown name, and suggest the nearest one.

    Args:
        noun: What has the name.
        name: The name.
        known: The known names.
        title: What has the known names.
        suggested: Further names that are suggested, but not listed.
    """
    if isinstance(name, str) and name in known:
        return
    hint = name_hint(name, [*suggested, *known])
    raise InvalidInputError(
        f"no {noun} named {short(name)} in {title}{hint} {noun.capitalize()}s: {list_names(known)}"
    )


def name_hint(name: object, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the nearest known one, if any."""
    lowered = {each.lower(): each for each in islice(known, MAX_COMPARED)}
    similar = get_close_matches(name.lower(), lowered, 1) if isinstance(name, str) else []
    return f"; did you mean {lowered[similar[0]]!r}?" if similar else "."


def list_names(names: Iterable[str]) -> str:
    """The first names of a list, and how many more there are."""
    all_names = list(names)
    text = ", ".join(short(name)[1:-1] for name in all_names[:MAX_LISTED])
    more = len(all_names) - MAX_LISTED
    return f"{text} and {more} more." if more > 0 else f"{text}."
