"""A slow, obvious implementation of CCD and forward kinematics, to compare results with.

It follows the published algorithm step by step, recomputes all homogeneous matrices for every
joint, and shares no code with jointwise.
"""

import math

import numpy as np


def dh_matrix(theta, d, a, alpha):
    """(4, 4) ``Rz(theta) · Tz(d) · Tx(a) · Rx(alpha)``."""
    ct, st, ca, sa = math.cos(theta), math.sin(theta), math.cos(alpha), math.sin(alpha)
    return np.array(
        [
            [ct, -st * ca, st * sa, a * ct],
            [st, ct * ca, -ct * sa, a * st],
            [0.0, sa, ca, d],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def frames(joints, q):
    """(n+1, 4, 4) pose of every DH frame, base frame."""
    result = [np.eye(4)]
    for joint, value in zip(joints, q, strict=True):
        if joint.joint_type == "revolute":
            row = dh_matrix(joint.theta + value, joint.d, joint.a, joint.alpha)
        else:
            row = dh_matrix(joint.theta, joint.d + value, joint.a, joint.alpha)
        result.append(result[-1] @ row)
    return np.array(result)


def tip(joints, q):
    """(3,) position of the end effector [m], base frame."""
    return frames(joints, q)[-1][:3, 3]


def error(joints, q, target):
    """Position error [m]."""
    return float(np.linalg.norm(tip(joints, q) - target))


def solve(joints, target, initial_angles, max_iterations=100, tolerance=1e-4, on_axis=1e-10):
    """CCD to a position: (joint angles, converged, position error [m], iterations)."""
    q = np.array(initial_angles, dtype=float)
    target = np.array(target, dtype=float)
    for iteration in range(max_iterations):
        position_error = error(joints, q, target)
        if position_error < tolerance:
            return q, True, position_error, iteration
        for i in range(len(joints) - 1, -1, -1):
            if joints[i].joint_type != "revolute":
                continue
            frame = frames(joints, q)[i]
            origin, axis = frame[:3, 3], frame[:3, 2]
            to_tip = tip(joints, q) - origin
            to_target = target - origin
            to_tip = to_tip - (to_tip @ axis) * axis
            to_target = to_target - (to_target @ axis) * axis
            if np.linalg.norm(to_tip) < on_axis or np.linalg.norm(to_target) < on_axis:
                continue
            cross = np.cross(to_tip, to_target)
            angle = math.atan2(np.linalg.norm(cross), to_tip @ to_target)
            q[i] += angle if cross @ axis >= 0.0 else -angle
    position_error = error(joints, q, target)
    return q, position_error < tolerance, position_error, max_iterations


def tip_pose(links, prismatic, q):
    """(4, 4) pose of the end effector; ``links`` and ``prismatic`` as in ``ArmModel``."""
    pose = np.eye(4)
    for link, is_prismatic, value in zip(links, prismatic, q, strict=False):
        pose = pose @ np.vstack([link, [0.0, 0.0, 0.0, 1.0]])
        angle, travel = (0.0, value) if is_prismatic else (value, 0.0)
        pose = pose @ dh_matrix(angle, travel, 0.0, 0.0)
    return pose @ np.vstack([links[-1], [0.0, 0.0, 0.0, 1.0]])


def pose_errors(links, prismatic, q, target):
    """(position error [m], orientation error [rad]) of the end effector at ``q``."""
    pose = tip_pose(links, prismatic, q)
    return np.linalg.norm(pose[:3, 3] - target[:3, 3]), angle_between(pose, target)


def angle_between(pose, target):
    """Angle of the rotation between two poses [rad], by Rodrigues' formula."""
    r = pose[:3, :3].T @ target[:3, :3]
    skew = np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])
    return math.atan2(np.linalg.norm(skew), np.trace(r) - 1.0)
