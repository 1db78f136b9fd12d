"""Names of an arm's solutions: on which side of each singularity they are."""

import numpy as np

from jointwise.engines.serial.forward import joint_frames
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.closed_form import A_FIRST, PARALLEL, SPHERICAL
from jointwise.model.arm import ArmModel


def branch_name(arm: ArmModel, q: Floats) -> str:
    """Which of the solutions of a pose this is, such as "shoulder left, elbow up, wrist flipped".

    - Seen from the first axis towards the wrist, axis 2 points to the left or to the right.
    - The elbow is above or below the line from shoulder to wrist, base frame; to its left or
      right if the arm moves in a horizontal plane. A prismatic joint 3 has no elbow.
    - The wrist is flipped where axis 4 · (axis 5 x axis 6) is negative, else straight.

    Args:
        arm: The arm.
        q: (n,) joint values [rad, m].

    Returns:
        The name; empty for an arm whose solutions are not told apart like that.
    """
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


def _elbow_side(axis: Floats, shoulder: Floats, elbow: Floats, wrist: Floats) -> str:
    """Where the elbow is, seen from the line between the axes through shoulder and wrist."""
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
