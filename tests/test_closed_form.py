"""Closed forms: which arms have one, and that no solution is ever missed."""

from dataclasses import replace

import numpy as np
import pytest

from jointwise import Chain, InvalidInputError, SolveConfig, Status, robots
from testbed import twin
from testbed.closed_arms import STRUCTURES, chain_of, random_arm
from testbed.searches import searched
from testbed.singular import (
    KINDS,
    difference,
    over_full_turns,
    singular_configurations,
    singular_values,
)
from testbed.singular_checks import Tally, check_singularity

SIX = [name for name in robots.names() if Chain.load(name).n == 6]
DESCRIPTIONS = {
    "fetch": "joint 1 fixed: spherical wrist, axes 2 and 3 meet",
    "fr3": "joint 7 fixed: spherical shoulder, axes 5 and 6 meet",
    "gen3": None,
    "iiwa14": "spherical shoulder and wrist, for each value of the arm angle",
    "iiwa7": "spherical shoulder and wrist, for each value of the arm angle",
    "irb120": "spherical wrist, axes 2 and 3 parallel",
    "jaco2": "spherical wrist, axes 2 and 3 parallel",
    "kr6_r900": "spherical wrist, axes 2 and 3 parallel",
    "panda": "joint 7 fixed: spherical shoulder, axes 5 and 6 meet",
    "puma560": "spherical wrist, axes 2 and 3 parallel",
    "sawyer": None,
    "so101": None,
    "stanford": "spherical wrist, joint 3 prismatic, at a right angle to axis 2",
    "ur10e": "axes 2, 3 and 4 parallel, axes 5 and 6 meet",
    "ur3e": "axes 2, 3 and 4 parallel, axes 5 and 6 meet",
    "ur5": "axes 2, 3 and 4 parallel, axes 5 and 6 meet",
    "ur5e": "axes 2, 3 and 4 parallel, axes 5 and 6 meet",
    "xarm7": "joint 7 fixed: spherical shoulder, axes 5 and 6 meet",
}


def assert_none_missed(chain, q):
    """The generating configuration is among the solutions, and every one reaches the target."""
    found = chain.solutions_batch(chain.fk(q))
    assert found.q.shape[1] <= 16
    for k, (made, count) in enumerate(zip(q, found.counts, strict=True)):
        solutions = found.q[k, :count]
        assert not np.isnan(solutions).any()
        assert difference(chain, solutions, made).min() < 1e-5, (k, made)
        target = twin.tip_pose(chain.arm.links, chain.prismatic, made)
        for each in solutions:
            errors = twin.pose_errors(chain.arm.links, chain.prismatic, each, target)
            assert max(errors) < 1e-9
    lower, upper = chain.limits.T
    filled = found.q[~np.isnan(found.q).any(axis=2)]
    assert ((filled >= lower) & (filled <= upper)).all()
    return found


def test_every_robot_is_of_its_structure():
    assert {name: Chain.load(name).closed_form for name in robots.names()} == DESCRIPTIONS


def test_print_and_table_show_the_closed_form():
    line = f"solutions in closed form: {DESCRIPTIONS['ur5e']}"
    assert str(robots.ur5e()).splitlines()[-1] == line
    assert "closed form" not in str(robots.sawyer())


@pytest.mark.parametrize("name", SIX)
def test_no_solution_of_a_robot_is_missed(name):
    chain = Chain.load(name)
    found = assert_none_missed(chain, chain.random(1, 200))
    assert found.complete.mean() > 0.98
    free = chain.with_limits(None)
    found = assert_none_missed(free, over_full_turns(chain, 2, 200))
    assert found.complete.mean() > 0.98
    assert (found.counts[found.complete] % 2 == 0).all()


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_no_solution_of_a_random_arm_is_missed(structure, backward):
    for seed in range(3):
        chain = random_arm(structure, seed, backward)
        assert chain.closed_form is not None
        found = assert_none_missed(chain, over_full_turns(chain, seed, 60))
        assert (found.counts[found.complete] % 2 == 0).all()
        assert (found.counts <= 8).all()


def test_a_random_arm_has_no_closed_form():
    rng = np.random.default_rng(0)
    for n in (5, 6, 7, 8):
        axes = rng.normal(size=(n, 3)), rng.uniform(-0.5, 0.5, (n, 3))
        assert chain_of(*axes, [False] * n).closed_form is None


def test_an_arm_that_is_singular_everywhere_has_no_closed_form():
    z, points = np.tile([0.0, 0.0, 1.0], (6, 1)), np.random.default_rng(1).uniform(-1, 1, (6, 3))
    assert chain_of(z, points, [False] * 6).closed_form is None


