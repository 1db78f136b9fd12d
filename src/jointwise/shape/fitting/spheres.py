"""Spheres around solids, which extend beyond them by at most the padding.

A sphere whose centre is inside a solid, at a depth d below its surface, may have the radius
d + padding: no point of it is farther than the padding from the solid. A triangle is inside a
sphere if its corners are. So the surface is cut into small triangles, and spheres are chosen
greedily until every triangle is inside one of them.

No well-maintained library for this was found.
"""

from collections.abc import Sequence
from heapq import heapify, heapreplace
from itertools import product

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Bools, Floats, Ints
from jointwise.shape.fitting.winding import winding_numbers
from jointwise.shape.solids.mesh import Mesh, split_triangles

# Longest edge of the small triangles, as a share of the padding.
EDGE_SHARE = 0.4
# Distance of the centres that are tried, as a share of the padding, and their largest number in a
# box.
PITCH_SHARE, MAX_CENTRES = 0.5, 12_000
# Edge of the cells in each of which a sphere on the surface is tried, as a share of the padding: a
# sphere at one triangle of a cell contains all others, as sqrt(3) * 0.3 + 2 / 3 * 0.4 < 1.
THIN_SHARE = 0.3
# Numbers of spheres are multiples of this [m], so that files are short.
STEP = 1e-4
# How much larger than necessary a sphere is before rounding [m], to fit copies of the solid, too.
SPARE = 1e-6
# Largest additional distance of a point of a sphere from the solid by both [m]: the centre moves by
# half the diagonal of a cube of that edge, and the radius grows by as much and up to a step.
ROUNDING = 2.75 * STEP
# Largest number of small triangles, and about how many there are per square of their longest edge.
MAX_TRIANGLES, TRIANGLES_PER_SQUARE = 3_000_000, 10.0
# Triangles in a block, and how much larger the sphere around it is than computed [m].
BLOCK, ROOM = 32, 1e-9
# A centre is left out if a neighbour is deeper by more than this share of their distance. The
# deepest of 26 neighbours is so, unless the centre is where the depth has an edge or a peak.
DEEPER_SHARE = 0.85


def fit_spheres(meshes: Sequence[Mesh], padding: float) -> Floats:
    """(k, 4) spheres, centre and radius [m], that contain all triangles of some solids.

    Args:
        meshes: The solids, in one frame.
        padding: Largest distance of a point of a sphere from the solids [m].

    Raises:
        InvalidInputError: The padding is too small for solids of this size.
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
    if len(missed):  # parts thinner than the distance of the centres get spheres on the surface
        middles = missed.mean(axis=1)
        cells = np.floor(middles / (THIN_SHARE * padding))
        _, first = np.unique(cells, axis=0, return_index=True)
        thin = np.insert(middles[first], 3, padding, axis=1)
        spheres = np.concatenate([spheres, _cover(missed, thin)[0]])
    return spheres


def _check_size(meshes: Sequence[Mesh], padding: float) -> None:
    """Refuse solids that would need more than ``MAX_TRIANGLES`` small triangles."""
    a, b, c = np.concatenate([mesh.vertices[mesh.faces] for mesh in meshes]).swapaxes(0, 1)
    area = 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
    least = np.sqrt(TRIANGLES_PER_SQUARE * area / MAX_TRIANGLES) / EDGE_SHARE
    if padding < least:
        raise InvalidInputError(
            f"padding is {padding:g} m for a surface of {area:.1f} m²: expected at least "
            f"{np.ceil(1e3 * least) / 1e3:g} m."
        )


def _inside_candidates(mesh: Mesh, triangles: Floats, edge: float, padding: float) -> Floats:
    """(k, 4) spheres with centres inside a solid that extend beyond it by at most the padding.

    The centres are points of a grid. A sphere that is almost inside another one is left out.
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
    """Distinct points (k, 3), in any order."""
    rows = np.ascontiguousarray(points + 0.0).view(np.dtype((np.void, 24)))
    return np.unique(rows).view(np.float64).reshape(-1, 3)


