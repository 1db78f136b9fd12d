"""The page in a browser: input reaches the session, and the session is drawn."""

import csv

import numpy as np
import pytest

from jointwise import Status, TrackStatus, robots
from jointwise.view import Page
from jointwise.view.state.units import DEGREES, RADIANS
from testbed.browser import CHROMIUM, Tab

if CHROMIUM is None:
    pytest.skip("no chromium: apt-get install chromium", allow_module_level=True)

BUTTONS = (
    *("Fit view", "Snap target to end effector", "Move joints to home"),
    *("Reset", "Find solutions", "Record target", "Clear", "Play / pause", "Save CSV"),
)


@pytest.fixture(scope="module")
def page():
    with Page(robots.panda(), "panda", port=0) as opened:
        yield opened


@pytest.fixture(scope="module")
def tab(chromium, page):
    with Tab(chromium, page, width=940, height=460) as opened:
        yield opened
        assert opened.script_errors == []


def tip_position(session):
    return session.model.fk(session.q)[:3, 3]


def shown(tab, label):
    """The values in the number fields beside a label."""
    return [float(field.input_value()) for field in tab.fields(label)]


def handle(tab):
    """The handle of the target that the panel shows."""
    return tab.visitor.drawing.targets.gizmos[tab.session.selected].handle


def test_the_page_shows_the_arm_and_its_controls(tab):
    folders = ("Target", "Joints [rad]", "CCD", "Obstacles", "Solutions", "Recorded path")
    for text in (Status.CONVERGED.value, *folders, "Target kind", *tab.session.model.joint_names):
        tab.content.get_by_text(text, exact=True).first.wait_for()
    for name in BUTTONS:
        tab.content.get_by_role("button", name=name, exact=True).first.wait_for()

    def links_are_drawn():
        red, green, blue = tab.colors()
        return np.count_nonzero((blue > red + 60.0) & (blue > green + 20.0)) > 2000

    tab.wait_until(links_are_drawn)
    assert tab.content.title() == "panda – jointwise"
    assert tab.content.get_by_text("orientation error").count() == 0
    tab.screenshot("opened")


def test_the_arm_follows_a_dragged_target(tab):
    session, before = tab.session, tab.session.T_base_target[:3, 3].copy()
    on_z_arrow = before + 0.17 * session.model.max_reach * np.eye(3)[2]
    draw_count = tab.visitor.draw_count
    with tab.held(handle(tab), on_z_arrow) as pixel:
        tab.content.mouse.move(*pixel - [0, 40], steps=5)
    moved = session.T_base_target[:3, 3] - before
    assert moved[2] > 0.03
    assert np.abs(moved[:2]).max() < 1e-9
    assert np.linalg.norm(tip_position(session) - session.T_base_target[:3, 3]) < 1e-6
    assert tab.visitor.draw_count > draw_count
    tab.screenshot("dragged")


def test_every_kind_of_target_can_be_selected_and_is_reached(tab):
    session = tab.session
    gizmo = tab.visitor.drawing.targets.gizmos[session.selected]
    for name, kind in reversed(session.kinds.items()):
        tab.select("Target kind", name, lambda kind=kind: session.kind is kind)
        rotation = session.T_base_target[:3, :3]
        tab.type_position(0.45, 0.1, 0.5)
        tab.sync()
        assert session.T_base_target[:3, 3] == pytest.approx([0.45, 0.1, 0.5])
        assert (session.T_base_target[:3, :3] == rotation).all()
        assert np.nanmax(session.error) < 1e-6
        assert gizmo.handle.disable_rotations == (kind.directions == 0)
        assert gizmo.arrow.visible == (kind.directions == 1)
        tab.screenshot(name)


def test_roll_pitch_yaw_of_a_pose_are_typed_and_follow_a_rotation_by_its_handle(tab):
    session = tab.session
    tab.select("Target kind", "pose", lambda: session.kind.directions == 3)
    tab.type_position(0.45, 0.1, 0.5)
    rpy = [3.1, 0.2, -0.3]
    tab.type_values("rpy [rad]", rpy, lambda: np.allclose(session.target_rpy, rpy, atol=1e-9))
    tab.sync()
    assert max(session.error) < 1e-6
    tab.screenshot("rpy")
    rotation = session.T_base_target[:3, :3]
    # The middle of the arc about the target's z axis, and a little farther along it.
    radius = 0.65 * 0.2 * session.model.max_reach
    start, end = (
        session.T_base_target[:3, 3] + radius * rotation @ [np.cos(a), np.sin(a), 0.0]
        for a in (np.pi / 4, np.pi / 4 + 0.2)
    )
    with tab.held(handle(tab), start):
        tab.content.mouse.move(*tab.pixel(end), steps=5)
    assert np.abs(session.T_base_target[:3, :3] - rotation).max() > 0.05
    tab.wait_until(lambda: shown(tab, "rpy [rad]") == pytest.approx(session.target_rpy, abs=2e-3))


