"""Denavit-Hartenberg rows as an arm in numbers."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Bools, Floats
from jointwise.model.arm import ArmModel, arm_model
from jointwise.model.joints import DHJoint


class DHArm(NamedTuple):
    """An arm of DH rows, as ``ccd_solve`` and ``forward_kinematics`` take it.

    Attributes:
        model: Its numbers: no limits, and prismatic joints are held at their start value.
        row_ends: (n, 4, 4) from the frame that joint i carries to DH frame i+1.
    """

    model: ArmModel
    row_ends: Floats


def dh_arm(joints: Iterable[DHJoint]) -> DHArm:
    """The arm of some DH rows; recent ones are cached."""
    rows = as_rows(joints)
    try:
        return _cached_arm(rows)
    except TypeError:  # a row that cannot be hashed is no DHJoint
        check_rows(rows)
        raise


def as_rows(joints: Iterable[DHJoint]) -> tuple[DHJoint, ...]:
    """DH rows as a tuple; checked by ``check_rows``."""
    try:
        return tuple(joints)
    except TypeError:
        raise InvalidInputError(
            f"joints is {joints!r}: expected a sequence of DHJoint, base to end effector."
        ) from None


def check_rows(joints: Sequence[DHJoint]) -> None:
    """Refuse an empty table, and rows that are no DHJoint."""
    if not joints:
        raise InvalidInputError("joints is empty: expected at least one DHJoint.")
    for i, joint in enumerate(joints):
        if not isinstance(joint, DHJoint):
            raise InvalidInputError(
                f"joints[{i}] is {joint!r}: expected DHJoint(theta, d, a, alpha, joint_type)."
            )


def prismatic_rows(joints: Sequence[DHJoint]) -> Bools:
    """(n,) which rows are prismatic."""
    return np.array([joint.joint_type == "prismatic" for joint in joints])


def standard_links(rows: Sequence[DHJoint]) -> Floats:
    """(n+1, 3, 4) links of standard rows, ``Rz(theta) Tz(d) Tx(a) Rx(alpha)`` each.

    The constants theta and d of a row commute with its motion, so they may stand before it:
    link i is the a and alpha of row i-1, then the theta and d of row i.
    """
    along_z, along_x = _row_halves(rows)
    return _links(along_z, along_x)


def modified_links(rows: Sequence[DHJoint]) -> Floats:
    """(n+1, 3, 4) links of modified (Craig) rows, ``Rx(alpha) Tx(a) Rz(theta) Tz(d)`` each."""
    along_z, along_x = _row_halves(rows)
    return _links(along_x @ along_z, np.broadcast_to(np.eye(4), along_z.shape))


def _row_halves(joints: Sequence[DHJoint]) -> tuple[Floats, Floats]:
    """(n, 4, 4) twice: ``Rz(theta) Tz(d)`` and ``Tx(a) Rx(alpha)`` of each row."""
    from scipy.spatial.transform import RigidTransform, Rotation

    zeros = np.zeros(len(joints))
    theta, d, a, alpha = np.array([(j.theta, j.d, j.a, j.alpha) for j in joints]).T
    along_z = RigidTransform.from_components(
        np.stack([zeros, zeros, d], axis=1), Rotation.from_euler("z", theta[:, None])
    )
    along_x = RigidTransform.from_components(
        np.stack([a, zeros, zeros], axis=1), Rotation.from_euler("x", alpha[:, None])
    )
    return along_z.as_matrix(), along_x.as_matrix()


def _links(before: Floats, after: Floats) -> Floats:
    """(n+1, 3, 4) links of joints with the constants ``before`` and ``after`` their motion."""
    identity = np.eye(4)[None]
    links: Floats = np.concatenate([identity, after])[:, :3] @ np.concatenate([before, identity])
    return links


@lru_cache(maxsize=256)
def _cached_arm(joints: tuple[DHJoint, ...]) -> DHArm:
    check_rows(joints)
    unlimited = np.tile([-np.inf, np.inf], (len(joints), 1))
    model = arm_model(
        standard_links(joints), prismatic_rows(joints), unlimited, hold_prismatic=True
    )
    return DHArm(model, _row_halves(joints)[1])
