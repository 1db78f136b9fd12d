"""The arm of the site's front page in headless Chromium: ``python tools/check_front_page.py SITE``.

SITE is the built site, or a page of it. It is opened from the disk, without a network, by a mouse
and by a finger, light and dark. Every answer must have the bits of Python's.
"""

import shutil
import sys
from pathlib import Path

import numpy as np
from drag_in_browser import VIEWS, check, chromium, numbers, opened, target_place
from playwright.sync_api import Browser, Page

from jointwise import SolveConfig, robots

ARM = "ur5e"


def require(condition: object, text: str) -> None:
    """End with a text unless a condition holds."""
    if not condition:
        raise SystemExit(f"front page: {text}")


def same(found: np.ndarray, expected: np.ndarray) -> bool:
    """Whether numbers have the same bits."""
    return bool(found.tobytes() == np.ascontiguousarray(expected).tobytes())


def check_solutions(page: Page) -> None:
    """All solutions of the target are those of Python, in its order."""
    chain = getattr(robots, ARM)()
    page.select_option("#arm", ARM)
    page.select_option("#kind", "pose")
    pose, q = numbers(page, "pose").reshape(4, 4), numbers(page, "q")
    found = page.evaluate("jointwise.solutions.map((each) => Array.from(each))")
    expected = chain.solutions(pose, near=q).q
    require(len(expected) > 1 and same(np.array(found), expected), "solutions differ")


def check_steps(page: Page) -> None:
    """Steps of CCD, joint by joint, are those of the first sweeps in Python."""
    chain = getattr(robots, ARM)()
    page.click("#ccd-box summary")
    page.wait_for_function("jointwise.ccd !== null")
    target, start = numbers(page, "pose")[[3, 7, 11]], numbers(page, "q")
    trace = chain.trace(target, start, config=SolveConfig(method="ccd"))
    expected = [start, *(move.q for move in trace.moves())]
    for button, steps in (("step", 1), ("step", 2), ("sweep", chain.n), ("sweep", 2 * chain.n)):
        page.click(f"#{button}")
        require(same(numbers(page, "q"), expected[steps]), f"{steps} steps of CCD differ")
    page.click("#ccd-box summary")
    page.wait_for_function("jointwise.ccd === null")


def check_sliders(page: Page) -> None:
    """A slider moves its joint, and the target goes with the arm."""
    chain = getattr(robots, ARM)()
    page.click("#joints-box summary")
    before = numbers(page, "pose")
    slider = page.locator("#joints input").nth(1)
    slider.focus()
    slider.press("ArrowLeft")
    pose = numbers(page, "pose")
    require(not same(pose, before), "a slider moves nothing")
    require(np.abs(chain.fk(numbers(page, "q")).ravel() - pose).max() < 1e-5, "the arm is left")


def check_touch(browser: Browser, address: str) -> None:
    """A finger drags the target on a phone."""
    page = opened(browser, address, (390, 800), "light", has_touch=True, is_mobile=True)
    page.locator("canvas#view").scroll_into_view_if_needed()
    x, y = target_place(page)
    before, start = numbers(page, "pose"), numbers(page, "q")
    devtools = page.context.new_cdp_session(page)
    for kind, points in (
        ("touchStart", [{"x": x, "y": y}]),
        ("touchMove", [{"x": x - 20, "y": y + 30}]),
        ("touchEnd", []),
    ):
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    page.wait_for_function(f"jointwise.pose[3] !== {float(before[3])!r}")
    target = numbers(page, "pose")[[3, 7, 11]]
    expected = robots.panda().solve(target, numbers(page, "start")).q
    require(same(numbers(page, "q"), expected), "the answer to a finger differs")
    require(not same(start, expected), "the arm does not follow a finger")
    require(page.evaluate("scrollY") == 0, "the page is scrolled by a drag of the target")
    width = page.evaluate("document.documentElement.scrollWidth")
    require(width <= 390, f"the page is {width} px wide on a phone")
    page.context.close()


def main(site: str, pictures: str = "") -> None:
    """Check everything; with a folder, keep pictures."""
    if shutil.which("chromium") is None:
        print("The front page was not tried, since chromium is not installed.")
        return
    place = Path(site).resolve()
    address = (place / "index.html" if place.is_dir() else place).as_uri()
    with chromium() as browser:
        for view, size, scheme, arm in VIEWS:
            page = opened(browser, address, size, scheme, offline=True)
            page.select_option("#kind", "pose")
            check(page, arm)
            if pictures:
                page.screenshot(path=Path(pictures, f"front-{view}.png"))
            page.context.close()
        page = opened(browser, address, (1200, 900), "light", offline=True)
        check_solutions(page)
        check_steps(page)
        check_sliders(page)
        page.context.close()
        check_touch(browser, address)
    print(f"The front page answers as Python does, bit for bit, in {len(VIEWS)} views.")


if __name__ == "__main__":
    main(*sys.argv[1:])