def test_angles_are_shown_in_degrees_if_chosen(tab):
    session = tab.session
    tab.select("Target kind", "pose", lambda: session.kind.directions == 3)
    tab.select("Angle unit", "degrees", lambda: session.angle_unit is DEGREES)
    tab.content.get_by_text("Joints [°]", exact=True).wait_for()
    turn = np.exp(1j * np.radians([180, 0, 45]))
    tab.type_values(
        "rpy [°]", [180, 0, 45], lambda: np.allclose(np.exp(1j * session.target_rpy), turn)
    )
    tab.sync()
    tab.content.get_by_text("orientation error less than 0.0001°").wait_for()
    slider = tab.slider(tab.session.model.joint_names[0])
    tab.wait_until(lambda: float(slider.get_attribute("aria-valuemax")) == 166.0)
    q = session.q
    tab.press(slider, "ArrowRight", lambda: (session.q != q).any())
    value = float(slider.get_attribute("aria-valuenow"))
    assert np.degrees(session.q[0]) == pytest.approx(value, abs=0.06)
    tab.screenshot("degrees")
    tab.select("Angle unit", "radians", lambda: session.angle_unit is RADIANS)
    tab.content.get_by_text("Joints [rad]", exact=True).wait_for()
    tab.select("Target kind", "position", lambda: session.kind.directions == 0)


def test_fit_view_shows_arm_and_target_and_the_floor_is_below_the_arm(tab):
    session, floor = tab.session, tab.visitor.drawing.floor
    tab.type_position(0.5, 0.0, -0.2)
    tab.sync()
    assert session.error.position_error < 1e-6
    assert floor.position[2] < tip_position(session)[2]
    tab.place(session.model.home)
    tab.type_position(2.5, 0.0, 2.5)
    tab.sync()
    assert floor.position[2] < -0.2
    tab.click("Fit view")
    tab.wait_until(lambda: -0.02 < floor.position[2] <= 0.0)  # below the base and its skin
    box = tab.content.locator("canvas").first.bounding_box()

    def all_visible():
        pixels = np.array([tab.pixel(point) for point in session.points()])
        low = np.array([box["x"], box["y"]])
        return ((pixels > low) & (pixels < np.add(low, [box["width"], box["height"]]))).all()

    tab.wait_until(all_visible)
    tab.screenshot("fit-view")
    tab.type_position(0.4, 0.3, 0.4)
    tab.sync()
    camera = tab.visitor.client.camera
    far = np.linalg.norm(camera.position)
    tab.click("Fit view")
    tab.wait_until(lambda: np.linalg.norm(camera.position) < 0.8 * far and all_visible())


def test_a_target_out_of_reach_shows_its_status_and_the_arm_stays_still(tab):
    session = tab.session
    tab.type_position(3, 0.5, 0.5)
    tab.sync()
    q, tip_before = session.q, tip_position(session)
    arm, to_target = tip_before - session.model.arm.links[0, :, 3], np.array([3.0, 0.5, 0.167])
    assert arm @ to_target > 0.99 * np.linalg.norm(arm) * np.linalg.norm(to_target)
    tab.type_position(3, 0.5, 0.501)
    assert session.message == Status.UNREACHABLE.value
    tab.content.get_by_text(Status.UNREACHABLE.value).wait_for()
    tab.screenshot("out-of-reach")
    tab.type_position(3, 0.5, 0.5)
    tab.sync()
    assert np.abs(session.q - q).max() < 1e-3
    assert np.linalg.norm(tip_position(session) - tip_before) < 1e-6
    tab.type_position(0.4, 0.3, 0.4)
    tab.content.get_by_text(Status.CONVERGED.value).wait_for()


