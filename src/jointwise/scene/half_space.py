"""A half-space: everything on one side of a plane, such as a floor or a wall."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.scene.obstacle import Obstacle, placed, rounded_box
from jointwise.shape.solids.mesh import Mesh

# Kernels read it as a box with these edges [m] that extends this far below its plane.
EDGE = 1e4
# Pictures show it as a square with these edges [m].
DRAWN = 4.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HalfSpace(Obstacle):
    """All points with z below 0 in the frame of its pose."""

    kind: ClassVar[str] = "half_space"

    def __post_init__(self) -> None:
        Obstacle.__post_init__(self)
        away = float(np.linalg.norm(self.pose[:3, 3]))
        if away > 0.5 * EDGE:  # beyond, the box may end before the arm
            raise InvalidInputError(
                f"the plane of {self.name!r} is {away:.0f} m from the origin: expected "
                f"{0.5 * EDGE:.0f} m at most."
            )

    @classmethod
    def make(cls, name: str, normal: Any, offset: Any = 0.0) -> "HalfSpace":
        """See ``Scene.half_space``."""
        z = checks.all_finite("normal", checks.floats("normal", normal))
        if z.shape != (3,) or np.linalg.norm(z) < 1e-9:
            raise InvalidInputError(
                f"normal is {checks.short(normal)}: expected (3,), the direction out of the "
                "half-space, such as [0, 0, 1] for a floor."
            )
        z /= np.linalg.norm(z)
        x = np.cross(np.eye(3)[np.abs(z).argmin()], z)
        x /= np.linalg.norm(x)
        pose = np.eye(4)
        pose[:3, :3] = np.stack([x, np.cross(z, x), z], axis=1)
        pose[:3, 3] = checks.number("offset", offset) * z
        return cls(name, placed(pose))

    def sizes(self) -> dict[str, Any]:
        """See ``Scene.half_space``."""
        normal = self.pose[:3, 2]
        return {"normal": normal.tolist(), "offset": float(self.pose[:3, 3] @ normal)}

    def extent(self) -> float:
        """It has no extent of its own."""
        return 0.0

    def row(self) -> Floats:
        """The row that kernels read."""
        pose = self.pose.copy()
        pose[:3, 3] -= 0.5 * EDGE * pose[:3, 2]
        return rounded_box(pose, np.full(3, 0.5 * EDGE), 0.0)

    def surface(self) -> Mesh:
        """A square in its plane, around the origin of its pose."""
        corners = 0.5 * DRAWN * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
        return Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]]))

    def resized(self, **sizes: Any) -> "HalfSpace":
        """This half-space with another normal or offset."""
        return self.make(self.name, **self._with_sizes(sizes))
