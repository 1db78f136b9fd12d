"""Laws of the session: what the page does for a visitor, without the page."""

import csv
from io import StringIO

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from jointwise import Chain, DHJoint, InvalidInputError, Robot, Status, TrackStatus
from jointwise.view.graphics.target_gizmo import pose_matrix
from jointwise.view.session import CCD_CONFIG, Session
from jointwise.view.state.live_tracking import HISTORY_S
from jointwise.view.state.posed_model import ALL_REACHED
from jointwise.view.state.recording import MAX_STEP
from jointwise.view.state.workspace import target_kinds
from tests.support.two_arms import two_arms

ARMS = {name: Chain.load(name) for name in ("panda", "ur5e", "stanford")}
KINDS = target_kinds(ARMS["panda"])


# What arms and robots do alike.
MODELS = ARMS | {"two arms": Robot.from_urdf(two_arms()), "ur5e robot": Robot.load("ur5e")}


@pytest.fixture(params=ARMS)
def session(request):
    return Session(ARMS[request.param])


@pytest.fixture(params=MODELS)
def any_session(request):
    return Session(MODELS[request.param])


def moved_targets(session, shift):
    """Move each target by a vector (3,) [m]."""
    for link, target in session.targets.items():
        pose = target.pose.copy()
        pose[:3, 3] += shift
        session.move_link_target(link, pose)


def bend(session):
    """Move the joints away from home, where limbs may be straight, and the targets to the links."""
    session.set_joints(np.clip(session.model.home + 0.4, *session.model.limits.T))
    for link, pose in session.link_poses().items():
        if link in session.targets:
            session.move_link_target(link, pose)


def tip_pose(session):
    return session.model.fk(session.q)


def test_a_session_starts_at_a_target_that_it_reaches(session):
    assert session.message == Status.CONVERGED.value
    assert np.nanmax(session.error) < 1e-6
    assert session.solve_seconds > 0.0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", KINDS)
def test_the_end_effector_moves_to_a_reachable_target(session, kind, seed):
    session.set_target_kind(kind)
    pose = session.model.fk(session.model.random(seed))
    session.move_target(pose)
    assert session.message == Status.CONVERGED.value
    assert np.linalg.norm(tip_pose(session)[:3, 3] - pose[:3, 3]) < 1e-6
    if session.kind.directions >= 1:
        assert tip_pose(session)[:3, 2] == pytest.approx(pose[:3, 2], abs=2e-6)
    if session.kind.directions == 3:
        assert tip_pose(session) == pytest.approx(pose, abs=2e-6)


def test_a_change_of_the_target_kind_leaves_an_arm_at_the_target_where_it_is(session):
    q, position = session.q, session.T_base_target[:3, 3].copy()
    for kind in [*KINDS, *reversed(KINDS)]:
        session.set_target_kind(kind)
        assert session.kind is KINDS[kind]
        assert np.abs(session.q - q).max() < 1e-6
        assert (session.T_base_target[:3, 3] == position).all()
        if session.kind.directions == 0:
            assert (session.T_base_target[:3, :3] == np.eye(3)).all()


def test_an_unknown_target_kind_is_refused_and_the_kinds_are_listed(session):
    before = session.kind
    accepted = " or ".join(map(repr, KINDS))
    with pytest.raises(InvalidInputError, match=f"kind is 'orientation': expected {accepted}."):
        session.set_target_kind("orientation")
    assert session.kind is before


