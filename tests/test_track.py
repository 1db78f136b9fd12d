"""Tracking keeps every limit whatever the target is, follows what it can, and says what it does."""

from math import pi

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.track_targets import circle, far_and_back, line, scenarios
from jointwise import Chain, InvalidInputError, TrackStatus, aim, robots, two_link_planar
from jointwise.kernels.motion_limits import stopping_step
from tests.support.arms import chains
from tests.support.motion_laws import Limits, count_unstoppable, violations

DT = 0.001
BENT = {
    "panda": np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8]),
    "ur5e": np.array([0.0, -1.2, 1.8, -0.6, 1.5, 0.3]),
    "so101": np.array([0.0, 0.3, -0.3, 0.5, 0.2]),
}
PANDA, START = robots.panda(), BENT["panda"]
RATES = {"max_velocity": 2.0, "max_acceleration": 10.0}

rates = st.floats(0.2, 20.0)
seeds = st.integers(0, 10_000)


def limits_of(chain, velocity, acceleration, jerk=None):
    return Limits(*chain.limits.T, velocity, acceleration, np.inf if jerk is None else jerk)


def assert_kept(q, dt, limits):
    counts = violations(q, dt, limits)
    assert not any(counts.values()), counts
    assert count_unstoppable(q, dt, limits) == 0


def from_rest(start, run):
    return np.vstack([[start] * 4, run.joint_angles])


@pytest.mark.parametrize("name", BENT)
@pytest.mark.parametrize("jerk", [None, 300.0])
def test_all_that_can_be_asked_violates_no_limit(name, jerk):
    chain, start = Chain.load(name), BENT[name]
    tracker = chain.track(start, DT, **RATES, max_jerk=jerk)
    runs = [tracker.run(targets) for targets in scenarios(chain, start, 6.0, DT, 3)]
    q = np.vstack([from_rest(start, runs[0]), *[run.joint_angles for run in runs[1:]]])
    assert_kept(q, DT, limits_of(chain, 2.0, 10.0, jerk))


@settings(max_examples=25)
@given(
    chains,
    st.sampled_from([0.001, 0.004, 0.02]),
    rates,
    rates,
    st.sampled_from([None, 5.0, 200.0]),
    seeds,
)
def test_any_arm_keeps_its_limits(rows, dt, velocity, acceleration, jerk, seed):
    ends = np.sort(np.random.default_rng(seed).uniform(-3.0, 3.0, (len(rows), 2)), axis=1)
    chain = Chain.from_dh(rows, limits=ends)
    start = chain.random(seed)
    tracker = chain.track(
        start, dt, max_velocity=velocity, max_acceleration=acceleration, max_jerk=jerk
    )
    runs = [tracker.run(targets) for targets in scenarios(chain, start, 900 * dt, dt, seed)]
    q = np.vstack([from_rest(start, runs[0]), *[run.joint_angles for run in runs[1:]]])
    assert np.isfinite(q).all()
    assert_kept(q, dt, limits_of(chain, velocity, acceleration, jerk))


@given(st.floats(0.0, 10.0), st.floats(1e-6, 1.0), st.floats(1e-6, 1.0))
def test_braking_after_the_largest_step_uses_all_of_the_distance(distance, change, max_step):
    step = stopping_step(distance, change, max_step)
    travelled, left = 0.0, step
    while left > 0.0:
        travelled, left = travelled + left, left - change
    assert travelled <= distance * (1.0 + 1e-9) + 1e-12
    assert step == max_step or travelled == pytest.approx(distance, rel=1e-6, abs=1e-9)


@settings(max_examples=20)
@example(0, 1.0, None)  # braking for long, rounding errors added up to a violation
@example(4, 0.5, None)
@given(seeds, rates, st.sampled_from([None, 100.0]))
def test_stopping_is_always_possible(seed, acceleration, jerk):
    tracker = PANDA.track(START, DT, max_velocity=2.0, max_acceleration=acceleration, max_jerk=jerk)
    for targets in scenarios(PANDA, START, 0.6, DT, seed):
        tracker.run(targets)
        # Without a valid target the arm goes on to the last one, and stops there.
        run = tracker.copy().run(np.full((20_000, 4, 4), np.nan))
        assert (run.status == TrackStatus.INVALID).all()
        assert np.abs(run.velocities[-1]).max() < 1e-9
        counts = violations(run.joint_angles, DT, limits_of(PANDA, 2.0, acceleration, jerk))
        assert not any(counts.values()), counts


