"""Posture: preferences of a redundant robot besides its targets."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks

# Weight of the preferred joint values if none is given; a target weighs 1.
POSTURE_WEIGHT = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Posture:
    """Preferred joint values, and which joints may move.

    Args:
        q: Preferred joint values [rad, m], (n,) or a mapping of some joint names; the other joints
            prefer ``home``. A solution is never farther from them than without a posture, by the
            norm of the difference [rad, m]. None: no preference.
        weight: Weight of the preferred values if the targets cannot all be reached; a target has
            the weight 1. If all targets can be reached, they are, whatever the weight.
        active: Names of the joints that may move; the others stay at the start. The name of the
            root link stands for a free base. None: all.
        smoothness: Weight of the joint change from one target of a path to the next; a target has
            the weight 1.

    Raises:
        InvalidInputError: A number is negative, or ``active`` is not a list of names.

    Example:
        >>> from jointwise import Chain, Posture
        >>> arm = Chain.load("panda")
        >>> bent = Posture([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.8])
        >>> arm.solve([0.4, 0.2, 0.5], posture=bent).converged
        True
    """

    q: ArrayLike | Mapping[str, float] | None = None
    weight: float = POSTURE_WEIGHT
    active: Collection[str] | None = None
    smoothness: float = 0.0

    def __post_init__(self) -> None:
        for name in ("weight", "smoothness"):
            value = checks.number(name, getattr(self, name))
            if value < 0.0:
                raise InvalidInputError(f"{name} is {value:g}: expected 0 or more.")
            object.__setattr__(self, name, value)
        if isinstance(self.active, str) or not (self.active is None or np.iterable(self.active)):
            raise InvalidInputError(f"active is {self.active!r}: expected a list of joint names.")
        if self.active is not None:
            object.__setattr__(self, "active", tuple(self.active))
        if isinstance(self.q, Mapping):
            object.__setattr__(self, "q", dict(self.q))
        elif isinstance(self.q, np.ndarray):
            object.__setattr__(self, "q", self.q.copy())


def check_posture(posture: Posture | None) -> None:
    """Refuse anything but a Posture or None."""
    if posture is not None and not isinstance(posture, Posture):
        raise InvalidInputError(
            f"posture is {checks.short(posture)}: expected a Posture, such as Posture(q)."
        )


def preferred_values(posture: Posture | None, n: int, owner: str = "an arm") -> Floats | None:
    """(n,) the preferred joint values, in the order of the joints; None without a preference."""
    if posture is None or posture.q is None:
        return None
    given: Any = posture.q
    return checks.all_finite("posture", checks.joint_values("posture", given, n, owner))
