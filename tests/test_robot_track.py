"""A tracker of a whole robot keeps every limit, follows all its targets, and says what it does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.track_targets import circle, line, scenarios
from jointwise import Chain, InvalidInputError, Robot, TrackStatus, aim, robots
from tests.support.motion_laws import Limits, count_unstoppable, violations
from tests.support.random_trees import random_tree
from tests.support.whole_robots import random_base
from tests.test_urdf_tips import BY_NAME

DT = 0.001
LEFT, RIGHT = "left_rubber_hand", "right_rubber_hand"
RATES = {"max_velocity": 3.0, "max_acceleration": 15.0}


@pytest.fixture(scope="module")
def g1():
    return Robot.from_urdf(BY_NAME["g1_29dof_rev_1_0.urdf"], free_base=True)


@pytest.fixture(scope="module")
def start(g1):
    return np.clip(np.full(g1.n, 0.2), *g1.limits.T)


@pytest.fixture(scope="module")
def poses(g1, start):
    return g1.fk(start)


def arm_to(robot, link, q):
    """The chain from the root to a link, and its part of the joint values."""
    chain = robot.chain(robot.link_names[0], link)
    return chain, np.array([q[robot.joint_names.index(name)] for name in chain.names])


def assert_kept(q, dt, limits):
    counts = violations(q, dt, limits)
    assert not any(counts.values()), counts
    assert count_unstoppable(q, dt, limits) == 0


def smooth(poses, seconds):
    """A circle for the left hand and a line for the right one."""
    left = circle(poses[LEFT], 0.04, 2.0, seconds, DT)
    return {LEFT: left, RIGHT: line(poses[RIGHT], 0.05, 2.0, seconds, DT)}


def held(targets, count):
    return {
        link: np.repeat(np.asarray(each)[None], count, axis=0) for link, each in targets.items()
    }


@pytest.mark.parametrize("jerk", [None, 500.0])
def test_two_hands_violate_no_limit_whatever_is_asked(g1, start, jerk):
    tracker, rows = g1.track(start, DT, **RATES, max_jerk=jerk), [[start] * 4]
    both = [
        scenarios(*arm_to(g1, link, start), 4.0, DT, seed) for link, seed in ((LEFT, 1), (RIGHT, 2))
    ]
    for left, right in zip(*both, strict=True):
        rows.append(tracker.run({LEFT: left, RIGHT: right}).joint_angles)
    limits = Limits(*g1.limits.T, 3.0, 15.0, np.inf if jerk is None else jerk)
    assert_kept(np.vstack(rows), DT, limits)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.sampled_from([0.001, 0.01]), st.sampled_from([None, 50.0]))
def test_any_tree_keeps_its_limits(seed, dt, jerk):
    robot, rng = random_tree(seed), np.random.default_rng(seed)
    links = [link for link, place in robot.model.links.items() if place.body >= 0]
    first, n = robot.random(seed), robot.n
    velocity, acceleration = rng.uniform(0.2, 5.0, n), rng.uniform(0.5, 50.0, n)
    tracker = robot.track(
        first, dt, max_velocity=velocity, max_acceleration=acceleration, max_jerk=jerk
    )
    rows = [[first] * 4]
    for turn in range(4):  # other links, and another kind, with every turn
        chosen = rng.choice(links, min(len(links), 3), replace=False).tolist()
        found = robot.fk(robot.random(seed + turn, count=5))
        targets = {link: found[link].repeat(60, axis=0) for link in chosen}
        if turn % 2:
            targets[chosen[0]] = targets[chosen[0]][:, :3, 3] + rng.choice([0.0, 1.0])
        rows.append(tracker.run(targets).joint_angles)
    limits = Limits(*robot.limits.T, velocity, acceleration, np.inf if jerk is None else jerk)
    assert_kept(np.vstack(rows), dt, limits)


def test_smooth_paths_of_two_hands_are_followed_without_lag(g1, start, poses):
    run = g1.track(start, DT, **RATES).run(smooth(poses, 2.0))
    assert run.links == (LEFT, RIGHT)
    assert run.position_error.max() < 1e-9
    assert run.orientation_error.max() < 1e-9
    assert (run.status == TrackStatus.FOLLOWING).all()


def test_one_target_is_followed_as_by_the_chain(g1, start, poses):
    chain, first = arm_to(g1, LEFT, start)
    targets = circle(poses[LEFT], 0.04, 2.0, 2.0, DT)
    run = g1.track(start, DT, **RATES).run({LEFT: targets})
    other = chain.track(first, DT, **RATES).run(targets)
    columns = [g1.joint_names.index(name) for name in chain.names]
    np.testing.assert_allclose(run.joint_angles[:, columns], other.joint_angles, atol=1e-4)
    still = np.delete(run.joint_angles, columns, axis=1)
    np.testing.assert_array_equal(still, np.delete(start, columns)[None].repeat(len(run), axis=0))


def test_steps_and_a_run_give_the_same_bits(g1, start, poses):
    targets = smooth(poses, 0.3)
    targets[LEFT][50:] = poses[LEFT] + [[0, 0, 0, 1.0], *[[0] * 4] * 3]  # a jump of a metre
    targets[RIGHT][100:110, 0, 0] = np.nan
    one, many = (g1.track(start, DT, **RATES, max_jerk=500.0) for _ in range(2))
    run = many.run(targets)
    for i in range(len(run)):
        step = one.step({link: each[i] for link, each in targets.items()})
        np.testing.assert_array_equal(step.joint_angles, run.joint_angles[i])
        np.testing.assert_array_equal(step.velocities, run.velocities[i])
        np.testing.assert_array_equal(list(step.errors.values()), list(run[i].errors.values()))
        assert step.status is run[i].status
    np.testing.assert_array_equal(one.state, many.state)


def test_the_order_of_targets_does_not_matter(g1, start, poses):
    targets = smooth(poses, 0.3)
    turned = dict(reversed(targets.items()))
    one, other = (g1.track(start, DT, **RATES).run(each) for each in (targets, turned))
    np.testing.assert_array_equal(one.joint_angles, other.joint_angles)
    assert one.links == other.links


def test_a_state_is_copied_saved_and_restored(g1, start, poses):
    first, targets = smooth(poses, 0.2), smooth(poses, 0.4)
    tracker = g1.track(start, DT, **RATES, max_jerk=500.0)
    tracker.run(first)
    saved, twin = tracker.state, tracker.copy()
    expected = tracker.run(targets).joint_angles
    np.testing.assert_array_equal(twin.run(targets).joint_angles, expected)
    tracker.state = saved
    np.testing.assert_array_equal(tracker.run(targets).joint_angles, expected)
    other = g1.track(start, DT, **RATES, max_jerk=500.0, active=g1.joint_names[:5])
    with pytest.raises(
        InvalidInputError, match="expected the state of a tracker with the same mod"
    ):
        other.state = saved


@pytest.mark.parametrize(
    "bad", [np.full((4, 4), np.nan), np.diag([1.0, 1.0, -1.0, 1.0]), np.full(3, np.inf)]
)
@pytest.mark.parametrize("base", [None, random_base(3)])
def test_an_invalid_target_does_not_stop_the_way_to_the_last_valid_ones(g1, start, bad, base):
    moved = g1.fk(np.clip(start + 0.1, *g1.limits.T), base)
    targets = {link: moved[link] for link in (LEFT, RIGHT)}
    tracker = g1.track(start, DT, **RATES, base=base)
    tracker.run(held(targets, 100))
    result = tracker.step({LEFT: targets[LEFT], RIGHT: bad})
    assert result.status is TrackStatus.INVALID
    assert np.isnan(list(result.errors.values())).all()
    run = tracker.run(held({LEFT: targets[LEFT], RIGHT: bad}, 1000))
    assert np.abs(run.velocities[-1]).max() < 1e-9
    assert tracker.step(targets).status is TrackStatus.FOLLOWING


def test_out_of_reach_it_comes_to_a_stop_and_comes_back(g1, start, poses):
    tracker = g1.track(start, DT, max_velocity=3.0, max_acceleration=20.0)
    far = {LEFT: [1.2, 0.8, 0.5], RIGHT: [1.2, -0.8, 0.5]}
    away = {link: np.linspace(poses[link][:3, 3], far[link], 2000) for link in far}
    tracker.run(away)
    gone = tracker.run(held(far, 3000))
    assert gone[-1].status in (TrackStatus.BLOCKED, TrackStatus.OUT_OF_REACH)
    assert np.abs(gone.velocities[-200:]).max() < 1e-3
    back = tracker.run({link: each[::-1] for link, each in away.items()})
    for _ in range(300):
        last = tracker.step({link: each[0] for link, each in away.items()})
    assert last.status is TrackStatus.FOLLOWING
    assert_kept(
        np.vstack([gone.joint_angles, back.joint_angles]), DT, Limits(*g1.limits.T, 3.0, 20.0)
    )


def test_a_blocked_branch_is_kept_until_a_switch_is_asked_for():
    links = "".join(f'<link name="{name}"/>' for name in ("base", "upper", "lower", "hand"))
    ends = {"shoulder": (-2.0, 1.5), "elbow": (-2.5, 2.5)}
    joints = "".join(
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{x} 0 0"/><axis xyz="0 0 1"/>'
        f'<limit lower="{ends[name][0]}" upper="{ends[name][1]}" velocity="1" effort="1"/></joint>'
        for name, parent, child, x in (
            ("shoulder", "base", "upper", 0),
            ("elbow", "upper", "lower", 1),
        )
    )
    hand = '<joint name="tip" type="fixed"><parent link="lower"/><child link="hand"/>'
    text = f'<robot name="planar">{links}{joints}{hand}<origin xyz="1 0 0"/></joint></robot>'
    robot = Robot.from_urdf(text)
    target = {"hand": 1.2 * np.array([np.cos(1.0), np.sin(1.0), 0.0])}
    tracker = robot.track([1.0, -1.855], DT, max_velocity=True, max_acceleration=10.0)
    run = tracker.run(held(target, 3000))
    assert run[-1].status is TrackStatus.BLOCKED
    assert run.joint_angles[-1, 0] == 1.5
    assert (run.joint_angles[:, 1] < 0.0).all()
    assert not tracker.switch({"hand": [9.0, 0.0, 0.0]})
    assert tracker.switch(target)
    after = tracker.run(held(target, 6000))
    assert after[-1].status is TrackStatus.FOLLOWING
    assert after.joint_angles[-1, 1] > 0.0
    q = np.vstack([run.joint_angles, after.joint_angles])
    assert_kept(q, DT, Limits(*robot.limits.T, 1.0, 10.0))


def test_every_kind_of_target_is_followed_also_with_a_base_and_offsets(g1, start):
    base, moved = random_base(1), np.clip(start + 0.05, *g1.limits.T)
    poses, point = g1.fk(moved, base), np.array([0.1, 0.0, 0.02])
    foot = "left_ankle_roll_link"
    targets = {
        LEFT: poses[LEFT],
        RIGHT: poses[RIGHT][:3, 3] + poses[RIGHT][:3, :3] @ point,
        foot: aim(poses[foot][:3, 3], poses[foot][:3, 2]),
    }
    tracker = g1.track(
        start, DT, **RATES, base=base, offsets={RIGHT: point}, weights={LEFT: 2.0, foot: 0.5}
    )
    for _ in range(600):
        result = tracker.step(targets)
    assert result.status is TrackStatus.FOLLOWING
    assert [np.isnan(result.errors[link].orientation_error) for link in targets] == [0, 1, 0]
    found = g1.fk(result.joint_angles, base)
    np.testing.assert_allclose(found[LEFT], targets[LEFT], atol=1e-4)
    np.testing.assert_allclose(found[RIGHT] @ [*point, 1.0], [*targets[RIGHT], 1.0], atol=1e-4)


def test_spare_motion_goes_to_rest_and_leaves_the_hand(g1, start, poses):
    rest = dict(zip(g1.joint_names, start + 0.1, strict=True))
    target = {LEFT: poses[LEFT][:3, 3]}
    run = g1.track(start, DT, **RATES, rest=rest).run(held(target, 4000))
    columns = [g1.joint_names.index(name) for name in arm_to(g1, LEFT, start)[0].names]
    away = np.linalg.norm((run.joint_angles - start - 0.1)[:, columns], axis=1)
    assert away[-1] < 0.9 * np.sqrt(len(columns)) * 0.1
    assert run.position_error.max() < 1e-4


def test_joints_that_are_not_active_hold_still(g1, start, poses):
    arm = [name for name in g1.joint_names if name.startswith("left_") and "elbow" not in name]
    moved = {LEFT: poses[LEFT][:3, 3] + [0.03, 0.0, 0.02]}
    run = g1.track(start, DT, **RATES, active=arm).run(held(moved, 500))
    others = [i for i, name in enumerate(g1.joint_names) if name not in arm]
    assert run[-1].status is TrackStatus.FOLLOWING
    assert np.ptp(run.joint_angles[:, others], axis=0).max() == 0.0


def test_a_state_holds_also_where_joints_that_are_not_active_are(g1, start, poses):
    arm = [name for name in g1.joint_names if name.startswith("left_")]
    targets = {LEFT: np.repeat(poses[LEFT][None, :3, 3], 20, axis=0)}
    one, other = (g1.track(q, DT, **RATES, rest=start, active=arm) for q in (start, 0.5 * start))
    other.run(targets)
    other.state = one.state
    np.testing.assert_array_equal(other.run(targets).joint_angles, one.run(targets).joint_angles)


def test_a_joint_that_turns_more_than_once_stops_at_its_limit():
    robot = Robot.load("ur5e")  # joints turn by two turns
    q = np.array([6.0, -1.2, 1.8, -0.6, 1.5, 0.3])
    chain = Chain.load("ur5e")
    ahead = chain.fk(np.linspace(q, q + np.eye(6)[0], 2000))
    run = robot.track(q, DT, **RATES).run({"tip": ahead})
    assert run[-1].status in (TrackStatus.BLOCKED, TrackStatus.OUT_OF_REACH)
    assert_kept(run.joint_angles, DT, Limits(*robot.limits.T, 3.0, 15.0))


def test_results_are_read_only(g1, start, poses):
    tracker = g1.track(start, DT, **RATES)
    result, run = tracker.step({LEFT: poses[LEFT]}), tracker.run({LEFT: poses[LEFT][None]})
    for array in (result.joint_angles, result.velocities, run.position_error, run.status):
        assert not array.flags.writeable
    with pytest.raises(TypeError):
        result.errors[LEFT] = None
    assert run.summary() == "1 of 1 steps followed (100.000%)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"active": ["pelvis"]},
            "active has 'pelvis', the free base, whose motion has no limits: a tracker holds it at "
            "the pose base. Name joints only.",
        ),
        ({"active": "pelvis"}, "active is 'pelvis': expected a list of joint names."),
        (
            {"max_acceleration": [1.0, 2.0]},
            "max_acceleration has shape (2,) for a robot of 29 joints: expected a number, or one "
            "per joint, shape (29,).",
        ),
        ({"max_velocity": 0.0}, "max_velocity is 0.0: expected above zero."),
        (
            {"weights": {"left_rubber_hnd": 2.0}},
            "no link named 'left_rubber_hnd' in g1_29dof_rev_1_0; did you mean 'left_rubber_hand'?",
        ),
        (
            {"start": [0.0]},
            "start has 1 value for a robot of 29 joints: expected one value per joint, shape (29",
        ),
    ],
)
def test_wrong_arguments_are_refused(g1, start, arguments, message):
    with pytest.raises(InvalidInputError) as error:
        g1.track(**{"start": start, "dt": DT, **RATES, **arguments})
    assert str(error.value).startswith(message)


def test_wrong_targets_are_refused(g1, start):
    tracker = g1.track(start, DT, **RATES)
    for targets, message in (
        ({}, "targets is empty: expected a target for at least one link."),
        ({"pelvis": [0.0, 0.0, 1.0]}, "no active joint moves 'pelvis': no joint is between it and"),
        ({LEFT: [0.0, 1.0]}, "targets['left_rubber_hand'] has shape (2,): expected (3,) for a pos"),
    ):
        with pytest.raises(InvalidInputError) as error:
            tracker.step(targets)
        assert str(error.value).startswith(message)


def test_a_start_outside_the_limits_is_brought_in():
    robot = Robot.load("panda")
    first = robots.panda().home + np.array([0, 0, 0, 0, 0, 0, 3.5])
    run = robot.track(first, DT, **RATES).run({"tip": np.full((2000, 3), np.nan)})
    np.testing.assert_allclose(run.joint_angles[-1], np.clip(first, *robot.limits.T), atol=1e-12)
    wide = Limits(np.full(robot.n, -9.0), np.full(robot.n, 9.0), 3.0, 15.0)
    assert_kept(np.vstack([[first] * 4, run.joint_angles]), DT, wide)
