"""Forward kinematics: from joint values to frames, poses and the Jacobian.

A joint's motion is held as two numbers: (cos q, sin q) if it is revolute, (q, 0) if prismatic.
"""

from math import sqrt

import numpy as np

from jointwise.kernels._numba import arrays as arrays  # how ``packed_view`` is compiled
from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.algebra.trig import cos_sin
from jointwise.kernels.layout import arm as packing
from jointwise.kernels.layout.arm import REVOLUTE, Arm
from jointwise.kernels.layout.arrays import MAX_VALUE, Bools, Floats

Point = tuple[float, float, float]
# Velocity and angular velocity of the tip, for one joint that moves at 1 [rad/s, m/s].
Column = tuple[float, float, float, float, float, float]

unpack_arm = jit(packing.unpack_arm)


@jit
def all_finite(values: Floats) -> bool:
    """Whether all are finite, and small enough to compute with."""
    for value in values.flat:
        if not abs(value) < MAX_VALUE:
            return False
    return True


@jit
def copy_values(values: Floats, to: Floats) -> None:
    """Copy joint values. Numba's own array assignment takes seconds longer to compile."""
    for i in range(values.size):
        to[i] = values[i]


@jit_inline
def rotate(transforms: Floats, i: int, x: float, y: float, z: float) -> Point:
    """R · (x, y, z), with R the rotation of transform i."""
    return (
        transforms[i, 0, 0] * x + transforms[i, 0, 1] * y + transforms[i, 0, 2] * z,
        transforms[i, 1, 0] * x + transforms[i, 1, 1] * y + transforms[i, 1, 2] * z,
        transforms[i, 2, 0] * x + transforms[i, 2, 1] * y + transforms[i, 2, 2] * z,
    )


@jit_inline
def rotate_inverse(transforms: Floats, i: int, x: float, y: float, z: float) -> Point:
    """Rᵀ · (x, y, z), with R the rotation of transform i."""
    return (
        transforms[i, 0, 0] * x + transforms[i, 1, 0] * y + transforms[i, 2, 0] * z,
        transforms[i, 0, 1] * x + transforms[i, 1, 1] * y + transforms[i, 2, 1] * z,
        transforms[i, 0, 2] * x + transforms[i, 1, 2] * y + transforms[i, 2, 2] * z,
    )


@jit
def joint_motions(kinds: Floats, q: Floats, motion: Floats) -> None:
    """Write into ``motion (n, 2)`` each joint's motion for the joint values ``q``."""
    for i in range(kinds.size):
        if kinds[i] == REVOLUTE:
            motion[i, 0], motion[i, 1] = cos_sin(q[i])
        else:
            motion[i, 0], motion[i, 1] = q[i], 0.0 * q[i]


@jit_inline
def joint_frames(arm: Arm, q: Floats, frames: Floats) -> None:
    """Write into ``frames (n, 3, 4)`` the frame that each joint carries, in the base frame."""
    links, kinds = arm.links, arm.kinds
    for i in range(kinds.size):
        revolute = kinds[i] == REVOLUTE
        zero = 0.0 * q[i]
        c, s = cos_sin(q[i]) if revolute else (zero + 1.0, zero)
        slide = zero if revolute else q[i]
        for row in range(3):
            if i == 0:
                x, y = zero + links[i, row, 0], zero + links[i, row, 1]
                z, p = zero + links[i, row, 2], zero + links[i, row, 3]
            else:
                u, v, w = frames[i - 1, row, 0], frames[i - 1, row, 1], frames[i - 1, row, 2]
                x = u * links[i, 0, 0] + v * links[i, 1, 0] + w * links[i, 2, 0]
                y = u * links[i, 0, 1] + v * links[i, 1, 1] + w * links[i, 2, 1]
                z = u * links[i, 0, 2] + v * links[i, 1, 2] + w * links[i, 2, 2]
                p = u * links[i, 0, 3] + v * links[i, 1, 3] + w * links[i, 2, 3]
                p = p + frames[i - 1, row, 3]
            frames[i, row, 0], frames[i, row, 1] = c * x + s * y, c * y - s * x
            frames[i, row, 2], frames[i, row, 3] = z, p + slide * z


