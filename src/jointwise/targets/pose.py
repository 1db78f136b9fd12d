"""A pose: position and orientation of a link are prescribed."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from jointwise.backends import cpu
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import ROTATION_DEFECT, Bools, Floats, Weights
from jointwise.model import checks, degrees
from jointwise.model.rotation import quaternion, quaternion_matrix, rpy_matrix
from jointwise.targets.kind import AnyTarget, AnyTargets, TargetKind
from jointwise.targets.target import EQUAL_WEIGHT, Target, make_target

# The last row of a pose.
LAST_ROW = np.array([0.0, 0.0, 0.0, 1.0])
LAST_BYTES = LAST_ROW.tobytes()
# Where a matrix (16,) has the position, then the x, y and z axes.
POINT_AND_AXES = np.array([3, 7, 11, 0, 4, 8, 1, 5, 9, 2, 6, 10])
# The axes of a link.
XYZ = np.eye(3)[None]
# Shape of each way to write an orientation.
ORIENTATION_SHAPES = {"quat": (4,), "rpy": (3,), "rotvec": (3,), "matrix": (3, 3)}


class PoseKind(TargetKind):
    """(4, 4) a rigid transform, base frame."""

    name, plural, directions = "pose", "poses", 3
    packed_shape = array_shape = (4, 4)
    columns = {  # noqa: RUF012
        "rpy": ("roll", "pitch", "yaw"),
        "quaternion": ("qx", "qy", "qz", "qw"),
    }

    def as_array(self, packed: Floats) -> Floats:
        """(4, 4), or (m, 4, 4)."""
        return packed

    def check(self, packed: Floats, name: str = "target") -> None:
        """Refuse anything but a rigid transform of finite numbers."""
        checks.pose(name, packed)

    def are_valid(self, packed: Floats) -> Bools:
        """Rigid transforms of finite numbers."""
        valid = np.empty(len(packed), np.bool_)
        cpu.check_poses(np.ascontiguousarray(packed), valid)
        return valid

    def point_weights(self, angular_scale: float) -> Weights:
        """The weights of a point and three axes; a small rotation moves two of them."""
        weight = 0.5 * angular_scale**2
        return (1.0, weight, weight, weight)

    def target_points(self, packed: Floats) -> Floats:
        """Their positions; NaN where the last row is not that of a pose."""
        points = packed[:, :3, 3]
        if packed[:, 3].tobytes() == len(packed) * LAST_BYTES:  # the most frequent case, and fast
            return points
        wrong = ~(np.abs(packed[:, 3] - LAST_ROW) <= ROTATION_DEFECT).all(axis=1)
        return np.where(wrong[:, None], np.nan, points) if wrong.any() else points

    def target_numbers(self, packed: Floats) -> Floats:
        """Its positions and axes, but faster."""
        numbers = packed.reshape(-1, 16).take(POINT_AND_AXES, axis=1)
        if packed[:, 3].tobytes() != len(packed) * LAST_BYTES:
            numbers[:, :3] = self.target_points(packed)
        return numbers

    def target_axes(self, packed: Floats) -> Floats:
        """Their x, y and z axes."""
        return packed[:, :3, :3].swapaxes(1, 2).reshape(-1, 9)

    def link_axes(self, packed: Floats) -> Floats:
        """The x, y and z axes of the link."""
        return XYZ

    def at_pose(self, T_base_target: Floats) -> AnyTarget:
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
    ) -> AnyTargets:
        """(m, 4, 4), from angles about fixed x, y, z or from quaternions of any length, w last."""
        poses = np.empty((len(positions), 4, 4))
        if group == "rpy":
            rotations = rpy_matrix(np.radians(values) if in_degrees else values)
        else:
            rotations = quaternion_matrix(values)
        poses[:, :3, :3], poses[:, :3, 3], poses[:, 3] = rotations, positions, LAST_ROW
        return poses

    def column_values(self, T_base_target: Floats) -> dict[str, list[float]]:
        """Its quaternion, w last."""
        return {"quaternion": quaternion(T_base_target).tolist()}

    def describe(self, packed: Floats) -> dict[str, Floats]:
        """Position and quaternion, w last."""
        return {"position": packed[:3, 3], "quaternion": quaternion(packed)}


POSE = PoseKind()


def pose(
    position: ArrayLike,
    *,
    quat: ArrayLike | None = None,
    rpy: ArrayLike | None = None,
    rotvec: ArrayLike | None = None,
    matrix: ArrayLike | None = None,
    weight: float | Sequence[float] = EQUAL_WEIGHT,
    point: ArrayLike | None = None,
) -> Target:
    """A target that prescribes position and orientation, given in one of four ways.

    An array (4, 4) or a SciPy ``RigidTransform`` is an equivalent target. Methods that expect a
    pose, such as ``with_tool``, accept this target and use its ``matrix``.

    Args:
        position: (3,) [m], base frame; (m, 3) for many.
        quat: (4,) quaternion x, y, z, w, of any length but zero; (m, 4) for many.
        rpy: (3,) roll, pitch, yaw: angles about fixed x, y, z [rad], as in URDF; or (m, 3).
        rotvec: (3,) rotation vector, axis times angle [rad]; or (m, 3).
        matrix: (3, 3) rotation matrix; or (m, 3, 3).
        weight: How much the target counts relative to others: a number, or one for position and one
            for orientation. A radian counts about as much as a fifth of an arm's length, or three
            tenths of the longest path of joints in a robot.
        point: (3,) the point of the link that should be there [m], link frame. None: its origin.

    Raises:
        InvalidInputError: Not exactly one orientation is given, a shape is wrong, or a matrix is
            not a rotation.

    Example:
        >>> from math import pi
        >>> from jointwise import pose
        >>> pose([0.4, 0.0, 0.3], rpy=[pi, 0.0, 0.0]).position
        array([0.4, 0. , 0.3])
    """
    ways = {"quat": quat, "rpy": rpy, "rotvec": rotvec, "matrix": matrix}
    given = {name: value for name, value in ways.items() if value is not None}
    if len(given) != 1:
        found = f"{' and '.join(given)} are given" if given else "no orientation is given"
        raise InvalidInputError(f"{found}: pass exactly one of {', '.join(ways)}.")
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
    matrices = np.zeros((*many, 4, 4))
    matrices[..., :3, :3], matrices[..., :3, 3] = _rotations(name, values), points
    matrices[..., 3, 3] = 1.0
    return make_target(POSE, matrices, weight, point)


def _rotations(name: str, values: Floats) -> Floats:
    """(..., 3, 3) rotation matrices of orientations that are written in one way."""
    from scipy.spatial.transform import Rotation

    if name == "matrix":
        for rotation in values.reshape(-1, 3, 3):
            checks.rotation("matrix", rotation)
        return Rotation.from_matrix(values).as_matrix()
    if name == "quat":
        if not np.linalg.norm(values, axis=-1).all():
            raise InvalidInputError("quat has no length: expected x, y, z, w, not all zero.")
        return Rotation.from_quat(values).as_matrix()
    found = [f"{name} has {angle:g}" for angle in values.flat if degrees.suspected(angle)]
    degrees.warn(found, "use numpy.radians")
    if name == "rotvec":
        return Rotation.from_rotvec(values).as_matrix()
    return Rotation.from_euler("xyz", values).as_matrix()
