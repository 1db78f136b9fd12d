"""The shape of a robot packed for the proof that edges are free, with bounds of its motion.

Rounding displaces spheres. A frame after b joints is the result of at most 16 b roundings of
numbers no larger than the robot, L [m], here and in ``is_free``. Both errors together are less than
64 (b + 2) L times the unit roundoff.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from jointwise.engines.edges.clusters import cluster_bounds, clusters_of
from jointwise.engines.edges.joints import edge_joints
from jointwise.engines.levers import joints_to_base, levers_to_base
from jointwise.kernels.layout.arrays import Bools, Floats, Ints
from jointwise.kernels.layout.edges import (
    BOUND_END,
    BOUND_FIRST,
    BOUND_RADIUS,
    GROUP_FRAME,
    GROUP_NUMBERS,
    JOINT_OFFSET,
    JOINT_PARENT,
    JOINT_PRISMATIC,
    JOINT_TWIST_COS,
    JOINT_TWIST_SIN,
    JOINT_X,
    JOINT_Z,
    TABLE_BITS,
    TABLE_BLOCK,
    TABLE_BLOCKS,
    TABLE_SIDE,
    EdgeModel,
)
from jointwise.kernels.layout.scene import BOX_NUMBERS, CYLINDER_NUMBERS
from jointwise.kernels.layout.spheres import TABLE_CELLS, Spheres
from jointwise.kernels.layout.tree import Tree
from jointwise.shape.geometry import Geometry, group_spheres, kernel_spheres, kernel_tree
from jointwise.shape.link_groups import move_spheres

# Number of cached shapes.
MAX_SHAPES = 64
# The unit roundoff, and the greatest number of roundings in an error.
ROUNDOFF, ROUNDINGS = 2.0**-52, 64.0
TURN = 2.0 * np.pi


@dataclass(frozen=True, slots=True, eq=False)
class EdgeShape:
    """A robot with a fixed base, without obstacles.

    Attributes:
        variables: Number of independent variables.
        model: The robot; it has no obstacles and no margin.
        numbers: (g,) the number of each link group in the geometry.
        roots: (g, 3) a fixed point for each link group [m], world frame.
        reach: (g,) greatest distance of the spheres of each link group from its root [m]; infinite
            for link groups that a prismatic joint moves.
        rounded_by: Greatest displacement of a sphere by rounding [m].
    """

    variables: int
    model: EdgeModel
    numbers: Ints
    roots: Floats
    reach: Floats
    rounded_by: float


@lru_cache(MAX_SHAPES)
def edge_shape(
    geometry: Geometry, base: tuple[float, ...] | None, widened: bool = False
) -> EdgeShape:
    """A robot with a fixed base, packed once for all scenes.

    Args:
        geometry: The shape.
        base: The (4, 4) numbers of the base's pose in the world; None for the identity.
        widened: Whether the neighbours of a cell in contact count as in contact, in tables.
    """
    pose = np.eye(4) if base is None else np.reshape(base, (4, 4))
    tree, own = kernel_tree(geometry), kernel_spheres(geometry)
    frames, joints, turned = edge_joints(tree, pose)
    numbers: list[int] = []
    clusters: list[Floats] = []
    groups: list[list[float]] = []
    for number, part in enumerate(group_spheres(geometry)):
        if len(part):
            frame, transform = frames[number]
            placed = turned[frame] @ transform
            parts = clusters_of(move_spheres(placed, part))
            first = len(clusters)
            clusters += parts
            bound = move_spheres(placed, own.bounds[None, number])[0]
            centres = np.concatenate(parts)[:, :3]
            spread = np.linalg.norm(centres - bound[:3], axis=1).max()
            groups.append([*bound, spread, first, len(clusters), frame, 0, 0])
            numbers.append(number)
    rows = np.array(groups).reshape(-1, GROUP_NUMBERS)
    all_spheres, bounds = np.concatenate([np.empty((0, 4)), *clusters]), cluster_bounds(clusters)
    levers, roots, reach = _levers(joints, rows, bounds, all_spheres)
    pairs = _pairs(own.pairs, numbers, rows, joints)
    tables, table_rows = _tables(own, tree, frames, joints, widened)
    size = float(np.abs(roots).sum(axis=1).max(initial=0.0) + _size(joints, rows, all_spheres))
    model = EdgeModel(
        joints,
        rows,
        levers,
        bounds,
        all_spheres,
        pairs,
        tables,
        table_rows,
        np.empty((0, BOX_NUMBERS)),
        np.empty((0, CYLINDER_NUMBERS)),
        np.empty((0, 8)),
        np.empty(0),
        np.empty(0),
        np.empty(0),
        0.0,
        float(levers.sum(axis=1).max(initial=1.0)),
    )
    rounded_by = ROUNDINGS * ROUNDOFF * (len(joints) + 2) * size
    return EdgeShape(len(tree.lower), model, np.array(numbers, int), roots, reach, rounded_by)


def _group_spheres(group: Floats, bounds: Floats, spheres: Floats) -> Floats:
    """The spheres of a link group of ``EdgeModel``."""
    parts = bounds[int(group[BOUND_FIRST]) : int(group[BOUND_END])]
    return spheres[int(parts[0, BOUND_FIRST]) : int(parts[-1, BOUND_END])]


def _levers(
    joints: Floats, groups: Floats, bounds: Floats, spheres: Floats
) -> tuple[Floats, Floats, Floats]:
    """(g, b) the levers of ``EdgeModel``, and ``roots`` and ``reach`` of ``EdgeShape``."""
    levers, roots = np.zeros((len(groups), len(joints))), groups[:, :3].copy()
    reach, parents, origins = groups[:, BOUND_RADIUS].copy(), _parents(joints), _origins(joints)
    for c, group in enumerate(groups):
        own = _group_spheres(group, bounds, spheres)
        slides = False
        for j, across, away in levers_to_base(
            own[:, :3], parents, origins, int(group[GROUP_FRAME]) - 1
        ):
            is_prismatic = bool(joints[j, JOINT_PRISMATIC])
            slides = slides or is_prismatic
            levers[c, j] = 1.0 if is_prismatic else across
            reach[c] = np.inf if slides else away + own[:, 3].max()
            roots[c] = _rotated(joints[j, [JOINT_TWIST_COS, JOINT_TWIST_SIN]], origins[j])
    return levers, roots, reach


def _parents(joints: Floats) -> list[int]:
    """(b,) the joint that moves the frame of each joint; -1 for the base."""
    return [int(frame) - 1 for frame in joints[:, JOINT_PARENT]]


def _origins(joints: Floats) -> Floats:
    """(b, 3) the origins of the frames of joints in those of their parents [m]."""
    return joints[:, JOINT_X : JOINT_Z + 1]


def _rotated(turn: Floats, offset: Floats) -> Floats:
    """An offset (3,) rotated about z, by cosine and sine."""
    c, s = turn
    return np.array([c * offset[0] - s * offset[1], s * offset[0] + c * offset[1], offset[2]])


def _size(joints: Floats, groups: Floats, spheres: Floats) -> float:
    """Greatest distance of a point from the base, with all prismatic joints at 0 [m]."""
    links = np.linalg.norm(joints[:, JOINT_X : JOINT_Z + 1], axis=1).sum()
    return float(links + np.abs(spheres).sum(axis=1).max(initial=0.0))


def _pairs(pairs: Ints, numbers: list[int], groups: Floats, joints: Floats) -> Floats:
    """(p, 3) the pairs of ``EdgeModel``; those of link groups without spheres are left out."""
    index, parents = {number: c for c, number in enumerate(numbers)}, _parents(joints)
    rows = []
    for a, b in pairs.tolist():
        if a in index and b in index:
            i, j = index[a], index[b]
            above, below = (
                list(joints_to_base(parents, int(groups[each, GROUP_FRAME]) - 1)) for each in (i, j)
            )
            rows.append((i, j, next((joint + 1 for joint in below if joint in above), 0)))
    return np.array(rows, np.float64).reshape(-1, 3)


def _tables(
    own: Spheres,
    tree: Tree,
    frames: list[tuple[int, Floats]],
    joints: Floats,
    widened: bool,
) -> tuple[Floats, Floats]:
    """(t, 8) the tables of ``EdgeModel``, and (t, 204) their bits."""
    sides = np.zeros((len(own.tables), 2, TABLE_SIDE))
    for k, two in enumerate(own.table_pairs[:, 2:].tolist()):
        for side, joint in enumerate(two):
            lower, upper = own.table_ranges[k, 2 * side : 2 * side + 2]
            index = frames[joint + 1][0] - 1
            shift = joints[index, JOINT_OFFSET] - tree.offsets[joint]
            wraps = abs(upper - lower - TURN) < 1e-9
            sides[k, side] = index, lower + shift, TABLE_CELLS / (upper - lower), wraps
    contact = own.tables < 0.0
    if widened:
        contact = _widened(contact)
    blocks = contact.reshape(-1, TABLE_BLOCKS, TABLE_BLOCK, TABLE_BLOCKS, TABLE_BLOCK)
    twice = np.tile(blocks.any(axis=(2, 4)), 2)
    coarse = twice @ 2.0 ** np.arange(2 * TABLE_BLOCKS)
    fine = contact.reshape(len(contact), 2 * TABLE_CELLS, TABLE_BITS) @ 2.0 ** np.arange(TABLE_BITS)
    return sides.reshape(-1, 2 * TABLE_SIDE), np.hstack([coarse, fine])


def _widened(contact: Bools) -> Bools:
    """Cells (t, c, c) with their neighbours; those at opposite ends of a range are neighbours."""
    for axis in (1, 2):
        contact = contact | np.roll(contact, 1, axis) | np.roll(contact, -1, axis)
    return contact