@settings(max_examples=15)
@given(seeds, st.sampled_from([None, 300.0]))
def test_limits_scaled_by_two_never_slow_it(seed, jerk):
    target = PANDA.fk(
        np.clip(START + np.random.default_rng(seed).uniform(-0.4, 0.4, 7), *PANDA.limits.T)
    )
    steps = []
    for scale in (1.0, 2.0):
        tracker = PANDA.track(
            START,
            DT,
            max_velocity=scale * 1.0,
            max_acceleration=scale * 5.0,
            max_jerk=None if jerk is None else scale * jerk,
        )
        run = tracker.run(np.repeat(target[None], 3000, axis=0))
        assert run[-1].status is TrackStatus.FOLLOWING
        steps.append(np.flatnonzero(run.status != TrackStatus.FOLLOWING).max(initial=-1))
    assert steps[1] <= steps[0] + 1


@settings(max_examples=15)
@given(seeds, st.sampled_from([None, 300.0]))
def test_halving_dt_changes_the_path_little(seed, jerk):
    rng = np.random.default_rng(seed)
    target = PANDA.fk(np.clip(START + rng.uniform(-0.4, 0.4, 7), *PANDA.limits.T))
    paths = []
    for dt in (0.002, 0.001):
        tracker = PANDA.track(START, dt, **RATES, max_jerk=jerk)
        run = tracker.run(np.repeat(target[None], round(1.0 / dt), axis=0))
        paths.append(run.joint_angles[round(0.002 / dt) - 1 :: round(0.002 / dt)])
    # Two steps at full speed: the later arrival of the first command, and of the moving average.
    assert np.abs(paths[0] - paths[1]).max() <= 2 * 0.002 * 2.0


@pytest.mark.parametrize("path", [circle, line])
@pytest.mark.parametrize(("jerk", "error"), [(None, 1e-9), (5000.0, 1e-5)])
def test_a_smooth_path_is_followed_without_lag(path, jerk, error):
    targets = path(PANDA.fk(START), 0.1, 2.0, 3.0, DT)
    tracker = PANDA.track(START, DT, max_velocity=2.0, max_acceleration=15.0, max_jerk=jerk)
    run = tracker.run(targets)
    assert run.position_error[500:].max() < error
    assert run.orientation_error[500:].max() < error
    assert (run.status[500:] == TrackStatus.FOLLOWING).all()


def test_a_jump_is_followed_on_a_straight_line_in_joint_space():
    target = PANDA.fk(START + 0.3)
    tracker = PANDA.track(START, DT, **RATES, rest=START)
    run = tracker.run(np.repeat(target[None], 2000, axis=0))
    way = run.joint_angles[-1] - START
    moved = run.joint_angles[20:] - START  # the reference takes some steps to arrive
    along = np.outer(moved @ way / (way @ way), way)
    assert np.abs(moved - along).max() < 0.06 * np.linalg.norm(way)


@pytest.mark.parametrize("name", BENT)
def test_out_of_reach_it_is_still_and_comes_back(name):
    chain, start = Chain.load(name), BENT[name]
    tracker = chain.track(start, DT, max_velocity=3.0, max_acceleration=20.0)
    away = np.linspace(chain.fk(start)[:3, 3], [1.5, 1.0, 0.5], 3000)
    tracker.run(away)
    gone = tracker.run(np.repeat(away[-1:], 5000, axis=0))
    assert gone[-1].status is TrackStatus.OUT_OF_REACH
    assert np.ptp(gone.joint_angles[-200:], axis=0).max() < 1e-9
    back = tracker.run(np.concatenate([away[::-1], np.repeat(away[:1], 500, axis=0)]))
    assert back[-1].status is TrackStatus.FOLLOWING