def assert_nothing_false_is_said(chain, kind, count):
    """At a singularity and near it: never empty, nothing claimed that is not so, all solved."""
    tally = Tally()
    check_singularity(chain, kind, 4, count, tally)
    assert (tally.empty, tally.unsaid, tally.refused, tally.unsolved) == (0, 0, 0, 0)
    assert tally.worst < 1e-6
    return tally


@pytest.mark.parametrize("name", ["ur5e", "puma560", "irb120", "jaco2", "stanford"])
@pytest.mark.parametrize("kind", KINDS)
def test_at_singularities_nothing_false_is_said_of_a_robot(name, kind):
    tally = assert_nothing_false_is_said(Chain.load(name).with_limits(None), kind, 6)
    assert tally.poses >= 12


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_at_singularities_nothing_false_is_said_of_a_random_arm(structure, backward):
    kind = list(KINDS)[list(STRUCTURES).index(structure) % len(KINDS)]
    assert_nothing_false_is_said(random_arm(structure, 3, backward), kind, 6)


def test_where_axes_coincide_there_is_a_continuum():
    for name in ("ur5e", "puma560", "irb120", "jaco2", "kr6_r900"):
        chain = Chain.load(name).with_limits(None)
        for q in over_full_turns(chain, 4, 5):
            q[4] = 0.0  # axes 4 and 6 coincide, or are parallel
            found = chain.solutions(chain.fk(q), None)
            assert len(found)
            assert found.continuum
            assert not found.complete


def test_solutions_are_ordered_complete_and_inside_the_limits():
    chain = robots.ur5e()
    q, near = chain.random(3), chain.random(4)
    target = chain.fk(q)
    found = chain.solutions(target, None, near=near)
    assert repr(found) == "<8 solutions, complete>"
    changes = np.abs(found.q - near).max(axis=1)
    assert (np.diff(changes) >= 0.0).all()
    assert not chain.solutions(target, 3).complete
    assert len(chain.solutions(target, 3)) == 3
    first = chain.solutions(target)[0]
    nearest = chain.solutions(target, near=chain.mid_range)[0]
    assert np.array_equal(first.q, nearest.q)
    exact = chain.solutions(target, None, near=q)[0]
    np.testing.assert_allclose(exact.q, q, atol=1e-9)


def test_all_turns_are_all_that_fit_inside_the_limits():
    chain = robots.ur5e()  # most joints have two turns, the elbow one
    target = chain.fk(chain.random(3))
    once, every = chain.solutions(target, None), chain.solutions(target, None, all_turns=True)
    turns = np.floor((chain.limits[:, 1] - chain.limits[:, 0]) / (2.0 * np.pi) + 1e-9)
    assert len(every) == len(once) * turns.prod()
    values = np.array([each.q for each in every])
    assert len(np.unique(values.round(6), axis=0)) == len(every)
    lower, upper = chain.limits.T
    assert ((values >= lower) & (values <= upper)).all()


def test_a_batch_has_the_solutions_of_single_calls():
    chain = robots.puma560()
    targets = chain.fk(chain.random(5, 20))
    targets[3, 0, 0] = np.nan
    targets[4, :3, 3] = 9.0
    batch = chain.solutions_batch(targets)
    assert batch.counts[3] == batch.counts[4] == 0
    assert not batch.complete[3]
    assert batch.complete[4]  # it is proven that there are none
    for k in (0, 1, 2, *range(5, 20)):
        found = {tuple(each.q.round(9)) for each in chain.solutions(targets[k], None)}
        values = batch.q[k, : batch.counts[k]]
        assert found == {tuple(each) for each in values.round(9)}
    with pytest.raises(ValueError, match="read-only"):
        batch.counts[0] = 1


def test_a_solve_returns_the_nearest_of_all_solutions():
    chain = robots.irb120()
    for seed in range(20):
        target, start = chain.fk(chain.random(seed)), chain.random(seed + 100)
        result = chain.solve(target, start)
        assert result.converged
        every = chain.solutions(target, None, near=start, all_turns=True)
        changes = [np.abs(each.q - start).max() for each in every]
        assert np.abs(result.q - start).max() == pytest.approx(min(changes), abs=1e-9)