def test_the_arm_points_at_a_target_out_of_reach_and_stays_still(session):
    far = np.array([20.0, 3.0, 4.0])
    session.move_target(position=far)
    assert session.message == Status.UNREACHABLE.value
    q = session.q
    session.move_target(position=far)
    assert session.q is q
    session.solve()
    assert (session.q == q).all()
    session.move_target(position=far + 1e-3)
    assert np.abs(session.q - q).max() < 1e-2


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ({"position": [np.nan, 0.0, 0.0]}, "expected finite numbers below 1e9"),
        ({"position": [1e12, 0.0, 0.0]}, "expected finite numbers below 1e9"),
        ({"rpy": [0.0, np.inf, 0.0]}, r"rpy\[1\] is inf: expected finite numbers below 1e9"),
        ({"pose": np.diag([2.0, 2.0, 2.0, 1.0])}, "its rotation part"),
    ],
)
def test_an_invalid_target_is_refused_and_nothing_moves(session, target, text):
    q, pose = session.q, session.T_base_target
    with pytest.raises(InvalidInputError, match=text):
        session.move_target(**target)
    assert session.q is q
    assert session.T_base_target is pose


@pytest.mark.parametrize("kind", KINDS)
def test_stepping_through_all_joints_is_a_sweep(session, kind):
    session.set_target_kind(kind)
    session.move_target(session.model.fk(session.model.random(3)))
    by_sweeps = Session(session.model)
    by_sweeps.set_target_kind(kind)
    by_sweeps.move_target(session.T_base_target)
    for each in (session, by_sweeps):
        each.set_joints(each.model.mid_range)
    trace = session.model.trace(session.target, session.model.mid_range, config=CCD_CONFIG)
    for sweep in range(1, 4):
        moved = []
        for _ in range(session.model.n):
            assert session.step_joint()
            moved.append(session.moved_joint)
        assert moved == list(reversed(range(session.model.n)))
        assert by_sweeps.step_sweep()
        assert (session.q == by_sweeps.q).all()
        assert (session.q == trace.q[sweep]).all()
        position_error, orientation_error = session.error
        assert position_error == pytest.approx(trace.position_error[sweep], abs=1e-9)
        assert orientation_error == pytest.approx(
            trace.orientation_error[sweep], abs=1e-7, nan_ok=True
        )
        steps = session.steps
        assert steps.position_error[steps.index] == pytest.approx(position_error, abs=1e-12)
        assert steps.orientation_error[steps.index] == pytest.approx(
            orientation_error, abs=1e-9, nan_ok=True
        )


def test_the_message_of_a_step_has_the_sweep_the_joint_its_change_and_unit(session):
    session.set_joints(session.model.mid_range)
    before = session.q
    session.step_joint()
    last = session.model.n - 1
    unit = "m" if session.model.prismatic[last] else "rad"
    change = session.q[last] - before[last]
    assert session.message == (
        f"Sweep 1: {session.model.joint_names[last]} moved by {change:+.4f} {unit}."
    )


def test_in_degrees_the_message_of_a_step_changes_with_the_unit(session):
    session.set_joints(session.model.mid_range)
    session.step_joint()
    in_radians = session.message
    session.set_angle_unit("degrees")
    last = session.model.n - 1
    change = np.degrees(session.q[last] - session.model.mid_range[last])
    name = session.model.joint_names[last]
    assert session.message == f"Sweep 1: {name} moved by {change:+.2f}°."
    session.set_angle_unit("radians")
    assert session.message == in_radians


def test_an_unknown_angle_unit_is_refused(session):
    with pytest.raises(InvalidInputError) as caught:
        session.set_angle_unit("gon")
    assert str(caught.value) == "angle unit is 'gon': expected 'radians' or 'degrees'."


def test_without_an_orientation_error_an_arm_at_the_target_is_known_to_be_there(session):
    assert session.kind.directions == 0
    assert np.isnan(session.error.orientation_error)
    q = session.q
    session.find_solutions()
    assert session.solutions[0] is q
    session.step_joint()
    assert (session.steps.q[0] == session.model.home).all()
    assert np.isnan(session.steps.orientation_error).all()


angles = st.floats(-7.0, 7.0)


