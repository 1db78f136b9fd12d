"""Link groups: links that do not move relative to each other.

The link groups of a tree of n joints are numbered as in kernels: group 0 is fixed to the base,
joint i moves group i+1, and the last group, n+1, is empty. Coordinates of group 0 are in the base
frame, those of others in the frame of their joint.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.kernels.layout.arrays import UNLIMITED, Floats
from jointwise.kernels.layout.tree import Tree
from jointwise.model.kinematic_tree import TreeModel
from jointwise.model.tree_poses import joint_poses, square

# Random configurations that show whether link groups always touch.
SAMPLES = 256
# Values of a prismatic joint without limits that are tried [m].
FREE_TRAVEL = 1.0
# Steps towards the farthest sphere, to find a small sphere around all.
BOUND_STEPS = 300


class GroupPlace(NamedTuple):
    """The place of a link.

    Attributes:
        link_group: The number of its link group.
        pose: (4, 4) the link's frame in the frame of the group.
    """

    link_group: int
    pose: Floats


def robot_links(model: TreeModel) -> dict[str, GroupPlace]:
    """The link group of each link of a robot."""
    return {
        name: GroupPlace(place.joint + 1, square(place.transform))
        for name, place in model.links.items()
    }


def group_frames(tree: Tree, q: Floats) -> Floats:
    """(n+2, 4, 4) the frame of each link group, base frame.

    Args:
        tree: The joints.
        q: The values of the independent joints [rad, m].
    """
    frames = np.concatenate([np.eye(4)[None], joint_poses(tree, q[None])[0]])
    return np.concatenate([frames, frames[-1:]])


def random_frames(tree: Tree) -> Floats:
    """(256, n+1, 4, 4) the frame of each link group, base frame, at random joint values."""
    slides = np.isin(np.arange(len(tree.lower)), tree.variables[tree.kinds == PRISMATIC])
    far = np.where(slides, FREE_TRAVEL, np.pi)
    has_lower, has_upper = tree.lower > -UNLIMITED, tree.upper < UNLIMITED
    lower = np.where(has_lower, tree.lower, np.minimum(-far, tree.upper - 2.0 * far))
    upper = np.where(has_upper, tree.upper, np.maximum(far, lower + 2.0 * far))
    q = np.random.default_rng(0).uniform(lower, upper, (SAMPLES, len(lower)))
    base = np.broadcast_to(np.eye(4), (SAMPLES, 1, 4, 4))
    return np.concatenate([base, joint_poses(tree, q)], axis=1)


def move_spheres(pose: Floats, spheres: Floats) -> Floats:
    """(k, 4) spheres with their centres mapped by a pose (4, 4)."""
    return np.column_stack([spheres[:, :3] @ pose[:3, :3].T + pose[:3, 3], spheres[:, 3]])


def bounding_sphere(spheres: Floats) -> Floats:
    """(4,) a small sphere around spheres (k, 4); radius -1 if there are none."""
    if not len(spheres):
        return np.array([0.0, 0.0, 0.0, -1.0])
    return np.array(_bounding_sphere(np.ascontiguousarray(spheres, np.float64).tobytes()))


@lru_cache(2000)  # links keep their spheres when a tool or a thing is attached
def _bounding_sphere(packed: bytes) -> tuple[float, ...]:
    spheres = np.frombuffer(packed).reshape(-1, 4)
    centres, radii = spheres[:, :3], spheres[:, 3]
    best = np.array([0.0, 0.0, 0.0, np.inf])
    centre = centres.mean(axis=0)
    for step in range(1, BOUND_STEPS):  # Badoiu and Clarkson
        reach = np.linalg.norm(centres - centre, axis=1) + radii
        farthest = reach.argmax()
        if reach[farthest] < best[3]:
            best = np.array([*centre, reach[farthest]])
        away = centres[farthest] - centre
        length = np.linalg.norm(away)
        if length == 0.0:
            break
        centre = centre + away * (reach[farthest] / length) / (step + 1)
    return tuple((best * [1.0, 1.0, 1.0, 1.0 + 1e-12]).tolist())
