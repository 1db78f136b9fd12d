"""Edges between two layers: the solutions of a waypoint and those of the next."""

from math import floor, inf

from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels._numba.where import any_lane, where
from jointwise.kernels.collision.clearances import COLUMNS, lane_view
from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.kernels.layout.paths import LARGEST_STEP, PERIOD
from jointwise.kernels.layout.slots import WIDTH


@jit_inline
def relax_blocks(
    before: Floats,
    number: int,
    cost: float,
    nodes: Floats,
    begin: int,
    end: int,
    limits: Floats,
    best: Floats,
    parents: Floats,
) -> None:
    """The edges from one node to all nodes of some blocks; in lanes."""
    zero, n = 0.0 * nodes[0, 0], before.shape[1]
    for block in range(begin, end):
        total, i = zero + cost, 0
        while i < n:
            change = abs(nodes[block, i] - before[number, i])
            rest = abs(limits[PERIOD, i] - change)
            change = where(rest < change, rest, change)
            total = where(change <= limits[LARGEST_STEP, i], total + change, inf)
            i = i + 1 if any_lane(total < inf) else n + 1
        if i == n:
            better = total < best[block]
            best[block] = where(better, total, best[block])
            parents[block] = where(better, zero + number, parents[block])


@jit_inline
def relax_lanes(
    before: Floats,
    costs: Floats,
    nodes: Floats,
    first: Ints,
    limits: Floats,
    joint: int,
    low: float,
    width: float,
    best: Floats,
    parents: Floats,
) -> None:
    """The edges to all nodes of a layer; in lanes."""
    bins, circular = first.size - 1, limits[PERIOD, joint] < inf
    for number in range(before.shape[0]):
        if not costs[number] < inf:
            continue
        middle = floor((before[number, joint] - low) / width)
        for each in range(3 if circular and bins > 2 else 1):
            lower, upper = min(max(middle - 1, 0), bins), max(min(middle + 2, bins), 0)
            if circular and bins > 2:  # each of the three bins may be at another end
                lower = (middle + each - 1) % bins
                upper = lower + 1
            elif circular:
                lower, upper = 0, bins
            begin, end = first[lower] // WIDTH, (first[upper] + WIDTH - 1) // WIDTH
            if first[lower] < first[upper]:
                cost = costs[number]
                relax_blocks(before, number, cost, nodes, begin, end, limits, best, parents)


@jit
def relax_layer(
    before: Floats,
    costs: Floats,
    nodes: Floats,
    first: Ints,
    limits: Floats,
    joint: int,
    low: float,
    width: float,
    best: Floats,
    parents: Floats,
) -> None:
    """The cheapest edge from the layer before to each node of a layer.

    The cost of an edge is the sum of joint changes; an edge that changes a joint by more than its
    largest step does not exist. The nodes of the layer lie in bins of one of the joints, so that
    only those of three bins are compared.

    Args:
        before: (k, n) nodes of the layer before [rad, m].
        costs: (k,) the cost of the cheapest path to each of them; infinite for none.
        nodes: (b, n, 8) nodes of the layer, eight side by side, in the order of their bins.
        first: (c+1,) the number of the first node of each bin.
        limits: (2, n) rows ``LARGEST_STEP`` and ``PERIOD`` [rad, m].
        joint: The joint of the bins.
        low: Its value at the beginning of the first bin.
        width: Width of a bin, at least the largest step of the joint.
        best: (b, 8) the cost of the cheapest path to each node; infinite before the call.
        parents: (b, 8) the node of the layer before from which that path comes.
    """
    for column in range(COLUMNS):
        ends = lane_view(best, column), lane_view(parents, column)
        blocks = lane_view(nodes, column)
        relax_lanes(before, costs, blocks, first, limits, joint, low, width, ends[0], ends[1])
