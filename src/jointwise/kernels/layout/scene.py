"""A scene as kernels read it: the spheres of an arm, and the obstacles around it.

It follows the arm in its buffer, ``packed_arm``, so a kernel that takes an arm takes both. A flag
in the header of the buffer says so; without it nothing is checked.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from jointwise.kernels.layout.arm import (
    ARM_FLAGS,
    ARM_HEADER,
    HAS_ALLOWED_PAIRS,
    HAS_SCENE,
    NUMBERS_A_JOINT,
    OTHER_NUMBERS,
    arm_size,
)
from jointwise.kernels.layout.arrays import Bools, Floats, packed_view
from jointwise.kernels.layout.spheres import TABLE_CELLS, Spheres

# Numbers that place a rounded box: the rows of the rotation into its frame, the base's origin
# there, half its edges, the radius of its rounding. Of a cylinder: centre, axis, radius,
# half its length. Of a grid: first corner, edge of a cell, cells in each direction, first value.
BOX_NUMBERS, CYLINDER_NUMBERS, GRID_NUMBERS = 16, 8, 8
# Obstacles of a kind in a block, side by side; the rest of the last block is filled with far ones.
BLOCK, FAR = 8, 1e9
# A packed scene begins with its margin [m] and its sizes: spheres, pairs, tables; numbers of boxes,
# of cylinders, of grids, and of their distances; blocks of spheres.
SCENE_MARGIN, SCENE_SPHERES, SCENE_PAIRS, SCENE_TABLES = range(4)
SCENE_BOXES, SCENE_CYLINDERS, SCENE_GRIDS, SCENE_DISTANCES, SCENE_BLOCKS = range(4, 9)
SCENE_HEADER = 9
# The scene follows all numbers of an arm in its buffer, or its header alone.
AFTER_ARM, AFTER_HEADER = True, False


class World(NamedTuple):
    """The obstacles of a scene, base frame: one transposed array a kind.

    Attributes:
        boxes: (16 b, 8) rounded boxes, b blocks; a sphere and a capsule are such, too.
        cylinders: (8 c, 8) cylinders, c blocks.
        grids: (g, 8) where the distances of each grid are.
        distances: (v,) lower bounds of the distance [m] at the centres of all cells.
    """

    boxes: Floats
    cylinders: Floats
    grids: Floats
    distances: Floats


class CollisionScene(NamedTuple):
    """The spheres of an arm, and the world around it.

    Attributes:
        margin: The least clearance [m] of what counts as free.
        bounds: (n+2, 4) as in ``Spheres``, and so are the next four, with floats for integers.
        pairs: (p, 2).
        table_pairs: (t, 4).
        tables: (t, 96, 96).
        table_ranges: (t, 4).
        boxes: As in ``World``, and so are the next three.
        cylinders: (8 c, 8).
        grids: (g, 8).
        distances: (v,).
        sphere_blocks: (4 s, 8) the spheres, in s blocks of centres and radii. The blocks of a link
            group are compact; its last sphere fills the last of them.
        first_block: (n+3,) the blocks of link group c are those from first_block[c] on.
        has_allowed_pairs: Whether some pairs of a link group and an obstacle are not tested.
        allowed: (n+2, o, 8) 1 for these pairs, else 0; the obstacles are in o blocks. Without any
            such pair, (0, o, 8).
    """

    margin: float
    bounds: Floats
    pairs: Floats
    table_pairs: Floats
    tables: Floats
    table_ranges: Floats
    boxes: Floats
    cylinders: Floats
    grids: Floats
    distances: Floats
    sphere_blocks: Floats
    first_block: Floats
    has_allowed_pairs: bool
    allowed: Floats


def in_blocks(rows: Floats, padding: Floats) -> Floats:
    """Rows (k, m) of numbers of obstacles, transposed in blocks: (m b, 8).

    Args:
        rows: The obstacles of one kind.
        padding: (m,) one that is far away.
    """
    blocks = -(-len(rows) // BLOCK)
    padded = np.concatenate([rows, np.tile(padding, (blocks * BLOCK - len(rows), 1))])
    return np.ascontiguousarray(
        padded.reshape(blocks, BLOCK, len(padding)).swapaxes(1, 2).reshape(-1, BLOCK)
    )


def sphere_blocks(spheres: Spheres) -> tuple[Floats, Floats]:
    """The spheres in blocks (4 s, 8), and the first block of each link group (n+3,).

    Those of a link group are sorted along its longest side, so that those of a block are near each
    other.
    """
    blocks, first = [np.empty((0, BLOCK))], [0]
    for begin, end in pairwise(spheres.first):
        rows = np.column_stack([spheres.centres[begin:end], spheres.radii[begin:end]])
        if len(rows):
            longest = np.ptp(rows[:, :3], axis=0).argmax()
            rows = rows[rows[:, longest].argsort(kind="stable")]
            blocks.append(in_blocks(rows, rows[-1]))
        first.append(first[-1] - (begin - end) // BLOCK)
    return np.concatenate(blocks), np.array(first, np.float64)


def padding_mask(world: World) -> Bools:
    """(o,) which numbers of obstacles stand for none, but fill the last block of a kind."""
    boxes = world.boxes.reshape(-1, BOX_NUMBERS, BLOCK)[:, 9] >= FAR
    cylinders = world.cylinders.reshape(-1, CYLINDER_NUMBERS, BLOCK)[:, 0] >= FAR
    grids = np.arange(len(world.grids) + -len(world.grids) % BLOCK) >= len(world.grids)
    return np.concatenate([boxes.ravel(), cylinders.ravel(), grids])


def pack_scene(
    packed_arm: Floats,
    margin: float,
    spheres: Spheres,
    world: World,
    allowed: Bools | None = None,
) -> Floats:
    """One buffer with the arm, its spheres and the obstacles of a scene.

    Args:
        packed_arm: The arm, without a scene; ``NO_ARM`` for a tree, which is packed apart.
        margin: The least clearance [m] of what counts as free.
        spheres: Of the arm.
        world: The obstacles.
        allowed: (groups, obstacles) pairs that may touch, so they are not tested. Obstacles are
            numbered as in ``Scene.numbered``.
    """
    sizes = [len(spheres.radii), len(spheres.pairs), len(spheres.tables)]
    sizes += [array.size for array in world]
    blocks, first_block = sphere_blocks(spheres)
    sizes.append(len(blocks) // 4)
    untested = np.empty(0, np.bool_) if allowed is None else allowed | padding_mask(world)
    arrays = (packed_arm, [margin], sizes, *spheres, *world, blocks, first_block, untested)
    packed = np.concatenate([np.ravel(array) for array in arrays], dtype=np.float64)
    flags = HAS_SCENE if allowed is None else HAS_SCENE | HAS_ALLOWED_PAIRS
    packed[ARM_FLAGS] = int(packed_arm[ARM_FLAGS]) | flags
    return packed


def with_scene_of(packed_arm: Floats, other: Floats, n: int) -> Floats:
    """The arm of n joints, followed by the scene of another buffer of that arm."""
    packed = np.concatenate([packed_arm[: arm_size(n)], other[arm_size(n) :]])
    scene = int(other[ARM_FLAGS]) & (HAS_SCENE | HAS_ALLOWED_PAIRS)
    packed[ARM_FLAGS] = int(packed_arm[ARM_FLAGS]) | scene
    return packed


def unpack_scene(packed_arm: Floats, n: int, after_arm: bool = AFTER_ARM) -> CollisionScene:
    """What ``pack_scene`` added to the arm of n joints; the arrays are views.

    Args:
        packed_arm: The buffer.
        n: Number of joints.
        after_arm: ``AFTER_ARM`` or ``AFTER_HEADER``.
    """
    begin = ARM_HEADER + (NUMBERS_A_JOINT * n + OTHER_NUMBERS if after_arm else 0)
    header = packed_view(packed_arm, begin, (SCENE_HEADER,))
    k, p, t = int(header[SCENE_SPHERES]), int(header[SCENE_PAIRS]), int(header[SCENE_TABLES])
    b, c = int(header[SCENE_BOXES]) // BLOCK, int(header[SCENE_CYLINDERS]) // BLOCK
    g, v = int(header[SCENE_GRIDS]) // GRID_NUMBERS, int(header[SCENE_DISTANCES])
    s = int(header[SCENE_BLOCKS])
    bounds = begin + SCENE_HEADER + 4 * k + n + 3  # after ``unpack_spheres``
    pairs = bounds + 4 * (n + 2)
    table_pairs = pairs + 2 * p
    tables = table_pairs + 4 * t
    table_ranges = tables + t * TABLE_CELLS * TABLE_CELLS
    boxes = table_ranges + 4 * t
    cylinders = boxes + BLOCK * b
    grids = cylinders + BLOCK * c
    distances = grids + GRID_NUMBERS * g
    blocks = distances + v
    first_block = blocks + 4 * BLOCK * s
    has_allowed_pairs = int(packed_arm[ARM_FLAGS]) & HAS_ALLOWED_PAIRS != 0
    obstacles = b // BOX_NUMBERS + c // CYLINDER_NUMBERS + (g + BLOCK - 1) // BLOCK
    rows = n + 2 if has_allowed_pairs else 0
    return CollisionScene(
        header[SCENE_MARGIN],
        packed_view(packed_arm, bounds, (n + 2, 4)),
        packed_view(packed_arm, pairs, (p, 2)),
        packed_view(packed_arm, table_pairs, (t, 4)),
        packed_view(packed_arm, tables, (t, TABLE_CELLS, TABLE_CELLS)),
        packed_view(packed_arm, table_ranges, (t, 4)),
        packed_view(packed_arm, boxes, (b, BLOCK)),
        packed_view(packed_arm, cylinders, (c, BLOCK)),
        packed_view(packed_arm, grids, (g, GRID_NUMBERS)),
        packed_view(packed_arm, distances, (v,)),
        packed_view(packed_arm, blocks, (4 * s, BLOCK)),
        packed_view(packed_arm, first_block, (n + 3,)),
        has_allowed_pairs,
        packed_view(packed_arm, first_block + n + 3, (rows, obstacles, BLOCK)),
    )


def unpack_spheres(packed_arm: Floats, n: int) -> tuple[Floats, Floats, Floats]:
    """Centres (k, 3), radii (k,) and ``first`` (n+3,) of ``Spheres``, from the same buffer."""
    begin = arm_size(n)
    k, centres = int(packed_arm[begin + SCENE_SPHERES]), begin + SCENE_HEADER
    return (
        packed_view(packed_arm, centres, (k, 3)),
        packed_view(packed_arm, centres + 3 * k, (k,)),
        packed_view(packed_arm, centres + 4 * k, (n + 3,)),
    )
