"""Arms in trees: the joints between two links, and a serial arm as a tree."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.kernels.layout.arrays import Bools, Floats, Ints
from jointwise.model.arm import ArmModel, middles
from jointwise.model.kinematic_tree import LinkPlace, MovingJoint, TreeModel, tree_model
from jointwise.model.tree_poses import inverse, square

# Number of cached arms as robots.
MAX_ARMS = 64
# Half a turn about x: a joint seen from its child moves about or along the opposite axis.
FLIP = np.diag([1.0, -1.0, -1.0, 1.0])


class Skeleton(NamedTuple):
    """The kinematic parameters of an arm.

    Attributes:
        links: (n+1, 3, 4) as ``ArmModel.links``.
        prismatic: (n,) which joints are prismatic.
        limits: (n, 2) lower and upper joint limits [rad, m]; infinite where unlimited.
        max_velocity: (n,) greatest velocity of each joint [rad/s, m/s]; infinite where unknown.
        joint_names: One name per joint.
        home: (n,) the home configuration [rad, m]; the middle of the ranges if unknown.
        joints: (n,) the number of each joint among all joints of the robot, mimic joints included.
    """

    links: Floats
    prismatic: Bools
    limits: Floats
    max_velocity: Floats
    joint_names: tuple[str, ...]
    home: Floats
    joints: tuple[int, ...]


class ChainOfRobot(NamedTuple):
    """A chain of a robot.

    Attributes:
        model: The robot.
        arm: The kinematic parameters of the chain. Its base frame is that of ``base_link``, unless
            it was moved.
        joints: The names of its joints.
        base_link: The link at which it begins.
    """

    model: TreeModel
    arm: ArmModel
    joints: tuple[str, ...]
    base_link: str


def chain_between(model: TreeModel, base: str, tip: str) -> Skeleton:
    """The chain of joints between two links of a robot; see ``Robot.chain``.

    A mimic joint is an ordinary joint if nothing else on the path follows the same joint. Its range
    is the part that the limits of that joint and of all its followers allow.
    """
    tree, start, end = model.tree, model.links[base], model.links[tip]
    up, down = model.path(start.joint), model.path(end.joint)
    shared = sum(i == j for i, j in zip(up, down, strict=False))
    up, down = up[shared:][::-1], down[shared:]
    joints = [*up, *down]
    if not joints:
        raise InvalidInputError(
            f"no joint moves between base {base!r} and tip {tip!r} of {model.name}: expected at "
            "least one."
        )
    _check_independent(model, joints, tip)
    _check_open(model, joints, tip)
    links, link = [], inverse(start.transform)
    for joint in up:
        links.append((link @ FLIP)[:3])
        link = FLIP @ inverse(tree.placements[joint])
    for joint in down:
        links.append((link @ square(tree.placements[joint]))[:3])
        link = np.eye(4)
    links.append((link @ square(end.transform))[:3])
    limits = joint_limits(model, np.array(joints))
    return Skeleton(
        np.stack(links),
        tree.kinds[joints] == PRISMATIC,
        limits,
        model.max_velocity[tree.variables[joints]] * np.abs(tree.ratios[joints]),
        tuple(model.all_joint_names[joint] for joint in joints),
        joint_home(model, np.array(joints), limits),
        tuple(joints),
    )


def moved_links(links: Floats, pose: Floats) -> Floats:
    """(n+1, 3, 4) the links of an arm whose base is at a pose (4, 4)."""
    moved = links.copy()
    moved[0] = pose[:3] @ square(moved[0])
    return moved


def _check_open(model: TreeModel, joints: list[int], tip: str) -> None:
    """Refuse joints of a closed loop, which do not move independently."""
    for loop in model.loops:
        around = {*model.path(loop.link.joint)} ^ {*model.path(loop.to.joint)}
        for joint in joints:
            if joint in around:
                raise InvalidInputError(
                    f"joint {model.all_joint_names[joint]!r} is part of a closed loop, so a chain "
                    f"to {tip!r} cannot move it: expected joints that move independently. Solve "
                    "for the link with Robot.solve."
                )


def _check_independent(model: TreeModel, joints: list[int], tip: str) -> None:
    """Refuse two joints on the path that follow the same joint."""
    first: dict[int, int] = {}
    for joint in joints:
        other = first.setdefault(int(model.tree.variables[joint]), joint)
        if other != joint:
            names = f"{model.all_joint_names[other]!r} and {model.all_joint_names[joint]!r}"
            raise InvalidInputError(
                f"joints {names} of {model.name} move together, because one mimics the other or "
                "both mimic a third: expected independent joints in a chain. Use a Robot: "
                f"robot.solve({{{tip!r}: target}})."
            )


def joint_limits(model: TreeModel, joints: Ints) -> Floats:
    """(n, 2) the range of joints that the limits of their variables allow."""
    tree, ends = model.tree, model.limits[model.tree.variables[joints]]
    return np.sort(tree.ratios[joints, None] * ends + tree.offsets[joints, None], axis=1)


def joint_home(model: TreeModel, joints: Ints, limits: Floats) -> Floats:
    """(n,) the home configuration of joints with limits (n, 2) [rad, m]. Read-only."""
    tree, home = model.tree, middles(limits)
    if (model.home != model.mid_range).any():
        home = tree.ratios[joints] * model.home[tree.variables[joints]] + tree.offsets[joints]
    home.setflags(write=False)
    return home


@lru_cache(MAX_ARMS)
def arm_as_tree(arm: ArmModel, names: tuple[str, ...], tip: str) -> TreeModel:
    """A serial arm with joints of these names as a robot without branches."""
    joints = [
        MovingJoint(name, i - 1, arm.links[i], bool(arm.prismatic[i]), tuple(limits), np.inf, None)
        for i, (name, limits) in enumerate(zip(names, arm.limits.tolist(), strict=True))
    ]
    base = "base" if tip != "base" else "base_link"
    links = {
        base: LinkPlace(-1, np.eye(4)[:3], None),
        tip: LinkPlace(arm.n - 1, arm.links[-1].copy(), base),
    }
    home = dict(zip(names, arm.home.tolist(), strict=True))
    return tree_model("arm", "the arm", joints, links, False, home)
