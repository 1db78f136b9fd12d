"""The values of a reach map in a voxel."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from typing import Any, Literal, NamedTuple

from jointwise.kernels.layout.arrays import Floats
from jointwise.model.arm import ArmModel

Measure = Literal["dexterity", "manipulability", "limit_margin"]
# Their names in pictures.
MEASURE_NAMES: dict[Measure, str] = {
    "dexterity": "dexterity",
    "manipulability": "manipulability",
    "limit_margin": "limit margin",
}


class Reach(NamedTuple):
    """The values of a map in one voxel.

    Attributes:
        dexterity: Share of the orientations that are reached.
        manipulability: The greatest of the solutions found; 0 if there is none.
        limit_margin: The greatest of the solutions found: 1 in the middle of the joint ranges, 0
            at a limit, or if there is no solution.
        q: (n,) joint values that reach the centre of the voxel in one of the orientations
            [rad, m], read-only; None if none is reached.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from jointwise import reach_map, robots
        >>> with TemporaryDirectory() as folder:
        ...     found = reach_map(robots.ur3e(), 0.25, None, store=f"{folder}/m", progress=False)
        ...     here = found.at([0.25, 0.25, 0.25])
        >>> here.dexterity, here.q.shape
        (1.0, (6,))
    """

    dexterity: float
    manipulability: float
    limit_margin: float
    q: Floats | None


NOT_REACHED = Reach(0.0, 0.0, 0.0, None)


def measure_unit(measure: Measure, arm: ArmModel, orientations: Any) -> str:
    """The unit of a measure.

    Args:
        measure: Which one.
        arm: The arm of the map.
        orientations: As in the settings of the map: None for positions only, a number of rotations,
            or the description of an ``AimCone``.
    """
    if measure != "manipulability":
        return "share of the orientations" if measure == "dexterity" else "share of half the range"
    rows = 3 if orientations is None else 6 if isinstance(orientations, int) else 5
    prismatic = int(arm.prismatic.sum())
    # The product has a factor of length for each translational row of the Jacobian, except for the
    # entries of prismatic joints, which have no unit. Minors of different units have no common
    # unit.
    if arm.n == rows or (rows == 3 and arm.n < rows) or (arm.n > rows and prismatic == 0):
        power = min(3, arm.n) - prismatic
        return {0: "1", 1: "m", 2: "m²", 3: "m³"}[max(power, 0)]
    return "mixed units"
