"""The slow twin: the seed's text, line by line, sharing no code with the product.

Everything is computed anew for every joint, in homogeneous matrices. Use it to judge.
"""

import math

import numpy as np


def dh_matrix(theta, d, a, alpha):
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
    result = [np.eye(4)]
    for joint, value in zip(joints, q, strict=True):
        if joint.joint_type == "revolute":
            row = dh_matrix(joint.theta + value, joint.d, joint.a, joint.alpha)
        else:
            row = dh_matrix(joint.theta, joint.d + value, joint.a, joint.alpha)
        result.append(result[-1] @ row)
    return np.array(result)


def tip(joints, q):
    return frames(joints, q)[-1][:3, 3]


def error(joints, q, target):
    return float(np.linalg.norm(tip(joints, q) - target))


def solve(joints, target, initial_angles, max_iterations=100, tolerance=1e-4, on_axis=1e-10):
    """(joint angles, converged, position error, iterations), as the seed's steps 1 to 4 say."""
    q = np.array(initial_angles, dtype=float)
    target = np.array(target, dtype=float)
    for iteration in range(max_iterations):
        off = error(joints, q, target)
        if off < tolerance:
            return q, True, off, iteration
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
    off = error(joints, q, target)
    return q, off < tolerance, off, max_iterations


def tip_pose(links, kinds, q):
    """(4, 4) the tip's pose of an arm of links, each joint about or along its own z."""
    pose = np.eye(4)
    for link, kind, value in zip(links, kinds, q, strict=False):
        pose = pose @ np.vstack([link, [0.0, 0.0, 0.0, 1.0]])
        turn, slide = (value, 0.0) if kind == 0 else (0.0, value)
        pose = pose @ dh_matrix(turn, slide, 0.0, 0.0)
    return pose @ np.vstack([links[-1], [0.0, 0.0, 0.0, 1.0]])


def pose_errors(links, kinds, q, target):
    """(distance [m], angle [rad]) between the tip at ``q`` and a pose."""
    pose = tip_pose(links, kinds, q)
    return np.linalg.norm(pose[:3, 3] - target[:3, 3]), angle_between(pose, target)


def angle_between(pose, target):
    """The angle of the turn between two poses [rad], by Rodrigues' formula."""
    turn = pose[:3, :3].T @ target[:3, :3]
    skew = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    return math.atan2(np.linalg.norm(skew), np.trace(turn) - 1.0)
