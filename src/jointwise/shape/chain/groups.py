"""The link groups of a robot seen from a chain of it: which chain group carries each, and where."""

from typing import NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.tree import Tree
from jointwise.model.arm import ArmModel
from jointwise.model.kinematic_tree import TreeModel
from jointwise.model.tree_path import FLIP
from jointwise.model.tree_poses import inverse, motions, square
from jointwise.shape.link_groups import GroupPlace


class ChainGroups(NamedTuple):
    """Where the link groups of a robot are in a chain.

    Attributes:
        bodies: The body of the robot that each joint of the chain moves, by its number.
        values: The values of the robot's joints, of which those beside the chain matter [rad, m].
        places: The chain's link group that carries each of the robot's, and (4, 4) the frame of the
            latter in the frame of the former.
    """

    bodies: tuple[int, ...]
    values: Floats
    places: list[GroupPlace]


def chain_groups(
    tree: Tree,
    model: TreeModel,
    arm: ArmModel,
    joints: tuple[str, ...],
    base_link: str,
    q: Floats | None = None,
) -> ChainGroups:
    """Find the group of the chain that carries each link group of a robot.

    A group that is not between the ends of the chain is carried by the one that it hangs on.

    Args:
        tree: The joints of the robot, also those of attached things.
        model: The robot.
        arm: The chain in numbers. Its base frame is that of ``base_link``, unless it was moved.
        joints: The names of its joints.
        base_link: The link that it begins at.
        q: (v,) values of the robot's variables, for joints beside the chain [rad, m]. None: zero,
            clipped to the limits.
    """
    bodies = tuple(model.body_names.index(name) for name in joints)
    start = model.links[base_link]
    variables = np.clip(0.0, tree.lower, tree.upper) if q is None else q
    values = tree.ratios * variables[tree.variables] + tree.offsets
    found = _path(tree, start.body, bodies)
    found[start.body] = GroupPlace(0, inverse(start.transform))
    first = found[start.body].pose @ _first_frame(tree, start.body, bodies[0])
    if not np.array_equal(arm.links[0], first[:3]):  # the base was moved
        moved = square(arm.links[0]) @ inverse(first)
        found[start.body] = GroupPlace(0, moved @ found[start.body].pose)
    _carry(tree, values, set(bodies), found)
    return ChainGroups(bodies, values, [found[body] for body in range(-1, len(tree.parents))])


def chain_links(
    model: TreeModel, arm: ArmModel, joints: tuple[str, ...], base_link: str
) -> dict[str, GroupPlace]:
    """The link group of each link of a robot in a chain, with the joints beside it at zero."""
    places = chain_groups(model.tree, model, arm, joints, base_link).places
    return {
        name: GroupPlace(places[link.body + 1].link_group, places[link.body + 1].pose @ pose)
        for name, link in model.links.items()
        for pose in [square(link.transform)]
    }


def _path(tree: Tree, start: int, bodies: tuple[int, ...]) -> dict[int, GroupPlace]:
    """The bodies beyond each joint of a chain, and their poses in its groups."""
    found, current = {}, start
    for group, body in enumerate(bodies, start=1):
        if body == current:  # upward, from the child of the joint to its parent
            current = int(tree.parents[body])
            found[current] = GroupPlace(group, FLIP @ inverse(tree.placements[body]))
        elif tree.parents[body] == current:
            current = body
            found[current] = GroupPlace(group, np.eye(4))
        else:
            raise InvalidInputError(
                f"joint {group} of the chain does not follow the one before: expected the joints "
                "from its base link on."
            )
    return found


def _first_frame(tree: Tree, start: int, body: int) -> Floats:
    """(4, 4) the frame in which the first joint of a chain moves, in that of its first body."""
    return FLIP if body == start else square(tree.placements[body])


def _carry(tree: Tree, values: Floats, path: set[int], found: dict[int, GroupPlace]) -> None:
    """Add all bodies that hang on those found, by joints that are not in the path."""
    steps = square(tree.placements) @ motions(tree.kinds == PRISMATIC, values)
    parents, pending = tree.parents.tolist(), list(found)
    beside = [body for body in range(len(parents)) if body not in path]
    while pending:
        body = pending.pop()
        group, pose = found[body]
        around = [(child, steps[child]) for child in beside if parents[child] == body]
        if body in beside:
            around.append((parents[body], inverse(steps[body])))
        for other, step in around:
            if other not in found:
                found[other] = GroupPlace(group, pose @ step)
                pending.append(other)
