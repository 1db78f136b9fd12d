"""Signed distances from a point to obstacles [m]: positive outside, negative inside."""

from math import sqrt

from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels._numba.where import where
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.scene import BOX_NUMBERS, CYLINDER_NUMBERS

Face = tuple[float, float, float, float, float]
Box = tuple[Face, Face, Face, float]
Vector = tuple[float, float, float]
Cylinder = tuple[Vector, Vector, float, float]


@jit_inline
def box_numbers(boxes: Floats, block: int) -> Box:
    """The numbers of a rounded box: of one column of a block, or in lanes of all."""
    b = BOX_NUMBERS * block
    return (
        (boxes[b], boxes[b + 1], boxes[b + 2], boxes[b + 9], boxes[b + 12]),
        (boxes[b + 3], boxes[b + 4], boxes[b + 5], boxes[b + 10], boxes[b + 13]),
        (boxes[b + 6], boxes[b + 7], boxes[b + 8], boxes[b + 11], boxes[b + 14]),
        boxes[b + 15],
    )


@jit_inline
def beyond_face(face: Face, x: float, y: float, z: float) -> float:
    """How far a point is beyond the nearer one of two opposite faces of a box; negative between."""
    return abs(face[0] * x + face[1] * y + face[2] * z + face[3]) - face[4]


@jit_inline
def box_distance(box: Box, x: float, y: float, z: float) -> float:
    """From a point to a rounded box."""
    a, b = beyond_face(box[0], x, y, z), beyond_face(box[1], x, y, z)
    c = beyond_face(box[2], x, y, z)
    u, v, w = where(a > 0.0, a, 0.0), where(b > 0.0, b, 0.0), where(c > 0.0, c, 0.0)
    inside = where(b > c, b, c)
    inside = where(a > inside, a, inside)
    return sqrt(u * u + v * v + w * w) + where(inside < 0.0, inside, 0.0) - box[3]


@jit_inline
def cylinder_numbers(cylinders: Floats, block: int) -> Cylinder:
    """The numbers of a cylinder: of one column of a block, or in lanes of all."""
    c = CYLINDER_NUMBERS * block
    return (
        (cylinders[c], cylinders[c + 1], cylinders[c + 2]),
        (cylinders[c + 3], cylinders[c + 4], cylinders[c + 5]),
        cylinders[c + 6],
        cylinders[c + 7],
    )


@jit_inline
def cylinder_distance(cylinder: Cylinder, x: float, y: float, z: float) -> float:
    """From a point to a cylinder."""
    centre, axis, radius, half_length = cylinder
    u, v, w = x - centre[0], y - centre[1], z - centre[2]
    along = axis[0] * u + axis[1] * v + axis[2] * w
    u, v, w = u - along * axis[0], v - along * axis[1], w - along * axis[2]
    a, b = sqrt(u * u + v * v + w * w) - radius, abs(along) - half_length
    u, v, inside = where(a > 0.0, a, 0.0), where(b > 0.0, b, 0.0), where(a > b, a, b)
    return sqrt(u * u + v * v) + where(inside < 0.0, inside, 0.0)


@jit
def grid_distance(grids: Floats, distances: Floats, k: int, x: float, y: float, z: float) -> float:
    """A lower bound of the distance from a point to what grid k describes.

    In a cell it is the distance at the centre, less the way there. Outside of the grid it is also
    at least the distance from the grid.
    """
    edge, cell, outside_sq, to_centre_sq = grids[k, 3], 0, 0.0, 0.0
    for axis in range(3):
        value = (x if axis == 0 else y if axis == 1 else z) - grids[k, axis]
        count = int(grids[k, 4 + axis])
        outside = max(max(-value, value - count * edge), 0.0)
        index = min(max(int(value / edge), 0), count - 1)
        to_centre = value - (index + 0.5) * edge
        cell = cell * count + index
        outside_sq += outside * outside
        to_centre_sq += to_centre * to_centre
    bound: float = distances[int(grids[k, 7]) + cell] - sqrt(to_centre_sq)
    return max(bound, sqrt(outside_sq)) if outside_sq > 0.0 else bound
