"""Spheres around solids, none of them fatter than is allowed.

A sphere whose centre is inside a solid, at a depth d below its surface, may have the radius
d + padding: no point of it is farther than the padding from the solid. A triangle is inside a
sphere if its corners are. So the surface is cut into small triangles, and spheres are chosen
greedily until every triangle is inside one of them.

No well-kept library for this was found.
"""

from collections.abc import Sequence
from heapq import heapify, heapreplace

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.shape.solids.mesh import Mesh

# Longest edge of the small triangles, as a share of the padding.
EDGE_SHARE = 0.4
# Distance of the centres that are tried, as a share of the padding, and most of them in a box.
PITCH_SHARE, MAX_CENTRES = 0.5, 12_000
# Numbers of spheres are multiples of this [m], so that files are short.
STEP = 1e-4
# How much larger a sphere becomes by that, at most [m].
ROUNDING = 2.0 * STEP
# Most small triangles, and how many there are about in the square of their longest edge.
MAX_TRIANGLES, TRIANGLES_PER_SQUARE = 3_000_000, 10.0
# Points and triangles whose winding numbers are computed together.
MAX_TERMS = 1_000_000


def fit_spheres(meshes: Sequence[Mesh], padding: float) -> Floats:
    """(k, 4) spheres, centre and radius [m], that contain all triangles of some solids.

    Args:
        meshes: The solids, in one frame.
        padding: How far a point of a sphere is outside of all solids, at most [m].

    Raises:
        InvalidInputError: The padding is too small for so large solids.
    """
    _check_size(meshes, padding)
    padding = padding - ROUNDING
    edge = EDGE_SHARE * padding
    pieces = [split_triangles(mesh.vertices[mesh.faces], edge) for mesh in meshes]
    candidates = np.concatenate(
        [
            _inside_candidates(mesh, triangles, edge, padding)
            for mesh, triangles in zip(meshes, pieces, strict=True)
        ]
    )
    triangles = np.concatenate(pieces)
    spheres, missed = _cover(triangles, candidates)
    if len(missed):  # what is thinner than the distance of the centres: spheres on the surface
        thin = np.insert(missed.mean(axis=1), 3, padding, axis=1)
        spheres = np.concatenate([spheres, _cover(missed, thin)[0]])
    return _rounded(spheres)


def _check_size(meshes: Sequence[Mesh], padding: float) -> None:
    """Refuse what would need more than ``MAX_TRIANGLES`` small triangles."""
    a, b, c = np.concatenate([mesh.vertices[mesh.faces] for mesh in meshes]).swapaxes(0, 1)
    area = 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
    least = np.sqrt(TRIANGLES_PER_SQUARE * area / MAX_TRIANGLES) / EDGE_SHARE
    if padding < least:
        raise InvalidInputError(
            f"padding is {padding:g} m for a surface of {area:.1f} m²: expected at least "
            f"{np.ceil(1e3 * least) / 1e3:g} m."
        )


def split_triangles(triangles: Floats, edge: float) -> Floats:
    """(m, 3, 3) the same surface, of triangles whose edges are at most ``edge`` long [m]."""
    done = []
    while len(triangles):
        lengths = np.linalg.norm(triangles - np.roll(triangles, -1, axis=1), axis=2)
        longest = lengths.argmax(axis=1)
        short = lengths.max(axis=1) <= edge
        done.append(triangles[short])
        triangles, longest = triangles[~short], longest[~short]
        turns = (longest[:, None] + np.arange(3)) % 3  # the longest edge from corner a to b
        a, b, c = np.take_along_axis(triangles, turns[:, :, None], axis=1).swapaxes(0, 1)
        middle = 0.5 * (a + b)
        halves = [np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)]
        triangles = np.concatenate(halves)
    return np.concatenate(done) if done else triangles


