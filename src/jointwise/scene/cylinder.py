"""A cylinder."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.scene.round_obstacle import RoundObstacle
from jointwise.shape.solids import primitives
from jointwise.shape.solids.mesh import Mesh


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cylinder(RoundObstacle):
    """A cylinder about the z of its pose, centred there."""

    kind: ClassVar[str] = "cylinder"
    packed_as: ClassVar[str] = "cylinders"

    def row(self) -> Floats:
        """The row that kernels read."""
        centre, axis = self.pose[:3, 3], self.pose[:3, 2]
        return np.concatenate([centre, axis, [self.radius, 0.5 * self.length]])

    def surface(self) -> Mesh:
        """See ``Obstacle.surface``."""
        return primitives.cylinder(self.radius, self.length)
