"""What a tracker does before a target that stands still, after a ride that it could not follow."""

import numpy as np
import pytest

from jointwise import Chain, Robot, TrackStatus
from jointwise.engines.tracking.tracker import Tracker

# Time of a step [s], limits of velocity and acceleration [rad/s, rad/s²], and steps of the ride.
DT, VELOCITY, ACCELERATION, RIDE = 0.004, 1.0, 5.0, 500
# What braking, settling and looking for another branch may take beyond the way of a joint [s].
SETTLING = 2.0
# Steps in which half a turn is made, and what follows.
STEPS = round((0.6 * 2.0 * np.pi / VELOCITY + SETTLING) / DT)
# Continuous joints, wide limits, narrow limits; with and without a closed form, and redundant.
ARMS = ["fetch", "gen3", "jaco2", "panda", "puma560", "so101", "stanford", "ur5e"]
# A ride after which the joints of an arm stop, though its target can be reached.
STOPS_BEFORE_ITS_TARGET = "panda", 2


def after_a_ride(name: str, seed: int, switch_branches: bool = False) -> tuple[Chain, Tracker]:
    """An arm, and its tracker after random targets."""
    arm = Chain.load(name)
    q = arm.random(100 + seed, RIDE + 1)
    limits = {"max_velocity": VELOCITY, "max_acceleration": ACCELERATION}
    tracker = arm.track(q[0], DT, switch_branches=switch_branches, **limits)
    tracker.run(arm.fk(q[1:]))
    return arm, tracker


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ARMS)
def test_a_target_that_stands_still_is_reached_or_another_branch_is_named(
    name: str, seed: int
) -> None:
    """No joint makes the turns that the ride has gathered, and no reachable target is given up."""
    arm, tracker = after_a_ride(name, seed)
    target = arm.fk(arm.random(5000 + seed))
    run = tracker.run(np.repeat(target[None], STEPS, axis=0))
    ended = (TrackStatus.FOLLOWING, TrackStatus.OTHER_BRANCH)
    done = np.flatnonzero(np.isin(run.status, ended))
    assert len(done), run.summary()
    way = np.abs(run.q[done[0]] - run.q[0]).max()
    assert done[0] * DT <= way / VELOCITY + SETTLING
    if run.status[-1] == TrackStatus.OTHER_BRANCH:
        assert tracker.switch_branch()


def test_joints_go_to_another_branch_by_themselves_where_they_may() -> None:
    name, seed = STOPS_BEFORE_ITS_TARGET
    arm, tracker = after_a_ride(name, seed)
    targets = np.repeat(arm.fk(arm.random(5000 + seed))[None], 2 * STEPS, axis=0)
    told = tracker.run(targets)
    assert told[-1].status is TrackStatus.OTHER_BRANCH
    _, tracker = after_a_ride(name, seed, switch_branches=True)
    run = tracker.run(targets)
    assert run[-1].status is TrackStatus.FOLLOWING
    assert not (run.status == TrackStatus.OTHER_BRANCH).any()
    first = int(np.argmax(told.status == TrackStatus.OTHER_BRANCH))
    np.testing.assert_array_equal(run.q[: first + 1], told.q[: first + 1])


@pytest.mark.parametrize("switch_branches", [False, True])
def test_steps_and_runs_agree_where_another_branch_is_looked_for(switch_branches: bool) -> None:
    name, seed = STOPS_BEFORE_ITS_TARGET
    arm, tracker = after_a_ride(name, seed, switch_branches)
    targets = np.repeat(arm.fk(arm.random(5000 + seed))[None], STEPS, axis=0)
    targets[STEPS // 2] = np.nan
    one, many = tracker.copy(), tracker
    steps, run = [one.step(target) for target in targets], many.run(targets)
    np.testing.assert_array_equal([step.q for step in steps], run.q)
    np.testing.assert_array_equal([int(step.status) for step in steps], run.status)
    np.testing.assert_array_equal(one.state, many.state)


def test_a_target_that_moves_is_not_looked_for_in_other_branches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Searches take milliseconds, which a loop at a kilohertz does not have."""
    arm, tracker = after_a_ride(*STOPS_BEFORE_ITS_TARGET)
    target = arm.fk(arm.random(5000 + STOPS_BEFORE_ITS_TARGET[1]))
    targets = np.repeat(target[None], STEPS, axis=0)
    targets[:, 0, 3] += 1e-12 * np.arange(STEPS)
    asked = []
    stepper = type(next(iter(tracker._steppers.values())))
    monkeypatch.setattr(stepper, "other_branch", lambda *_: asked.append(1))
    run = tracker.run(targets)
    assert TrackStatus(run.status[-1]) in (TrackStatus.AT_LIMIT, TrackStatus.STUCK)
    assert not asked
    tracker.run(np.repeat(targets[-1:], STEPS, axis=0))
    assert asked == [1]


def test_links_of_a_robot_are_told_as_well() -> None:
    name, seed = STOPS_BEFORE_ITS_TARGET
    arm, robot = Chain.load(name), Robot.load(name)
    q = arm.random(100 + seed, RIDE + 1)
    tracker = robot.track(q[0], DT, max_velocity=VELOCITY, max_acceleration=ACCELERATION)
    tracker.run({"tip": arm.fk(q[1:])})
    run = tracker.run({"tip": np.repeat(arm.fk(arm.random(5000 + seed))[None], STEPS, axis=0)})
    assert run[-1].status is TrackStatus.OTHER_BRANCH