@given(st.tuples(angles, angles, angles))
@example((0.3, np.pi / 2, 0.4))
@example((0.3, -np.pi / 2, 0.4))
def test_roll_pitch_yaw_rotate_the_target_about_fixed_axes(rpy):
    session = Session(ARMS["ur5e"])
    session.set_target_kind("pose")
    session.set_follows(False)
    position = session.T_base_target[:3, 3].copy()
    session.move_target(rpy=rpy)

    def about(axis, angle):
        return Rotation.from_rotvec(angle * np.eye(3)[axis]).as_matrix()

    def rotation(roll, pitch, yaw):
        return about(2, yaw) @ about(1, pitch) @ about(0, roll)

    assert session.T_base_target[:3, :3] == pytest.approx(rotation(*rpy), abs=1e-12)
    assert rotation(*session.target_rpy) == pytest.approx(rotation(*rpy), abs=1e-9)
    assert (session.T_base_target[:3, 3] == position).all()


def test_the_points_to_show_are_base_arm_and_target(session):
    session.move_target(position=[3.0, 4.0, 5.0])
    points = session.points().tolist()
    corners = session.model.outline(session.q).tolist()
    for point in ([0.0, 0.0, 0.0], [3.0, 4.0, 5.0], *corners):
        assert point in points


def test_a_sweep_step_completes_a_sweep_that_joint_steps_have_started(session):
    session.step_joint()
    session.step_joint()
    session.step_sweep()
    assert session.steps.index == session.model.n
    session.rewind_ccd()
    assert (session.q == session.model.home).all()
    assert session.steps is None


def test_the_position_error_never_rises_and_playing_ends_with_the_status(session):
    played = [session.q for _ in session.play_ccd()]
    steps = session.steps
    assert (np.array(played) == steps.q[1:]).all()
    assert steps.index == len(steps) == len(played)
    assert (np.diff(steps.position_error) < 1e-12).all()
    assert session.message == steps.status.value
    reached = session.error.position_error < CCD_CONFIG.position_tolerance
    assert reached == (steps.status is Status.CONVERGED)
    assert not session.step_joint()


def test_an_arm_that_does_not_follow_steps_from_its_joint_values(session):
    q = session.q
    session.set_follows(False)
    session.move_target(session.model.fk(session.model.random(5)))
    assert session.q is q
    assert session.message == "Target changed; the arm does not follow it."
    session.step_joint()
    assert (session.steps.q[0] == q).all()
    assert np.count_nonzero(session.q != q) <= 1
    session.set_follows(True)
    assert session.message == Status.CONVERGED.value


def test_joint_values_are_clamped_to_the_limits_and_the_target_stays(session):
    pose = session.T_base_target
    session.set_joints(session.model.mid_range + 100.0)
    assert (session.q == session.model.limits[:, 1]).all()
    session.set_joint(0, 0.25)
    assert session.q[0] == 0.25
    assert session.T_base_target is pose
    session.snap_target_to_link()
    assert np.nanmax(session.error) < 1e-9


def test_every_solution_reaches_the_target_and_can_be_selected(session):
    session.set_target_kind("pose")
    session.find_solutions()
    assert len(session.solutions) > 1
    closed = session.model.closed_form is not None and session.model.n == 6
    others = "; there are no others." if closed else "."
    assert session.message == f"{len(session.solutions)} solutions found{others}"
    assert 0 not in session.other_solutions  # the current one
    for index in session.other_solutions:
        session.select_solution(index)
        assert session.message == f"Solution {session.solution_name(index)}."
        assert index not in session.other_solutions
        assert np.nanmax(session.error) < 1e-6
    session.move_target(session.model.fk(session.model.random(9)))
    assert session.solutions == []


def test_without_a_solution_the_message_is_that_none_was_found(session):
    session.move_target(position=[20.0, 3.0, 4.0])
    session.find_solutions()
    assert session.solutions == []
    assert session.message == "No solution found."


