"""Lines and planes: poses within boxes that are unbounded along one or two axes."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model.rotation import rotations_to_axes
from jointwise.targets.aim import unit_vector
from jointwise.targets.kind import points_of
from jointwise.targets.pose import pose
from jointwise.targets.target import Target
from jointwise.targets.within import within


def on_line(
    start: ArrayLike,
    direction: ArrayLike,
    *,
    weight: float = 1.0,
    point: ArrayLike | None = None,
) -> Target:
    """A target that keeps a point of the link on a line; orientation is free.

    It is the ``within`` box that is free along the line. The error is the distance to the line.

    Args:
        start: (3,) a point of the line [m], base frame; (m, 3) for many lines of one direction.
        direction: (3,) along the line; any length but zero.
        weight: How much the target counts relative to others.
        point: (3,) the point of the link [m], link frame. None: its origin.

    Raises:
        InvalidInputError: A vector does not have three finite numbers, or a direction has no
            length.

    Example:
        >>> from jointwise import Chain, on_line
        >>> Chain.load("ur5e").solve(on_line([0.4, 0.2, 0.3], [0, 0, 1])).converged
        True
    """
    return _free_in(start, "direction", direction, (0.0, 0.0, inf), weight, point)


def on_plane(
    start: ArrayLike,
    normal: ArrayLike,
    *,
    weight: float = 1.0,
    point: ArrayLike | None = None,
) -> Target:
    """A target that keeps a point of the link on a plane; orientation is free.

    It is the ``within`` box that is free along the plane. The error is the distance to the plane.

    Args:
        start: (3,) a point of the plane [m], base frame; (m, 3) for many planes of one normal.
        normal: (3,) at right angles to the plane; any length but zero.
        weight: How much the target counts relative to others.
        point: (3,) the point of the link [m], link frame. None: its origin.

    Raises:
        InvalidInputError: A vector does not have three finite numbers, or a normal has no length.

    Example:
        >>> from jointwise import Chain, on_plane
        >>> Chain.load("ur5e").solve(on_plane([0.0, 0.0, 0.3], [0, 0, 1])).converged
        True
    """
    return _free_in(start, "normal", normal, (inf, inf, 0.0), weight, point)


def _free_in(
    start: ArrayLike,
    name: str,
    axis: ArrayLike,
    ranges: tuple[float, float, float],
    weight: float,
    point: ArrayLike | None,
) -> Target:
    """A box around a point whose z is along an axis, with a free rotation."""
    if np.ndim(weight):
        raise InvalidInputError(f"weight is {weight!r}: expected a number.")
    points = points_of("start", start)
    frame: Floats = rotations_to_axes(unit_vector(name, axis)[None])[0]
    poses = pose(points, matrix=frame, weight=weight, point=point)
    return within(poses, position=ranges, rotation=inf)
