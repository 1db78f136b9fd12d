"""A shape and its obstacles packed for the proof that edges are free; see ``kernels.layout.edges``.

A shape is packed once for all scenes, with what bounds the motion of its link groups.

Radii are larger by what is rounded, so that the proof holds in exact arithmetic. A frame after b
joints is the result of at most 16 b roundings of numbers no larger than the robot, L [m], and so is
that of ``is_free``. Both are less than 64 (b + 2) L times the unit roundoff. A distance from an
obstacle is the result of less than 16 roundings of numbers no larger than its own and L.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.kernels.layout.arrays import Bools, Floats, Ints
from jointwise.kernels.layout.edges import (
    BOUND_END,
    BOUND_FIRST,
    BOUND_RADIUS,
    BOUND_SPREAD,
    CLUSTER_NUMBERS,
    CLUSTER_SIZE,
    GROUP_END,
    GROUP_FIRST,
    GROUP_FRAME,
    GROUP_NUMBERS,
    JOINT_NUMBERS,
    JOINT_OFFSET,
    JOINT_PARENT,
    JOINT_PRISMATIC,
    JOINT_RATIO,
    JOINT_TILT_COS,
    JOINT_TILT_SIN,
    JOINT_TWIST_COS,
    JOINT_TWIST_SIN,
    JOINT_TWISTS,
    JOINT_VARIABLE,
    JOINT_X,
    JOINT_Z,
    TABLE_BITS,
    TABLE_BLOCK,
    TABLE_BLOCKS,
    TABLE_SIDE,
    EdgeModel,
    pack_edges,
)
from jointwise.kernels.layout.scene import (
    BLOCK,
    BOX_NUMBERS,
    CYLINDER_NUMBERS,
    FAR,
    World,
)
from jointwise.kernels.layout.spheres import TABLE_CELLS, Spheres
from jointwise.kernels.layout.tree import Tree
from jointwise.model.tree_poses import motions, square
from jointwise.scene.collision_model import CollisionModel
from jointwise.scene.scene import kernel_world
from jointwise.shape.geometry import Geometry, group_spheres, kernel_spheres, kernel_tree
from jointwise.shape.link_groups import move_spheres

# Models that are kept.
MAX_MODELS = 64
# The unit roundoff, and how many roundings make an error at most.
ROUNDOFF, ROUNDINGS = 2.0**-52, 64.0
# Steps towards the farthest sphere, to find a small sphere around a cluster.
BOUND_STEPS = 100
TURN = 2.0 * np.pi


@dataclass(frozen=True, slots=True, eq=False)
class EdgeShape:
    """A robot at a place, without obstacles.

    Attributes:
        variables: Number of independent variables.
        model: The robot; it has no obstacles and no margin.
        numbers: (g,) the number that each link group has in its geometry.
        roots: (g, 3) a fixed point for each link group [m], world frame.
        reach: (g,) all of its spheres are within that distance of it [m]; infinite for those that
            a prismatic joint moves.
        rounded_by: How far a sphere is displaced by rounding, at most [m].
    """

    variables: int
    model: EdgeModel
    numbers: Ints
    roots: Floats
    reach: Floats
    rounded_by: float


@lru_cache(MAX_MODELS)
def packed_edges(collision: CollisionModel, base: tuple[float, ...] | None) -> Floats:
    """A robot with a fixed base, its shape and its obstacles, as the kernels of edges read them.

    Args:
        collision: The shape and the obstacles.
        base: The (4, 4) numbers of the base's pose in the world; None for the identity.
    """
    geometry, allowed = collision.for_kernels()
    shape = _edge_shape(geometry, base)
    return pack_edges(shape.variables, _with_world(shape, collision, allowed))


@lru_cache(MAX_MODELS)
def _edge_shape(geometry: Geometry, base: tuple[float, ...] | None) -> EdgeShape:
    pose = np.eye(4) if base is None else np.reshape(base, (4, 4))
    tree, own = kernel_tree(geometry), kernel_spheres(geometry)
    frames, joints, turned = _joints(tree, pose)
    numbers: list[int] = []
    clusters: list[Floats] = []
    groups: list[list[float]] = []
    for number, part in enumerate(group_spheres(geometry)):
        if len(part):
            frame, transform = frames[number]
            placed = turned[frame] @ transform
            parts = _clusters(move_spheres(placed, part))
            first = len(clusters)
            clusters += parts
            bound = move_spheres(placed, own.bounds[None, number])[0]
            centres = np.concatenate(parts)[:, :3]
            spread = np.linalg.norm(centres - bound[:3], axis=1).max()
            groups.append([*bound, spread, first, len(clusters), frame, 0, 0])
            numbers.append(number)
    rows = np.array(groups).reshape(-1, GROUP_NUMBERS)
    all_spheres, bounds = np.concatenate([np.empty((0, 4)), *clusters]), _cluster_bounds(clusters)
    levers, roots, reach = _levers(joints, rows, bounds, all_spheres)
    pairs = _pairs(own.pairs, numbers, rows, joints)
    tables, table_rows = _tables(own, tree, frames, joints)
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


def _joints(tree: Tree, base: Floats) -> tuple[list[tuple[int, Floats]], Floats, Floats]:
    """The joints that move, in the form of ``EdgeModel``.

    Returns:
        The frame that carries each link group of the tree, with the pose of the group's own frame
        there before the rotation about z; (b, 13) the joints; and (b+1, 4, 4) the rotations of
        frames about z, by which coordinates in them are multiplied.
    """
    carried: list[tuple[int, Floats]] = [(0, base)]  # of the base and of each joint
    rows: list[Floats] = []
    angles: list[tuple[float, float, float]] = []  # phi, tilt and theta: Rz(phi) Rx(tilt) Rz(theta)
    offsets: list[Floats] = []
    for j, parent in enumerate(tree.parents.tolist()):
        frame, transform = carried[parent + 1]
        placement = transform @ square(tree.placements[j])
        prismatic = bool(tree.kinds[j] == PRISMATIC)
        if tree.ratios[j] == 0.0:  # fixed, such as a thing that is held
            value = np.array([tree.offsets[j]])
            carried.append((frame, placement @ motions(np.array([prismatic]), value)[0]))
            continue
        row = np.zeros(JOINT_NUMBERS)
        row[[JOINT_PARENT, JOINT_PRISMATIC, JOINT_VARIABLE]] = frame, prismatic, tree.variables[j]
        row[[JOINT_OFFSET, JOINT_RATIO]] = tree.offsets[j], tree.ratios[j]
        rows.append(row)
        angles.append(_euler(placement[:3, :3]))
        offsets.append(placement[:3, 3])
        carried.append((len(rows), np.eye(4)))
    own = np.zeros(len(rows) + 1)  # the rotation of each frame about its z
    for i in range(len(rows), 0, -1):  # the first child is the last that is looked at
        parent = int(rows[i - 1][JOINT_PARENT])
        own[parent] = angles[i - 1][0]
    own[0] = 0.0
    for i, row in enumerate(rows, 1):
        if row[JOINT_PRISMATIC]:
            own[i] = -angles[i - 1][2]
    for i, (row, (phi, tilt, theta)) in enumerate(zip(rows, angles, strict=True), 1):
        twist = phi - own[int(row[JOINT_PARENT])]
        row[[JOINT_TILT_COS, JOINT_TILT_SIN]] = np.cos(tilt), np.sin(tilt)
        row[[JOINT_TWIST_COS, JOINT_TWIST_SIN]] = np.cos(twist), np.sin(twist)
        row[JOINT_TWISTS] = twist != 0.0
        row[JOINT_X : JOINT_Z + 1] = _about_z(-phi)[:3, :3] @ offsets[i - 1]
        if not row[JOINT_PRISMATIC]:
            row[JOINT_OFFSET] += theta + own[i]
    turned = np.array([_about_z(-angle) for angle in own])
    return carried, np.array(rows).reshape(-1, JOINT_NUMBERS), turned


def _euler(rotation: Floats) -> tuple[float, float, float]:
    """(phi, tilt, theta) with Rz(phi) Rx(tilt) Rz(theta) the rotation (3, 3)."""
    x, y, z = rotation[:, 2]
    phi = float(np.arctan2(x, -y)) if x != 0.0 or y != 0.0 else 0.0
    tilt = float(np.arctan2(np.hypot(x, y), z))
    c, s = np.cos(phi), np.sin(phi)
    theta = float(
        np.arctan2(
            -(c * rotation[0, 1] + s * rotation[1, 1]), c * rotation[0, 0] + s * rotation[1, 0]
        )
    )
    return phi, tilt, theta


def _about_z(angle: float) -> Floats:
    pose = np.eye(4)
    pose[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return pose


def _clusters(spheres: Floats) -> list[Floats]:
    """Spheres (k, 4) in compact clusters: halved along the longest side."""
    if len(spheres) <= CLUSTER_SIZE:
        return [spheres]
    longest = np.ptp(spheres[:, :3], axis=0).argmax()
    ordered = spheres[spheres[:, longest].argsort(kind="stable")]
    half = len(ordered) // 2
    return _clusters(ordered[:half]) + _clusters(ordered[half:])


def _cluster_bounds(clusters: list[Floats]) -> Floats:
    """(s, 7) small spheres around clusters, all at once (Badoiu and Clarkson)."""
    if not clusters:
        return np.empty((0, CLUSTER_NUMBERS))
    counts = [len(each) for each in clusters]
    padded = np.stack([each[np.arange(CLUSTER_SIZE) % len(each)] for each in clusters])
    centres, radii = padded[..., :3], padded[..., 3]
    centre, every = centres.mean(axis=1), np.arange(len(padded))
    best, least = centre, np.full(len(padded), np.inf)
    for step in range(1, BOUND_STEPS):
        reach = np.linalg.norm(centres - centre[:, None], axis=2) + radii
        farthest = reach.argmax(axis=1)
        most = reach[every, farthest]
        best = np.where((most < least)[:, None], centre, best)
        least = np.minimum(most, least)
        away = centres[every, farthest] - centre
        length = np.maximum(np.linalg.norm(away, axis=1), 1e-300)
        centre = centre + away * (most / length / (step + 1))[:, None]
    bounds = np.zeros((len(padded), CLUSTER_NUMBERS))
    bounds[:, :3], bounds[:, BOUND_RADIUS] = best, least * (1.0 + 1e-12)
    bounds[:, BOUND_SPREAD] = np.linalg.norm(centres - best[:, None], axis=2).max(axis=1)
    bounds[:, BOUND_END] = np.cumsum(counts)
    bounds[:, BOUND_FIRST] = bounds[:, BOUND_END] - counts
    return bounds


def _group_spheres(group: Floats, bounds: Floats, spheres: Floats) -> Floats:
    """The spheres of a link group of ``EdgeModel``."""
    parts = bounds[int(group[BOUND_FIRST]) : int(group[BOUND_END])]
    return spheres[int(parts[0, BOUND_FIRST]) : int(parts[-1, BOUND_END])]


def _levers(
    joints: Floats, groups: Floats, bounds: Floats, spheres: Floats
) -> tuple[Floats, Floats, Floats]:
    """(g, b) the levers of ``EdgeModel``, and ``roots`` and ``reach`` of ``EdgeShape``."""
    levers, roots = np.zeros((len(groups), len(joints))), groups[:, :3].copy()
    reach = groups[:, BOUND_RADIUS].copy()
    for c, group in enumerate(groups):
        own = _group_spheres(group, bounds, spheres)
        across = np.linalg.norm(own[:, :2], axis=1).max()
        away, frame, slides = (
            np.linalg.norm(own[:, :3], axis=1).max(),
            int(group[GROUP_FRAME]),
            False,
        )
        while frame:
            joint = joints[frame - 1]
            is_prismatic = bool(joint[JOINT_PRISMATIC])
            levers[c, frame - 1] = 1.0 if is_prismatic else across
            offset = joint[JOINT_X : JOINT_Z + 1]
            slides = slides or is_prismatic
            frame = int(joint[JOINT_PARENT])
            reach[c] = np.inf if slides else away + own[:, 3].max()
            twist = np.array([joint[JOINT_TWIST_COS], joint[JOINT_TWIST_SIN]])
            roots[c] = _rotated(twist, offset)
            across = float(np.linalg.norm(offset[:2]) + away)
            away = float(np.linalg.norm(offset) + away)
    return levers, roots, reach


def _rotated(turn: Floats, offset: Floats) -> Floats:
    """An offset (3,) rotated about z, by cosine and sine."""
    c, s = turn
    return np.array([c * offset[0] - s * offset[1], s * offset[0] + c * offset[1], offset[2]])


def _size(joints: Floats, groups: Floats, spheres: Floats) -> float:
    """No point is farther from the base, with all prismatic joints at 0 [m]."""
    links = np.linalg.norm(joints[:, JOINT_X : JOINT_Z + 1], axis=1).sum()
    return float(links + np.abs(spheres).sum(axis=1).max(initial=0.0))


def _pairs(pairs: Ints, numbers: list[int], groups: Floats, joints: Floats) -> Floats:
    """(p, 3) the pairs of ``EdgeModel``; those of link groups without spheres are left out."""
    index = {number: c for c, number in enumerate(numbers)}
    rows = []
    for a, b in pairs.tolist():
        if a in index and b in index:
            i, j = index[a], index[b]
            above = {0}
            frame = int(groups[i, GROUP_FRAME])
            while frame:
                above.add(frame)
                frame = int(joints[frame - 1, JOINT_PARENT])
            frame = int(groups[j, GROUP_FRAME])
            while frame not in above:
                frame = int(joints[frame - 1, JOINT_PARENT])
            rows.append((i, j, frame))
    return np.array(rows, np.float64).reshape(-1, 3)


def _tables(
    own: Spheres, tree: Tree, frames: list[tuple[int, Floats]], joints: Floats
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
    blocks = contact.reshape(-1, TABLE_BLOCKS, TABLE_BLOCK, TABLE_BLOCKS, TABLE_BLOCK)
    twice = np.tile(blocks.any(axis=(2, 4)), 2)
    coarse = twice @ 2.0 ** np.arange(2 * TABLE_BLOCKS)
    fine = contact.reshape(len(contact), 2 * TABLE_CELLS, TABLE_BITS) @ 2.0 ** np.arange(TABLE_BITS)
    return sides.reshape(-1, 2 * TABLE_SIDE), np.hstack([coarse, fine])


def _with_world(shape: EdgeShape, collision: CollisionModel, allowed: Bools | None) -> EdgeModel:
    """The robot among the obstacles of a scene."""
    world, margin = kernel_world(collision.scene), collision.margin
    boxes, cylinders = (
        _rows(world.boxes, BOX_NUMBERS, 9),
        _rows(world.cylinders, CYLINDER_NUMBERS, 0),
    )
    grids = world.grids
    size = np.concatenate(
        [
            np.abs(boxes[:, 9:]).sum(axis=1),
            np.abs(cylinders).sum(axis=1),
            np.abs(grids[:, :3]).sum(axis=1),
        ]
    )
    radii = np.concatenate([boxes[:, 15], np.zeros(len(cylinders) + len(grids))])
    pads = radii + margin + shape.rounded_by + ROUNDINGS * ROUNDOFF * size
    checked = _reachable(shape, boxes, cylinders, len(grids), pads)
    if allowed is not None:
        checked &= ~allowed[shape.numbers][:, _numbers(world, boxes, cylinders)]
    groups = shape.model.groups.copy()
    groups[:, GROUP_END] = np.cumsum(checked.sum(axis=1))
    groups[:, GROUP_FIRST] = groups[:, GROUP_END] - checked.sum(axis=1)
    return shape.model._replace(
        groups=groups,
        boxes=boxes,
        cylinders=cylinders,
        grids=grids,
        distances=world.distances,
        pads=pads,
        candidates=np.nonzero(checked)[1].astype(np.float64),
        margin=margin + 2.0 * shape.rounded_by,
    )


def _rows(blocks: Floats, numbers: int, column: int) -> Floats:
    """The obstacles of a kind, a row each, from blocks; without those that fill the last block."""
    rows = blocks.reshape(-1, numbers, BLOCK).swapaxes(1, 2).reshape(-1, numbers)
    return np.ascontiguousarray(rows[rows[:, column] < FAR])


def _numbers(world: World, boxes: Floats, cylinders: Floats) -> Ints:
    """The numbers of obstacles as ``numbered_names`` has them."""
    before = world.boxes.size // BOX_NUMBERS, world.cylinders.size // CYLINDER_NUMBERS
    return np.concatenate(
        [
            np.arange(len(boxes)),
            before[0] + np.arange(len(cylinders)),
            sum(before) + np.arange(len(world.grids)),
        ]
    )


def _reachable(
    shape: EdgeShape, boxes: Floats, cylinders: Floats, grids: int, pads: Floats
) -> Bools:
    """(g, o) which obstacles a link group may touch; links fixed to the base stand on one."""
    points = shape.roots[:, None]
    local = np.einsum(
        "mij,gmj->gmi",
        boxes[:, :9].reshape(-1, 3, 3),
        np.broadcast_to(points, (len(points), len(boxes), 3)),
    )
    beyond = np.maximum(np.abs(local + boxes[:, 9:12]) - boxes[:, 12:15], 0.0)
    from_boxes = np.linalg.norm(beyond, axis=2)
    offset, axis = points - cylinders[:, :3], cylinders[:, 3:6]
    along = (offset * axis).sum(axis=2)
    across = np.linalg.norm(offset - along[..., None] * axis, axis=2) - cylinders[:, 6]
    from_cylinders = np.hypot(
        np.maximum(across, 0.0), np.maximum(np.abs(along) - cylinders[:, 7], 0.0)
    )
    distances = np.hstack([from_boxes, from_cylinders, np.zeros((len(points), grids))])
    near: Bools = distances <= shape.reach[:, None] + pads + 1e-6
    near[shape.numbers == 0] = False
    return near
