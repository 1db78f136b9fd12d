"""The best way through layers: fewest breaks first, then the least joint motion."""

from collections.abc import Sequence
from itertools import combinations
from math import inf, pi
from typing import NamedTuple

import numpy as np

from jointwise.backends import cpu
from jointwise.backends.progress import Report
from jointwise.engines.paths.layers import Layer
from jointwise.kernels.layout.arrays import Bools, Floats, Ints
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

# The cost of a break, which exceeds the motion of any path [rad, m].
BREAK = 1e6
# Relative cost of the motion at a break: of two breaks, the shorter one is better.
JUMP = 1e-3
# Limit of joints without limits [rad].
NO_LIMIT = 8.0 * pi
# The largest 16-bit number, and a placeholder for costs that are no longer stored.
MOST_SHORT, NO_COSTS = 32_767, np.empty(0)
# Layers between two reports of progress.
REPORT_EVERY = 100
# Largest number of first nodes from which a closed path is tried, and the distance between those
# that are tried first [rad, m].
MAX_CLOSINGS, APART = 16, 0.3
# Largest number of bins of a joint: the number of a pair of bins has 16 bits.
MAX_BINS = 180


class Bins(NamedTuple):
    """How nodes are divided by the values of two joints, so that few have to be compared.

    Attributes:
        packed: (2, 4) joint, low end, width and number of bins of each, for kernels.
        wraps: (2,) whether the last bin is beside the first.
    """

    packed: Floats
    wraps: Bools

    @property
    def size(self) -> int:
        """Number of pairs of bins."""
        return int(self.packed[:, BIN_COUNT].prod())

    def of(self, q: Floats) -> Ints:
        """(k,) the bin of each node (k, n)."""
        rows, columns = (
            _numbers(q, one, wraps) for one, wraps in zip(self.packed, self.wraps, strict=True)
        )
        return rows * int(self.packed[1, BIN_COUNT]) + columns


def _numbers(q: Floats, bins: Floats, wraps: bool) -> Ints:
    """(k,) the bin of one joint of each node."""
    low, count = bins[BIN_LOW], int(bins[BIN_COUNT])
    values = q[:, int(bins[BIN_JOINT])]
    numbers: Ints = np.floor((values - low) / bins[BIN_WIDTH]).astype(np.int64)
    return numbers % count if wraps else np.clip(numbers, 0, count - 1)


class Edges(NamedTuple):
    """The edges between neighbouring layers.

    Attributes:
        steps: (1, n) largest change of each joint [rad, m], or (m, n) to each waypoint.
        periods: (n,) change after which a joint is where it was [rad]; infinite if there is none.
        bins: How nodes are divided.
        blocked: The nodes of the layer before from which there is no edge to a node, by waypoint
            and node.
    """

    steps: Floats
    periods: Floats
    bins: Bins
    blocked: dict[tuple[int, int], Ints]

    def limits(self, waypoint: int) -> Floats:
        """(2, n) limits of the edges to a waypoint, for kernels."""
        limits = np.empty((2, len(self.periods)))
        limits[LARGEST_STEP] = self.steps[min(waypoint, len(self.steps) - 1)]
        limits[PERIOD] = self.periods
        return limits

    def changes(self, waypoint: int, before: Floats, after: Floats) -> Floats:
        """The motion along edges to nodes of a waypoint [rad, m]; infinite where there is none."""
        limits = self.limits(waypoint)
        change = np.abs(after - before)
        change = np.minimum(change, np.abs(limits[PERIOD] - change))
        allowed = (change <= limits[LARGEST_STEP]).all(axis=-1)
        return np.where(allowed, change.sum(axis=-1), inf)


