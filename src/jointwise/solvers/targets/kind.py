"""The interface of a kind of target."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, Union

import numpy as np
from numpy.typing import ArrayLike

from jointwise.kernels.shapes import Floats, Weights

if TYPE_CHECKING:
    from scipy.spatial.transform import RigidTransform

    from jointwise.solvers.targets.aim import Aim

# A pose (4, 4) or SciPy's; one target of any kind; many of them for a batch.
Pose: TypeAlias = Union[ArrayLike, "RigidTransform"]
Target: TypeAlias = Union[Pose, "Aim"]
Targets: TypeAlias = Target | Sequence[Target]


class TargetKind(ABC):
    """A kind of target; each is defined in one file and listed in ``targets.KINDS``.

    A packed target is a small array, one of ``kernels.tasks.TARGET_SHAPES``.

    Attributes:
        name: Its name on the page, in files and in messages.
        plural: Its name in messages about many.
        directions: How many directions of the end effector it prescribes: 0, 1 or 3.
        target_class: The class of its targets, if they are not arrays.
        array_shape: The shape of its targets, if they are arrays.
        columns: Columns of a table beside x, y, z that tell it apart, in groups by the name that
            JSON and messages use; of several groups one is given.
    """

    name: ClassVar[str]
    plural: ClassVar[str]
    directions: ClassVar[int]
    target_class: ClassVar[type | None] = None
    array_shape: ClassVar[tuple[int, ...] | None] = None
    columns: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    @abstractmethod
    def pack(self, target: Any) -> Floats:
        """One target, packed for kernels; its numbers are not yet checked."""

    @abstractmethod
    def unpack(self, values: Floats) -> Target:
        """The target of which these are the packed numbers, in one row; more are ignored."""

    @abstractmethod
    def pack_many(self, targets: Any) -> Floats:
        """(m, ...) many targets, packed; their numbers are not yet checked."""

    def join(self, packed: list[Floats]) -> Floats:
        """(m, ...) packed targets from a list of single ones."""
        return np.stack(packed)

    @abstractmethod
    def check(self, packed: Floats, name: str = "target") -> None:
        """Refuse a packed target whose numbers cannot be solved for; the text says why."""

    @abstractmethod
    def weights(self, angular_scale: float) -> Weights:
        """The weights [1, m²] of its points, position first; see ``kernels.shapes.Task``."""

    @abstractmethod
    def at_pose(self, T_base_target: Floats) -> Target:
        """What this kind asks for at a pose (4, 4)."""

    @abstractmethod
    def orientation_error(self, T_base_tip: Floats, T_base_target: Floats) -> Floats:
        """Angles [rad] between end effectors (..., 4, 4) and a target at a pose (4, 4)."""

    @abstractmethod
    def from_columns(
        self, positions: Floats, group: str, values: Floats, in_degrees: bool
    ) -> Targets:
        """Many targets from a table.

        Args:
            positions: (m, 3) x, y, z [m].
            group: Which of ``columns`` is given; "" if there is none.
            values: (m, k) their values.
            in_degrees: Whether angles are degrees.
        """

    @abstractmethod
    def column_values(self, T_base_target: Floats) -> dict[str, list[float]]:
        """The column group that is written for a target at a pose (4, 4), by its name."""

    @abstractmethod
    def describe(self, target: Any) -> dict[str, Floats]:
        """A target in parts: its position, and what else it prescribes, named as in ``columns``."""

    @abstractmethod
    def split(self, targets: Any) -> list[Target]:
        """Many targets as a list of single ones."""
