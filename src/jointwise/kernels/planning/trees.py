"""Trees of configurations: nodes are added, the nearest is found, and a path is read back."""

from math import inf

from jointwise.kernels._numba import arrays as arrays  # how ``packed_view`` is compiled
from jointwise.kernels._numba.arrays import OCTET, PAIR, stack_array
from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels._numba.where import where
from jointwise.kernels.collision.clearances import COLUMNS, lane_view
from jointwise.kernels.layout import planning as packing
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.planning import COUNT_NODES, PlanMemory
from jointwise.kernels.layout.slots import WIDTH

# Where nodes are that are not there [rad, m].
NOWHERE = 1e12

unpack_plan = jit(packing.unpack_plan)


@jit
def add_node(memory: PlanMemory, tree: int, q: Floats, parent: int) -> int:
    """Add a node to a tree that has space for it; its number."""
    nodes = memory.nodes
    number = int(memory.counters[COUNT_NODES + tree])
    block, lane = number // WIDTH, number % WIDTH
    for i in range(q.size):
        if lane == 0:
            for other in range(WIDTH):
                nodes[tree, block, i, other] = NOWHERE
        nodes[tree, block, i, lane] = q[i]
    memory.parents[tree, number] = parent
    memory.radii[tree, number] = inf
    memory.counters[COUNT_NODES + tree] = number + 1
    return number


@jit_inline
def read_node(nodes: Floats, tree: int, number: int, q: Floats) -> None:
    """Write the configuration of a node into ``q``."""
    block, lane = number // WIDTH, number % WIDTH
    for i in range(q.size):
        q[i] = nodes[tree, block, i, lane]


@jit_inline
def nearest_in_lanes(nodes: Floats, blocks: int, weights: Floats, q: Floats, found: Floats) -> None:
    """Write the least squared distance of nodes (m, n) and its block into ``found``; in lanes."""
    zero = 0.0 * nodes[0, 0]
    least, at = zero + inf, zero
    for block in range(blocks):
        total = zero
        for i in range(q.size):
            change = nodes[block, i] - q[i]
            total += weights[i] * change * change
        nearer = total < least
        least, at = where(nearer, total, least), where(nearer, zero + block, at)
    found[0], found[1] = least, at


@jit_inline
def nearest_node(nodes: Floats, count: int, weights: Floats, q: Floats) -> tuple[int, float]:
    """The nearest of the first ``count`` nodes of a tree (m, n, 8), and its squared distance.

    All nodes are compared, eight side by side: trees are small, and a search tree of nodes would
    take longer to keep than that.
    """
    found, best = stack_array(PAIR, OCTET, 0.0), 0
    for k in range(COLUMNS):
        blocks = (count + WIDTH - 1) // WIDTH
        nearest_in_lanes(lane_view(nodes, k), blocks, weights, q, lane_view(found, k))
    least = found[0, 0]
    for lane in range(1, WIDTH):
        distance_sq = found[0, lane]
        best = lane if distance_sq < least else best
        least = min(distance_sq, least)
    return int(found[1, best]) * WIDTH + best, least


@jit
def write_path(memory: PlanMemory, from_start: int, from_goal: int) -> tuple[int, int]:
    """Write the waypoints from the start to a goal through two nodes that an edge connects.

    Returns:
        How many there are, 0 if the path is too long; and which root the goal is.
    """
    nodes, parents, path = memory.nodes, memory.parents, memory.path
    count, number = 0, from_start
    while number >= 0:
        count, number = count + 1, int(parents[0, number])
    middle, number = count, from_goal
    while number >= 0:
        count, number = count + 1, int(parents[1, number])
    if count > path.shape[0]:
        return 0, 0
    row, number = middle - 1, from_start
    while number >= 0:
        read_node(nodes, 0, number, path[row])
        row, number = row - 1, int(parents[0, number])
    row, number = middle, from_goal
    while number >= 0:
        read_node(nodes, 1, number, path[row])
        row, number = row + 1, int(parents[1, number])
    return count, -1 - number
