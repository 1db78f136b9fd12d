"""The levers of all link groups and pairs of a robot that tracks."""

import numpy as np

from jointwise.engines.levers import joints_to_base, levers_to_base
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arm import REVOLUTE
from jointwise.kernels.layout.arrays import UNLIMITED, Floats, Ints
from jointwise.kernels.layout.spheres import Spheres
from jointwise.kernels.layout.tree import Tree

# Link groups before that of joint 0, as ``kernels.tree.collision`` numbers them.
FIRST_JOINT_GROUP = 2
# Factor that allows for rounding.
ROUNDED = 1.0 + 1e-9


def group_levers(tree: Tree, spheres: Spheres) -> Floats:
    """(b+3, b+1) levers of each link group, for each joint after the root [m, 1].

    The lever of a revolute joint is the greatest distance of the centre of a sphere from its axis,
    for all joint values inside the limits.

    Args:
        tree: The joints.
        spheres: The shape, with link groups as ``kernels.tree.collision`` numbers them.
    """
    origins, parents = _origins(tree), tree.parents.tolist()
    levers = np.zeros((len(parents) + 3, len(parents) + 1))
    for group in range(FIRST_JOINT_GROUP, len(levers) - 1):
        centres = spheres.centres[spheres.first[group] : spheres.first[group + 1]]
        if len(centres):
            carrier = group - FIRST_JOINT_GROUP
            for joint, across, _ in levers_to_base(centres, parents, origins, carrier):
                is_revolute = tree.kinds[joint] == REVOLUTE
                levers[group, joint + 1] = ROUNDED * across if is_revolute else 1.0
    if not np.isfinite(levers).all():
        raise InvalidInputError(
            "a prismatic joint has no limits, so it could move a link by any distance: expected "
            "limits for a tracker in a scene. Set them with with_limits."
        )
    return levers


def pair_levers(tree: Tree, levers: Floats, pairs: Ints) -> Floats:
    """(p, b+1) levers of one link group of each pair, relative to the other.

    A joint that moves both does not change their distance, so its lever is 0.
    """
    on_paths, parents = np.zeros(levers.shape, np.bool_), tree.parents.tolist()
    for group in range(FIRST_JOINT_GROUP, len(levers) - 1):
        for joint in joints_to_base(parents, group - FIRST_JOINT_GROUP):
            on_paths[group, joint + 1] = True
    first, second = pairs.T
    between = on_paths[first] ^ on_paths[second]
    found: Floats = np.where(between, np.maximum(levers[first], levers[second]), 0.0)
    return found


def _origins(tree: Tree) -> Floats:
    """(b, 3) the greatest coordinates of the frame of each joint in that of its parent [m].

    The frame of a prismatic joint moves along z.
    """
    with np.errstate(invalid="ignore"):  # infinite travel, across an axis
        shift = np.abs(tree.placements[:, :, 2]) * _travel(tree)[:, None]
    found: Floats = np.abs(tree.placements[:, :, 3]) + shift
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
