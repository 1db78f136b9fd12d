"""RRT-Connect: two trees of proven edges, from the start and from the goals, until they meet.

After Kuffner and LaValle (2000), with the dynamic domain of Yershova et al. (2005) and trees of
similar size. Samples are a low-discrepancy sequence, so the same seed gives the same path.
"""

from math import ceil, inf, sqrt

from jointwise.kernels._numba.arrays import uncounted
from jointwise.kernels._numba.jit import jit
from jointwise.kernels._numba.where import floor
from jointwise.kernels.algebra.trig import TURN
from jointwise.kernels.collision.edges import configuration_block, start_edges
from jointwise.kernels.kinematics.fk import copy_values
from jointwise.kernels.layout.arrays import UNLIMITED, Floats
from jointwise.kernels.layout.planning import (
    COUNT_GOALS,
    COUNT_GROWING,
    COUNT_NODES,
    COUNT_SAMPLES,
    MAX_BATCH_WAYPOINTS,
    PLAN_FOUND,
    PLAN_GOALS_COLLIDE,
    PLAN_PENDING,
    PLAN_START_COLLIDES,
    SPACE_LOWER,
    SPACE_STRIDE,
    SPACE_UPPER,
    SPACE_WEIGHT,
    PlanMemory,
    PlanRows,
)
from jointwise.kernels.layout.slots import WIDTH
from jointwise.kernels.planning.shortcuts import is_proven, shorten
from jointwise.kernels.planning.trees import (
    add_node,
    nearest_node,
    read_node,
    unpack_plan,
    write_path,
)

# The longest edge that a tree grows [rad]; longer ones are rarely free.
MAX_EDGE = 1.0
# Radius of the dynamic domain of a node that an edge in collision begins at, its least value [rad],
# and how much it shrinks or grows at a time, as a share.
DOMAIN, MIN_DOMAIN, DOMAIN_CHANGE = 4.0, 1.0, 1e-4
# A tree must have space left for this many nodes before the next sample.
MARGIN = 64
# Options of a slice: whether it is the first; whether joints that turn further than a full turn
# are sampled within their limits, not within a turn about the start; the number of samples after
# which it ends; the seed, 0 to 1; and rounds of shortcuts.
Options = tuple[bool, bool, int, float, int]
# (code, waypoints, number of the goal).
Outcome = tuple[int, int, int]


@jit
def plan(
    packed_edges: Floats,
    space: Floats,
    start: Floats,
    goals: Floats,
    options: Options,
    memory: Floats,
) -> Outcome:
    """Plan from a start to one of many goals, in slices; the path is left in the memory.

    Args:
        packed_edges: The model and its scene; see ``layout.edges``.
        space: (4, n) limits, weights and strides; see ``layout.planning``.
        start: (n,) joint values [rad, m].
        goals: (k, n) goals that are added before this slice.
        options: See above.
        memory: What is remembered between slices; see ``plan_memory``.
    """
    edges, own = uncounted(packed_edges), uncounted(memory)
    return run_slice(edges, uncounted(space), uncounted(start), uncounted(goals), options, own)


@jit
def plan_rows(
    packed_edges: Floats,
    space: Floats,
    rows: PlanRows,
    options: Options,
    begin: int,
    end: int,
    memory: Floats,
) -> None:
    """Plan for rows from ``begin`` to ``end``, the first slice of each."""
    starts, goals, first = uncounted(rows.starts), uncounted(rows.goals), uncounted(rows.first)
    paths, outcomes = uncounted(rows.paths), uncounted(rows.outcomes)
    edges, own = uncounted(packed_edges), uncounted(memory)
    parts = unpack_plan(own, starts.shape[1])
    for k in range(begin, end):
        ends = goals[first[k] : first[k + 1]]
        code, count, goal = run_slice(edges, uncounted(space), starts[k], ends, options, own)
        outcomes[k, 0], outcomes[k, 1], outcomes[k, 2] = code, count, goal
        outcomes[k, 3] = int(parts.counters[COUNT_SAMPLES])
        if code == PLAN_FOUND and count <= MAX_BATCH_WAYPOINTS:
            for row in range(count):
                copy_values(parts.path[row], paths[k, row])


