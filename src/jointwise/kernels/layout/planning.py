"""The memory of a planner: two trees of configurations, and the path between them."""

from typing import NamedTuple

import numpy as np

from jointwise.kernels.layout.arrays import Floats, Ints, packed_view
from jointwise.kernels.layout.slots import WIDTH

# How a slice of planning ended.
PLAN_PENDING, PLAN_FOUND, PLAN_START_COLLIDES, PLAN_GOALS_COLLIDE = range(4)
# Rows of the space that is planned in, (4, n): limits [rad, m], the weight of a squared change
# [1/rad², 1/m²], and the stride of the sequence of samples, 0 for a joint that does not move.
SPACE_LOWER, SPACE_UPPER, SPACE_WEIGHT, SPACE_STRIDE = range(4)
# Entries of ``PlanMemory.counters``: how many nodes a tree has memory for, samples drawn, nodes of
# both trees, the tree that grows, goals given, and edges that shortcuts have checked.
PLAN_CAPACITY, COUNT_SAMPLES, COUNT_NODES, COUNT_GROWING, COUNT_GOALS, COUNT_SHORTCUTS, COUNTERS = (
    0,
    1,
    2,
    4,
    5,
    6,
    7,
)
# Waypoints of a path, at most; those of a batch that have more are planned singly.
MAX_WAYPOINTS, MAX_BATCH_WAYPOINTS = 4096, 64
# Nodes of a tree, at most: a multiple of ``WIDTH``.
MIN_NODES, MAX_NODES = 1024, 65_536
# Rows of ``PlanMemory.scratch``.
SCRATCH = 5


class PlanMemory(NamedTuple):
    """What a planner remembers between slices. The first tree has the start, the second the goals.

    Attributes:
        counters: (7,) the entries are named above.
        box: (2, n) lowest and highest values that are sampled [rad, m].
        scratch: (5, n) configurations in progress.
        path: (4096, n) waypoints.
        is_new: (4096,) 1 for waypoints that shortcuts have not tried to connect yet, else 0.
        nodes: (2, m, n, 8) configurations of both trees, eight side by side.
        parents: (2, 8 m) the parent of each node; of root k it is -1 - k.
        radii: (2, 8 m) how far from a node samples may be: the dynamic domain.
        edge: Memory of the edge check.
    """

    counters: Floats
    box: Floats
    scratch: Floats
    path: Floats
    is_new: Floats
    nodes: Floats
    parents: Floats
    radii: Floats
    edge: Floats


class PlanRows(NamedTuple):
    """Plans of a batch.

    Attributes:
        starts: (m, n) joint values [rad, m].
        goals: (g, n) the goals of all rows, one row after another.
        first: (m+1,) the goals of row k are those from first[k] on.
        paths: (m, 64, n) the waypoints are written here, unless there are more.
        outcomes: (m, 4) here code, number of waypoints, number of the goal and of samples.
    """

    starts: Floats
    goals: Floats
    first: Ints
    paths: Floats
    outcomes: Ints


def plan_memory(n: int, max_samples: int, edge_memory: int) -> Floats:
    """The memory of a planner for n joints, with this many numbers for edge checks."""
    nodes = min(max(2 * max_samples, MIN_NODES), MAX_NODES)  # a sample adds about one
    capacity = -(-nodes // WIDTH) * WIDTH
    path = MAX_WAYPOINTS * (n + 1)
    size = COUNTERS + (2 + SCRATCH) * n + path + 2 * capacity * (n + 2) + edge_memory
    memory = np.empty(size)
    memory[PLAN_CAPACITY] = capacity
    return memory


def unpack_plan(memory: Floats, n: int) -> PlanMemory:
    """The parts of a memory; its arrays are views."""
    capacity = int(memory[PLAN_CAPACITY])
    box = COUNTERS
    scratch = box + 2 * n
    path = scratch + SCRATCH * n
    is_new = path + MAX_WAYPOINTS * n
    nodes = is_new + MAX_WAYPOINTS
    parents = nodes + 2 * capacity * n
    radii = parents + 2 * capacity
    edge = radii + 2 * capacity
    return PlanMemory(
        packed_view(memory, 0, (COUNTERS,)),
        packed_view(memory, box, (2, n)),
        packed_view(memory, scratch, (SCRATCH, n)),
        packed_view(memory, path, (MAX_WAYPOINTS, n)),
        packed_view(memory, is_new, (MAX_WAYPOINTS,)),
        packed_view(memory, nodes, (2, capacity // WIDTH, n, WIDTH)),
        packed_view(memory, parents, (2, capacity)),
        packed_view(memory, radii, (2, capacity)),
        packed_view(memory, edge, (memory.size - edge,)),
    )


def plan_path(memory: Floats, n: int, count: int) -> Floats:
    """(count, n) a copy of the first waypoints of the path in a memory."""
    begin = COUNTERS + (2 + SCRATCH) * n
    return np.array(packed_view(memory, begin, (count, n)))
