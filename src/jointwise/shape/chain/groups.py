"""The link groups of a robot in one of its chains: which chain group carries each, and where."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.tree import Tree
from jointwise.model.tree_path import FLIP, ChainOfRobot
from jointwise.model.tree_poses import inverse, motions, square
from jointwise.shape.link_groups import GroupPlace
from jointwise.shape.tools import Tool


class ChainGroups(NamedTuple):
    """The places of the link groups of a robot in a chain.

    Attributes:
        bodies: The body of the robot that each joint of the chain moves, by its number.
        values: The values of the robot's joints; only those outside the chain matter [rad, m].
        places: The chain's link group that carries each of the robot's, and (4, 4) the frame of the
            latter in the frame of the former.
    """

    bodies: tuple[int, ...]
    values: Floats
    places: list[GroupPlace]


def chain_groups(tree: Tree, chain: ChainOfRobot) -> ChainGroups:
    """Find the group of the chain that carries each link group of a robot.

    A group outside the chain is carried by the chain group from which it branches off, with the
    joints outside the chain at zero, clipped to their limits.

    Args:
        tree: The joints of the robot, also those of attached things.
        chain: The chain.
    """
    model, arm, joints, base_link = chain
    bodies = tuple(model.all_joint_names.index(name) for name in joints)
    start = model.links[base_link]
    variables = np.clip(0.0, tree.lower, tree.upper)
    values = tree.ratios * variables[tree.variables] + tree.offsets
    found = _path(tree, start.joint, bodies)
    found[start.joint] = GroupPlace(0, inverse(start.transform))
    first = found[start.joint].pose @ _first_frame(tree, start.joint, bodies[0])
    if not np.array_equal(arm.links[0], first[:3]):  # the base was moved
        moved = square(arm.links[0]) @ inverse(first)
        found[start.joint] = GroupPlace(0, moved @ found[start.joint].pose)
    _carry(tree, values, set(bodies), found)
    return ChainGroups(bodies, values, [found[body] for body in range(-1, len(tree.parents))])


def check_beside(chain: ChainOfRobot, shapes: Iterable[tuple[str, ...]]) -> None:
    """Refuse a chain if a joint outside it follows one of its joints and moves a shape.

    Args:
        chain: The chain.
        shapes: The links that have a shape, in groups.

    Raises:
        InvalidInputError: The shape would not move in the chain, although the robot moves it.
    """
    model = chain.model
    tree, names = model.tree, model.all_joint_names
    own = {names.index(name) for name in chain.joints}
    variables = {int(tree.variables[joint]) for joint in own}
    with_shape = {link for links in shapes for link in links}
    for link in sorted(with_shape & model.links.keys()):
        for joint in model.path(model.links[link].joint):
            if joint not in own and int(tree.variables[joint]) in variables:
                raise InvalidInputError(
                    f"joint {names[joint]!r} outside the chain follows a joint of the chain and "
                    f"moves {link!r}, which can collide: use with_scene on a Robot, which moves "
                    "both."
                )


def tool_lines(chain: ChainOfRobot, tools: Iterable[Tool]) -> list[Floats | None]:
    """(2, 3) the ends of each tool in the last link group; None if it is elsewhere on the robot."""
    model, lines = chain.model, []
    places = chain_groups(model.tree, chain).places
    for tool in tools:
        ends = [model.links[tool.start], model.links[tool.name]]
        group, pose = places[ends[0].joint + 1]
        points = np.stack([pose @ np.append(end.transform[:, 3], 1.0) for end in ends])[:, :3]
        lines.append(points if group == chain.arm.n else None)
    return lines


def chain_links(chain: ChainOfRobot) -> dict[str, GroupPlace]:
    """The link group of each link of a robot in a chain, with the joints outside it at zero."""
    model = chain.model
    places = chain_groups(model.tree, chain).places
    return {
        name: GroupPlace(places[link.joint + 1].link_group, places[link.joint + 1].pose @ pose)
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
                f"joint {group} of the chain does not follow the previous joint: expected the "
                "joints in order, beginning at the base link."
            )
    return found


def _first_frame(tree: Tree, start: int, body: int) -> Floats:
    """(4, 4) the frame in which the first joint of a chain moves, in that of its first body."""
    return FLIP if body == start else square(tree.placements[body])


def _carry(tree: Tree, values: Floats, path: set[int], found: dict[int, GroupPlace]) -> None:
    """Add all bodies that branch off from those found, by joints that are not in the path."""
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
