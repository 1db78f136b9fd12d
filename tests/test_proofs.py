"""Claims about targets and lists of solutions are true for the tolerances that were asked for."""

from itertools import islice

import numpy as np
import pytest

from jointwise import Chain, SolveConfig, Status, robots
from testbed.closed_arms import STRUCTURES, random_arm
from testbed.planted import (
    COUNTS,
    SHARED,
    arms,
    false_claims,
    misses,
    planted,
    pose_and_jacobian,
    two_spheres,
)
from testbed.singular import KINDS, singular_configurations
from tests.support.examples import trials

TURN = 2.0 * np.pi


def inside(found, chain, target, config):
    """Whether all listed solutions are inside the limits and the tolerances, and say so."""
    lower, upper = chain.limits.T
    assert ((found.q >= lower) & (found.q <= upper)).all()
    assert not misses(chain, found.q, target, config).any()
    assert all(result.status is Status.CONVERGED and result.converged for result in found)


def test_nothing_false_is_said_about_planted_targets():
    for case in islice(planted(SHARED * len(arms()), seed=1), 0, None, trials(2, 1)):
        said = false_claims(case)
        assert not {key: said[key] for key in COUNTS if said[key]}, (case.number, case.name)


@pytest.mark.parametrize("structure", ["wrist, general", "parallel, general"])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-4, 1e-3, 1e-2])
def test_a_quartic_proves_nothing_about_a_target_within_the_tolerances(structure, tolerance):
    """At the edge of the workspace, pushed out by less than the tolerance."""
    config, reached = SolveConfig(tolerance, tolerance, max_restarts=0), 0
    for seed in range(trials(2, 6)):
        chain = random_arm(structure, seed)
        for joint in ("shoulder", "elbow", "wrist"):
            for q in singular_configurations(chain, joint, seed, 3):
                pose, jacobian = pose_and_jacobian(chain, q)
                push = np.linalg.svd(jacobian)[0][:, -1]
                for sign in (-0.99, 0.99):
                    target = pose.copy()
                    target[:3, 3] += sign * tolerance * push[:3]
                    result = chain.solve(target, config=config)
                    reached += result.converged
                    assert result.status is not Status.UNREACHABLE
                    assert result.status is not Status.OUTSIDE_LIMITS
    assert reached > 10


def test_an_elbow_next_to_straight_lists_no_solution_that_misses():
    chain, config, listed = Chain.load("fetch"), SolveConfig(), 0
    for seed in range(40):
        q = chain.random(seed)
        q[3] = 1.2e-4 * (-1) ** seed
        target = chain.fk(q)
        found = chain.solutions(target, None)
        listed += len(found) > 0
        inside(found, chain, target, config)
    assert listed > 10


@pytest.mark.parametrize("tolerance", [1e-12, 1e-10, 1e-9, 1e-8])
@pytest.mark.parametrize("name", ["ur5e", "puma560", "jaco2", "stanford", "iiwa14", "fetch"])
def test_listed_solutions_keep_small_tolerances(name, tolerance):
    chain, config = Chain.load(name), SolveConfig(tolerance, tolerance)
    for target in chain.fk(chain.random(3, 5)):
        found = chain.solutions(target, None, config=config)
        assert len(found)
        inside(found, chain, target, config)


@pytest.mark.parametrize("name", ["ur5e", "puma560", "xarm7"])
def test_all_turns_are_inside_the_limits_and_each_once(name):
    """With limits that are full turns away from joint values, to the last bit."""
    chain, config = Chain.load(name), SolveConfig()
    for seed in range(20):
        q = np.random.default_rng(seed).uniform(-np.pi, np.pi, chain.n)
        below, above = np.random.default_rng([seed, 1]).integers(0, 2, (2, chain.n))
        limited = chain.with_limits(np.column_stack([q - TURN * below, q + TURN * above + 1e-12]))
        target = limited.fk(q)
        redundancy = q[6] if name == "xarm7" else None
        found = limited.solutions(target, None, redundancy=redundancy, all_turns=True)
        inside(found, limited, target, config)
        assert (np.abs(found.q - q).max(axis=1) < 1e-6).any()
        for k in range(1, len(found)):
            assert (np.abs(found.q[:k] - found.q[k]).max(axis=1) > 1e-6).all()


