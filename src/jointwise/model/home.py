"""Home configurations: which named one of a file is home, and the home of other robots."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.model.arm import middles

if TYPE_CHECKING:
    from jointwise.model.kinematic_tree import MovingJoint

# Names of home configurations; the first one in a file is used.
NAMES = ("home", "ready", "default", "half_sitting", "standing", "stand", "neutral")
# A branch with this many independent joints is a limb, such as an arm, a leg or a finger.
LIMB_JOINTS = 3


def unnamed_home(joints: "Sequence[MovingJoint]", limits: Floats) -> Floats:
    """(v,) the home configuration of a robot whose files name none [rad, m].

    Robots with several limbs are modelled so that they stand straight at zero, so their joints are
    as close to zero as the limits allow. Other robots, whose arm is often straight and singular
    there, are in the middle of their ranges.

    Args:
        joints: Joints that move, each after the one that carries it.
        limits: (v, 2) limits of the independent ones [rad, m].
    """
    return np.clip(0.0, *limits.T) if _has_several_limbs(joints) else middles(limits)


def _has_several_limbs(joints: "Sequence[MovingJoint]") -> bool:
    """Whether two branches with enough independent joints begin at the same joint or base."""
    below = [int(joint.mimic is None) for joint in joints]
    limbs = [0] * (len(joints) + 1)  # by joint; last those of the base, whose number is -1
    for number in reversed(range(len(joints))):
        parent = joints[number].parent
        limbs[parent] += below[number] >= LIMB_JOINTS
        if parent >= 0:
            below[parent] += below[number]
    return max(limbs) > 1
