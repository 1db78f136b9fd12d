"""What may be asked of an arm: a position, a pose, or an aim."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, Union

import numpy as np
from numpy.typing import ArrayLike

from jointwise import checks
from jointwise.arm import Arm
from jointwise.errors import InvalidInputError
from jointwise.kernels import LARGEST, Floats

if TYPE_CHECKING:
    from scipy.spatial.transform import RigidTransform

Request = tuple[Floats, tuple[float, ...]]

# A direction shorter than this points nowhere.
SHORTEST = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Aim:
    """A place for the tip and a direction for one of its axes; made by ``aim``.

    Attributes:
        position: (3,) where the tip should be [m], base frame; (m, 3) for many. Read-only.
        direction: Where the axis should point, unit length, base frame, as many. Read-only.
        axis: (3,) which axis of the tip, unit length, tip frame. Read-only.
    """

    position: Floats
    direction: Floats
    axis: Floats


Target = Union[ArrayLike, "RigidTransform", Aim]
Targets = Target


def aim(position: ArrayLike, direction: ArrayLike, axis: ArrayLike = (0.0, 0.0, 1.0)) -> Aim:
    """Put the tip somewhere with one of its axes pointing somewhere; turning about it is free.

    For what looks the same from all sides of its axis: welding, drilling, suction.

    Args:
        position: (3,) where the tip should be [m], base frame; (m, 3) for a batch.
        direction: (3,) where the axis should point, base frame, or (m, 3). Any length but zero.
        axis: (3,) which axis of the tip, tip frame; its z unless said otherwise.

    Raises:
        InvalidInputError: Not three finite numbers, or a direction of no length.

    Example:
        >>> aim([0.4, 0.0, 0.3], direction=[0, 0, -2]).direction
        array([ 0.,  0., -1.])
    """
    if np.ndim(position) == 2:
        points = checks.floats("position", position)
        if points.shape[1] != 3:
            raise InvalidInputError(f"position has shape {points.shape}: expected (m, 3) for many.")
        ways = np.broadcast_to(checks.floats("direction", direction), points.shape)
        with np.errstate(over="ignore"):
            lengths = np.linalg.norm(ways, axis=1, keepdims=True)
        for i in np.flatnonzero(~((lengths >= SHORTEST) & (lengths < LARGEST))):
            _unit(f"direction[{i}]", ways[i])  # says what is wrong with it
        directions = ways / lengths + 0.0
        for array in (points, directions):
            array.setflags(write=False)
        return Aim(points, directions, _unit("axis", axis))
    point = checks.workable("position", checks.position("position", position))
    point.setflags(write=False)
    return Aim(point, _unit("direction", direction), _unit("axis", axis))


def _unit(name: str, value: ArrayLike) -> Floats:
    vector = checks.workable(name, checks.position(name, value))
    length = float(np.linalg.norm(vector))
    if length < SHORTEST:
        raise InvalidInputError(f"{name} has no length: expected three numbers, not all zero.")
    vector = vector / length + 0.0  # no minus zeros
    vector.setflags(write=False)
    return vector


def request(arm: Arm, target: Target) -> Request:
    """(target, weights) for the kernels; numbers are not yet known to be workable.

    The target is (1, 3) a position, (3, 3) an aim: position, direction, axis; or (4, 4) a pose.
    """
    if isinstance(target, Aim):
        if target.position.ndim == 2:
            raise InvalidInputError("target is many aims: expected one. Use solve_batch.")
        return np.stack([target.position, target.direction, target.axis]), (1.0, arm.length**2)
    array = checks.contiguous("target", _matrix(target))
    if array.shape == (4, 4):
        return array, arm.weights
    if array.shape == (3,):
        return array.reshape(1, 3), (1.0,)
    hint = {
        (2,): " For a planar arm, add z = 0.",
        (3, 3): " A rotation alone is not enough: say where, too.",
    }.get(array.shape, " For many targets, use solve_batch." if array.ndim in (2, 3) else "")
    raise InvalidInputError(
        f"target has shape {array.shape}: expected (3,) for a position or (4, 4) for a pose.{hint}"
    )


def requests(
    arm: Arm, targets: Targets, as_array: Callable[[str, Any], Any] = checks.contiguous
) -> Request:
    """(targets, weights) for the kernels, as ``request`` makes them, one below the other."""
    if isinstance(targets, Aim):
        if targets.position.ndim == 1:
            raise InvalidInputError(
                "targets is a single aim: expected many, aim(positions (m, 3), ...)."
            )
        count = len(targets.position)
        axes = np.broadcast_to(targets.axis, (count, 3))
        return np.stack([targets.position, targets.direction, axes], axis=1), (1.0, arm.length**2)
    array = as_array("targets", _matrix(targets))
    if array.shape[1:] == (4, 4):
        return array, arm.weights
    if array.shape[1:] == (3,) or array.shape == (0,):
        return array.reshape(len(array), 1, 3), (1.0,)
    raise InvalidInputError(
        f"targets has shape {array.shape}: expected (m, 3) for positions or (m, 4, 4) for poses."
    )


def _matrix(target: Any) -> Any:
    """Poses as arrays, SciPy's too."""
    if type(target) is not np.ndarray and hasattr(target, "as_matrix"):
        return target.as_matrix()
    return target


def check(array: Floats) -> None:
    """Say what is wrong with the numbers of a request, if anything is."""
    checks.workable("target", array[0] if len(array) == 1 else array)
    if array.shape == (4, 4):
        checks.pose("target", array)


def refuse(array: Floats) -> NoReturn:
    """Say what is wrong with the numbers of a request that a kernel refused."""
    check(array)
    raise InvalidInputError("target is no pose: its rotation part is just not a rotation.")
