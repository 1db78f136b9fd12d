"""The best path over all solutions of all waypoints, at the samples of a ladder."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from jointwise.backends.progress import Report
from jointwise.engines.edges.check import edges_free
from jointwise.engines.paths.best_way import BREAK, BestWay, Edges, closed_way, find_bins
from jointwise.engines.paths.layers import TURN, Ladder, Layer, with_turns
from jointwise.engines.paths.refine import SAME_BRANCH, Refinement, nearest_of
from jointwise.engines.paths.whole_turns import unwrapped
from jointwise.kernels.layout.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from jointwise.results.result import Check

# Largest number of rounds in which colliding solutions and edges are removed.
MAX_ROUNDS = 12
# Number of edges into one node that are checked at a time, the cheapest first.
MAX_EDGES = 64
# The number that stands for no node.
NO_NODE = -2
# Number of waypoints on each side of a colliding one whose solutions are checked, too.
NEIGHBOURS = range(-4, 5)


class GlobalPath(NamedTuple):
    """Joint values along a path.

    Attributes:
        q: (m, n) joint values [rad, m]; NaN where the layer is empty.
        values: (m, f) values of all free quantities.
        breaks: Waypoints before which the path breaks.
        outside: Waypoints all of whose solutions are outside the limits.
        colliding: Waypoints all of whose solutions collide.
    """

    q: Floats
    values: Floats
    breaks: set[int]
    outside: Bools
    colliding: Bools


class PathSearch:
    """Searches the best path; only solutions and edges on it are checked for collisions."""

    def __init__(
        self,
        ladder: Ladder,
        steps: Floats,
        start: Floats | None,
        closed: bool,
        check: "Check | None",
    ) -> None:
        """Prepare a search.

        Args:
            ladder: The free quantities and their samples.
            steps: (1, n) or (m, n) largest change of each joint [rad, m].
            start: (n,) joint values before the first waypoint [rad, m].
            closed: Whether the joints must end where they begin.
            check: The collision check.
        """
        self.ladder, self.steps, self.start, self.check = ladder, steps, start, check
        self.closed, count = closed, len(ladder.freedom.packed)
        self.layers: list[Layer] = []
        self.outside, self.colliding = np.zeros((2, count), np.bool_)
        self.checked = np.full(count, check is None)
        arm = ladder.arm.arm
        low, high = arm.limits.T
        self.wraps: Bools = ~arm.prismatic & (high - low >= TURN - 1e-9)
        self.best: BestWay | None = None
        self.most = np.inf

    def run(self, report: Report, most: float = np.inf) -> GlobalPath | None:
        """The path; None if no waypoint has a solution, or no path costs at most ``most``.

        Args:
            report: Called with the number of waypoints done.
            most: Paths that cost more are not searched.
        """
        changed, self.most = 0, most
        self.layers, self.outside = self.ladder.layers(report)
        self.closed = self.closed and len(self.layers[0].q) > 0
        if self.closed:
            self.layers[-1] = self.layers[0]
        for _ in range(MAX_ROUNDS):
            if not any(len(layer.q) for layer in self.layers):
                return None
            nodes, breaks = self._way(changed, report)
            if nodes[-1] == NO_NODE:
                return None
            values, q = self._exact(nodes)
            is_closed = self.closed and nodes[0] == nodes[-1]
            q, misfits = unwrapped(
                q, breaks, self.ladder.arm.arm.limits, self.wraps, self.start, is_closed
            )
            if misfits:
                self._expand(misfits)
                changed = 0
                continue
            found = self._collisions(nodes, q, breaks)
            if found is None:
                break
            changed = found
        return GlobalPath(q, values, breaks, self.outside, self.colliding)

    def refined(self, q: Floats, values: Floats, breaks: Iterable[int]) -> Floats:
        """(m, n) joint values of a smoother path.

        Args:
            q: (m, n) its joint values [rad, m]; NaN where there are none.
            values: (m, f) values of all free quantities.
            breaks: Waypoints before which it breaks.
        """
        solved = ~np.isnan(q[:, 0])
        joined = solved[1:] & solved[:-1]
        joined[[each - 1 for each in breaks if each > 0]] = False
        fixed = ~solved
        fixed[0] |= self.start is not None or self.closed
        fixed[-1] |= self.closed
        limits = self.steps[-len(joined) :] if len(self.steps) > 1 else self.steps

        def allowed(q: Floats) -> bool:
            changes = np.abs(np.diff(q, axis=0))
            if not (changes <= limits)[joined].all():
                return False
            return self.check is None or self._is_free(q, joined)

        if not self.ladder.units.shape[1] or not joined.any() or not solved.all():
            return q
        return Refinement(self.ladder, joined, fixed, allowed).run(values, q)

    def _is_free(self, q: Floats, joined: Bools) -> bool:
        assert self.check is not None
        packed = self.check.packed_edges
        if packed is None or not self.check.free(q).all():
            return False
        return bool(edges_free(packed, q[:-1][joined], q[1:][joined]).all())

    def _edges(self) -> Edges:
        periods = np.where(self.wraps, TURN, np.inf)
        limits = self.ladder.arm.arm.limits
        bins = find_bins(self.layers, self.steps, periods, limits)
        return Edges(self.steps, periods, bins, {})

    def _first_costs(self, edges: Edges) -> Floats:
        first = next(layer.q for layer in self.layers if len(layer.q)).astype(float)
        if self.start is None:
            return np.zeros(len(first))
        motion = edges.changes(0, self.start, first)
        far = np.abs(first - self.start)
        far = np.minimum(far, np.abs(edges.periods - far)).sum(axis=1) + BREAK
        return np.where(np.isfinite(motion), motion, far)

    def _way(self, changed: int, report: Report) -> tuple[Ints, set[int]]:
        """The best nodes; layers before ``changed`` have not changed."""
        if self.best is None:
            edges = self._edges()
            first = self._first_costs(edges)
            most = self.most + BREAK * (first.min() >= BREAK)  # the start is far from all
            self.best = BestWay(self.layers, edges, first, most, forget=self.check is None)
        elif changed == 0:
            self.best.first_costs = self._first_costs(self.best.edges)
        self.best.find(changed, report)
        ends = [costs for costs in self.best.costs if len(costs)]
        if not np.isfinite(ends[-1].min()):
            return np.full(len(self.layers), NO_NODE), set()
        nodes, breaks = self.best.way()
        if not self.closed or nodes[0] == nodes[-1]:
            return nodes, breaks
        return closed_way(self.best)

    def _exact(self, nodes: Ints) -> tuple[Floats, Floats]:
        """(m, f) values and (m, n) joint values of nodes in full precision; NaN without a node."""
        ladder, n = self.ladder, self.ladder.arm.arm.n
        solved = nodes >= 0
        units = np.zeros((len(nodes), 1, ladder.units.shape[1]))
        near = np.tile(ladder.arm.arm.mid_range, (len(nodes), 1))
        for i in np.flatnonzero(solved).tolist():
            units[i, 0] = ladder.units[self.layers[i].samples[nodes[i]]]
            near[i] = self.layers[i].q[nodes[i]]
        values = ladder.values(slice(None), units)
        found, counts = ladder.solutions(slice(None), values, near)
        q = nearest_of(found[:, 0], counts[:, 0, 0], near, SAME_BRANCH)
        q[~solved] = np.nan
        return values[:, 0], q.reshape(len(nodes), n)

    def _expand(self, joints: list[int]) -> None:
        """Add nodes for the full turns of joints."""
        limits, last = self.ladder.arm.arm.limits, len(self.layers) - 1
        for joint in joints:
            self.wraps[joint] = False
            for i, layer in enumerate(self.layers):
                if not (self.closed and i == last):
                    self.layers[i] = with_turns(layer, joint, *limits[joint].tolist())
        if self.closed:
            self.layers[-1] = self.layers[0]
        self.best = None

    def _collisions(self, nodes: Ints, q: Floats, breaks: set[int]) -> int | None:
        """The first layer that changes because the path collides there; None if it does not."""
        if self.check is None:
            return None
        solved = np.flatnonzero(nodes >= 0)
        free = self.check.free(np.ascontiguousarray(q[solved]))
        if not free.all():
            return self._remove(nodes, solved[~free])
        packed, best = self.check.packed_edges, self.best
        assert best is not None
        joined = [i for i in solved[1:].tolist() if nodes[i - 1] >= 0 and i not in breaks]
        if packed is None or not joined:
            return None
        clear = edges_free(packed, q[[i - 1 for i in joined]], q[joined])
        blocked = np.array(joined)[~clear]
        for i in blocked.tolist():
            self._block(best, packed, i, int(nodes[i]), int(nodes[i - 1]))
        return int(blocked.min()) if len(blocked) else None

    def _remove(self, nodes: Ints, waypoints: Ints) -> int:
        """Remove all colliding solutions at and near some waypoints; return the first changed."""
        assert self.check is not None
        assert self.best is not None
        last, changed = len(self.layers) - 1, len(self.layers)
        here = set(waypoints.tolist())
        near = {i + k for i in here for k in NEIGHBOURS if not self.checked[i]} | here
        for i in sorted(each for each in near if 0 <= each <= last):
            layer = self.layers[i]
            if self.checked[i] and i not in here:
                continue
            free = np.arange(len(layer.q)) != nodes[i]
            if not self.checked[i]:
                free = self.check.free(np.ascontiguousarray(layer.q, dtype=np.float64))
            self.layers[i] = kept = layer.some(free)
            self.checked[i], self.colliding[i] = True, len(layer.q) > 0 and not len(kept.q)
            if self.closed and i in (0, last):
                self.layers[0] = self.layers[last] = kept
                self.checked[[0, last]] = True
                changed = 0
            changed = min(changed, i)
            for key in [each for each in self.best.edges.blocked if each[0] in (i, i + 1)]:
                del self.best.edges.blocked[key]
        return changed

    def _block(self, best: BestWay, packed: Floats, i: int, node: int, parent: int) -> None:
        """Find which edges into a node collide, the cheapest first."""
        before, after = (self.layers[k].q.astype(float) for k in (i - 1, i))
        costs = best.costs[i - 1] + best.edges.changes(i, before, after[node])
        known = best.edges.blocked.get((i, node), np.empty(0, np.int64))
        order = np.setdiff1d(np.argsort(costs)[:MAX_EDGES], known, assume_unique=True)
        order = order[np.isfinite(costs[order])]
        ends = np.repeat(after[node][None], len(order), axis=0)
        turns = np.where(np.isfinite(best.edges.periods), best.edges.periods, 1e12)
        ends -= turns * np.round((ends - before[order]) / turns)
        blocked = order[~edges_free(packed, before[order], ends)]
        best.edges.blocked[i, node] = np.unique(np.concatenate([known, blocked, [parent]]))
