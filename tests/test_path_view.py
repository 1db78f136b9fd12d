"""Paths on the page in a browser: recorded, solved, coloured, played."""

import numpy as np
import pytest

from jointwise import Chain
from jointwise.view import Page
from testbed.browser import CHROMIUM, Tab, browser

if CHROMIUM is None:
    pytest.skip("no chromium: apt-get install chromium", allow_module_level=True)

CORNERS = [(0.4, -0.2, 0.3), (0.5, 0.1, 0.3), (0.4, 0.3, 0.4)]


@pytest.fixture(scope="module")
def tab():
    with (
        browser() as chromium,
        Page(Chain.load("ur5e"), "ur5e", port=0) as page,
        Tab(chromium, page, width=940, height=620) as opened,
    ):
        yield opened
        assert opened.script_errors == []


def free_pixels(tab):
    """How many pixels are of the colour of a path that nothing limits, bluish green."""
    red, green, blue = tab.colors()
    return np.count_nonzero((green > blue + 15.0) & (blue > red + 40.0))


def break_pixels(tab):
    """How many are of the colour of a break, orange red."""
    red, green, blue = tab.colors()
    return np.count_nonzero((red > green + 60.0) & (green > blue + 30.0))


def test_a_path_is_recorded_solved_drawn_and_played(tab):
    session = tab.session
    for number, corner in enumerate(CORNERS):
        tab.type_position(*corner)
        tab.click("Record target")
        tab.wait_until(lambda number=number: len(session.recorded) == number + 1)
    before = free_pixels(tab)
    tab.click("Solve path")
    tab.content.get_by_text("targets reached.").first.wait_for()
    shown = session.shown_path
    assert shown.path.converged.all()
    tab.wait_until(lambda: free_pixels(tab) > before + 100)
    tab.screenshot("path")
    tab.click("Play / pause")
    tab.wait_until(lambda: session.path_share == 1.0)
    np.testing.assert_array_equal(session.q, shown.path.q[-1])
    tab.click("Clear")
    tab.wait_until(lambda: session.shown_path is None)
    tab.wait_until(lambda: free_pixels(tab) < before + 50)


def test_what_limits_a_path_is_said_and_coloured(tab):
    session = tab.session
    tab.click("Clear")
    for number, corner in enumerate([CORNERS[0], (1.2, -0.2, 0.3)]):
        tab.type_position(*corner)
        tab.click("Record target")
        tab.wait_until(lambda number=number: len(session.recorded) == number + 1)
    before = break_pixels(tab)
    tab.click("Solve path")
    tab.content.get_by_text("Targets are missed from").first.wait_for()
    tab.wait_until(lambda: break_pixels(tab) > before + 20)
    tab.screenshot("path_missed")
