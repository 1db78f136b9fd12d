"""Edges: what a proof costs beside samples, and how many edges end undecided."""

from math import ceil, sqrt
from time import perf_counter

import numpy as np

from benchmarks.scenes import cage, pigeon_holes, shelf, table
from jointwise import Chain
from jointwise.kernels._numba.jit import jit
from jointwise.kernels.collision.clearances import COLUMNS, lane_view
from jointwise.kernels.collision.edge_frames import begin_edge
from jointwise.kernels.collision.edge_tables import tables_touch
from jointwise.kernels.collision.edges import (
    check_block,
    edge_states,
    edge_work_size,
    place_values,
    rounded_by,
    start_edges,
    unpack_edge_work,
    unpack_edges,
)
from jointwise.kernels.layout.edges import EDGE_FREE, EDGE_TOUCHES, EDGE_UNDECIDED
from jointwise.kernels.layout.slots import WIDTH

# Samples are so far apart [rad], and edges so long.
STEP, LENGTH = 1.0 / 32.0, 1.0
# Passes over all edges, by turns, of which the quickest counts.
PASSES = 20
SCENES = {"table": table, "shelf": shelf, "cage": cage, "pigeon holes": pigeon_holes}


@jit
def sampled_states(packed, starts, ends, states):
    """As ``edge_states``, by the same check of eight configurations, without motion."""
    work = np.empty(edge_work_size(packed))
    start_edges(packed, work)
    for i in range(starts.shape[0]):
        states[i] = sampled_state(packed, starts[i], ends[i], work)


@jit
def sampled_state(packed, q0, q1, work):
    """Samples over the whole edge first, then those between them."""
    model, memory = unpack_edges(packed), unpack_edge_work(packed, work)
    times, length = memory.times, 0.0
    begin_edge(model, q0, q1, memory)
    for i in range(q0.size):
        length += (q1[i] - q0[i]) ** 2
    if tables_touch(model.tables, model.table_rows, memory.starts, memory.rates):
        return EDGE_TOUCHES
    slack, blocks = rounded_by(model, memory), max(ceil(sqrt(length) / (STEP * WIDTH)), 1)
    for block in range(blocks):
        for k in range(WIDTH):
            times[0, k], times[1, k] = (k + 1.0 - block / blocks) / WIDTH, 0.0
        for k in range(COLUMNS):
            values = lane_view(memory.values, k)
            place_values(memory.starts, memory.rates, lane_view(times, k), values)
        touches, undecided = check_block(model, memory, slack, True)
        if touches | undecided:
            return EDGE_TOUCHES
    return EDGE_FREE


def edges_table(count: int, with_rivals: bool) -> None:
    """Random edges of 1 rad: time of free and blocked ones, proven and sampled."""
    print(f"\nEdges of {LENGTH:g} rad, {count} random ones a scene; µs an edge, best of {PASSES};")
    print(
        f"sampled: every {STEP:.4f} rad by the same code; missed: free by samples, and not proven"
    )
    titles = f"{'':22}{'free':>8}{'undecided':>11}{'missed':>8}"
    for kind, width in (("free", 14), ("blocked", 17)):
        titles += f"{kind + ': proven':>{width}}{'sampled':>9}{'ratio':>7}"
    print(titles)
    for name in ("panda", "ur5e"):
        for label, scene in SCENES.items():
            arm = Chain.load(name).with_scene(scene())
            packed, (starts, ends) = arm._check().packed_edges, random_edges(arm, count)
            proven, sampled = np.empty(count, np.int64), np.empty(count, np.int64)
            edge_states(packed, starts, ends, proven)
            sampled_states(packed, starts, ends, sampled)
            missed = np.mean((sampled == EDGE_FREE) & (proven != EDGE_FREE))
            free, row = proven == EDGE_FREE, f"{name + ', ' + label:22}"
            row += f"{free.mean():8.1%}{np.mean(proven == EDGE_UNDECIDED):11.2%}{missed:8.2%}"
            for which, width in ((free, 14), (proven == EDGE_TOUCHES, 17)):
                one, other = times_of(packed, starts[which], ends[which])
                row += f"{one:{width}.2f}{other:9.2f}{one / other:7.2f}"
            print(row, flush=True)


def random_edges(arm: Chain, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges from random configurations in random directions."""
    starts, steps = (
        arm.random(seed=1, count=count),
        np.random.default_rng(1).normal(size=(count, arm.n)),
    )
    return starts, starts + LENGTH * steps / np.linalg.norm(steps, axis=1)[:, None]


def times_of(packed: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> tuple[float, float]:
    """Time of an edge, proven and sampled [µs]; by turns, so that a busy machine is fair."""
    best, states = [np.inf, np.inf], np.empty(len(starts), np.int64)
    for _ in range(PASSES if len(starts) else 0):
        for i, decide in enumerate((edge_states, sampled_states)):
            began = perf_counter()
            decide(packed, starts, ends, states)
            best[i] = min(best[i], 1e6 * (perf_counter() - began) / len(starts))
    return best[0], best[1]
