"""A tracker of a whole robot keeps every limit, follows all its targets, and says what it does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import Chain, InvalidInputError, Posture, Robot, TrackStatus, aim, position
from testbed.motion_laws import Limits, count_unstoppable, violations
from testbed.random_trees import random_tree
from testbed.track_targets import circle, line, scenarios
from testbed.whole_robots import random_base
from tests.support.examples import examples, trials
from tests.support.random_trees import weigh
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
    return chain, np.array([q[robot.joint_names.index(name)] for name in chain.joint_names])


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
        rows.append(tracker.run({LEFT: left, RIGHT: right}).q)
    limits = Limits(*g1.limits.T, 3.0, 15.0, np.inf if jerk is None else jerk)
    assert_kept(np.vstack(rows), DT, limits)


@examples(15)
@given(st.integers(0, 10_000), st.sampled_from([0.001, 0.01]), st.sampled_from([None, 50.0]))
def test_any_tree_keeps_its_limits(seed, dt, jerk):
    robot, rng = random_tree(seed), np.random.default_rng(seed)
    links = [link for link, place in robot.model.links.items() if place.joint >= 0]
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
        rows.append(tracker.run(targets).q)
    limits = Limits(*robot.limits.T, velocity, acceleration, np.inf if jerk is None else jerk)
    assert_kept(np.vstack(rows), dt, limits)


def test_one_target_is_followed_as_by_the_chain(g1, start, poses):
    chain, first = arm_to(g1, LEFT, start)
    targets = circle(poses[LEFT], 0.04, 2.0, 2.0, DT)
    run = g1.track(start, DT, **RATES).run({LEFT: targets})
    other = chain.track(first, DT, **RATES).run(targets)
    columns = [g1.joint_names.index(name) for name in chain.joint_names]
    np.testing.assert_allclose(run.q[:, columns], other.q, atol=1e-4)
    still = np.delete(run.q, columns, axis=1)
    np.testing.assert_array_equal(still, np.delete(start, columns)[None].repeat(len(run), axis=0))


def test_a_distant_target_of_a_limb_does_not_delay_other_limbs(g1, start, poses):
    foot = "left_ankle_roll_link"
    far = poses[foot] + [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, -2.0], [0, 0, 0, 0]]
    targets = held({LEFT: poses[LEFT], RIGHT: poses[RIGHT], foot: far}, 1500)
    targets[LEFT][:, 0, 3] += 0.02
    run = g1.track(start, DT, **RATES).run(targets)
    assert run.errors[foot].position_error.min() > 1.0
    for hand in (LEFT, RIGHT):
        assert run.errors[hand].position_error[-500:].max() < 1e-9
    assert run[-1].status in (TrackStatus.AT_LIMIT, TrackStatus.STUCK, TrackStatus.APPROACHING)


@pytest.mark.parametrize("seed", range(trials(6, 60)))
@pytest.mark.parametrize("kind", ["pose", "position"])
def test_two_hands_out_of_reach_come_to_rest_as_near_as_they_can(g1, start, poses, seed, kind):
    rng, far = np.random.default_rng(seed), {}
    for hand in (LEFT, RIGHT):  # they share the waist
        way = rng.normal(size=3)
        far[hand] = poses[hand].copy()
        far[hand][:3, 3] += rng.uniform(0.8, 2.0) * way / np.linalg.norm(way)
        far[hand] = far[hand] if kind == "pose" else far[hand][:3, 3]
    tracker = g1.track(start, DT, **RATES)
    run = tracker.run(held(far, 3000))
    # A waist that turns by half a turn takes a second.
    assert np.abs(run.velocities[2000:]).max() < 1e-3
    later = tracker.run(held(far, 3000))
    change = np.square([later.errors[hand].position_error for hand in far]).sum(axis=0)
    before = np.square([run.errors[hand].position_error[-1] for hand in far]).sum()
    assert change.min() > before - 1e-6


@pytest.mark.parametrize("distance", [0.3, 1.0, 10.0])
def test_a_distant_target_of_a_hand_leaves_the_other_hand_at_its_own(g1, start, poses, distance):
    targets = held({LEFT: poses[LEFT], RIGHT: poses[RIGHT]}, 2000)
    targets[LEFT][:, 0, 3] += distance
    targets[RIGHT][:, 0, 3] += 0.05
    run = g1.track(start, DT, **RATES).run(targets)
    assert run.errors[RIGHT].position_error[1500:].max() < 1e-4


def test_the_order_of_targets_does_not_matter(g1, start, poses):
    targets = smooth(poses, 0.3)
    turned = dict(reversed(targets.items()))
    one, other = (g1.track(start, DT, **RATES).run(each) for each in (targets, turned))
    np.testing.assert_array_equal(one.q, other.q)
    assert tuple(one.errors) == tuple(other.errors) == (LEFT, RIGHT)


def test_mixed_targets_are_followed_also_with_a_base_weights_and_points(g1, start):
    base, moved = random_base(1), np.clip(start + 0.05, *g1.limits.T)
    robot, point = g1.with_base(base), np.array([0.1, 0.0, 0.02])
    poses = robot.fk(moved)
    foot = "left_ankle_roll_link"
    targets = {
        LEFT: weigh(poses[LEFT], (2.0, 2.0)),
        RIGHT: position(poses[RIGHT][:3, 3] + poses[RIGHT][:3, :3] @ point, point=point),
        foot: aim(poses[foot][:3, 3], poses[foot][:3, 2], weight=0.5),
    }
    tracker = robot.track(start, DT, **RATES)
    for _ in range(600):
        result = tracker.step(targets)
    assert result.status is TrackStatus.FOLLOWING
    assert [np.isnan(result.errors[link].orientation_error) for link in targets] == [0, 1, 0]
    found = robot.fk(result.q)
    np.testing.assert_allclose(found[LEFT], poses[LEFT], atol=1e-4)
    at = [*targets[RIGHT].position, 1.0]
    np.testing.assert_allclose(found[RIGHT] @ [*point, 1.0], at, atol=1e-4)


def test_spare_motion_goes_to_the_posture_and_leaves_the_hand(g1, start, poses):
    posture = Posture(dict(zip(g1.joint_names, start + 0.1, strict=True)))
    target = {LEFT: poses[LEFT][:3, 3]}
    run = g1.track(start, DT, **RATES, posture=posture).run(held(target, 4000))
    columns = [g1.joint_names.index(name) for name in arm_to(g1, LEFT, start)[0].joint_names]
    away = np.linalg.norm((run.q - start - 0.1)[:, columns], axis=1)
    assert away[-1] < 0.9 * np.sqrt(len(columns)) * 0.1
    assert run.position_error.max() < 1e-4


def test_joints_that_are_not_active_hold_still(g1, start, poses):
    arm = [name for name in g1.joint_names if name.startswith("left_") and "elbow" not in name]
    moved = {LEFT: poses[LEFT][:3, 3] + [0.03, 0.0, 0.02]}
    run = g1.track(start, DT, **RATES, posture=Posture(active=arm)).run(held(moved, 500))
    others = [i for i, name in enumerate(g1.joint_names) if name not in arm]
    assert run[-1].status is TrackStatus.FOLLOWING
    assert np.ptp(run.q[:, others], axis=0).max() == 0.0


def test_a_state_holds_also_where_joints_that_are_not_active_are(g1, start, poses):
    arm = [name for name in g1.joint_names if name.startswith("left_")]
    targets = {LEFT: np.repeat(poses[LEFT][None, :3, 3], 20, axis=0)}
    posture = Posture(start, active=arm)
    one, other = (g1.track(q, DT, **RATES, posture=posture) for q in (start, 0.5 * start))
    other.run(targets)
    other.state = one.state
    np.testing.assert_array_equal(other.run(targets).q, one.run(targets).q)


def test_a_state_of_other_active_joints_is_refused(g1, start):
    one, other = (
        g1.track(start, DT, **RATES, posture=posture)
        for posture in (None, Posture(active=g1.joint_names[:5]))
    )
    with pytest.raises(
        InvalidInputError, match="expected the state of a tracker with the same mod"
    ):
        other.state = one.state


@pytest.mark.parametrize("seed", [3, 4])
def test_an_invalid_target_of_a_robot_elsewhere_leaves_the_way_to_the_last_valid_ones(
    g1, start, seed
):
    robot = g1.with_base(random_base(seed))
    moved = robot.fk(np.clip(start + 0.1, *g1.limits.T))
    targets = {link: moved[link] for link in (LEFT, RIGHT)}
    tracker = robot.track(start, DT, **RATES)
    tracker.run(held(targets, 100))
    run = tracker.run(held(targets | {RIGHT: np.full(3, np.inf)}, 1000))
    assert (run.status == TrackStatus.INVALID).all()
    assert tracker.step(targets).status is TrackStatus.FOLLOWING


def test_a_joint_that_turns_more_than_once_stops_at_its_limit():
    robot = Robot.load("ur5e")  # joints turn by two turns
    q = np.array([6.0, -1.2, 1.8, -0.6, 1.5, 0.3])
    chain = Chain.load("ur5e")
    ahead = chain.fk(np.linspace(q, q + np.eye(6)[0], 2000))
    run = robot.track(q, DT, **RATES).run({"tip": ahead})
    assert run[-1].status in (TrackStatus.AT_LIMIT, TrackStatus.STUCK)
    assert_kept(run.q, DT, Limits(*robot.limits.T, 3.0, 15.0))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"posture": Posture(active=["pelvis"])},
            "active has 'pelvis', the free base, whose motion has no limits: a tracker holds it "
            "still. Name joints only.",
        ),
        (
            {"max_acceleration": [1.0, 2.0]},
            "max_acceleration has shape (2,) for a robot of 29 joints: expected a number, or one "
            "per joint, shape (29,).",
        ),
        ({"max_velocity": 0.0}, "max_velocity is 0.0: expected above zero."),
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
        (
            {"left_rubber_hnd": [0.0, 0.0, 1.0]},
            "no link named 'left_rubber_hnd' in g1_29dof_rev_1_0; did you mean 'left_rubber_hand'?",
        ),
        ({LEFT: [0.0, 1.0]}, "targets['left_rubber_hand'] has shape (2,): expected (3,) for a pos"),
    ):
        with pytest.raises(InvalidInputError) as error:
            tracker.step(targets)
        assert str(error.value).startswith(message)
