"""An aim: a position for the end effector, and a direction for one of its axes."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import MAX_VALUE, Floats, Weights
from jointwise.model import checks
from jointwise.solvers.targets.kind import Target, TargetKind, Targets

# A vector shorter than this has no direction.
MIN_LENGTH = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Aim:
    """A position for the end effector and a direction for one of its axes; made by ``aim``.

    Attributes:
        position: (3,) where the end effector should be [m], base frame; (m, 3) for many. Read-only.
        direction: Where the axis should point, unit length, base frame, as many. Read-only.
        axis: (3,) which axis of the end effector, unit length, its own frame. Read-only.
    """

    position: Floats
    direction: Floats
    axis: Floats


def aim(position: ArrayLike, direction: ArrayLike, axis: ArrayLike = (0.0, 0.0, 1.0)) -> Aim:
    """A target that prescribes a position and the direction of one axis of the end effector.

    Rotation about the axis is free, as for welding, drilling and suction.

    Args:
        position: (3,) where the end effector should be [m], base frame; (m, 3) for a batch.
        direction: (3,) where the axis should point, base frame, or (m, 3). Any length but zero.
        axis: (3,) which axis of the end effector, its own frame; z by default.

    Raises:
        InvalidInputError: Not three finite numbers, or a direction of no length.

    Example:
        >>> aim([0.4, 0.0, 0.3], direction=[0, 0, -2]).direction
        array([ 0.,  0., -1.])
    """
    points = checks.floats(
        "position", position.translation if hasattr(position, "translation") else position
    )
    if points.ndim == 2:
        if points.shape[1] != 3:
            raise InvalidInputError(f"position has shape {points.shape}: expected (m, 3) for many.")
        vectors = checks.floats("direction", direction)
        if vectors.shape not in ((3,), points.shape):
            raise InvalidInputError(
                f"direction has shape {vectors.shape} for {len(points)} positions: expected (3,) "
                f"for all or ({len(points)}, 3), one for each."
            )
        vectors = np.broadcast_to(vectors, points.shape)
        with np.errstate(over="ignore"):
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        for i in np.flatnonzero(~((lengths >= MIN_LENGTH) & (lengths < MAX_VALUE))):
            _unit(f"direction[{i}]", vectors[i])  # raises with the reason
        directions = vectors / lengths + 0.0
        for array in (points, directions):
            array.setflags(write=False)
        return Aim(points, directions, _unit("axis", axis))
    point = checks.all_finite("position", checks.position("position", points))
    point.setflags(write=False)
    return Aim(point, _unit("direction", direction), _unit("axis", axis))


def _unit(name: str, value: ArrayLike) -> Floats:
    vector = checks.all_finite(name, checks.position(name, value))
    length = float(np.linalg.norm(vector))
    if length < MIN_LENGTH:
        raise InvalidInputError(f"{name} has no length: expected three numbers, not all zero.")
    vector = vector / length + 0.0  # no minus zeros
    vector.setflags(write=False)
    return vector


class AimKind(TargetKind):
    """An ``Aim``."""

    name, plural, directions = "aim", "aims", 1
    target_class = Aim
    columns = {"direction": ("dx", "dy", "dz")}  # noqa: RUF012

    def pack(self, target: Aim) -> Floats:
        """(3, 3) position, direction, axis."""
        if target.position.ndim == 2:
            raise InvalidInputError("target is many aims: expected one. Use solve_batch.")
        return np.stack([target.position, target.direction, target.axis])

    def unpack(self, values: Floats) -> Target:
        """An ``Aim``."""
        return aim(values[:3], values[3:6], values[6:9])

    def pack_many(self, targets: Aim) -> Floats:
        """(m, 3, 3)."""
        if targets.position.ndim == 1:
            raise InvalidInputError(
                "targets is a single aim: expected many, aim(positions (m, 3), ...)."
            )
        axes = np.broadcast_to(targets.axis, targets.position.shape)
        return np.stack([targets.position, targets.direction, axes], axis=1)

    def join(self, packed: list[Floats]) -> Floats:
        """(m, 3, 3); they must have one axis, as an ``aim`` of many has."""
        joined = np.stack(packed)
        if (joined[:, 2] != joined[0, 2]).any():
            raise InvalidInputError(
                "targets have different axes: expected aims with one axis in a batch. "
                "Solve a batch for each axis."
            )
        return joined

    def check(self, packed: Floats, name: str = "target") -> None:
        """Finite numbers."""
        checks.all_finite(name, packed)

    def weights(self, angular_scale: float) -> Weights:
        """Of a point and one axis."""
        return (1.0, angular_scale**2)

    def at_pose(self, T_base_target: Floats) -> Target:
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
    ) -> Targets:
        """An ``Aim`` of many."""
        return aim(positions, values)

    def column_values(self, T_base_target: Floats) -> dict[str, list[float]]:
        """The direction of the z axis."""
        return {"direction": T_base_target[:3, 2].tolist()}

    def describe(self, target: Aim) -> dict[str, Floats]:
        """Position and direction."""
        return {"position": target.position, "direction": target.direction}

    def split(self, targets: Any) -> list[Target]:
        """An ``Aim`` each."""
        pairs = zip(targets.position, targets.direction, strict=True)
        return [aim(position, direction, targets.axis) for position, direction in pairs]
