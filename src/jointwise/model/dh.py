"""An arm model from Denavit-Hartenberg rows."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.model import degrees
from jointwise.model.arm import ArmModel, arm_model
from jointwise.model.joints import DHJoint
from jointwise.model.kinematic_tree import LinkPlace, MovingJoint, TreeModel, tree_model

# A row of a DH table, or its numbers theta, d, a, alpha, and the joint type if it is prismatic.
Row: TypeAlias = DHJoint | Sequence[Any]


class DHArm(NamedTuple):
    """An arm from DH rows, for ``ccd_solve`` and ``forward_kinematics``.

    Attributes:
        model: Its numbers: no limits, and prismatic joints are held at their start value.
        row_ends: (n, 4, 4) from the frame that joint i carries to DH frame i+1.
    """

    model: ArmModel
    row_ends: Floats


def dh_arm(joints: Iterable[Row]) -> DHArm:
    """The arm of some DH rows; recent ones are cached."""
    rows = _as_tuple(joints)
    try:
        return _cached_arm(rows)
    except TypeError:  # a list or an array cannot be hashed
        return _cached_arm(as_rows(rows))


def as_rows(joints: Iterable[Row]) -> tuple[DHJoint, ...]:
    """DH rows, at least one, each a ``DHJoint`` or its numbers (theta, d, a, alpha)."""
    rows = _as_tuple(joints)
    if all(isinstance(row, DHJoint) for row in rows) and rows:
        return cast("tuple[DHJoint, ...]", rows)
    if not rows:
        raise InvalidInputError("joints is empty: expected at least one DHJoint.")
    with degrees.silenced():  # one warning about all of them is below
        made = tuple(_as_joint(i, row) for i, row in enumerate(rows))
    found = [
        f"{name} of joints[{i}] is {angle:g}"
        for i, (row, joint) in enumerate(zip(rows, made, strict=True))
        for name, angle in (("theta", joint.theta), ("alpha", joint.alpha))
        if row is not joint and degrees.suspected(angle)
    ]
    degrees.warn(found, "use numpy.radians")
    return made


def _as_tuple(joints: Iterable[Row]) -> tuple[Row, ...]:
    try:
        return tuple(joints)
    except TypeError:
        raise InvalidInputError(
            f"joints is {joints!r}: expected a sequence of DHJoint, base to end effector."
        ) from None


def _as_joint(i: int, row: Row) -> DHJoint:
    if isinstance(row, DHJoint):
        return row
    try:
        theta, d, a, alpha, *joint_type = row
        return DHJoint(theta, d, a, alpha, *joint_type)
    except InvalidInputError as problem:
        raise InvalidInputError(f"joints[{i}]: {problem}") from None
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"joints[{i}] is {row!r}: expected DHJoint(theta, d, a, alpha, joint_type), or these "
            "as a tuple."
        ) from None


def prismatic_rows(joints: Sequence[DHJoint]) -> Bools:
    """(n,) which rows are prismatic."""
    return np.array([joint.joint_type == "prismatic" for joint in joints])


def standard_links(rows: Sequence[DHJoint]) -> Floats:
    """(n+1, 3, 4) links of standard rows, ``Rz(theta) Tz(d) Tx(a) Rx(alpha)`` each.

    The constants theta and d of a row commute with its motion, so they can precede it: link i
    combines a and alpha of row i-1 with theta and d of row i.
    """
    along_z, along_x = _row_halves(rows)
    return _links(along_z, along_x)


def modified_links(rows: Sequence[DHJoint]) -> Floats:
    """(n+1, 3, 4) links of modified (Craig) rows, ``Rx(alpha) Tx(a) Rz(theta) Tz(d)`` each."""
    along_z, along_x = _row_halves(rows)
    return _links(along_x @ along_z, np.broadcast_to(np.eye(4), along_z.shape))


def _row_halves(joints: Sequence[DHJoint]) -> tuple[Floats, Floats]:
    """(n, 4, 4) twice: ``Rz(theta) Tz(d)`` and ``Tx(a) Rx(alpha)`` of each row."""
    theta, d, a, alpha = np.array([(j.theta, j.d, j.a, j.alpha) for j in joints]).T
    return _screws(2, theta, d), _screws(0, alpha, a)


def _screws(axis: int, angles: Floats, lengths: Floats) -> Floats:
    """(n, 4, 4) rotations about an axis, 0 for x to 2 for z, and translations along it."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    poses = np.tile(np.eye(4), (len(angles), 1, 1))
    cos, sin = np.cos(angles), np.sin(angles)
    poses[:, j, j], poses[:, j, k], poses[:, k, j], poses[:, k, k] = cos, -sin, sin, cos
    poses[:, axis, 3] = lengths
    return poses


def _links(before: Floats, after: Floats) -> Floats:
    """(n+1, 3, 4) links of joints with the constants ``before`` and ``after`` their motion."""
    identity = np.eye(4)[None]
    links: Floats = np.concatenate([identity, after])[:, :3] @ np.concatenate([before, identity])
    return links


def dh_model(
    rows: Sequence[DHJoint],
    modified: bool,
    limits: Floats,
    frames: tuple[Floats | None, Floats | None],
    names: tuple[str, ...],
    title: str,
    home: Mapping[str, float] | None = None,
) -> TreeModel:
    """The robot of DH rows: links ``base_link``, ``link1``, ``link2``, ... and ``tip``.

    Args:
        rows: DH rows from base to end effector.
        modified: Whether they are modified (Craig) rows.
        limits: (n, 2) joint limits [rad, m].
        frames: (4, 4) pose of the first row's frame in the base frame, and pose of the end
            effector in the last row's frame; None for the identity.
        names: One name per joint.
        title: The robot's name.
        home: The home configuration by joint [rad, m]; None if unknown.
    """
    links = modified_links(rows) if modified else standard_links(rows)
    base, tool = frames
    if base is not None:
        links[0] = base[:3] @ np.vstack([links[0], [0, 0, 0, 1]])
    if tool is not None:
        links[-1] = links[-1] @ tool
    prismatic = prismatic_rows(rows)
    joints = [
        MovingJoint(name, i - 1, link, bool(slides), (lower, upper), np.inf, None)
        for i, (name, link, slides, (lower, upper)) in enumerate(
            zip(names, links[:-1], prismatic, limits.tolist(), strict=True)
        )
    ]
    places, parent = {"base_link": LinkPlace(-1, np.eye(4)[:3], None)}, "base_link"
    for i in range(len(rows)):
        places[f"link{i + 1}"] = LinkPlace(i, np.eye(4)[:3], parent)
        parent = f"link{i + 1}"
    places["tip"] = LinkPlace(len(rows) - 1, links[-1], parent)
    return tree_model(title, title, joints, places, False, home)


@lru_cache(maxsize=256)
def _cached_arm(rows: tuple[Row, ...]) -> DHArm:
    joints = as_rows(rows)
    unlimited = np.tile([-np.inf, np.inf], (len(joints), 1))
    model = arm_model(
        standard_links(joints), prismatic_rows(joints), unlimited, hold_prismatic=True
    )
    return DHArm(model, _row_halves(joints)[1])
