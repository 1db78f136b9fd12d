"""Regular poses have formulas without branches; in doubt the careful code decides."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import Chain, DimensionMismatchError
from jointwise.backends import cpu
from jointwise.engines.closed_form.redundancy import structure_tolerance
from jointwise.kernels.layout.closed_form import FORM_HAS_STANDARD, HAS_FREE_JOINT, UNPROVEN
from jointwise.model.arm import arm_model
from testbed.closed_arms import random_arm
from tests.support.examples import examples

ROBOTS = ["ur3e", "ur5", "ur5e", "ur10e", "puma560", "irb120", "kr6_r900", "jaco2"]
STRUCTURES = ["wrist, parallel 23", "wrist, antiparallel 23", "parallel, meet"]


def arms():
    """Arms of every structure that has formulas for regular poses, with their names."""
    for name in ROBOTS:
        yield Chain.load(name)
    for structure in STRUCTURES:
        for backward in (False, True):
            yield random_arm(structure, 1, backward)


ARMS = list(arms())


def solve_rows(chain, targets, with_regular, near=None):
    """Solutions and counts of poses, with or without the formulas for regular poses."""
    form = chain.arm.closed_form
    packed = form.packed.copy()
    if not with_regular:
        packed[FORM_HAS_STANDARD] = 0.0
    solutions = np.empty((len(targets), 32, 6))
    counts = np.zeros((len(targets), 3), np.int64)
    starts = chain.mid_range[None].copy() if near is None else near
    error = structure_tolerance(form)
    cpu.closed_rows(
        chain.arm.packed, packed, targets, starts, np.zeros(1), error, 0, len(targets),
        solutions, counts,
    )  # fmt: skip
    return solutions, counts


def assert_same(chain, targets, tolerance=1e-9):
    """The same solutions but for rounding and their order, and the same is noted."""
    solutions, counts = solve_rows(chain, targets, True)
    wanted, wanted_counts = solve_rows(chain, targets, False)
    assert np.array_equal(counts[:, :2], wanted_counts[:, :2])
    for bits in (UNPROVEN, HAS_FREE_JOINT):
        noted, wanted_notes = (each[:, 2] & bits > 0 for each in (counts, wanted_counts))
        assert np.array_equal(noted, wanted_notes)
    for k, count in enumerate(counts[:, 0]):
        if not count or counts[k, 2] & UNPROVEN:
            continue  # of a continuum others may be chosen
        difference = solutions[k, :count, None] - wanted[k, None, :count]
        apart = np.abs((difference + np.pi) % (2.0 * np.pi) - np.pi).max(axis=2)
        assert apart.min(axis=0).max() < tolerance
        assert apart.min(axis=1).max() < tolerance
    assert np.isnan(solutions[np.arange(32) >= counts[:, :1]]).all()
    lower, upper = chain.limits.T
    inside = solutions[np.arange(32) < counts[:, :1]]
    assert ((inside >= lower) & (inside <= upper)).all()


def nasty(chain, rng, count):
    """Configurations close to singularities, at limits, and where angles are multiples of 90°."""
    q = rng.uniform(-np.pi, np.pi, (count, 6))
    for row in q[: count // 2]:
        row[rng.integers(6)] = rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-12.0, -1.0)
    for row in q[count // 2 : 3 * count // 4]:
        row[:] = rng.integers(-2, 3, 6) * 0.5 * np.pi + rng.choice([0.0, 1e-9, 1e-5, 1e-2])
    lower, upper = chain.limits.T
    at_limit = np.where(rng.random((count, 6)) < 0.5, lower, upper)
    few = (rng.random((count, 6)) < 0.2) & np.isfinite(at_limit)
    q[3 * count // 4 :] = np.where(few, at_limit, q)[3 * count // 4 :]
    return q


@pytest.mark.parametrize("chain", ARMS, ids=lambda chain: chain.closed_form)
def test_regular_poses_have_the_solutions_of_the_careful_code(chain):
    assert chain.arm.closed_form.has_regular_poses
    rng = np.random.default_rng(1)
    assert_same(chain, chain.fk(chain.random(2, 400)))
    free = chain.with_limits(None)
    assert_same(free, chain.fk(rng.uniform(-np.pi, np.pi, (400, 6))))


@pytest.mark.parametrize("chain", ARMS, ids=lambda chain: chain.closed_form)
def test_nasty_poses_too(chain):
    rng = np.random.default_rng(3)
    for each in (chain, chain.with_limits(None)):
        assert_same(each, chain.fk(nasty(each, rng, 200)), 1e-7)


@pytest.mark.parametrize("chain", ARMS[:8:3], ids=lambda chain: chain.closed_form)
def test_poses_that_may_be_out_of_reach(chain):
    rng = np.random.default_rng(4)
    targets = chain.fk(rng.uniform(-np.pi, np.pi, (400, 6)))
    size = chain.arm.closed_form.size
    targets[:, :3, 3] = rng.uniform(-size, size, (400, 3))
    assert_same(chain, targets)


@examples(60)
@given(
    st.sampled_from(range(len(ARMS))),
    st.lists(st.floats(-3.2, 3.2), min_size=6, max_size=6),
    st.floats(0.9, 1.1),
)
def test_any_pose_has_them(number, q, stretch):
    chain = ARMS[number]
    targets = chain.fk(np.array([q, q]))
    targets[1, :3, 3] *= stretch
    assert_same(chain.with_limits(None), targets, 1e-7)


@pytest.mark.parametrize("chain", ARMS, ids=lambda chain: chain.closed_form)
def test_few_poses_are_in_doubt(chain):
    """The careful code is called for few: it would note that all numbers of the arm are NaN."""
    form, count = chain.arm.closed_form, 2000
    targets = chain.fk(chain.random(5, count))
    damaged = form.packed.copy()
    damaged[5 : 5 + 12 + 42] = np.nan
    counts = np.zeros((count, 3), np.int64)
    cpu.closed_rows(
        chain.arm.packed, damaged, targets, chain.mid_range[None].copy(), np.zeros(1), 1e-9,
        0, count, np.empty((count, 8, 6)), counts,
    )  # fmt: skip
    assert (counts[:, 0] > 0).mean() > 0.99


def test_rotations_that_are_not_exact():
    """Up to 1e-8 the formulas make a rotation exact; beyond, the careful code does."""
    chain, rng = Chain.load("ur5e"), np.random.default_rng(6)
    exact = chain.fk(chain.random(7, 60))
    for size in (1e-15, 1e-10, 1e-9, 1e-8, 1e-7):
        targets = exact.copy()
        targets[:, :3, :3] += size * rng.uniform(-1.0, 1.0, (60, 3, 3))
        assert_same(chain, targets)
        found = chain.solutions_batch(targets)
        assert np.abs(chain.fk(found.q[:, 0]) - targets).max() < 10.0 * size + 1e-12


def test_invalid_poses_are_refused():
    chain = Chain.load("puma560")
    targets = chain.fk(chain.random(8, 8))
    targets[0, 0, 3] = np.nan
    targets[1, :3, 0] *= -1.0  # a reflection
    targets[2, 3, 3] = 2.0
    targets[3, :3, :3] *= 1.01
    targets[4, 0, 3] = 1e10
    found = chain.solutions_batch(targets)
    assert found.counts[:5].tolist() == [0] * 5
    assert not found.complete[:5].any()
    assert found.complete[5:].all()


def test_full_turns_are_chosen_close_to_near():
    chain = Chain.load("ur5e")
    targets, near = chain.fk(chain.random(9, 50)), chain.random(10, 50)
    found = chain.solutions_batch(targets, near=near)
    wanted, counts = solve_rows(chain, targets, False, near)
    for k, count in enumerate(counts[:, 0]):
        apart = np.abs(found.q[k, :count, None] - wanted[k, None, :count]).max(axis=2)
        assert apart.min(axis=1).max() < 1e-9
    single = [
        chain.solutions(target, None, near=q) for target, q in zip(targets, near, strict=True)
    ]
    for k, each in enumerate(single):  # bit for bit, but for the order
        rows = found.q[k, : found.counts[k]]
        assert sorted(map(tuple, each.q)) == sorted(map(tuple, rows))


def test_near_of_another_shape_is_refused():
    chain = Chain.load("ur5e")
    text = (
        r"near has shape \(3, 6\) for 2 targets of an arm of 6 joints: expected \(6,\) for all or "
        r"\(2, 6\), one for each\."
    )
    with pytest.raises(DimensionMismatchError, match=text):
        chain.solutions_batch(chain.fk(chain.random(1, 2)), near=np.zeros((3, 6)))


def test_an_arm_that_deviates_by_more_than_rounding_has_no_such_formulas():
    chain = Chain.load("ur5e")
    links = chain.arm.links.copy()
    links[5, 0, 3] += 1e-11  # axes 5 and 6 miss each other
    arm = arm_model(links, chain.prismatic, chain.limits)
    assert arm.closed_form.exact
    assert not arm.closed_form.has_regular_poses


def test_a_continuum_has_more_solutions_than_there_are_branches():
    chain = Chain.load("ur5e").with_limits(None)
    q = chain.random(1, 4)
    q[3, 4] = 0.0
    found = chain.solutions_batch(chain.fk(q))
    assert found.counts[3] > 8
    assert found.q.shape == (4, found.counts[3], 6)
    targets = chain.fk(q[3])
    for each in found.q[3]:
        assert np.abs(chain.fk(each) - targets).max() < 1e-6
    assert np.isnan(found.q[:3, 8:]).all()