def _cover(triangles: Floats, candidates: Floats) -> tuple[Floats, Floats]:
    """Spheres, each the candidate that covers the most remaining triangles; and the rest of these.

    Each is shrunk to the triangles for which it was chosen.
    """
    from scipy.spatial import KDTree

    middles = triangles.mean(axis=1)
    order = np.argsort(middles[:, np.ptp(middles, axis=0).argmax()])
    triangles, tree = triangles[order], KDTree(middles[order])
    counts = tree.query_ball_point(candidates[:, :3], candidates[:, 3], return_length=True)
    queue = [(-int(count), k) for k, count in enumerate(counts) if count]
    heapify(queue)
    uncovered, spheres = _Uncovered(triangles, tree.indices), []
    # The gain of a candidate only falls, so one that is best with its new gain is the best of all.
    while queue and queue[0][0] < 0:
        gain, k = queue[0]
        centre, radius = candidates[k, :3], float(candidates[k, 3])
        count = uncovered.count(centre, radius)
        if count == -gain:
            spheres.append([*centre, uncovered.remove(centre, radius) + SPARE])
            count = 0
        heapreplace(queue, (-count, k))
    return np.array(spheres).reshape(-1, 4), triangles[uncovered.numbers]


class _Uncovered:
    """The triangles that are not yet inside a sphere, in blocks of neighbours.

    Most blocks are entirely inside or entirely outside a sphere, which one distance shows.
    """

    def __init__(self, triangles: Floats, order: Ints) -> None:
        """Take triangles (m, 3, 3), with neighbours close to each other in the order (m,)."""
        self._triangles = triangles
        self._arrange(order)

    def _arrange(self, order: Ints) -> None:
        spare = -len(order) % BLOCK
        self._numbers = np.pad(order, (0, spare), mode="edge").reshape(-1, BLOCK)
        self._left = np.ones(self._numbers.shape, bool)
        self._left.reshape(-1)[len(order) :] = False
        self._counts = self._left.sum(axis=1)
        self._corners = self._triangles[self._numbers]
        lower, upper = self._corners.min(axis=(1, 2)), self._corners.max(axis=(1, 2))
        self._middles = 0.5 * (lower + upper)
        self._radii = 0.5 * np.linalg.norm(upper - lower, axis=1) + ROOM

    @property
    def numbers(self) -> Ints:
        """(k,) the numbers of the triangles, ascending."""
        return np.sort(self._numbers[self._left])

    def count(self, centre: Floats, radius: float) -> int:
        """How many of the triangles are inside a sphere."""
        whole, _, within = self._inside(centre, radius)
        return int(self._counts[whole].sum() + np.count_nonzero(within))

    def remove(self, centre: Floats, radius: float) -> float:
        """Remove the triangles inside a sphere; return their largest distance from its centre."""
        whole, near, within = self._inside(centre, radius)
        removed = np.zeros(self._left.shape, bool)
        removed[whole], removed[near] = self._left[whole], within
        away = self._corners[removed] - centre
        self._left &= ~removed
        self._counts = self._left.sum(axis=1)
        if 2 * np.count_nonzero(self._left) < self._left.size:
            self._arrange(self._numbers[self._left])
        return float(np.sqrt(np.einsum("ijk,ijk->ij", away, away).max()))

    def _inside(self, centre: Floats, radius: float) -> tuple[Bools, Ints, Bools]:
        """Blocks inside a sphere; blocks partly inside, and which of their triangles are."""
        away = self._middles - centre
        distances = np.sqrt(np.einsum("ij,ij->i", away, away))
        whole = distances + self._radii <= radius
        near = np.flatnonzero(~whole & (distances - self._radii <= radius) & (self._counts > 0))
        corners = self._corners[near] - centre
        a, b, c = np.einsum("ijkl,ijkl->kij", corners, corners) <= radius * radius
        return whole, near, a & b & c & self._left[near]


def rounded(spheres: Floats) -> Floats:
    """Spheres with short numbers, each around the original one."""
    centres = np.rint(spheres[:, :3] / STEP)
    moved = np.linalg.norm(centres * STEP - spheres[:, :3], axis=1)
    radii = np.ceil((spheres[:, 3] + moved) / STEP)
    return np.insert(centres, 3, radii, axis=1) / round(1.0 / STEP)
