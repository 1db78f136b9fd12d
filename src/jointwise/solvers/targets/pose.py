"""A pose: position and orientation of the end effector are prescribed."""

from typing import Any

import numpy as np

from jointwise.kernels.shapes import Floats, Weights
from jointwise.model import checks
from jointwise.solvers.targets.kind import Target, TargetKind, Targets


class PoseKind(TargetKind):
    """(4, 4) a rigid transform, base frame."""

    name, plural, directions = "pose", "poses", 3
    array_shape = (4, 4)
    columns = {  # noqa: RUF012
        "rpy": ("roll", "pitch", "yaw"),
        "quaternion": ("qx", "qy", "qz", "qw"),
    }

    def pack(self, target: Any) -> Floats:
        """(4, 4)."""
        packed: Floats = target
        return packed

    def pack_many(self, targets: Any) -> Floats:
        """(m, 4, 4)."""
        packed: Floats = targets
        return packed

    def check(self, packed: Floats) -> None:
        """A rigid transform of finite numbers."""
        checks.all_finite("target", packed)
        checks.pose("target", packed)

    def weights(self, angular_scale: float) -> Weights:
        """Of a point and three axes; a small rotation moves two of them."""
        weight = 0.5 * angular_scale**2
        return (1.0, weight, weight, weight)

    def at_pose(self, T_base_target: Floats) -> Target:
        """The pose itself."""
        return T_base_target

    def orientation_error(self, T_base_tip: Floats, T_base_target: Floats) -> Floats:
        """The angle of the rotation between the two.

        From the chord, |A - B| = sqrt(8) sin(angle / 2): accurate for small angles, where arccos
        is not.
        """
        chord = np.linalg.norm(T_base_tip[..., :3, :3] - T_base_target[:3, :3], axis=(-2, -1))
        angle: Floats = 2.0 * np.arcsin(np.minimum(chord / np.sqrt(8.0), 1.0))
        return angle

    def from_columns(
        self, positions: Floats, group: str, values: Floats, in_degrees: bool
    ) -> Targets:
        """(m, 4, 4), from angles about fixed x, y, z or from quaternions of any length, w last."""
        from scipy.spatial.transform import Rotation

        rotations = (
            Rotation.from_euler("xyz", values, in_degrees)
            if group == "rpy"
            else Rotation.from_quat(values)
        )
        poses = np.tile(np.eye(4), (len(positions), 1, 1))
        poses[:, :3, :3], poses[:, :3, 3] = rotations.as_matrix(), positions
        return poses

    def column_values(self, T_base_target: Floats) -> dict[str, list[float]]:
        """Its quaternion, w last."""
        return {"quaternion": self._quaternion(T_base_target).tolist()}

    def describe(self, target: Any) -> dict[str, Floats]:
        """Position and quaternion, w last."""
        pose = np.asarray(target)
        return {"position": pose[:3, 3], "quaternion": self._quaternion(pose)}

    def split(self, targets: Any) -> list[Target]:
        """(4, 4) each."""
        return list(np.asarray(targets))

    def _quaternion(self, pose: Floats) -> Floats:
        from scipy.spatial.transform import Rotation

        return Rotation.from_matrix(pose[:3, :3]).as_quat()
