"""A headless browser, for tests and benchmarks of the page."""

import os
import shutil
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from time import monotonic

import numpy as np
from PIL import Image
from scipy.spatial.transform import Rotation

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
# Where screenshots are written, for people to look at.
SCREENSHOTS = Path(os.environ.get("JOINTWISE_SCREENSHOTS", ".screenshots"))
# How long to wait for anything [ms].
TIMEOUT_MS = 60_000


@contextmanager
def browser():
    """Chromium without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield chromium
        finally:
            chromium.close()


class Tab:
    """A tab that shows the page; a context manager that closes it.

    Attributes:
        content: The tab, as Playwright's ``Page``.
        visitor: The visitor that the tab is to the server.
        session: The visitor's session.
        script_errors: Errors that JavaScript raised in the tab.
    """

    def __init__(self, chromium, page, width=1080, height=640):
        before = set(map(id, page.visitors))
        self.content = chromium.new_page(viewport={"width": width, "height": height})
        self.content.set_default_timeout(TIMEOUT_MS)
        self.script_errors = []
        self.content.on("pageerror", lambda error: self.script_errors.append(str(error)))
        self.content.goto(page.url)
        # viser's notice that there is no GPU.
        self.content.locator(".mantine-Notification-closeButton").click()
        self.content.get_by_text("solve time").wait_for()
        (self.visitor,) = (v for v in page.visitors if id(v) not in before)
        self.session = self.visitor.session

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.content.close()

    def wait_until(self, condition):
        """Wait for a condition of the server."""
        deadline = monotonic() + 1e-3 * TIMEOUT_MS
        while not condition():
            assert monotonic() < deadline, f"not within {TIMEOUT_MS} ms"
            self.content.wait_for_timeout(10)

    def click(self, name, nth=0):
        """Press a button."""
        self.content.get_by_role("button", name=name, exact=True).nth(nth).click()

    def select(self, label, option):
        """Select an option of a dropdown."""
        self.content.get_by_label(label).click()
        self.content.get_by_role("option", name=option).click()

    def fields(self, label):
        """The number fields beside a label."""
        row = self.content.get_by_text(label, exact=True).locator("xpath=../../..")
        return row.locator("input").all()

    def type_values(self, label, *values):
        """Type values into the number fields beside a label, once the panel is up to date."""
        self.content.get_by_text(label, exact=True).wait_for()
        self.wait_until(self._shows_target)
        for field, value in zip(self.fields(label), values, strict=True):
            field.fill(str(value))
        self.content.keyboard.press("Tab")

    def _shows_target(self):
        """Whether the panel has the session's target; else what is not typed would be stale."""
        shown = [float(field.input_value()) for field in self.fields("x y z [m]")]
        target = self.session.T_base_target[:3, 3]
        return np.allclose(shown, target, atol=1e-3)

    def type_position(self, *position):
        """Type the target's x, y, z [m] into the panel."""
        self.type_values("x y z [m]", *position)

    def pixel(self, point):
        """(2,) where a point (3,) of the base frame [m] is on the screen [px]."""
        camera = self.visitor.client.camera
        box = self.content.locator("canvas").first.bounding_box()
        rotation = Rotation.from_quat(camera.wxyz, scalar_first=True)
        x, y, z = rotation.inv().apply(point - camera.position)
        focal_length = 0.5 * box["height"] / np.tan(0.5 * camera.fov)
        middle = (box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
        return np.add(middle, (focal_length * x / z, focal_length * y / z))

    def drag(self, start, end, steps=5):
        """Drag the mouse from one pixel to another."""
        self.content.mouse.move(*start)
        self.content.mouse.down()
        self.content.mouse.move(*end, steps=steps)
        self.content.mouse.up()

    def colors(self):
        """(3, k) red, green and blue of every pixel."""
        image = Image.open(BytesIO(self.content.screenshot())).convert("RGB")
        return np.asarray(image, float).reshape(-1, 3).T

    def sync(self):
        """Wait until the session has processed all input so far.

        Input is processed in order, so it waits for the effect of one more click.
        """
        self.click("Clear")
        self.wait_until(lambda: self.session.message == "Path cleared.")

    def screenshot(self, name):
        """Write a screenshot once the current state is drawn."""
        self.content.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        SCREENSHOTS.mkdir(exist_ok=True)
        self.content.screenshot(path=SCREENSHOTS / f"{name}.png")
