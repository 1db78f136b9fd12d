"""The primitives of closed forms, against brute force."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jointwise.kernels.algebra.quartic import quartic_roots
from jointwise.kernels.closed_form.joint_pairs import MAX_PAIRS, solve_pair
from jointwise.kernels.closed_form.subproblems import (
    cut_circle,
    distance_terms,
    height_terms,
    turn,
    turn_onto,
    two_turns,
)
from jointwise.kernels.layout.closed_form import COUPLED

numbers = st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-9]) | st.floats(-2.0, 2.0)
angles = st.sampled_from([0.0, np.pi, -np.pi / 2, 1e-9]) | st.floats(-np.pi, np.pi)
points = st.tuples(numbers, numbers, numbers)
axes = points.filter(lambda v: np.linalg.norm(v) > 1e-3).map(
    lambda v: tuple((np.array(v) / np.linalg.norm(v)).tolist())
)


def rotation(axis, angle):
    """(3, 3) by the exponential series, without the formula of the kernel."""
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    total, term = np.eye(3), np.eye(3)
    for k in range(1, 40):
        term = term @ skew * (angle / k)
        total = total + term
    return total


@given(axes, angles, points)
def test_a_turn_is_a_rotation(axis, angle, v):
    turned = turn(axis, np.cos(angle), np.sin(angle), v)
    np.testing.assert_allclose(turned, rotation(axis, angle) @ v, atol=1e-12)


@given(axes, points, points)
def test_subproblem_1_brings_a_vector_closest_to_another(axis, x, y):
    c, s, effect = turn_onto(axis, x, y)
    assert c * c + s * s == pytest.approx(1.0)
    best = np.linalg.norm(np.subtract(turn(axis, c, s, x), y))
    tried = [np.linalg.norm(rotation(axis, a) @ x - y) for a in np.linspace(-np.pi, np.pi, 73)]
    assert best <= min(tried) + 1e-9
    if effect < 1e-12:  # every rotation does as well
        assert max(tried) - min(tried) < 1e-5


@given(axes, points, points, points, angles)
def test_terms_are_heights_and_distances_of_a_rotated_point(axis, point, v, g, angle):
    moved = np.array(point) + rotation(axis, angle) @ np.subtract(v, point)
    motion = np.array([1.0, np.cos(angle), np.sin(angle)])
    assert motion @ height_terms(axis, point, v, g) == pytest.approx(moved @ g, abs=1e-9)
    square = np.sum((moved - g) ** 2)
    assert motion @ distance_terms(axis, point, v, g) == pytest.approx(square, abs=1e-9)


@given(numbers, numbers, numbers)
@example(1.0, 0.0, 1.0)
@example(0.0, 1e-9, -1e-9)
def test_a_line_cuts_the_circle_in_all_its_points(a, b, c):
    size = np.hypot(a, b)
    if size < 1e-12:
        return
    x, y, dx, dy, excess = cut_circle(a, b, c)
    assert excess == pytest.approx(abs(c) - size, abs=1e-12)
    both = np.array([[x - dx, y - dy], [x + dx, y + dy]])
    np.testing.assert_allclose(np.hypot(*both.T), 1.0, atol=1e-9)
    if excess <= 0.0:
        np.testing.assert_allclose(both @ [a, b], c, atol=1e-9)
    around = np.linspace(0.0, 2.0 * np.pi, 721) + 0.0123
    signs = a * np.cos(around) + b * np.sin(around) - c > 0.0
    crossings = np.count_nonzero(signs[1:] != signs[:-1])
    if abs(excess) > 1e-3 * size:
        assert crossings == (2 if excess < 0.0 else 0)


@given(axes, axes, points, angles, angles)
def test_subproblem_2_finds_the_rotations_that_were_made(first, second, x, a, b):
    if np.linalg.norm(np.cross(first, second)) < 1e-2 or np.linalg.norm(np.cross(second, x)) < 1e-2:
        return
    y = tuple((rotation(first, a) @ rotation(second, b) @ x).tolist())
    made = [np.cos(a), np.sin(a), np.cos(b), np.sin(b)]
    closest = np.inf
    for sign in (-1.0, 1.0):
        *found, excess = two_turns(first, second, x, y, sign)
        assert excess < 1e-9
        moved = turn(first, *found[:2], turn(second, *found[2:], x))
        np.testing.assert_allclose(moved, y, atol=1e-6)
        closest = min(closest, np.abs(np.subtract(found, made)).max())
    if np.linalg.norm(np.cross(first, y)) > 1e-2:
        assert closest < 1e-4  # the square root of rounding errors, where the two touch


@given(st.lists(st.floats(-1.5, 1.5), min_size=0, max_size=4), st.floats(0.1, 3.0))
@example([0.3, 0.3], 1.0)
@example([0.5, 0.5, 0.5, 0.5], 1.0)
@example([], 1.0)
def test_quartic_roots_are_all_real_roots(expected, scale):
    coefficients = np.zeros(5)
    polynomial = np.polynomial.polynomial.polyfromroots(expected) * scale
    coefficients[: len(polynomial)] = polynomial
    roots = np.empty(8)
    count, _ = quartic_roots(coefficients, 1e-12, roots)
    found = roots[:count]
    assert (np.abs(np.polynomial.polynomial.polyval(found, coefficients)) < 1e-9).all()
    for root in expected:
        if abs(root) <= 1.0:
            assert np.abs(found - root).min() < 1e-2  # four roots in one are found to 1e-3
            if sum(abs(other - root) < 0.1 for other in expected) == 1:
                assert np.abs(found - root).min() < 1e-9


@pytest.mark.parametrize("kinds", [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)])
def test_coupled_pairs_contain_the_values_that_were_made(kinds):
    rng = np.random.default_rng(3)
    for _ in range(300):
        values = rng.uniform(-3.0, 3.0, 2)
        motions = [
            [np.cos(v), np.sin(v)] if kind == 0.0 else [v, v * v]
            for v, kind in zip(values, kinds, strict=True)
        ]
        factors = rng.uniform(-1.0, 1.0, (2, 4))
        equations = [(-float(f @ np.ravel(motions)), *f.tolist()) for f in factors]
        pairs, notes = np.empty((len(MAX_PAIRS), 5)), np.zeros(3)
        free, scales = (1.0, 0.0, 1.0, 0.0), (1.0, 1e-12)
        count = solve_pair(kinds, COUPLED, *equations, free, scales, pairs, notes)
        found = pairs[:count, :4].copy()
        found[:, [2 * i + 1 for i in range(2) if kinds[i]]] = 0.0
        made = np.ravel(
            [[m[0], 0.0 if kind else m[1]] for m, kind in zip(motions, kinds, strict=True)]
        )
        assert np.abs(found - made).max(axis=1).min() < 1e-5
