"""A cylinder."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.scene.obstacle import Obstacle, placed
from jointwise.shape.solids import primitives
from jointwise.shape.solids.mesh import Mesh


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cylinder(Obstacle):
    """A cylinder about the z of its pose, centred there.

    Attributes:
        radius: [m].
        length: [m].
    """

    radius: float
    length: float

    kind: ClassVar[str] = "cylinder"
    packed_as: ClassVar[str] = "cylinders"

    @classmethod
    def make(cls, name: str, radius: Any, length: Any, pose: Any = None) -> "Cylinder":
        """See ``Scene.cylinder``."""
        sizes = checks.positive("radius", radius), checks.positive("length", length)
        return cls(name, placed(pose), *sizes)

    def sizes(self) -> dict[str, Any]:
        """As in ``Scene.cylinder``."""
        return {"radius": self.radius, "length": self.length}

    def row(self) -> Floats:
        """As kernels read it."""
        centre, axis = self.pose[:3, 3], self.pose[:3, 2]
        return np.concatenate([centre, axis, [self.radius, 0.5 * self.length]])

    def surface(self) -> Mesh:
        """As ``Obstacle.surface``."""
        return primitives.cylinder(self.radius, self.length)
