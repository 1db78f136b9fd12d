"""Shapes that exist as a ``Geometry``."""

from dataclasses import dataclass, replace

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.tree import Tree
from jointwise.model.arm import ArmModel
from jointwise.model.kinematic_tree import TreeModel
from jointwise.model.tree_path import ChainOfRobot
from jointwise.shape.chain.geometry import chain_geometry
from jointwise.shape.files import base_move, frames_at_zero
from jointwise.shape.geometry import Geometry, kernel_tree, moved, with_limits
from jointwise.shape.sources.source import ShapeSource


@dataclass(frozen=True, slots=True, eq=False)
class GivenShapes(ShapeSource):
    """A geometry of the whole robot, or of the chain; attached things stay attached.

    Attributes:
        geometry: The geometry.
    """

    geometry: Geometry

    def for_robot(self, model: TreeModel) -> Geometry:
        """The geometry, with the base and the limits of the robot."""
        return adopted(self.geometry, model, model.all_joint_names)

    def for_chain(self, chain: ChainOfRobot) -> Geometry:
        """The geometry if it is that of the chain, else the chain's part of the robot's."""
        joints = chain.joints
        carriers = kernel_tree(self.geometry).parents[len(joints) :]
        if self.geometry.joints == joints and (carriers == len(joints) - 1).all():
            return adopted(self.geometry, chain.arm, joints)
        return chain_geometry(self.for_robot(chain.model), chain)


def adopted(geometry: Geometry, model: ArmModel | TreeModel, joints: tuple[str, ...]) -> Geometry:
    """A geometry for a model with the same joints, whose base and limits may differ.

    Raises:
        InvalidInputError: The geometry belongs to another arm or robot.
    """
    if geometry.joints != joints:
        raise InvalidInputError(
            f"the geometry has the joints {', '.join(geometry.joints)}: expected "
            f"{', '.join(joints)}."
        )
    own, tree = kernel_tree(geometry), model.tree
    if _is_same(own, tree):
        return geometry
    pose = base_move(frames_at_zero(own, len(joints)), "the geometry", model)
    if not np.array_equal(pose, np.eye(4)):
        geometry = moved(geometry, pose)
    limited = with_limits(geometry, np.stack([tree.lower, tree.upper], axis=1))
    n = len(tree.parents)
    joined = (np.concatenate([new, old[n:]]) for new, old in zip(tree[:6], own[:6], strict=True))
    return replace(limited, _tree=Tree._make([*joined, *tree[6:]]))


def _is_same(own: Tree, tree: Tree) -> bool:
    """Whether two trees are equal, except for attached things and velocities."""
    n = len(tree.parents)
    joints = all(np.array_equal(a[:n], b) for a, b in zip(own[:6], tree[:6], strict=True))
    return joints and all(np.array_equal(a, b) for a, b in zip(own[6:8], tree[6:8], strict=True))
