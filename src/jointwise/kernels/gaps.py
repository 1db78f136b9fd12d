"""Distances of the spheres of an arm, in blocks of eight, from obstacles and from each other.

The numbers of a block are computed side by side in vector registers, without branches.
"""

from math import sqrt
from typing import NamedTuple

from jointwise.kernels._numba.arrays import PAIR, stack_array
from jointwise.kernels._numba.jit import ir_inline, jit_inline
from jointwise.kernels._numba.where import HAS_LANES, any_lane, where
from jointwise.kernels.obstacles import (
    Box,
    Cylinder,
    box_distance,
    box_numbers,
    cylinder_distance,
    cylinder_numbers,
    grid_distance,
)
from jointwise.kernels.shapes import Floats, packed_view
from jointwise.kernels.surroundings import (
    BLOCK,
    BOX_NUMBERS,
    CYLINDER_NUMBERS,
    FAR,
    Surroundings,
)

if HAS_LANES:
    from jointwise.kernels._numba.lanes import as_lanes

    @ir_inline
    def lane_view(blocks: Floats, k: int) -> Floats:
        """All columns of blocks, in lanes."""
        return as_lanes(blocks)

else:

    @ir_inline
    def lane_view(blocks: Floats, k: int) -> Floats:
        """Column k of blocks."""
        return blocks[:, k]


# Blocks are computed in lanes, eight columns at once; without lanes, column by column.
COLUMNS = 1 if HAS_LANES else BLOCK
# A number for each column.
EIGHT = (0,) * BLOCK


class Workspace(NamedTuple):
    """Scratch of a check.

    Attributes:
        placed: (4 s, 8) spheres in the base frame, in the blocks of ``Surroundings.spheres``.
        is_placed: (n+2,) 1 for carriers whose spheres are placed, else 0.
        bounds: (n+2, 4) the bounding spheres, base frame.
        gaps: (n+2, b, 8) distances of the bounding spheres from obstacles [m].
        least: (n+2,) the least of these of each carrier, and infinity once it is looked at.
    """

    placed: Floats
    is_placed: Floats
    bounds: Floats
    gaps: Floats
    least: Floats


@jit_inline
def obstacle_blocks(around: Surroundings) -> int:
    """The blocks of obstacles of all kinds."""
    blocks: int = around.boxes.shape[0] // BOX_NUMBERS
    blocks += around.cylinders.shape[0] // CYLINDER_NUMBERS
    blocks += (around.grids.shape[0] + BLOCK - 1) // BLOCK
    return blocks


@jit_inline
def workspace_size(around: Surroundings, n: int) -> int:
    """The numbers of a workspace, for ``unpack_workspace``."""
    return around.spheres.size + (n + 2) * (6 + BLOCK * obstacle_blocks(around))


@jit_inline
def unpack_workspace(buffer: Floats, around: Surroundings, n: int) -> Workspace:
    """The parts of a buffer, which must outlive them."""
    rows, blocks, is_placed = around.spheres.shape[0], obstacle_blocks(around), around.spheres.size
    bounds, gaps = is_placed + n + 2, is_placed + 5 * (n + 2)
    return Workspace(
        packed_view(buffer, 0, (rows, BLOCK)),
        packed_view(buffer, is_placed, (n + 2,)),
        packed_view(buffer, bounds, (n + 2, 4)),
        packed_view(buffer, gaps, (n + 2, blocks, BLOCK)),
        packed_view(buffer, gaps + (n + 2) * BLOCK * blocks, (n + 2,)),
    )


