"""What may be asked of an arm: a position, a pose, or an aim."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, Union

import numpy as np
from numpy.typing import ArrayLike

from jointwise import checks
from jointwise.arm import Arm
from jointwise.errors import InvalidInputError
from jointwise.kernels import Floats

if TYPE_CHECKING:
    from scipy.spatial.transform import RigidTransform

Request = tuple[Floats, tuple[float, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Aim:
    """A place for the tip and a direction for one of its axes; made by ``aim``.

    Attributes:
        position: (3,) where the tip should be [m], base frame. Read-only.
        direction: (3,) where the axis should point, unit length, base frame. Read-only.
        axis: (3,) which axis of the tip, unit length, tip frame. Read-only.
    """

    position: Floats
    direction: Floats
    axis: Floats


Target = Union[ArrayLike, "RigidTransform", Aim]


def aim(position: ArrayLike, direction: ArrayLike, axis: ArrayLike = (0.0, 0.0, 1.0)) -> Aim:
    """Put the tip somewhere with one of its axes pointing somewhere; turning about it is free.

    For what looks the same from all sides of its axis: welding, drilling, suction.

    Args:
        position: (3,) where the tip should be [m], base frame.
        direction: (3,) where the axis should point, base frame. Any length but zero.
        axis: (3,) which axis of the tip, tip frame; its z unless said otherwise.

    Raises:
        InvalidInputError: Not three finite numbers, or a direction of no length.

    Example:
        >>> aim([0.4, 0.0, 0.3], direction=[0, 0, -2]).direction
        array([ 0.,  0., -1.])
    """
    point = checks.workable("position", checks.position("position", position))
    point.setflags(write=False)
    return Aim(point, _unit("direction", direction), _unit("axis", axis))


def _unit(name: str, value: ArrayLike) -> Floats:
    vector = checks.workable(name, checks.position(name, value))
    length = float(np.linalg.norm(vector))
    if length < 1e-12:
        raise InvalidInputError(f"{name} has no length: expected three numbers, not all zero.")
    vector = vector / length + 0.0  # no minus zeros
    vector.setflags(write=False)
    return vector


def request(arm: Arm, target: Target) -> Request:
    """(target, weights) for the kernels; numbers are not yet known to be workable.

    The target is (1, 3) a position, (3, 3) an aim: position, direction, axis; or (4, 4) a pose.
    """
    if isinstance(target, Aim):
        return np.stack([target.position, target.direction, target.axis]), (1.0, arm.length**2)
    if type(target) is np.ndarray and target.flags.carray and target.dtype is checks.FLOAT64:
        array = target  # kernels only read it, so it need not be copied
    else:
        array = checks.floats(
            "target", target.as_matrix() if hasattr(target, "as_matrix") else target
        )
    if array.shape == (4, 4):
        return array, arm.weights
    if array.shape == (3,):
        return array.reshape(1, 3), (1.0,)
    hint = {
        (2,): " For a planar arm, add z = 0.",
        (3, 3): " A rotation alone is not enough: say where, too.",
    }.get(array.shape, " For many targets, use solve_path." if array.ndim in (2, 3) else "")
    raise InvalidInputError(
        f"target has shape {array.shape}: expected (3,) for a position or (4, 4) for a pose.{hint}"
    )


def check(array: Floats) -> None:
    """Say what is wrong with the numbers of a request, if anything is."""
    checks.workable("target", array[0] if len(array) == 1 else array)
    if array.shape == (4, 4):
        checks.pose("target", array)


def refuse(array: Floats) -> NoReturn:
    """Say what is wrong with the numbers of a request that a kernel refused."""
    check(array)
    raise InvalidInputError("target is no pose: its rotation part is just not a rotation.")
