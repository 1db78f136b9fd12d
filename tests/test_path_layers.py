"""The best way through layers: laws beside a slow twin, and whole turns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise.backends.progress import silent
from jointwise.engines.paths.best_way import BREAK, JUMP, BestWay, Edges, closed_way, find_bins
from jointwise.engines.paths.layers import Layer, with_turns
from jointwise.engines.paths.refine import solve_banded
from jointwise.engines.paths.whole_turns import unwrapped
from tests.support.examples import examples
from tests.support.path_twin import best_cost

TURN = 2.0 * np.pi


def random_layers(rng, n, count, most):
    """Nodes that wander; now and then a layer without any."""
    layers, middle = [], rng.uniform(-2.0, 2.0, n)
    for _ in range(count):
        middle = middle + rng.normal(scale=0.1, size=n)
        nodes = rng.integers(0, most + 1) * (rng.random() > 0.1)
        q = middle + rng.normal(scale=rng.choice([0.05, 0.3, 3.0]), size=(int(nodes), n))
        layers.append(np.clip(q, -6.0, 6.0).astype(np.float32))
    return layers


def found_way(layers, steps, periods, first_costs):
    nodes = [Layer(q, np.arange(len(q))) for q in layers]
    limits = np.tile([-6.0, 6.0], (len(steps), 1))
    edges = Edges(steps[None], periods, find_bins(nodes, steps[None], periods, limits), {})
    way = BestWay(nodes, edges, first_costs)
    way.find(0, silent)
    return way


@given(seed=st.integers(0, 10_000), n=st.integers(2, 7), wraps=st.booleans())
@examples(40)
def test_the_best_way_costs_what_a_slow_twin_finds(seed, n, wraps):
    rng = np.random.default_rng(seed)
    layers = random_layers(rng, n, int(rng.integers(1, 7)), 12)
    steps = rng.choice([0.1, 0.5, 2.5, 7.0], n)
    periods = np.full(n, TURN if wraps else np.inf)
    first = next((len(layer) for layer in layers if len(layer)), 0)
    if not first:
        return
    first_costs = rng.uniform(0.0, 1.0, first)
    way = found_way(layers, steps, periods, first_costs)
    last = next(costs for costs in way.costs[::-1] if len(costs))
    expected = best_cost([q.astype(float) for q in layers], steps, periods, first_costs)
    assert last.min() == pytest.approx(expected, rel=1e-12, abs=1e-9)
    nodes, breaks = way.way()
    assert [node >= 0 for node in nodes] == [len(layer) > 0 for layer in layers]
    assert len(breaks) == int(expected // BREAK)


@given(seed=st.integers(0, 10_000), n=st.integers(2, 6), wraps=st.booleans())
@examples(40)
def test_the_best_closed_way_is_the_cheapest_of_all_first_nodes(seed, n, wraps):
    """Beside a slow twin that begins at each node; all of these few nodes are tried."""
    rng = np.random.default_rng(seed)
    layers = [q for q in random_layers(rng, n, int(rng.integers(2, 6)), 12) if len(q)]
    if not layers:
        return
    layers.append(layers[0])
    steps, periods = rng.choice([0.1, 0.5, 2.5, 7.0], n), np.full(n, TURN if wraps else np.inf)
    way = found_way(layers, steps, periods, np.zeros(len(layers[0])))
    nodes, breaks = closed_way(way)
    exact = [q.astype(float) for q in layers]
    closed = []
    for node in range(len(layers[0])):
        one = [*exact[:-1], exact[0][[node]]]
        begun = np.where(np.arange(len(layers[0])) == node, 0.0, np.inf)
        closed.append(best_cost(one, steps, periods, begun))
    best = min(min(closed), float(way.costs[-1].min()) + BREAK)
    cost = 0.0
    for i in range(1, len(layers)):
        change = np.abs(exact[i][nodes[i]] - exact[i - 1][nodes[i - 1]])
        motion = np.minimum(change, np.abs(periods - change)).sum()
        cost += BREAK + JUMP * motion if i in breaks else motion
    cost += BREAK * (nodes[0] != nodes[-1])
    assert cost == pytest.approx(best, rel=0.0, abs=1e-9 if best < BREAK else 20.0 * JUMP)


@given(seed=st.integers(0, 10_000), size=st.integers(1, 3), count=st.integers(1, 9))
@examples(20)
def test_banded_equations_are_solved(seed, size, count):
    rng = np.random.default_rng(seed)
    blocks = [rng.normal(size=(max(count - k, 0), size, size)) for k in range(3)]
    blocks[0] = blocks[0] + blocks[0].swapaxes(1, 2) + 12.0 * np.eye(size)
    whole = np.zeros((count, size, count, size))
    for k in range(3):
        for i in range(count - k):
            whole[i, :, i + k] = blocks[k][i]
            whole[i + k, :, i] = blocks[k][i].T
    right = rng.normal(size=(count, size))
    expected = np.linalg.solve(whole.reshape(count * size, -1), right.ravel())
    np.testing.assert_allclose(solve_banded(blocks, right).ravel(), expected, atol=1e-10)


@pytest.mark.parametrize(("turns", "fits"), [(1.2, True), (1.9, True), (2.1, False)])
def test_a_winding_joint_fits_into_its_limits_or_not(turns, fits):
    q = np.linspace(0.0, turns * TURN, 60)
    wrapped = np.column_stack([(q + np.pi) % TURN - np.pi, np.zeros(60)])
    limits = np.array([[-TURN, TURN], [-1.0, 1.0]])
    found, misfits = unwrapped(wrapped, (), limits, np.array([True, False]), None, False)
    assert misfits == ([] if fits else [0])
    if fits:
        assert np.abs(np.diff(found[:, 0])).max() < 0.3
        assert np.abs(found).max() <= TURN


def test_turns_are_nodes_inside_the_limits():
    layer = Layer(np.array([[0.5, 1.0], [-3.0, 2.0]], np.float32), np.array([4, 7]))
    turned = with_turns(layer, 0, -TURN, TURN)
    values = sorted(zip(turned.samples.tolist(), turned.q[:, 0].tolist(), strict=True))
    assert [sample for sample, _ in values] == [4, 4, 7, 7]
    expected = [0.5 - TURN, 0.5, -3.0, TURN - 3.0]
    np.testing.assert_allclose([value for _, value in values], expected, atol=1e-6)
