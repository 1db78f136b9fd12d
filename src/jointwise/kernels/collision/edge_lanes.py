"""Eight intervals of an edge checked side by side: which touch, and which are not proven free.

A lane is proven if every gap in the middle of its interval exceeds the motion within it: a test
with inflated radii, by squared distances. A sphere around each link group comes first, then
clusters of spheres, then spheres; each only where the one before is near in any lane.
"""

from math import sqrt

from jointwise.kernels._numba.jit import ir_inline, jit, jit_inline
from jointwise.kernels._numba.where import HAS_LANES, any_lane, lane_bits, where
from jointwise.kernels.collision.clearances import lane_view
from jointwise.kernels.collision.edge_frames import (
    from_origin,
    motion_bounds,
    place_bound,
    place_frames,
    place_groups,
    velocity,
)
from jointwise.kernels.collision.obstacles import Face, beyond_face, grid_distance
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.edges import (
    BOUND_END,
    BOUND_FIRST,
    BOUND_RADIUS,
    GROUP_END,
    GROUP_FIRST,
    GROUP_FRAME,
    PAIR_A,
    PAIR_B,
    PAIR_COMMON,
    EdgeModel,
    EdgeWorkspace,
)
from jointwise.kernels.layout.slots import WIDTH

Point = tuple[float, float, float]
# Lanes that touch, and lanes that are not proven; a bit each.
Verdict = tuple[int, int]

# Added to divisors that may be 0.
TINY = 1e-300
# The diagonal of a cube.
DIAGONAL = sqrt(3.0)


@ir_inline
def lane_work(work: EdgeWorkspace, k: int) -> EdgeWorkspace:
    """The numbers in lanes as such; without lanes, column k of them."""
    return EdgeWorkspace(
        work.candidates,
        work.starts,
        work.rates,
        work.turns,
        work.motions,
        work.relative,
        work.is_placed,
        work.queue,
        lane_view(work.times, k),
        lane_view(work.values, k),
        lane_view(work.frames, k),
        lane_view(work.bounds, k),
        lane_view(work.clusters, k),
        lane_view(work.spheres, k),
    )


@jit_inline
def place_clusters(model: EdgeModel, lanes: EdgeWorkspace, c: int, slack: float) -> None:
    """Place the clusters of a link group, unless they are."""
    is_placed, groups = lanes.is_placed, model.groups
    if is_placed[c] != 0.0:
        return
    is_placed[c] = 1.0
    clusters, placed, frames = model.clusters, lanes.clusters, lanes.frames
    f, half, limit = int(groups[c, GROUP_FRAME]), lanes.times[1], lanes.bounds[c, 3]
    acceleration = lanes.motions[c, 1]
    for s in range(int(groups[c, BOUND_FIRST]), int(groups[c, BOUND_END])):
        motion = place_bound(frames, f, clusters[s], acceleration, half, placed[s]) + slack
        placed[s, 3] = where(motion < limit, motion, limit)
        is_placed[groups.shape[0] + s] = 0.0


@jit_inline
def place_spheres(model: EdgeModel, lanes: EdgeWorkspace, c: int, s: int) -> None:
    """Place the spheres of a cluster of link group c, unless they are."""
    is_placed, groups = lanes.is_placed, model.groups
    if is_placed[groups.shape[0] + s] != 0.0:
        return
    is_placed[groups.shape[0] + s] = 1.0
    spheres, placed, frames, f = (
        model.spheres,
        lanes.spheres,
        lanes.frames,
        int(groups[c, GROUP_FRAME]),
    )
    for k in range(int(model.clusters[s, BOUND_FIRST]), int(model.clusters[s, BOUND_END])):
        x, y, z = from_origin(frames, f, spheres[k, 0], spheres[k, 1], spheres[k, 2])
        placed[k, 0], placed[k, 1] = frames[f, 9] + x, frames[f, 10] + y
        placed[k, 2] = frames[f, 11] + z


@jit_inline
def positive(value: float) -> float:
    """The value, or 0 if it is negative."""
    return where(value > 0.0, value, 0.0)


