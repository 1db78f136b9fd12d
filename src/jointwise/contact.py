"""Contact: a link that stays in place during some frames of a path, and a floor below it."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.model import checks

# Frames over which a link moves to its place before a contact, and from it afterwards.
BLEND = 5


@dataclass(frozen=True, slots=True, eq=False)
class Contact:
    """How a link, such as a foot, touches the ground along a path.

    Points of the link keep their place while they are in contact, and never go below the floor.
    Their place is the mean of the positions that they would otherwise have during the contact,
    raised to the floor if it is below. Other targets give way: contacts weigh a thousand times as
    much.

    Args:
        frames: (m,) whether the link is in contact at each target of the path. None: never; for
            ``retarget_clips``, as stored in the clip.
        points: (p, 3) points of the link that touch the ground [m], link frame, such as the corners
            of a sole, or (3,) one point. None: the origin of the link.
        floor: Height of the ground [m], world frame; (m,) the height below the link at each target,
            as on stairs, or (m, p) below each point, as on a slope. None: there is no floor.
        blend: Number of frames over which the link moves to its place before a contact, and from
            it afterwards.

    Raises:
        InvalidInputError: An array has the wrong shape, or ``frames`` is not boolean.

    Example:
        >>> from jointwise import Contact, PathOptions
        >>> down = np.arange(40) % 20 < 10
        >>> options = PathOptions(contacts={"left_foot": Contact(down, floor=0.0)})
        >>> options.contacts["left_foot"].blend
        5
    """

    frames: ArrayLike | None = None
    points: ArrayLike = (0.0, 0.0, 0.0)
    floor: ArrayLike | None = None
    blend: int = BLEND

    def __post_init__(self) -> None:
        points = np.atleast_2d(checks.all_finite("points", checks.floats("points", self.points)))
        if points.ndim != 2 or points.shape[1] != 3 or not len(points):
            raise InvalidInputError(
                f"points has shape {np.shape(self.points)}: expected (p, 3) points of the link, or "
                "(3,) for one."
            )
        floor = None
        if self.floor is not None:
            floor = checks.all_finite("floor", checks.floats("floor", self.floor))
            if floor.ndim > 1 and floor.shape[1:] != points.shape[:1]:
                raise InvalidInputError(
                    f"floor has shape {floor.shape}: expected a height, (m,) one for each target, "
                    f"or (m, {len(points)}) one for each point."
                )
        frames = None if self.frames is None else _flags(self.frames)
        for name, array in (("frames", frames), ("points", points), ("floor", floor)):
            if array is not None:
                array = array.copy()
                array.setflags(write=False)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "blend", checks.count("blend", self.blend))

    def check(self, name: str, count: int) -> None:
        """Refuse arrays whose length is not the number of targets of a path."""
        for what, array in (("frames", self.frames), ("floor", self.floor)):
            if array is not None and np.ndim(array) and len(np.asarray(array)) != count:
                raise InvalidInputError(
                    f"{what} of the contact of {name!r} has {len(np.asarray(array))} values for a "
                    f"path of {checks.quantity(count, 'target')}: expected one for each."
                )

    def rows(self, which: Bools) -> Contact:
        """The contact at some of the targets of a path."""
        frames, floor = np.asarray(self.frames), np.asarray(self.floor)
        return replace(
            self,
            frames=None if self.frames is None else frames[which],
            floor=floor[which] if floor.ndim else self.floor,
        )

    def down(self, count: int) -> Bools:
        """(m,) where the link is in contact."""
        return np.zeros(count, np.bool_) if self.frames is None else np.asarray(self.frames)

    def ground(self, count: int) -> Floats:
        """(m, p) height of the floor below each point [m]; -inf if there is none."""
        floor = np.asarray(-np.inf if self.floor is None else self.floor, float)
        floor = floor if floor.ndim == 0 else floor.reshape(count, -1)
        return np.broadcast_to(floor, (count, len(np.asarray(self.points))))


def _flags(frames: Any) -> Bools:
    """(m,) booleans."""
    flags = np.asarray(frames)
    if flags.dtype != np.bool_ or flags.ndim != 1:
        raise InvalidInputError(
            f"frames has shape {flags.shape} and type {flags.dtype}: expected booleans, (m,) one "
            "for each target."
        )
    return flags
