"""Levers: the largest motion of the spheres of a link group per unit of a joint's motion.

The levers of a link group are found on the way from the joint that carries it to the base. They
hold for all values of revolute joints: each joint adds the distance of its own frame.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from jointwise.kernels.layout.arrays import Floats


class Lever(NamedTuple):
    """The distances of a link group from a joint that moves it.

    Attributes:
        joint: The joint.
        across: The greatest distance of the centre of a sphere from the joint's axis [m].
        away: The greatest distance of a centre from the origin of the joint's frame [m].
    """

    joint: int
    across: float
    away: float


def joints_to_base(parents: Sequence[int], joint: int) -> Iterator[int]:
    """The joint and those that move it, in this order; none for -1, the base."""
    while joint >= 0:
        yield joint
        joint = parents[joint]


def levers_to_base(
    centres: Floats, parents: Sequence[int], origins: Floats, joint: int
) -> Iterator[Lever]:
    """The levers of a link group, from the joint that carries it to the base.

    Args:
        centres: (k, 3) centres of the spheres in the frame of the joint [m].
        parents: (b,) the joint that moves the frame of each joint; -1 for the base.
        origins: (b, 3) the origin of each joint's frame in the frame of its parent [m], rotated
            about z by any angle. If the joint is prismatic, the coordinates are the largest that
            the joint allows, or those at 0 if its travel is accounted for elsewhere.
        joint: The joint that carries the link group.
    """
    across = float(np.linalg.norm(centres[:, :2], axis=1).max())
    away = float(np.linalg.norm(centres, axis=1).max())
    for each in joints_to_base(parents, joint):
        yield Lever(each, across, away)
        across = float(np.linalg.norm(origins[each, :2])) + away
        away = float(np.linalg.norm(origins[each])) + away
