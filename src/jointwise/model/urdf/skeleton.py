"""The numbers of the arm between two links of a URDF."""

from typing import NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Bools, Floats
from jointwise.model import degrees
from jointwise.model.checks import short
from jointwise.model.rotation import rpy_matrix
from jointwise.model.urdf.reader import Joint, Source
from jointwise.model.urdf.tips import default_tip
from jointwise.model.urdf.tree import Step, Tree

# A shorter vector is not accepted as a joint axis.
MIN_AXIS_LENGTH = 1e-9
# Half a turn about x: a joint seen from its child moves about or along the opposite axis.
FLIP = np.diag([1.0, -1.0, -1.0, 1.0])


class Skeleton(NamedTuple):
    """The numbers of an arm.

    Attributes:
        links: (n+1, 3, 4) as ``ArmModel.links``.
        prismatic: (n,) which joints are prismatic.
        limits: (n, 2) lower and upper joint limits [rad, m]; infinite where unlimited.
        names: One name per joint.
    """

    links: Floats
    prismatic: Bools
    limits: Floats
    names: tuple[str, ...]


def read(source: Source, base: str | None, tip: str | None) -> Skeleton:
    """The chain of joints between two links of a URDF; see ``Chain.from_urdf``."""
    tree = Tree(source)
    for link in (base, tip):
        if link is not None:
            tree.check_link(link)
    if tip is None:
        base, tip = default_tip(tree, base)
    steps = tree.path(base, tip)
    joints = [step.joint for step in steps]
    _check_types(joints, tree.title)
    skeleton = _skeleton(steps)
    _warn_about_degrees(joints, tree.title)
    return skeleton


def _check_types(joints: list[Joint], title: str) -> None:
    """Refuse joints that a chain cannot have, and a chain of fixed joints."""
    for joint in joints:
        if joint.kind not in ("fixed", "revolute", "continuous", "prismatic"):
            raise joint.error(
                f"is of type {short(joint.kind)}: expected revolute, continuous, prismatic or "
                "fixed."
            )
        if "mimic" in joint.elements and joint.kind != "fixed":
            leader = joint.elements["mimic"].get("joint", "")
            raise joint.error(
                f"mimics {short(leader)}: expected independent joints. Choose a base and a tip "
                "without a mimic joint between them."
            )
    if all(joint.kind == "fixed" for joint in joints):
        raise InvalidInputError(
            f"no joint moves between base and tip of {title}: expected at least one."
        )


def _skeleton(steps: list[Step]) -> Skeleton:
    """The joints that move, each about or along its own z; fixed joints are folded into links."""
    joints = [step.joint for step in steps]
    moving = [joint for joint in joints if joint.kind != "fixed"]
    origins = np.tile(np.eye(4), (len(steps), 1, 1))
    origins[:, :3, 3] = [joint.vector("origin", "xyz", "0 0 0") for joint in joints]
    origins[:, :3, :3] = rpy_matrix([joint.vector("origin", "rpy", "0 0 0") for joint in joints])
    axis_frames = iter(_axis_frames(moving))
    links, link = [], np.eye(4)
    for (joint, upward), origin in zip(steps, origins, strict=True):
        before, after = (np.eye(4), _inverse(origin)) if upward else (origin, np.eye(4))
        link = link @ before
        if joint.kind != "fixed":
            axis = next(axis_frames) @ FLIP if upward else next(axis_frames)
            links.append((link @ axis)[:3])
            link = axis.T  # the inverse of a rotation
        link = link @ after
    prismatic = np.array([joint.kind == "prismatic" for joint in moving])
    limits = np.array([joint.limit() for joint in moving])
    names = tuple(joint.name for joint in moving)
    return Skeleton(np.stack([*links, link[:3]]), prismatic, limits, names)


def _inverse(pose: Floats) -> Floats:
    """(4, 4) the inverse of a rigid transform."""
    inverse = np.eye(4)
    inverse[:3, :3] = pose[:3, :3].T
    inverse[:3, 3] = -pose[:3, :3].T @ pose[:3, 3]
    return inverse


def _axis_frames(joints: list[Joint]) -> Floats:
    """(n, 4, 4) for each joint a rotation whose z axis is the joint's axis."""
    axes = np.array([joint.vector("axis", "xyz", "1 0 0") for joint in joints])
    lengths = np.linalg.norm(axes, axis=1)
    for joint in (joints[i] for i in np.flatnonzero(lengths < MIN_AXIS_LENGTH)):
        text = joint.elements["axis"]["xyz"]
        raise joint.error(f"has the axis xyz={short(text)}: expected three numbers, not all zero.")
    z = axes / lengths[:, None]
    y = np.cross(z, np.eye(3)[np.abs(z).argmin(axis=1)])
    y /= np.linalg.norm(y, axis=1)[:, None]
    frames = np.tile(np.eye(4), (len(joints), 1, 1))
    frames[:, :3, :3] = np.stack([np.cross(y, z), y, z], axis=2)
    # Without rounding for the two most frequent axes: the identity for z, half a turn for -z.
    frames[np.abs(z[:, 2]) == 1.0, :3, :3] = np.eye(3)
    frames[z[:, 2] == -1.0, [[1], [2]], [[1], [2]]] = -1.0
    return frames


def _warn_about_degrees(joints: list[Joint], title: str) -> None:
    """Warn once if limits or rotations of a file look like degrees."""
    found = [
        f"{name} of joint {short(joint.name)} in {title} is {' '.join(f'{v:g}' for v in values)}"
        for joint in joints
        for name, values in (
            ("rpy", joint.vector("origin", "rpy", "0 0 0")),
            ("limit", joint.limit() if joint.kind == "revolute" else []),
        )
        if any(map(degrees.suspected, values))
    ]
    degrees.warn(found, "convert them: a URDF has radians, such as 1.5708 for 90")
