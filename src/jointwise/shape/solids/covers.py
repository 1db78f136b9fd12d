"""Spheres around boxes and cylinders, by formulas.

A solid is divided into cells, and each cell of its surface gets the sphere through its corners. The
spheres further inside may be larger by the depth of their cells, so the inside needs few of them.
"""

from collections.abc import Callable

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats

# Largest number of spheres of one solid.
MAX_SPHERES = 20_000
# Largest edge of a cubic cell whose sphere extends beyond it by at most one, and the factor that
# shrinks other cells until their spheres do.
CUBE, SMALLER = 2.0 / (np.sqrt(3.0) - 1.0), 0.95
# Radii are larger by this [m], for rounding.
ROUNDING = 1e-9

# Returns, for the sizes of a solid and a padding, the spheres (k, 4) of the outermost cells, the
# sizes of the rest, and its depth inside [m].
_Layer = Callable[[Floats, float], tuple[Floats, Floats, float]]


def box_spheres(size: Floats, padding: float) -> Floats:
    """(k, 4) spheres that contain a box, centred at the origin.

    Args:
        size: (3,) its edges [m].
        padding: Largest distance of a point of a sphere from the box [m].

    Raises:
        InvalidInputError: There would be too many spheres.
    """
    return _layers(size, padding, _box_layer)


def cylinder_spheres(radius: float, length: float, padding: float) -> Floats:
    """(k, 4) spheres that contain a cylinder about z, centred there; see ``box_spheres``."""
    return _layers(np.array([radius, length]), padding, _cylinder_layer)


def _layers(size: Floats, padding: float, layer: _Layer) -> Floats:
    """The spheres of all layers of cells, from the surface inward."""
    spheres, depth = [], 0.0
    while (size > 0.0).all():
        outermost, size, thickness = layer(size, padding + depth)
        spheres.append(outermost)
        depth += thickness
    return np.concatenate(spheres)


def _box_layer(size: Floats, padding: float) -> tuple[Floats, Floats, float]:
    edge = CUBE * padding
    while True:
        counts = np.ceil(size / edge)
        cell = size / counts
        radius = 0.5 * float(np.linalg.norm(cell))
        if radius - 0.5 * cell.min() <= padding:
            break
        edge *= SMALLER
    inner = np.maximum(counts - 2.0, 0.0)
    _check_count(float(counts.prod() - inner.prod()), padding)
    numbers = np.moveaxis(np.indices(counts.astype(int)), 0, -1).reshape(-1, 3)
    outer = ((numbers == 0) | (numbers == counts - 1.0)).any(axis=1)
    centres = (numbers[outer] + 0.5) * cell - 0.5 * size
    spheres = np.insert(centres, 3, radius + ROUNDING, axis=1)
    return spheres, size - 2.0 * cell, float(cell.min())


def _cylinder_layer(size: Floats, padding: float) -> tuple[Floats, Floats, float]:
    """Rings of cells: all at both ends, and the outermost in between."""
    edge = CUBE * padding
    while True:
        counts = np.ceil(size / edge)
        (rings, slabs), (width, height) = counts, size / counts
        _check_count(rings, padding)
        outer = size[0] - width * np.arange(rings)
        around = np.maximum(np.ceil(2.0 * np.pi * outer / edge), 1.0)
        placed = [_ring(*ring, width, height) for ring in zip(outer, around, strict=True)]
        at, radii = np.transpose(placed)
        if max((at + radii).max() - size[0], radii.max() - 0.5 * height) <= padding:
            break
        edge *= SMALLER
    ends = min(slabs, 2.0)
    _check_count(around[0] * (slabs + ends * rings), padding)
    z = (np.arange(slabs) + 0.5) * height - 0.5 * size[1]
    spheres = []
    for ring, count in enumerate(around):
        angles = 2.0 * np.pi * np.arange(count) / count
        circle = at[ring] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        for level in z if ring == 0 or slabs < 3.0 else z[[0, -1]]:
            centres = np.insert(circle, 2, level, axis=1)
            spheres.append(np.insert(centres, 3, radii[ring] + ROUNDING, axis=1))
    return np.concatenate(spheres), size - [width, 2.0 * height], float(min(width, height))


def _ring(outer: float, count: float, width: float, height: float) -> tuple[float, float]:
    """The centre of a cell of a ring, and the radius of the sphere around the cell."""
    inner = max(outer - width, 0.0)
    half = np.pi / count
    at = 0.0 if count < 3.0 else 0.5 * (outer + inner) * np.cos(half)
    corners = np.array([outer, inner])
    across = corners**2 + at**2 - 2.0 * corners * at * np.cos(half)
    along = (outer - at) ** 2
    return at, float(np.sqrt(max(across.max(), along) + 0.25 * height**2))


def _check_count(count: float, padding: float) -> None:
    if not count <= MAX_SPHERES:
        raise InvalidInputError(
            f"padding is {padding:g} m, which would need {count:.2g} spheres: expected at "
            f"most {MAX_SPHERES:,}. Use a larger padding."
        )
