"""Names of an arm's solutions, by their side of each singularity."""

import numpy as np

from jointwise.engines.serial.forward import joint_frames
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.closed_form import A_FIRST, PARALLEL, SPHERICAL
from jointwise.model.arm import ArmModel

# Number of joints of an arm with other names, and largest cosine of axes at right angles.
SEVEN, RIGHT_ANGLE_TOL = 7, 1e-6


def branch_name(arm: ArmModel, q: Floats) -> str:
    """The name of one of the solutions of a pose, such as "shoulder left, elbow up, wrist flipped".

    - Seen from the first axis towards the wrist, axis 2 points to the left or to the right.
    - The elbow is above or below the line from shoulder to wrist, base frame; to its left or
      right if the arm moves in a horizontal plane. An arm whose joint 3 is prismatic has no elbow.
    - The wrist is flipped where axis 4 · (axis 5 x axis 6) is negative, else straight.

    Arms with seven revolute joints, each at right angles to the next, have other names; see
    ``_flips``.

    Args:
        arm: The arm.
        q: (n,) joint values [rad, m].

    Returns:
        The name; empty for an arm whose solutions have no such names.
    """
    if arm.n == SEVEN and not arm.prismatic.any():
        return _flips(joint_frames(arm, q)[:, :3, 2])
    form = arm.closed_form
    if form is None or form.redundant or arm.prismatic[:2].any():
        return ""
    structure, lead, backward = form.packed[:3]
    if backward or (structure != PARALLEL and (structure, lead) != (SPHERICAL, A_FIRST)):
        return ""
    frames = joint_frames(arm, q)
    axes, origins = frames[:, :3, 2], frames[:, :3, 3]
    wrist = _crossing(origins[4], axes[4], origins[5], axes[5])
    side = np.cross(axes[0], wrist - origins[0]) @ axes[1]
    parts = [f"shoulder {'left' if side > 0.0 else 'right'}"]
    if not arm.prismatic[2]:
        end = origins[3] if structure == PARALLEL else wrist
        parts.append(f"elbow {_elbow_side(axes[2], origins[1], origins[2], end)}")
    flipped = axes[3] @ np.cross(axes[4], axes[5]) < 0.0
    return ", ".join([*parts, f"wrist {'flipped' if flipped else 'straight'}"])


def _flips(axes: Floats) -> str:
    """Which of shoulder, elbow and wrist of seven joints are flipped.

    They are joints 2, 4 and 6. Each can be mirrored while its two neighbours turn by half a turn.
    It is flipped where its axis · (the axis before x the axis after) is negative, else straight.
    The arm angle is not part of the name, because it is continuous.

    Args:
        axes: (7, 3) the axes of the joints.

    Returns:
        The name; empty if two consecutive axes are not at right angles.
    """
    if (np.abs((axes[:-1] * axes[1:]).sum(axis=1)) > RIGHT_ANGLE_TOL).any():
        return ""
    middle, signs = axes[1::2], np.cross(axes[:-2:2], axes[2::2])
    flipped = (middle * signs).sum(axis=1) < 0.0
    names = zip(("shoulder", "elbow", "wrist"), flipped.tolist(), strict=True)
    return ", ".join(f"{name} {'flipped' if each else 'straight'}" for name, each in names)


def _elbow_side(axis: Floats, shoulder: Floats, elbow: Floats, wrist: Floats) -> str:
    """The side of the elbow, relative to the line between the axes through shoulder and wrist."""
    along = np.cross(np.cross(axis, wrist - shoulder), axis)
    normal = np.cross(along, axis)
    offset = normal * (normal @ (elbow - shoulder))
    if abs(axis[2]) > 0.999:
        return "left" if np.cross(along, offset)[2] > 0.0 else "right"
    return "up" if offset[2] > 0.0 else "down"


def _crossing(p: Floats, u: Floats, r: Floats, v: Floats) -> Floats:
    """The point of the line (p, u) that is closest to the line (r, v); p if they are parallel."""
    normal = np.cross(u, v)
    square = float(normal @ normal)
    along = float(np.cross(r - p, v) @ normal) / square if square > 1e-12 else 0.0
    point: Floats = p + along * u
    return point
