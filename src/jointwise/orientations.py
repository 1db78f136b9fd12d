"""Well-spread ways to hold the tool: all of them evenly, those in a cone, or any."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sqrt
from typing import Any

import numpy as np

from jointwise import checks
from jointwise.errors import InvalidInputError
from jointwise.kernels import Floats
from jointwise.targets import Aim, Targets, aim

# The golden ratio's relatives in Alexa's super-Fibonacci spirals (CVPR 2022): the square root
# of 2, and the positive root of psi⁴ = psi + 4.
PHI, PSI = sqrt(2.0), 1.533751168755204288118041
GOLDEN_TURN = pi * (3.0 - sqrt(5.0))


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


def rotations(count: int) -> Floats:
    """(count, 3, 3) rotations spread evenly over all there are: a super-Fibonacci spiral.

    Example:
        >>> bool(np.abs(rotations(1000).mean(axis=0)).max() < 0.01)
        True
    """
    from scipy.spatial.transform import Rotation

    steps = np.arange(_some("orientations", count)) + 0.5
    inner, outer = np.sqrt(steps / count), np.sqrt(1.0 - steps / count)
    alpha, beta = 2.0 * pi * steps / PHI, 2.0 * pi * steps / PSI
    parts = inner * np.sin(alpha), inner * np.cos(alpha), outer * np.sin(beta), outer * np.cos(beta)
    matrices: Floats = Rotation.from_quat(np.stack(parts, axis=1)).as_matrix()
    return matrices


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


def ways_of(orientations: Orientations) -> Floats:
    """(k, 3, 3) rotations, (k, 3) directions, or (1, 0) where any will do."""
    if orientations is None:
        return np.empty((1, 0))
    if isinstance(orientations, AimCone):
        return directions(orientations)
    if not isinstance(orientations, (int, np.integer)) or isinstance(orientations, bool):
        raise InvalidInputError(
            f"orientations is {orientations!r}: expected how many, an AimCone, or None for "
            "positions alone."
        )
    return rotations(int(orientations))


def targets_at(points: Floats, ways: Floats, axis: Floats) -> Targets:
    """Every point with every one of the ways: the first point's targets first."""
    count, rows = len(ways), len(points) * len(ways)
    if ways.shape[1] == 0:
        return points
    places = np.repeat(points, count, axis=0)
    if ways.ndim == 2:
        return Aim(places, np.tile(ways, (len(points), 1)), axis)
    poses = np.zeros((rows, 4, 4))
    poses.reshape(-1, count, 4, 4)[:, :, :3, :3] = ways
    poses[:, :3, 3], poses[:, 3, 3] = places, 1.0
    return poses


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
