"""Laws of paths on the page, without the page: recorded, solved, coloured, played, in words."""

from math import radians

import numpy as np
import pytest

from jointwise import BreakReason, Chain, InvalidInputError, Robot, Scene, aim, robots
from jointwise.view import Page
from jointwise.view.controls.path_controls import path_lines
from jointwise.view.graphics.path_drawing import COLORS
from jointwise.view.session import Session
from jointwise.view.state import path_model
from jointwise.view.state.shown_path import NEAR_LIMIT, Binding, ShownPath
from jointwise.view.state.status_text import BREAKS, status_text
from tests.support.two_arms import two_arms

DOWN = np.diag([1.0, -1.0, -1.0, 1.0])
CORNERS = [(0.4, -0.15, 0.2), (0.55, -0.15, 0.2), (0.55, 0.15, 0.2)]


def pose_at(position):
    pose = DOWN.copy()
    pose[:3, 3] = position
    return pose


def with_recorded(model, corners=CORNERS):
    session = Session(model)
    if session.kind.name != "pose":
        session.set_target_kind("pose")
    for corner in corners:
        session.move_target(pose_at(corner))
        session.record_target()
    return session


@pytest.fixture(params=[Chain, Robot])
def session(request):
    return with_recorded(request.param.load("ur5e"))


def test_a_recorded_path_is_solved_through_all_targets(session):
    session.solve_path()
    shown, (points,) = session.shown_path, session.shown_path.points()
    assert shown.path.converged.all()
    assert shown.path.breaks == ()
    for corner in CORNERS:
        assert np.linalg.norm(points - corner, axis=1).min() < 1e-5
    assert shown.sentences()[0] == f"{len(shown)} of {len(shown)} targets reached."
    assert session.message.startswith(f"{len(shown)} of {len(shown)} targets reached")


def test_the_model_is_moved_along_the_path_and_played(session):
    session.solve_path()
    shown = session.shown_path
    session.move_along_path(1.0)
    np.testing.assert_array_equal(session.q, shown.path.q[-1])
    assert session.T_base_target[:3, 3] == pytest.approx(CORNERS[-1], abs=1e-9)
    assert session.error.position_error < 1e-5
    played = [session.q for _ in session.play_path()]
    np.testing.assert_array_equal(played, shown.path.q)  # from the beginning again
    session.move_along_path(0.5)
    half = shown.index(0.5)
    played = [session.q for _ in session.play_path()]
    np.testing.assert_array_equal(played, shown.path.q[half:])
    session.move_along_path(7.0)
    assert session.path_share == 1.0


def test_what_changes_the_path_ends_it(session):
    session.solve_path()
    assert session.shown_path is not None
    session.set_freedom(free_roll=True)
    assert session.shown_path is None
    session.set_freedom(free_roll=False)
    assert session.shown_path is not None
    session.record_target()
    assert session.shown_path is None
    session.clear_path()
    session.move_along_path(0.5)
    with pytest.raises(InvalidInputError, match="record some targets first"):
        session.solve_path()


def test_free_roll_and_tilt_lower_the_motion_of_an_arm():
    session, motions = with_recorded(Chain.load("ur5e")), []
    for freedom in ({}, {"free_roll": True}, {"tilt": radians(10.0)}):
        session.set_freedom(**freedom)
        session.solve_path()
        shown = session.shown_path
        assert shown.path.converged.all()
        motions.append(np.abs(np.diff(shown.path.q, axis=0)).sum())
        tilt = np.arccos(np.clip(-session.model.fk(shown.path.q)[:, 2, 2], -1.0, 1.0))
        assert tilt.max() <= np.sqrt(2.0) * session.freedom.tilt + 1e-3
    assert motions[1] <= motions[0] + 1e-9
    assert motions[2] <= motions[1] * 1.01
    assert "rotation z" in session.shown_path.path.resolution


def test_a_closed_path_returns_to_its_first_target():
    session = with_recorded(Chain.load("ur5e"))
    session.set_freedom(closed=True)
    session.solve_path()
    path = session.shown_path.path
    np.testing.assert_array_equal(path.q[0], path.q[-1])
    assert path.breaks == ()


def test_freedom_needs_poses():
    session = Session(robots.panda())
    session.record_target()
    session.set_freedom(free_roll=True)
    with pytest.raises(InvalidInputError, match="Free roll and tilt are for poses, but the path"):
        session.solve_path()


