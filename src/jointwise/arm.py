"""The arm in numbers: what kernels work on, from DH rows or from links and limits."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import pi
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jointwise import kernels
from jointwise.errors import InvalidInputError
from jointwise.joints import DHJoint
from jointwise.kernels import HELD, PRISMATIC, REVOLUTE, Floats

# A turn by a radian counts as much as a shift by this share of the arm's size.
RADIAN = 0.2


class Arm(NamedTuple):
    """An arm of n joints, each moving about or along its own z. Arrays are read-only.

    Attributes:
        block: All its numbers in a row, for kernels alone: they take a writable array faster.
        links: (n+1, 3, 4) from the frame joint i-1 carries to the frame joint i moves in.
        kinds: (n,) what each joint does.
        bounds: (n, 9) limits, and their directions for a joint that turns.
        weights: How much the tip and its three axes count in a pose [1, m²].
        reach: The most the tip can be from the first joint [m].
        length: What a turn by a radian counts as [m].
        home: (n,) the middle of each range, 0 where there is none.
    """

    block: Floats
    links: Floats
    kinds: Floats
    bounds: Floats
    weights: tuple[float, ...]
    reach: float
    length: float
    home: Floats


def arm_from(links: Floats, kinds: Floats, lower: Floats, upper: Floats) -> Arm:
    """Everything that follows from links, kinds of joints, and limits."""
    n = len(kinds)
    slides = kinds != REVOLUTE
    size = np.linalg.norm(links[1:, :, 3], axis=1).sum()
    length = float(RADIAN * size) or 1.0
    farthest = np.where(slides, np.maximum(np.abs(lower), np.abs(upper)), 0.0).sum()
    finite = np.isfinite(lower) & np.isfinite(upper)
    with np.errstate(invalid="ignore"):
        middle = np.where(finite, 0.5 * (lower + upper), np.clip(0.0, lower, upper))

    # The golden ratio's relative for n dimensions: its powers are far from every fraction.
    golden = 2.0
    for _ in range(60):
        golden = (1.0 + golden) ** (1.0 / (n + 1))
    strides = np.append(golden ** -np.arange(1.0, n + 1.0), 0.5)
    reach, springs = float(size + farthest), np.zeros((n, 3))
    pieces = (links, kinds, _bounds(slides, lower, upper), springs, [length, reach], strides)
    block = np.concatenate([np.ravel(piece) for piece in pieces])
    views = tuple(part.view() for part in kernels.parts(block, n)[0])
    for array in (*views, middle):
        array.setflags(write=False)
    weights = (1.0, *[0.5 * length**2] * 3)
    return Arm(block, views[0], views[1], views[2], weights, reach, length, middle)


def _bounds(slides: NDArray[np.bool_], lower: Floats, upper: Floats) -> Floats:
    """(n, 9) limits, their directions, the middle's, and the cosine of half the range."""
    stopped = ~slides & (upper - lower < 2.0 * pi)
    low, high = np.where(stopped, lower, 0.0), np.where(stopped, upper, 0.0)
    ends = (low, high, 0.5 * (low + high))
    half = np.where(stopped, np.cos(0.5 * (high - low)), -2.0)
    return np.stack([lower, upper, *(f(end) for end in ends for f in (np.cos, np.sin)), half], 1)


class DHArm(NamedTuple):
    """An arm of DH rows.

    Attributes:
        arm: Its numbers. Without limits, and sliding joints are held where they are.
        ends: (n, 4, 4) from the frame joint i carries to DH frame i+1.
    """

    arm: Arm
    ends: Floats


def arm_of(joints: Iterable[DHJoint]) -> DHArm:
    """The numbers of an arm given as DH rows; an arm seen lately is not converted again."""
    rows = rows_of(joints)
    try:
        return _converted(rows)
    except TypeError:  # a row that cannot be hashed is no DHJoint
        check_rows(rows)
        raise


def rows_of(joints: Iterable[DHJoint]) -> tuple[DHJoint, ...]:
    """DH rows as a tuple; what is in it is not yet known."""
    try:
        return tuple(joints)
    except TypeError:
        raise InvalidInputError(
            f"joints is {joints!r}: expected a sequence of DHJoint, base to tip."
        ) from None


def check_rows(joints: Sequence[DHJoint]) -> None:
    """At least one row, and nothing but DHJoints."""
    if not joints:
        raise InvalidInputError("joints is empty: expected at least one DHJoint.")
    for i, joint in enumerate(joints):
        if not isinstance(joint, DHJoint):
            raise InvalidInputError(
                f"joints[{i}] is {joint!r}: expected DHJoint(theta, d, a, alpha, joint_type)."
            )


def kinds_of(joints: Sequence[DHJoint]) -> Floats:
    """(n,) the kind of each row's joint."""
    sliding = [joint.joint_type == "prismatic" for joint in joints]
    return np.where(sliding, float(PRISMATIC), float(REVOLUTE))


def dh_halves(joints: Sequence[DHJoint]) -> tuple[Floats, Floats]:
    """(n, 4, 4) twice: the part of each row along z, theta and d, and along x, a and alpha."""
    from scipy.spatial.transform import RigidTransform, Rotation

    nothing = np.zeros(len(joints))
    theta, d, a, alpha = np.array([(j.theta, j.d, j.a, j.alpha) for j in joints]).T
    along_z = RigidTransform.from_components(
        np.stack([nothing, nothing, d], axis=1), Rotation.from_euler("z", theta[:, None])
    )
    along_x = RigidTransform.from_components(
        np.stack([a, nothing, nothing], axis=1), Rotation.from_euler("x", alpha[:, None])
    )
    return along_z.as_matrix(), along_x.as_matrix()


def chained(before: Floats, after: Floats) -> Floats:
    """(n+1, 3, 4) links of joints that each stand between a ``before`` and an ``after``."""
    end = np.eye(4)[None]
    links: Floats = np.concatenate([end, after])[:, :3] @ np.concatenate([before, end])
    return links


def roll_pitch_yaw(link: Floats) -> Floats:
    """(3,) the turn of a link as angles about fixed x, y, z [rad], as URDF has them.

    Each is taken of what the ones before leave over, so that together they are exact where
    roll and yaw can hardly be told apart.
    """
    yaw = np.arctan2(link[1, 0], link[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    x, y = c * link[0, :3] + s * link[1, :3], c * link[1, :3] - s * link[0, :3]
    return np.array([np.arctan2(-y[2], y[1]), np.arctan2(-link[2, 0], x[0]), yaw])


@lru_cache(maxsize=256)
def _converted(joints: tuple[DHJoint, ...]) -> DHArm:
    check_rows(joints)
    # The constant theta and d of a row act along the axis of its motion, so they may
    # stand before it: link i is the a and alpha of row i-1, then the theta and d of row i.
    along_z, along_x = dh_halves(joints)
    kinds = kinds_of(joints)
    free = np.full(len(joints), np.inf)
    held = np.where(kinds == PRISMATIC, float(HELD), kinds)
    return DHArm(arm_from(chained(along_z, along_x), held, -free, free), along_x)
