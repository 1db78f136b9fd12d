"""Spheres around solids, none of them fatter than is allowed.

A sphere whose centre is inside a solid, at a depth d below its surface, may have the radius
d + padding: no point of it is farther than the padding from the solid. A triangle is inside a
sphere if its corners are. So the surface is cut into small triangles, and spheres are chosen
greedily until every triangle is inside one of them.

No well-kept library for this was found.
"""

from collections.abc import Sequence
from heapq import heapify, heapreplace
from itertools import product

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Bools, Floats, Ints
from jointwise.shape.fitting.winding import winding_numbers
from jointwise.shape.solids.mesh import Mesh

# Longest edge of the small triangles, as a share of the padding.
EDGE_SHARE = 0.4
# Distance of the centres that are tried, as a share of the padding, and most of them in a box.
PITCH_SHARE, MAX_CENTRES = 0.5, 12_000
# Edge of the cells in each of which a sphere on the surface is tried, as a share of the padding: a
# sphere at one triangle of a cell contains all others, as sqrt(3) * 0.3 + 2 / 3 * 0.4 < 1.
THIN_SHARE = 0.3
# Numbers of spheres are multiples of this [m], so that files are short.
STEP = 1e-4
# How much larger than necessary a sphere is before [m], so that it also fits a copy of the solid.
SPARE = 1e-6
# How much farther a point of a sphere is outside by both, at most [m]: the centre moves by half the
# diagonal of a cube of that edge, and the radius grows by as much and up to a step.
ROUNDING = 2.75 * STEP
# Most small triangles, and how many there are about in the square of their longest edge.
MAX_TRIANGLES, TRIANGLES_PER_SQUARE = 3_000_000, 10.0
# A centre is left out if a neighbour is deeper by more than this share of their distance. The
# deepest of 26 neighbours is so, unless the centre is where the depth has an edge or a peak.
DEEPER_SHARE = 0.85


def fit_spheres(meshes: Sequence[Mesh], padding: float) -> Floats:
    """(k, 4) spheres, centre and radius [m], that contain all triangles of some solids.

    Args:
        meshes: The solids, in one frame.
        padding: How far a point of a sphere is outside of all solids, at most [m].

    Raises:
        InvalidInputError: The padding is too small for so large solids.
    """
    return rounded(unrounded_spheres(meshes, padding))


def unrounded_spheres(meshes: Sequence[Mesh], padding: float) -> Floats:
    """The spheres of ``fit_spheres`` before ``rounded``, each larger than needed by ``SPARE``."""
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
        middles = missed.mean(axis=1)
        cells = np.floor(middles / (THIN_SHARE * padding))
        _, first = np.unique(cells, axis=0, return_index=True)
        thin = np.insert(middles[first], 3, padding, axis=1)
        spheres = np.concatenate([spheres, _cover(missed, thin)[0]])
    return spheres


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


