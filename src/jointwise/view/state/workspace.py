"""An arm or a robot as the page needs it: its size, its links with targets, and first targets."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.layout.arrays import Floats
from jointwise.robot import Robot
from jointwise.targets import KINDS, TargetKind

# Fewest joints of a limb beyond the last branch: of a leg or finger, of an arm with a hand.
LIMB_JOINTS, HAND_JOINTS = 3, 4


def noun(model: Chain | Robot) -> str:
    """The noun for the model on the page."""
    return "robot" if isinstance(model, Robot) else "arm"


def drawing_size(model: Chain | Robot) -> float:
    """Length that sets the scale of drawings [m].

    The reach of an arm, or an estimate if that is infinite; about half the height of a robot.
    """
    if isinstance(model, Robot):
        links = np.array([pose[:3, 3] for pose in model.fk(model.home).values()])
        return 0.5 * float(np.linalg.norm(np.ptp(links, axis=0))) or 1.0
    return model.max_reach if np.isfinite(model.max_reach) else 5.0 * model.arm.angular_scale


def is_one_arm(model: Chain | Robot) -> bool:
    """Whether the model is an arm, or a robot with one arm and a base that does not move."""
    return not isinstance(model, Robot) or (not model.free_base and len(limb_ends(model)) == 1)


def reached_distance(model: Chain | Robot) -> float:
    """About how far from its base the model reaches [m]."""
    return drawing_size(model) * (2.0 if isinstance(model, Robot) else 1.0)


# Links with targets: any link of a robot, the end effector of an arm


def target_links(model: Chain | Robot) -> tuple[str, ...]:
    """The links that can have targets."""
    return model.link_names if isinstance(model, Robot) else (model.tip_link,)


def link_poses(model: Chain | Robot, q: Floats, base_pose: Floats) -> dict[str, Floats]:
    """(4, 4) the pose of each of these links; (k, 4, 4) for joint values (k, n) [rad, m].

    Args:
        model: The arm or robot.
        q: (n,) or (k, n) joint values [rad, m].
        base_pose: (4, 4) pose of the root link of a robot. An arm contains its base pose.
    """
    if isinstance(model, Robot):
        return model.fk(q, base_pose)
    return {model.tip_link: model.fk(q)}


def for_verbs(model: Chain | Robot, by_link: Mapping[str, Any]) -> Any:
    """Targets by link as the verbs of the model take them: those of an arm without the link."""
    return by_link if isinstance(model, Robot) else by_link[model.tip_link]


def target_kinds(model: Chain | Robot) -> dict[str, TargetKind]:
    """The kinds of targets that the page offers, by name.

    CCD, trackers and lists of solutions of an arm need a position; a robot follows any target.
    """
    if isinstance(model, Robot):
        return KINDS
    return {name: kind for name, kind in KINDS.items() if kind.has_position}


def outline_points(model: Chain | Robot, q: Floats, base_pose: Floats) -> Floats:
    """(k, 3) the origin of the base and the corners of an arm, or the origins of all links [m]."""
    if isinstance(model, Robot):
        return np.array([pose[:3, 3] for pose in model.fk(q, base_pose).values()])
    return np.concatenate([np.zeros((1, 3)), model.outline(q)])


# First targets


def position_in_front(chain: Chain) -> Floats:
    """(3,) a position that the arm reaches, about half its reach in front of the base [m]."""
    reached = chain.fk(chain.random(seed=7, count=256))[:, :3, 3]
    front = chain.arm.links[0, :, 3] + drawing_size(chain) * np.array([0.45, 0.15, 0.2])
    nearest: Floats = reached[np.linalg.norm(reached - front, axis=1).argmin()]
    return nearest


def moving_joints(robot: Robot, link: str) -> int:
    """How many independent joints move a link."""
    tree, body, moving = robot.model.tree, robot.model.links[link].joint, set()
    while body >= 0:
        moving.add(int(tree.variables[body]))
        body = int(tree.parents[body])
    return len(moving)


def limb_ends(robot: Robot) -> list[str]:
    """Links at the ends of arms, legs and fingers: those that the last joint of a limb moves.

    An arm that branches into fingers ends with its hand. Mimic joints and the joints that they
    follow open and close grippers, which are not limbs.
    """
    model = robot.model
    grips = {mimic.joint for mimic in robot.mimics.values()} | robot.mimics.keys()
    children: dict[int, list[int]] = {}
    for body, parent in enumerate(model.tree.parents.tolist()):
        if model.all_joint_names[body] not in grips:
            children.setdefault(parent, []).append(body)
    first_link = {place.joint: link for link, place in reversed(model.links.items())}
    ends, pending = [], [(-1, 0)]
    while pending:  # bodies, each with the number of joints from the last branch to it
        body, joints = pending.pop()
        below = children.get(body, [])
        if len(below) != 1 and joints >= (HAND_JOINTS if below else LIMB_JOINTS):
            ends += [first_link[body]] if body in first_link else []
        else:
            pending += [(child, joints + 1 if len(below) == 1 else 1) for child in below[::-1]]
    return ends