@pytest.mark.parametrize("kind", KINDS)
def test_the_csv_has_the_columns_of_the_target_kind_and_the_joint_values(session, kind):
    session.set_target_kind(kind)
    header = session.to_csv().splitlines()
    for seed in (1, 2):
        session.move_target(session.model.fk(session.model.random(seed)))
        session.record_target()
    rows = list(csv.reader(StringIO(session.to_csv())))
    groups = session.kind.column_values(session.T_base_target)
    columns = [column for group in groups for column in session.kind.columns[group]]
    assert rows[0] == ["x", "y", "z", *columns, *session.model.joint_names]
    assert header == [",".join(rows[0])]  # of an empty path
    for row, waypoint in zip(rows[1:], session.recorded, strict=True):
        pose = waypoint.targets[session.selected].pose
        written = [float(value) for value in row]
        values = [value for group in session.kind.column_values(pose).values() for value in group]
        assert written == [*pose[:3, 3], *values, *waypoint.q]


def test_a_pose_is_written_to_csv_as_a_quaternion(session):
    session.set_target_kind("pose")
    session.move_target(session.model.fk(session.model.random(1)))
    session.record_target()
    (row,) = csv.DictReader(StringIO(session.to_csv()))
    wxyz, position = (
        [float(row[name]) for name in names] for names in (["qw", "qx", "qy", "qz"], "xyz")
    )
    assert pose_matrix(wxyz, position) == pytest.approx(session.T_base_target, abs=1e-12)


def test_a_recorded_path_is_played_in_small_steps(session):
    session.set_target_kind("pose")
    for seed in (1, 2):
        session.move_target(session.model.fk(session.model.random(seed)))
        session.record_target()
    assert session.message == "2 targets recorded."
    positions = [session.T_base_target[:3, 3] for _ in session.play_path()]
    steps = np.linalg.norm(np.diff(positions, axis=0), axis=1)
    assert steps.max() < 1.1 * MAX_STEP * session.model.max_reach
    assert f"{len(positions)} targets reached" in session.message
    assert session.T_base_target == pytest.approx(
        session.recorded[-1].targets[session.selected].pose, abs=1e-12
    )
    session.clear_path()
    assert not list(session.play_path())
    assert session.message == "The path is empty: record some targets first."


@pytest.mark.filterwarnings("ignore::jointwise.MillimetresWarning")
def test_the_steps_between_far_targets_are_limited():
    session = Session(ARMS["ur5e"])
    for x in (0.0, 1e8):
        session.move_target(position=[x, 0.0, 0.0])
        session.record_target()
    assert sum(1 for _ in session.play_path()) == 501


def test_a_model_that_tracks_keeps_its_velocity_limit_and_arrives(any_session):
    session = any_session
    bend(session)
    start = session.q
    session.set_max_velocity(0.5)
    session.set_tracking(True)
    moved_targets(session, -0.1 * session.T_base_target[:3, 3])
    assert session.q is start  # it has not been solved for
    for _ in range(200):
        before = session.q
        session.track(0.03)
        revolute = ~session.model.prismatic
        assert np.abs(session.q - before)[revolute].max() <= 0.5 * 0.03 * (1.0 + 1e-9)
    assert session.message == TrackStatus.FOLLOWING.value
    assert np.nanmax(list(session.errors.values())) < 1e-4
    assert np.abs(session.tracking.shares).max() <= 1.0 + 1e-9
    assert np.ptp(session.tracking.times) == pytest.approx(HISTORY_S, abs=0.05)


def test_a_model_that_is_moved_while_it_tracks_starts_from_there(any_session):
    session = any_session
    session.set_tracking(True)
    session.track(0.03)
    moved = np.clip(session.q + 0.1, *session.model.limits.T)
    session.set_joints(moved)
    session.track(0.002)
    assert np.abs(session.q - moved).max() < 1e-4


def test_tracking_ends_when_asked(any_session):
    session = any_session
    session.track(0.03)  # without tracking, nothing
    session.switch_branch()
    assert session.message == "No other branch to switch to."
    session.set_tracking(True)
    session.set_tracking(False)
    targets = "target" if len(session.targets) == 1 else "targets"
    assert session.message == f"The {session.noun} does not track the {targets}."
    moved_targets(session, -0.05 * session.T_base_target[:3, 3])
    assert session.message in (Status.CONVERGED.value, ALL_REACHED)