def test_breaks_are_told_in_sentences_and_drawn():
    """The second target is out of reach."""
    session = with_recorded(Chain.load("ur5e"), [CORNERS[0], (2.5, 0.0, 0.2)])
    session.solve_path()
    shown = session.shown_path
    missed = ~shown.path.converged
    assert missed.any()
    assert (shown.bindings()[missed] == Binding.BREAK).all()
    lines = shown.sentences()
    assert lines[1].startswith("Targets are missed from ")
    assert "out of reach" in lines[1]
    assert len(shown.sentences()) < 20
    red = f"rgb{COLORS[Binding.BREAK]}"
    assert red in path_lines(shown)[-1]


def test_a_break_is_told_with_its_place_and_a_remedy():
    """A straight line past the base: the arm has to turn around."""
    arm = Chain.load("ur5e")
    path = arm.solve_path(arm.fk(arm.random(1, 2)), max_step=0.1)
    lines = ShownPath(arm, path).sentences()
    assert lines[1] == f"The path breaks at 100 %. {BREAKS[BreakReason.STEP_TOO_LARGE]}"


def test_every_reason_of_a_break_has_words_for_the_page():
    assert set(BREAKS) | {BreakReason.INVALID} == set(BreakReason)  # no target of a page is NaN
    for reason in BREAKS:
        assert "samples" not in status_text(reason)
        assert "resolution" not in status_text(reason)


def test_joint_limits_and_obstacles_colour_the_path():
    arm = Chain.load("panda")
    q = np.tile(arm.mid_range, (11, 1))
    low, high = arm.limits[5]
    q[:, 5] = np.linspace(low + 0.01, 0.5 * (low + high), 11)
    shown = ShownPath(arm, arm.solve_path(arm.fk(q), q[0]))
    near = shown.path.q[:, 5] - low < NEAR_LIMIT
    np.testing.assert_array_equal(near, shown.near_limits[:, 5])
    assert (shown.bindings()[near] >= Binding.JOINT_LIMIT).all()
    assert any(
        line.startswith(f"{arm.joint_names[5]} is near a limit ") for line in shown.sentences()
    )
    tip = arm.fk(shown.path.q[-1])[:3, 3]
    walled = arm.with_scene(Scene().sphere(0.05, tip - np.array([0.0, 0.0, 0.2])))
    near_wall = ShownPath(walled, walled.solve_path(walled.fk(shown.path.q), shown.path.q[0]))
    assert any("Smallest clearance" in line for line in near_wall.sentences())


def test_a_path_made_elsewhere_is_shown():
    arm = Chain.load("ur5e")
    points = np.linspace(CORNERS[0], CORNERS[1], 12)
    path = arm.solve_path(aim(points, [0, 0, -1]))
    session = Session(arm)
    session.show_path(path)
    np.testing.assert_allclose(session.shown_path.points()[0], points, atol=1e-5)
    assert [session.q for _ in session.play_path()][-1] == pytest.approx(path.q[-1])
    with pytest.raises(InvalidInputError, match="the path has 6 joints: expected the 7 joints"):
        Session(robots.panda()).show_path(path)
    with Page(arm, "ur5e", port=0, path=path) as page:
        assert page.url.startswith("http://127.0.0.1")


def test_the_path_of_two_hands_has_two_lines():
    robot = Robot.from_urdf(two_arms())
    targets = {link: [pose[:3, 3]] * 3 for link, pose in robot.fk(robot.mid_range).items()}
    hands = list(Session(robot).targets)
    path = robot.solve_path({link: targets[link] for link in hands})
    session = Session(robot)
    session.show_path(path)
    lines = session.shown_path.points()
    assert len(lines) == len(hands) == 2
    for line, link in zip(lines, hands, strict=True):
        np.testing.assert_allclose(line, targets[link], atol=1e-5)


def test_a_single_row_is_a_path_too():
    arm = Chain.load("ur5e")
    shown = ShownPath(arm, arm.solve_path([pose_at(CORNERS[0])]))
    assert shown.sentences()[0] == "1 of 1 targets reached."
    assert shown.index(1.0) == 0


def test_a_path_whose_rate_is_known_is_played_in_real_time(monkeypatch):
    robot, clock = Robot.load("ur5e"), [0.0]
    points = np.linspace([0.3, 0.2, 0.5], [0.3, 0.3, 0.5], 101)
    session = Session(robot)
    session.show_path(robot.solve_path({"tip": points}, robot.home, times=0.01, max_velocity=9.0))
    monkeypatch.setattr(path_model, "perf_counter", lambda: clock[0])
    shares = []
    for _ in session.play_path():
        shares.append(session.path_share)
        clock[0] += 0.1
    np.testing.assert_allclose(shares, np.linspace(0.0, 1.0, 11))
    assert session.path_share == 1.0
