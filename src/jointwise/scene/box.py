"""A box."""

from dataclasses import dataclass
from typing import Any, ClassVar

from jointwise.kernels.layout.arrays import Floats
from jointwise.scene.obstacle import Obstacle, lengths, placed, rounded_box
from jointwise.shape.solids import primitives
from jointwise.shape.solids.mesh import Mesh


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Box(Obstacle):
    """A box, centred at its pose.

    Attributes:
        size: (3,) its edges [m].
    """

    size: Floats

    kind: ClassVar[str] = "box"

    @classmethod
    def make(cls, name: str, size: Any, pose: Any = None) -> "Box":
        """See ``Scene.box``."""
        return cls(name, placed(pose), lengths("size", size, 3))

    def sizes(self) -> dict[str, Any]:
        """See ``Scene.box``."""
        return {"size": self.size.tolist()}

    def row(self) -> Floats:
        """The row that kernels read."""
        return rounded_box(self.pose, 0.5 * self.size, 0.0)

    def surface(self) -> Mesh:
        """See ``Obstacle.surface``."""
        return primitives.box(self.size)
