"""A whole robot from a URDF: all its links, and the joints that move."""

from contextlib import suppress

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import tips
from jointwise.model.checks import list_names
from jointwise.model.kinematic_tree import LinkPlace, MovingJoint, TreeModel, tree_model
from jointwise.model.mimics import Mimic, held_values
from jointwise.model.tree_poses import motions, square
from jointwise.model.urdf.joint_frames import axis_frames, check_types, origins, warn_about_degrees
from jointwise.model.urdf.reader import Joint
from jointwise.model.urdf.tree import Tree


def read_robot(tree: Tree, free_base: bool = False) -> TreeModel:
    """The robot of a URDF; see ``Robot.from_urdf``."""
    root, floating = _only_root(tree), _floating_joint(tree)
    if floating is not None:
        if free_base:
            raise floating.error(
                "frees the base, and so does free_base: expected only one of them."
            )
        root, free_base = floating.child, True
    joints = _depth_first(tree, root)
    check_types(joints)
    moving: list[MovingJoint] = []
    links = {root: LinkPlace(-1, np.eye(4)[:3], None)}
    not_fixed = [joint for joint in joints if joint.kind != "fixed"]
    axes = iter(axis_frames(not_fixed))
    given = {joint.name: joint.mimic() for joint in not_fixed}
    mimics = {name: Mimic(*mimic) for name, mimic in given.items() if mimic is not None}
    held = held_values(mimics)
    for joint, origin in zip(joints, origins(joints), strict=True):
        carrier = links[joint.parent]
        number, pose = carrier.joint, square(carrier.transform) @ origin
        if joint.kind != "fixed":
            axis = next(axes)
            if joint.name in held:
                is_prismatic = np.array(joint.kind == "prismatic")
                pose = pose @ axis @ motions(is_prismatic, np.array(held[joint.name])) @ axis.T
            else:
                moving.append(_moving(joint, number, pose @ axis, mimics.get(joint.name)))
                number, pose = len(moving) - 1, axis.T  # the inverse of a rotation
        links[joint.child] = LinkPlace(number, pose[:3], joint.parent)
    model = tree_model(tree.robot or tree.title, tree.title, moving, links, free_base, tree.home)
    warn_about_degrees(joints, tree.title)
    with suppress(InvalidInputError):  # a robot whose masses cannot be read has none
        return model.with_masses(_bodies(tree, links))
    return model


def _bodies(tree: Tree, links: dict[str, LinkPlace]) -> list[tuple[LinkPlace, float, Floats]]:
    """Place, mass [kg] and centre [m] of each link that has a mass."""
    return [
        (links[link], inertial.mass(), np.array(inertial.numbers("origin", "xyz", "0 0 0")))
        for link, inertial in tree.inertials.items()
        if link in links
    ]


def read_part(tree: Tree, base: str | None, tip: str | None) -> tuple[TreeModel, str | None]:
    """The robot of a URDF with at least the joints between two links; see ``Chain.from_urdf``.

    If other parts of the file cannot be read, such as a planar joint or a loop, the robot consists
    of these joints only.

    Returns:
        The robot, and the tip; None if it was not given and is the default tip of the robot.
    """
    if base is None and tip is None and len(tree.roots) != 1:
        tips.only_candidate("base", sorted(tree.roots), tree.title)  # raises, and lists them
    problem = None
    try:
        model = read_robot(tree)
        if {base, tip} <= {None, *model.links}:  # not above a floating joint
            return model, tip
    except InvalidInputError as error:
        problem = error
    end = tip or _default_tip(tree, base or tree.roots[0])
    part = tree.part(base, end)
    check_types(part.joints)
    moving = [joint for joint in part.joints if joint.kind != "fixed"]
    followed = {
        joint.elements["mimic"].get("joint") for joint in moving if "mimic" in joint.elements
    }
    if problem is not None and not followed <= {joint.name for joint in moving}:
        raise problem  # the part needs a joint outside it
    return read_robot(part), end


def _default_tip(tree: Tree, base: str) -> str:
    """The tip of the only arm below the base, even if not all joints can be read."""
    joints = (
        tips.Joint(
            joint.name, joint.parent, joint.child, joint.kind == "fixed", "mimic" in joint.elements
        )
        for joint in tree.joints
    )
    return tips.default_tip(joints, base, tree.title)


def _only_root(tree: Tree) -> str:
    """The link that no joint moves, after a check of all joints."""
    for link in tree.joints_above:
        tree.joint_above(link)
    if len(tree.roots) > 1:
        raise InvalidInputError(
            f"{tree.title} has {len(tree.roots)} links that no joint moves: expected one, the "
            f"root. Connect them by fixed joints. Roots: {list_names(tree.roots)}"
        )
    connected = {*tree.roots, *(joint.child for joint in _depth_first(tree, *tree.roots))}
    for link in tree.links:
        if link not in connected:
            tree.path(None, link)  # raises: it is in a cycle
    return tree.roots[0]


def _floating_joint(tree: Tree) -> Joint | None:
    """The floating joint that carries the whole robot; None if there is none."""
    below = tree.joints_below.get(tree.roots[0], [])
    return below[0] if len(below) == 1 and below[0].kind == "floating" else None


def _depth_first(tree: Tree, *roots: str) -> list[Joint]:
    """All joints below the roots, each after the one that moves its parent."""
    joints, pending = [], [joint for root in roots for joint in tree.joints_below.get(root, [])]
    pending.reverse()
    while pending:
        joint = pending.pop()
        joints.append(joint)
        pending += reversed(tree.joints_below.get(joint.child, []))
    return joints


def _moving(joint: Joint, number: int, placement: Floats, mimic: Mimic | None) -> MovingJoint:
    lower, upper = joint.limit()
    return MovingJoint(
        joint.name,
        number,
        placement[:3],
        joint.kind == "prismatic",
        (lower, upper),
        joint.velocity(),
        mimic,
    )
