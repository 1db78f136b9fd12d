"""An arm's body and the obstacles around it, as a GPU reads them.

Each carrier's spheres are in parts: a few that are close to each other, under a bounding sphere.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from jointwise.kernels.shapes import Floats
from jointwise.kernels.surroundings import (
    BLOCK,
    BOX_NUMBERS,
    CYLINDER_NUMBERS,
    FAR,
    Surroundings,
    unpack_surroundings,
)

# Spheres of a part, at most.
PART_SPHERES = 16
# A GPU rounds differently: what it calls free keeps this much more than the margin [m].
ROUNDING = 1e-9


class CudaSurroundings(NamedTuple):
    """``Surroundings`` as a GPU reads them: integers are integers, obstacles are rows.

    Attributes:
        margin: The least clearance [m] of what counts as free, which tables tell exactly.
        limit: The same with ``ROUNDING``.
        spheres: (k, 4) centres [m] in the frame of the carrier, and radii, sorted by part.
        first: (p+1,) the spheres of part i are those from first[i] to first[i+1].
        bounds: (p, 4) a sphere around each part.
        carriers: (p,) what carries each part.
        part_offsets: (n+3,) the parts of carrier c are those from part_offsets[c] to
            part_offsets[c+1].
        carrier_bounds: (n+2, 4) a sphere around all of each carrier; near nothing if it is empty.
        pairs: (r, 2) carriers that are tested against each other.
        table_pairs: (t, 2) as in ``Surroundings``, and so are the next two.
        tables: (t, 96, 96).
        table_ranges: (t, 4).
        boxes: (b, 16) one rounded box a row.
        cylinders: (c, 8) one cylinder a row.
        grids: (g, 8) as in ``Surroundings``, and so are the distances.
        distances: (v,).
    """

    margin: Any
    limit: Any
    spheres: Any
    first: Any
    bounds: Any
    carriers: Any
    part_offsets: Any
    carrier_bounds: Any
    pairs: Any
    table_pairs: Any
    tables: Any
    table_ranges: Any
    boxes: Any
    cylinders: Any
    grids: Any
    distances: Any


def rearrange_surroundings(packed_arm: Floats, n: int) -> CudaSurroundings:
    """The surroundings that follow an arm of n joints in its buffer, as a GPU reads them."""
    around = unpack_surroundings(packed_arm, n)
    spheres, first, carriers = _split_carriers(around)
    part_offsets = np.searchsorted(carriers, np.arange(n + 3)).astype(np.int32)
    bounds = [_bounding_sphere(spheres[a:b]) for a, b in pairwise(first)]
    carrier_bounds, pairs = around.bounds.copy(), around.pairs.astype(np.int32)
    empty = np.diff(part_offsets) == 0
    carrier_bounds[empty, 3] = -FAR
    boxes = _rows_of_blocks(around.boxes, BOX_NUMBERS)
    cylinders = _rows_of_blocks(around.cylinders, CYLINDER_NUMBERS)
    return CudaSurroundings(
        around.margin,
        around.margin + ROUNDING,
        spheres,
        first,
        np.reshape(bounds, (-1, 4)),
        carriers,
        part_offsets,
        carrier_bounds,
        pairs[~empty[pairs].any(axis=1)],
        around.table_pairs.astype(np.int32),
        around.tables,
        around.table_ranges,
        boxes[boxes[:, 9] < FAR],
        cylinders[cylinders[:, 0] < FAR],
        around.grids,
        around.distances,
    )


def _split_carriers(around: Surroundings) -> tuple[Floats, Any, Any]:
    """Spheres (k, 4) sorted by part, where the parts begin, and what carries each part."""
    spheres = np.column_stack([around.centres, around.radii])
    groups, carriers = [], []
    for carrier, (begin, end) in enumerate(pairwise(around.first)):
        for group in _split(spheres[int(begin) : int(end)]):
            groups.append(group)
            carriers.append(carrier)
    first = np.cumsum([0, *map(len, groups)], dtype=np.int32)
    return np.concatenate([spheres[:0], *groups]), first, np.array(carriers, np.int32)


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
    return np.append(centre, radius + ROUNDING)


def _rows_of_blocks(blocks: Floats, numbers: int) -> Floats:
    """(k, numbers) obstacles of one kind, from blocks of them side by side."""
    columns = blocks.reshape(-1, numbers, BLOCK).swapaxes(1, 2)
    return np.ascontiguousarray(columns.reshape(-1, numbers))
