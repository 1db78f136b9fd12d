"""What an arm must not touch, as kernels read it: its own body, and the obstacles of a scene.

It follows the arm in its buffer, ``packed_arm``, so a kernel that takes an arm takes both. Where
there is neither body nor scene, the buffer ends with the arm, and nothing is checked.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from jointwise.kernels.shapes import TABLE_CELLS, Body, Floats, packed_view

# The numbers of an arm: so many for each joint, and others; see ``pack_arm``.
NUMBERS_A_JOINT, OTHER_NUMBERS = 26, 14
# Numbers that place a rounded box: the rows of the rotation into its frame, the base's origin
# there, half its edges, the radius by which it is rounded. Of a cylinder: centre, axis, radius,
# half its length. Of a grid: first corner, edge of a cell, cells in each direction, first value.
BOX_NUMBERS, CYLINDER_NUMBERS, GRID_NUMBERS = 16, 8, 8
# Obstacles of a kind are in blocks of so many, side by side; what is left of the last is far away.
BLOCK, FAR = 8, 1e9
# Sizes at the beginning: margin, spheres, pairs, tables; boxes, cylinders, grids, grid values,
# blocks of spheres.
HEADER = 9
# Surroundings that follow an arm in its buffer.
AFTER_ARM = -1


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


class Surroundings(NamedTuple):
    """An arm's body and the world around it.

    Attributes:
        margin: The least clearance [m] of what counts as free.
        centres: (k, 3) as in ``Body``, and so are the next seven, with floats for integers.
        radii: (k,).
        first: (n+3,).
        bounds: (n+2, 4).
        pairs: (p, 2).
        table_pairs: (t, 4).
        tables: (t, 96, 96).
        table_ranges: (t, 4).
        boxes: As in ``World``, and so are the next three.
        cylinders: (8 c, 8).
        grids: (g, 8).
        distances: (v,).
        spheres: (4 s, 8) the spheres once more, in s blocks of centres and radii. The blocks of a
            carrier are compact; its last sphere fills the last of them.
        first_block: (n+3,) the blocks of carrier c are those from first_block[c] on.
    """

    margin: float
    centres: Floats
    radii: Floats
    first: Floats
    bounds: Floats
    pairs: Floats
    table_pairs: Floats
    tables: Floats
    table_ranges: Floats
    boxes: Floats
    cylinders: Floats
    grids: Floats
    distances: Floats
    spheres: Floats
    first_block: Floats


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


def sphere_blocks(body: Body) -> tuple[Floats, Floats]:
    """The spheres of a body (4 s, 8), and the first block of each carrier (n+3,).

    They are sorted along the longest side of what a carrier has, so that those of a block are near
    each other.
    """
    blocks, first = [np.empty((0, BLOCK))], [0]
    for begin, end in pairwise(body.first):
        spheres = np.column_stack([body.centres[begin:end], body.radii[begin:end]])
        if len(spheres):
            longest = np.ptp(spheres[:, :3], axis=0).argmax()
            spheres = spheres[spheres[:, longest].argsort(kind="stable")]
            blocks.append(in_blocks(spheres, spheres[-1]))
        first.append(first[-1] - (begin - end) // BLOCK)
    return np.concatenate(blocks), np.array(first, np.float64)


def arm_size(n: int) -> int:
    """The numbers of an arm of n joints in its buffer."""
    return NUMBERS_A_JOINT * n + OTHER_NUMBERS


def pack_surroundings(packed_arm: Floats, margin: float, body: Body, world: World) -> Floats:
    """One buffer with the arm, its body and the obstacles of a scene."""
    sizes = [len(body.radii), len(body.pairs), len(body.tables)]
    sizes += [array.size for array in world]
    spheres, first_block = sphere_blocks(body)
    sizes.append(len(spheres) // 4)
    arrays = (packed_arm, [margin], sizes, *body, *world, spheres, first_block)
    return np.concatenate([np.ravel(array) for array in arrays], dtype=np.float64)


def unpack_surroundings(packed_arm: Floats, n: int, begin: int = AFTER_ARM) -> Surroundings:
    """What ``pack_surroundings`` added to the arm of n joints; the arrays are views.

    Args:
        packed_arm: The buffer.
        n: Number of joints.
        begin: Where they begin in it, if not after the arm.
    """
    header = NUMBERS_A_JOINT * n + OTHER_NUMBERS if begin == AFTER_ARM else begin
    k, p, t = int(packed_arm[header + 1]), int(packed_arm[header + 2]), int(packed_arm[header + 3])
    b, c = int(packed_arm[header + 4]) // BLOCK, int(packed_arm[header + 5]) // BLOCK
    g, v = int(packed_arm[header + 6]) // GRID_NUMBERS, int(packed_arm[header + 7])
    s = int(packed_arm[header + 8])
    centres = header + HEADER
    radii = centres + 3 * k
    first = radii + k
    bounds = first + n + 3
    pairs = bounds + 4 * (n + 2)
    table_pairs = pairs + 2 * p
    tables = table_pairs + 4 * t
    table_ranges = tables + t * TABLE_CELLS * TABLE_CELLS
    boxes = table_ranges + 4 * t
    cylinders = boxes + BLOCK * b
    grids = cylinders + BLOCK * c
    distances = grids + GRID_NUMBERS * g
    spheres = distances + v
    return Surroundings(
        packed_arm[header],
        packed_view(packed_arm, centres, (k, 3)),
        packed_view(packed_arm, radii, (k,)),
        packed_view(packed_arm, first, (n + 3,)),
        packed_view(packed_arm, bounds, (n + 2, 4)),
        packed_view(packed_arm, pairs, (p, 2)),
        packed_view(packed_arm, table_pairs, (t, 4)),
        packed_view(packed_arm, tables, (t, TABLE_CELLS, TABLE_CELLS)),
        packed_view(packed_arm, table_ranges, (t, 4)),
        packed_view(packed_arm, boxes, (b, BLOCK)),
        packed_view(packed_arm, cylinders, (c, BLOCK)),
        packed_view(packed_arm, grids, (g, GRID_NUMBERS)),
        packed_view(packed_arm, distances, (v,)),
        packed_view(packed_arm, spheres, (4 * s, BLOCK)),
        packed_view(packed_arm, spheres + 4 * BLOCK * s, (n + 3,)),
    )
