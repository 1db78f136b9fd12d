"""A serial arm: its joint types, its limits, and one buffer that holds all its numbers.

Inside kernels an arm, a task and the criteria are named tuples. A compiled function takes time for
every argument, most for a named tuple. So a call from Python passes an arm as one buffer and the
criteria as a plain tuple, and the kernel unpacks them.
"""

from typing import NamedTuple

import numpy as np

from jointwise.kernels.layout.arrays import Floats, packed_view

# Joint types in ``Arm.kinds``. A held joint is prismatic, and no solver moves it.
REVOLUTE, PRISMATIC, HELD = 0, 1, 2
# Columns of ``Arm.bounds``: the limits; (cos, sin) of each limit and of the middle between them;
# cosine of half the range. Joints whose range covers a full turn have -2 there, so that every
# direction is inside.
(
    BOUND_LOWER,
    BOUND_UPPER,
    BOUND_LOWER_COS,
    BOUND_LOWER_SIN,
    BOUND_UPPER_COS,
    BOUND_UPPER_SIN,
    BOUND_MID_COS,
    BOUND_MID_SIN,
    BOUND_COS_HALF,
) = range(9)
# A packed arm begins with its header, one number: the flags of what the buffer holds.
ARM_FLAGS, ARM_HEADER = 0, 1
HAS_JOINT_PENALTIES, HAS_SCENE, HAS_ALLOWED_PAIRS = 1, 2, 4
# Numbers of an arm after its header: for each joint, and others; see ``pack_arm``.
NUMBERS_A_JOINT, OTHER_NUMBERS = 26, 14
# A header without an arm.
NO_ARM = np.zeros(ARM_HEADER)


class Arm(NamedTuple):
    """A serial arm of n joints, each moving about or along its own z:

        T_base_tip(q) = links[0] · M0(q0) · links[1] · M1(q1) · ... · links[n]

    Attributes:
        links: (n+1, 3, 4) constant transforms; ``links[n]`` is the tool.
        kinds: (n,) joint types.
        bounds: (n, 9) joint limits; the columns are named above.
        joint_penalties: (n, 3) stiffness, and the pull towards the preferred value as (cos, sin) or
            (1, value).
        angular_scale: Position error that counts like 1 rad of orientation error [m].
        reach: Upper bound of the distance from the first joint to the tip [m].
        strides: (n,) strides of the low-discrepancy sequence of restarts.
    """  # noqa: D415

    links: Floats
    kinds: Floats
    bounds: Floats
    joint_penalties: Floats
    angular_scale: float
    reach: float
    strides: Floats


def pack_arm(
    links: Floats,
    kinds: Floats,
    bounds: Floats,
    angular_scale: float,
    reach: float,
    strides: Floats,
) -> Floats:
    """One buffer with all numbers of an arm, without joint penalties."""
    penalties = np.zeros((len(kinds), 3))
    arrays = (NO_ARM, links, kinds, bounds, penalties, [angular_scale, reach], strides)
    return np.concatenate([np.ravel(array) for array in arrays])


def unpack_arm(packed_arm: Floats, n: int) -> Arm:
    """The arm of n joints in a buffer that ``pack_arm`` made; its arrays are views."""
    kinds = ARM_HEADER + 12 * (n + 1)
    bounds = kinds + n
    penalties = bounds + 9 * n
    scalars = penalties + 3 * n
    return Arm(
        packed_view(packed_arm, ARM_HEADER, (n + 1, 3, 4)),
        packed_view(packed_arm, kinds, (n,)),
        packed_view(packed_arm, bounds, (n, 9)),
        packed_view(packed_arm, penalties, (n, 3)),
        packed_arm[scalars],
        packed_arm[scalars + 1],
        packed_view(packed_arm, scalars + 2, (n,)),
    )


def has_joint_penalties(packed_arm: Floats) -> bool:
    """Whether an arm has joint penalties."""
    return int(packed_arm[ARM_FLAGS]) & HAS_JOINT_PENALTIES != 0


def has_scene(packed_arm: Floats) -> bool:
    """Whether a scene follows an arm in its buffer."""
    return int(packed_arm[ARM_FLAGS]) & HAS_SCENE != 0


def with_joint_penalties(packed_arm: Floats, penalties: Floats) -> Floats:
    """The arm, without a scene, with joint penalties (n, 3); see ``Arm``."""
    n = len(penalties)
    packed = packed_arm[: arm_size(n)].copy()
    unpack_arm(packed, n).joint_penalties[:] = penalties
    packed[ARM_FLAGS] = HAS_JOINT_PENALTIES if penalties.any() else 0
    return packed


def without_scene(packed_arm: Floats, n: int) -> Floats:
    """The arm of n joints alone, from a buffer in which a scene may follow it."""
    packed = packed_arm[: arm_size(n)].copy()
    packed[ARM_FLAGS] = HAS_JOINT_PENALTIES if has_joint_penalties(packed_arm) else 0
    return packed


def arm_size(n: int) -> int:
    """The numbers of an arm of n joints in its buffer."""
    return ARM_HEADER + NUMBERS_A_JOINT * n + OTHER_NUMBERS
