"""Tracking keeps every limit whatever the target is, follows what it can, and says what it does."""

from collections import defaultdict
from collections.abc import Callable
from math import pi
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jointwise import (
    Chain,
    InvalidInputError,
    Posture,
    Robot,
    TrackStatus,
    aim,
    robots,
    two_link_planar,
)
from jointwise.backends import cpu
from jointwise.kernels.motion.limits import stopping_step
from jointwise.kernels.native.entry_points import ENTRY_POINTS
from testbed.motion_laws import Limits, count_unstoppable, violations
from testbed.track_targets import circle, far_and_back, line, scenarios
from tests.support.arms import chains
from tests.support.examples import examples
from tests.test_urdf_tips import BY_NAME

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


class Tracked(NamedTuple):
    """An arm or a robot, which one class of trackers moves.

    Attributes:
        model: A ``Chain``, or a ``Robot`` of which some links have targets.
        start: (n,) joint values away from singularities.
        links: The links of a robot that have targets; none for an arm.
    """

    model: Chain | Robot
    start: np.ndarray
    links: tuple[str, ...]

    def targets(self, make: Callable[[np.ndarray], Any], q: np.ndarray) -> Any:
        """What is made of the pose of the end effector, or of that of each link."""
        poses = self.model.fk(q)
        return {link: make(poses[link]) for link in self.links} if self.links else make(poses)

    def moved(self, change: float) -> np.ndarray:
        """Joint values that differ from the start, inside the limits."""
        return np.clip(self.start + change, *self.model.limits.T)

    def limits(self, rates: dict[str, float]) -> Limits:
        return limits_of(self.model, rates["max_velocity"], rates["max_acceleration"])


def tracked_arm(name="panda"):
    return Tracked(Chain.load(name), BENT[name], ())


def tracked_robot(name="panda"):
    return Tracked(Robot.load(name), BENT[name], (Chain.load(name).tip_link,))


def two_hands():
    robot = Robot.from_urdf(BY_NAME["g1_29dof_rev_1_0.urdf"], free_base=True)
    start = np.clip(np.full(robot.n, 0.2), *robot.limits.T)
    return Tracked(robot, start, ("left_rubber_hand", "right_rubber_hand"))


TRACKED = {"arm": tracked_arm(), "robot": tracked_robot(), "two hands": two_hands()}
ALL = pytest.mark.parametrize("tracked", TRACKED.values(), ids=TRACKED)


def again(count):
    """Makes the same target for many steps."""
    return lambda target: np.repeat(np.asarray(target)[None], count, axis=0)


def row(targets, i):
    """One of many targets, or of the targets of each link."""
    return (
        {link: each[i] for link, each in targets.items()}
        if isinstance(targets, dict)
        else targets[i]
    )


def limits_of(chain, velocity, acceleration, jerk=None):
    return Limits(*chain.limits.T, velocity, acceleration, np.inf if jerk is None else jerk)


def assert_kept(q, dt, limits):
    counts = violations(q, dt, limits)
    assert not any(counts.values()), counts
    assert count_unstoppable(q, dt, limits) == 0


def from_rest(start, run):
    return np.vstack([[start] * 4, run.q])


@pytest.mark.parametrize("name", BENT)
@pytest.mark.parametrize("jerk", [None, 300.0])
def test_all_that_can_be_asked_violates_no_limit(name, jerk):
    chain, start = Chain.load(name), BENT[name]
    tracker = chain.track(start, DT, **RATES, max_jerk=jerk)
    runs = [tracker.run(targets) for targets in scenarios(chain, start, 6.0, DT, 3)]
    q = np.vstack([from_rest(start, runs[0]), *[run.q for run in runs[1:]]])
    assert_kept(q, DT, limits_of(chain, 2.0, 10.0, jerk))


@examples(25)
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
    q = np.vstack([from_rest(start, runs[0]), *[run.q for run in runs[1:]]])
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


