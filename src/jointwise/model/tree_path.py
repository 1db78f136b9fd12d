"""Arms in trees: the joints between two links, and a serial arm as a tree."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.kernels.layout.arrays import Bools, Floats, Ints
from jointwise.kernels.layout.tree import Tree
from jointwise.model.arm import ArmModel
from jointwise.model.kinematic_tree import LinkPlace, MovingJoint, TreeModel, tree_model
from jointwise.model.tree_poses import inverse, square

# Arms that are kept as robots.
MAX_ARMS = 64
# Half a turn about x: a joint seen from its child moves about or along the opposite axis.
FLIP = np.diag([1.0, -1.0, -1.0, 1.0])


class Skeleton(NamedTuple):
    """The numbers of an arm.

    Attributes:
        links: (n+1, 3, 4) as ``ArmModel.links``.
        prismatic: (n,) which joints are prismatic.
        limits: (n, 2) lower and upper joint limits [rad, m]; infinite where unlimited.
        max_velocity: (n,) greatest velocity of each joint [rad/s, m/s]; infinite where unknown.
        names: One name per joint.
        bodies: (n,) the body of the robot that each joint moves; of those on the way up, the
            joint above it.
    """

    links: Floats
    prismatic: Bools
    limits: Floats
    max_velocity: Floats
    names: tuple[str, ...]
    bodies: tuple[int, ...]


def chain_between(model: TreeModel, base: str, tip: str) -> Skeleton:
    """The chain of joints between two links of a robot; see ``Robot.chain``.

    A mimic joint is a joint like others if nothing else on the path follows the same joint: its
    range is what the limits of that joint and of all that follow it leave.
    """
    tree, start, end = model.tree, model.links[base], model.links[tip]
    up, down = _bodies_between(tree, start.body, end.body)
    bodies = [*up, *down]
    if not bodies:
        raise InvalidInputError(
            f"no joint moves between base {base!r} and tip {tip!r} of {model.name}: expected at "
            "least one."
        )
    _check_independent(model, bodies, tip)
    links, link = [], inverse(start.transform)
    for body in up:
        links.append((link @ FLIP)[:3])
        link = FLIP @ inverse(tree.placements[body])
    for body in down:
        links.append((link @ square(tree.placements[body]))[:3])
        link = np.eye(4)
    links.append((link @ square(end.transform))[:3])
    return Skeleton(
        np.stack(links),
        tree.kinds[bodies] == PRISMATIC,
        joint_limits(model, np.array(bodies)),
        model.max_velocity[tree.variables[bodies]] * np.abs(tree.ratios[bodies]),
        tuple(model.body_names[body] for body in bodies),
        tuple(bodies),
    )


def _bodies_between(tree: Tree, start: int, end: int) -> tuple[list[int], list[int]]:
    """The bodies from one up to their nearest common ancestor, and down to the other."""
    up, down = _ancestors(tree, start), _ancestors(tree, end)
    shared = set(up) & set(down)
    return [i for i in up if i not in shared], [i for i in reversed(down) if i not in shared]


def _ancestors(tree: Tree, body: int) -> list[int]:
    """A body and all that carry it, up to the base."""
    bodies = []
    while body >= 0:
        bodies.append(body)
        body = int(tree.parents[body])
    return bodies


def _check_independent(model: TreeModel, bodies: list[int], tip: str) -> None:
    """Refuse two joints on the path that follow the same joint."""
    first: dict[int, int] = {}
    for body in bodies:
        other = first.setdefault(int(model.tree.variables[body]), body)
        if other != body:
            names = f"{model.body_names[other]!r} and {model.body_names[body]!r}"
            raise InvalidInputError(
                f"joints {names} of {model.name} move together, as one mimics the other or both a "
                "third: expected independent joints in a chain. Use a Robot: "
                f"robot.solve({{{tip!r}: target}})."
            )


def joint_limits(model: TreeModel, bodies: Ints) -> Floats:
    """(n, 2) what the limits of their variables leave of the range of joints."""
    tree, ends = model.tree, model.limits[model.tree.variables[bodies]]
    return np.sort(tree.ratios[bodies, None] * ends + tree.offsets[bodies, None], axis=1)


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
    return tree_model("arm", "the arm", joints, links, False)