@pytest.mark.parametrize("name", ["ur5e", "irb120", "jaco2"])
def test_unreachable_is_proven_and_right(name):
    chain, statuses = Chain.load(name), set()
    rng = np.random.default_rng(7)
    many = SolveConfig(max_restarts=60)
    for pose in chain.fk(chain.random(9, 40)):
        target = pose.copy()
        target[:3, 3] = rng.uniform(-1.1, 1.1, 3) * chain.max_reach
        result = chain.solve(target)
        statuses.add(result.status)
        if result.status is Status.UNREACHABLE:
            free = chain.with_limits(None)
            assert not free.solutions(target)
            assert result.restarts == 0
            assert not _searched(free, target, many)
        elif result.status is Status.OUTSIDE_LIMITS:
            assert chain.with_limits(None).solutions(target)
            assert not _searched(chain, target, many)
    assert Status.UNREACHABLE in statuses


def _searched(chain, target, config):
    """Whether the search without a closed form finds a solution."""
    from jointwise.backends import cpu
    from jointwise.config import criteria_of

    q = chain.mid_range.copy()
    weights = (1.0, 1.0, 1.0, 1.0)
    return cpu.search(chain.arm.packed, target, weights, criteria_of(config, False), q)[0] == 0


def test_an_arm_that_nearly_has_a_structure_starts_from_its_solutions():
    for name in ("ur5e", "puma560"):
        chain = Chain.load(name)
        links = chain.arm.links.copy()
        rng = np.random.default_rng(1)
        for link in links:
            small = np.linalg.qr(np.eye(3) + rng.normal(0.0, 1e-4, (3, 3)))[0]
            link[:, :3] = link[:, :3] @ (small * np.sign(np.diag(small)))
            link[:, 3] += rng.normal(0.0, 1e-4, 3)
        calibrated = chain_from_links(chain, links)
        assert calibrated.closed_form == f"nearly {DESCRIPTIONS[name]}"
        for seed in range(10):
            q = chain.random(seed)
            found = calibrated.solutions(calibrated.fk(q), None)
            assert not found.complete
            values = np.array([each.q for each in found])
            assert difference(chain, values, q).min() < 1e-5


def chain_from_links(chain, links):
    from jointwise.model.arm import arm_model

    return replace(chain, arm=arm_model(links, chain.prismatic, chain.limits))


def arm_angle(chain, q):
    """The arm angle of an arm with spherical shoulder and wrist, from its frames."""
    frames = chain.joint_frames(q)
    shoulder, elbow, wrist = frames[1, :3, 3], frames[3, :3, 3], frames[5, :3, 3]
    axis = frames[0, :3, 2]
    # The frames of an iiwa are beside the axes' common points, along axes 2, 4 and 6.
    shoulder = closest(shoulder, frames[1, :3, 2], frames[0, :3, 3], axis)
    wrist = closest(wrist, frames[5, :3, 2], frames[6, :3, 3], frames[6, :3, 2])
    elbow = elbow + frames[3, :3, 2] * (frames[3, :3, 2] @ (shoulder - elbow))
    line = (wrist - shoulder) / np.linalg.norm(wrist - shoulder)
    from_axis = axis - line * (axis @ line)
    to_elbow = elbow - shoulder
    return np.arctan2(line @ np.cross(from_axis, to_elbow), from_axis @ to_elbow)


def closest(p, u, q, v):
    """The point of the line p + t u that is closest to the line q + s v."""
    t, _ = np.linalg.lstsq(np.column_stack([u, -v]), q - p, rcond=None)[0]
    return p + t * u


@pytest.mark.parametrize("name", ["panda", "fr3", "xarm7", "fetch", "iiwa7", "iiwa14"])
def test_seven_joints_have_all_solutions_for_each_redundancy(name):
    chain = Chain.load(name)
    fixed = chain.arm.closed_form.fixed
    for arm, values in ((chain, chain.random(6, 40)), (chain.with_limits(None), None)):
        q = over_full_turns(chain, 6, 40) if values is None else values
        redundancy = [arm_angle(arm, each) if fixed is None else each[fixed] for each in q]
        batch = arm.solutions_batch(arm.fk(q), redundancy=redundancy)
        for k, made in enumerate(q):
            assert difference(arm, batch.q[k, : batch.counts[k]], made).min() < 1e-5
        found = arm.solutions(arm.fk(q[0]), None, redundancy=redundancy[0])
        assert found.complete
        assert len(found) == batch.counts[0]
        assert (found.redundancy == redundancy[0]).all()
        assert not arm.solutions(arm.fk(q[0])).complete


@pytest.mark.parametrize("name", ["panda", "iiwa14"])
def test_intervals_of_the_redundancy_are_where_solutions_exist(name):
    chain = Chain.load(name)
    for seed in range(5):
        q = chain.random(seed)
        target = chain.fk(q)
        intervals = chain.redundancy_intervals(target)
        assert (intervals[:, 0] <= intervals[:, 1]).all()
        value = q[6] if name == "panda" else arm_angle(chain, q)
        inside = (intervals[:, 0] - 1e-3 <= value) & (value <= intervals[:, 1] + 1e-3)
        assert inside.any()
        for low, high in intervals:
            assert chain.solutions(target, None, redundancy=low + 1e-6 * (high - low))
            middle = 0.5 * (low + high)
            assert chain.solutions(target, None, redundancy=[middle])


