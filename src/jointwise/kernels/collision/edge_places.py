"""Where clusters and spheres are at eight moments of an edge; placed only where they are needed."""

from jointwise.kernels._numba.jit import ir_inline, jit_inline
from jointwise.kernels._numba.where import where
from jointwise.kernels.collision.clearances import lane_view
from jointwise.kernels.collision.edge_frames import (
    from_origin,
    place_bound,
)
from jointwise.kernels.layout.edges import (
    BOUND_END,
    BOUND_FIRST,
    GROUP_FRAME,
    EdgeModel,
    EdgeWorkspace,
)

Point = tuple[float, float, float]
# Lanes that touch, and lanes that are not proven; a bit each.
Verdict = tuple[int, int]


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
def place_clusters(model: EdgeModel, lanes: EdgeWorkspace, c: int) -> None:
    """Place the clusters of a link group, unless they are."""
    is_placed, groups = lanes.is_placed, model.groups
    if is_placed[c] != 0.0:
        return
    is_placed[c] = 1.0
    clusters, placed, frames = model.clusters, lanes.clusters, lanes.frames
    f = int(groups[c, GROUP_FRAME])
    for s in range(int(groups[c, BOUND_FIRST]), int(groups[c, BOUND_END])):
        x, y, z = from_origin(frames, f, clusters[s, 0], clusters[s, 1], clusters[s, 2])
        placed[s, 0], placed[s, 1] = frames[f, 9] + x, frames[f, 10] + y
        placed[s, 2] = frames[f, 11] + z
        is_placed[groups.shape[0] + s] = 0.0


@jit_inline
def place_spheres(model: EdgeModel, lanes: EdgeWorkspace, c: int, s: int, slack: float) -> None:
    """Place the spheres of cluster s of link group c, unless they are; also how far they move."""
    is_placed, groups = lanes.is_placed, model.groups
    if is_placed[groups.shape[0] + s] != 0.0:
        return
    is_placed[groups.shape[0] + s] = 1.0
    frames, f, half = lanes.frames, int(groups[c, GROUP_FRAME]), lanes.times[1]
    limit, acceleration, placed = lanes.bounds[c, 3], lanes.motions[c, 1], lanes.clusters[s]
    motion = place_bound(frames, f, model.clusters[s], acceleration, half, placed) + slack
    placed[3] = where(motion < limit, motion, limit)
    spheres, placed = model.spheres, lanes.spheres
    for k in range(int(model.clusters[s, BOUND_FIRST]), int(model.clusters[s, BOUND_END])):
        x, y, z = from_origin(frames, f, spheres[k, 0], spheres[k, 1], spheres[k, 2])
        placed[k, 0], placed[k, 1] = frames[f, 9] + x, frames[f, 10] + y
        placed[k, 2] = frames[f, 11] + z
