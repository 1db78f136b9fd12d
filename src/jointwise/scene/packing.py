"""Shapes that are packed once, for changing scenes.

``pack_scene`` packs a shape and obstacles. A shape has far more numbers than the obstacles, and it
stays when a scene is replaced. So it is packed without obstacles, and these are added to a copy.
"""

import numpy as np

from jointwise.kernels.layout.arm import ARM_FLAGS, HAS_ALLOWED_PAIRS, arm_size
from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.kernels.layout.scene import (
    BLOCK,
    GRID_NUMBERS,
    SCENE_BLOCKS,
    SCENE_BOXES,
    SCENE_MARGIN,
    World,
    pack_scene,
    padding_mask,
)
from jointwise.kernels.layout.spheres import TABLE_CELLS, Spheres

NO_WORLD = World(
    np.empty((0, BLOCK)), np.empty((0, BLOCK)), np.empty((0, GRID_NUMBERS)), np.empty(0)
)


class PackedShape:
    """A shape, packed without obstacles.

    Args:
        packed_arm: The arm; ``NO_ARM`` for a tree, which is packed apart.
        spheres: Its shape.
    """

    __slots__ = ("after", "before", "header")

    def __init__(self, packed_arm: Floats, spheres: Spheres) -> None:
        packed = pack_scene(packed_arm, 0.0, spheres, NO_WORLD)
        self.header = len(packed_arm)
        blocks = 4 * BLOCK * int(packed[self.header + SCENE_BLOCKS])
        self.before, self.after = np.split(packed, [-blocks - len(spheres.first)])


def with_world(
    shape: PackedShape, world: World, margin: float = 0.0, allowed: Bools | None = None
) -> Floats:
    """One buffer with a shape and the obstacles of a scene, as ``pack_scene`` makes it.

    Args:
        shape: The shape.
        world: The obstacles.
        margin: The least clearance [m] of what counts as free.
        allowed: (groups, obstacles) pairs that may collide; see ``pack_scene``.
    """
    boxes, cylinders, grids, distances = world
    arrays = [shape.before, boxes.ravel(), cylinders.ravel(), grids.ravel(), distances, shape.after]
    if allowed is not None:
        arrays.append((allowed | padding_mask(world)).ravel().astype(np.float64))
    packed = np.concatenate(arrays)
    first = shape.header + SCENE_BOXES
    packed[first : first + len(world)] = boxes.size, cylinders.size, grids.size, distances.size
    packed[shape.header + SCENE_MARGIN] = margin
    if allowed is not None:
        packed[ARM_FLAGS] = int(packed[ARM_FLAGS]) | HAS_ALLOWED_PAIRS
    return packed


def _nothing() -> PackedShape:
    """An arm without joints and spheres, for distances of points."""
    pairs, tables = np.empty((0, 2), np.int64), np.empty((0, TABLE_CELLS, TABLE_CELLS))
    first, bounds = np.zeros(3, np.int64), np.full((2, 4), -1.0)
    spheres = Spheres(
        np.empty((0, 3)), np.empty(0), first, bounds, pairs, pairs, tables, np.empty((0, 4))
    )
    return PackedShape(np.zeros(arm_size(0)), spheres)


NOTHING = _nothing()