def test_the_buttons_step_play_pause_and_reset_ccd(tab):
    session = tab.session
    tab.type_position(0.4, 0.3, 0.4)
    tab.sync()
    tab.open("CCD")
    for done in (1, 2, 3):
        tab.click("Step joint")
        tab.wait_until(lambda done=done: session.steps and session.steps.index == done)
        assert np.count_nonzero(np.diff(session.steps.q[done - 1 : done + 1], axis=0)) <= 1
    tab.click("Step sweep")
    tab.wait_until(lambda: session.steps.index == session.model.n)
    tab.content.get_by_text("Sweep 1: panda_joint1 moved by").wait_for()
    tab.content.locator(".uplot canvas").wait_for()
    tab.screenshot("one-sweep")
    tab.click("Play / pause")
    tab.wait_until(lambda: session.steps.index > session.model.n)
    tab.click("Play / pause")
    tab.wait_until(lambda: tab.visitor._frames is None)
    paused = session.steps.index
    assert paused < len(session.steps)
    assert "frame" not in tab.visitor._worker._jobs  # no step will follow
    tab.click("Step sweep")
    tab.wait_until(lambda: session.steps.index > paused)
    tab.click("Rewind")
    tab.wait_until(lambda: session.steps is None)
    assert (session.q == session.model.home).all()
    tab.open("Path")


def test_a_slider_moves_only_its_joint(tab):
    session, before = tab.session, tab.session.q
    slider = tab.slider(session.model.joint_names[0])
    tab.wait_until(lambda: abs(float(slider.get_attribute("aria-valuenow")) - before[0]) < 1e-3)
    tab.press(slider, "ArrowRight", lambda: (session.q != before).any())
    moved = session.q - before
    assert np.flatnonzero(moved).tolist() == [0]
    assert 0.0 < moved[0] < 0.1


def test_joints_move_home_and_the_target_snaps_to_the_end_effector(tab):
    session = tab.session
    tab.click("Move joints to home")
    tab.wait_until(lambda: (session.q == session.model.home).all())
    assert session.error.position_error > 0.1
    tab.click("Snap target to end effector")
    tab.wait_until(lambda: session.error.position_error < 1e-9)
    assert (session.q == session.model.home).all()


def test_another_solution_is_selected_by_a_button_and_by_a_click_on_it(tab):
    session, position = tab.session, [0.4, 0.3, 0.45]
    tab.type_position(*position)
    tab.sync()
    tab.click("Find solutions")
    tab.wait_until(lambda: len(session.solutions) > 2)
    tab.click("3")
    tab.wait_until(lambda: (session.q == session.solutions[2]).all())
    assert np.linalg.norm(tip_position(session) - position) < 1e-6
    tab.wait_until_shown(session.message)  # and so are the others, before one is clicked
    tab.screenshot("solutions")
    before = session.q
    arm = np.array([tab.pixel(corner) for corner in session.model.outline(before)])
    corners = [
        tab.pixel(corner)
        for q in session.other_solutions.values()
        for corner in session.model.outline(q)
    ]
    from_arm = [np.linalg.norm(arm - corner, axis=1).min() for corner in corners]
    tab.click_scene(corners[np.argmax(from_arm)])
    tab.wait_until(lambda: session.q is not before)
    assert any(session.q is q for q in session.solutions)
    assert np.linalg.norm(tip_position(session) - position) < 1e-6


def test_a_recorded_path_is_played_and_saved(tab):
    session = tab.session
    tab.sync()
    corners = [(0.4, -0.2, 0.5), (0.4, 0.2, 0.5)]
    for number, corner in enumerate(corners):
        tab.type_position(*corner)
        tab.wait_until(lambda corner=corner: np.allclose(tip_position(session), corner, atol=1e-6))
        tab.click("Record target")
        tab.wait_until(lambda number=number: len(session.recorded) == number + 1)
    recorded = list(session.recorded)
    with tab.content.expect_download() as download:
        tab.click("Save CSV")
    assert download.value.suggested_filename == "panda.csv"
    with download.value.path().open() as file:
        rows = list(csv.DictReader(file))
    for row, corner in zip(rows, corners, strict=True):
        q = [float(row[name]) for name in session.model.joint_names]
        assert session.model.fk(q)[:3, 3] == pytest.approx(corner, abs=1e-6)
        assert [float(row[name]) for name in "xyz"] == pytest.approx(corner, abs=1e-9)
    tab.type_position(0.3, 0.3, 0.3)
    tab.sync()
    session.recorded += recorded
    tab.click("Play / pause")
    tab.wait_until(lambda: "targets reached" in session.message)
    assert tip_position(session) == pytest.approx(corners[-1], abs=1e-6)


