"""Distances of the spheres of an arm, in blocks of eight, from obstacles and from each other.

The numbers of a block are computed side by side in vector registers, without branches.
"""

from math import sqrt
from typing import NamedTuple

from jointwise.kernels._numba.arrays import PAIR, stack_array
from jointwise.kernels._numba.jit import ir_inline, jit_inline
from jointwise.kernels._numba.where import HAS_LANES, any_lane, where
from jointwise.kernels.collision.obstacles import (
    Box,
    Cylinder,
    box_distance,
    box_numbers,
    cylinder_distance,
    cylinder_numbers,
    grid_distance,
)
from jointwise.kernels.layout.arrays import Floats, packed_view
from jointwise.kernels.layout.scene import (
    BLOCK,
    BOX_NUMBERS,
    CYLINDER_NUMBERS,
    FAR,
    CollisionScene,
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
        return blocks[..., k]


# Blocks are computed in lanes, eight columns at once; without lanes, column by column.
COLUMNS = 1 if HAS_LANES else BLOCK
# A number for each column.
EIGHT = (0,) * BLOCK


class ClearanceWorkspace(NamedTuple):
    """Scratch of a check.

    Attributes:
        placed: (4 s, 8) spheres in the base frame, in the blocks of ``CollisionScene``.
        is_placed: (n+2,) 1 for link groups whose spheres are placed, else 0.
        bounds: (n+2, 4) the bounding spheres, base frame.
        clearances: (n+2, b, 8) distances of the bounding spheres from obstacles [m].
        least: (n+2,) the least clearance of each link group; infinity once it is looked at.
    """

    placed: Floats
    is_placed: Floats
    bounds: Floats
    clearances: Floats
    least: Floats


@jit_inline
def obstacle_blocks(scene: CollisionScene) -> int:
    """The blocks of obstacles of all kinds."""
    blocks: int = scene.boxes.shape[0] // BOX_NUMBERS
    blocks += scene.cylinders.shape[0] // CYLINDER_NUMBERS
    blocks += (scene.grids.shape[0] + BLOCK - 1) // BLOCK
    return blocks


@jit_inline
def workspace_size(scene: CollisionScene, n: int) -> int:
    """The numbers of a workspace, for ``unpack_workspace``."""
    return scene.sphere_blocks.size + (n + 2) * (6 + BLOCK * obstacle_blocks(scene))


@jit_inline
def unpack_workspace(buffer: Floats, scene: CollisionScene, n: int) -> ClearanceWorkspace:
    """The parts of a buffer, which must outlive them."""
    spheres, blocks = scene.sphere_blocks, obstacle_blocks(scene)
    rows, is_placed = spheres.shape[0], spheres.size
    bounds, clearances = is_placed + n + 2, is_placed + 5 * (n + 2)
    return ClearanceWorkspace(
        packed_view(buffer, 0, (rows, BLOCK)),
        packed_view(buffer, is_placed, (n + 2,)),
        packed_view(buffer, bounds, (n + 2, 4)),
        packed_view(buffer, clearances, (n + 2, blocks, BLOCK)),
        packed_view(buffer, clearances + (n + 2) * BLOCK * blocks, (n + 2,)),
    )


@jit_inline
def place(frames: Floats, group: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """A point of a link group in the base frame."""
    if group == 0:
        return x, y, z
    i = min(group, frames.shape[0]) - 1
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
    spheres: Floats, begin: int, end: int, frames: Floats, group: int, placed: Floats
) -> None:
    """Write spheres from block ``begin`` to ``end`` into ``placed``, base frame."""
    for b in range(4 * begin, 4 * end, 4):
        placed[b], placed[b + 1], placed[b + 2] = place(
            frames, group, spheres[b], spheres[b + 1], spheres[b + 2]
        )
        placed[b + 3] = spheres[b + 3]


@jit_inline
def place_spheres(
    scene: CollisionScene, frames: Floats, group: int, work: ClearanceWorkspace
) -> None:
    """Place the spheres of a link group, unless they are."""
    if work.is_placed[group] == 0.0:
        work.is_placed[group] = 1.0
        begin, end = int(scene.first_block[group]), int(scene.first_block[group + 1])
        for k in range(COLUMNS):
            spheres, placed = lane_view(scene.sphere_blocks, k), lane_view(work.placed, k)
            place_blocks(spheres, begin, end, frames, group, placed)


@jit_inline
def block_clearances(
    boxes: Floats,
    cylinders: Floats,
    x: float,
    y: float,
    z: float,
    radius: float,
    clearances: Floats,
    least: Floats,
) -> None:
    """Write the distances of a sphere from boxes and cylinders, and the least; in lanes or not."""
    box_blocks = boxes.shape[0] // BOX_NUMBERS
    for b in range(box_blocks):
        clearance = box_distance(box_numbers(boxes, b), x, y, z) - radius
        clearances[b] = clearance
        least[0] = where(clearance < least[0], clearance, least[0])
    for c in range(cylinders.shape[0] // CYLINDER_NUMBERS):
        clearance = cylinder_distance(cylinder_numbers(cylinders, c), x, y, z) - radius
        clearances[box_blocks + c] = clearance
        least[0] = where(clearance < least[0], clearance, least[0])


@jit_inline
def obstacle_clearances(
    scene: CollisionScene, x: float, y: float, z: float, radius: float, clearances: Floats
) -> float:
    """Write into ``clearances (b, 8)`` a sphere's distance from each obstacle [m]; the least."""
    boxes, cylinders, grids = scene.boxes, scene.cylinders, scene.grids
    least = stack_array(PAIR, EIGHT, x)
    for k in range(BLOCK):
        least[0, k] = FAR
    for k in range(COLUMNS):
        block_clearances(
            lane_view(boxes, k),
            lane_view(cylinders, k),
            x,
            y,
            z,
            radius,
            lane_view(clearances, k),
            lane_view(least, k),
        )
    block = boxes.shape[0] // BOX_NUMBERS + cylinders.shape[0] // CYLINDER_NUMBERS
    for g in range(BLOCK * (clearances.shape[0] - block)):
        clearance = FAR
        if g < grids.shape[0]:
            clearance = grid_distance(grids, scene.distances, g, x, y, z) - radius
        clearances[block + g // BLOCK, g % BLOCK] = clearance
        least[0, 0] = min(least[0, 0], clearance)
    return least_column(least)


@jit_inline
def box_clearances(box: Box, placed: Floats, begin: int, end: int, least: Floats) -> None:
    """Lower ``least`` to the distances of spheres from a box."""
    for b in range(4 * begin, 4 * end, 4):
        clearance = box_distance(box, placed[b], placed[b + 1], placed[b + 2]) - placed[b + 3]
        least[0] = where(clearance < least[0], clearance, least[0])


@jit_inline
def cylinder_clearances(
    cylinder: Cylinder, placed: Floats, begin: int, end: int, least: Floats
) -> None:
    """Lower ``least`` to the distances of spheres from a cylinder."""
    for b in range(4 * begin, 4 * end, 4):
        distance = cylinder_distance(cylinder, placed[b], placed[b + 1], placed[b + 2])
        clearance = distance - placed[b + 3]
        least[0] = where(clearance < least[0], clearance, least[0])


@jit_inline
def group_clearance(scene: CollisionScene, placed: Floats, group: int, m: int) -> float:
    """The least distance of a link group's spheres from obstacle m [m]."""
    boxes, cylinders = scene.boxes, scene.cylinders
    begin, end = int(scene.first_block[group]), int(scene.first_block[group + 1])
    block, k, least = m // BLOCK, m % BLOCK, stack_array(PAIR, EIGHT, 0.0)
    box_blocks = boxes.shape[0] // BOX_NUMBERS
    grid_block = box_blocks + cylinders.shape[0] // CYLINDER_NUMBERS
    for other in range(BLOCK):
        least[0, other] = FAR
    if block < box_blocks:
        box = box_numbers(boxes[:, k], block)
        for other in range(COLUMNS):
            box_clearances(box, lane_view(placed, other), begin, end, lane_view(least, other))
    elif block < grid_block:
        cylinder = cylinder_numbers(cylinders[:, k], block - box_blocks)
        for other in range(COLUMNS):
            cylinder_clearances(
                cylinder, lane_view(placed, other), begin, end, lane_view(least, other)
            )
    else:
        grid = m - BLOCK * grid_block
        for b in range(4 * begin, 4 * end, 4):
            for other in range(BLOCK):
                x, y, z = placed[b, other], placed[b + 1, other], placed[b + 2, other]
                clearance = grid_distance(scene.grids, scene.distances, grid, x, y, z)
                least[0, other] = min(least[0, other], clearance - placed[b + 3, other])
    return least_column(least)


@jit_inline
def sphere_clearances(
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
                        clearance = sqrt(distance_sq) - others[b + 3, k] - radius
                        least[0] = where(clearance < least[0], clearance, least[0])


@jit_inline
def pair_clearance(
    scene: CollisionScene, placed: Floats, bound: Floats, a: int, b: int, limit: float
) -> float:
    """The least distance between the spheres of link groups a and b [m], or ``limit``.

    ``bound`` is the bounding sphere of b, base frame.
    """
    first, least = scene.first_block, stack_array(PAIR, EIGHT, limit)
    of, by = (int(first[a]), int(first[a + 1])), (int(first[b]), int(first[b + 1]))
    for k in range(BLOCK):
        least[0, k] = limit
    for k in range(COLUMNS):
        sphere_clearances(lane_view(placed, k), of, placed, by, bound, lane_view(least, k))
    return least_column(least)
