"""Sets of orientations for reach maps: uniform rotations, a cone of directions, or none."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Floats
from jointwise.model import checks
from jointwise.solvers.targets import aim

UP = np.array([0.0, 0.0, 1.0])
GOLDEN_ANGLE = pi * (3.0 - sqrt(5.0))
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
            ("count", _at_least_one("count", self.count)),
            ("axis", tuple(one.axis.tolist())),
        ):
            object.__setattr__(self, name, value)


# A number of uniform rotations; or a cone; or None for positions only, orientation free.
Orientations = int | AimCone | None


@dataclass(frozen=True, slots=True, eq=False)
class OrientationSet:
    """Orientations of the end effector. A set of positions only has none; a cone no rotations.

    Attributes:
        directions: (d, 3) unit vectors that the axis points along, base frame.
        rotations: (k, 3, 3) rotations, those of the first direction first.
        offsets: (d+1,) the rotations of direction i are from offsets[i] to offsets[i+1].
        axis: (3,) which axis of the end effector is pointed, its own frame.
    """

    directions: Floats
    rotations: Floats
    offsets: NDArray[np.int64]
    axis: Floats

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.rotations) or len(self.directions) or 1

    @property
    def jacobian_rows(self) -> int:
        """Degrees of freedom of the end effector that they prescribe: 3, 5 or 6."""
        return 6 if len(self.rotations) else 5 if len(self.directions) else 3


def uniform_rotations(count: int) -> OrientationSet:
    """Rotations spread uniformly, by the Hopf fibration over a Fibonacci sphere.

    The directions of z are as far apart as the rotations about them (Yershova, Jain, LaValle and
    Mitchell, "Generating uniform incremental grids on SO(3)", 2010). If a direction is not
    reached, none of its rotations is.

    Example:
        >>> bool(np.abs(uniform_rotations(1000).rotations.mean(axis=0)).max() < 0.01)
        True
    """
    from scipy.spatial.transform import Rotation

    number = _at_least_one("orientations", count)
    spots = max(1, round(number / (pi * number) ** (1.0 / 3.0)))
    each = np.arange(spots)
    z, azimuth = 1.0 - (2.0 * each + 1.0) / spots, GOLDEN_ANGLE * each
    radius = np.sqrt(1.0 - z**2)
    points = np.stack([radius * np.cos(azimuth), radius * np.sin(azimuth), z], axis=1)
    offsets = np.arange(spots + 1) * number // spots
    spot = np.repeat(each, np.diff(offsets))
    step = np.arange(number) - offsets[spot] + GOLDEN_RATIO * spot % 1.0
    angle = 2.0 * pi * step / np.diff(offsets)[spot]
    angles = np.stack([azimuth[spot], np.arccos(z)[spot], angle], axis=1)
    matrices: Floats = Rotation.from_euler("ZYZ", angles).as_matrix()
    return OrientationSet(points, matrices, offsets, UP)


def cone_directions(cone: AimCone) -> Floats:
    """(count, 3) directions spread uniformly over the cone, on a Fibonacci spiral."""
    steps = np.arange(cone.count) + 0.5
    height = 1.0 - (1.0 - cos(cone.half_angle)) * steps / cone.count
    around, wide = GOLDEN_ANGLE * steps, np.sqrt(1.0 - height**2)
    middle = np.array(cone.direction)
    across = np.cross(middle, np.eye(3)[np.abs(middle).argmin()])
    across /= np.linalg.norm(across)
    local = np.stack([wide * np.cos(around), wide * np.sin(around), height], axis=1)
    turned = local @ np.stack([across, np.cross(middle, across), middle])
    unit: Floats = turned / np.linalg.norm(turned, axis=1, keepdims=True)
    return unit


def orientation_set(orientations: Orientations) -> OrientationSet:
    """The orientations that were asked for, in numbers."""
    if orientations is None:
        return OrientationSet(np.empty((0, 3)), np.empty((0, 3, 3)), np.zeros(1, np.int64), UP)
    if isinstance(orientations, AimCone):
        directions, axis = cone_directions(orientations), np.array(orientations.axis)
        offsets = np.zeros(len(directions) + 1, np.int64)
        return OrientationSet(directions, np.empty((0, 3, 3)), offsets, axis)
    if not isinstance(orientations, (int, np.integer)) or isinstance(orientations, bool):
        raise InvalidInputError(
            f"orientations is {orientations!r}: expected how many, an AimCone, or None for "
            "positions alone."
        )
    return uniform_rotations(int(orientations))


def describe(orientations: Orientations) -> dict[str, Any] | int | None:
    """The orientations that were asked for, as JSON."""
    if isinstance(orientations, AimCone):
        return {
            "direction": list(orientations.direction),
            "half_angle": orientations.half_angle,
            "count": orientations.count,
            "axis": list(orientations.axis),
        }
    return None if orientations is None else int(orientations)


def _at_least_one(name: str, value: Any) -> int:
    number = checks.count(name, value)
    if number == 0:
        hint = ", or None for positions alone" if name == "orientations" else ""
        raise InvalidInputError(f"{name} is 0: expected at least 1{hint}.")
    return number
