"""Targets that are seen from several bases: positions, aims or poses."""

from typing import Any, NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.reach.orientations import UP
from jointwise.targets import KINDS, AnyTargets, PackedTarget, TargetKind, aim, pack_targets
from jointwise.targets.target import EQUAL_WEIGHT, Target

POSITION, AIM, POSE = (KINDS[name] for name in ("position", "aim", "pose"))
# Rows of the Jacobian that count for the manipulability at a target.
JACOBIAN_ROWS = {POSITION: 3, AIM: 5, POSE: 6}


class Places(NamedTuple):
    """Many targets of one kind, as frames.

    Attributes:
        frames: (m, 4, 4) their poses; of an aim, z is its direction; of a position, unrotated.
        kind: A position, an aim or a pose.
        axis: (3,) the axis of the end effector that aims point, its own frame.
    """

    frames: Floats
    kind: TargetKind
    axis: Floats

    def packed(self, frames: Floats) -> PackedTarget:
        """Targets of this kind at other frames (k, 4, 4), for the engines."""
        if self.kind is POSE:
            return pack_targets(frames)
        points = np.ascontiguousarray(frames[:, :3, 3])
        if self.kind is POSITION:
            return pack_targets(points)
        return pack_targets(aim(points, frames[:, :3, 2], self.axis))


def places(targets: AnyTargets) -> Places:
    """Checked targets.

    Raises:
        InvalidInputError: They are of another kind, or have weights or points of the end effector.
    """
    given: Any = targets
    is_listed = isinstance(given, (list, tuple)) and any(isinstance(each, Target) for each in given)
    if not is_listed and not isinstance(given, Target):
        frames, are_poses = checks.places("targets", given)
        return Places(frames, POSE if are_poses else POSITION, UP)
    packed = pack_targets(given)
    kind, values, weight, point, to = packed
    is_plain = weight is EQUAL_WEIGHT and point is None and to is None
    if kind not in JACOBIAN_ROWS or not is_plain:
        what = kind.plural if kind not in JACOBIAN_ROWS else "a weight, a point or another frame"
        raise InvalidInputError(
            f"targets has {what}: expected positions, aims or poses of the end effector alone."
        )
    if kind is not AIM:
        frames, _ = checks.places("targets", kind.as_array(values))
        return Places(frames, kind, UP)
    kind.check(values, "targets")
    frames = np.tile(np.eye(4), (len(values), 1, 1))
    frames[:, :3, 3], frames[:, :3, 2] = values[:, 0], values[:, 1]
    aside = np.where(np.abs(values[:, 1, :1]) < 0.7, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    frames[:, :3, 0] = np.cross(aside, values[:, 1])
    frames[:, :3, 0] /= np.linalg.norm(frames[:, :3, 0], axis=1, keepdims=True)
    frames[:, :3, 1] = np.cross(frames[:, :3, 2], frames[:, :3, 0])
    return Places(frames, kind, values[0, 2].copy() if len(values) else UP)
