"""Eight intervals of an edge checked side by side: which touch, and which are not proven free.

A lane is proven if every gap in the middle of its interval exceeds the motion within it: a test
with inflated radii, by squared distances. A sphere around each link group comes first, then
clusters of spheres, then spheres; each only where the one before is near in any lane.
"""

from math import sqrt

from jointwise.kernels._numba.jit import jit_inline
from jointwise.kernels._numba.where import any_lane, lane_bits
from jointwise.kernels.collision.edge_frames import (
    motion_bounds,
    place_frames,
    place_group,
    velocity,
)
from jointwise.kernels.collision.edge_grids import grid_verdict
from jointwise.kernels.collision.edge_places import (
    Verdict,
    lane_work,
    place_clusters,
    place_spheres,
)
from jointwise.kernels.collision.edge_solids import solid_verdict
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
        place_group(model, lanes, c, slack)
        for i in range(first, int(groups[c, GROUP_END])):
            m = int(candidates[i])
            if m < solids:
                verdict = solid_verdict(model, lanes, c, m, slack, ends)
            else:
                verdict = grid_verdict(model, work, lanes, c, m, column, slack)
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
    place_clusters(model, lanes, a)
    place_clusters(model, lanes, b)
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
            place_spheres(model, lanes, a, s, slack)
            place_spheres(model, lanes, b, r, slack)
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
    zero, is_placed = 0.0 * lanes.times[1], work.is_placed
    place_frames(model.joints, work.rates, lanes.values, zero, lanes.frames)
    for c in range(model.groups.shape[0]):
        is_placed[c] = 0.0
    touches, undecided = obstacles_verdict(model, work, lanes, column, slack, ends)
    for k in range(model.pairs.shape[0]):
        if touches and ends:
            break
        verdict = pair_verdict(model, lanes, k, slack, ends)
        touches, undecided = touches | verdict[0], undecided | verdict[1]
    return touches, undecided