@examples(20)
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
        counts = violations(run.q, DT, limits_of(PANDA, 2.0, acceleration, jerk))
        assert not any(counts.values()), counts


@examples(15)
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


@examples(15)
@given(seeds, st.sampled_from([None, 300.0]))
def test_halving_dt_changes_the_path_little(seed, jerk):
    rng = np.random.default_rng(seed)
    target = PANDA.fk(np.clip(START + rng.uniform(-0.4, 0.4, 7), *PANDA.limits.T))
    paths = []
    for dt in (0.002, 0.001):
        tracker = PANDA.track(START, dt, **RATES, max_jerk=jerk)
        run = tracker.run(np.repeat(target[None], round(1.0 / dt), axis=0))
        paths.append(run.q[round(0.002 / dt) - 1 :: round(0.002 / dt)])
    # Two steps at full speed: the later arrival of the first command, and of the moving average.
    assert np.abs(paths[0] - paths[1]).max() <= 2 * 0.002 * 2.0


@ALL
@pytest.mark.parametrize("path", [circle, line])
@pytest.mark.parametrize(("jerk", "error"), [(None, 1e-9), (5000.0, 1e-5)])
def test_smooth_paths_are_followed_without_lag(tracked, path, jerk, error):
    targets = tracked.targets(lambda pose: path(pose, 0.05, 2.0, 3.0, DT), tracked.start)
    tracker = tracked.model.track(
        tracked.start, DT, max_velocity=3.0, max_acceleration=15.0, max_jerk=jerk
    )
    run = tracker.run(targets)
    assert run.position_error[500:].max() < error
    assert run.orientation_error[500:].max() < error
    assert (run.status[500:] == TrackStatus.FOLLOWING).all()
    assert tuple(run.errors) == tracked.links


def test_a_jump_is_followed_on_a_straight_line_in_joint_space():
    target = PANDA.fk(START + 0.3)
    tracker = PANDA.track(START, DT, **RATES, posture=Posture(START))
    run = tracker.run(np.repeat(target[None], 2000, axis=0))
    way = run.q[-1] - START
    moved = run.q[20:] - START  # the reference takes some steps to arrive
    along = np.outer(moved @ way / (way @ way), way)
    assert np.abs(moved - along).max() < 0.06 * np.linalg.norm(way)


@pytest.mark.parametrize(
    "tracked",
    [*map(tracked_arm, BENT), *map(tracked_robot, BENT), TRACKED["two hands"]],
    ids=[*BENT, *(f"{name}-robot" for name in BENT), "two hands"],
)
def test_out_of_reach_it_is_still_and_comes_back(tracked):
    model, start, links = tracked
    rates = {"max_velocity": 3.0, "max_acceleration": 20.0}
    tracker = model.track(start, DT, **rates)
    side = {links[0]: 1.0, links[-1]: -1.0} if len(links) > 1 else {}
    away = tracked.targets(lambda pose: np.linspace(pose[:3, 3], [1.5, 1.0, 0.5], 3000), start)
    for link in side:  # each hand on its side
        away[link][:, 1] *= np.linspace(1.0, side[link], 3000)
    tracker.run(away)
    last = row(away, -1)
    gone = tracker.run({link: again(5000)(last[link]) for link in links} or again(5000)(last))
    if links:
        assert gone[-1].status in (TrackStatus.STUCK, TrackStatus.AT_LIMIT)
        assert np.abs(gone.velocities[-200:]).max() < 1e-3
    else:
        assert gone[-1].status is TrackStatus.STUCK
        assert np.ptp(gone.q[-200:], axis=0).max() < 1e-9
    back = tracker.run({link: away[link][::-1] for link in links} or away[::-1])
    for _ in range(500):
        result = tracker.step(row(away, 0))
    assert result.status is TrackStatus.FOLLOWING
    assert_kept(np.vstack([gone.q, back.q]), DT, tracked.limits(rates))


