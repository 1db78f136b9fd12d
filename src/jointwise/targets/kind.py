"""The interface of a kind of target."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, Union

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import MAX_VALUE, Bools, Floats, Weights
from jointwise.kernels.layout.tree import PLAIN
from jointwise.model import checks
from jointwise.targets.target import EQUAL_WEIGHT, Weight

if TYPE_CHECKING:
    from scipy.spatial.transform import RigidTransform

    from jointwise.targets.target import Target

# A pose (4, 4), SciPy's or a target; one target of any kind; many of them for a batch.
Pose: TypeAlias = Union[ArrayLike, "RigidTransform", "Target"]
AnyTarget: TypeAlias = Pose
AnyTargets: TypeAlias = AnyTarget | Sequence[AnyTarget]

# The axes of a target that prescribes none.
NO_AXES, NO_DIRECTIONS = np.empty((1, 0, 3)), np.empty((1, 0))


class TargetKind(ABC):
    """A kind of target; each is defined in one file and listed in ``targets.KINDS``.

    A packed target is a small array, one of ``kernels.tasks.TARGET_SHAPES``.

    Attributes:
        name: Its name on the page, in files and in messages.
        plural: Its name in messages about many.
        directions: How many directions of the link it prescribes: 0, 1 or 3.
        has_position: Whether it prescribes a position.
        has_box: Whether it has a tolerance box, inside which it is reached.
        form: How kernels of trees read its numbers; see ``kernels.layout.tree``. Kernels of arms
            read only plain targets and boxes.
        has_fixed_axes: Whether these directions belong to the same axes of the link in all targets.
        packed_shape: The shape of a packed target.
        array_shape: The shape of arrays that stand for it; None if there is none.
        columns: Columns of a table besides x, y, z that identify the kind, in groups by their name
            in JSON and messages. If there are several groups, a table has one of them.
    """

    name: ClassVar[str]
    plural: ClassVar[str]
    directions: ClassVar[int]
    has_position: ClassVar[bool] = True
    has_box: ClassVar[bool] = False
    form: ClassVar[float] = PLAIN
    has_fixed_axes: ClassVar[bool] = True
    packed_shape: ClassVar[tuple[int, int]]
    array_shape: ClassVar[tuple[int, ...] | None] = None
    columns: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def pack(self, values: Floats) -> Floats:
        """Pack an array of ``array_shape``, or (m, ...) of many, for kernels."""
        return values

    def as_array(self, packed: Floats) -> Floats:
        """The array that stands for a packed target, or for many.

        Raises:
            TypeError: No array stands for this kind.
        """
        raise TypeError(f"no array stands for a target of kind {self.name!r}")

    def join(self, packed: list[Floats]) -> Floats:
        """(m, ...) packed targets from a list of single ones."""
        return np.stack(packed)

    @abstractmethod
    def check(self, packed: Floats, name: str = "target") -> None:
        """Refuse a packed target whose numbers cannot be solved for; the text says why."""

    def are_valid(self, packed: Floats) -> Bools:
        """(m,) which of packed targets (m, ...) have numbers that can be solved for."""
        if packed.size and packed.min() > -MAX_VALUE and packed.max() < MAX_VALUE:
            return np.ones(len(packed), np.bool_)  # the most frequent case, and fast
        valid: Bools = np.abs(packed).max(axis=(1, 2)) < MAX_VALUE
        return valid

    @abstractmethod
    def point_weights(self, angular_scale: float) -> Weights:
        """The weights [1, m²] of its points, position first; see ``kernels.layout.task``."""

    def weights(self, angular_scale: float, weight: Weight = EQUAL_WEIGHT) -> Weights:
        """``point_weights``, for a target whose position and orientation have different weights."""
        if weight is EQUAL_WEIGHT:
            return self.point_weights(angular_scale)
        first, *others = self.point_weights(angular_scale)
        share = weight[1] / weight[0]
        return (first, *(share * other for other in others))

    @abstractmethod
    def target_points(self, packed: Floats) -> Floats:
        """(m, 3) where the link should be [m], of packed targets (m, ...)."""

    def target_axes(self, packed: Floats) -> Floats:
        """(m, 3 d) directions in which the d axes of the link should point."""
        return NO_DIRECTIONS

    def target_numbers(self, packed: Floats) -> Floats:
        """(m, 3 + 3 d) points and directions."""
        points = self.target_points(packed)
        return np.hstack([points, self.target_axes(packed)]) if self.directions else points

    def link_axes(self, packed: Floats) -> Floats:
        """(m, d, 3) these axes, in the frame of the link; (1, d, 3) if ``has_fixed_axes``."""
        return NO_AXES

    def region_numbers(self, packed: Floats) -> Floats:
        """(m, k) its region as kernels of trees take it, if it has one; see ``form``."""
        raise NotImplementedError(f"a target of kind {self.name!r} has no region")

    @abstractmethod
    def at_pose(self, T_base_target: Floats) -> AnyTarget:
        """A target of this kind at a pose (4, 4)."""

    @abstractmethod
    def orientation_error(self, T_base_tip: Floats, T_base_target: Floats) -> Floats:
        """Angles [rad] between links (..., 4, 4) and a target at a pose (4, 4)."""

    def from_columns(
        self, positions: Floats, group: str, values: Floats, in_degrees: bool
    ) -> AnyTargets:
        """Many targets from a table.

        Args:
            positions: (m, 3) x, y, z [m].
            group: Which of ``columns`` is given; "" if there is none.
            values: (m, k) their values.
            in_degrees: Whether angles are degrees.
        """
        raise InvalidInputError(f"{self.plural} cannot be read from a table.")

    @abstractmethod
    def column_values(self, T_base_target: Floats) -> dict[str, list[float]]:
        """The column group that is written for a target at a pose (4, 4), by its name."""

    @abstractmethod
    def describe(self, packed: Floats) -> dict[str, Floats]:
        """A packed target in parts, named as in ``columns``, its position first."""


def points_of(name: str, value: Any) -> Floats:
    """(3,) a point, or (m, 3) points, finite."""
    points = checks.floats(name, numbers_of(value))
    if points.ndim != 2 or points.shape[1] != 3:
        points = checks.position(name, points)
    return checks.all_finite(name, points)


def numbers_of(value: Any) -> Any:
    """The translation of a pose of SciPy; anything else as it is."""
    return value.translation if hasattr(value, "translation") else value
