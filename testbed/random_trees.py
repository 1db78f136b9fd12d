"""Random kinematic trees as URDF."""

import numpy as np
from scipy.spatial.transform import Rotation

from jointwise import Robot


def random_tree(seed, joints=9, mimics=True, free_base=False, limit=2.0):
    """A robot of revolute and prismatic joints, each on an earlier link; some follow others."""
    rng = np.random.default_rng(seed)
    parts, followed = ['<robot name="tree"><link name="l0"/>'], []
    for i in range(joints):
        kind = "prismatic" if rng.random() < 0.2 else "revolute"
        xyz, rpy, axis = rng.uniform(-0.4, 0.4, 3), rng.uniform(-3, 3, 3), rng.normal(size=3)
        vectors = [" ".join(f"{each:.6f}" for each in vector) for vector in (xyz, rpy, axis)]
        parent, follower = max(0, i - int(rng.integers(0, 3))), ""
        if mimics and followed and rng.random() < 0.25:
            ratio, offset = rng.choice([-1.0, 0.5, 2.0]), rng.uniform(-0.1, 0.1)
            master = rng.choice(followed)
            follower = f'<mimic joint="j{master}" multiplier="{ratio}" offset="{offset:.3f}"/>'
        else:
            followed.append(i)
        parts.append(
            f'<link name="l{i + 1}"/><joint name="j{i}" type="{kind}"><parent link="l{parent}"/>'
            f'<child link="l{i + 1}"/><origin xyz="{vectors[0]}" rpy="{vectors[1]}"/>'
            f'<axis xyz="{vectors[2]}"/><limit lower="{-limit}" upper="{limit}"/>{follower}'
            "</joint>"
        )
    return Robot.from_urdf("".join([*parts, "</robot>"]), free_base)


def moved_base(base, twist):
    """A base (4, 4) rotated and shifted about its own origin, in the axes of the world."""
    moved = base.copy()
    moved[:3, :3] = Rotation.from_rotvec(twist[:3]).as_matrix() @ base[:3, :3]
    moved[:3, 3] += twist[3:]
    return moved
