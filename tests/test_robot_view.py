"""The page of a robot in a browser: links are clicked, targets are dragged, the robot follows."""

import numpy as np
import pytest

from jointwise import Robot, Status, TrackStatus
from jointwise.view import Page
from jointwise.view.state.posed_model import ALL_REACHED
from jointwise.view.state.status_text import REMEDIES
from jointwise.view.state.workspace import drawing_size
from testbed.browser import CHROMIUM, Tab, browser
from tests.support.two_arms import two_arms

if CHROMIUM is None:
    pytest.skip("no chromium: apt-get install chromium", allow_module_level=True)

PLAIN = Robot.from_urdf(two_arms())
# A home away from zero, where the arms are straight and their targets cannot be dragged outward.
HOME = "".join(
    f'<joint name="{name}" value="{value}"/>'
    for name, value in zip(PLAIN.joint_names, PLAIN.mid_range, strict=True)
)
SRDF = f'<robot name="r"><group_state name="home" group="all">{HOME}</group_state></robot>'
ROBOT = Robot.from_urdf(two_arms(), srdf=SRDF)


@pytest.fixture(scope="module")
def tab():
    with (
        browser() as chromium,
        Page(ROBOT, "two_arms", port=0) as page,
        Tab(chromium, page, width=1100, height=440) as opened,  # a small scene is drawn sooner
    ):
        yield opened
        assert opened.script_errors == []


def middle(session, start, end):
    """(3,) between the origins of two links [m]."""
    poses = session.link_poses()
    return 0.5 * (poses[start][:3, 3] + poses[end][:3, 3])


def test_the_page_shows_the_robot_its_targets_and_its_controls(tab):
    for text in ("left_6: less than 1 µm", "right_6: less than 1 µm"):
        tab.content.get_by_text(text).first.wait_for()
    for text in ("Targets", "Target kind", *ROBOT.joint_names):
        tab.content.get_by_text(text, exact=True).first.wait_for()
    assert tab.content.get_by_text("follower", exact=True).count() == 0  # it mimics another joint

    def links_are_drawn():
        red, green, blue = tab.colors()
        return np.count_nonzero((blue > red + 60.0) & (blue > green + 20.0)) > 2000

    tab.wait_until(links_are_drawn)
    tab.screenshot("robot-opened")


def test_the_robot_follows_a_dragged_target_and_the_other_target_stays(tab):
    session = tab.session
    tab.select("Target kind", "position", lambda: session.kind.directions == 0)
    before, other = session.T_base_target[:3, 3].copy(), session.targets["right_6"]
    on_z_arrow = before + 0.15 * drawing_size(ROBOT) * np.eye(3)[2]
    with tab.held(tab.visitor.drawing.targets.gizmos[session.selected].handle, on_z_arrow) as pixel:
        tab.content.mouse.move(*pixel - [0, 30], steps=5)
    assert session.T_base_target[2, 3] > before[2] + 0.02
    assert np.abs(session.T_base_target[:2, 3] - before[:2]).max() < 1e-9
    assert session.targets["right_6"] is other
    assert max(errors.position_error for errors in session.errors.values()) < 1e-6
    tab.screenshot("robot-dragged")


def test_a_click_on_a_link_makes_it_a_target_and_another_removes_it(tab):
    session = tab.session
    pixel = tab.pixel(middle(session, "right_3", "right_4"))
    tab.wait_until_shown(session.message)
    tab.click_scene(pixel)
    tab.wait_until(lambda: "right_3" in session.targets)
    tab.content.get_by_text("right_3: less than 1 µm").wait_for()
    assert session.selected == "right_3"
    assert tab.visitor.drawing.targets.gizmos.keys() == session.targets.keys()
    tab.screenshot("robot-clicked")
    tab.click_scene(pixel)
    tab.wait_until(lambda: "right_3" not in session.targets)
    tab.wait_until(lambda: tab.visitor.drawing.targets.gizmos.keys() == session.targets.keys())


