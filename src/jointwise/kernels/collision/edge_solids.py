"""Eight intervals of an edge against boxes and cylinders, which are convex."""

from math import sqrt

from jointwise.kernels._numba.jit import jit_inline
from jointwise.kernels._numba.where import any_lane, lane_bits, where
from jointwise.kernels.collision.edge_frames import velocity
from jointwise.kernels.collision.edge_places import (
    Point,
    Verdict,
    place_clusters,
    place_spheres,
)
from jointwise.kernels.collision.obstacles import Face, beyond_face
from jointwise.kernels.layout.edges import (
    BOUND_END,
    BOUND_FIRST,
    BOUND_RADIUS,
    GROUP_FRAME,
    EdgeModel,
    EdgeWorkspace,
)

# Added to divisors that may be 0.
TINY = 1e-300


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
    at least as its change at the moment says, apart from the acceleration of the sphere.
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
def near_spheres(
    model: EdgeModel, lanes: EdgeWorkspace, c: int, s: int, m: int, slack: float
) -> int:
    """The lanes in which spheres of cluster s may come to box or cylinder m; a bit each."""
    clusters, centres, undecided = model.clusters, lanes.spheres, 0
    for k in range(int(clusters[s, BOUND_FIRST]), int(clusters[s, BOUND_END])):
        gap_sq = core_sq(model, m, centres[k, 0], centres[k, 1], centres[k, 2])
        touching = model.pads[m] + model.spheres[k, 3]
        reach = lanes.clusters[s, 3] + touching
        is_near = gap_sq < reach * reach
        if lane_bits(is_near) & ~undecided:
            reaches = may_reach(model, lanes, c, k, m, gap_sq, touching + slack)
            undecided |= lane_bits(is_near & reaches)
    return undecided


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
    place_clusters(model, lanes, c)
    for s in range(int(groups[c, BOUND_FIRST]), int(groups[c, BOUND_END])):
        gap_sq, touching = (
            core_sq(model, m, placed[s, 0], placed[s, 1], placed[s, 2]),
            pad + clusters[s, BOUND_RADIUS],
        )
        reach = bounds[c, 3] + touching
        if not any_lane(gap_sq < reach * reach):
            continue
        place_spheres(model, lanes, c, s, slack)
        reach = placed[s, 3] + touching
        if not any_lane(gap_sq < reach * reach):
            continue
        near = 0
        for k in range(int(clusters[s, BOUND_FIRST]), int(clusters[s, BOUND_END])):
            gap_sq = core_sq(model, m, centres[k, 0], centres[k, 1], centres[k, 2])
            touching = pad + spheres[k, 3]
            touches |= lane_bits(gap_sq < touching * touching)
            reach = placed[s, 3] + touching
            near |= lane_bits(gap_sq < reach * reach)
        if touches and ends:
            return touches, undecided
        if near & ~undecided:
            undecided |= near_spheres(model, lanes, c, s, m, slack)
    return touches, undecided
