"""The joints of a robot for the edge kernels: frames that are rotated about z."""

import numpy as np

from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.edges import (
    JOINT_NUMBERS,
    JOINT_OFFSET,
    JOINT_PARENT,
    JOINT_PRISMATIC,
    JOINT_RATIO,
    JOINT_TILT_COS,
    JOINT_TILT_SIN,
    JOINT_TWIST_COS,
    JOINT_TWIST_SIN,
    JOINT_TWISTS,
    JOINT_VARIABLE,
    JOINT_X,
    JOINT_Z,
)
from jointwise.kernels.layout.tree import Tree
from jointwise.model.tree_poses import motions, square


def edge_joints(tree: Tree, base: Floats) -> tuple[list[tuple[int, Floats]], Floats, Floats]:
    """The joints that move, in the form of ``EdgeModel``.

    Args:
        tree: The robot.
        base: (4, 4) pose of the base, world frame.

    Returns:
        For the base and each joint of the tree, the frame that carries its link group, and the pose
        of the group in it before the frame is rotated about z; (b, 13) the joints; and
        (b+1, 4, 4) the rotations about z, which multiply coordinates in the frames.
    """
    carried: list[tuple[int, Floats]] = [(0, base)]  # of the base and of each joint
    rows: list[Floats] = []
    angles: list[tuple[float, float, float]] = []  # phi, tilt and theta: Rz(phi) Rx(tilt) Rz(theta)
    offsets: list[Floats] = []
    for j, parent in enumerate(tree.parents.tolist()):
        frame, transform = carried[parent + 1]
        placement = transform @ square(tree.placements[j])
        prismatic = bool(tree.kinds[j] == PRISMATIC)
        if tree.ratios[j] == 0.0:  # fixed, such as a held thing
            value = np.array([tree.offsets[j]])
            carried.append((frame, placement @ motions(np.array([prismatic]), value)[0]))
            continue
        row = np.zeros(JOINT_NUMBERS)
        row[[JOINT_PARENT, JOINT_PRISMATIC, JOINT_VARIABLE]] = frame, prismatic, tree.variables[j]
        row[[JOINT_OFFSET, JOINT_RATIO]] = tree.offsets[j], tree.ratios[j]
        rows.append(row)
        angles.append(_euler(placement[:3, :3]))
        offsets.append(placement[:3, 3])
        carried.append((len(rows), np.eye(4)))
    own = np.zeros(len(rows) + 1)  # the rotation of each frame about its z
    for i in range(len(rows), 0, -1):  # the first child is examined last
        parent = int(rows[i - 1][JOINT_PARENT])
        own[parent] = angles[i - 1][0]
    own[0] = 0.0
    for i, row in enumerate(rows, 1):
        if row[JOINT_PRISMATIC]:
            own[i] = -angles[i - 1][2]
    for i, (row, (phi, tilt, theta)) in enumerate(zip(rows, angles, strict=True), 1):
        twist = phi - own[int(row[JOINT_PARENT])]
        row[[JOINT_TILT_COS, JOINT_TILT_SIN]] = np.cos(tilt), np.sin(tilt)
        row[[JOINT_TWIST_COS, JOINT_TWIST_SIN]] = np.cos(twist), np.sin(twist)
        row[JOINT_TWISTS] = twist != 0.0
        row[JOINT_X : JOINT_Z + 1] = _about_z(-phi)[:3, :3] @ offsets[i - 1]
        if not row[JOINT_PRISMATIC]:
            row[JOINT_OFFSET] += theta + own[i]
    turned = np.array([_about_z(-angle) for angle in own])
    return carried, np.array(rows).reshape(-1, JOINT_NUMBERS), turned


def _euler(rotation: Floats) -> tuple[float, float, float]:
    """(phi, tilt, theta) with Rz(phi) Rx(tilt) Rz(theta) the rotation (3, 3)."""
    x, y, z = rotation[:, 2]
    phi = float(np.arctan2(x, -y)) if x != 0.0 or y != 0.0 else 0.0
    tilt = float(np.arctan2(np.hypot(x, y), z))
    c, s = np.cos(phi), np.sin(phi)
    theta = float(
        np.arctan2(
            -(c * rotation[0, 1] + s * rotation[1, 1]), c * rotation[0, 0] + s * rotation[1, 0]
        )
    )
    return phi, tilt, theta


def _about_z(angle: float) -> Floats:
    pose = np.eye(4)
    pose[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return pose
