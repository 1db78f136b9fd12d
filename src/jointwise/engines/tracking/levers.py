"""Levers: how far a unit of a joint's motion moves the spheres of a link group, at most."""

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arm import REVOLUTE
from jointwise.kernels.layout.arrays import UNLIMITED, Floats, Ints
from jointwise.kernels.layout.spheres import Spheres
from jointwise.kernels.layout.tree import Tree

# Link groups before that of joint 0, as ``kernels.tree.collision`` numbers them.
FIRST_JOINT_GROUP = 2
# For rounded numbers.
ROUNDED = 1.0 + 1e-9


def group_levers(tree: Tree, spheres: Spheres) -> Floats:
    """(b+3, b+1) levers of each link group, for each joint after the root [m, 1].

    The lever of a revolute joint is the greatest distance of the centre of a sphere from its axis,
    at any joint values inside the limits.

    Args:
        tree: The joints.
        spheres: The shape, with link groups as ``kernels.tree.collision`` numbers them.
    """
    travel = _travel(tree)
    levers = np.zeros((len(tree.parents) + 3, len(tree.parents) + 1))
    for group in range(FIRST_JOINT_GROUP, len(levers) - 1):
        centres = spheres.centres[spheres.first[group] : spheres.first[group + 1]]
        joint = group - FIRST_JOINT_GROUP
        if not len(centres):
            continue
        # The greatest distance from the axis of a joint, and from its origin.
        across = float(np.linalg.norm(centres[:, :2], axis=1).max())
        away = float(np.linalg.norm(centres, axis=1).max())
        while joint >= 0:
            is_revolute = tree.kinds[joint] == REVOLUTE
            levers[group, joint + 1] = ROUNDED * across if is_revolute else 1.0
            # In the frame of the parent: the origin moves along z if the joint is prismatic.
            place = tree.placements[joint]
            shift = np.abs(place[:, 2]) * travel[joint]
            origin = np.abs(place[:, 3]) + shift
            across = float(np.linalg.norm(origin[:2])) + away
            away = float(np.linalg.norm(origin)) + away
            joint = int(tree.parents[joint])
    if not np.isfinite(levers).all():
        raise InvalidInputError(
            "a prismatic joint has no limits, so that how far it moves a link is not known: a "
            "tracker with a scene expects limits. Set them by with_limits."
        )
    return levers


def pair_levers(tree: Tree, levers: Floats, pairs: Ints) -> Floats:
    """(p, b+1) levers of one link group of each pair, seen from the other.

    Joints that move both do not change their distance.
    """
    on_paths = np.zeros(levers.shape, np.bool_)
    for group in range(FIRST_JOINT_GROUP, len(levers) - 1):
        joint = group - FIRST_JOINT_GROUP
        while joint >= 0:
            on_paths[group, joint + 1] = True
            joint = int(tree.parents[joint])
    first, second = pairs.T
    between = on_paths[first] ^ on_paths[second]
    found: Floats = np.where(between, np.maximum(levers[first], levers[second]), 0.0)
    return found


def _travel(tree: Tree) -> Floats:
    """(b,) the greatest distance of prismatic joints from 0 [m]; 0 for the others."""
    lower, upper = tree.lower[tree.variables], tree.upper[tree.variables]
    with np.errstate(invalid="ignore", over="ignore"):
        ends = np.stack([lower, upper]) * tree.ratios + tree.offsets
    farthest = np.abs(ends).max(axis=0)
    endless = np.maximum(np.abs(lower), np.abs(upper)) >= UNLIMITED
    farthest = np.where(endless & (tree.ratios != 0.0), np.inf, farthest)
    found: Floats = np.where(tree.kinds == REVOLUTE, 0.0, farthest)
    return found
