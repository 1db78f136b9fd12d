"""The base class of all kinds of obstacles."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.shape.solids.mesh import Mesh

if TYPE_CHECKING:
    from typing import Self


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Obstacle(ABC):
    """An object that a model must not collide with.

    Attributes:
        name: Unique in its scene.
        pose: (4, 4) its own frame in the base frame. Read-only.
    """

    name: str
    pose: Floats
    # Found when it is made, so that scenes are checked and packed quickly.
    _row: Floats = field(init=False)
    _extent: float = field(init=False)

    # Its name in a scene and in files.
    kind: ClassVar[str]
    # The field of ``World`` that has it: "boxes", "cylinders" or "grids".
    packed_as: ClassVar[str] = "boxes"

    def __post_init__(self) -> None:
        checks.text("name", self.name)
        object.__setattr__(self, "_row", self.row())
        object.__setattr__(self, "_extent", self.extent())

    @abstractmethod
    def sizes(self) -> dict[str, Any]:
        """Its numbers, by their names in the scene's method and in files."""

    def extent(self) -> float:
        """The largest of its lengths [m]; 0 if it has none of its own."""
        sizes = self.sizes().values()
        return float(max(max(size) if isinstance(size, list) else size for size in sizes))

    @abstractmethod
    def row(self) -> Floats:
        """Its numbers as kernels read them, before they are put in blocks."""

    @abstractmethod
    def surface(self) -> Mesh:
        """The surface in pictures: vertices (k, 3) [m] and triangles (m, 3), in its own frame.

        ``obstacle.surface().moved(obstacle.pose)`` is the surface in the base frame.
        """

    def at(self, pose: Any) -> "Self":
        """This obstacle at another pose (4, 4), or position (3,) [m], base frame."""
        return replace(self, pose=placed(pose))

    def resized(self, **sizes: Any) -> "Self":
        """This obstacle with other numbers, by the names in ``sizes``."""
        made: Self = self.make(self.name, **self._with_sizes(sizes))  # type: ignore[attr-defined]
        return replace(made, pose=self.pose)

    def _with_sizes(self, sizes: dict[str, Any]) -> dict[str, Any]:
        """Its numbers, some of them replaced."""
        own = self.sizes()
        for key in sizes:
            checks.known_name("size", key, own, f"the {self.kind} {self.name!r}")
        return own | sizes

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name!r}>"


def rounded_box(pose: Floats, half_edges: Floats, radius: float) -> Floats:
    """(16,) a box whose surface is moved outward by a radius [m], as kernels read it.

    A box has the radius 0, a sphere has no edges, and a capsule has one.
    """
    rotation = pose[:3, :3].T
    origin = -rotation @ pose[:3, 3]
    return np.concatenate([rotation.ravel(), origin, half_edges, [radius]])


def lengths(name: str, values: Any, count: int) -> Floats:
    """(count,) lengths above zero [m]. Read-only."""
    array = checks.all_finite(name, checks.floats(name, values))
    if array.shape != (count,) or array.min() <= 0.0:
        expected = "three edges" if count == 3 else f"{count} lengths"
        if array.shape == (count,):
            raise InvalidInputError(
                f"{name} is {array.tolist()}: expected {expected} above zero [m]. For a flat "
                "obstacle, pass its thickness."
            )
        raise InvalidInputError(
            f"{name} has shape {array.shape}: expected ({count},), {expected} [m]."
        )
    array.setflags(write=False)
    return array


def placed(pose: Any) -> Floats:
    """(4, 4) a pose from a pose, a position (3,) or None. Read-only."""
    frame = np.eye(4) if pose is None else checks.frame("pose", pose)
    frame.setflags(write=False)
    return frame
