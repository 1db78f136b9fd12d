"""The base class of cylinders and capsules."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jointwise.model import checks
from jointwise.scene.obstacle import Obstacle, placed

if TYPE_CHECKING:
    from typing import Self


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RoundObstacle(Obstacle):
    """An obstacle that is round about the z axis of its pose, centred there.

    Attributes:
        radius: [m].
        length: [m]; of a capsule without the hemispheres.
    """

    radius: float
    length: float

    @classmethod
    def make(cls, name: str, radius: Any, length: Any, pose: Any = None) -> "Self":
        """See ``Scene.cylinder`` and ``Scene.capsule``."""
        sizes = checks.positive("radius", radius), checks.positive("length", length)
        return cls(name, placed(pose), *sizes)

    def sizes(self) -> dict[str, Any]:
        """See ``Scene.cylinder`` and ``Scene.capsule``."""
        return {"radius": self.radius, "length": self.length}