def _inside_candidates(mesh: Mesh, triangles: Floats, edge: float, padding: float) -> Floats:
    """(k, 4) spheres with centres inside a solid that are nowhere fatter than the padding.

    Of the spheres around the points of a grid, one that is all but inside another is left out.
    """
    from scipy.spatial import KDTree

    lower, upper = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    pitch = max(PITCH_SHARE * padding, np.cbrt(np.prod(upper - lower) / MAX_CENTRES))
    counts = np.ceil((upper - lower) / pitch).astype(int) + 1
    middle = 0.5 * (lower + upper)
    axes = [m + pitch * (np.arange(k) - 0.5 * (k - 1)) for m, k in zip(middle, counts, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    points = np.concatenate([grid.reshape(-1, 3), middle[None]])
    # The nearest point of the surface is in a triangle, the line to it is perpendicular to
    # the triangle, and a corner is no farther from it than edge / sqrt(3).
    nearest, _ = KDTree(_unique_rows(triangles.reshape(-1, 3))).query(points)
    depth = np.sqrt(np.maximum(0.0, nearest**2 - edge**2 / 3.0))
    kept = np.append(~_within_neighbours(depth[:-1].reshape(counts), pitch), True)
    points, depth = points[kept], depth[kept]
    inside = np.abs(winding_numbers(points, mesh.vertices[mesh.faces])) > 0.5
    return np.insert(points[inside], 3, depth[inside] + padding, axis=1)


def _within_neighbours(depth: Floats, pitch: float) -> Bools:
    """(k,) which points of a grid have a neighbour that is deeper by almost its distance."""
    padded = np.pad(depth, 1)
    found = np.zeros(depth.shape, bool)
    for offset in product((-1, 0, 1), repeat=3):
        ends = (slice(1 + k, n + 1 + k) for k, n in zip(offset, depth.shape, strict=True))
        found |= padded[*ends] - depth > DEEPER_SHARE * pitch * np.linalg.norm(offset) + 1e-12
    return found.reshape(-1)


def _unique_rows(points: Floats) -> Floats:
    """Points (k, 3), each once; the order is any."""
    rows = np.ascontiguousarray(points + 0.0).view(np.dtype((np.void, 24)))
    return np.unique(rows).view(np.float64).reshape(-1, 3)


def _cover(triangles: Floats, candidates: Floats) -> tuple[Floats, Floats]:
    """Spheres, each the candidate with most triangles that are not yet inside one; what is left.

    Each is shrunk to the triangles that it was chosen for.
    """
    from scipy.spatial import KDTree

    middles = triangles.mean(axis=1)
    counts = KDTree(middles).query_ball_point(
        candidates[:, :3], candidates[:, 3], return_length=True
    )
    queue = [(-int(count), k) for k, count in enumerate(counts) if count]
    heapify(queue)
    uncovered, spheres = _Uncovered(triangles, middles), []
    # The gain of a candidate only falls, so one that is best with its new gain is the best of all.
    while queue and queue[0][0] < 0:
        gain, k = queue[0]
        found, squares = uncovered.inside(candidates[k, :3], candidates[k, 3])
        count = len(found)
        if count == -gain:
            spheres.append([*candidates[k, :3], float(np.sqrt(squares.max())) + SPARE])
            uncovered.remove(found)
            count = 0
        heapreplace(queue, (-count, k))
    return np.array(spheres).reshape(-1, 4), uncovered.triangles


class _Uncovered:
    """The triangles that are not yet inside a sphere, sorted along the longest axis."""

    def __init__(self, triangles: Floats, middles: Floats) -> None:
        self._axis = int(np.ptp(middles, axis=0).argmax())
        order = np.argsort(middles[:, self._axis])
        self._all, self._middles = triangles[order], middles[order]
        self._left: Bools = np.ones(len(triangles), bool)

    @property
    def triangles(self) -> Floats:
        """(k, 3, 3) the triangles."""
        return self._all[self._left]

    def inside(self, centre: Floats, radius: float) -> tuple[Ints, Floats]:
        """The numbers of the triangles inside a sphere, their greatest distances squared."""
        ends = centre[self._axis] - radius, centre[self._axis] + radius
        begin, end = np.searchsorted(self._middles[:, self._axis], ends)
        found = begin + np.flatnonzero(self._left[begin:end])
        away = self._middles[found] - centre
        found = found[np.einsum("ij,ij->i", away, away) <= radius * radius]
        away = self._all[found] - centre
        squares = np.einsum("ijk,ijk->ij", away, away).max(axis=1)
        within = squares <= radius * radius
        return found[within], squares[within]

    def remove(self, found: Ints) -> None:
        """Remove triangles; the numbers of the others may change."""
        self._left[found] = False
        if 2 * np.count_nonzero(self._left) < len(self._left):
            self._all, self._middles = self._all[self._left], self._middles[self._left]
            self._left = np.ones(len(self._all), bool)


def rounded(spheres: Floats) -> Floats:
    """The same spheres with short numbers, each around the one that it stands for."""
    centres = np.rint(spheres[:, :3] / STEP)
    moved = np.linalg.norm(centres * STEP - spheres[:, :3], axis=1)
    radii = np.ceil((spheres[:, 3] + moved) / STEP)
    return np.insert(centres, 3, radii, axis=1) / round(1.0 / STEP)
