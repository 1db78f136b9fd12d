"""Whether edges, the straight motions between configurations, are free: a proof, not samples.

The kernels that others call:

- ``start_edges(packed, work)`` prepares scratch memory, once for a thread and a packed model;
- ``edge_state(packed, q0, q1, work)`` decides one edge;
- ``configuration_block(packed, q, work)`` decides eight configurations at once;
- ``edge_states`` and ``configuration_states`` are the entry points for many, from Python.

``packed`` is what ``pack_edges`` makes, and ``work`` has ``edge_work_size(packed)`` numbers.

An edge is first divided into eight intervals, which are checked side by side. An interval that is
not proven free is divided in four, which wait in a queue, so that later blocks of eight are full.
"""

import numpy as np

from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels.collision.clearances import COLUMNS, lane_view
from jointwise.kernels.collision.edge_frames import begin_edge
from jointwise.kernels.collision.edge_lanes import check_lanes
from jointwise.kernels.collision.edge_places import Verdict
from jointwise.kernels.collision.edge_tables import tables_touch
from jointwise.kernels.layout import edges as layout
from jointwise.kernels.layout.arrays import MAX_VALUE, Floats, Ints
from jointwise.kernels.layout.edges import (
    EDGE_FREE,
    EDGE_QUEUE,
    EDGE_RESOLUTION,
    EDGE_TOUCHES,
    EDGE_UNDECIDED,
    JOINT_PRISMATIC,
    EdgeModel,
    EdgeWorkspace,
)
from jointwise.kernels.layout.slots import WIDTH

# An interval is divided into this many parts.
PARTS = 4
# An edge on which a joint value changes by more is not decided [rad, m].
MAX_CHANGE = 1000.0
# A joint value is rounded by this share of it, at most: as it is given, and along an edge.
ROUNDING = 2.0**-50

unpack_edges = jit_inline(layout.unpack_edges)
unpack_edge_work = jit_inline(layout.unpack_edge_work)
edge_work_size = jit_inline(layout.edge_work_size)


@jit
def start_edges(packed: Floats, work: Floats) -> None:
    """Prepare scratch memory for a packed model, before the first edge or configuration."""
    candidates, own = unpack_edge_work(packed, work).candidates, unpack_edges(packed).candidates
    for i in range(own.size):
        candidates[i] = own[i]


@jit_inline
def is_decidable(q0: Floats, q1: Floats) -> bool:
    """Whether an edge is finite, and not too long; also False for NaN."""
    for i in range(q0.size):
        if not (abs(q0[i]) <= MAX_VALUE and abs(q1[i] - q0[i]) <= MAX_CHANGE):
            return False
    return True


@jit_inline
def rounded_by(model: EdgeModel, work: EdgeWorkspace) -> float:
    """How far the rounding of joint values moves a point, at most [m]."""
    joints, starts, rates = model.joints, work.starts, work.rates
    largest, travel = 0.0, 0.0
    for i in range(starts.size):
        value = max(abs(starts[i]), abs(starts[i] + rates[i]))
        largest = max(largest, value)
        if joints[i, JOINT_PRISMATIC] != 0.0:
            travel += value
    return ROUNDING * largest * (model.lever + starts.size * travel)


@jit_inline
def place_values(starts: Floats, rates: Floats, times: Floats, values: Floats) -> None:
    """Write the joint values at moments of an edge; in lanes or not."""
    for i in range(starts.size):
        values[i] = starts[i] + rates[i] * times[0]


@jit_inline
def greatest_speed(motions: Floats) -> float:
    """The greatest speed of a link group along an edge [m]; once all are placed."""
    fastest = 0.0
    for c in range(motions.shape[0]):
        fastest = max(fastest, motions[c, 0])
    return fastest


@jit_inline
def check_block(model: EdgeModel, work: EdgeWorkspace, slack: float, ends: bool) -> Verdict:
    """Eight configurations in ``work.values``, in lanes or one after another."""
    touches, undecided = 0, 0
    for k in range(COLUMNS):
        verdict = check_lanes(model, work, k, slack, ends)
        touches |= verdict[0] << k
        undecided |= verdict[1] << k
    return touches, undecided


