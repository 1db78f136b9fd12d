"""A direction: one axis of a link should point there; its position is free."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats, Weights
from jointwise.model import checks
from jointwise.targets.aim import AimKind, pack_aims
from jointwise.targets.kind import AnyTarget, TargetKind
from jointwise.targets.target import Target, make_target


class DirectionKind(AimKind):
    """A direction, and the axis of the link that should point there; packed as an aim."""

    name, plural, directions, has_position = "direction", "directions", 1, False
    columns = {}  # noqa: RUF012

    def point_weights(self, angular_scale: float) -> Weights:
        """The weights of one axis; the point has none."""
        return (0.0, angular_scale**2)

    def at_pose(self, T_base_target: Floats) -> AnyTarget:
        """Its z axis."""
        return direction(T_base_target[:3, 2])

    from_columns = TargetKind.from_columns

    def describe(self, packed: Floats) -> dict[str, Floats]:
        """The direction."""
        return {"direction": packed[1]}


DIRECTION = DirectionKind()


def direction(
    direction: ArrayLike, axis: ArrayLike = (0.0, 0.0, 1.0), *, weight: float = 1.0
) -> Target:
    """A target that prescribes the direction of one axis of the link, wherever the link is.

    Args:
        direction: (3,) where the axis should point, base frame; (m, 3) for a batch. Any length
            but zero.
        axis: (3,) the axis of the link, in the link frame; z by default.
        weight: How much the target counts relative to others.

    Raises:
        InvalidInputError: A vector does not have three finite numbers, or a direction has no
            length.

    Example:
        >>> from jointwise import Chain, direction
        >>> Chain.load("ur5e").solve(direction([0, 0, -1])).converged
        True
    """
    if np.ndim(weight):
        raise InvalidInputError(f"weight is {weight!r}: expected a number for a direction.")
    given = checks.floats("direction", direction)
    nowhere = np.zeros((len(given), 3) if given.ndim == 2 else 3)
    return make_target(DIRECTION, pack_aims(nowhere, given, axis), weight, None)
