"""Mocap of a climbing person as 14 poses of a Unitree G1; points of holosoma-retargeting."""

from pathlib import Path

import numpy as np

# The points of the recordings, in their order; those of the fingers are not used but two.
POINTS = {
    name: i
    for i, name in enumerate(
        ["Hips", "Spine", "Spine1", "Neck", "Head", "LeftShoulder", "LeftArm", "LeftForeArm"]
    )
} | {
    "LeftHand": 8,
    "LeftFinger": 15,
    "RightShoulder": 24,
    "RightArm": 25,
    "RightForeArm": 26,
    "RightHand": 27,
    "RightFinger": 34,
    "LeftUpLeg": 43,
    "LeftLeg": 44,
    "LeftFoot": 45,
    "LeftToeBase": 46,
    "RightUpLeg": 47,
    "RightLeg": 48,
    "RightFoot": 49,
    "RightToeBase": 50,
}
# The robot's height by the person's.
SCALE = 1.27 / 1.7
DOWN, FORWARD = np.array([0.0, 0.0, -1.0]), np.array([1.0, 0.0, 0.0])


def g1_poses(file: Path) -> dict[str, np.ndarray]:
    """(f, 4, 4) poses of 14 links of a G1, by name: position and direction of each bone."""
    points = SCALE * np.load(file).astype(float)
    at = {name: points[:, i] for name, i in POINTS.items()}
    pelvis = axes(at["LeftUpLeg"] - at["RightUpLeg"], at["Spine1"] - at["Hips"])
    torso = axes(at["LeftArm"] - at["RightArm"], at["Neck"] - at["Spine1"])
    poses = {"pelvis": pose(pelvis, at["Hips"]), "torso_link": pose(torso, at["Spine1"])}
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        link, hip, knee = side.lower(), at[f"{side}UpLeg"], at[f"{side}Leg"]
        foot, toe, arm = at[f"{side}Foot"], at[f"{side}ToeBase"], at[f"{side}Arm"]
        elbow, hand, finger = at[f"{side}ForeArm"], at[f"{side}Hand"], at[f"{side}Finger"]
        thigh = turned(pelvis, DOWN, knee - hip)
        shin = turned(thigh, DOWN, foot - knee)
        c = np.sqrt(0.5)  # arms half raised to the side, from where no arm goes the opposite way
        raised = torso @ np.array([[1, 0, 0], [0, c, -sign * c], [0, sign * c, c]])
        upper = turned(raised, DOWN, elbow - arm)
        lower = turned(upper, FORWARD, hand - elbow)
        poses |= {
            f"{link}_hip_yaw_link": pose(thigh, hip),
            f"{link}_knee_link": pose(shin, knee),
            f"{link}_ankle_roll_link": pose(turned(shin, FORWARD, toe - foot), foot),
            f"{link}_shoulder_yaw_link": pose(upper, arm),
            f"{link}_elbow_link": pose(lower, elbow),
            f"{link}_wrist_yaw_link": pose(turned(lower, FORWARD, finger - hand), hand),
        }
    return poses


def unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors (f, 3) of length 1."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def axes(left: np.ndarray, up: np.ndarray) -> np.ndarray:
    """(f, 3, 3) rotations with z up, and y to the left as far as possible."""
    z = unit(up)
    x = unit(np.cross(left, z))
    return np.stack([x, np.cross(z, x), z], axis=2)


def turned(frames: np.ndarray, axis: np.ndarray, onto: np.ndarray) -> np.ndarray:
    """Frames (f, 3, 3), turned the shortest way so that an axis of theirs has a direction."""
    a, b = frames @ axis, unit(onto)
    v, c = np.cross(a, b), (a * b).sum(axis=1)
    cross = np.zeros((len(v), 3, 3))
    cross[:, [2, 0, 1], [1, 2, 0]] = v
    cross[:, [1, 2, 0], [2, 0, 1]] = -v
    return (np.eye(3) + cross + cross @ cross / (1.0 + c)[:, None, None]) @ frames


def pose(rotations: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """(f, 4, 4) from rotations and positions."""
    poses = np.tile(np.eye(4), (len(positions), 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = rotations, positions
    return poses
