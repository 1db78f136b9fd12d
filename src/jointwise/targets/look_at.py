"""Look-at: one axis of a link should point at a point, wherever the link is."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.tree import LOOKS_AT
from jointwise.targets.aim import pack_aims
from jointwise.targets.direction import DirectionKind
from jointwise.targets.kind import AnyTarget, points_of
from jointwise.targets.target import Target, make_target


class LookAtKind(DirectionKind):
    """A point, and the axis of the link that should point there; packed as an aim."""

    name, plural, form = "look at", "points to look at", LOOKS_AT

    def at_pose(self, T_base_target: Floats) -> AnyTarget:
        """A point one metre ahead on its z axis."""
        return look_at(T_base_target[:3, 3] + T_base_target[:3, 2])

    def describe(self, packed: Floats) -> dict[str, Floats]:
        """The point."""
        return {"point": packed[0]}


LOOK_AT = LookAtKind()


def look_at(
    at: ArrayLike,
    axis: ArrayLike = (0.0, 0.0, 1.0),
    *,
    weight: float = 1.0,
    point: ArrayLike | None = None,
) -> Target:
    """A target that turns one axis of the link towards a point; its position is free.

    For example, a camera looks at an object. The axis begins at the origin of the link.
    ``direction`` fixes the direction of the axis, and ``aim`` also fixes the position of the link.
    Here the direction depends on the position of the link. The error is the angle between the axis
    and the point.

    Args:
        at: (3,) where the axis should point [m], base frame; (m, 3) for a batch.
        axis: (3,) the axis of the link, in the link frame; z by default.
        weight: How much the target counts relative to others.
        point: (3,) where the axis begins [m], link frame. None: its origin.

    Raises:
        InvalidInputError: A vector does not have three finite numbers, or an axis has no length.

    Example:
        >>> from jointwise import Robot, look_at
        >>> result = Robot.load("panda").solve({"tip": look_at([0.6, 0.3, 0.0])})
        >>> result.converged
        True
    """
    if np.ndim(weight):
        raise InvalidInputError(f"weight is {weight!r}: expected a number for a point to look at.")
    return make_target(
        LOOK_AT, pack_aims(points_of("at", at), (0.0, 0.0, 1.0), axis), weight, point
    )
