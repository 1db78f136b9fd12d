"""Pairs of link groups with two joints between them, and tables of their distance.

Such a pair is a link group and its grandparent, or two that one parent carries, such as both
shoulders of a torso.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.kernels.layout.arrays import UNLIMITED, Floats, Ints
from jointwise.kernels.layout.tree import Tree
from jointwise.model.tree_poses import inverse, square
from jointwise.shape.solids.mesh import Mesh
from jointwise.shape.tables.table import Table, joint_range, tabulate


def pairs_two_apart(parents: Ints) -> list[tuple[int, int]]:
    """The pairs (a, b), a < b, of link groups with exactly two joints between them."""
    above = [-1, *(int(parent) + 1 for parent in parents)]  # the group that carries each
    return [
        (a, b)
        for b in range(1, len(above))
        for a in range(b)
        if above[above[b]] == a or (a > 0 and above[a] == above[b])
    ]


def pairs_within_two(parents: Ints) -> set[tuple[int, int]]:
    """The pairs (a, b), a < b, of link groups with one or two joints between them."""
    neighbours = ((int(parent) + 1, body + 1) for body, parent in enumerate(parents))
    return {*pairs_two_apart(parents), *neighbours}


def joints_between(parents: Ints, a: int, b: int) -> tuple[int, int]:
    """The two joints between link groups a and b, a < b; twice the same if there is only one."""
    parent = int(parents[b - 1])
    if parent == a - 1:
        return b - 1, b - 1
    return (a - 1 if a > 0 and parents[a - 1] == parent else parent), b - 1


def table_between(
    tree: Tree, meshes: Sequence[list[Mesh]] | Mapping[int, list[Mesh]], a: int, b: int
) -> Table | None:
    """The table of the distance between link groups that are two apart, if both have meshes.

    It is also None if one of the two joints is prismatic and has no limits.

    Args:
        tree: The robot.
        meshes: The solids of each link group, in its frame.
        a: The first link group.
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
    # From a, its own joint is passed backwards, with the negative value, then the way to the other.
    across = np.stack([np.eye(4), inverse(links[0]) @ links[1]])
    backwards = np.array([-flat[1], -flat[0], flat[2], flat[3]])
    distances, _, always_touch = tabulate(meshes[a], meshes[b], across, prismatic, backwards)
    return Table(np.ascontiguousarray(distances[::-1]), flat, always_touch)


def covers_limits(tree: Tree, pair: tuple[int, int], table: Table) -> bool:
    """Whether a table of two link groups has all values of its prismatic joints."""
    for joint, ends in zip(
        joints_between(tree.parents, *pair), table.ranges.reshape(2, 2), strict=True
    ):
        lower, upper = _limits(tree, joint)
        if tree.kinds[joint] == PRISMATIC and not (ends[0] <= lower and upper <= ends[1]):
            return False
    return True


def _limits(tree: Tree, joint: int) -> Floats:
    """(2,) lower and upper limit of a joint, also of one that follows another; may be infinite."""
    variable = tree.variables[joint]
    limits = np.array([tree.lower[variable], tree.upper[variable]])
    limits = np.where(np.abs(limits) < UNLIMITED, limits, np.copysign(np.inf, limits))
    return np.sort(tree.ratios[joint] * limits + tree.offsets[joint])