@settings(max_examples=25)
@example("panda", np.array([2.5, 1.0, -0.1]), False)  # once stuck at limits, folded the wrong way
@given(
    st.sampled_from(sorted(BENT)),
    st.tuples(*[st.floats(-3.0, 3.0)] * 3).map(np.array).filter(lambda away: away @ away > 4.0),
    st.booleans(),
)
def test_a_target_that_jumps_far_away_and_back_is_followed_again(name, away, is_pose):
    chain, start = Chain.load(name), BENT[name]
    tracker = chain.track(start, DT, max_velocity=3.0, max_acceleration=20.0)
    home, far = np.repeat(chain.fk(start)[None], 4000, axis=0), np.eye(4)
    far[:3, 3] = away
    targets = np.concatenate([far @ home, home])
    run = tracker.run(targets if is_pose else targets[:, :3, 3])
    assert run[-1].status is TrackStatus.FOLLOWING
    assert_kept(from_rest(start, run), DT, limits_of(chain, 3.0, 20.0))


def test_a_target_circling_out_of_reach_moves_joints_smoothly():
    chain, start = robots.ur5e(), BENT["ur5e"]
    angle = 0.5 * np.sin(0.4 * np.arange(0.0, 12.0, DT))
    radius = chain.reach * 0.97
    targets = np.stack([radius * np.cos(angle), radius * np.sin(angle), 0 * angle + 0.3], 1)
    run = chain.track(start, DT, max_velocity=3.0, max_acceleration=20.0).run(targets)
    velocities = run.velocities[4000:]
    assert (run.status[4000:] == TrackStatus.OUT_OF_REACH).all()
    power = np.abs(np.fft.rfft(velocities * np.hanning(len(velocities))[:, None], axis=0)) ** 2
    high = np.fft.rfftfreq(len(velocities), DT) > 20.0
    assert power[high].sum() < 1e-6 * power.sum()
    assert np.abs(velocities).max() < 0.5 * 0.4 * 1.5  # the base turns with the target


def test_a_singularity_is_passed_within_bounds():
    chain = robots.ur5e()
    wrist = np.array([0.0, -1.2, 1.8, -0.6, 0.0, 0.3])  # axes 4 and 6 in line
    start = wrist + np.array([0.0, 0.0, 0.0, 0.0, 0.3, 0.0])
    targets = chain.fk(np.linspace(start, 2 * wrist - start, 2000))
    targets[:, 1, 3] += 0.002 * np.sin(np.linspace(0.0, pi, 2000))
    run = chain.track(start, DT, max_velocity=3.0, max_acceleration=30.0).run(targets)
    assert run.position_error.max() < 0.02
    assert np.linalg.norm(run.joint_angles[-1] - start) < 3.0


def test_a_start_outside_the_limits_is_brought_in():
    chain = robots.ur5e().with_limits(np.tile([-2.0, 2.0], (6, 1)))
    start = np.array([2.5, -1.2, 1.8, -0.6, -2.3, 0.3])
    run = chain.track(start, DT, **RATES).run(np.full((2000, 3), np.nan))
    q = from_rest(start, run)
    assert (np.diff(q[:, 0]) <= 1e-12).all()
    assert (np.diff(q[:, 4]) >= -1e-12).all()
    np.testing.assert_allclose(q[-1], np.clip(start, -2.0, 2.0), atol=1e-12)
    wide = Limits(np.full(6, -9.0), np.full(6, 9.0), 2.0, 10.0)
    assert_kept(q, DT, wide)


@pytest.mark.parametrize(
    "bad", [np.full((4, 4), np.nan), np.diag([1.0, 1.0, -1.0, 1.0]), np.full((4, 4), 1e12)]
)
def test_an_invalid_target_does_not_stop_the_way_to_the_last_valid_one(bad):
    target = PANDA.fk(START + 0.2)
    tracker = PANDA.track(START, DT, **RATES)
    tracker.run(np.repeat(target[None], 30, axis=0))
    result = tracker.step(bad)
    assert result.status is TrackStatus.INVALID
    assert np.isnan([result.position_error, result.orientation_error]).all()
    tracker.run(np.repeat(bad[None], 2000, axis=0))
    assert tracker.step(target).status is TrackStatus.FOLLOWING