@jit_inline
def core_sq(model: EdgeModel, m: int, x: float, y: float, z: float) -> float:
    """Squared distance of a point from box or cylinder m, without its pad; 0 inside [m²]."""
    boxes = model.boxes
    if m < boxes.shape[0]:
        face = boxes[m, 0], boxes[m, 1], boxes[m, 2], boxes[m, 9], boxes[m, 12]
        a = positive(beyond_face(face, x, y, z))
        face = boxes[m, 3], boxes[m, 4], boxes[m, 5], boxes[m, 10], boxes[m, 13]
        b = positive(beyond_face(face, x, y, z))
        face = boxes[m, 6], boxes[m, 7], boxes[m, 8], boxes[m, 11], boxes[m, 14]
        c = positive(beyond_face(face, x, y, z))
        box_sq: float = a * a + b * b + c * c
        return box_sq
    rows, i = model.cylinders, m - boxes.shape[0]
    a, b, c = rows[i, 3], rows[i, 4], rows[i, 5]
    u, v, w = x - rows[i, 0], y - rows[i, 1], z - rows[i, 2]
    along = a * u + b * v + c * w
    u, v, w = u - along * a, v - along * b, w - along * c
    across = positive(sqrt(u * u + v * v + w * w) - rows[i, 6])
    beyond = positive(abs(along) - rows[i, 7])
    return across * across + beyond * beyond


@jit_inline
def signed_face(face: Face, point: Point, motion: Point) -> float:
    """How far a point is beyond a pair of faces, times how fast it moves away from them."""
    side = face[0] * point[0] + face[1] * point[1] + face[2] * point[2] + face[3]
    beyond = positive(abs(side) - face[4])
    rate = face[0] * motion[0] + face[1] * motion[1] + face[2] * motion[2]
    return beyond * where(side < 0.0, -rate, rate)


@jit_inline
def core_rate(model: EdgeModel, m: int, point: Point, motion: Point) -> float:
    """The distance of a point from box or cylinder m, without its pad, times its change [m²]."""
    boxes = model.boxes
    if m < boxes.shape[0]:
        face = boxes[m, 0], boxes[m, 1], boxes[m, 2], boxes[m, 9], boxes[m, 12]
        rate: float = signed_face(face, point, motion)
        face = boxes[m, 3], boxes[m, 4], boxes[m, 5], boxes[m, 10], boxes[m, 13]
        rate += signed_face(face, point, motion)
        face = boxes[m, 6], boxes[m, 7], boxes[m, 8], boxes[m, 11], boxes[m, 14]
        return rate + signed_face(face, point, motion)
    rows, i = model.cylinders, m - boxes.shape[0]
    a, b, c = rows[i, 3], rows[i, 4], rows[i, 5]
    u, v, w = point[0] - rows[i, 0], point[1] - rows[i, 1], point[2] - rows[i, 2]
    along, slide = a * u + b * v + c * w, a * motion[0] + b * motion[1] + c * motion[2]
    u, v, w = u - along * a, v - along * b, w - along * c
    size = sqrt(u * u + v * v + w * w)
    across, beyond = positive(size - rows[i, 6]), positive(abs(along) - rows[i, 7])
    outwards = (u * motion[0] + v * motion[1] + w * motion[2]) / (size + TINY)
    change: float = across * outwards + beyond * where(along < 0.0, -slide, slide)
    return change


@jit_inline
def may_reach(
    model: EdgeModel, lanes: EdgeWorkspace, c: int, k: int, m: int, gap_sq: float, touching: float
) -> bool:
    """Whether sphere k of link group c may come to box or cylinder m within its interval.

    Only motion towards it counts. Boxes and cylinders are convex, so the distance from them grows
    by no less than its change at the moment says, but for the acceleration of the sphere.
    """
    frames, centres, f = lanes.frames, lanes.spheres, int(model.groups[c, GROUP_FRAME])
    point, half = (centres[k, 0], centres[k, 1], centres[k, 2]), lanes.times[1]
    motion = velocity(
        frames, f, point[0] - frames[f, 9], point[1] - frames[f, 10], point[2] - frames[f, 11]
    )
    gap = sqrt(gap_sq)
    rate = abs(core_rate(model, m, point, motion)) / (gap + TINY)
    near: bool = gap < half * (rate + 0.5 * lanes.motions[c, 1] * half) + touching
    return near


