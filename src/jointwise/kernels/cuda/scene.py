"""The spheres of an arm and the obstacles around it, as a GPU reads them.

Each link group's spheres are in parts: a few that are close to each other, in a bounding sphere.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.scene import (
    BLOCK,
    BOX_NUMBERS,
    CYLINDER_NUMBERS,
    FAR,
    CollisionScene,
    World,
    padding_mask,
    unpack_scene,
    unpack_spheres,
)

# Spheres of a part, at most.
PART_SPHERES = 16
# A GPU rounds differently: what it calls free keeps this much more than the margin [m].
CUDA_ROUNDING = 1e-9


class CudaScene(NamedTuple):
    """``CollisionScene`` as a GPU reads it: integers are integers, obstacles are rows.

    Attributes:
        margin: The least clearance [m] of what counts as free, which tables tell exactly.
        limit: The same with ``CUDA_ROUNDING``.
        spheres: (k, 4) centres [m] in the frame of the link group, and radii, sorted by part.
        first: (p+1,) the spheres of part i are those from first[i] to first[i+1].
        bounds: (p, 4) a sphere around each part.
        groups: (p,) the link group of each part.
        part_offsets: (n+3,) the parts of link group c are those from part_offsets[c] to
            part_offsets[c+1].
        group_bounds: (n+2, 4) a sphere around all of each link group; near nothing if it is empty.
        pairs: (r, 2) link groups that are tested against each other.
        table_pairs: (t, 2) as in ``CollisionScene``, and so are the next two.
        tables: (t, 96, 96).
        table_ranges: (t, 4).
        boxes: (b, 16) one rounded box a row.
        cylinders: (c, 8) one cylinder a row.
        grids: (g, 8) as in ``CollisionScene``, and so are the distances.
        distances: (v,).
        allowed: (n+2, b + c + g) 1 for pairs of a link group and an obstacle that are not tested.
    """

    margin: Any
    limit: Any
    spheres: Any
    first: Any
    bounds: Any
    groups: Any
    part_offsets: Any
    group_bounds: Any
    pairs: Any
    table_pairs: Any
    tables: Any
    table_ranges: Any
    boxes: Any
    cylinders: Any
    grids: Any
    distances: Any
    allowed: Any


def rearrange_scene(packed_arm: Floats, n: int) -> CudaScene:
    """The scene that follows an arm of n joints in its buffer, as a GPU reads it."""
    scene = unpack_scene(packed_arm, n)
    spheres, first, groups = _split_groups(*unpack_spheres(packed_arm, n))
    part_offsets = np.searchsorted(groups, np.arange(n + 3)).astype(np.int32)
    bounds = [_bounding_sphere(spheres[a:b]) for a, b in pairwise(first)]
    group_bounds, pairs = scene.bounds.copy(), scene.pairs.astype(np.int32)
    empty = np.diff(part_offsets) == 0
    group_bounds[empty, 3] = -FAR
    boxes = _rows_of_blocks(scene.boxes, BOX_NUMBERS)
    cylinders = _rows_of_blocks(scene.cylinders, CYLINDER_NUMBERS)
    return CudaScene(
        scene.margin,
        scene.margin + CUDA_ROUNDING,
        spheres,
        first,
        np.reshape(bounds, (-1, 4)),
        groups,
        part_offsets,
        group_bounds,
        pairs[~empty[pairs].any(axis=1)],
        scene.table_pairs.astype(np.int32),
        scene.tables,
        scene.table_ranges,
        boxes[boxes[:, 9] < FAR],
        cylinders[cylinders[:, 0] < FAR],
        scene.grids,
        scene.distances,
        _allowed(scene),
    )


def _allowed(scene: CollisionScene) -> Any:
    """(n+2, k) pairs that are not tested; obstacles are numbered without those that fill blocks."""
    world = World(scene.boxes, scene.cylinders, scene.grids, scene.distances)
    are_obstacles = ~padding_mask(world)
    if not scene.has_allowed_pairs:
        return np.zeros((len(scene.bounds), are_obstacles.sum()), np.uint8)
    allowed = scene.allowed.reshape(len(scene.bounds), -1)[:, are_obstacles]
    return np.ascontiguousarray(allowed, np.uint8)  # rows after rows, as kernels are compiled for


def _split_groups(centres: Floats, radii: Floats, offsets: Floats) -> tuple[Floats, Any, Any]:
    """Spheres (k, 4) sorted by part, where the parts begin, and the link group of each."""
    spheres = np.column_stack([centres, radii])
    parts, groups = [], []
    for group, (begin, end) in enumerate(pairwise(offsets)):
        for part in _split(spheres[int(begin) : int(end)]):
            parts.append(part)
            groups.append(group)
    first = np.cumsum([0, *map(len, parts)], dtype=np.int32)
    return np.concatenate([spheres[:0], *parts]), first, np.array(groups, np.int32)


def _split(spheres: Floats) -> list[Floats]:
    """Parts of at most ``PART_SPHERES`` spheres: halves across the longest extent, repeatedly."""
    if len(spheres) <= PART_SPHERES:
        return [spheres] if len(spheres) else []
    axis = np.ptp(spheres[:, :3], axis=0).argmax()
    order, half = np.argsort(spheres[:, axis], kind="stable"), len(spheres) // 2
    return _split(spheres[order[:half]]) + _split(spheres[order[half:]])


def _bounding_sphere(spheres: Floats) -> Floats:
    """Centre and radius of a sphere around spheres (k, 4), a little larger than needed."""
    low = (spheres[:, :3] - spheres[:, 3:]).min(axis=0)
    high = (spheres[:, :3] + spheres[:, 3:]).max(axis=0)
    centre = 0.5 * (low + high)
    radius = (np.linalg.norm(spheres[:, :3] - centre, axis=1) + spheres[:, 3]).max()
    return np.append(centre, radius + CUDA_ROUNDING)


def _rows_of_blocks(blocks: Floats, numbers: int) -> Floats:
    """(k, numbers) obstacles of one kind, from blocks of them side by side."""
    columns = blocks.reshape(-1, numbers, BLOCK).swapaxes(1, 2)
    return np.ascontiguousarray(columns.reshape(-1, numbers))