def test_a_blocked_branch_is_kept_until_a_switch_is_asked_for():
    planar = Chain.from_dh(two_link_planar(1.0, 1.0), limits=[[-2.0, 1.5], [-2.5, 2.5]])
    start = np.array([1.0, -1.855])
    target = 1.2 * np.array([np.cos(1.0), np.sin(1.0), 0.0])  # with the elbow like this, 1.93 rad
    tracker = planar.track(start, DT, **RATES)
    run = tracker.run(np.repeat(target[None], 3000, axis=0))
    assert run[-1].status is TrackStatus.BLOCKED
    assert run.joint_angles[-1, 0] == 1.5
    assert (run.joint_angles[:, 1] < 0.0).all()
    assert tracker.switch()
    after = tracker.run(np.repeat(target[None], 4000, axis=0))
    assert after[-1].status is TrackStatus.FOLLOWING
    assert after.joint_angles[-1, 1] > 0.0
    q = np.vstack([run.joint_angles, after.joint_angles])
    assert_kept(q, DT, limits_of(planar, 2.0, 10.0))


def test_a_switch_helps_where_a_slow_excursion_ends_at_limits():
    tracker = PANDA.track(START, DT, max_velocity=3.0, max_acceleration=20.0)
    targets = np.repeat(PANDA.fk(START)[None], 5500, axis=0)
    there = np.linspace(0.0, 3.0, 1700)  # the pose moves through the base, to the other side
    away = np.concatenate([there, there[::-1], np.zeros(2100)])
    targets[:, :3, 3] += np.outer(away, [-0.968, -0.2, -0.153])
    run = tracker.run(targets)
    assert run[-1].status is TrackStatus.BLOCKED
    assert "switch()" in run[-1].status.value
    assert tracker.switch()
    after = tracker.run(np.repeat(targets[-1:], 3000, axis=0))
    assert after[-1].status is TrackStatus.FOLLOWING
    q = np.vstack([run.joint_angles, after.joint_angles])
    assert_kept(q, DT, limits_of(PANDA, 3.0, 20.0))


def test_a_switch_without_another_branch_changes_nothing():
    tracker = PANDA.track(START, DT, **RATES)
    tracker.step([9.0, 0.0, 0.0])
    before = tracker.state
    assert not tracker.switch()
    np.testing.assert_array_equal(tracker.state, before)


def test_steps_and_a_run_give_the_same_bits():
    targets = np.concatenate(list(scenarios(PANDA, START, 1.2, DT, 5))[:5])
    one, many = (PANDA.track(START, DT, **RATES, max_jerk=500.0) for _ in range(2))
    steps, run = [one.step(each) for each in targets], many.run(targets)
    for name in ("joint_angles", "velocities", "position_error", "orientation_error"):
        single = np.array([getattr(each, name) for each in steps])
        np.testing.assert_array_equal(single, getattr(run, name))
    assert [each.status for each in steps] == [run[k].status for k in range(len(run))]
    np.testing.assert_array_equal(one.state, many.state)


def test_a_state_is_copied_saved_and_restored():
    targets = far_and_back(PANDA.fk(START), 400, DT, np.random.default_rng(1))
    tracker = PANDA.track(START, DT, **RATES, max_jerk=500.0)
    tracker.run(targets[:200])
    saved, twin = tracker.state, tracker.copy()
    first = tracker.run(targets[200:]).joint_angles
    np.testing.assert_array_equal(twin.run(targets[200:]).joint_angles, first)
    tracker.state = saved
    np.testing.assert_array_equal(tracker.run(targets[200:]).joint_angles, first)
    assert not saved.flags.writeable


def test_results_are_read_only():
    tracker = PANDA.track(START, DT, **RATES)
    result, run = tracker.step([0.4, 0.0, 0.5]), tracker.run([[0.4, 0.0, 0.5]])
    for array in (result.joint_angles, result.velocities, run.joint_angles, run.status):
        assert not array.flags.writeable