@examples(25)
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
    radius = chain.max_reach * 0.97
    targets = np.stack([radius * np.cos(angle), radius * np.sin(angle), 0 * angle + 0.3], 1)
    run = chain.track(start, DT, max_velocity=3.0, max_acceleration=20.0).run(targets)
    velocities = run.velocities[4000:]
    assert (run.status[4000:] == TrackStatus.STUCK).all()
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
    assert np.linalg.norm(run.q[-1] - start) < 3.0


@pytest.mark.parametrize("links", [(), ("tip",)], ids=["arm", "robot"])
def test_a_start_outside_the_limits_is_brought_in(links):
    chain = robots.ur5e().with_limits(np.tile([-2.0, 2.0], (6, 1)))
    start = np.array([2.5, -1.2, 1.8, -0.6, -2.3, 0.3])
    nowhere = np.full((2000, 3), np.nan)
    tracker = (chain.robot if links else chain).track(start, DT, **RATES)
    q = from_rest(start, tracker.run(dict.fromkeys(links, nowhere) or nowhere))
    assert (np.diff(q[:, 0]) <= 1e-12).all()
    assert (np.diff(q[:, 4]) >= -1e-12).all()
    np.testing.assert_allclose(q[-1], np.clip(start, -2.0, 2.0), atol=1e-12)
    wide = Limits(np.full(6, -9.0), np.full(6, 9.0), 2.0, 10.0)
    assert_kept(q, DT, wide)


@ALL
@pytest.mark.parametrize(
    "bad",
    [
        np.full((4, 4), np.nan),
        np.diag([1.0, 1.0, -1.0, 1.0]),
        np.full((4, 4), 1e12),
        np.full(3, np.inf),
    ],
)
def test_an_invalid_target_does_not_stop_the_way_to_the_last_valid_one(tracked, bad):
    valid = tracked.targets(lambda pose: pose, tracked.moved(0.1))
    invalid = valid | {tracked.links[-1]: bad} if tracked.links else bad
    tracker = tracked.model.track(tracked.start, DT, **RATES)
    tracker.run(tracked.targets(again(30), tracked.moved(0.1)))
    result = tracker.step(invalid)
    assert result.status is TrackStatus.INVALID
    assert np.isnan([result.position_error, result.orientation_error]).all()
    assert np.isnan([*result.errors.values()]).all()
    many = {link: again(2000)(invalid[link]) for link in tracked.links} or again(2000)(bad)
    run = tracker.run(many)
    assert np.abs(run.velocities[-1]).max() < 1e-9
    assert tracker.step(valid).status is TrackStatus.FOLLOWING


@pytest.mark.parametrize("links", [(), ("tip",)], ids=["arm", "robot"])
def test_a_branch_that_ends_at_a_limit_is_kept_until_a_switch_is_asked_for(links):
    planar = Chain.from_dh(two_link_planar(1.0, 1.0), limits=[[-2.0, 1.5], [-2.5, 2.5]])
    start = np.array([1.0, -1.855])
    point = 1.2 * np.array([np.cos(1.0), np.sin(1.0), 0.0])  # with the elbow like this, 1.93 rad

    def ask(target):
        return dict.fromkeys(links, target) or target

    tracker = (planar.robot if links else planar).track(start, DT, **RATES)
    run = tracker.run(ask(again(3000)(point)))
    ways = np.flatnonzero(np.diff(run.status, prepend=255))
    assert [TrackStatus(code) for code in run.status[ways]] == [
        TrackStatus.APPROACHING,
        TrackStatus.AT_LIMIT,  # and, since the target stands still:
        TrackStatus.OTHER_BRANCH,
    ]
    assert run.q[-1, 0] == 1.5
    assert (run.q[:, 1] < 0.0).all()
    assert not tracker.switch_branch(ask(np.array([9.0, 0.0, 0.0])))
    assert tracker.step(ask(np.full(3, np.nan))).status is TrackStatus.INVALID
    assert tracker.switch_branch()
    after = tracker.run(ask(again(4000)(point)))
    assert after[-1].status is TrackStatus.FOLLOWING
    assert after.q[-1, 1] > 0.0
    q = np.vstack([run.q, after.q])
    assert_kept(q, DT, limits_of(planar, 2.0, 10.0))


