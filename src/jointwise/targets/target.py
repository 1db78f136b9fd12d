"""A target: where a link should be, in one value."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import MAX_VALUE, Floats
from jointwise.model import checks
from jointwise.targets.deviation import tolerance_box

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jointwise.targets.kind import TargetKind

# Weights of position and orientation.
Weight = tuple[float, float]
EQUAL_WEIGHT: Weight = (1.0, 1.0)


class PackedTarget(NamedTuple):
    """A target, or many of one kind, as engines take it; its numbers are not yet checked.

    Attributes:
        kind: Its kind.
        values: (rows, columns), or (m, rows, columns) for many.
        weight: How much its position and its orientation count; 1 is usual.
        point: (3,) the point of the link that should be there [m], link frame; None: its origin.
        to: The link in whose frame it is; None: the base frame, or the world of a robot.
    """

    kind: TargetKind
    values: Floats
    weight: Weight = EQUAL_WEIGHT
    point: Floats | None = None
    to: str | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Target:
    """Where a link should be, made by ``pose``, ``position`` and the like.

    Attributes:
        kind: What it prescribes.
        values: Its numbers as kernels take them. Read-only.
        weight: How much its position and its orientation count relative to other targets.
        point: (3,) the point of the link that should be there [m], link frame; None: its origin.
        to: The link in whose frame it is, see ``relative``. None: the base frame, or the world of a
            robot.

    Example:
        >>> from jointwise import pose
        >>> target = pose([0.4, 0.0, 0.3], rpy=[0.0, 0.0, 0.0], weight=(1.0, 0.1))
        >>> target.matrix[:3, 3], target.weight
        (array([0.4, 0. , 0.3]), (1.0, 0.1))
    """

    kind: TargetKind
    values: Floats
    weight: Weight = EQUAL_WEIGHT
    point: Floats | None = None
    to: str | None = None

    @property
    def is_many(self) -> bool:
        """Whether it stands for many targets, one for each row of a batch or a path."""
        return self.values.ndim == 3

    @property
    def _packed(self) -> PackedTarget:
        """This target, packed for engines."""
        return PackedTarget(self.kind, self.values, self.weight, self.point, self.to)

    @property
    def matrix(self) -> Floats:
        """(4, 4) the pose; (m, 4, 4) of many. Only a pose has one.

        Raises:
            InvalidInputError: The target is of another kind.
        """
        if self.kind.directions != 3:
            raise InvalidInputError(f"a target of kind {self.kind.name!r} has no matrix.")
        return self.values[..., :4, :]

    @property
    def box(self) -> Floats | None:
        """(4, 3) the tolerance box of ``within``, or None; (m, 4, 3) of many.

        Its rows are the low and high ends of the position [m] and of the rotation [rad]. Free
        ranges are infinite.
        """
        return tolerance_box(self.values) if self.kind.has_box else None

    @property
    def position(self) -> Floats:
        """(3,) the position [m], base frame; (m, 3) of many. NaN if it prescribes none."""
        points = self.kind.target_points(self.values if self.is_many else self.values[None])
        if not self.kind.has_position:
            points = np.full_like(points, np.nan)
        return points if self.is_many else points[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The matrix of a pose, or the position of a position."""
        plain = self.kind.as_array(self.values)
        return np.array(plain, dtype) if copy or dtype is not None else plain

    def __len__(self) -> int:
        if not self.is_many:
            raise TypeError("a single target has no length")
        return len(self.values)

    def __getitem__(self, row: int) -> Target:
        """One of many targets."""
        if not self.is_many:
            raise TypeError("a single target has no rows")
        return replace(self, values=self.values[row])

    def __iter__(self) -> Iterator[Target]:
        return (self[row] for row in range(len(self)))

    def __repr__(self) -> str:
        frame = "" if self.to is None else f" in {self.to}"
        if self.is_many:
            return f"<{len(self)} {self.kind.plural}{frame}>"
        parts = self.kind.describe(self.values)
        text = ", ".join(f"{k} {v.round(6)}" for k, v in parts.items())
        return f"<{self.kind.name}{frame}: {text}>"


def make_target(
    kind: TargetKind, values: Floats, weight: float | Sequence[float], point: ArrayLike | None
) -> Target:
    """A target whose weight and point are checked; its numbers become read-only."""
    values.setflags(write=False)
    on_link = None
    if point is not None:
        on_link = checks.all_finite("point", checks.position("point", point))
        on_link.setflags(write=False)
    return Target(kind, values, checked_weight(weight), on_link)


def checked_weight(weight: float | Sequence[float]) -> Weight:
    """Weights of position and orientation, from one for both or one for each."""
    if weight is EQUAL_WEIGHT:
        return EQUAL_WEIGHT
    given = checks.floats("weight", weight)
    if given.shape not in ((), (2,)):
        raise InvalidInputError(
            f"weight has shape {given.shape}: expected a number, or two numbers, for position and "
            "for orientation."
        )
    if not ((given >= 0.0) & (given < MAX_VALUE)).all():
        raise InvalidInputError(f"weight is {weight}: expected 0 or more, below 1e9.")
    both = np.broadcast_to(given, (2,))
    return float(both[0]), float(both[1])