def find_bins(layers: Sequence[Layer], steps: Floats, periods: Floats, limits: Floats) -> Bins:
    """The two joints whose bins leave the fewest edges to compare.

    Args:
        layers: The nodes of each waypoint.
        steps: (1, n) or (m, n) largest change of each joint [rad, m].
        periods: (n,) change after which a joint is where it was [rad]; infinite if there is none.
        limits: (n, 2) joint limits; nodes of joints without are within two turns [rad, m].
    """
    filled = [layer.q for layer in layers if len(layer.q)]
    low, high = np.clip(limits.T, -NO_LIMIT, NO_LIMIT)
    wraps = np.isfinite(periods)
    span, largest = np.where(wraps, periods, high - low), steps.max(axis=0)
    counts = np.clip(span // largest, 1, MAX_BINS)
    widths = np.maximum(np.maximum(span / counts, largest), 1e-9)
    bins = np.stack([np.arange(len(low)), low, widths, counts], axis=1)
    some = [q.astype(float) for q in filled[:: max(len(filled) // 4, 1)]]
    numbers = [[_numbers(q, *each) for each in zip(bins, wraps, strict=True)] for q in some]

    def pairs(a: int, b: int) -> float:
        both = (each[a] * int(counts[b]) + each[b] for each in numbers)
        return sum(float((np.bincount(each) ** 2.0).sum()) for each in both)

    best = list(min(combinations(range(len(low)), 2), key=lambda two: pairs(*two)))
    return Bins(bins[best], wraps[best])


class BestWay:
    """The cheapest paths to all nodes of all layers, found layer by layer.

    Attributes:
        costs: For each layer (k,) the cost of the cheapest path to each node; empty if forgotten.
        parents: For each layer (k,) the previous node; -2 - node after a break, -1 for none.
    """

    def __init__(
        self,
        layers: list[Layer],
        edges: Edges,
        first_costs: Floats,
        most: float = inf,
        forget: bool = False,
    ) -> None:
        """Start a search.

        Args:
            layers: The nodes of each waypoint.
            edges: The edges between neighbouring layers.
            first_costs: (k,) the cost of beginning at each node of the first layer that has any.
            most: Paths that cost more are not searched.
            forget: Whether to keep only the costs of the last layers, which saves memory; paths are
                then always searched from the first layer on.
        """
        self.layers, self.edges, self.first_costs, self.most = layers, edges, first_costs, most
        self.forget = forget
        self.costs: list[Floats] = []
        self.parents: list[Ints] = []

    def find(self, begin: int, report: Report) -> None:
        """Find the paths to the layers from ``begin`` on; earlier layers have not changed."""
        del self.costs[begin:], self.parents[begin:]
        for i in range(begin, len(self.layers)):
            costs, parents = self._layer(i)
            costs[costs > self.most] = inf
            self.costs.append(costs)
            least = int(parents.min(initial=0))
            fits = max(-least, int(parents.max(initial=0))) <= MOST_SHORT
            self.parents.append(parents.astype(np.int16 if fits else np.int32))
            if self.forget and len(costs) and (before := self._before(i)) >= 0:
                self.costs[before] = NO_COSTS
            if i % REPORT_EVERY == 0 or i == len(self.layers) - 1:
                report(i + 1, i + 1)

    def _before(self, i: int) -> int:
        """The last waypoint before i whose layer has nodes; -1 if there is none."""
        return next((k for k in range(i - 1, -1, -1) if len(self.layers[k].q)), -1)

    def _layer(self, i: int) -> tuple[Floats, Ints]:
        q, before = self.layers[i].q.astype(float), self._before(i)
        if not len(q) or before < 0:
            begun = self.first_costs[: len(q)] if len(q) else np.empty(0)
            return begun.copy(), np.full(len(q), -1)
        costs, parents = np.full(len(q), inf), np.full(len(q), -1)
        if before == i - 1:
            costs, parents = self._relaxed(i, self.layers[before].q.astype(float), q)
        least = int(self.costs[before].argmin())
        broken = self.costs[before][least] + BREAK
        if broken <= self.most:
            lost = np.flatnonzero(costs > broken)
            jump = np.abs(q[lost] - self.layers[before].q[least])
            jump = np.minimum(jump, np.abs(self.edges.periods - jump)).sum(axis=1)
            costs[lost], parents[lost] = broken + JUMP * jump, -2 - least
        return costs, parents

    def _relaxed(self, i: int, before: Floats, q: Floats) -> tuple[Floats, Ints]:
        """(k,) the costs of the cheapest edges to the nodes of layer i, and where they begin."""
        bins, costs, count = self.edges.bins, self.costs[i - 1], len(q)
        numbers = bins.of(q).astype(np.int16)  # sorted in linear time
        order = np.argsort(numbers, kind="stable")
        first = np.zeros(bins.size + 1, np.int64)
        np.cumsum(np.bincount(numbers, minlength=bins.size), out=first[1:])
        blocks = -(-count // WIDTH)
        filled = np.resize(order, blocks * WIDTH)  # the last block repeats some nodes
        sorted_q = q.take(filled, axis=0).reshape(blocks, WIDTH, -1)
        nodes = np.ascontiguousarray(sorted_q.swapaxes(1, 2))
        best, parents = np.full((blocks, WIDTH), inf), np.full((blocks, WIDTH), -1.0)
        limits = self.edges.limits(i)
        edges = LayerEdges(before, costs, nodes, first, limits, bins.packed, best, parents)
        cpu.relax_layer(edges)
        found, origins = np.empty(count), np.empty(count, np.int64)
        found[order], origins[order] = best.ravel()[:count], parents.ravel()[:count]
        for (waypoint, node), blocked in self.edges.blocked.items():
            if waypoint == i and node < count and origins[node] in blocked:
                motion = costs + self.edges.changes(i, before, q[node])
                motion[blocked] = inf
                origins[node] = int(motion.argmin())
                found[node] = motion[origins[node]]
        return found, origins

    def origins(self) -> Ints:
        """(k,) the node of the first layer where the cheapest path to each node of the last begins.

        The first and the last layer have nodes.
        """
        nodes = np.arange(len(self.layers[-1].q))
        for parents in filter(len, self.parents[:0:-1]):
            parent = parents[nodes].astype(np.int64)
            nodes = np.where(parent < -1, -2 - parent, parent)
        return nodes

    def way(self, last: int | None = None) -> tuple[Ints, set[int]]:
        """(m,) the node of each waypoint, -1 for none; and before which waypoints the path breaks.

        Args:
            last: The node of the last layer; None: the cheapest.
        """
        nodes, breaks = np.full(len(self.layers), -1), set[int]()
        i = self._before(len(self.layers))
        if i < 0:
            return nodes, breaks
        node = int(self.costs[i].argmin()) if last is None else last
        while i >= 0:
            nodes[i], parent = node, int(self.parents[i][node])
            if parent < -1:
                breaks.add(i)
            i, node = self._before(i), parent if parent >= 0 else -2 - parent
        return nodes, breaks


def closed_way(open_way: BestWay) -> tuple[Ints, set[int]]:
    """The best nodes that end where they begin, and the breaks; an open path if it breaks less.

    No closed path through a node costs less than the cheapest path that ends there. If that path
    begins there, too, it is the best one through it. Then only nodes that may have a better path
    are tried, the cheapest first.

    Args:
        open_way: Paths between layers of which the last is the first one.
    """
    layers, bounds, first = open_way.layers, open_way.costs[-1], open_way.first_costs
    node = int(bounds.argmin())
    least, best = bounds[node] + BREAK, open_way.way(node)  # its end is a break
    closing = np.flatnonzero(open_way.origins() == np.arange(len(bounds)))
    if len(closing) and bounds[closing].min() < least:
        node = int(closing[bounds[closing].argmin()])
        least, best = bounds[node], open_way.way(node)
    for node in _apart(np.argsort(bounds), layers[0].q):
        if bounds[node] < least:
            begun, most = np.full(len(first), inf), min(least, open_way.most)
            begun[node] = first[node]
            way = BestWay(layers, open_way.edges, begun, most, forget=True)
            way.find(0, lambda done, solved: None)
            if way.costs[-1][node] < least:
                least, best = way.costs[-1][node], way.way(node)
    return best


def _apart(nodes: Ints, q: Floats) -> list[int]:
    """Some nodes in order; those near an earlier one come last."""
    tried: list[int] = []
    for node in nodes.tolist():
        if len(tried) == MAX_CLOSINGS:
            break
        if not tried or np.abs(q[tried] - q[node]).max(axis=1).min() > APART:
            tried.append(node)
    rest = [node for node in nodes[:MAX_CLOSINGS].tolist() if node not in tried]
    return (tried + rest)[:MAX_CLOSINGS]