@pytest.mark.parametrize("name", ["iiwa14", "xarm7", "panda"])
def test_values_of_the_redundancy_that_are_the_same_count_once(name):
    chain = Chain.load(name)
    q = chain.random(1)
    target = chain.fk(q)
    fixed = chain.arm.closed_form.fixed
    value = 0.3 if fixed is None else q[fixed]
    once = chain.solutions(target, None, redundancy=value)
    twice = chain.solutions(target, None, redundancy=[value, value, value - TURN], near=q)
    assert len(twice) == len(once) > 0
    start = q.copy()
    if fixed is not None:  # at one of the values that are looked at
        start[fixed] = chain.solutions(target, 1).redundancy[0]
        every = chain.solutions(target, None, near=start)
        for k in range(1, len(every)):
            assert (np.abs(every.q[:k] - every.q[k]).max(axis=1) > 1e-6).all()


@pytest.mark.parametrize("structure", ["parallel, meet", "wrist, joint 3 prismatic"])
@pytest.mark.parametrize("offset", [0.0, 1e-7, 1e-6])
def test_a_batch_has_solutions_where_single_calls_have(structure, offset):
    """At poses that the closed form does not decide."""
    for seed in (0, 1, 2):
        chain = random_arm(structure, seed)
        for kind in ("elbow, wrist", "shoulder, wrist"):
            q = singular_configurations(chain, kind, seed, 12)
            q[:, list(KINDS[kind])] += offset
            assert_batch_is_as_single(chain, chain.fk(q))


def assert_batch_is_as_single(chain, targets):
    batch = chain.solutions_batch(targets)
    for row, target in enumerate(targets):
        single = chain.solutions(target, None)
        assert (batch.counts[row] > 0) == (len(single) > 0)
        assert np.isfinite(batch.q[row, : batch.counts[row]]).all()
        assert np.isnan(batch.q[row, batch.counts[row] :]).all()


@pytest.mark.parametrize("name", robots.names())
def test_no_solution_is_outside_the_limits_of_an_arm_without_limits(name):
    chain = Chain.load(name).with_limits(None)
    q = np.random.default_rng(5).uniform(-np.pi, np.pi, (20, chain.n))
    config = SolveConfig(max_restarts=0)
    batch = chain.solve_batch(chain.fk(q), config=config)
    assert not (batch.status == Status.OUTSIDE_LIMITS).any()
    for target in chain.fk(q)[:, :3, 3]:
        assert chain.solve(target, config=config).status is not Status.OUTSIDE_LIMITS


@pytest.mark.parametrize("structure", list(STRUCTURES))
def test_limits_in_which_a_target_is_reached_prove_nothing(structure):
    """A joint at its limit, and the target off by less than the tolerances, outward."""
    config = SolveConfig(1e-4, 1e-4, max_restarts=2)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        free = random_arm(structure, seed)
        q = rng.uniform(-np.pi, np.pi, 6) / np.where(free.prismatic, TURN, 1.0)
        limits = q[:, None] + [-0.4, 0.4]
        joint = int(rng.integers(6))
        limits[joint, 0] = q[joint]
        chain = free.with_limits(limits)
        pose, jacobian = pose_and_jacobian(chain, q)
        push = np.linalg.svd(jacobian)[0][:, -1]
        for sign in (-0.99, 0.99):
            target = pose.copy()
            target[:3, 3] += sign * 1e-4 * push[:3]
            result = chain.solve(target, config=config)
            assert result.status is not Status.UNREACHABLE
            assert result.status is not Status.OUTSIDE_LIMITS or result.restarts > 0


def test_two_spheres_have_the_closed_form_of_seven_joints():
    assert "arm angle" in two_spheres(0).closed_form
