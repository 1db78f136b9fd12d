"""What the page does for a visitor, without the page: laws of the session."""

import csv
from io import StringIO

import numpy as np
import pytest

from jointwise import Chain, InvalidInputError, Status
from jointwise.view.session import WATCHED, Session
from jointwise.view.visitor import pose_of

ARMS = {name: Chain.load(name) for name in ("panda", "ur5e", "stanford")}


@pytest.fixture(params=ARMS)
def session(request):
    return Session(ARMS[request.param])


def tip(session):
    return session.chain.fk(session.q)


def test_a_session_begins_at_a_target_it_reaches(session):
    assert session.says == Status.CONVERGED.value
    assert max(session.errors()) < 1e-6
    assert session.seconds > 0.0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["position", "pose", "aim"])
def test_the_tip_goes_to_a_reachable_target(session, kind, seed):
    session.ask_for(kind)
    pose = session.chain.fk(session.chain.random(seed))
    session.move_target(pose)
    assert session.says == Status.CONVERGED.value
    assert np.linalg.norm(tip(session)[:3, 3] - pose[:3, 3]) < 1e-6
    if kind != "position":
        assert tip(session)[:3, 2] == pytest.approx(pose[:3, 2], abs=2e-6)
    if kind == "pose":
        assert tip(session) == pytest.approx(pose, abs=2e-6)


def test_asking_for_more_takes_the_turn_of_the_tip(session):
    q = session.q
    for kind in ("pose", "aim", "position", "aim"):
        session.ask_for(kind)
        assert np.abs(session.q - q).max() < 1e-6
    with pytest.raises(InvalidInputError, match="kind is 'turn': expected 'position' or 'pose'"):
        session.ask_for("turn")


def test_a_target_out_of_reach_is_pointed_at_and_the_arm_stays_still(session):
    far = np.array([20.0, 3.0, 4.0])
    session.move_target(position=far)
    assert session.says == Status.UNREACHABLE.value
    q = session.q
    session.move_target(position=far)
    assert session.q is q
    session.solve()
    assert (session.q == q).all()
    session.move_target(position=far + 1e-3)
    assert np.abs(session.q - q).max() < 1e-2


def test_a_target_that_makes_no_sense_is_refused_and_nothing_moves(session):
    q, pose = session.q, session.T_base_target
    for wrong in ([np.nan, 0.0, 0.0], [1e12, 0.0, 0.0]):
        with pytest.raises(InvalidInputError, match="expected finite numbers below 1e9"):
            session.move_target(position=wrong)
    with pytest.raises(InvalidInputError, match="target"):
        session.move_target(2.0 * np.eye(4))
    assert session.q is q
    assert session.T_base_target is pose


@pytest.mark.parametrize("kind", ["position", "pose", "aim"])
def test_stepping_through_the_joints_of_a_sweep_is_a_sweep(session, kind):
    session.ask_for(kind)
    session.move_target(session.chain.fk(session.chain.random(3)))
    by_sweeps = Session(session.chain)
    by_sweeps.ask_for(kind)
    by_sweeps.move_target(session.T_base_target)
    for each in (session, by_sweeps):
        each.set_joints(each.chain.home)
    trace = session.chain.trace(session.target, session.chain.home, WATCHED)
    for sweep in range(1, 4):
        moved = []
        for _ in range(session.chain.n):
            assert session.step_joint()
            moved.append(session.moving)
        assert moved == list(reversed(range(session.chain.n)))
        assert by_sweeps.step_sweep()
        assert (session.q == by_sweeps.q).all()
        assert (session.q == trace.joint_angles[sweep]).all()
        distance, angle = session.errors()
        assert distance == pytest.approx(trace.position_error[sweep], abs=1e-9)
        assert angle == pytest.approx(trace.orientation_error[sweep], abs=1e-7)
        assert session.walk.distance[session.at] == pytest.approx(distance, abs=1e-12)


def test_a_sweep_begun_by_joints_is_ended_by_a_sweep(session):
    session.step_joint()
    session.step_joint()
    session.step_sweep()
    assert session.at == session.chain.n
    session.start_over()
    assert (session.q == session.chain.home).all()
    assert session.walk is None


def test_the_watched_distance_never_rises_and_walking_ends_where_it_says(session):
    for _ in session.walking():
        assert session.q is not None
    assert session.at == len(session.walk)
    assert (np.diff(session.walk.distance) < 1e-12).all()
    assert session.says == session.walk.ending.value
    there = session.errors()[0] < WATCHED.position_tolerance
    assert there == (session.walk.ending is Status.CONVERGED)
    assert not session.step_joint()


def test_an_arm_that_does_not_follow_steps_from_where_it_is(session):
    q = session.q
    session.follow(False)
    session.move_target(session.chain.fk(session.chain.random(5)))
    assert session.q is q
    session.step_joint()
    assert (session.walk.q[0] == q).all()
    assert np.count_nonzero(session.q != q) <= 1
    session.follow(True)
    assert session.says == Status.CONVERGED.value


def test_joints_stay_within_their_limits_and_the_target_where_it_is(session):
    pose = session.T_base_target
    session.set_joints(session.chain.home + 100.0)
    assert (session.q == session.chain.limits[:, 1]).all()
    session.set_joint(0, 0.25)
    assert session.q[0] == 0.25
    assert session.T_base_target is pose
    session.target_to_tip()
    assert max(session.errors()) < 1e-9


def test_every_answer_reaches_the_target_and_choosing_keeps_the_tip_there(session):
    session.ask_for("pose")
    session.find_answers(6)
    assert len(session.answers) > 1
    assert 0 not in session.others  # the present posture
    for number in session.others:
        session.choose(number)
        assert number not in session.others
        assert max(session.errors()) < 1e-6
    session.move_target(session.chain.fk(session.chain.random(9)))
    assert session.answers == []


def test_a_recorded_path_is_written_and_played_back(session):
    session.ask_for("pose")
    for seed in (1, 2):
        session.move_target(session.chain.fk(session.chain.random(seed)))
        session.record()
    rows = list(csv.DictReader(StringIO(session.to_csv())))
    assert list(rows[0]) == ["x", "y", "z", "qx", "qy", "qz", "qw", *session.chain.names]
    for row, (pose, _) in zip(rows, session.recorded, strict=True):
        numbers = np.array([float(row[name]) for name in row])
        pose_read = pose_of(numbers[[6, 3, 4, 5]], numbers[:3])
        assert pose_read == pytest.approx(pose, abs=1e-12)
        assert session.chain.fk(numbers[7:]) == pytest.approx(pose, abs=3e-6)
    places = [session.T_base_target[:3, 3] for _ in session.replay()]
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert steps.max() < 0.011 * session.chain.reach
    assert "targets reached" in session.says
    assert session.T_base_target == pytest.approx(session.recorded[-1].T_base_target, abs=1e-12)
    session.ask_for("position")
    assert session.to_csv().startswith(",".join(["x", "y", "z", *session.chain.names]) + "\n")
    session.forget()
    assert not list(session.replay())
    assert "record some targets first" in session.says


def test_far_targets_are_not_played_back_in_a_million_steps():
    session = Session(ARMS["ur5e"])
    for x in (0.0, 1e8):
        session.move_target(position=[x, 0.0, 0.0])
        session.record()
    assert sum(1 for _ in session.replay()) < 1000
