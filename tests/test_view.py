"""The page in a real browser: what is done there reaches the solver, and what is solved is seen."""

import csv

import numpy as np
import pytest

from jointwise import Status, robots
from jointwise.model.outline import outline
from jointwise.view import Page
from tests.support.browser import CHROMIUM, Tab, browser

if CHROMIUM is None:
    pytest.skip("no chromium: apt-get install chromium", allow_module_level=True)


@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def page():
    with Page(robots.panda(), "panda", port=0) as opened:
        yield opened


@pytest.fixture(scope="module")
def tab(chromium, page):
    opened = Tab(chromium, page)
    yield opened
    assert opened.troubles == []


def tip(session):
    return session.chain.fk(session.q)[:3, 3]


def test_it_loads_and_shows_the_arm(tab):
    for words in ("The tip is at the target", "panda_joint7", "CCD, joint by joint", "Reach its"):
        assert tab.tab.get_by_text(words).first.is_visible()

    def drawn():
        red, green, blue = tab.colors()
        return np.count_nonzero((blue > red + 60.0) & (blue > green + 20.0)) > 2000

    tab.until(drawn)
    tab.picture("opened")


def test_a_dragged_target_reaches_the_solver_and_the_tip_the_target(tab):
    session, before = tab.session, tab.session.T_base_target[:3, 3].copy()
    up = before + 0.17 * session.chain.reach * np.eye(3)[2]  # on the blue arrow
    drawn = tab.visitor.drawn
    tab.drag(tab.pixel(up), tab.pixel(up) - [0, 40])
    tab.settle()
    moved = session.T_base_target[:3, 3] - before
    assert moved[2] > 0.03
    assert np.abs(moved[:2]).max() < 1e-9
    assert np.linalg.norm(tip(session) - session.T_base_target[:3, 3]) < 1e-6
    assert tab.visitor.drawn > drawn
    tab.picture("dragged")


def test_a_position_a_pose_and_an_aim_can_be_asked_for(tab):
    session = tab.session
    tab.choose("Reach its", "pose")
    tab.until(lambda: session.kind == "pose")
    T_base_target = session.T_base_target
    tab.type_position(0.45, 0.1, 0.5)
    tab.settle()
    assert (session.T_base_target[:3, :3] == T_base_target[:3, :3]).all()
    assert max(session.errors()) < 1e-6
    tab.picture("pose")
    tab.choose("Reach its", "aim")
    tab.until(lambda: session.kind == "aim")
    assert max(session.errors()) < 1e-6
    tab.picture("aim")
    tab.choose("Reach its", "position")
    tab.until(lambda: session.kind == "position")


def test_a_target_out_of_reach_shows_its_sentence_and_the_arm_stays_still(tab):
    session = tab.session
    tab.type_position(3, 0.5, 0.5)
    tab.settle()
    q, tip_before = session.q, tip(session)
    ahead, wanted = tip_before - session.chain.arm.links[0, :, 3], np.array([3.0, 0.5, 0.167])
    assert ahead @ wanted > 0.99 * np.linalg.norm(ahead) * np.linalg.norm(wanted)
    tab.type_position(3, 0.5, 0.501)
    tab.tab.get_by_text(Status.UNREACHABLE.value).wait_for()
    tab.picture("out-of-reach")
    tab.type_position(3, 0.5, 0.5)
    tab.settle()
    assert np.abs(session.q - q).max() < 1e-3
    assert np.linalg.norm(tip(session) - tip_before) < 1e-6
    tab.type_position(0.4, 0.3, 0.4)
    tab.tab.get_by_text(Status.CONVERGED.value).wait_for()


def test_the_step_buttons_advance_the_trace(tab):
    session = tab.session
    tab.type_position(0.4, 0.3, 0.4)
    tab.settle()
    for done in (1, 2, 3):
        tab.click("joint")
        tab.until(lambda done=done: session.at == done)
        assert np.count_nonzero(np.diff(session.walk.q[done - 1 : done + 1], axis=0)) <= 1
    tab.click("sweep")
    tab.until(lambda: session.at == session.chain.n)
    tab.tab.get_by_text("Sweep 1: panda_joint1 turns").wait_for()
    tab.tab.locator(".uplot canvas").wait_for()
    tab.picture("one-sweep")
    tab.click("play, pause")
    tab.until(lambda: session.at > session.chain.n)
    tab.click("play, pause")
    tab.settle()
    paused = session.at
    tab.click("sweep")
    tab.until(lambda: session.at > paused)
    tab.click("start over")
    tab.until(lambda: session.walk is None)
    assert (session.q == session.chain.home).all()


