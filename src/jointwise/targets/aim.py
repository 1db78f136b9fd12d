"""An aim: a position for a link, and a direction for one of its axes."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import MAX_VALUE, Floats, Weights
from jointwise.model import checks
from jointwise.targets.kind import AnyTarget, AnyTargets, TargetKind, numbers_of
from jointwise.targets.target import EQUAL_WEIGHT, Target, make_target

# A vector shorter than this has no direction.
MIN_LENGTH = 1e-12


class AimKind(TargetKind):
    """A position, a direction, and the axis of the link that should point there: (3, 3)."""

    name, plural, directions = "aim", "aims", 1
    packed_shape, has_fixed_axes = (3, 3), False
    columns = {"direction": ("dx", "dy", "dz")}  # noqa: RUF012

    def join(self, packed: list[Floats]) -> Floats:
        """(m, 3, 3); all must have the same axis, as in an ``aim`` of many."""
        joined = np.stack(packed)
        if (joined[:, 2] != joined[0, 2]).any():
            raise InvalidInputError(
                f"targets have different axes: expected {self.plural} with one axis in a batch. "
                "Solve a batch for each axis."
            )
        return joined

    def check(self, packed: Floats, name: str = "target") -> None:
        """Refuse numbers that are not finite."""
        checks.all_finite(name, packed)

    def point_weights(self, angular_scale: float) -> Weights:
        """The weights of a point and one axis."""
        return (1.0, angular_scale**2)

    def target_points(self, packed: Floats) -> Floats:
        """Their positions."""
        return packed[:, 0]

    def target_axes(self, packed: Floats) -> Floats:
        """Their directions."""
        return packed[:, 1]

    def link_axes(self, packed: Floats) -> Floats:
        """The axes of the link."""
        return packed[:, 2:]

    def at_pose(self, T_base_target: Floats) -> AnyTarget:
        """Its origin, and its z axis."""
        return aim(T_base_target[:3, 3], T_base_target[:3, 2])

    def orientation_error(self, T_base_tip: Floats, T_base_target: Floats) -> Floats:
        """The angle between the z axes."""
        tip, direction = T_base_tip[..., :3, 2], T_base_target[:3, 2]
        sines = np.linalg.norm(np.cross(tip, direction), axis=-1)
        angle: Floats = np.arctan2(sines, tip @ direction)
        return angle

    def from_columns(
        self, positions: Floats, group: str, values: Floats, in_degrees: bool
    ) -> AnyTargets:
        """An ``aim`` of many."""
        return aim(positions, values)

    def column_values(self, T_base_target: Floats) -> dict[str, list[float]]:
        """The direction of the z axis."""
        return {"direction": T_base_target[:3, 2].tolist()}

    def describe(self, packed: Floats) -> dict[str, Floats]:
        """Position and direction."""
        return {"position": packed[0], "direction": packed[1]}


AIM = AimKind()


def aim(
    position: ArrayLike,
    direction: ArrayLike,
    axis: ArrayLike = (0.0, 0.0, 1.0),
    *,
    weight: float | Sequence[float] = EQUAL_WEIGHT,
    point: ArrayLike | None = None,
) -> Target:
    """A target that prescribes a position, and the direction of one axis of the link.

    Rotation about the axis is free, as for welding, drilling and suction.

    Args:
        position: (3,) where the link should be [m], base frame; (m, 3) for a batch.
        direction: (3,) where the axis should point, base frame, or (m, 3). Any length but zero.
        axis: (3,) the axis of the link, in the link frame; z by default.
        weight: How much the target counts relative to others: a number, or one for position and one
            for direction.
        point: (3,) the point of the link that should be there [m], link frame. None: its origin.

    Raises:
        InvalidInputError: A vector does not have three finite numbers, or a direction has no
            length.

    Example:
        >>> aim([0.4, 0.0, 0.3], direction=[0, 0, -2])
        <aim: position [0.4 0.  0.3], direction [ 0.  0. -1.]>
    """
    points = checks.floats("position", numbers_of(position))
    if points.ndim != 2:
        checks.all_finite("position", checks.position("position", points))
    elif points.shape[1] != 3:
        raise InvalidInputError(f"position has shape {points.shape}: expected (m, 3) for many.")
    return make_target(AIM, pack_aims(points, direction, axis), weight, point)


def pack_aims(points: Floats, direction: ArrayLike, axis: ArrayLike) -> Floats:
    """(3, 3) points (3,), directions and an axis as kernels take them; (m, 3, 3) of many."""
    unit_axis = unit_vector("axis", axis)
    if points.ndim == 1:
        return np.stack([points, unit_vector("direction", direction), unit_axis])
    directions = unit_vectors("direction", direction, len(points))
    return np.stack([points, directions, np.broadcast_to(unit_axis, points.shape)], axis=1)


def unit_vector(name: str, value: ArrayLike) -> Floats:
    """(3,) a vector of length 1."""
    vector = checks.all_finite(name, checks.position(name, value))
    length = float(np.linalg.norm(vector))
    if length < MIN_LENGTH:
        raise InvalidInputError(f"{name} has no length: expected three numbers, not all zero.")
    return vector / length + 0.0  # no minus zeros


def unit_vectors(name: str, values: ArrayLike, count: int) -> Floats:
    """(count, 3) vectors of length 1, from one for all or one for each."""
    vectors = checks.floats(name, values)
    if vectors.shape not in ((3,), (count, 3)):
        raise InvalidInputError(
            f"{name} has shape {vectors.shape} for {count} positions: expected (3,) for all or "
            f"({count}, 3), one for each."
        )
    vectors = np.broadcast_to(vectors, (count, 3))
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    for i in np.flatnonzero(~((lengths >= MIN_LENGTH) & (lengths < MAX_VALUE))):
        unit_vector(f"{name}[{i}]", vectors[i])  # raises with the reason
    units: Floats = vectors / lengths + 0.0
    return units