@jit_inline
def tip_position(arm: Arm, frames: Floats) -> Point:
    """The tip in the base frame [m], from the frame that the last joint carries."""
    links, n = arm.links, frames.shape[0]
    x, y, z = rotate(frames, n - 1, links[n, 0, 3], links[n, 1, 3], links[n, 2, 3])
    return x + frames[n - 1, 0, 3], y + frames[n - 1, 1, 3], z + frames[n - 1, 2, 3]


@jit_inline
def tip_pose(arm: Arm, frames: Floats, poses: Floats, k: int) -> None:
    """Write into ``poses[k] (4, 4)`` the tip's pose, from the frame that the last joint carries."""
    links, n = arm.links, frames.shape[0]
    for row in range(3):
        for column in range(4):
            poses[k, row, column] = (
                frames[n - 1, row, 0] * links[n, 0, column]
                + frames[n - 1, row, 1] * links[n, 1, column]
                + frames[n - 1, row, 2] * links[n, 2, column]
            )
        poses[k, row, 3] += frames[n - 1, row, 3]
    poses[k, 3, 0], poses[k, 3, 1], poses[k, 3, 2], poses[k, 3, 3] = 0.0, 0.0, 0.0, 1.0


@jit_inline
def jacobian_column(kinds: Floats, frames: Floats, i: int, tip: Point, scale: float) -> Column:
    """How joint i moves the tip, base frame: its velocity times ``scale``, its angular velocity."""
    x, y, z = frames[i, 0, 2], frames[i, 1, 2], frames[i, 2, 2]
    if kinds[i] == REVOLUTE:
        a = scale * (tip[0] - frames[i, 0, 3])
        b = scale * (tip[1] - frames[i, 1, 3])
        c = scale * (tip[2] - frames[i, 2, 3])
        return y * c - z * b, z * a - x * c, x * b - y * a, x, y, z
    zero = 0.0 * x
    return scale * x, scale * y, scale * z, zero, zero, zero


@jit
def tip_poses(packed_arm: Floats, configurations: Floats, poses: Floats) -> None:
    """Write into ``poses (k, 4, 4)`` the tip's pose for each row of ``configurations (k, n)``."""
    n = configurations.shape[1]
    arm = unpack_arm(packed_arm, n)
    frames = np.empty((n, 3, 4))
    for k in range(configurations.shape[0]):
        joint_frames(arm, configurations[k], frames)
        tip_pose(arm, frames, poses, k)


@jit
def frames_and_jacobian(packed_arm: Floats, q: Floats, frames: Floats, jacobian: Floats) -> None:
    """Write the joints' ``frames (n, 3, 4)`` and the columns of the ``jacobian (n, 6)``."""
    arm = unpack_arm(packed_arm, q.size)
    joint_frames(arm, q, frames)
    tip = tip_position(arm, frames)
    for i in range(q.size):
        column = jacobian_column(arm.kinds, frames, i, tip, 1.0)
        for k in range(6):
            jacobian[i, k] = column[k]


@jit_inline
def beyond_reach(arm: Arm, x: float, y: float, z: float, position_tol: float) -> bool:
    """Whether a point of the base frame is farther from the first joint than the arm is long."""
    x, y, z = x - arm.links[0, 0, 3], y - arm.links[0, 1, 3], z - arm.links[0, 2, 3]
    return sqrt(x * x + y * y + z * z) > arm.reach + position_tol


@jit
def points_within_reach(
    packed_arm: Floats, n: int, points: Floats, position_tol: float, inside: Bools
) -> None:
    """Write for each of ``points (k, 3)`` whether it is not beyond reach of an arm of n joints."""
    arm = unpack_arm(packed_arm, n)
    for k in range(points.shape[0]):
        x, y, z = points[k, 0], points[k, 1], points[k, 2]
        inside[k] = not beyond_reach(arm, x, y, z, position_tol)