def winding_numbers(points: Floats, triangles: Floats) -> Floats:
    """(k,) how often a surface winds around each point: 0 outside, 1 inside.

    Where the surface has gaps the number is between, so that 0.5 tells inside from outside also
    for meshes that are not quite closed.
    """
    result = np.empty(len(points))
    rows = max(1, MAX_TERMS // len(triangles))
    for first in range(0, len(points), rows):
        a, b, c = (
            corner - points[first : first + rows, None] for corner in triangles.swapaxes(0, 1)
        )
        la, lb, lc = (np.linalg.norm(corner, axis=2) for corner in (a, b, c))
        ab, bc, ca = (np.einsum("ijk,ijk->ij", *two) for two in ((a, b), (b, c), (c, a)))
        volume = np.einsum("ijk,ijk->ij", a, np.cross(b, c))
        angles = np.arctan2(volume, la * lb * lc + ab * lc + bc * la + ca * lb)
        result[first : first + rows] = angles.sum(axis=1) / (2.0 * np.pi)
    return result


def _inside_candidates(mesh: Mesh, triangles: Floats, edge: float, padding: float) -> Floats:
    """(k, 4) spheres with centres inside a solid that are nowhere fatter than the padding."""
    from scipy.spatial import KDTree

    lower, upper = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    pitch = max(PITCH_SHARE * padding, np.cbrt(np.prod(upper - lower) / MAX_CENTRES))
    counts = np.ceil((upper - lower) / pitch).astype(int) + 1
    middle = 0.5 * (lower + upper)
    axes = [m + pitch * (np.arange(k) - 0.5 * (k - 1)) for m, k in zip(middle, counts, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    points = np.concatenate([middle[None], points])
    inside = np.abs(winding_numbers(points, mesh.vertices[mesh.faces])) > 0.5
    points = points[inside]
    # The nearest point of the surface is in a triangle, the line to it is perpendicular to
    # the triangle, and a corner is no farther from it than edge / sqrt(3).
    nearest, _ = KDTree(triangles.reshape(-1, 3)).query(points)
    depth = np.sqrt(np.maximum(0.0, nearest**2 - edge**2 / 3.0))
    return np.insert(points, 3, depth + padding, axis=1)


def _cover(triangles: Floats, candidates: Floats) -> tuple[Floats, Floats]:
    """Spheres, each the candidate with most triangles that are not yet inside one; what is left.

    Each is shrunk to the triangles that it was chosen for.
    """
    from scipy.spatial import KDTree

    tree = KDTree(triangles.mean(axis=1))
    uncovered: Bools = np.ones(len(triangles), bool)
    spheres = []

    def inside(k: int) -> tuple[np.ndarray, Floats]:
        """The uncovered triangles inside a candidate, and their greatest distances squared."""
        centre, radius = candidates[k, :3], candidates[k, 3]
        found = np.array(tree.query_ball_point(centre, radius), dtype=np.int64)
        found = found[uncovered[found]]
        squares = ((triangles[found] - centre) ** 2).sum(axis=2).max(axis=1)
        within = squares <= radius * radius
        return found[within], squares[within]

    counts = tree.query_ball_point(candidates[:, :3], candidates[:, 3], return_length=True)
    queue = [(-int(count), k) for k, count in enumerate(counts) if count]
    heapify(queue)
    # The gain of a candidate only falls, so one that is best with its new gain is the best of all.
    while queue and queue[0][0] < 0:
        gain, k = queue[0]
        found, squares = inside(k)
        if len(found) == -gain:
            spheres.append([*candidates[k, :3], float(np.sqrt(squares.max())) + 1e-9])
            uncovered[found] = False
            found = found[:0]
        heapreplace(queue, (-len(found), k))
    return np.array(spheres).reshape(-1, 4), triangles[uncovered]


def _rounded(spheres: Floats) -> Floats:
    """The same spheres with short numbers, each around the one that it stands for."""
    centres = np.rint(spheres[:, :3] / STEP)
    moved = np.linalg.norm(centres * STEP - spheres[:, :3], axis=1)
    radii = np.ceil((spheres[:, 3] + moved) / STEP)
    return np.insert(centres, 3, radii, axis=1) / round(1.0 / STEP)
