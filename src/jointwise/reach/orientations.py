"""Well-spread ways to hold the tool: all of them evenly, those in a cone, or any."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointwise import checks
from jointwise.errors import InvalidInputError
from jointwise.kernels import Floats
from jointwise.targets import aim

UP = np.array([0.0, 0.0, 1.0])
GOLDEN_TURN = pi * (3.0 - sqrt(5.0))
GOLDEN_RATIO = 0.5 * (sqrt(5.0) - 1.0)


@dataclass(frozen=True, slots=True)
class AimCone:
    """Directions for one axis of the tool, spread evenly over a cone; turning about it is free.

    Args:
        direction: (3,) the middle of the cone, base frame. Any length but zero.
        half_angle: From the middle to the rim [rad], at most pi for all directions.
        count: How many directions.
        axis: (3,) which axis of the tip, tip frame; its z unless said otherwise.

    Raises:
        InvalidInputError: A number is out of its range; the text says which.
    """

    direction: Sequence[float]
    half_angle: float
    count: int = 20
    axis: Sequence[float] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        one = aim((0.0, 0.0, 0.0), self.direction, self.axis)  # checks and scales both
        angle = checks.positive("half_angle", self.half_angle)
        if angle > pi + 1e-9:
            raise InvalidInputError(f"half_angle is {self.half_angle}: expected at most pi.")
        for name, value in (
            ("direction", tuple(one.direction.tolist())),
            ("half_angle", angle),
            ("count", _some("count", self.count)),
            ("axis", tuple(one.axis.tolist())),
        ):
            object.__setattr__(self, name, value)


# How many orientations spread over all; or a cone; or None: positions, held anyhow.
Orientations = int | AimCone | None


@dataclass(frozen=True, slots=True, eq=False)
class Ways:
    """Ways to hold the tool. Positions alone have no directions, aims no rotations.

    Attributes:
        directions: (d, 3) where the axis points.
        rotations: (k, 3, 3) those of the first direction first.
        ends: (d+1,) the rotations of direction i are those from ends[i] to ends[i+1].
        axis: (3,) the axis of the tip that is pointed.
    """

    directions: Floats
    rotations: Floats
    ends: NDArray[np.int64]
    axis: Floats

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.rotations) or len(self.directions) or 1

    @property
    def freedoms(self) -> int:
        """How much of the tip's motion they prescribe: 3, 5 or 6 numbers."""
        return 6 if len(self.rotations) else 5 if len(self.directions) else 3


def spread(count: int) -> Ways:
    """Rotations spread evenly over all there are: Hopf's circles over a Fibonacci sphere.

    Directions of z as far apart as the turns about them, as Yershova, Jain, LaValle and Mitchell
    do it (Generating uniform incremental grids on SO(3), 2010). Where a direction cannot be had,
    all its turns need not be tried.

    Example:
        >>> bool(np.abs(spread(1000).rotations.mean(axis=0)).max() < 0.01)
        True
    """
    from scipy.spatial.transform import Rotation

    number = _some("orientations", count)
    ways = max(1, round(number / (pi * number) ** (1.0 / 3.0)))
    each = np.arange(ways)
    height, around = 1.0 - (2.0 * each + 1.0) / ways, GOLDEN_TURN * each
    wide = np.sqrt(1.0 - height**2)
    points = np.stack([wide * np.cos(around), wide * np.sin(around), height], axis=1)
    ends = np.arange(ways + 1) * number // ways
    group = np.repeat(each, np.diff(ends))
    step = np.arange(number) - ends[group] + GOLDEN_RATIO * group % 1.0
    turn = 2.0 * pi * step / np.diff(ends)[group]
    angles = np.stack([around[group], np.arccos(height)[group], turn], axis=1)
    matrices: Floats = Rotation.from_euler("ZYZ", angles).as_matrix()
    return Ways(points, matrices, ends, UP)


def directions(cone: AimCone) -> Floats:
    """(count, 3) directions spread evenly over the cone: a Fibonacci spiral about its middle."""
    steps = np.arange(cone.count) + 0.5
    height = 1.0 - (1.0 - cos(cone.half_angle)) * steps / cone.count
    around, wide = GOLDEN_TURN * steps, np.sqrt(1.0 - height**2)
    middle = np.array(cone.direction)
    across = np.cross(middle, np.eye(3)[np.abs(middle).argmin()])
    across /= np.linalg.norm(across)
    local = np.stack([wide * np.cos(around), wide * np.sin(around), height], axis=1)
    turned = local @ np.stack([across, np.cross(middle, across), middle])
    unit: Floats = turned / np.linalg.norm(turned, axis=1, keepdims=True)
    return unit


def ways_of(orientations: Orientations) -> Ways:
    """What was asked for, in numbers."""
    if orientations is None:
        return Ways(np.empty((0, 3)), np.empty((0, 3, 3)), np.zeros(1, np.int64), UP)
    if isinstance(orientations, AimCone):
        ways, axis = directions(orientations), np.array(orientations.axis)
        return Ways(ways, np.empty((0, 3, 3)), np.zeros(len(ways) + 1, np.int64), axis)
    if not isinstance(orientations, (int, np.integer)) or isinstance(orientations, bool):
        raise InvalidInputError(
            f"orientations is {orientations!r}: expected how many, an AimCone, or None for "
            "positions alone."
        )
    return spread(int(orientations))


def described(orientations: Orientations) -> dict[str, Any] | int | None:
    """The same in words and numbers that JSON has."""
    if isinstance(orientations, AimCone):
        return {
            "direction": list(orientations.direction),
            "half_angle": orientations.half_angle,
            "count": orientations.count,
            "axis": list(orientations.axis),
        }
    return None if orientations is None else int(orientations)


def _some(name: str, value: Any) -> int:
    number = checks.count(name, value)
    if number == 0:
        hint = ", or None for positions alone" if name == "orientations" else ""
        raise InvalidInputError(f"{name} is 0: expected at least 1{hint}.")
    return number