@jit_inline
def solid_verdict(
    model: EdgeModel, lanes: EdgeWorkspace, c: int, m: int, slack: float, ends: bool
) -> Verdict:
    """Link group c against box or cylinder m; it ``ends`` at the first contact, or not."""
    groups, clusters, spheres, pad = model.groups, model.clusters, model.spheres, model.pads[m]
    bounds, placed, centres = lanes.bounds, lanes.clusters, lanes.spheres
    touches, undecided = 0, 0
    reach = bounds[c, 3] + (pad + groups[c, BOUND_RADIUS])
    if not any_lane(core_sq(model, m, bounds[c, 0], bounds[c, 1], bounds[c, 2]) < reach * reach):
        return 0, 0
    place_clusters(model, lanes, c, slack)
    for s in range(int(groups[c, BOUND_FIRST]), int(groups[c, BOUND_END])):
        reach = placed[s, 3] + (pad + clusters[s, BOUND_RADIUS])
        gap_sq = core_sq(model, m, placed[s, 0], placed[s, 1], placed[s, 2])
        if any_lane(gap_sq < reach * reach):
            place_spheres(model, lanes, c, s)
            for k in range(int(clusters[s, BOUND_FIRST]), int(clusters[s, BOUND_END])):
                gap_sq = core_sq(model, m, centres[k, 0], centres[k, 1], centres[k, 2])
                touching = pad + spheres[k, 3]
                touches |= lane_bits(gap_sq < touching * touching)
                reach = placed[s, 3] + touching
                is_near = gap_sq < reach * reach
                if any_lane(is_near):
                    reaches = may_reach(model, lanes, c, k, m, gap_sq, touching + slack)
                    undecided |= lane_bits(is_near & reaches)
                if touches and ends:
                    return touches, undecided
    return touches, undecided


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
    of a cell at most, outside also by twice the distance from the grid; and it is no less than that
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
    model: EdgeModel, work: EdgeWorkspace, lanes: EdgeWorkspace, c: int, m: int, column: int
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
    place_clusters(model, lanes, c, 0.0)
    for s in range(int(groups[c, BOUND_FIRST]), int(groups[c, BOUND_END])):
        place_spheres(model, lanes, c, s)
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


@jit_inline
def obstacles_verdict(
    model: EdgeModel,
    work: EdgeWorkspace,
    lanes: EdgeWorkspace,
    column: int,
    slack: float,
    ends: bool,
) -> Verdict:
    """All link groups against the obstacles that they can reach."""
    groups, candidates, touches, undecided = model.groups, work.candidates, 0, 0
    solids = model.boxes.shape[0] + model.cylinders.shape[0]
    for back in range(1, groups.shape[0] + 1):
        c = groups.shape[0] - back
        first = int(groups[c, GROUP_FIRST])
        for i in range(first, int(groups[c, GROUP_END])):
            m = int(candidates[i])
            if m < solids:
                verdict = solid_verdict(model, lanes, c, m, slack, ends)
            else:
                verdict = grid_verdict(model, work, lanes, c, m, column)
            touches, undecided = touches | verdict[0], undecided | verdict[1]
            if touches and ends:
                candidates[i], candidates[first] = candidates[first], candidates[i]
                return touches, undecided
    return touches, undecided


@jit_inline
def away(a: Floats, i: int, b: Floats, j: int) -> tuple[float, float, float, float]:
    """From point i of a to point j of b [m], and the squared distance [m²]."""
    x, y, z = b[j, 0] - a[i, 0], b[j, 1] - a[i, 1], b[j, 2] - a[i, 2]
    return x, y, z, x * x + y * y + z * z


@jit_inline
def spheres_verdict(
    model: EdgeModel, lanes: EdgeWorkspace, pair: tuple[int, int, int], i: int, j: int, slack: float
) -> Verdict:
    """Sphere i against sphere j, of the two link groups of a pair.

    Only motion along the line of centres counts: the distance of two points is bent downwards by
    no more than their acceleration against each other.
    """
    spheres, centres, frames, half = model.spheres, lanes.spheres, lanes.frames, lanes.times[1]
    speed, acceleration = lanes.relative[pair[2], 0], lanes.relative[pair[2], 1]
    x, y, z, gap_sq = away(centres, i, centres, j)
    touching = spheres[i, 3] + spheres[j, 3] + model.margin
    touches, reach = lane_bits(gap_sq < touching * touching), half * speed + (touching + slack)
    is_near = gap_sq < reach * reach
    if not any_lane(is_near):
        return touches, 0
    f, g = int(model.groups[pair[0], GROUP_FRAME]), int(model.groups[pair[1], GROUP_FRAME])
    ax, ay, az = velocity(
        frames,
        f,
        centres[i, 0] - frames[f, 9],
        centres[i, 1] - frames[f, 10],
        centres[i, 2] - frames[f, 11],
    )
    bx, by, bz = velocity(
        frames,
        g,
        centres[j, 0] - frames[g, 9],
        centres[j, 1] - frames[g, 10],
        centres[j, 2] - frames[g, 11],
    )
    distance = sqrt(gap_sq)
    rate = abs((bx - ax) * x + (by - ay) * y + (bz - az) * z) / distance
    reach = half * (rate + 0.5 * acceleration * half) + (touching + slack)
    return touches, lane_bits(is_near & (distance < reach))


