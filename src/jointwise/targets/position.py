"""A position: a link should be at a point; its orientation is free."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats, Weights
from jointwise.model import checks
from jointwise.targets.kind import AnyTarget, AnyTargets, TargetKind, numbers_of
from jointwise.targets.target import Target, make_target


class PositionKind(TargetKind):
    """(3,) a point [m], base frame."""

    name, plural, directions = "position", "positions", 0
    packed_shape, array_shape = (1, 3), (3,)

    def pack(self, values: Floats) -> Floats:
        """(1, 3), or (m, 1, 3)."""
        packed: Floats = values.reshape((1, 3) if values.ndim == 1 else (len(values), 1, 3))
        return packed

    def as_array(self, packed: Floats) -> Floats:
        """(3,), or (m, 3)."""
        return packed[..., 0, :]

    def check(self, packed: Floats, name: str = "target") -> None:
        """Refuse numbers that are not finite."""
        checks.all_finite(name, packed[0])

    def point_weights(self, angular_scale: float) -> Weights:
        """The weights of a point."""
        return (1.0,)

    def target_points(self, packed: Floats) -> Floats:
        """The points themselves."""
        return packed[:, 0]

    def at_pose(self, T_base_target: Floats) -> AnyTarget:
        """Its origin."""
        return T_base_target[:3, 3]

    def orientation_error(self, T_base_tip: Floats, T_base_target: Floats) -> Floats:
        """NaN: orientation is free."""
        return np.full(T_base_tip.shape[:-2], np.nan)

    def from_columns(
        self, positions: Floats, group: str, values: Floats, in_degrees: bool
    ) -> AnyTargets:
        """(m, 3)."""
        return positions

    def column_values(self, T_base_target: Floats) -> dict[str, list[float]]:
        """None."""
        return {}

    def describe(self, packed: Floats) -> dict[str, Floats]:
        """The position."""
        return {"position": packed[0]}


POSITION = PositionKind()


def position(position: ArrayLike, *, weight: float = 1.0, point: ArrayLike | None = None) -> Target:
    """A target that prescribes a position; orientation is free.

    A plain array of three numbers is an equivalent target.

    Args:
        position: (3,) [m], base frame; (m, 3) for many.
        weight: How much the target counts relative to others.
        point: (3,) the point of the link that should be there [m], link frame. None: its origin.

    Raises:
        InvalidInputError: The position does not have three finite numbers, or a weight is negative.

    Example:
        >>> from jointwise import Robot, position
        >>> fingertip = position([0.4, 0.1, 0.5], point=[0.0, 0.0, 0.1])
        >>> Robot.load("panda").solve({"tip": fingertip}).converged
        True
    """
    points = checks.floats("position", numbers_of(position))
    if points.ndim != 2 or points.shape[1] != 3:
        points = checks.position("position", points)
    checks.all_finite("position", points)
    if np.ndim(weight):
        raise InvalidInputError(f"weight is {weight!r}: expected a number for a position.")
    return make_target(POSITION, POSITION.pack(points), weight, point)
