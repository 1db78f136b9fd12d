"""A pose: position and orientation of the end effector are prescribed."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Floats, Weights
from jointwise.model import checks, degrees
from jointwise.model.rotation import quaternion, quaternion_matrix, rpy_matrix
from jointwise.solvers.targets.kind import Target, TargetKind, Targets

if TYPE_CHECKING:
    from scipy.spatial.transform import RigidTransform

# Shape of each way to write an orientation.
ORIENTATION_SHAPES = {"quat": (4,), "rpy": (3,), "rotvec": (3,), "matrix": (3, 3)}


def pose(
    position: ArrayLike,
    *,
    quat: ArrayLike | None = None,
    rpy: ArrayLike | None = None,
    rotvec: ArrayLike | None = None,
    matrix: ArrayLike | None = None,
) -> RigidTransform:
    """A pose from a position and one way to write its orientation, as SciPy's ``RigidTransform``.

    Args:
        position: (3,) [m], base frame; (m, 3) for many.
        quat: (4,) quaternion x, y, z, w, of any length but zero; (m, 4) for many.
        rpy: (3,) roll, pitch, yaw: angles about fixed x, y, z [rad], as URDF has them; or (m, 3).
        rotvec: (3,) rotation vector, axis times angle [rad]; or (m, 3).
        matrix: (3, 3) rotation matrix; or (m, 3, 3).

    Raises:
        InvalidInputError: Not one orientation, a wrong shape, or no rotation.

    Example:
        >>> from math import pi
        >>> from jointwise import pose
        >>> pose([0.4, 0.0, 0.3], rpy=[pi, 0.0, 0.0]).translation
        array([0.4, 0. , 0.3])
    """
    from scipy.spatial.transform import RigidTransform, Rotation

    ways = {"quat": quat, "rpy": rpy, "rotvec": rotvec, "matrix": matrix}
    given = {name: value for name, value in ways.items() if value is not None}
    if len(given) != 1:
        raise InvalidInputError(
            f"{' and '.join(given) or 'no orientation'} given: expected one of {', '.join(ways)}."
        )
    ((name, value),) = given.items()
    points = checks.all_finite("position", checks.floats("position", position))
    values = checks.all_finite(name, checks.floats(name, value))
    shape, many = ORIENTATION_SHAPES[name], points.shape[:-1]
    fits = points.ndim in (1, 2) and points.shape[-1] == 3
    if not fits or values.shape not in (shape, many + shape):
        raise InvalidInputError(
            f"position has shape {points.shape} and {name} {values.shape}: expected (3,) and "
            f"{shape}, or m positions (m, 3) with one orientation or m."
        )
    if name == "matrix":
        for rotation in values.reshape(-1, 3, 3):
            checks.rotation("matrix", rotation)
    if name in ("rpy", "rotvec"):
        found = [f"{name} has {angle:g}" for angle in values.flat if degrees.suspected(angle)]
        degrees.warn(found, "use numpy.radians")
    if name == "quat" and not np.linalg.norm(values, axis=-1).all():
        raise InvalidInputError("quat has no length: expected x, y, z, w, not all zero.")
    make: dict[str, Callable[[Floats], Rotation]] = {
        "quat": Rotation.from_quat,
        "rpy": lambda angles: Rotation.from_euler("xyz", angles),
        "rotvec": Rotation.from_rotvec,
        "matrix": Rotation.from_matrix,
    }
    return RigidTransform.from_components(points, make[name](values))


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

    def unpack(self, values: Floats) -> Target:
        """(4, 4)."""
        return values.reshape(4, 4)

    def pack_many(self, targets: Any) -> Floats:
        """(m, 4, 4)."""
        packed: Floats = targets
        return packed

    def check(self, packed: Floats, name: str = "target") -> None:
        """A rigid transform of finite numbers."""
        checks.pose(name, packed)

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
        poses = np.tile(np.eye(4), (len(positions), 1, 1))
        if group == "rpy":
            rotations = rpy_matrix(np.radians(values) if in_degrees else values)
        else:
            rotations = quaternion_matrix(values)
        poses[:, :3, :3], poses[:, :3, 3] = rotations, positions
        return poses

    def column_values(self, T_base_target: Floats) -> dict[str, list[float]]:
        """Its quaternion, w last."""
        return {"quaternion": quaternion(T_base_target).tolist()}

    def describe(self, target: Any) -> dict[str, Floats]:
        """Position and quaternion, w last."""
        pose = np.asarray(target)
        return {"position": pose[:3, 3], "quaternion": quaternion(pose)}

    def split(self, targets: Any) -> list[Target]:
        """(4, 4) each."""
        return list(np.asarray(targets))
