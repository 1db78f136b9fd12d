"""The arm in numbers: DH rows become the arrays that kernels work on."""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.joints import DHJoint
from jointwise.kernels import Floats, Kinds


class Arm(NamedTuple):
    """An arm of n joints, each moving about or along its own z.

    Attributes:
        links: (n+1, 3, 4) from the frame joint i-1 carries to the frame joint i moves in.
        kinds: (n,) 0 for a revolute joint, 1 for a prismatic one.
        size: Length of all links together [m].
        ends: (n, 4, 4) from the frame joint i carries to DH frame i+1.
    """

    links: Floats
    kinds: Kinds
    size: float
    ends: Floats


def arm_of(joints: Iterable[DHJoint]) -> Arm:
    """The arrays of an arm given as DH rows; an arm seen lately is not converted again."""
    try:
        rows = tuple(joints)
    except TypeError:
        raise InvalidInputError(
            f"joints is {joints!r}: expected a sequence of DHJoint, base to tip."
        ) from None
    try:
        return _converted(rows)
    except TypeError:  # a row that cannot be hashed is no DHJoint
        _check(rows)
        raise


def _check(joints: tuple[DHJoint, ...]) -> None:
    if not joints:
        raise InvalidInputError("joints is empty: expected at least one DHJoint.")
    for i, joint in enumerate(joints):
        if not isinstance(joint, DHJoint):
            raise InvalidInputError(
                f"joints[{i}] is {joint!r}: expected DHJoint(theta, d, a, alpha, joint_type)."
            )


@lru_cache(maxsize=256)
def _converted(joints: tuple[DHJoint, ...]) -> Arm:
    from scipy.spatial.transform import RigidTransform, Rotation

    _check(joints)
    # The constant theta and d of a row act along the axis of its motion, so they may
    # stand before it: link i is the a and alpha of row i-1, then the theta and d of row i.
    nothing = np.zeros(len(joints))
    theta, d, a, alpha = np.array([(j.theta, j.d, j.a, j.alpha) for j in joints]).T
    along_z = RigidTransform.from_components(
        np.stack([nothing, nothing, d], axis=1), Rotation.from_euler("z", theta[:, None])
    )
    along_x = RigidTransform.from_components(
        np.stack([a, nothing, nothing], axis=1), Rotation.from_euler("x", alpha[:, None])
    )
    between = (along_x[:-1] * along_z[1:]).as_matrix() if len(joints) > 1 else np.empty((0, 4, 4))
    links = np.concatenate([along_z[:1].as_matrix(), between, along_x[-1:].as_matrix()])[:, :3]
    arm = Arm(
        links=np.ascontiguousarray(links),
        kinds=np.array([j.joint_type == "prismatic" for j in joints], dtype=np.uint8),
        size=float(np.linalg.norm(links[:, :, 3], axis=1).sum()),
        ends=along_x.as_matrix(),
    )
    for array in (arm.links, arm.kinds, arm.ends):
        array.setflags(write=False)
    return arm
