"""What the proof needs that an edge is free, packed into one buffer; and its scratch memory.

An *edge* is the straight motion between two configurations. The same numbers describe a serial arm
and a tree: joints in an order in which a parent precedes its children. Frame 0 is the base, and
joint i carries frame i+1, whose origin and z are those of the joint:

    T_base_frame[i+1] = T_base_frame[parent] · Rz(twist) · Trans(x, y, z) · Rx(tilt) · M(value)

The rotation of a frame about its own z is chosen so that its first child needs no twist.
"""

from typing import NamedTuple

import numpy as np

from jointwise.kernels.layout.arrays import Floats, packed_view
from jointwise.kernels.layout.scene import BOX_NUMBERS, CYLINDER_NUMBERS, GRID_NUMBERS
from jointwise.kernels.layout.slots import WIDTH
from jointwise.kernels.layout.spheres import TABLE_CELLS

# What is known of an edge. It is proven free; a configuration on it collides, or is nearer than the
# margin; or neither could be shown, since it is nearer than the motion that is no longer divided.
EDGE_FREE, EDGE_TOUCHES, EDGE_UNDECIDED = range(3)
# An interval in which no point moves farther is not divided again: half of it to each side [m].
EDGE_RESOLUTION = 0.0005
# Intervals of an edge that wait to be checked, at most; beyond, it is undecided.
EDGE_QUEUE = 4096
# A packed model begins with its sizes, the margin [m], and the sum of levers, by which the rounding
# of joint values moves a point at most [m/rad].
(
    EDGE_VARIABLES,
    EDGE_JOINTS,
    EDGE_GROUPS,
    EDGE_CLUSTERS,
    EDGE_SPHERES,
    EDGE_PAIRS,
    EDGE_TABLES,
    EDGE_BOXES,
    EDGE_CYLINDERS,
    EDGE_GRIDS,
    EDGE_DISTANCES,
    EDGE_CANDIDATES,
    EDGE_MARGIN,
    EDGE_LEVER,
    EDGE_HEADER,
) = range(15)
# Columns of a joint: the frame of its parent; 1 if prismatic; its variable, with the value of the
# joint at 0 and its change per unit; cosine and sine of the tilt; the offset; 1 if it has a twist,
# with its cosine and sine.
(
    JOINT_PARENT,
    JOINT_PRISMATIC,
    JOINT_VARIABLE,
    JOINT_OFFSET,
    JOINT_RATIO,
    JOINT_TILT_COS,
    JOINT_TILT_SIN,
    JOINT_X,
    JOINT_Y,
    JOINT_Z,
    JOINT_TWISTS,
    JOINT_TWIST_COS,
    JOINT_TWIST_SIN,
    JOINT_NUMBERS,
) = range(14)
# Columns of a bounding sphere: centre, radius, greatest distance of a sphere's centre from it; the
# first of its parts and the one after the last: clusters of a group, spheres of a cluster. Of a
# group, also its frame, and its candidates: obstacles that it can reach.
(
    BOUND_X,
    BOUND_Y,
    BOUND_Z,
    BOUND_RADIUS,
    BOUND_SPREAD,
    BOUND_FIRST,
    BOUND_END,
    CLUSTER_NUMBERS,
) = range(8)
GROUP_FRAME, GROUP_FIRST, GROUP_END, GROUP_NUMBERS = range(7, 11)
# Spheres of a cluster, at most.
CLUSTER_SIZE = 8
# Columns of a pair of groups: the frame that carries the frames of both, directly or not.
PAIR_A, PAIR_B, PAIR_COMMON, PAIR_NUMBERS = range(4)
# Columns of a table: for each of two joints its number, the lower end of its range, cells per unit,
# and 1 if it is wrapped.
TABLE_JOINT, TABLE_LOWER, TABLE_SCALE, TABLE_WRAPS, TABLE_SIDE = range(5)
# A table has a row of bits for each cell of the first joint: bit j of the row is 1 where cell j of
# the second joint may be in contact. A number holds this many bits of a row.
TABLE_BITS = TABLE_CELLS // 2
# Before that, a number for each row of blocks of cells: 1 for a block with a cell that may be in
# contact; the bits are there twice, for ranges that are wrapped.
TABLE_BLOCK = 8
TABLE_BLOCKS = TABLE_CELLS // TABLE_BLOCK
TABLE_ROWS = TABLE_BLOCKS + 2 * TABLE_CELLS
# Numbers of a frame in lanes: columns of the rotation, origin, velocity of rotation, velocity of
# the origin, speed of rotation.
FRAME_NUMBERS = 19