@jit
def run_slice(
    packed_edges: Floats,
    space: Floats,
    start: Floats,
    goals: Floats,
    options: Options,
    buffer: Floats,
) -> Outcome:
    """One slice; see ``plan``. References to views that are made here are not counted."""
    is_first, is_wide, last_sample, offset, rounds = options
    memory = unpack_plan(buffer, start.size)
    counters, path = memory.counters, memory.path
    if is_first:
        for k in range(COUNT_SAMPLES, counters.size):
            counters[k] = 0.0
        counters[COUNT_GROWING] = 1.0
        start_edges(packed_edges, memory.edge)
        copy_values(start, path[0])
        if configuration_block(packed_edges, path[:1], memory.edge) == 0:
            return PLAN_START_COLLIDES, 0, -1
        add_node(memory, 0, start, -1)
    nearest = add_goals(packed_edges, space[SPACE_WEIGHT], start, goals, memory)
    fill_box(space, start, goals, is_wide, is_first, memory)
    if counters[COUNT_NODES + 1] == 0.0:
        return PLAN_GOALS_COLLIDE, 0, -1
    if nearest >= 0 and is_proven(packed_edges, start, goals[nearest], memory.edge):
        copy_values(start, path[0])
        copy_values(goals[nearest], path[1])
        return PLAN_FOUND, 2, int(counters[COUNT_GOALS]) - goals.shape[0] + nearest
    while counters[COUNT_SAMPLES] < last_sample:
        counters[COUNT_SAMPLES] += 1.0
        from_start, from_goal = grow(packed_edges, space, start, offset, memory)
        if from_start >= 0:
            count, goal = write_path(memory, from_start, from_goal)
            if count > 0:
                return (
                    PLAN_FOUND,
                    shorten(packed_edges, space[SPACE_WEIGHT], memory, count, rounds),
                    goal,
                )
    return PLAN_PENDING, 0, -1


@jit
def add_goals(
    packed_edges: Floats, weights: Floats, start: Floats, goals: Floats, memory: PlanMemory
) -> int:
    """Add the free goals as roots of the second tree; which is nearest to the start, -1 if none."""
    counters, nearest, least, free = memory.counters, -1, inf, 0
    for k in range(goals.shape[0]):
        number = int(counters[COUNT_GOALS])
        counters[COUNT_GOALS] += 1.0
        if k % WIDTH == 0:
            free = configuration_block(packed_edges, goals[k : k + WIDTH], memory.edge)
        full = counters[COUNT_NODES + 1] + MARGIN > memory.parents.shape[1]
        if full or not free >> (k % WIDTH) & 1:
            continue
        add_node(memory, 1, goals[k], -1 - number)
        distance_sq = 0.0
        for i in range(start.size):
            distance_sq += weights[i] * (goals[k, i] - start[i]) ** 2
        if distance_sq < least:
            nearest, least = k, distance_sq
    return nearest


@jit
def fill_box(
    space: Floats, start: Floats, goals: Floats, is_wide: bool, is_first: bool, memory: PlanMemory
) -> None:
    """Choose the values that are sampled: the limits, or a turn about the start, and all goals.

    A turn holds every pose of a joint that turns further, in the smallest volume.
    """
    box = memory.box
    for i in range(start.size):
        lower, upper = space[SPACE_LOWER, i], space[SPACE_UPPER, i]
        unlimited = lower <= -UNLIMITED or upper >= UNLIMITED
        half = 0.5 * TURN / sqrt(space[SPACE_WEIGHT, i])  # of a prismatic joint: as for a lever
        low, high = lower, upper
        if unlimited or (not is_wide and upper - lower > 2.0 * half):
            low, high = max(lower, start[i] - half), min(upper, start[i] + half)
        if not is_first:
            low, high = min(low, box[0, i]), max(high, box[1, i])
        for k in range(goals.shape[0]):
            low, high = min(low, goals[k, i]), max(high, goals[k, i])
        box[0, i], box[1, i] = low, high


