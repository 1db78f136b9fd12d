"""How far a pose is outside a tolerance box: a slow, obvious twin that shares no code."""

from math import inf

import numpy as np
from scipy.spatial.transform import Rotation

# The six kinds of boxes that tests and benchmarks ask for: what is free, [m] and [rad].
BOXES = {
    "free roll": {"rotation": (0.0, 0.0, inf)},
    "tilt 15°": {"rotation": (0.26, 0.26, 0.0)},
    "free yaw": {"rotation": (0.0, inf, 0.0)},
    "slab": {"position": (inf, inf, 0.01)},
    "position": {"position": 0.02},
    "everything": {"position": (0.02, (-0.01, 0.03), 0.0), "rotation": (0.2, (-0.1, 0.3), inf)},
}


def ranges(given):
    """(3, 2) low and high ends, from one number, or from three numbers or pairs."""
    entries = given if np.iterable(given) else [given] * 3
    return np.array([entry if np.iterable(entry) else (-entry, entry) for entry in entries])


def turn_axis(rotation):
    """The axis of the widest range; z before y before x."""
    widths = [min(high - low, 2.0 * np.pi) for low, high in ranges(rotation)]
    return max((2, 1, 0), key=lambda axis: widths[axis])


def deviation(target, pose, rotation, frame):
    """Position (3,) [m], and turn and tilt (3,) [rad], of a pose (4, 4) from a target (4, 4)."""
    axis = turn_axis(rotation)
    moved = Rotation.from_matrix(target[:3, :3]).inv() * Rotation.from_matrix(pose[:3, :3])
    seen = moved if frame == "target" else moved.inv()
    unit = np.eye(3)[axis]
    to = seen.apply(unit)
    across = np.cross(unit, to)
    sine = np.linalg.norm(across)
    tilt = across / max(sine, 1e-300) * np.arctan2(sine, to @ unit)
    turn = (Rotation.from_rotvec(tilt).inv() * seen).as_rotvec()
    angles = (tilt + turn) * (1.0 if frame == "target" else -1.0)
    axes = target[:3, :3] if frame == "target" else pose[:3, :3]
    return axes.T @ (pose[:3, 3] - target[:3, 3]), angles


def outside(target, pose, position=0.0, rotation=0.0, frame="target"):
    """(position error [m], orientation error [rad]): the lengths of what is outside the box."""
    away, angles = deviation(target, pose, rotation, frame)
    axis, errors = turn_axis(rotation), []
    for values, bounds, turns in ((away, ranges(position), None), (angles, ranges(rotation), axis)):
        excess = []
        for k, (value, (low, high)) in enumerate(zip(values, bounds, strict=True)):
            same = [value] if k != turns else [value - 2.0 * np.pi, value, value + 2.0 * np.pi]
            excess.append(min(max(low - each, each - high, 0.0) for each in same))
        errors.append(float(np.linalg.norm(excess)))
    return tuple(errors)