def test_a_slider_moves_its_joint_alone(tab):
    session, before = tab.session, tab.session.q
    tab.tab.get_by_role("slider").nth(1).focus()
    tab.tab.keyboard.press("ArrowRight")
    tab.until(lambda: (session.q != before).any())
    moved = session.q - before
    assert np.flatnonzero(moved).tolist() == [0]
    assert 0.0 < moved[0] < 0.1


def test_another_posture_is_chosen_by_a_button_and_by_a_click_on_its_ghost(tab):
    session = tab.session
    tab.type_position(0.4, 0.3, 0.45)
    tab.settle()
    tab.click("find some")
    tab.until(lambda: len(session.answers) > 2)
    tab.click("3")
    tab.until(lambda: (session.q == session.answers[2]).all())
    assert np.linalg.norm(tip(session) - [0.4, 0.3, 0.45]) < 1e-6
    tab.picture("ghosts")
    before = session.q
    arm = np.array([tab.pixel(corner) for corner in outline(session.chain, before)])
    ghosts = [tab.pixel(c) for q in session.others.values() for c in outline(session.chain, q)]
    away = [np.linalg.norm(arm - ghost, axis=1).min() for ghost in ghosts]
    tab.tab.mouse.click(*ghosts[np.argmax(away)])
    tab.until(lambda: session.q is not before)
    assert any(session.q is answer for answer in session.answers)
    assert np.linalg.norm(tip(session) - [0.4, 0.3, 0.45]) < 1e-6


def test_a_recorded_path_is_played_back_and_saved(tab):
    session = tab.session
    tab.click("forget all")
    corners = [(0.4, -0.2, 0.5), (0.4, 0.2, 0.5)]
    for number, corner in enumerate(corners):
        tab.type_position(*corner)
        tab.until(lambda corner=corner: np.allclose(tip(session), corner, atol=1e-6))
        tab.click("add")
        tab.until(lambda number=number: len(session.recorded) == number + 1)
    recorded = list(session.recorded)
    with tab.tab.expect_download() as download:
        tab.click("save CSV")
    assert download.value.suggested_filename == "panda.csv"
    with download.value.path().open() as file:
        rows = list(csv.DictReader(file))
    for row, corner in zip(rows, corners, strict=True):
        q = [float(row[name]) for name in session.chain.names]
        assert session.chain.fk(q)[:3, 3] == pytest.approx(corner, abs=1e-6)
        assert [float(row[name]) for name in "xyz"] == pytest.approx(corner, abs=1e-9)
    tab.type_position(0.3, 0.3, 0.3)
    tab.settle()
    session.recorded += recorded
    tab.click("play, pause", nth=1)
    tab.until(lambda: "targets reached" in session.says)
    assert tip(session) == pytest.approx(corners[-1], abs=1e-6)


def test_two_tabs_do_not_disturb_each_other_and_a_thread_ends_with_its_tab(chromium, page, tab):
    tab.type_position(0.5, 0.0, 0.4)
    tab.settle()
    first = tab.session
    q, pose, at = first.q, first.T_base_target, first.at
    other = Tab(chromium, page, height=300)
    assert len(page.visitors) == 2
    assert other.session is not first
    other.type_position(0.3, -0.4, 0.6)
    other.settle()
    other.click("joint")
    other.until(lambda: other.session.at == 1)
    assert first.q is q
    assert first.T_base_target is pose
    assert first.at == at
    assert other.session.T_base_target[:3, 3] == pytest.approx([0.3, -0.4, 0.6])
    assert other.troubles == []
    other.tab.close()
    tab.until(lambda: len(page.visitors) == 1)
    tab.type_position(0.5, 0.1, 0.4)
    tab.until(lambda: np.allclose(tip(first), [0.5, 0.1, 0.4], atol=1e-6))