def test_a_switch_helps_where_a_slow_excursion_ends_at_limits():
    tracker = PANDA.track(START, DT, max_velocity=3.0, max_acceleration=20.0)
    targets = np.repeat(PANDA.fk(START)[None], 5500, axis=0)
    there = np.linspace(0.0, 3.0, 1700)  # the pose moves through the base, to the other side
    away = np.concatenate([there, there[::-1], np.zeros(2100)])
    targets[:, :3, 3] += np.outer(away, [-0.968, -0.2, -0.153])
    run = tracker.run(targets)
    assert run[-1].status is TrackStatus.OTHER_BRANCH
    assert "switch_branch()" in run[-1].status.value
    assert tracker.switch_branch()
    after = tracker.run(np.repeat(targets[-1:], 3000, axis=0))
    assert after[-1].status is TrackStatus.FOLLOWING
    q = np.vstack([run.q, after.q])
    assert_kept(q, DT, limits_of(PANDA, 3.0, 20.0))


@ALL
def test_a_switch_without_another_branch_changes_nothing(tracked):
    tracker = tracked.model.track(tracked.start, DT, **RATES)
    tracker.step(tracked.targets(lambda _: np.array([9.0, 0.0, 0.0]), tracked.start))
    before = tracker.state
    assert not tracker.switch_branch()
    np.testing.assert_array_equal(tracker.state, before)


def rough(tracked, seed):
    """Poses that jump, leave the reach and are invalid, for each link in its own way."""
    rng = np.random.default_rng(seed)

    def make(pose):
        targets = far_and_back(pose, 400, DT, rng)
        targets[150:, 0, 3] += 1.0  # a jump of a metre
        targets[300:310, 0, 0] = np.nan
        return targets

    return tracked.targets(make, tracked.start)


@ALL
def test_steps_and_a_run_give_the_same_bits(tracked):
    targets = rough(tracked, 5)
    one, many = (tracked.model.track(tracked.start, DT, **RATES, max_jerk=500.0) for _ in range(2))
    run = many.run(targets)
    for i, each in enumerate(run):
        step = one.step(row(targets, i))
        for name in ("q", "velocities", "position_error", "orientation_error"):
            np.testing.assert_array_equal(getattr(step, name), getattr(each, name))
        np.testing.assert_array_equal([*step.errors.values()], [*each.errors.values()])
        assert step.status is each.status
    np.testing.assert_array_equal(one.state, many.state)


@ALL
def test_a_state_is_copied_saved_and_restored(tracked):
    first, targets = rough(tracked, 1), rough(tracked, 2)
    tracker = tracked.model.track(tracked.start, DT, **RATES, max_jerk=500.0)
    tracker.run(first)
    saved, twin = tracker.state, tracker.copy()
    expected = tracker.run(targets).q
    np.testing.assert_array_equal(twin.run(targets).q, expected)
    tracker.state = saved
    np.testing.assert_array_equal(tracker.run(targets).q, expected)
    assert not saved.flags.writeable


@ALL
def test_results_are_read_only(tracked):
    tracker = tracked.model.track(tracked.start, DT, **RATES)
    result = tracker.step(tracked.targets(lambda pose: pose, tracked.start))
    run = tracker.run(tracked.targets(again(1), tracked.start))
    for array in (result.q, result.velocities, run.q, run.position_error, run.status):
        assert not array.flags.writeable
    with pytest.raises(TypeError):
        result.errors["tip"] = None
    assert run.summary() == "1 of 1 steps followed (100.000%)"