@jit
def edge_state(packed: Floats, q0: Floats, q1: Floats, work: Floats) -> int:
    """``EDGE_FREE``, ``EDGE_TOUCHES`` or ``EDGE_UNDECIDED``: the edge from q0 (n,) to q1 (n,).

    Args:
        packed: The robot and its obstacles.
        q0: A configuration [rad, m].
        q1: Another, or the same.
        work: Scratch memory, after ``start_edges``.
    """
    if not is_decidable(q0, q1):
        return EDGE_UNDECIDED
    model, memory = unpack_edges(packed), unpack_edge_work(packed, work)
    starts, rates, times, queue = memory.starts, memory.rates, memory.times, memory.queue
    begin_edge(model, q0, q1, memory)
    if tables_touch(model.tables, model.table_rows, starts, rates):
        return EDGE_TOUCHES
    slack = rounded_by(model, memory)
    for k in range(WIDTH):
        queue[0, k], queue[1, k] = (k + 0.5) / WIDTH, 0.5 / WIDTH
    head, tail = 0, WIDTH
    while head < tail:
        count = min(WIDTH, tail - head)
        for k in range(WIDTH):
            at = (head + min(k, count - 1)) % EDGE_QUEUE
            times[0, k], times[1, k] = queue[0, at], queue[1, at]
        head += count
        for k in range(COLUMNS):
            place_values(starts, rates, lane_view(times, k), lane_view(memory.values, k))
        touches, undecided = check_block(model, memory, slack, True)
        if touches:
            return EDGE_TOUCHES
        fastest = greatest_speed(memory.motions) if undecided else 0.0
        for k in range(count):
            if undecided >> k & 1:
                middle, half = times[0, k], times[1, k]
                if half * fastest < EDGE_RESOLUTION or tail + PARTS - head > EDGE_QUEUE:
                    return EDGE_UNDECIDED
                for part in range(PARTS):
                    at = tail % EDGE_QUEUE
                    queue[0, at] = middle + half * ((2 * part + 1 - PARTS) / PARTS)
                    queue[1, at] = half / PARTS
                    tail += 1
    return EDGE_FREE


@jit
def configuration_block(packed: Floats, q: Floats, work: Floats) -> int:
    """Which of 1 to 8 configurations, the rows of q (k, n), are free: bit k of row k.

    Args:
        packed: The robot and its obstacles.
        q: Configurations [rad, m].
        work: Scratch memory, after ``start_edges``.
    """
    model, memory = unpack_edges(packed), unpack_edge_work(packed, work)
    starts, rates, times, values = memory.starts, memory.rates, memory.times, memory.values
    count, barred, slack = q.shape[0], 0, 0.0
    for k in range(count):
        if is_decidable(q[k], q[k]):
            begin_edge(model, q[k], q[k], memory)
            slack = max(slack, rounded_by(model, memory))
            if tables_touch(model.tables, model.table_rows, starts, rates):
                barred |= 1 << k
        else:
            barred |= 1 << k
            for i in range(starts.size):
                starts[i] = 0.0
        for i in range(starts.size):
            values[i, k], rates[i] = starts[i], 0.0
    for k in range(WIDTH):
        times[0, k], times[1, k] = 0.0, 0.0
        for i in range(starts.size):
            values[i, k] = values[i, min(k, count - 1)]
    free: int = (1 << count) - 1 & ~barred
    if free:
        touches, undecided = check_block(model, memory, slack, False)
        free &= ~(touches | undecided)
    return free


@jit
def configuration_states(packed: Floats, configurations: Floats, states: Ints) -> None:
    """Write ``EDGE_FREE`` or ``EDGE_TOUCHES`` for each row of configurations (m, n)."""
    work, count = np.empty(edge_work_size(packed)), configurations.shape[0]
    start_edges(packed, work)
    for begin in range(0, count, WIDTH):
        end = min(begin + WIDTH, count)
        free = configuration_block(packed, configurations[begin:end], work)
        for i in range(begin, end):
            states[i] = EDGE_FREE if free >> (i - begin) & 1 else EDGE_TOUCHES


@jit
def edge_states(packed: Floats, starts: Floats, ends: Floats, states: Ints) -> None:
    """Write the state of each edge from a row of starts (m, n) to one of ends (m, n)."""
    work = np.empty(edge_work_size(packed))
    start_edges(packed, work)
    for i in range(starts.shape[0]):
        states[i] = edge_state(packed, starts[i], ends[i], work)