def test_velocities_lead_from_the_last_joint_values_to_these():
    targets = circle(PANDA.fk(START), 0.1, 2.0, 0.5, DT)
    run = PANDA.track(START, DT, **RATES, max_jerk=500.0).run(targets)
    q = np.vstack([START, run.joint_angles])
    np.testing.assert_allclose(run.velocities, np.diff(q, axis=0) / DT, atol=1e-11)


def test_spare_motion_goes_to_rest_and_leaves_the_end_effector():
    rest = START + 0.3 * np.array([1.0, 0.0, -1.0, 0.0, 0.5, 0.0, 0.0])
    target = PANDA.fk(START)
    run = PANDA.track(START, DT, **RATES, rest=rest).run(np.repeat(target[None], 6000, axis=0))
    still = PANDA.track(START, DT, **RATES).run(np.repeat(target[None], 100, axis=0))
    before, after = np.linalg.norm(START - rest), np.linalg.norm(run.joint_angles[-1] - rest)
    assert after < 0.9 * before
    assert max(run.position_error.max(), run.orientation_error.max()) < 1e-3
    assert run[-1].status is TrackStatus.FOLLOWING
    np.testing.assert_allclose(still.joint_angles[-1], START, atol=1e-9)


def test_spare_motion_does_not_drift_round_after_round():
    targets = circle(PANDA.fk(START), 0.1, 2.0 * pi, 12.5, DT)
    run = PANDA.track(START, DT, max_velocity=5.0, max_acceleration=50.0).run(targets)
    rounds = run.joint_angles[4500::1000]
    assert np.abs(np.diff(rounds, axis=0))[-3:].max() < 1e-3


def test_every_kind_of_target_is_followed():
    pose = PANDA.fk(START + 0.1)
    for target in (pose, pose[:3, 3], aim(pose[:3, 3], pose[:3, 2])):
        tracker = PANDA.track(START, DT, **RATES)
        for _ in range(600):
            result = tracker.step(target)
        assert result.status is TrackStatus.FOLLOWING
        assert np.isnan(result.orientation_error) == (np.shape(target) == (3,))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dt": 0.0}, "dt is 0.0: expected a number above zero."),
        (
            {"max_velocity": -1.0},
            "max_velocity is -1.0: expected numbers above zero and below 1e9.",
        ),
        (
            {"max_acceleration": [1.0, 2.0]},
            "max_acceleration has shape (2,) for an arm of 7 joints: expected a number, or one per "
            "joint, shape (7,).",
        ),
        (
            {"max_jerk": 1e-5},
            "max_jerk is 1e-05: joints would take 632 s to change their acceleration. Expected a "
            "higher limit, or a longer dt.",
        ),
        (
            {"start": [0.0, 1.0]},
            "start has 2 values for an arm of 7 joints: expected one value per joint, shape (7,).",
        ),
        ({"start": np.full(7, np.nan)}, "start[0] is nan: expected finite numbers below 1e9."),
        (
            {"rest": [0.0]},
            "rest has 1 value for an arm of 7 joints: expected one value per joint, shape (7,).",
        ),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(InvalidInputError) as error:
        PANDA.track(**{"start": START, "dt": DT, **RATES, **arguments})
    assert str(error.value) == message


def test_wrong_states_and_targets_are_refused():
    tracker = PANDA.track(START, DT, **RATES)
    with pytest.raises(InvalidInputError) as error:
        tracker.switch()
    assert str(error.value) == "no target to switch to: call step with a valid target first."
    with pytest.raises(InvalidInputError) as error:
        tracker.step([0.1, 0.2])
    assert str(error.value).startswith("target has shape (2,): expected (3,) for a position")
    other = PANDA.track(START, DT, max_velocity=9.0, max_acceleration=10.0)
    with pytest.raises(InvalidInputError) as error:
        tracker.state = other.state
    assert str(error.value) == (
        "state has shape (89,) and is not of this tracker: expected the state of a tracker with "
        "the same model and limits."
    )
    damaged = tracker.state.copy()
    damaged[0] = 7.0
    with pytest.raises(InvalidInputError) as error:
        tracker.state = damaged
    assert str(error.value) == "state is damaged: expected an array that state has returned."
