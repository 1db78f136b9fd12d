"""Forward kinematics of a kinematic tree."""

import numpy as np

from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.kernels.layout.tree import Tree
from jointwise.model.kinematic_tree import TreeModel


def joint_poses(tree: Tree, x: Floats) -> Floats:
    """(k, b, 4, 4) poses of the frames that all joints carry, in the base frame.

    Args:
        tree: The tree.
        x: (k, v) values of its variables [rad, m].
    """
    q = tree.ratios * x[:, tree.variables] + tree.offsets
    poses = square(tree.placements) @ motions(tree.kinds == PRISMATIC, q)
    for joint, parent in enumerate(tree.parents.tolist()):
        if parent >= 0:
            poses[:, joint] = poses[:, parent] @ poses[:, joint]
    return poses


def link_poses(model: TreeModel, q: Floats, T_world_root: Floats) -> dict[str, Floats]:
    """Poses of all links by their names, for one pose of the root or k; see ``Robot.fk``."""
    places = model.links.values()
    frames = joint_poses(model.tree, np.atleast_2d(q))
    root = np.broadcast_to(np.eye(4), (len(frames), 1, 4, 4))
    carried = np.concatenate([frames, root], axis=1)[:, [place.joint for place in places]]
    base = T_world_root if T_world_root.ndim == 2 else T_world_root[:, None]
    poses = base @ carried @ square(np.array([place.transform for place in places]))
    poses.setflags(write=False)
    by_link = poses[0] if q.ndim == 1 else np.moveaxis(poses, 1, 0)
    return dict(zip(model.links, by_link, strict=True))


def motions(prismatic: Bools, q: Floats) -> Floats:
    """(..., 4, 4) the motions of joints: a rotation about z, or a translation along it.

    Args:
        prismatic: Which joints are prismatic; the others are revolute.
        q: Their values [rad, m].
    """
    angle, travel = np.where(prismatic, 0.0, q), np.where(prismatic, q, 0.0)
    transforms = np.zeros((*q.shape, 4, 4))
    transforms[..., 0, 0] = transforms[..., 1, 1] = np.cos(angle)
    transforms[..., 1, 0] = np.sin(angle)
    transforms[..., 0, 1] = -transforms[..., 1, 0]
    transforms[..., 2, 2] = transforms[..., 3, 3] = 1.0
    transforms[..., 2, 3] = travel
    return transforms


def square(transforms: Floats) -> Floats:
    """(..., 4, 4) transforms with their last row, from (..., 3, 4)."""
    squared = np.zeros((*transforms.shape[:-2], 4, 4))
    squared[..., :3, :] = transforms
    squared[..., 3, 3] = 1.0
    return squared


def inverse(transform: Floats) -> Floats:
    """(4, 4) the inverse of a rigid transform, (3, 4) or (4, 4)."""
    inverted = np.eye(4)
    inverted[:3, :3] = transform[:3, :3].T
    inverted[:3, 3] = -transform[:3, :3].T @ transform[:3, 3]
    return inverted


def link_jacobian(model: TreeModel, q: Floats, link: str, T_world_root: Floats) -> Floats:
    """(6, v) geometric Jacobian of a link, world frame; see ``Robot.jacobian``."""
    tree = model.tree
    frames = T_world_root @ joint_poses(tree, q[None])[0]
    tip = link_poses(model, q, T_world_root)[link][:3, 3]
    jacobian = np.zeros((6, model.n))
    for joint in model.path(model.links[link].joint):
        axis, origin = frames[joint, :3, 2], frames[joint, :3, 3]
        column = np.concatenate([np.cross(axis, tip - origin), axis])
        if tree.kinds[joint] == PRISMATIC:
            column = np.concatenate([axis, np.zeros(3)])
        jacobian[:, tree.variables[joint]] += tree.ratios[joint] * column
    return jacobian


def mass_centres(model: TreeModel, q: Floats, T_world_root: Floats) -> Floats:
    """(3,) or (k, 3) the centre of mass in the world; see ``Robot.center_of_mass``."""
    assert model.masses is not None
    frames = joint_poses(model.tree, np.atleast_2d(q))
    root = np.broadcast_to(np.eye(4), (len(frames), 1, 4, 4))
    carried = np.concatenate([root, frames], axis=1)[..., :3, :]
    shares = model.masses / model.masses[:, 0].sum()
    centres = np.einsum("kbij,bj->ki", carried, np.roll(shares, -1, axis=1))
    found: Floats = (T_world_root[..., :3, :3] @ centres[..., None])[..., 0]
    found += T_world_root[..., :3, 3]
    found = found[0] if q.ndim == 1 else found
    found.setflags(write=False)
    return found