@ALL
def test_velocities_lead_from_the_last_joint_values_to_these(tracked):
    targets = tracked.targets(lambda pose: circle(pose, 0.05, 2.0, 0.5, DT), tracked.start)
    run = tracked.model.track(tracked.start, DT, **RATES, max_jerk=500.0).run(targets)
    q = np.vstack([tracked.start, run.q])
    np.testing.assert_allclose(run.velocities, np.diff(q, axis=0) / DT, atol=1e-11)


@pytest.mark.parametrize("tracked", [TRACKED["arm"], TRACKED["robot"]], ids=["arm", "robot"])
def test_spare_motion_goes_to_the_posture_and_leaves_the_end_effector(tracked):
    preferred = START + 0.3 * np.array([1.0, 0.0, -1.0, 0.0, 0.5, 0.0, 0.0])
    posture = Posture(dict(zip(tracked.model.joint_names, preferred, strict=True)))
    tracker = tracked.model.track(START, DT, **RATES, posture=posture)
    run = tracker.run(tracked.targets(again(6000), START))
    still = tracked.model.track(START, DT, **RATES).run(tracked.targets(again(100), START))
    before, after = np.linalg.norm(START - preferred), np.linalg.norm(run.q[-1] - preferred)
    assert after < 0.9 * before
    assert max(run.position_error.max(), run.orientation_error.max()) < 1e-3
    assert run[-1].status is TrackStatus.FOLLOWING
    np.testing.assert_allclose(still.q[-1], START, atol=1e-9)


def test_spare_motion_does_not_drift_round_after_round():
    targets = circle(PANDA.fk(START), 0.1, 2.0 * pi, 12.5, DT)
    run = PANDA.track(START, DT, max_velocity=5.0, max_acceleration=50.0).run(targets)
    rounds = run.q[4500::1000]
    assert np.abs(np.diff(rounds, axis=0))[-3:].max() < 1e-3


@ALL
@pytest.mark.parametrize(
    ("kind", "is_free"),
    [
        (lambda pose: pose, False),
        (lambda pose: pose[:3, 3], True),
        (lambda pose: aim(pose[:3, 3], pose[:3, 2]), False),
    ],
    ids=["pose", "position", "aim"],
)
def test_every_kind_of_target_is_followed(tracked, kind, is_free):
    tracker = tracked.model.track(tracked.start, DT, **RATES)
    for _ in range(600):
        result = tracker.step(tracked.targets(kind, tracked.moved(0.05)))
    assert result.status is TrackStatus.FOLLOWING
    assert np.isnan(result.orientation_error) == is_free
    assert all(np.isnan(each.orientation_error) == is_free for each in result.errors.values())


@pytest.mark.parametrize("arm", [PANDA, Robot.load("panda")], ids=["arm", "robot"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dt": 0.0}, "dt is 0.0: expected a number above zero."),
        (
            {"max_velocity": -1.0},
            "max_velocity is -1.0: expected above zero.",
        ),
        (
            {"max_acceleration": [1.0, 2.0]},
            "max_acceleration has shape (2,) for NOUN of 7 joints: expected a number, or one per "
            "joint, shape (7,).",
        ),
        (
            {"max_jerk": 1e-5},
            "max_jerk is 1e-05: joints would take 632 s to change their acceleration. Expected a "
            "higher limit, or a longer dt.",
        ),
        (
            {"start": [0.0, 1.0]},
            "start has 2 values for NOUN of 7 joints: expected one value per joint, shape (7,).",
        ),
        ({"start": np.full(7, np.nan)}, "start[0] is nan: expected finite numbers below 1e9."),
        (
            {"posture": Posture([0.0])},
            "posture has 1 value for NOUN of 7 joints: expected one value per joint, shape (7,).",
        ),
        (
            {"posture": START},
            f"posture is {START!r}: expected a Posture, such as Posture(q).",
        ),
    ],
)
def test_wrong_arguments_are_refused(arm, arguments, message):
    with pytest.raises(InvalidInputError) as error:
        arm.track(**{"start": START, "dt": DT, **RATES, **arguments})
    noun = "an arm" if isinstance(arm, Chain) else "a robot"
    assert str(error.value) == message.replace("NOUN", noun)


