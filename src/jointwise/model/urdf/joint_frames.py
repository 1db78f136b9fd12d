"""Frames of the joints of a URDF, for a chain and for a whole robot."""

from collections.abc import Sequence

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.model import degrees
from jointwise.model.checks import short
from jointwise.model.rotation import rotations_to_axes, rpy_matrix
from jointwise.model.urdf.reader import Joint

# A shorter vector is not accepted as a joint axis.
MIN_AXIS_LENGTH = 1e-9


def check_types(joints: Sequence[Joint]) -> None:
    """Refuse joints that are neither revolute, prismatic nor fixed."""
    for joint in joints:
        if joint.kind not in ("fixed", "revolute", "continuous", "prismatic"):
            raise joint.error(
                f"is of type {short(joint.kind)}: expected revolute, continuous, prismatic or "
                "fixed."
            )


def origins(joints: Sequence[Joint]) -> Floats:
    """(n, 4, 4) the frame of each joint in the frame of the link that carries it."""
    poses = np.tile(np.eye(4), (len(joints), 1, 1))
    poses[:, :3, 3] = _vectors(joints, "origin", "xyz", "0 0 0")
    poses[:, :3, :3] = rpy_matrix(_vectors(joints, "origin", "rpy", "0 0 0"))
    return poses


def axis_frames(joints: Sequence[Joint]) -> Floats:
    """(n, 4, 4) a rotation for each joint, whose z axis is the joint's axis."""
    axes = _vectors(joints, "axis", "xyz", "1 0 0")
    lengths = np.linalg.norm(axes, axis=1)
    for joint in (joints[i] for i in np.flatnonzero(lengths < MIN_AXIS_LENGTH).tolist()):
        text = joint.elements["axis"]["xyz"]
        raise joint.error(f"has the axis xyz={short(text)}: expected three numbers, not all zero.")
    frames = np.tile(np.eye(4), (len(joints), 1, 1))
    frames[:, :3, :3] = rotations_to_axes(axes / lengths[:, None])
    return frames


def _vectors(joints: Sequence[Joint], tag: str, attribute: str, default: str) -> Floats:
    """(n, 3) an attribute of each joint; n may be 0."""
    return np.reshape([joint.numbers(tag, attribute, default) for joint in joints], (-1, 3))


def warn_about_degrees(joints: Sequence[Joint], title: str) -> None:
    """Warn once if limits or rotations of a file look like degrees."""
    found = [
        f"{name} of joint {short(joint.name)} in {title} is {' '.join(f'{v:g}' for v in values)}"
        for joint in joints
        for name, values in (
            ("rpy", joint.numbers("origin", "rpy", "0 0 0")),
            ("limit", joint.limit() if joint.kind == "revolute" else []),
        )
        if any(map(degrees.suspected, values))
    ]
    degrees.warn(found, "convert them: angles in a URDF are in radians, such as 1.5708 for 90")
