"""Eight intervals of an edge against grids of distances: point clouds and meshes."""

from math import sqrt

from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels._numba.where import HAS_LANES
from jointwise.kernels.collision.edge_places import (
    Point,
    Verdict,
    place_clusters,
    place_spheres,
)
from jointwise.kernels.collision.obstacles import grid_distance
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.edges import (
    BOUND_END,
    BOUND_FIRST,
    BOUND_RADIUS,
    EdgeModel,
    EdgeWorkspace,
)
from jointwise.kernels.layout.slots import WIDTH

# The diagonal of a cube.
DIAGONAL = sqrt(3.0)


@jit
def grid_depth(grids: Floats, d: int, point: Point) -> float:
    """How deep a point is inside the cells of grid d [m]; negative outside, minus the distance."""
    depth, outside_sq = 1e300, 0.0
    for axis in range(3):
        value = point[axis] - grids[d, axis]
        own = min(value, grids[d, 4 + axis] * grids[d, 3] - value)
        depth = min(depth, own)
        outside_sq += min(own, 0.0) ** 2
    return -sqrt(outside_sq) if depth < 0.0 else depth


@jit
def grid_bound(grids: Floats, distances: Floats, d: int, point: Point, motion: float) -> float:
    """A lower bound of ``grid_distance`` at all points within ``motion`` of a point [m].

    That function jumps between cells. Inside the grid it is below the true distance by the diagonal
    of a cell at most, outside also by twice the distance from the grid; and it is at least that
    distance. A true distance changes no faster than the point moves. Where that does not suffice,
    and they are few, the cells around the point are looked at.
    """
    x, y, z = point
    edge: float = grids[d, 3]
    depth = grid_depth(grids, d, point)
    bound: float = grid_distance(grids, distances, d, x, y, z) - motion - DIAGONAL * edge
    if depth < motion:
        bound -= 2.0 * (motion - min(depth, 0.0))
    if -depth > motion:
        bound = max(bound, -depth - motion)
    if motion > edge:
        return bound
    least, cells = 1e300, (int(grids[d, 4]), int(grids[d, 5]), int(grids[d, 6]))
    u, v, w = x - grids[d, 0], y - grids[d, 1], z - grids[d, 2]
    for i in near_cells(u, motion, edge, cells[0]):
        for j in near_cells(v, motion, edge, cells[1]):
            for k in near_cells(w, motion, edge, cells[2]):
                a, b, c = u - (i + 0.5) * edge, v - (j + 0.5) * edge, w - (k + 0.5) * edge
                distance = distances[int(grids[d, 7]) + (i * cells[1] + j) * cells[2] + k]
                least = min(least, distance - sqrt(a * a + b * b + c * c) - motion)
    return max(bound, least)


@jit_inline
def near_cells(value: float, motion: float, edge: float, count: int) -> range:
    """The cells along an axis of a grid that are within ``motion`` of a coordinate [m]."""
    first, last = int((value - motion) / edge - 1e-9), int((value + motion) / edge + 1e-9)
    return range(min(max(first, 0), count - 1), min(max(last, 0), count - 1) + 1)


@jit_inline
def grid_verdict(
    model: EdgeModel,
    work: EdgeWorkspace,
    lanes: EdgeWorkspace,
    c: int,
    m: int,
    column: int,
    slack: float,
) -> Verdict:
    """Link group c against obstacle m, a grid; lane by lane, from those of ``column`` on."""
    grids, distances, groups, clusters = model.grids, model.distances, model.groups, model.clusters
    d, pad, spheres = (
        m - model.boxes.shape[0] - model.cylinders.shape[0],
        model.pads[m],
        model.spheres,
    )
    begin, end = (0, WIDTH) if HAS_LANES else (column, column + 1)
    bounds, placed, centres = work.bounds, work.clusters, work.spheres
    near, inside, touches, undecided = 0, 0, 0, 0
    reach = pad + groups[c, BOUND_RADIUS]
    for lane in range(begin, end):
        point = bounds[c, 0, lane], bounds[c, 1, lane], bounds[c, 2, lane]
        if grid_bound(grids, distances, d, point, bounds[c, 3, lane]) < reach:
            near |= 1 << (lane - begin)
            # Both bounds are checked, and that of the bounding sphere may be better.
            if grid_distance(grids, distances, d, point[0], point[1], point[2]) < reach:
                inside |= 1 << (lane - begin)
    if near == 0:
        return 0, 0
    place_clusters(model, lanes, c)
    for s in range(int(groups[c, BOUND_FIRST]), int(groups[c, BOUND_END])):
        place_spheres(model, lanes, c, s, slack)
        reach = pad + clusters[s, BOUND_RADIUS] + DIAGONAL * grids[d, 3]
        for lane in range(begin, end):
            bit, motion = 1 << (lane - begin), placed[s, 3, lane]
            x, y, z = placed[s, 0, lane], placed[s, 1, lane], placed[s, 2, lane]
            if near & bit == 0:
                continue
            depth, bound = grid_depth(grids, d, (x, y, z)), clusters[s, BOUND_RADIUS]
            if -depth >= motion + pad + bound:
                continue
            distance = grid_distance(grids, distances, d, x, y, z)
            if depth >= motion + bound and distance - motion >= reach:
                continue
            for k in range(int(clusters[s, BOUND_FIRST]), int(clusters[s, BOUND_END])):
                point = centres[k, 0, lane], centres[k, 1, lane], centres[k, 2, lane]
                touching = pad + spheres[k, 3]
                if grid_bound(grids, distances, d, point, motion) < touching:
                    undecided |= bit
                    distance = grid_distance(grids, distances, d, point[0], point[1], point[2])
                    if distance < touching and inside & bit:
                        touches |= bit
    return touches, undecided
