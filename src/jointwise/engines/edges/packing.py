"""A robot among obstacles, packed for the proof that edges are free; see ``kernels.layout.edges``.

Obstacles are enlarged by the margin and by all rounding errors, so that the proof holds in exact
arithmetic. A distance from an obstacle is the result of less than 16 roundings of numbers no larger
than the obstacle's own and the size of the robot.
"""

from functools import lru_cache

import numpy as np

from jointwise.engines.edges.shape import ROUNDINGS, ROUNDOFF, EdgeShape, edge_shape
from jointwise.kernels.layout.arrays import Bools, Floats, Ints
from jointwise.kernels.layout.edges import GROUP_END, GROUP_FIRST, EdgeModel, pack_edges
from jointwise.kernels.layout.scene import (
    BLOCK,
    BOX_NUMBERS,
    CYLINDER_NUMBERS,
    FAR,
    World,
)
from jointwise.scene.collision_model import CollisionModel
from jointwise.scene.scene import kernel_world

# Number of cached packed models.
MAX_MODELS = 64


@lru_cache(MAX_MODELS)
def packed_edges(
    collision: CollisionModel, base: tuple[float, ...] | None, tube: float = 0.0
) -> Floats:
    """A robot with a fixed base, its shape and its obstacles, packed for the edge kernels.

    Args:
        collision: The shape and the obstacles.
        base: The (4, 4) numbers of the base's pose in the world; None for the identity.
        tube: Widening of the margin, for motions near edges [m]; contacts in tables of links two
            apart are then wider by a cell.
    """
    geometry, allowed = collision.for_kernels()
    shape = edge_shape(geometry, base, tube > 0.0)
    return pack_edges(shape.variables, _with_world(shape, collision, allowed, tube))


def _with_world(
    shape: EdgeShape, collision: CollisionModel, allowed: Bools | None, tube: float
) -> EdgeModel:
    """The robot among the obstacles of a scene."""
    world, margin = kernel_world(collision.scene), collision.margin + tube
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
    """The obstacles of a kind, a row each, from blocks; without those that pad the last block."""
    rows = blocks.reshape(-1, numbers, BLOCK).swapaxes(1, 2).reshape(-1, numbers)
    return np.ascontiguousarray(rows[rows[:, column] < FAR])


def _numbers(world: World, boxes: Floats, cylinders: Floats) -> Ints:
    """The numbers of obstacles, as in ``numbered_names``."""
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
    """(g, o) which obstacles each link group can reach; links fixed to the base are not checked."""
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