def test_a_model_with_a_scene_is_tracked_in_it():
    for model in (ARMS["panda"], Robot.load("panda")):
        session = Session(model.with_scene())
        session.set_tracking(True)
        session.track(0.03)
        assert session.clearance.distance > 0.0
        assert session.model.scene is not None


def test_a_recorded_path_leads_all_links_to_their_targets(any_session):
    session = any_session
    bend(session)
    for shift in ([0.0, 0.0, 0.0], [0.0, 0.0, -0.03], [0.02, 0.0, 0.0]):
        moved_targets(session, shift)
        session.record_target()
    last, played = session.targets, 0
    session.reset()
    for _ in session.play_path():
        played += 1
        assert np.nanmax(list(session.errors.values())) < 1e-5
    assert f"{played} targets reached" in session.message
    for link, target in last.items():
        assert session.targets[link].pose == pytest.approx(target.pose, abs=1e-12)


def test_the_csv_of_a_robot_has_the_targets_by_link():
    session = Session(MODELS["two arms"])
    session.record_target()
    (row,) = csv.DictReader(StringIO(session.to_csv()))
    for link, target in session.targets.items():
        wxyz, position = (
            [float(row[f"{link}.{name}"]) for name in names]
            for names in (["qw", "qx", "qy", "qz"], "xyz")
        )
        assert pose_matrix(wxyz, position) == pytest.approx(target.pose, abs=1e-12)
    assert [float(row[name]) for name in session.model.joint_names] == session.q.tolist()
    session.set_target_kind("direction")
    session.clear_path()
    with pytest.raises(InvalidInputError, match="directions cannot be written to a table"):
        session.to_csv()


def test_a_path_has_targets_of_the_same_links_and_kinds():
    session = Session(MODELS["two arms"])
    session.record_target()
    session.set_target_kind("position")
    with pytest.raises(InvalidInputError, match="other kinds of targets, or links: clear it first"):
        session.record_target()
    session.set_target_kind("pose")
    session.toggle_target("head")
    with pytest.raises(InvalidInputError, match="clear it first"):
        session.record_target()
    for link in list(session.targets):
        session.remove_target(link)
    with pytest.raises(InvalidInputError, match="no link has a target"):
        session.record_target()
    assert len(session.recorded) == 1


def test_the_errors_of_a_solve_are_kept_and_those_of_other_joint_values_measured(any_session):
    session = any_session
    poses = session.link_poses()
    kept = session.errors
    assert session.errors is kept
    for link, target in session.targets.items():
        measured = [float(error) for error in target.errors(poses[link])]
        assert kept[link] == pytest.approx(measured, abs=1e-9, nan_ok=True)
    bend(session)
    assert session.errors is not kept
    session.move_target(position=session.T_base_target[:3, 3] + [0.0, 0.0, -0.1])
    assert session.error.position_error < 1e-6
    session.set_follows(False)
    session.move_target(position=session.T_base_target[:3, 3] - [0.0, 0.0, 0.1])
    assert session.error.position_error == pytest.approx(0.1, abs=1e-5)


def test_collisions_are_checked_from_when_the_visitor_asks():
    for model in (ARMS["panda"], Robot.load("panda")):
        session = Session(model)
        assert session.has_shape
        assert session.clearance is None
        session.check_collisions()
        assert session.model.scene is not None
        assert session.clearance.distance == session.model.clearance(session.q)
        assert model.scene is None


def test_without_a_shape_to_find_there_is_nothing_to_check():
    assert not Session(Chain.from_dh([DHJoint(a=1.0), DHJoint(a=1.0)])).has_shape
    session = Session(MODELS["two arms"])
    model = session.model
    with pytest.raises(InvalidInputError, match="with_geometry"):
        session.check_collisions()
    assert session.obstacles is None
    assert session.model is model


def test_what_only_an_arm_can_do_is_refused_for_a_robot():
    session = Session(MODELS["ur5e robot"])
    for ask in (session.step_joint, session.step_sweep):
        with pytest.raises(InvalidInputError, match="this is for one arm"):
            ask()
