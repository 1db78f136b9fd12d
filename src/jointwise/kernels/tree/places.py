"""Where targets of a tree are that are not fixed in the world, and its centre of mass."""

from math import sqrt

from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.kinematics.fk import Point, rotate
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.tree import (
    CORNERS,
    TARGET_BOX,
    TARGET_CENTRE,
    TARGET_POINT,
    TreeMemory,
    TreeProblem,
)

# A link nearer to the point that it looks at sees it in every direction, and a point nearer to the
# edge of a polygon is at it [m].
NEAREST = 1e-9


@jit
def place_masses(problem: TreeProblem, state: Floats, memory: TreeMemory) -> None:
    """Write the masses that the base and each joint move, after the frames."""
    frames, masses, own, parents = memory.frames, memory.masses, problem.masses, problem.parents
    at = problem.strides.size
    for i in range(own.shape[0]):
        share, x, y, z = own[i, 0], own[i, 1], own[i, 2], own[i, 3]
        masses[i, 0] = share
        for row in range(3):
            if i == 0:
                first = at + 4 * row
                masses[0, row + 1] = state[first] * x + state[first + 1] * y + state[first + 2] * z
            else:
                frame = frames[i - 1]
                value = frame[row, 0] * x + frame[row, 1] * y + frame[row, 2] * z
                masses[i, row + 1] = value + share * frame[row, 3]
    for i in range(parents.size - 1, -1, -1):
        for column in range(4):
            masses[parents[i] + 1, column] += masses[i + 1, column]


@jit
def place_target(
    problem: TreeProblem, state: Floats, frames: Floats, target: Floats, k: int
) -> None:
    """Write where target k is, which moves with a link."""
    joint, at = problem.references[k], problem.strides.size
    for p in range(4):
        given = TARGET_CENTRE + 3 * p
        x, y, z = target[given], target[given + 1], target[given + 2]
        if joint < 0:
            a, b, c = x, y, z
            x = state[at] * a + state[at + 1] * b + state[at + 2] * c
            y = state[at + 4] * a + state[at + 5] * b + state[at + 6] * c
            z = state[at + 8] * a + state[at + 9] * b + state[at + 10] * c
        else:
            x, y, z = rotate(frames, joint, x, y, z)
            if p == 0:
                x, y = x + frames[joint, 0, 3], y + frames[joint, 1, 3]
                z += frames[joint, 2, 3]
        if p == 0:
            x, y, z = x + state[at + 3], y + state[at + 7], z + state[at + 11]
        placed = TARGET_POINT + 3 * p
        target[placed], target[placed + 1], target[placed + 2] = x, y, z


@jit
def way_into_polygon(target: Floats, x: float, y: float) -> tuple[float, float, float]:
    """(a, b, distance): the direction into the convex polygon of a target, from (x, y).

    The distance is that to the nearest point of its edges, negative inside. Corners are
    anticlockwise; the last one is repeated where there are fewer.
    """
    outside, least, near, inward = False, 1e300, (x, y), (0.0, 0.0)
    for i in range(CORNERS):
        j = (i + 1) % CORNERS
        a, b = target[TARGET_BOX + 2 * i], target[TARGET_BOX + 2 * i + 1]
        u, v = target[TARGET_BOX + 2 * j] - a, target[TARGET_BOX + 2 * j + 1] - b
        size = u * u + v * v
        if size > 0.0:
            outside = outside or u * (y - b) - v * (x - a) < 0.0
            share = max(0.0, min(1.0, (u * (x - a) + v * (y - b)) / size))
            c, d = a + share * u, b + share * v
            square = (x - c) * (x - c) + (y - d) * (y - d)
            if square < least:
                length = sqrt(size)
                least, near, inward = square, (c, d), (-v / length, u / length)
    distance = sqrt(least)
    if not outside or distance < NEAREST:  # at an edge, rounding decides where the nearest point is
        return inward[0], inward[1], distance if outside else -distance
    return (near[0] - x) / distance, (near[1] - y) / distance, distance


@jit
def aim_at_polygon(target: Floats, source: int, origin: Point, points: Floats) -> None:
    """Write the point of a target: the nearest one above its polygon.

    The next rows of ``points`` are the direction to there, and the distance; if the point is above
    the polygon, to and from its nearest edge, with a negative distance.

    Args:
        target: The target; its frame begins at column ``source``.
        source: See above.
        origin: The base's origin.
        points: (10, 3) of which the first is the point of the link, from the base's origin.
    """
    x = origin[0] + points[0, 0] - target[source]
    y = origin[1] + points[0, 1] - target[source + 1]
    z = origin[2] + points[0, 2] - target[source + 2]
    a, b = source + 3, source + 6
    u = x * target[a] + y * target[a + 1] + z * target[a + 2]
    v = x * target[b] + y * target[b + 1] + z * target[b + 2]
    u, v, distance = way_into_polygon(target, u, v)
    points[2, 0] = distance
    for axis in range(3):
        points[1, axis] = u * target[a + axis] + v * target[b + axis]
        move = max(distance, 0.0) * points[1, axis]
        target[TARGET_POINT + axis] = origin[axis] + points[0, axis] + move


@jit_inline
def direction_to(
    target: Floats, origin: Point, points: Floats
) -> tuple[float, float, float, float]:
    """The direction from a link to the point of its target, and the distance; see ``LOOKS_AT``."""
    x = target[TARGET_POINT] - origin[0] - points[0, 0]
    y = target[TARGET_POINT + 1] - origin[1] - points[0, 1]
    z = target[TARGET_POINT + 2] - origin[2] - points[0, 2]
    size = sqrt(x * x + y * y + z * z)
    if size < NEAREST:
        return points[1, 0], points[1, 1], points[1, 2], 0.0
    return x / size, y / size, z / size, size
