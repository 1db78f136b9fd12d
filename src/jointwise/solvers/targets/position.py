"""A position: the end effector should be at a point; its orientation is free."""

from typing import Any

import numpy as np

from jointwise.kernels.shapes import Floats, Weights
from jointwise.model import checks
from jointwise.solvers.targets.kind import Target, TargetKind, Targets


class PositionKind(TargetKind):
    """(3,) a point [m], base frame."""

    name, plural, directions = "position", "positions", 0
    array_shape = (3,)

    def pack(self, target: Any) -> Floats:
        """(1, 3)."""
        packed: Floats = target.reshape(1, 3)
        return packed

    def unpack(self, values: Floats) -> Target:
        """(3,)."""
        return values[:3]

    def pack_many(self, targets: Any) -> Floats:
        """(m, 1, 3)."""
        packed: Floats = targets.reshape(len(targets), 1, 3)
        return packed

    def check(self, packed: Floats, name: str = "target") -> None:
        """Finite numbers."""
        checks.all_finite(name, packed[0])

    def weights(self, angular_scale: float) -> Weights:
        """Of a point."""
        return (1.0,)

    def at_pose(self, T_base_target: Floats) -> Target:
        """Its origin."""
        return T_base_target[:3, 3]

    def orientation_error(self, T_base_tip: Floats, T_base_target: Floats) -> Floats:
        """NaN: orientation is free."""
        return np.full(T_base_tip.shape[:-2], np.nan)

    def from_columns(
        self, positions: Floats, group: str, values: Floats, in_degrees: bool
    ) -> Targets:
        """(m, 3)."""
        return positions

    def column_values(self, T_base_target: Floats) -> dict[str, list[float]]:
        """None."""
        return {}

    def describe(self, target: Any) -> dict[str, Floats]:
        """The position."""
        return {"position": np.asarray(target)}

    def split(self, targets: Any) -> list[Target]:
        """(3,) each."""
        return list(np.asarray(targets))