@jit_inline
def pair_verdict(
    model: EdgeModel, lanes: EdgeWorkspace, k: int, slack: float, ends: bool
) -> Verdict:
    """The two link groups of pair k against each other."""
    groups, clusters, relative, bounds = model.groups, model.clusters, lanes.relative, lanes.bounds
    a, b = int(model.pairs[k, PAIR_A]), int(model.pairs[k, PAIR_B])
    touching = groups[a, BOUND_RADIUS] + groups[b, BOUND_RADIUS] + model.margin
    gap_sq, reach = away(bounds, a, bounds, b)[3], bounds[a, 3] + bounds[b, 3] + touching
    if not any_lane(gap_sq < reach * reach):
        return 0, 0
    if relative[k, 0] < 0.0:
        common = int(model.pairs[k, PAIR_COMMON])
        speed, acceleration = motion_bounds(model, lanes, a, common)
        more, bend = motion_bounds(model, lanes, b, common)
        relative[k, 0], relative[k, 1] = speed + more, acceleration + bend
    motion = lanes.times[1] * relative[k, 0] + slack
    reach = motion + touching
    if not any_lane(gap_sq < reach * reach):
        return 0, 0
    place_clusters(model, lanes, a, slack)
    place_clusters(model, lanes, b, slack)
    placed, centres, spheres = lanes.clusters, lanes.spheres, model.spheres
    pair, margin, touches, undecided = (a, b, k), model.margin, 0, 0
    for s in range(int(groups[a, BOUND_FIRST]), int(groups[a, BOUND_END])):
        reach = motion + (clusters[s, BOUND_RADIUS] + groups[b, BOUND_RADIUS] + margin)
        if not any_lane(away(placed, s, bounds, b)[3] < reach * reach):
            continue
        for r in range(int(groups[b, BOUND_FIRST]), int(groups[b, BOUND_END])):
            reach = motion + (clusters[s, BOUND_RADIUS] + clusters[r, BOUND_RADIUS] + margin)
            if not any_lane(away(placed, s, placed, r)[3] < reach * reach):
                continue
            place_spheres(model, lanes, a, s)
            place_spheres(model, lanes, b, r)
            for i in range(int(clusters[s, BOUND_FIRST]), int(clusters[s, BOUND_END])):
                reach = motion + (spheres[i, 3] + clusters[r, BOUND_RADIUS] + margin)
                if not any_lane(away(centres, i, placed, r)[3] < reach * reach):
                    continue
                for j in range(int(clusters[r, BOUND_FIRST]), int(clusters[r, BOUND_END])):
                    verdict = spheres_verdict(model, lanes, pair, i, j, slack)
                    touches, undecided = touches | verdict[0], undecided | verdict[1]
                    if touches and ends:
                        return touches, undecided
    return touches, undecided


@jit_inline
def check_lanes(
    model: EdgeModel, work: EdgeWorkspace, column: int, slack: float, ends: bool
) -> Verdict:
    """The configurations in ``work.values``, each in the middle of an interval of the edge.

    Args:
        model: The robot and its obstacles.
        work: The edge, and ``times`` and ``values``.
        column: Without lanes, the one to check.
        slack: What the rounding of joint values moves a point by, at most [m].
        ends: Whether the check ends at the first contact; else all lanes are decided.
    """
    lanes = lane_work(work, column)
    half, is_placed = lanes.times[1], work.is_placed
    place_frames(model.joints, work.rates, lanes.values, 0.0 * half, lanes.frames)
    place_groups(model.groups, lanes.frames, work.motions, half, slack, lanes.bounds)
    for c in range(model.groups.shape[0]):
        is_placed[c] = 0.0
    touches, undecided = obstacles_verdict(model, work, lanes, column, slack, ends)
    for k in range(model.pairs.shape[0]):
        if touches and ends:
            break
        verdict = pair_verdict(model, lanes, k, slack, ends)
        touches, undecided = touches | verdict[0], undecided | verdict[1]
    return touches, undecided