def test_what_has_no_redundancy_refuses_it():
    ur5e, panda = robots.ur5e(), robots.panda()
    with pytest.raises(
        InvalidInputError, match=r"^redundancy is given: expected None, because only"
    ):
        ur5e.solutions(ur5e.fk(ur5e.mid_range), redundancy=0.3)
    with pytest.raises(InvalidInputError, match=r"^this arm or target has no redundancy"):
        ur5e.redundancy_intervals(ur5e.fk(ur5e.mid_range))
    with pytest.raises(
        InvalidInputError, match=r"^redundancy is None: expected a value of the arm"
    ):
        panda.solutions_batch(panda.fk(panda.random(1, 2)))
    with pytest.raises(InvalidInputError, match=r"^this arm has no closed form, or the targets"):
        robots.sawyer().solutions_batch(np.eye(4)[None])


@pytest.mark.parametrize("offset", [1e-5, 3e-5, 1e-4])
def test_near_two_singularities_nothing_is_proven_that_is_not_so(offset):
    chain = robots.ur5e().with_limits(None)  # its axes are parallel to 1e-9 only
    for q in over_full_turns(chain, 8, 100):
        q[2] = q[4] = offset
        found = chain.solutions(chain.fk(q), None)
        assert len(found)
        if found.complete:
            assert difference(chain, found.q, q).min() < 1e-3


@pytest.mark.parametrize("offset", [1e-5, 3e-5, 1e-4])
@pytest.mark.parametrize(
    ("name", "joints"),
    [("stanford", [2]), ("stanford", [2, 4]), ("puma560", [1, 4]), ("irb120", [2, 4])],
)
def test_errors_multiply_where_singular_joints_follow_each_other(name, joints, offset):
    chain = Chain.load(name).with_limits(None)
    q, rng = over_full_turns(chain, 11, 100), np.random.default_rng(1)
    made = q.copy()
    for joint in joints:
        made[:, joint] = singular_values(chain, q, joint, rng) + offset
    made = made[np.isfinite(made).all(axis=1)]
    assert len(made) > 90
    found = chain.solutions_batch(chain.fk(made))
    for k in range(len(made)):
        apart = difference(chain, found.q[k, : found.counts[k]], made[k])
        assert len(apart)
        assert apart.min() < 1e-5 or (found.continuum[k] and not found.complete[k])


def test_limits_near_a_straight_elbow_block_no_pose_that_the_tolerances_allow():
    """An elbow that is off by 3e-3 rad moves the end effector by less than 1e-6 m."""
    free, reached = robots.ur5e().with_limits(None), 0
    for q in singular_configurations(free, "elbow", 3, 20):
        limits = q[:, None] + [-0.5, 0.5]
        limits[2] = q[2] + 3e-3, q[2] + 1.0
        chain, target = free.with_limits(limits), free.fk(q)
        if searched(chain, target[None], 100)[0]:
            reached += 1
            assert chain.solve(target).converged
    assert reached > 3


def test_no_poses_have_no_rows():
    found = robots.ur5e().solutions_batch(np.empty((0, 4, 4)))
    assert found.q.shape == (0, 8, 6)
    assert len(found) == 0


def test_the_fixed_joint_has_the_value_that_was_asked_for_not_one_a_turn_away():
    arm = robots.xarm7()
    q = arm.random(1)
    assert q[6] > np.pi
    found = arm.solutions(arm.fk(q), redundancy=q[6])
    assert len(found) > 0
    assert (found.q[:, 6] == q[6]).all()
    assert max(each.position_error for each in found) < 1e-9


def test_count_counts_full_turns_too():
    arm = robots.ur5e()
    target = arm.fk([0.1, -1.0, 1.0, 0.2, 0.5, 0.3])
    every = arm.solutions(target, count=None, all_turns=True)
    some = arm.solutions(target, count=3, all_turns=True)
    assert len(every) > 8
    assert every.complete
    assert len(some) == 3
    assert not some.complete


def test_redundancy_of_six_joints_is_refused_for_many_poses():
    arm = robots.ur5e()
    with pytest.raises(InvalidInputError) as refused:
        arm.solutions_batch(arm.fk(arm.random(1, 2)), redundancy=0.0)
    assert str(refused.value) == (
        "redundancy is given: expected None, because an arm with six joints has none. See "
        "chain.closed_form."
    )
