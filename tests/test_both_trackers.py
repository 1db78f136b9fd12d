"""Trackers choose their engine by the targets: laws of both facades and both engines."""

import numpy as np
import pytest

from jointwise import (
    Chain,
    InvalidInputError,
    Posture,
    Robot,
    SolveConfig,
    TrackStatus,
    aim,
    direction,
    pose,
    position,
)
from jointwise.engines.serial.stepper import PathStepper, SerialStepper
from jointwise.engines.tree.stepper import TreeStepper
from testbed.motion_laws import Limits, violations
from tests.support.facades import BASE, UR5E, Q, both, tip, to
from tests.support.two_arms import two_arms

DT = 0.001
RATES = {"max_velocity": 3.0, "max_acceleration": 20.0}
POINT = np.array([0.02, -0.03, 0.1])

# What is made of a pose, and the engine that follows it.
KINDS = {
    "pose": (lambda at: at, SerialStepper),
    "position": (lambda at: at[:3, 3], SerialStepper),
    "aim": (lambda at: aim(at[:3, 3], at[:3, 2]), SerialStepper),
    "weight": (
        lambda at: pose(at[:3, 3], matrix=at[:3, :3], weight=(2.0, 0.5)),
        SerialStepper,
    ),
    "point": (
        lambda at: position(at[:3, 3] + at[:3, :3] @ POINT, point=POINT),
        SerialStepper,
    ),
    "direction": (lambda at: direction(at[:3, 2]), TreeStepper),
    "no weight": (lambda at: aim(at[:3, 3], at[:3, 2], weight=(1.0, 0.0)), TreeStepper),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def stepper_of(tracker, target):
    return tracker._stepper(*tracker._packed(target, False))


def assert_kept(model, q):
    counts = violations(q, DT, Limits(*model.limits.T, *RATES.values()))
    assert not any(counts.values()), counts


@both
@every_kind
def test_any_target_is_followed_by_the_engine_that_solves_it(facade, kind):
    model, (make, stepper) = facade.load("ur5e"), KINDS[kind]
    target = make(tip(model, Q + 0.05))
    tracker = model.track(Q, DT, **RATES)
    results = [tracker.step(to(model, target)) for _ in range(500)]
    assert type(stepper_of(tracker, to(model, target))) is stepper
    assert results[-1].status is TrackStatus.FOLLOWING
    assert_kept(model, np.array([result.q for result in results]))
    has_position, has_angle = kind != "direction", kind not in ("position", "point", "no weight")
    errors = results[-1].position_error, results[-1].orientation_error
    assert tuple(~np.isnan(errors)) == (has_position, has_angle)
    assert list(results[-1].errors) == ([] if facade is Chain else ["tip"])
    for found in results[-1].errors.values():
        np.testing.assert_array_equal(found, errors)
    assert model.solve(to(model, target), results[-1].q).iterations <= 3


@both
def test_joints_that_are_not_active_hold_still(facade):
    model, still = facade.load("ur5e"), [0, 4]
    names = [name for i, name in enumerate(model.joint_names) if i not in still]
    tracker = model.track(Q, DT, **RATES, posture=Posture(active=names))
    target = tip(model, Q + 0.05 * ~np.isin(range(6), still))[:3, 3]
    run = tracker.run(to(model, np.tile(target, (800, 1))))
    assert type(stepper_of(tracker, to(model, target))) is TreeStepper
    assert run[-1].status is TrackStatus.FOLLOWING
    np.testing.assert_array_equal(run.q[:, still], np.tile(Q[still], (800, 1)))


@pytest.mark.parametrize("kind", ["pose", "position", "aim", "weight", "point"])
def test_both_facades_follow_one_target_with_the_same_bits(kind):
    arm = Chain.load("ur5e").with_base(BASE)
    robot, make = arm.robot, KINDS[kind][0]
    one, other = (model.track(Q, DT, **RATES, max_jerk=900.0) for model in (arm, robot))
    for q in np.linspace(Q, Q + 0.3, 60):
        target = make(arm.fk(q))
        np.testing.assert_array_equal(one.step(target).q, other.step({"tip": target}).q)


ROBOT, LINKS = Robot.from_urdf(two_arms()), ["left_6", "right_6"]
START = np.clip(ROBOT.mid_range + 0.2, *ROBOT.limits.T)


def test_one_of_two_arms_is_followed_as_its_chain_bit_for_bit():
    robot, start, left = ROBOT, START, LINKS[0]
    chain = robot.chain(tip_link=left)
    columns = [robot.joint_names.index(name) for name in chain.joint_names]
    assert len(columns) < robot.n
    poses = chain.fk(np.linspace(start[columns], start[columns] + 0.3, 300))
    tracker = robot.track(start, DT, **RATES, max_jerk=900.0)
    run = tracker.run({left: poses})
    expected = chain.track(start[columns], DT, **RATES, max_jerk=900.0).run(poses)
    assert type(stepper_of(tracker, {left: poses[0]})) is PathStepper
    np.testing.assert_array_equal(run.q[:, columns], expected.q)
    np.testing.assert_array_equal(run.errors[left].position_error, expected.position_error)
    others = np.delete(run.q, columns, axis=1)
    np.testing.assert_array_equal(others, np.tile(np.delete(start, columns), (len(run), 1)))


@pytest.mark.parametrize("jerk", [None, 900.0])
@pytest.mark.parametrize("seed", range(4))
def test_targets_may_change_from_step_to_step(seed, jerk):
    robot, start, links = ROBOT, START, LINKS
    rng, tracker = np.random.default_rng(seed), robot.track(start, DT, **RATES, max_jerk=jerk)
    rows, used = [], set()
    for _ in range(40):
        poses = robot.fk(np.clip(start + rng.uniform(-0.4, 0.4, robot.n), *robot.limits.T))
        chosen = [links, links[:1], links[1:]][rng.integers(3)]
        targets = {link: KINDS[rng.choice(list(KINDS))][0](poses[link]) for link in chosen}
        used.add(type(stepper_of(tracker, targets)))
        count = int(rng.integers(1, 40))
        saved, twin = tracker.state, tracker.copy()
        rows += [tracker.step(targets).q for _ in range(count)]
        ahead = [twin.step(targets).q for _ in range(count)]
        np.testing.assert_array_equal(ahead, rows[-count:])
        fresh = robot.track(start, DT, **RATES, max_jerk=jerk)
        fresh.state = saved
        again = [fresh.step(targets).q for _ in range(count)]
        np.testing.assert_array_equal(again, ahead)
    assert used == {PathStepper, TreeStepper}
    limits = Limits(*robot.limits.T, *RATES.values(), np.inf if jerk is None else jerk)
    counts = violations(np.array(rows), DT, limits)
    assert not any(counts.values()), counts
    last = {link: pose for link, pose in robot.fk(start).items() if link in links}
    for targets in (last, {links[0]: last[links[0]]}):  # followed, whatever was asked before
        run = tracker.run({link: np.tile(each, (3000, 1, 1)) for link, each in targets.items()})
        assert run[-1].status is TrackStatus.FOLLOWING


@both
@pytest.mark.parametrize("kind", ["pose", "direction"])
def test_a_switch_goes_to_the_last_valid_target_even_if_its_array_has_changed(facade, kind):
    model, make = facade.load("ur5e"), KINDS[kind][0]
    target = tip(model, Q)
    tracker = model.track(Q, DT, **RATES)
    if kind == "pose":
        tracker.step(to(model, target))
        expected = target.copy()
        target[:] = np.nan
        assert tracker.step(to(model, target)).status is TrackStatus.INVALID
        assert tracker.copy().switch_branch()
        assert tracker.switch_branch()
        run = tracker.run(to(model, np.tile(expected, (4000, 1, 1))))
        assert run[-1].status is TrackStatus.FOLLOWING
        assert UR5E.branch(run.q[-1]) != UR5E.branch(Q)
    else:
        tracker.step(to(model, make(target)))
        assert not tracker.switch_branch()  # it points there already


@both
@pytest.mark.parametrize(
    ("posture", "message"),
    [
        (
            Posture(Q, weight=2.0),
            "posture has a weight: a tracker approaches its joint values only by self-motion",
        ),
        (
            Posture(smoothness=0.1),
            "posture has a smoothness: a tracker approaches its joint values only by",
        ),
        (Posture(active=["elbow_joit"]), "no joint named 'elbow_joit' in "),
    ],
)
def test_postures_that_a_tracker_cannot_obey_are_refused(facade, posture, message):
    with pytest.raises(InvalidInputError) as error:
        facade.load("ur5e").track(Q, DT, **RATES, posture=posture)
    assert str(error.value).startswith(message)


@both
@pytest.mark.parametrize("posture", [Posture(Q), Posture(active=["elbow_joint"])])
def test_a_search_that_cannot_be_skipped_is_not_skipped_silently(facade, posture):
    model, config = facade.load("ur5e"), SolveConfig(search_unreached=False)
    targets = to(model, tip(model, Q)[None, :3, 3])
    with pytest.raises(InvalidInputError, match="config has search_unreached=False, which is for"):
        model.solve_batch(targets, posture=posture, config=config)
    assert model.solve_batch(targets, config=config).converged.all()
