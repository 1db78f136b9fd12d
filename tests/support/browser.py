"""A real browser, headless, for tests and benchmarks of the page."""

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
# Where pictures of the page are left for people to look at.
PICTURES = Path(os.environ.get("JOINTWISE_SCREENSHOTS", ".screenshots"))
# Milliseconds after which something that should have happened has not.
PATIENCE = 60_000


@contextmanager
def browser():
    """Chromium without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


class Tab:
    """A tab that shows the page, and the visitor it is to the server."""

    def __init__(self, chromium, page, height=640):
        before = set(map(id, page.visitors))
        self.tab = chromium.new_page(viewport={"width": 1080, "height": height})
        self.tab.set_default_timeout(PATIENCE)
        self.troubles = []
        self.tab.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.tab.goto(page.url)
        # What viser says of a machine without a GPU.
        self.tab.locator(".mantine-Notification-closeButton").click()
        self.tab.get_by_text("last solve took").wait_for()
        (self.visitor,) = (v for v in page.visitors if id(v) not in before)
        self.session = self.visitor.session

    def until(self, happened):
        """Wait for the server."""
        deadline = monotonic() + 1e-3 * PATIENCE
        while not happened():
            assert monotonic() < deadline, "it never happened"
            self.tab.wait_for_timeout(10)

    def click(self, name, nth=0):
        """Press a button."""
        self.tab.get_by_role("button", name=name, exact=True).nth(nth).click()

    def choose(self, label, option):
        """Take an option of a list."""
        self.tab.get_by_label(label).click()
        self.tab.get_by_role("option", name=option).click()

    def type_position(self, *position):
        """Write the target's x, y, z into the panel."""
        fields = self.tab.get_by_text("x y z [m]").locator("xpath=../../..").locator("input")
        for field, value in zip(fields.all(), position, strict=True):
            field.fill(str(value))
        self.tab.keyboard.press("Tab")

    def pixel(self, point):
        """(2,) where a point of the base frame is on the screen."""
        camera = self.visitor.client.camera
        box = self.tab.locator("canvas").first.bounding_box()
        turn = Rotation.from_quat(camera.wxyz, scalar_first=True)
        x, y, z = turn.inv().apply(point - camera.position)
        far = 0.5 * box["height"] / np.tan(0.5 * camera.fov)
        middle = (box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
        return np.add(middle, (far * x / z, far * y / z))

    def drag(self, start, end, steps=5):
        """Press at one pixel, let go at another."""
        self.tab.mouse.move(*start)
        self.tab.mouse.down()
        self.tab.mouse.move(*end, steps=steps)
        self.tab.mouse.up()

    def colors(self):
        """(3, k) red, green and blue of every pixel."""
        image = Image.open(BytesIO(self.tab.screenshot())).convert("RGB")
        return np.asarray(image, float).reshape(-1, 3).T

    def settle(self):
        """Wait until all that was done in the tab so far has come to the session.

        It comes in order, so whatever is done last and seen there will do.
        """
        self.click("forget all")
        self.until(lambda: self.session.says == "The path is empty.")

    def picture(self, name):
        """Leave a picture of the tab, once all that is drawn has been."""
        self.tab.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        PICTURES.mkdir(exist_ok=True)
        self.tab.screenshot(path=PICTURES / f"{name}.png")
