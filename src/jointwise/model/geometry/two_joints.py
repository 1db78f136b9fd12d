"""Pairs of carriers with two joints between them, and tables of their distance.

Such a pair is a carrier and its grandparent, or two that one parent carries, such as both shoulders
of a torso. Carriers are numbered as in ``Geometry``: body i of a tree is carrier i+1.
"""

from collections.abc import Sequence

import numpy as np

from jointwise.kernels.shapes import PRISMATIC, UNLIMITED, Floats, Ints, Tree
from jointwise.model.geometry.shapes import Mesh
from jointwise.model.geometry.tables import Table, joint_range, tabulate
from jointwise.model.tree_poses import inverse, square


def pairs_two_apart(parents: Ints) -> list[tuple[int, int]]:
    """The pairs (a, b), a < b, of carriers with exactly two joints between them."""
    above = [-1, *(int(parent) + 1 for parent in parents)]  # the carrier that carries each
    return [
        (a, b)
        for b in range(1, len(above))
        for a in range(b)
        if above[above[b]] == a or (a > 0 and above[a] == above[b])
    ]


def joints_between(parents: Ints, a: int, b: int) -> tuple[int, int]:
    """The two joints between carriers a and b, a < b, which are two apart."""
    parent = int(parents[b - 1])
    return (a - 1 if a > 0 and parents[a - 1] == parent else parent), b - 1


def table_between(tree: Tree, meshes: Sequence[list[Mesh]], a: int, b: int) -> Table | None:
    """The table of the distance between carriers that are two apart, if both have meshes.

    None also if one of the two joints is prismatic and has no limits.

    Args:
        tree: The robot.
        meshes: The solids of each carrier, in its frame.
        a: The first carrier.
        b: The second one.
    """
    joints = joints_between(tree.parents, a, b)
    ranges = [joint_range(bool(tree.kinds[j] == PRISMATIC), _limits(tree, j)) for j in joints]
    if not (meshes[a] and meshes[b]) or ranges[0] is None or ranges[1] is None:
        return None
    links = np.stack([square(tree.placements[j]) for j in joints])
    prismatic = (bool(tree.kinds[joints[0]] == PRISMATIC), bool(tree.kinds[b - 1] == PRISMATIC))
    flat = np.array([*ranges[0], *ranges[1]])
    if tree.parents[joints[0]] != tree.parents[b - 1]:
        return tabulate(meshes[a], meshes[b], links, prismatic, flat)
    # From a, its own joint is passed backwards: the negative value, then the way to the other.
    across = np.stack([np.eye(4), inverse(links[0]) @ links[1]])
    backwards = np.array([-flat[1], -flat[0], flat[2], flat[3]])
    distances, _, always_touch = tabulate(meshes[a], meshes[b], across, prismatic, backwards)
    return Table(np.ascontiguousarray(distances[::-1]), flat, always_touch)


def _limits(tree: Tree, joint: int) -> Floats:
    """(2,) lower and upper limit of a joint, which may follow another one; infinite without."""
    variable = tree.variables[joint]
    limits = np.array([tree.lower[variable], tree.upper[variable]])
    limits = np.where(np.abs(limits) < UNLIMITED, limits, np.copysign(np.inf, limits))
    return np.sort(tree.ratios[joint] * limits + tree.offsets[joint])
