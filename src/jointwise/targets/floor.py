"""Floor: a point should not be below a height."""

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.tree import CORNERS
from jointwise.targets.above import AboveKind
from jointwise.targets.kind import AnyTarget
from jointwise.targets.target import Target

# A polygon that stands upright: its frame has the axes x and z of the world as x and y.
UPRIGHT = np.array([[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0]])
# Half of its width, and its height [m].
SIZE = 1e4


class FloorKind(AboveKind):
    """(3,) a point of the floor; the region above it is an upright polygon."""

    name, plural, packed_shape = "floor", "floors", (3,)  # type: ignore[assignment]

    def target_points(self, packed: Floats) -> Floats:
        """The points of the floors."""
        return packed

    def target_axes(self, packed: Floats) -> Floats:
        """The axes of the upright polygon."""
        return UPRIGHT

    def region_numbers(self, packed: Floats) -> Floats:
        """Its corners, anticlockwise."""
        corners = SIZE * np.array([[-1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [-1.0, 1.0]])
        corners = np.vstack([corners, np.tile(corners[-1], (CORNERS - len(corners), 1))])
        return np.broadcast_to(corners.ravel(), (len(packed), corners.size))

    def at_pose(self, T_base_target: Floats) -> AnyTarget:
        """The floor at its origin."""
        return Target(FLOOR, T_base_target[:3, 3].copy())

    def describe(self, packed: Floats) -> dict[str, Floats]:
        """A point of it."""
        return {"point": packed}


FLOOR = FloorKind()