def test_velocity_limits_are_those_of_the_model_if_none_are_given():
    file = BY_NAME["panda.urdf"]
    chain = Chain.from_urdf(file)
    for model, targets in (
        (chain, again(3000)),
        (chain.robot, lambda at: {chain.tip_link: again(3000)(at)}),
    ):
        start = model.mid_range
        far = chain.fk(chain.mid_range + 0.5 * np.sign(chain.limits[:, 1] - chain.mid_range))
        run = model.track(start, DT, max_acceleration=1000.0).run(targets(far))
        fastest = np.abs(run.velocities).max(axis=0)
        assert (fastest <= model.max_velocity * (1.0 + 1e-9)).all()
        assert (fastest > 0.99 * model.max_velocity).any()
    with pytest.raises(InvalidInputError) as error:
        PANDA.track(START, DT, max_acceleration=10.0)
    assert str(error.value) == (
        "the velocity limit of 'panda_joint1' is unknown: pass max_velocity [rad/s, m/s]."
    )


@ALL
def test_wrong_states_and_targets_are_refused(tracked):
    model, start, links = tracked
    tracker = model.track(start, DT, **RATES)
    with pytest.raises(InvalidInputError) as error:
        tracker.switch_branch()
    assert str(error.value) == "no target to switch to: call step with a valid target first."
    with pytest.raises(InvalidInputError) as error:
        tracker.step(tracked.targets(lambda _: [0.1, 0.2], start))
    name = f"targets[{links[0]!r}]" if links else "target"
    assert str(error.value).startswith(f"{name} has shape (2,): expected (3,) for a position")
    other = model.track(start, DT, max_velocity=9.0, max_acceleration=10.0)
    with pytest.raises(InvalidInputError) as error:
        tracker.state = other.state
    assert str(error.value) == (
        f"state has shape {other.state.shape} and is not from this tracker: expected the state of "
        "a tracker with the same model and limits."
    )
    damaged = tracker.state.copy()
    damaged[0] = 7.0
    with pytest.raises(InvalidInputError) as error:
        tracker.state = damaged
    assert str(error.value) == "state is damaged: expected an array that state has returned."


def test_kernels_get_arrays_that_are_always_writable_or_never(monkeypatch):
    """Numba compiles a kernel again for an array that cannot be written to."""
    kinds = defaultdict(set)

    def arrays(value):
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, tuple):
            for each in value:
                yield from arrays(each)

    def recorded(name, kernel):
        def call(*arguments):
            kinds[name].add(tuple(each.flags.writeable for each in arrays(arguments)))
            return kernel(*arguments)

        return call

    for name in ENTRY_POINTS:
        monkeypatch.setattr(cpu, name, recorded(name, getattr(cpu, name)), raising=False)
    arm, far = robots.ur5e(), np.array([0.9, 0.9, 0.9])
    pose = arm.fk(arm.random(5))
    assert arm.solutions(pose)[0].converged
    arm.solutions(pose, near=arm.random(1))
    arm.solutions(pose[:3, 3])
    tracker = arm.track(arm.random(5), 0.01, max_velocity=2.0, max_acceleration=10.0)
    for target in (pose, far, pose):
        for _ in range(60):
            tracker.step(target)
    unreachable = pose.copy()
    unreachable[:3, 3] *= 3.0
    tracker.run(np.repeat(unreachable[None], 200, axis=0))
    tracker.switch_branch(pose)
    for name in ("ordered_solutions", "track_rows", "evaluate", "collect_solutions"):
        assert len(kinds[name]) == 1, (name, kinds[name])
