"""Two reach maps compared: the volumes, and the dexterity where both arms reach."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.reach.map import ReachMap


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two reach maps with a common base frame, compared.

    Attributes:
        volume_a: Volume that the first arm reaches [m³].
        volume_b: Volume that the second arm reaches [m³].
        volume_both: Volume that both reach [m³].
        dexterity_a: Mean dexterity of the first arm where both reach.
        dexterity_b: Mean dexterity of the second arm where both reach.

    Example:
        >>> found = Comparison(0.75, 0.5, 0.25, dexterity_a=0.5, dexterity_b=0.625)
        >>> found.volume_both / found.volume_b
        0.5
    """

    volume_a: float
    volume_b: float
    volume_both: float
    dexterity_a: float
    dexterity_b: float

    def __str__(self) -> str:
        return (
            f"the first reaches {self.volume_a:.4g} m³, the second {self.volume_b:.4g} m³, both "
            f"{self.volume_both:.4g} m³; their mean dexterity there is {self.dexterity_a:.1%} "
            f"and {self.dexterity_b:.1%}"
        )


def compare(map_a: ReachMap, map_b: ReachMap) -> Comparison:
    """Compare the reach maps of two arms with the same base frame.

    Args:
        map_a: A map.
        map_b: Another map with the same resolution and orientations.

    Raises:
        InvalidInputError: Resolution or orientations differ.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from jointwise import reach_map, robots
        >>> with TemporaryDirectory() as folder:
        ...     found = reach_map(robots.ur3e(), 0.25, None, store=f"{folder}/m", progress=False)
        ...     print(compare(found, found).volume_both == found.volume())
        True
    """
    for name in ("resolution", "orientations"):
        a, b = map_a.settings[name], map_b.settings[name]
        if a != b:
            raise InvalidInputError(
                f"the maps have {name} {a} and {b}: expected the same in both maps."
            )
    first = np.array([map_a.grid.first, map_b.grid.first])
    end = first + np.array([map_a.grid.shape, map_b.grid.shape])
    begin, end = first.max(axis=0), end.min(axis=0)  # the voxels that are in both grids
    overlaps = []
    for each, offset in zip((map_a, map_b), first, strict=True):
        x, y, z = (
            slice(max(0, low), max(0, high))
            for low, high in zip(begin - offset, end - offset, strict=True)
        )
        overlaps.append(each.dexterity[x, y, z])
    both = (overlaps[0] > 0.0) & (overlaps[1] > 0.0)
    means = [float(overlap[both].mean()) if both.any() else 0.0 for overlap in overlaps]
    volume_both = float(both.sum() * map_a.grid.resolution**3)
    return Comparison(map_a.volume(), map_b.volume(), volume_both, *means)