def test_tabs_are_independent_and_closing_one_removes_its_visitor(chromium, page, tab):
    tab.type_position(0.5, 0.0, 0.4)
    tab.sync()
    first = tab.session
    q, pose, steps = first.q, first.T_base_target, first.steps
    with Tab(chromium, page, height=300) as other:
        assert page.visitors == [tab.visitor, other.visitor]
        assert other.session is not first
        other.type_position(0.3, -0.4, 0.6)
        other.sync()
        other.open("CCD")
        other.click("Step joint")
        other.wait_until(lambda: other.session.steps and other.session.steps.index == 1)
        assert first.q is q
        assert first.T_base_target is pose
        assert first.steps is steps
        assert other.session.T_base_target[:3, 3] == pytest.approx([0.3, -0.4, 0.6])
        assert other.script_errors == []
    tab.wait_until(lambda: page.visitors == [tab.visitor])
    tab.wait_until(lambda: not other.visitor._worker.is_alive())
    tab.type_position(0.5, 0.1, 0.4)
    tab.wait_until(lambda: np.allclose(tip_position(first), [0.5, 0.1, 0.4], atol=1e-6))


def test_the_arm_tracks_the_target_and_its_velocities_are_plotted(tab):
    session = tab.session
    tab.place(session.model.home)
    tab.content.get_by_role("tab", name="Tracking").click()
    tab.content.get_by_label("Arm tracks").check()
    tab.wait_until(lambda: session.tracking is not None)
    before = session.q
    tab.type_position(0.3, -0.3, 0.6)
    tab.wait_until(lambda: np.abs(session.q - before).max() > 0.3)
    assert 0.3 < np.abs(session.tracking.shares).max() <= 1.0 + 1e-9
    wait_until_followed(tab)
    tab.screenshot("tracking")


def wait_until_followed(tab):
    """Wait until the arm is at the target; its status may be that before the target moved."""
    session = tab.session

    def is_followed():
        error = np.abs(tip_position(session) - session.T_base_target[:3, 3]).max()
        return error < 1e-3 and session.message == TrackStatus.FOLLOWING.value

    tab.wait_until(is_followed)


def test_what_is_typed_while_the_arm_tracks_stays_in_the_fields(tab):
    session = tab.session
    assert session.tracking is not None
    for position in ([0.5, 0.3, 0.3], [0.35, -0.2, 0.5], [0.4, -0.1, 0.45]):
        tab.type_position(*position)
        assert shown(tab, "x y z [m]") == pytest.approx(position)
    wait_until_followed(tab)
    assert shown(tab, "x y z [m]") == pytest.approx(position)
    assert tip_position(session) == pytest.approx(position, abs=1e-3)


def test_the_arm_tracks_a_dragged_target_within_its_limits(tab):
    tab.place(tab.session.model.home)
    session, before = tab.session, tab.session.T_base_target[:3, 3].copy()
    start, from_here = session.q, session.tracking.times[-1]
    on_z_arrow = before + 0.17 * session.model.max_reach * np.eye(3)[2]
    with tab.held(handle(tab), on_z_arrow) as pixel:
        tab.content.mouse.move(*pixel - [0, 60], steps=20)
    position = session.T_base_target[:3, 3]
    assert position[2] > before[2] + 0.03
    wait_until_followed(tab)
    assert np.abs(session.q - start).max() > 0.01
    tab.wait_until(lambda: np.allclose(shown(tab, "x y z [m]"), position, atol=1e-3))
    assert tip_position(session) == pytest.approx(session.T_base_target[:3, 3], abs=1e-3)
    tracking = session.tracking
    assert tracking.times[-1] > from_here  # not started anew by the drag
    assert 0.01 < np.abs(tracking.shares).max() <= 1.0 + 1e-9
    tab.screenshot("tracking a drag")


def test_the_arm_stops_tracking(tab):
    tab.content.get_by_label("Arm tracks").uncheck()
    tab.wait_until(lambda: tab.session.tracking is None)


def test_collisions_are_checked_once_the_visitor_asks_for_it(tab):
    session = tab.session
    tab.content.get_by_role("tab", name="Obstacles").click()
    assert tab.content.get_by_text("clearance").count() == 0
    tab.click("Check collisions")
    tab.content.get_by_text("clearance").wait_for()
    tab.click("Sphere")
    tab.wait_until(lambda: session.obstacles.selected == "sphere1")
    assert session.clearance.distance == session.model.clearance(session.q)
    tab.content.get_by_text("Collisions", exact=True).wait_for(state="hidden")
    tab.screenshot("check-collisions")
