"""Shorter paths: waypoints are left out, and corners cut, where the edges are proven free."""

from jointwise.kernels._numba.jit import jit
from jointwise.kernels.collision.edges import edge_state
from jointwise.kernels.kinematics.fk import copy_values
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.edges import EDGE_FREE
from jointwise.kernels.layout.planning import COUNT_SHORTCUTS, PlanMemory

# Edges that are checked for shortcuts, at most: long paths would have millions.
MAX_CHECKS = 20_000
# Waypoints that later rounds skip at once, at most: longer shortcuts are seldom free by then.
MAX_SKIPPED = 3
# A corner is cut if that moves it by more than this, squared.
MIN_CUT_SQ = 0.01


@jit
def is_proven(packed_edges: Floats, a: Floats, b: Floats, work: Floats) -> bool:
    """Whether the edge between two configurations is proven free."""
    return bool(edge_state(packed_edges, a, b, work) == EDGE_FREE)


@jit
def shorten(
    packed_edges: Floats, weights: Floats, memory: PlanMemory, count: int, rounds: int
) -> int:
    """Shorten the path of ``count`` waypoints in some rounds; how many waypoints are left."""
    memory.counters[COUNT_SHORTCUTS] = 0.0
    for k in range(count):
        memory.is_new[k] = 1.0
    for k in range(rounds):
        if count < 3:
            break
        before, is_cut = count, False
        count = leave_out(packed_edges, memory, count, MAX_SKIPPED if k > 0 else count)
        is_shorter = count < before
        if count >= 3 and 2 * count - 1 <= memory.path.shape[0]:
            count, is_cut = cut_corners(packed_edges, weights, memory, count)
        if not is_cut and not is_shorter:
            break
    return drop_middles(memory, count)


@jit
def may_check(memory: PlanMemory) -> bool:
    """Whether shortcuts may check one more edge, which is counted."""
    memory.counters[COUNT_SHORTCUTS] += 1.0
    return bool(memory.counters[COUNT_SHORTCUTS] <= MAX_CHECKS)


@jit
def leave_out(packed_edges: Floats, memory: PlanMemory, count: int, skipped: int) -> int:
    """Leave out waypoints between two that a free edge connects, the farthest first.

    If neither of two waypoints is new, they were tried before.
    """
    path, is_new, first = memory.path, memory.is_new, 0
    while first + 2 < count:
        last = min(count - 1, first + 1 + skipped)
        while last > first + 1:
            if is_new[first] + is_new[last] > 0.0:
                if not may_check(memory):
                    return count
                if is_proven(packed_edges, path[first], path[last], memory.edge):
                    for k in range(last, count):
                        copy_values(path[k], path[first + 1 + k - last])
                        is_new[first + 1 + k - last] = is_new[k]
                    count -= last - first - 1
                    break
            last -= 1
        first += 1
    return count


@jit
def cut_corners(
    packed_edges: Floats, weights: Floats, memory: PlanMemory, count: int
) -> tuple[int, bool]:
    """Add the middle of every edge, then move each corner halfway to the line beside it.

    Returns:
        How many waypoints there are, and whether any was moved.
    """
    path, corner, is_cut = memory.path, memory.scratch[0], False
    n, is_new = corner.size, memory.is_new
    for k in range(count - 1, 0, -1):
        copy_values(path[k], path[2 * k])
    count = 2 * count - 1
    for k in range(count):
        is_new[k] = k % 2
    for k in range(1, count, 2):
        for i in range(n):
            path[k, i] = 0.5 * (path[k - 1, i] + path[k + 1, i])
    for k in range(2, count - 1, 2):
        moved_sq = 0.0
        for i in range(n):
            corner[i] = 0.5 * path[k, i] + 0.25 * (path[k - 1, i] + path[k + 1, i])
            moved_sq += weights[i] * (corner[i] - path[k, i]) ** 2
        if moved_sq < MIN_CUT_SQ or not may_check(memory):
            continue
        before, after = path[k - 1], path[k + 1]
        if is_proven(packed_edges, before, corner, memory.edge) and is_proven(
            packed_edges, corner, after, memory.edge
        ):
            copy_values(corner, path[k])
            is_new[k], is_cut = 1.0, True
    return count, is_cut


@jit
def drop_middles(memory: PlanMemory, count: int) -> int:
    """Leave out waypoints in the middle of an edge whose two ends were not moved."""
    path, kept = memory.path, 1
    for k in range(1, count):
        is_middle = k + 1 < count
        for i in range(path.shape[1]):
            is_middle = is_middle and path[k, i] == 0.5 * (path[kept - 1, i] + path[k + 1, i])
        if not is_middle:
            copy_values(path[k], path[kept])
            kept += 1
    return kept
