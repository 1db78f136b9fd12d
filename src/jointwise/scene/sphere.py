"""A sphere."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.scene.obstacle import Obstacle, placed, rounded_box
from jointwise.shape.solids import primitives
from jointwise.shape.solids.mesh import Mesh


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sphere(Obstacle):
    """A sphere, centred at its pose.

    Attributes:
        radius: [m].
    """

    radius: float

    kind: ClassVar[str] = "sphere"

    @classmethod
    def make(cls, name: str, radius: Any, position: Any = None) -> "Sphere":
        """See ``Scene.sphere``."""
        return cls(name, placed(position), checks.positive("radius", radius))

    def sizes(self) -> dict[str, Any]:
        """See ``Scene.sphere``."""
        return {"radius": self.radius}

    def row(self) -> Floats:
        """The row that kernels read."""
        return rounded_box(self.pose, np.zeros(3), self.radius)

    def surface(self) -> Mesh:
        """See ``Obstacle.surface``."""
        return primitives.sphere(self.radius)