@jit_inline
def place(frames: Floats, carrier: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """A point of a carrier in the base frame."""
    if carrier == 0:
        return x, y, z
    i = min(carrier, frames.shape[0]) - 1
    return (
        frames[i, 0, 0] * x + frames[i, 0, 1] * y + frames[i, 0, 2] * z + frames[i, 0, 3],
        frames[i, 1, 0] * x + frames[i, 1, 1] * y + frames[i, 1, 2] * z + frames[i, 1, 3],
        frames[i, 2, 0] * x + frames[i, 2, 1] * y + frames[i, 2, 2] * z + frames[i, 2, 3],
    )


@jit_inline
def least_column(least: Floats) -> float:
    """The least of ``least (2, 8)[0]``."""
    smallest: float = least[0, 0]
    for k in range(1, BLOCK):
        smallest = min(smallest, least[0, k])
    return smallest


@jit_inline
def place_blocks(
    spheres: Floats, begin: int, end: int, frames: Floats, carrier: int, placed: Floats
) -> None:
    """Write spheres from block ``begin`` to ``end`` into ``placed``, base frame."""
    for b in range(4 * begin, 4 * end, 4):
        placed[b], placed[b + 1], placed[b + 2] = place(
            frames, carrier, spheres[b], spheres[b + 1], spheres[b + 2]
        )
        placed[b + 3] = spheres[b + 3]


@jit_inline
def place_spheres(around: Surroundings, frames: Floats, carrier: int, work: Workspace) -> None:
    """Place the spheres of a carrier, unless they are."""
    if work.is_placed[carrier] == 0.0:
        work.is_placed[carrier] = 1.0
        begin, end = int(around.first_block[carrier]), int(around.first_block[carrier + 1])
        for k in range(COLUMNS):
            spheres, placed = lane_view(around.spheres, k), lane_view(work.placed, k)
            place_blocks(spheres, begin, end, frames, carrier, placed)


@jit_inline
def block_gaps(
    boxes: Floats,
    cylinders: Floats,
    x: float,
    y: float,
    z: float,
    radius: float,
    gaps: Floats,
    least: Floats,
) -> None:
    """Write the distances of a sphere from boxes and cylinders, and the least; in lanes or not."""
    box_blocks = boxes.shape[0] // BOX_NUMBERS
    for b in range(box_blocks):
        gap = box_distance(box_numbers(boxes, b), x, y, z) - radius
        gaps[b], least[0] = gap, where(gap < least[0], gap, least[0])
    for c in range(cylinders.shape[0] // CYLINDER_NUMBERS):
        gap = cylinder_distance(cylinder_numbers(cylinders, c), x, y, z) - radius
        gaps[box_blocks + c], least[0] = gap, where(gap < least[0], gap, least[0])


@jit_inline
def obstacle_gaps(
    around: Surroundings, x: float, y: float, z: float, radius: float, gaps: Floats
) -> float:
    """Write into ``gaps (b, 8)`` the distance of a sphere from each obstacle [m]; the least."""
    boxes, cylinders, grids = around.boxes, around.cylinders, around.grids
    least = stack_array(PAIR, EIGHT, x)
    for k in range(BLOCK):
        least[0, k] = FAR
    for k in range(COLUMNS):
        block_gaps(
            lane_view(boxes, k),
            lane_view(cylinders, k),
            x,
            y,
            z,
            radius,
            lane_view(gaps, k),
            lane_view(least, k),
        )
    block = boxes.shape[0] // BOX_NUMBERS + cylinders.shape[0] // CYLINDER_NUMBERS
    for g in range(BLOCK * (gaps.shape[0] - block)):
        gap = FAR
        if g < grids.shape[0]:
            gap = grid_distance(grids, around.distances, g, x, y, z) - radius
        gaps[block + g // BLOCK, g % BLOCK] = gap
        least[0, 0] = min(least[0, 0], gap)
    return least_column(least)


@jit_inline
def box_gaps(box: Box, placed: Floats, begin: int, end: int, least: Floats) -> None:
    """Lower ``least`` to the distances of spheres from a box."""
    for b in range(4 * begin, 4 * end, 4):
        gap = box_distance(box, placed[b], placed[b + 1], placed[b + 2]) - placed[b + 3]
        least[0] = where(gap < least[0], gap, least[0])


@jit_inline
def cylinder_gaps(cylinder: Cylinder, placed: Floats, begin: int, end: int, least: Floats) -> None:
    """Lower ``least`` to the distances of spheres from a cylinder."""
    for b in range(4 * begin, 4 * end, 4):
        gap = cylinder_distance(cylinder, placed[b], placed[b + 1], placed[b + 2]) - placed[b + 3]
        least[0] = where(gap < least[0], gap, least[0])


@jit_inline
def carrier_gap(around: Surroundings, placed: Floats, carrier: int, m: int) -> float:
    """The least distance of a carrier's spheres from obstacle m [m]."""
    boxes, cylinders = around.boxes, around.cylinders
    begin, end = int(around.first_block[carrier]), int(around.first_block[carrier + 1])
    block, k, least = m // BLOCK, m % BLOCK, stack_array(PAIR, EIGHT, 0.0)
    box_blocks = boxes.shape[0] // BOX_NUMBERS
    grid_block = box_blocks + cylinders.shape[0] // CYLINDER_NUMBERS
    for other in range(BLOCK):
        least[0, other] = FAR
    if block < box_blocks:
        box = box_numbers(boxes[:, k], block)
        for other in range(COLUMNS):
            box_gaps(box, lane_view(placed, other), begin, end, lane_view(least, other))
    elif block < grid_block:
        cylinder = cylinder_numbers(cylinders[:, k], block - box_blocks)
        for other in range(COLUMNS):
            cylinder_gaps(cylinder, lane_view(placed, other), begin, end, lane_view(least, other))
    else:
        grid = m - BLOCK * grid_block
        for b in range(4 * begin, 4 * end, 4):
            for other in range(BLOCK):
                x, y, z = placed[b, other], placed[b + 1, other], placed[b + 2, other]
                gap = grid_distance(around.grids, around.distances, grid, x, y, z)
                least[0, other] = min(least[0, other], gap - placed[b + 3, other])
    return least_column(least)


@jit_inline
def sphere_gaps(
    spheres: Floats,
    of: tuple[int, int],
    others: Floats,
    by: tuple[int, int],
    bound: Floats,
    least: Floats,
) -> None:
    """Lower ``least`` to the distances between the blocks ``of`` and ``by`` of spheres [m].

    ``others`` are the same as ``spheres``, not in lanes, and ``bound`` is around those of ``by``.
    Square roots are taken only of spheres that are near.
    """
    for a in range(4 * of[0], 4 * of[1], 4):
        x, y, z, radius = spheres[a], spheres[a + 1], spheres[a + 2], spheres[a + 3]
        u, v, w = x - bound[0], y - bound[1], z - bound[2]
        touch = radius + bound[3] + least[0]
        if any_lane(u * u + v * v + w * w < touch * touch):
            for b in range(4 * by[0], 4 * by[1], 4):
                for k in range(BLOCK):
                    u, v, w = x - others[b, k], y - others[b + 1, k], z - others[b + 2, k]
                    touch = radius + others[b + 3, k] + least[0]
                    distance_sq = u * u + v * v + w * w
                    if any_lane(distance_sq < touch * touch):
                        gap = sqrt(distance_sq) - others[b + 3, k] - radius
                        least[0] = where(gap < least[0], gap, least[0])


@jit_inline
def pair_gap(
    around: Surroundings, placed: Floats, bound: Floats, a: int, b: int, limit: float
) -> float:
    """The least distance between the spheres of carriers a and b [m], or ``limit``.

    ``bound`` is the bounding sphere of b, base frame.
    """
    first, least = around.first_block, stack_array(PAIR, EIGHT, limit)
    of, by = (int(first[a]), int(first[a + 1])), (int(first[b]), int(first[b + 1]))
    for k in range(BLOCK):
        least[0, k] = limit
    for k in range(COLUMNS):
        sphere_gaps(lane_view(placed, k), of, placed, by, bound, lane_view(least, k))
    return least_column(least)
