"""The best way through layers: fewest breaks first, then the least joint motion."""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from jointwise.backends import cpu
from jointwise.backends.progress import Report
from jointwise.engines.paths.layers import Layer
from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.kernels.layout.paths import LARGEST_STEP, PERIOD
from jointwise.kernels.layout.slots import WIDTH

# The cost of a break: more than the motion of any path [rad, m].
BREAK = 1e6
# Where nodes are that are not there [rad, m].
NOWHERE = 1e12
# Layers between two reports of progress.
REPORT_EVERY = 100
# Bins of a joint, at most.
MAX_BINS = 1024


class Bins(NamedTuple):
    """How nodes are divided by the values of one joint, so that few have to be compared.

    Attributes:
        joint: The joint.
        low: Where the first bin begins [rad, m].
        width: Of a bin, at least the largest step of the joint [rad, m].
        count: How many there are.
        circular: Whether the last is beside the first.
    """

    joint: int
    low: float
    width: float
    count: int
    circular: bool

    def of(self, q: Floats) -> Ints:
        """(k,) the bin of each node (k, n)."""
        numbers = np.floor((q[:, self.joint] - self.low) / self.width).astype(np.int64)
        return numbers % self.count if self.circular else np.clip(numbers, 0, self.count - 1)


class Edges(NamedTuple):
    """Which edges there are between neighbouring layers.

    Attributes:
        steps: (1, n) largest change of each joint [rad, m], or (m, n) to each waypoint.
        periods: (n,) after which change a joint is where it was [rad]; infinite if never.
        bins: How nodes are divided.
        blocked: The nodes of the layer before from which there is no edge to a node, by waypoint
            and node.
    """

    steps: Floats
    periods: Floats
    bins: Bins
    blocked: dict[tuple[int, int], Ints]

    def limits(self, waypoint: int) -> Floats:
        """(2, n) limits of the edges to a waypoint, as kernels take them."""
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


def find_bins(layers: Sequence[Layer], steps: Floats, periods: Floats) -> Bins:
    """The joint whose bins leave the fewest edges to compare."""
    filled = [layer.q for layer in layers if len(layer.q)]
    some = [q.astype(float) for q in filled[:: max(len(filled) // 4, 1)]]
    best, least = Bins(0, 0.0, inf, 1, False), inf
    for joint, (step, period) in enumerate(zip(steps.max(axis=0), periods, strict=True)):
        low = min((float(q[:, joint].min()) for q in filled), default=0.0)
        high = max((float(q[:, joint].max()) for q in filled), default=0.0)
        span = period if period < inf else high - low
        count = int(min(max(span / step, 1.0), MAX_BINS))
        bins = Bins(joint, low, max(span / count, step) or 1.0, count, period < inf)
        pairs = sum(float((np.bincount(bins.of(q)) ** 2.0).sum()) for q in some)
        if pairs < least:
            best, least = bins, pairs
    return best


class BestWay:
    """The cheapest paths to all nodes of all layers, found layer by layer.

    Attributes:
        costs: For each layer (k,) the cost of the cheapest path to each node.
        parents: For each layer (k,) the node before; -2 - node after a break, -1 for none.
    """

    def __init__(self, layers: list[Layer], edges: Edges, first_costs: Floats) -> None:
        """Nothing is found yet.

        Args:
            layers: The nodes of each waypoint.
            edges: Which edges there are.
            first_costs: (k,) what it costs to begin at a node of the first layer that has any.
        """
        self.layers, self.edges, self.first_costs = layers, edges, first_costs
        self.costs: list[Floats] = []
        self.parents: list[Ints] = []

    def find(self, begin: int, report: Report) -> None:
        """Find the paths to the layers from ``begin`` on; those before have not changed."""
        del self.costs[begin:], self.parents[begin:]
        for i in range(begin, len(self.layers)):
            costs, parents = self._layer(i)
            self.costs.append(costs)
            self.parents.append(parents.astype(np.int32))
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
        least = int(self.costs[before].argmin())
        costs = np.full(len(q), self.costs[before][least] + BREAK)
        parents = np.full(len(q), -2 - least)
        if before == i - 1:
            best, origins = self._relaxed(i, self.layers[before].q.astype(float), q)
            joined = best <= costs
            costs[joined], parents[joined] = best[joined], origins[joined]
        return costs, parents

    def _relaxed(self, i: int, before: Floats, q: Floats) -> tuple[Floats, Ints]:
        """(k,) the costs of the cheapest edges to the nodes of layer i, and where they begin."""
        bins, costs = self.edges.bins, self.costs[i - 1]
        numbers = bins.of(q).astype(np.int16)
        order = np.argsort(numbers, kind="stable")
        first = np.searchsorted(numbers[order], np.arange(bins.count + 1)).astype(np.int64)
        blocks = -(-len(q) // WIDTH)
        nodes = np.full((blocks * WIDTH, q.shape[1]), NOWHERE)
        nodes[: len(q)] = q[order]
        nodes = np.ascontiguousarray(nodes.reshape(blocks, WIDTH, -1).swapaxes(1, 2))
        best, parents = np.full((blocks, WIDTH), inf), np.full((blocks, WIDTH), -1.0)
        limits = self.edges.limits(i)
        ends = bins.joint, bins.low, bins.width
        cpu.relax_layer(before, costs, nodes, first, limits, *ends, best, parents)
        found, origins = np.empty(len(q)), np.empty(len(q), np.int64)
        found[order], origins[order] = best.ravel()[: len(q)], parents.ravel()[: len(q)]
        for (waypoint, node), blocked in self.edges.blocked.items():
            if waypoint == i and node < len(q) and origins[node] in blocked:
                motion = costs + self.edges.changes(i, before, q[node])
                motion[blocked] = inf
                origins[node] = int(motion.argmin())
                found[node] = motion[origins[node]]
        return found, origins

    def way(self, last: int | None = None) -> tuple[Ints, set[int]]:
        """(m,) the node of each waypoint, -1 for none; and before which the path breaks.

        Args:
            last: The node of the last layer; None: the cheapest.
        """
        nodes, breaks = np.full(len(self.layers), -1), set()
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
