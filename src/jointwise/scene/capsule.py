"""A capsule: a cylinder with a hemisphere at each end."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.scene.obstacle import rounded_box
from jointwise.scene.round_obstacle import RoundObstacle
from jointwise.shape.solids import primitives
from jointwise.shape.solids.mesh import Mesh


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Capsule(RoundObstacle):
    """A capsule about the z of its pose, centred there."""

    kind: ClassVar[str] = "capsule"

    def row(self) -> Floats:
        """The row that kernels read."""
        return rounded_box(self.pose, np.array([0.0, 0.0, 0.5 * self.length]), self.radius)

    def surface(self) -> Mesh:
        """See ``Obstacle.surface``."""
        return primitives.capsule(self.radius, self.length)
