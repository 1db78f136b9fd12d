"""Drags the target of the example page in headless Chromium, and compares the answer with Python's.

``python tools/drag_in_browser.py FOLDER [PICTURES]``: the folder has ``docs/live`` and what
``jointwise.kernels.native.wasm`` and ``tools/web_arms.py`` write.
"""

import shutil
import sys
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
from playwright.sync_api import Page, sync_playwright

from jointwise import robots

# Where the target is drawn: the middle of what has its colour.
TARGET_PLACE = """() => {
  const canvas = document.getElementById("view"), { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  const found = [];
  for (let i = 0; i < data.length; i += 4)
    if (data[i] === 230 && data[i + 1] === 81 && data[i + 2] === 0) found.push(i / 4);
  const mean = (f) => found.reduce((sum, k) => sum + f(k), 0) / found.length / devicePixelRatio;
  const box = canvas.getBoundingClientRect();
  return [box.x + mean((k) => k % width), box.y + mean((k) => Math.floor(k / width))];
}"""
# Name of a picture, width and height [px], colours, arm.
VIEWS = (
    ("desktop-light", (1200, 800), "light", "panda"),
    ("desktop-dark", (1200, 800), "dark", "kr6_r900"),
    ("phone-light", (390, 800), "light", "so101"),
    ("phone-dark", (390, 800), "dark", "ur5e"),
)


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


def drag(page: Page, address: str, arm: str) -> None:
    """Drag the target once; the answer must have the bits of Python's."""
    page.goto(f"{address}/example.html")
    page.wait_for_function("window.jointwise?.answer")
    page.select_option("#arm", arm)
    chain = getattr(robots, arm)()
    page.wait_for_function(f"window.jointwise.arm.n === {chain.n}")
    page.evaluate("new Promise(requestAnimationFrame)")  # it is drawn
    start, before = numbers(page, "q"), numbers(page, "pose")
    x, y = page.evaluate(TARGET_PLACE)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 15, y + 20)
    page.mouse.up()
    pose = numbers(page, "pose")
    if np.array_equal(pose, before):
        raise SystemExit(f"{arm}: the target was not dragged")
    if numbers(page, "q").tobytes() != chain.solve(pose.reshape(4, 4), start).q.tobytes():
        raise SystemExit(f"{arm}: the answer differs from Python's")


def main(folder: str, pictures: str = "") -> None:
    """Drag in each view."""
    errors: list[str] = []
    with served(Path(folder)) as address, sync_playwright() as playwright:
        chromium = playwright.chromium
        path = shutil.which("chromium")
        browser = chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, (width, height), scheme, arm in VIEWS:
            size = {"width": width, "height": height}
            page = browser.new_page(viewport=size, color_scheme=scheme)
            page.on("pageerror", lambda error: errors.append(str(error)))
            drag(page, address, arm)
            if pictures:
                page.screenshot(path=Path(pictures, f"{name}.png"))
            page.close()
        browser.close()
    if errors:
        raise SystemExit("\n".join(errors))
    print(f"{len(VIEWS)} of {len(VIEWS)} answers in a browser, bit for bit.")


if __name__ == "__main__":
    main(*sys.argv[1:])