@jit
def grow(
    packed_edges: Floats, space: Floats, start: Floats, offset: float, memory: PlanMemory
) -> tuple[int, int]:
    """Grow a tree towards the next sample, and from there towards the other tree.

    Returns:
        The nodes of the first and the second tree that an edge connects; -1 if they do not meet.
    """
    counters, radii, weights = memory.counters, memory.radii, space[SPACE_WEIGHT]
    sample, near, new = memory.scratch[0], memory.scratch[1], memory.scratch[2]
    tree = next_tree(memory)
    if counters[COUNT_NODES + tree] + MARGIN > memory.parents.shape[1]:
        return -1, -1
    number = counters[COUNT_SAMPLES]
    for i in range(start.size):
        place = offset + number * space[SPACE_STRIDE, i]
        share = place - floor(place)  # exactly place % 1.0, which takes longer
        low, high = memory.box[0, i], memory.box[1, i]
        sample[i] = low + share * (high - low) if space[SPACE_STRIDE, i] > 0.0 else start[i]
    nodes = int(counters[COUNT_NODES + tree])
    parent, distance_sq = nearest_node(memory.nodes[tree], nodes, weights, sample)
    distance = sqrt(distance_sq)
    if radii[tree, parent] < distance:
        return -1, -1
    read_node(memory.nodes, tree, parent, near)
    share = min(MAX_EDGE / distance, 1.0) if distance > 0.0 else 1.0
    for i in range(start.size):
        new[i] = near[i] + share * (sample[i] - near[i])
    if not is_proven(packed_edges, near, new, memory.edge):
        shrunk = max(radii[tree, parent] * (1.0 - DOMAIN_CHANGE), MIN_DOMAIN)
        radii[tree, parent] = min(shrunk, DOMAIN)
        return -1, -1
    if radii[tree, parent] < inf:
        radii[tree, parent] *= 1.0 + DOMAIN_CHANGE
    node = add_node(memory, tree, new, parent)
    return connect(packed_edges, weights, tree, node, memory)


@jit
def next_tree(memory: PlanMemory) -> int:
    """The tree that grows next: the other one, unless this one has less than half as many nodes."""
    counters = memory.counters
    tree = int(counters[COUNT_GROWING])
    own, other = counters[COUNT_NODES + tree], counters[COUNT_NODES + 1 - tree]
    if abs(own - other) < own:
        tree = 1 - tree
    counters[COUNT_GROWING] = tree
    return tree


@jit
def connect(
    packed_edges: Floats, weights: Floats, tree: int, node: int, memory: PlanMemory
) -> tuple[int, int]:
    """Grow a tree from its newest node towards the nearest node of the other, as far as it is free.

    Returns:
        As ``grow``.
    """
    new, other = memory.scratch[2], memory.scratch[3]
    last, following = memory.scratch[1], memory.scratch[4]
    nodes = int(memory.counters[COUNT_NODES + 1 - tree])
    nearest, distance_sq = nearest_node(memory.nodes[1 - tree], nodes, weights, new)
    read_node(memory.nodes, 1 - tree, nearest, other)
    steps = max(ceil(sqrt(distance_sq) / MAX_EDGE), 1)
    copy_values(new, last)
    for step in range(1, steps):
        share = step / steps
        for i in range(new.size):
            following[i] = new[i] + share * (other[i] - new[i])
        full = memory.counters[COUNT_NODES + tree] + 1 > memory.parents.shape[1]
        if full or not is_proven(packed_edges, last, following, memory.edge):
            return -1, -1
        node = add_node(memory, tree, following, node)
        copy_values(following, last)
    if not is_proven(packed_edges, last, other, memory.edge):
        return -1, -1
    return (node, nearest) if tree == 0 else (nearest, node)
