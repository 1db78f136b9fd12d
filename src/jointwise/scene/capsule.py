"""A capsule: a cylinder with a hemisphere at each end."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.scene.obstacle import Obstacle, placed, rounded_box
from jointwise.shape.solids import primitives
from jointwise.shape.solids.mesh import Mesh


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Capsule(Obstacle):
    """A capsule about the z of its pose, centred there.

    Attributes:
        radius: [m].
        length: Without the hemispheres [m].
    """

    radius: float
    length: float

    kind: ClassVar[str] = "capsule"

    @classmethod
    def make(cls, name: str, radius: Any, length: Any, pose: Any = None) -> "Capsule":
        """See ``Scene.capsule``."""
        sizes = checks.positive("radius", radius), checks.positive("length", length)
        return cls(name, placed(pose), *sizes)

    def sizes(self) -> dict[str, Any]:
        """As in ``Scene.capsule``."""
        return {"radius": self.radius, "length": self.length}

    def row(self) -> Floats:
        """As kernels read it."""
        return rounded_box(self.pose, np.array([0.0, 0.0, 0.5 * self.length]), self.radius)

    def surface(self) -> Mesh:
        """As ``Obstacle.surface``."""
        return primitives.capsule(self.radius, self.length)