class EdgeModel(NamedTuple):
    """A robot of v variables, its shape, and its obstacles, world frame.

    Attributes:
        joints: (b, 13) the joints.
        groups: (g, 10) the link groups with spheres.
        levers: (g, b) greatest distance of the centres of a group's spheres from the axis of each
            joint that moves it, at any joint values, with all prismatic joints in between at 0 [m];
            1 for a prismatic joint, and 0 for a joint that does not move the group.
        clusters: (s, 7) spheres around at most 8 spheres of a group that are near each other.
        spheres: (k, 4) centre and radius [m], in the frame of their group.
        pairs: (p, 3) groups that are checked against each other.
        tables: (t, 8) pairs of groups whose contact is tabulated.
        table_rows: (t, 204) the bits of the tables.
        boxes: (m, 16) the numbers of rounded boxes, as ``World`` has them, a row each.
        cylinders: (c, 8) those of cylinders.
        grids: (d, 8) those of grids.
        distances: (w,) the distances of all grids.
        pads: (m + c + d,) what a sphere must keep from the core of an obstacle: its radius, the
            margin, and what is rounded [m].
        candidates: Numbers of obstacles, those of a group after another.
        margin: What groups must keep from each other, and what is rounded [m].
        lever: Greatest sum of the levers of a group.
    """

    joints: Floats
    groups: Floats
    levers: Floats
    clusters: Floats
    spheres: Floats
    pairs: Floats
    tables: Floats
    table_rows: Floats
    boxes: Floats
    cylinders: Floats
    grids: Floats
    distances: Floats
    pads: Floats
    candidates: Floats
    margin: float
    lever: float


class EdgeWorkspace(NamedTuple):
    """Scratch of a check, for one thread. Numbers in lanes have one more axis, (8,).

    Attributes:
        candidates: As in the model; an obstacle that was in contact moves to the front.
        starts: (b,) the values of the joints where the edge begins [rad, m].
        rates: (b,) by how much they change along it.
        turns: (b+1,) by how much the joints up to each frame rotate, at most [rad].
        motions: (g, 2) bounds of the speed [m] and the acceleration of each group's centres.
        relative: (p, 2) the same of the second group of a pair, seen from the first; -1 if not yet
            computed.
        is_placed: (g + s,) 1 for groups whose clusters are placed, and clusters whose spheres are.
        queue: (2, 4096) middles and half-widths of the intervals that wait, as shares of the edge.
        times: (2,) middles and half-widths of the intervals that are checked side by side, lanes.
        values: (b,) joint values, lanes.
        frames: (b+1, 19) the frames, lanes.
        bounds: (g, 4) bounding spheres: centre, and motion within the interval [m], lanes.
        clusters: (s, 4) the same of the clusters, lanes.
        spheres: (k, 3) centres of spheres, lanes.
    """

    candidates: Floats
    starts: Floats
    rates: Floats
    turns: Floats
    motions: Floats
    relative: Floats
    is_placed: Floats
    queue: Floats
    times: Floats
    values: Floats
    frames: Floats
    bounds: Floats
    clusters: Floats
    spheres: Floats


def pack_edges(variables: int, model: EdgeModel) -> Floats:
    """One buffer with all numbers of a model."""
    sizes = (
        variables,
        *map(len, (model.joints, model.groups, model.clusters, model.spheres, model.pairs)),
        *map(len, (model.tables, model.boxes, model.cylinders, model.grids, model.distances)),
        len(model.candidates),
    )
    header = [*sizes, model.margin, model.lever]
    return np.concatenate([np.ravel(each) for each in (header, *model[:-2])], dtype=np.float64)


