"""Sets of orientations for reach maps: uniform rotations, a cone of directions, or none."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.model.rotation import rpy_matrix
from jointwise.targets.aim import unit_vector

# Largest number of orientations of a map.
MAX_ORIENTATIONS = 1_000_000
UP = np.array([0.0, 0.0, 1.0])
GOLDEN_ANGLE = pi * (3.0 - sqrt(5.0))
GOLDEN_RATIO = 0.5 * (sqrt(5.0) - 1.0)


@dataclass(frozen=True, slots=True)
class AimCone:
    """Directions for one axis of the end effector, spread uniformly over a cone.

    Rotation about that axis is free.

    Args:
        direction: (3,) the axis of the cone, base frame; any length but zero.
        half_angle: Angle between the axis of the cone and its surface [rad]; pi for all directions.
        count: Number of directions.
        axis: (3,) the axis that is pointed, in the frame of the end effector; z by default.

    Raises:
        InvalidInputError: A number is out of its range; the text says which.

    Example:
        >>> from math import pi
        >>> down = AimCone((0, 0, -1), half_angle=pi / 6, count=20)
        >>> down.direction
        (0.0, 0.0, -1.0)
    """

    direction: Sequence[float]
    half_angle: float
    count: int = 20
    axis: Sequence[float] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        angle = checks.positive("half_angle", self.half_angle)
        if angle > pi + 1e-9:
            raise InvalidInputError(f"half_angle is {self.half_angle}: expected at most pi.")
        for name, value in (
            ("direction", tuple(unit_vector("direction", self.direction).tolist())),
            ("half_angle", angle),
            ("count", _at_least_one("count", self.count)),
            ("axis", tuple(unit_vector("axis", self.axis).tolist())),
        ):
            object.__setattr__(self, name, value)


# A number of uniform rotations; a cone of directions; or None for positions only.
Orientations = int | AimCone | None


@dataclass(frozen=True, slots=True, eq=False)
class OrientationSet:
    """Orientations of the end effector to try in every voxel.

    Attributes:
        directions: (d, 3) unit vectors that the axis should point along, base frame; none for
            positions only.
        rotations: (k, 3, 3) rotations, those of the first direction first; none for a cone.
        offsets: (d+1,) the rotations of direction i are from offsets[i] to offsets[i+1].
        axis: (3,) the axis that is pointed, in the frame of the end effector.
    """

    directions: Floats
    rotations: Floats
    offsets: NDArray[np.int64]
    axis: Floats

    @property
    def count(self) -> int:
        """Number of orientations; 1 for positions only."""
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
    total = _at_least_one("orientations", count)
    directions = max(1, round(total / (pi * total) ** (1.0 / 3.0)))
    numbers = np.arange(directions)
    z, azimuth = 1.0 - (2.0 * numbers + 1.0) / directions, GOLDEN_ANGLE * numbers
    radius = np.sqrt(1.0 - z**2)
    unit_vectors = np.stack([radius * np.cos(azimuth), radius * np.sin(azimuth), z], axis=1)
    offsets = np.arange(directions + 1) * total // directions
    direction = np.repeat(numbers, np.diff(offsets))  # of each rotation
    step = np.arange(total) - offsets[direction] + GOLDEN_RATIO * direction % 1.0
    angle = 2.0 * pi * step / np.diff(offsets)[direction]
    zeros, polar = np.zeros(total), np.arccos(z)[direction]
    to_direction = rpy_matrix(np.stack([zeros, polar, azimuth[direction]], axis=1))
    about_direction = rpy_matrix(np.stack([zeros, zeros, angle], axis=1))
    return OrientationSet(unit_vectors, to_direction @ about_direction, offsets, UP)


def cone_directions(cone: AimCone) -> Floats:
    """(count, 3) unit vectors spread uniformly over the cone, on a Fibonacci spiral."""
    numbers = np.arange(cone.count) + 0.5
    height = 1.0 - (1.0 - cos(cone.half_angle)) * numbers / cone.count
    azimuth, radius = GOLDEN_ANGLE * numbers, np.sqrt(1.0 - height**2)
    z = np.array(cone.direction)
    x = np.cross(z, np.eye(3)[np.abs(z).argmin()])
    x /= np.linalg.norm(x)
    in_cone = np.stack([radius * np.cos(azimuth), radius * np.sin(azimuth), height], axis=1)
    rotated = in_cone @ np.stack([x, np.cross(z, x), z])
    unit_vectors: Floats = rotated / np.linalg.norm(rotated, axis=1, keepdims=True)
    return unit_vectors


def orientation_set(orientations: Orientations) -> OrientationSet:
    """The orientations as arrays."""
    count = orientation_count(orientations)
    if count > MAX_ORIENTATIONS:
        raise InvalidInputError(
            f"orientations has {count:,} entries: expected at most {MAX_ORIENTATIONS:,}, since all "
            "orientations of a voxel are solved at once."
        )
    if orientations is None:
        return OrientationSet(np.empty((0, 3)), np.empty((0, 3, 3)), np.zeros(1, np.int64), UP)
    if isinstance(orientations, AimCone):
        directions, axis = cone_directions(orientations), np.array(orientations.axis)
        offsets = np.zeros(len(directions) + 1, np.int64)
        return OrientationSet(directions, np.empty((0, 3, 3)), offsets, axis)
    return uniform_rotations(count)


def orientation_count(orientations: Orientations) -> int:
    """Number of orientations; 1 for positions only."""
    if orientations is None:
        return 1
    if isinstance(orientations, AimCone):
        return orientations.count
    if not isinstance(orientations, (int, np.integer)) or isinstance(orientations, bool):
        raise InvalidInputError(
            f"orientations is {orientations!r}: expected a number of rotations, an AimCone, or "
            "None for positions only."
        )
    return _at_least_one("orientations", int(orientations))


def _at_least_one(name: str, value: Any) -> int:
    checked = checks.count(name, value)
    if checked == 0:
        hint = ", or None for positions only" if name == "orientations" else ""
        raise InvalidInputError(f"{name} is 0: expected at least 1{hint}.")
    return checked
