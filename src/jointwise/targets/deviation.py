"""Deviations from a pose with a tolerance box: six numbers, three of position, three of rotation.

The rotation is a turn about one axis and a tilt of that axis, which has components along the other
two; ``within`` has the definition. Inside these functions, x, y and z are in the cyclic order that
puts the axis of the turn last.
"""

from math import inf

import numpy as np

from jointwise.kernels.layout.arrays import Bools, Floats

# Rows 4 and 5 of a packed target end in the index of the frame, and of the axis of the turn.
FLAGS = 3
# Substitutes for infinite bounds in a packed target, whose numbers are finite [m], [rad].
FREE_POSITION, FREE_ROTATION = 1e8, 10.0
# Permutations that put x, y or z last.
LAST = np.eye(3)[[[1, 2, 0], [2, 0, 1], [0, 1, 2]]]


def tolerance_box(packed: Floats) -> Floats:
    """(..., 4, 3) the box of packed targets: position from and to [m], rotation from and to [rad].

    Free ranges are infinite.
    """
    box = np.array(packed[..., 4:, :3])
    for rows, free in ((slice(0, 2), FREE_POSITION), (slice(2, 4), FREE_ROTATION)):
        part = box[..., rows, :]
        part[part <= -free], part[part >= free] = -inf, inf
    return box


def poses_at(packed: Floats, deviations: Floats) -> Floats:
    """(..., 4, 4) the poses that deviate from a target.

    Args:
        packed: (8, 4) a packed pose with a box, or (..., 8, 4).
        deviations: (..., 6) position [m], and turn and tilt [rad], along x, y, z of the frame.
    """
    in_tool, last = _frame_and_order(packed)
    rotation = (last @ deviations[..., 3:, None])[..., 0]
    tilt = np.where([True, True, False], rotation, 0.0)
    first, second = (
        np.where(in_tool, rotation - tilt, tilt),
        np.where(in_tool, tilt, rotation - tilt),
    )
    R_base_target = packed[..., :3, :3]
    R_base_link = (
        R_base_target @ last.swapaxes(-1, -2) @ _rotations(first) @ _rotations(second) @ last
    )
    poses = np.zeros((*R_base_link.shape[:-2], 4, 4))
    axes = np.where(in_tool[..., None], R_base_link, R_base_target)
    poses[..., :3, :3], poses[..., 3, 3] = R_base_link, 1.0
    poses[..., :3, 3] = packed[..., :3, 3] + (axes @ deviations[..., :3, None])[..., 0]
    return poses


def deviations_of(packed: Floats, poses: Floats) -> Floats:
    """(..., 6) how poses (..., 4, 4) deviate from a target: the inverse of ``poses_at``."""
    in_tool, last = _frame_and_order(packed)
    R_base_target, R_base_link = packed[..., :3, :3], poses[..., :3, :3]
    axes = np.where(in_tool[..., None], R_base_link, R_base_target).swapaxes(-1, -2)
    shift = (axes @ (poses[..., :3, 3] - packed[..., :3, 3])[..., None])[..., 0]
    turned = R_base_target.swapaxes(-1, -2) @ R_base_link
    # Seen from the tool, the target deviates by the opposite turn and tilt.
    turned = np.where(in_tool[..., None], turned.swapaxes(-1, -2), turned)
    turned = last @ turned @ last.swapaxes(-1, -2)
    x, y, z = np.moveaxis(turned[..., 2], -1, 0)  # where the axis of the turn points
    sine = np.hypot(x, y)
    scale = np.where(sine > 0.0, np.arctan2(sine, z) / np.where(sine > 0.0, sine, 1.0), 1.0)
    turn = np.arctan2(turned[..., 1, 0] - turned[..., 0, 1], turned[..., 0, 0] + turned[..., 1, 1])
    rotation = np.stack([-scale * y, scale * x, turn], axis=-1)
    rotation = np.where(in_tool, -rotation, rotation)
    rotation = (last.swapaxes(-1, -2) @ rotation[..., None])[..., 0]
    return np.concatenate([shift, rotation], axis=-1)


def _frame_and_order(packed: Floats) -> tuple[Bools, Floats]:
    """(..., 1) whether the frame is the tool's; (..., 3, 3) puts the axis of the turn last."""
    return packed[..., 4, FLAGS, None] > 0.0, LAST[packed[..., 5, FLAGS].astype(int)]


def _rotations(vectors: Floats) -> Floats:
    """(..., 3, 3) rotations about vectors (..., 3) by their lengths [rad]."""
    angle = np.linalg.norm(vectors, axis=-1)[..., None, None]
    x, y, z = np.moveaxis(vectors, -1, 0)
    zero = np.zeros_like(x)
    cross = np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]])
    cross = np.moveaxis(cross, (0, 1), (-2, -1))
    half = np.sinc(0.5 * angle / np.pi)
    rotations: Floats = np.eye(3) + np.sinc(angle / np.pi) * cross + 0.5 * half**2 * cross @ cross
    return rotations
