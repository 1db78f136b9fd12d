"""Drags the target of the example page in headless Chromium; the answer must have Python's bits.

``python tools/drag_in_browser.py FOLDER [PICTURES]``: the folder has ``docs/live`` and what
``jointwise.kernels.native.wasm`` and ``tools/web_arms.py`` write.
"""

import io
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from jointwise import robots

# Colours of the target, light and dark.
TARGET_COLORS = ((230, 81, 0), (255, 138, 61))
# Name of a picture, width and height [px], colours, arm.
VIEWS = (
    ("desktop-light", (1200, 800), "light", "panda"),
    ("desktop-dark", (1200, 800), "dark", "kr6_r900"),
    ("phone-light", (390, 800), "light", "so101"),
    ("phone-dark", (390, 800), "dark", "ur5e"),
)


# There is no display and, in a container, no sandbox; WebGL is drawn by the processor.
OPTIONS = ("--no-sandbox", "--enable-unsafe-swiftshader")


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder silently, with the types that modules need."""

    extensions_map = {  # noqa: RUF012
        **SimpleHTTPRequestHandler.extensions_map,
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def served(folder: Path):
    """The address of a folder."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def numbers(page: Page, name: str) -> np.ndarray:
    """An array of the page."""
    return np.array(page.evaluate(f"Array.from(window.jointwise.{name})"))


def target_place(page: Page) -> tuple[float, float]:
    """Where the target is on the screen: the middle of what has its colour."""
    box = page.locator("canvas#view").bounding_box()
    picture = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB")).astype(int)
    found = [np.abs(picture - color).max(axis=2) < 3 for color in TARGET_COLORS]
    rows, columns = np.nonzero(found[0] | found[1])
    if box is None or not len(rows):
        raise SystemExit("the target is not drawn")
    return float(columns.mean()), float(rows.mean())


def drag(page: Page, dx: float, dy: float) -> None:
    """Move the target on the screen."""
    x, y = target_place(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + dx, y + dy)
    page.mouse.up()


def check(page: Page, arm: str) -> None:
    """Drag the target of an arm; the answer must have the bits of Python's."""
    page.select_option("#arm", arm)
    chain = getattr(robots, arm)()
    page.wait_for_function(f"window.jointwise.arm.n === {chain.n}")
    page.evaluate("new Promise(requestAnimationFrame)")  # it is drawn
    start, before = numbers(page, "q"), numbers(page, "pose")
    drag(page, -15, 20)
    pose = numbers(page, "pose")
    if np.array_equal(pose, before):
        raise SystemExit(f"{arm}: the target was not dragged")
    if numbers(page, "q").tobytes() != chain.solve(pose.reshape(4, 4), start).q.tobytes():
        raise SystemExit(f"{arm}: the answer differs from Python's")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Headless Chromium, which must be installed."""
    with sync_playwright() as playwright:
        path = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=OPTIONS)
        yield browser
        browser.close()


def opened(browser: Browser, address: str, size: tuple[int, int], scheme: str, **options) -> Page:
    """A page that has loaded its kernels; an error of it ends the program."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, **options
    )
    page, errors = context.new_page(), list[str]()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    page.wait_for_function("window.jointwise?.answer")
    page.on("close", lambda _: errors and sys.exit("\n".join(errors)))
    return page


def main(folder: str, pictures: str = "") -> None:
    """Drag in each view."""
    with served(Path(folder)) as address, chromium() as browser:
        for view, size, scheme, arm in VIEWS:
            page = opened(browser, f"{address}/example.html", size, scheme)
            check(page, arm)
            if pictures:
                page.screenshot(path=Path(pictures, f"{view}.png"))
            page.context.close()
    print(f"{len(VIEWS)} of {len(VIEWS)} answers in a browser, bit for bit.")


if __name__ == "__main__":
    main(*sys.argv[1:])
