"""Edges between two layers: the solutions of a waypoint and those of the next."""

from math import floor, inf

from jointwise.kernels._numba.jit import jit, jit_inline
from jointwise.kernels._numba.where import any_lane, where
from jointwise.kernels.collision.clearances import COLUMNS, lane_view
from jointwise.kernels.layout.paths import (
    BIN_COUNT,
    BIN_JOINT,
    BIN_LOW,
    BIN_WIDTH,
    LARGEST_STEP,
    PERIOD,
    LayerEdges,
)
from jointwise.kernels.layout.slots import WIDTH


@jit_inline
def relax_blocks(edges: LayerEdges, number: int, begin: int, end: int) -> None:
    """The edges from one node to all nodes of some blocks; in lanes."""
    before, nodes, limits = edges.before, edges.nodes, edges.limits
    best, parents = edges.best, edges.parents
    zero, n, cost = 0.0 * nodes[0, 0], before.shape[1], edges.costs[number]
    for block in range(begin, end):
        total, least = zero + cost, best[block]
        i = 0 if any_lane(total < least) else n + 1
        while i < n:
            change = abs(nodes[block, i] - before[number, i])
            rest = abs(limits[PERIOD, i] - change)
            change = where(rest < change, rest, change)
            total = where(change <= limits[LARGEST_STEP, i], total + change, inf)
            i = i + 1 if any_lane(total < least) else n + 1  # totals only grow
        if i == n:
            better = total < least
            best[block] = where(better, total, least)
            parents[block] = where(better, zero + number, parents[block])


@jit_inline
def wrapped(number: int, count: int) -> int:
    """The number modulo the count; a division would take longer than all else of an edge."""
    while number < 0:
        number += count
    while number >= count:
        number -= count
    return number


@jit_inline
def relax_lanes(edges: LayerEdges) -> None:
    """The edges to all nodes of a layer; in lanes."""
    before, bins, limits, first = edges.before, edges.bins, edges.limits, edges.first
    row_joint, column_joint = int(bins[0, BIN_JOINT]), int(bins[1, BIN_JOINT])
    rows, columns = int(bins[0, BIN_COUNT]), int(bins[1, BIN_COUNT])
    rows_wrap = limits[PERIOD, row_joint] < inf
    columns_wrap = limits[PERIOD, column_joint] < inf and columns > 2
    for number in range(before.shape[0]):
        if not edges.costs[number] < inf:
            continue
        middle_row = floor((before[number, row_joint] - bins[0, BIN_LOW]) / bins[0, BIN_WIDTH])
        middle = floor((before[number, column_joint] - bins[1, BIN_LOW]) / bins[1, BIN_WIDTH])
        middle = wrapped(middle, columns) if columns_wrap else middle
        middle_row = wrapped(middle_row, rows) if rows_wrap else middle_row
        for k in range(min(rows, 3)):
            row = k
            if rows > 2:
                row = middle_row + k - 1
                row = wrapped(row, rows) if rows_wrap else row
                if row < 0 or row >= rows:
                    continue
            for part in range(2 if columns_wrap else 1):
                lower, upper = (middle - 1, middle + 2) if columns > 2 else (0, columns)
                if part == 1:  # bins at the other end
                    lower, upper = (columns - 1, columns) if lower < 0 else (0, upper - columns)
                lower, upper = max(lower, 0), min(upper, columns)
                if lower < upper:
                    begin, end = first[row * columns + lower], first[row * columns + upper]
                    if begin < end:
                        begin, end = begin // WIDTH, (end + WIDTH - 1) // WIDTH
                        relax_blocks(edges, number, begin, end)


@jit
def relax_layer(edges: LayerEdges) -> None:
    """Write the cheapest edge from the layer before to each node of a layer.

    The cost of an edge is the sum of joint changes; an edge that changes a joint by more than its
    largest step does not exist. The nodes of the layer lie in bins of two of the joints, so that
    only those of nine bins are compared.
    """
    for column in range(COLUMNS):
        relax_lanes(
            LayerEdges(
                edges.before,
                edges.costs,
                lane_view(edges.nodes, column),
                edges.first,
                edges.limits,
                edges.bins,
                lane_view(edges.best, column),
                lane_view(edges.parents, column),
            )
        )