def test_a_link_is_chosen_by_its_name_and_its_target_removed_by_a_button(tab):
    session = tab.session
    tab.select("Link", "head", lambda: session.selected == "head")
    tab.click("Remove target")
    tab.wait_until(lambda: "head" not in session.targets)
    assert session.selected == "right_6"


def test_a_slider_moves_its_joint_and_reset_returns_to_the_beginning(tab):
    session, before = tab.session, tab.session.q
    slider = tab.slider(ROBOT.joint_names[0])
    tab.press(slider, "ArrowLeft", lambda: (session.q != before).any())
    assert np.flatnonzero(session.q != before).tolist() == [0]
    moved = session.q
    tab.click("Reset")
    tab.wait_until(lambda: session.q is not moved and session.message == ALL_REACHED)
    assert session.kind.directions == 3
    assert np.abs(session.q - ROBOT.mid_range).max() < 1e-6


def test_the_view_is_fitted_after_it_was_zoomed_out(tab):
    camera = tab.visitor.client.camera

    def distance():
        return np.linalg.norm(camera.position - camera.look_at)

    fitted = distance()
    tab.content.mouse.move(*tab.pixel(camera.look_at))
    tab.until(lambda: distance() > 1.3 * fitted, lambda: tab.content.mouse.wheel(0, 600))
    tab.click("Fit view")
    tab.wait_until(lambda: distance() < 1.1 * fitted)


def test_a_recorded_path_of_two_hands_is_played(tab):
    session = tab.session
    tab.click("Record target")
    tab.wait_until(lambda: len(session.recorded) == 1)
    tab.type_position(*(session.T_base_target[:3, 3] - [0.0, 0.0, 0.05]).round(3))
    tab.wait_until(lambda: session.message == ALL_REACHED)
    tab.click("Record target")
    tab.wait_until(lambda: len(session.recorded) == 2)
    last = session.recorded[-1]
    tab.click("Reset")
    tab.wait_until(lambda: session.q is not last.q and session.message == ALL_REACHED)
    tab.click("Play / pause")
    tab.wait_until(lambda: "targets reached" in session.message)
    for link, target in last.targets.items():
        assert session.link_poses()[link] == pytest.approx(target.pose, abs=1e-5)


def test_both_hands_track_their_targets_within_the_velocity_limit(tab):
    session = tab.session
    tab.content.get_by_role("tab", name="Tracking").click()
    tab.content.get_by_label("Robot tracks").check()
    tab.wait_until(lambda: session.tracking is not None)
    start = session.q
    tab.type_position(*(session.T_base_target[:3, 3] + [0.0, 0.0, 0.1]).round(3))
    tab.wait_until(lambda: np.abs(session.q - start).max() > 0.05)

    def are_followed():
        largest = max(errors.position_error for errors in session.errors.values())
        return largest < 1e-3 and session.message == TrackStatus.FOLLOWING.value

    tab.wait_until(are_followed)
    assert 0.1 < np.abs(session.tracking.shares).max() <= 1.0 + 1e-9
    tab.screenshot("robot-tracking")
    tab.content.get_by_label("Robot tracks").uncheck()
    tab.wait_until(lambda: session.tracking is None)


def test_a_robot_avoids_obstacles_once_the_visitor_asks_for_it(tab):
    with (
        Page(Robot.load("panda"), "panda", port=0) as page,
        Tab(tab.content.context.browser, page, width=1100, height=440) as other,
    ):
        session = other.session
        other.content.get_by_role("tab", name="Obstacles").click()
        other.click("Check collisions")
        other.content.get_by_text("clearance").wait_for()
        other.click("Box")
        other.wait_until(lambda: session.obstacles.selected == "box1")
        on_elbow = session.link_poses()["link4"][:3, 3].round(3)
        other.type_values(
            "Position [m]",
            on_elbow,
            lambda: np.allclose(session.obstacles.obstacle.pose[:3, 3], on_elbow),
        )
        free = session.message.endswith(Status.CONVERGED.value)
        assert free == session.model.is_free(session.q)
        assert free or session.message.endswith(tuple(REMEDIES.values()))
        other.screenshot("robot-obstacles")
        assert other.script_errors == []
