"""Plans on the page in a browser: planned by a button, played, planned again while dragging."""

import numpy as np
import pytest

from jointwise import Chain, PlanStatus, Scene
from jointwise.view import Page
from jointwise.view.state.status_text import status_text
from testbed.browser import CHROMIUM, Tab

if CHROMIUM is None:
    pytest.skip("no chromium: apt-get install chromium", allow_module_level=True)

WALL = Scene().box([0.5, 0.04, 0.6], [0.55, 0.0, 0.3], name="wall")
ARM = Chain.load("ur5e").with_scene(WALL, margin=0.01)
LEFT, RIGHT = (0.5, 0.35, 0.3), (0.5, -0.35, 0.3)
# Whether the middle of an element is what a finger there would touch.
IS_IN_VIEW = """element => {
    const box = element.getBoundingClientRect();
    const middle = [0.5 * (box.left + box.right), 0.5 * (box.top + box.bottom)];
    return element.contains(document.elementFromPoint(...middle));
}"""


@pytest.fixture(scope="module")
def page():
    with Page(ARM, "ur5e", port=0) as opened:
        yield opened


@pytest.fixture(scope="module")
def tab(chromium, page):
    with Tab(chromium, page, width=940, height=460) as opened:  # few pixels are drawn faster
        opened.content.get_by_role("tab", name="Plan", exact=True).click()
        yield opened
        assert opened.script_errors == []


def path_pixels(tab):
    """How many pixels are of the colour of a path."""
    red, green, blue = tab.colors()
    return np.count_nonzero((red > green + 45.0) & (blue > green + 20.0))


def done(tab):
    """How much of the plan that is shown is done; 0 without one."""
    live = tab.session.live_plan
    return 0.0 if live is None or live.is_pending else live.share


def test_the_button_plans_around_the_wall_and_the_plan_is_played(tab):
    session = tab.session
    tab.place(ARM.solve(LEFT).q)
    tab.click("Start here")
    tab.content.get_by_text("The next plan starts where the arm is.").wait_for()
    start, before = session.q, path_pixels(tab)
    tab.type_position(*RIGHT)
    tab.click("Plan")
    tab.content.get_by_text("smallest clearance").wait_for()
    tab.wait_until(lambda: done(tab) > 0.0)
    tab.wait_until(lambda: done(tab) == 1.0)
    planned = session.live_plan.planned
    assert (planned.plan.waypoints[0] == start).all()
    assert len(planned.plan) > 2
    assert (session.q == planned.plan.q).all()
    assert session.error.position_error < 1e-6
    tab.wait_until(lambda: path_pixels(tab) > before + 200)
    tab.screenshot("plan")


def test_the_slider_moves_the_arm_along_the_path(tab):
    session = tab.session
    tab.click("Rewind")
    slider = tab.slider("Path [%]")
    tab.wait_until(lambda: float(slider.get_attribute("aria-valuenow")) == 0.0)
    tab.press(slider, "ArrowRight", lambda: 0.005 < done(tab) < 0.05)
    assert (session.q == session.live_plan.planned.at(done(tab))).all()


def test_a_dragged_obstacle_is_planned_around_again_from_the_same_start(tab):
    session, obstacles = tab.session, tab.session.obstacles
    before = session.live_plan
    first, start = before.planned, before.planned.plan.waypoints[0]
    tab.visitor.apply(lambda: obstacles.select("wall"))
    handle = tab.visitor.drawing.obstacles.handle
    tab.wait_until(lambda: handle.visible)
    tab.screenshot("plan-handles")
    wall = obstacles.obstacle.pose[:3, 3].copy()
    on_arrow = wall + 0.17 * session.model.max_reach * np.eye(3)[2]
    with tab.held(handle, on_arrow) as pixel:
        tab.content.mouse.move(*pixel - (0, 30), steps=5)
    assert obstacles.obstacle.pose[2, 3] > wall[2] + 0.02
    tab.wait_until(lambda: session.live_plan.planned is not first and not before.is_pending)
    assert session.live_plan is before
    again = before.planned
    assert again.request.model.scene["wall"].pose[2, 3] == obstacles.obstacle.pose[2, 3]
    assert again.found
    assert (again.plan.waypoints[0] == start).all()
    assert session.model.is_free(again.plan.resampled(0.01)).all()
    tab.screenshot("plan-dragged")


def test_without_a_path_the_sentence_and_what_collides_are_shown(tab):
    session = tab.session
    tab.type_position(*session.obstacles.scene["wall"].pose[:3, 3].round(3))
    tab.content.get_by_text(status_text(PlanStatus.GOAL_COLLIDES)).first.wait_for()
    tab.content.get_by_text("collides with wall").first.wait_for()
    assert not session.live_plan.planned.found
    tab.content.get_by_text("Playback").wait_for(state="hidden")
    assert tab.visitor.drawing.plan._lines == []
    tab.screenshot("plan-collides")


def test_an_unexpected_error_is_shown_and_the_next_plan_is_made(tab, monkeypatch, capsys):
    def fail(*_, **__):
        raise MemoryError("no space for the tree")

    with monkeypatch.context() as patched:
        patched.setattr(Chain, "plan", fail)
        tab.type_position(*RIGHT)
        text = "Planning failed with an unexpected MemoryError: no space for the tree"
        tab.content.get_by_text(text).first.wait_for()
        tab.wait_until(lambda: not tab.session.live_plan.is_pending)
    assert "Traceback" in capsys.readouterr().err
    tab.click("Plan")
    tab.content.get_by_text("smallest clearance").wait_for()
    tab.wait_until(lambda: done(tab) == 1.0)
    assert tab.session.error.position_error < 1e-6


def test_on_a_narrow_screen_every_tab_is_in_view(chromium, page):
    with Tab(chromium, page, width=390, height=844) as tab:
        in_view(tab, tab.content.get_by_role("button", name="Expand panel")).click()
        for name in ("Tracking", "CCD", "Obstacles", "Plan"):
            in_view(tab, tab.content.get_by_role("tab", name=name, exact=True)).click()
        button = tab.content.get_by_role("button", name="Plan", exact=True)
        in_view(tab, button).click()
        tab.wait_until(lambda: tab.session.live_plan is not None)
        tab.screenshot("plan-narrow")


def in_view(tab, element):
    """An element, once it is drawn; it must be in view without scrolling."""
    element.wait_for()
    assert tab.content.evaluate(IS_IN_VIEW, element.element_handle())
    return element


def test_a_page_with_a_plan_opens_on_it(chromium):
    plan = ARM.plan(RIGHT, start=ARM.solve(LEFT).q)
    with Page(ARM, "ur5e", port=0, plan=plan) as page, Tab(chromium, page) as opened:
        opened.content.get_by_text("smallest clearance").wait_for()
        names = opened.content.get_by_role("tab").all_inner_texts()
        assert names[:2] == ["Plan", "Obstacles"]