def unpack_edges(packed: Floats) -> EdgeModel:
    """The model in a buffer that ``pack_edges`` made; its arrays are views."""
    b, g, s = int(packed[EDGE_JOINTS]), int(packed[EDGE_GROUPS]), int(packed[EDGE_CLUSTERS])
    k, p, t = int(packed[EDGE_SPHERES]), int(packed[EDGE_PAIRS]), int(packed[EDGE_TABLES])
    m, c, d = int(packed[EDGE_BOXES]), int(packed[EDGE_CYLINDERS]), int(packed[EDGE_GRIDS])
    w, e = int(packed[EDGE_DISTANCES]), int(packed[EDGE_CANDIDATES])
    groups = EDGE_HEADER + JOINT_NUMBERS * b
    levers = groups + GROUP_NUMBERS * g
    clusters = levers + g * b
    spheres = clusters + CLUSTER_NUMBERS * s
    pairs = spheres + 4 * k
    tables = pairs + PAIR_NUMBERS * p
    table_rows = tables + 2 * TABLE_SIDE * t
    boxes = table_rows + TABLE_ROWS * t
    cylinders = boxes + BOX_NUMBERS * m
    grids = cylinders + CYLINDER_NUMBERS * c
    distances = grids + GRID_NUMBERS * d
    pads = distances + w
    return EdgeModel(
        packed_view(packed, EDGE_HEADER, (b, JOINT_NUMBERS)),
        packed_view(packed, groups, (g, GROUP_NUMBERS)),
        packed_view(packed, levers, (g, b)),
        packed_view(packed, clusters, (s, CLUSTER_NUMBERS)),
        packed_view(packed, spheres, (k, 4)),
        packed_view(packed, pairs, (p, PAIR_NUMBERS)),
        packed_view(packed, tables, (t, 2 * TABLE_SIDE)),
        packed_view(packed, table_rows, (t, TABLE_ROWS)),
        packed_view(packed, boxes, (m, BOX_NUMBERS)),
        packed_view(packed, cylinders, (c, CYLINDER_NUMBERS)),
        packed_view(packed, grids, (d, GRID_NUMBERS)),
        packed_view(packed, distances, (w,)),
        packed_view(packed, pads, (m + c + d,)),
        packed_view(packed, pads + m + c + d, (e,)),
        packed[EDGE_MARGIN],
        packed[EDGE_LEVER],
    )


def edge_work_size(packed: Floats) -> int:
    """Numbers in the scratch memory of ``unpack_edge_work``."""
    b, g, s = int(packed[EDGE_JOINTS]), int(packed[EDGE_GROUPS]), int(packed[EDGE_CLUSTERS])
    k, p, e = int(packed[EDGE_SPHERES]), int(packed[EDGE_PAIRS]), int(packed[EDGE_CANDIDATES])
    lanes = 2 + b + FRAME_NUMBERS * (b + 1) + 4 * g + 4 * s + 3 * k
    return e + 3 * b + 1 + 3 * g + 2 * p + s + 2 * EDGE_QUEUE + WIDTH * lanes


def unpack_edge_work(packed: Floats, work: Floats) -> EdgeWorkspace:
    """Views of a buffer of ``edge_work_size`` numbers, for the packed model."""
    b, g, s = int(packed[EDGE_JOINTS]), int(packed[EDGE_GROUPS]), int(packed[EDGE_CLUSTERS])
    k, p, e = int(packed[EDGE_SPHERES]), int(packed[EDGE_PAIRS]), int(packed[EDGE_CANDIDATES])
    motions = e + 3 * b + 1
    relative = motions + 2 * g
    is_placed = relative + 2 * p
    queue = is_placed + g + s
    times = queue + 2 * EDGE_QUEUE
    values = times + 2 * WIDTH
    frames = values + WIDTH * b
    bounds = frames + FRAME_NUMBERS * WIDTH * (b + 1)
    clusters = bounds + 4 * WIDTH * g
    spheres = clusters + 4 * WIDTH * s
    return EdgeWorkspace(
        packed_view(work, 0, (e,)),
        packed_view(work, e, (b,)),
        packed_view(work, e + b, (b,)),
        packed_view(work, e + 2 * b, (b + 1,)),
        packed_view(work, motions, (g, 2)),
        packed_view(work, relative, (p, 2)),
        packed_view(work, is_placed, (g + s,)),
        packed_view(work, queue, (2, EDGE_QUEUE)),
        packed_view(work, times, (2, WIDTH)),
        packed_view(work, values, (b, WIDTH)),
        packed_view(work, frames, (b + 1, FRAME_NUMBERS, WIDTH)),
        packed_view(work, bounds, (g, 4, WIDTH)),
        packed_view(work, clusters, (s, 4, WIDTH)),
        packed_view(work, spheres, (k, 3, WIDTH)),
    )
