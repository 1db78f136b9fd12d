"""Edges between two layers: the solutions of a waypoint and those of the next."""

from math import floor, inf

from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels._numba.where import any_lane, where
from jointwise.kernels.collision.clearances import COLUMNS, lane_view
from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.kernels.layout.paths import (
    BIN_COUNT,
    BIN_JOINT,
    BIN_LOW,
    BIN_WIDTH,
    LARGEST_STEP,
    PERIOD,
)
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
    bins: Floats,
    best: Floats,
    parents: Floats,
) -> None:
    """The edges to all nodes of a layer; in lanes."""
    row_joint, column_joint = int(bins[0, BIN_JOINT]), int(bins[1, BIN_JOINT])
    rows, columns = int(bins[0, BIN_COUNT]), int(bins[1, BIN_COUNT])
    rows_wrap = limits[PERIOD, row_joint] < inf
    columns_wrap = limits[PERIOD, column_joint] < inf and columns > 2
    for number in range(before.shape[0]):
        if not costs[number] < inf:
            continue
        middle_row = floor((before[number, row_joint] - bins[0, BIN_LOW]) / bins[0, BIN_WIDTH])
        middle = floor((before[number, column_joint] - bins[1, BIN_LOW]) / bins[1, BIN_WIDTH])
        if columns_wrap:
            middle %= columns
        for k in range(min(rows, 3)):
            row = k
            if rows > 2:
                row = (middle_row + k - 1) % rows if rows_wrap else middle_row + k - 1
                if row < 0 or row >= rows:
                    continue
            for part in range(2 if columns_wrap else 1):
                lower, upper = (middle - 1, middle + 2) if columns > 2 else (0, columns)
                if part == 1:  # what is at the other end
                    lower, upper = (columns - 1, columns) if lower < 0 else (0, upper - columns)
                lower, upper = max(lower, 0), min(upper, columns)
                if lower < upper:
                    begin, end = first[row * columns + lower], first[row * columns + upper]
                    if begin < end:
                        begin, end = begin // WIDTH, (end + WIDTH - 1) // WIDTH
                        cost = costs[number]
                        relax_blocks(before, number, cost, nodes, begin, end, limits, best, parents)


@jit
def relax_layer(
    before: Floats,
    costs: Floats,
    nodes: Floats,
    first: Ints,
    limits: Floats,
    bins: Floats,
    best: Floats,
    parents: Floats,
) -> None:
    """The cheapest edge from the layer before to each node of a layer.

    The cost of an edge is the sum of joint changes; an edge that changes a joint by more than its
    largest step does not exist. The nodes of the layer lie in bins of two of the joints, so that
    only those of nine bins are compared.

    Args:
        before: (k, n) nodes of the layer before [rad, m].
        costs: (k,) the cost of the cheapest path to each of them; infinite for none.
        nodes: (b, n, 8) nodes of the layer, eight side by side, in the order of their bins.
        first: (c+1,) the number of the first node of each bin, row by row.
        limits: (2, n) rows ``LARGEST_STEP`` and ``PERIOD`` [rad, m].
        bins: (2, 4) the joint of the rows and that of the columns, with the columns ``BIN_JOINT``,
            ``BIN_LOW``, ``BIN_WIDTH`` and ``BIN_COUNT``. A bin is not narrower than a step.
        best: (b, 8) the cost of the cheapest path to each node; infinite before the call.
        parents: (b, 8) the node of the layer before from which that path comes.
    """
    for column in range(COLUMNS):
        ends = lane_view(best, column), lane_view(parents, column)
        blocks = lane_view(nodes, column)
        relax_lanes(before, costs, blocks, first, limits, bins, ends[0], ends[1])
