"""A headless browser, for tests and benchmarks of the page."""

import os
import shutil
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from threading import Event
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
# A folder for screenshots, for people to look at; none are written unless it is set.
SCREENSHOTS = os.environ.get("JOINTWISE_SCREENSHOTS")
# How long to wait for anything [ms].
TIMEOUT_MS = 300_000
# WebGL without antialiasing.
ONE_SAMPLE = """
const get = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, options) {
    return get.call(this, kind, { ...options, antialias: false });
};
"""
# How many times an input is tried, and how long each may take to arrive [ms].
INPUTS, INPUT_MS = 20, 15_000
# viser holds input back for 50 ms at most; a timer of the tab with this time ends later [ms].
THROTTLE_MS = 100


def retype(field, value):
    """Replace the number in a field.

    It is cleared first, because typing the same number sends nothing.
    """
    field.fill("")
    field.fill(str(value))


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

    Args:
        chromium: The browser.
        page: The page.
        width: Of the window [px].
        height: Of the window [px].
        fine: Whether the scene has environment light, shadows and antialiasing, as visitors see
            it. Without a GPU, they take several seconds of processor time for each tab.

    Attributes:
        content: The tab, as Playwright's ``Page``.
        visitor: The visitor that the tab is to the server.
        session: The visitor's session.
        script_errors: Errors that JavaScript raised in the tab.
    """

    def __init__(self, chromium, page, width=1080, height=640, fine=SCREENSHOTS is not None):
        if not fine:
            page._server.scene.configure_environment_map(None)
            page._server.scene.configure_default_lights(cast_shadow=False)
        before = set(map(id, page.visitors))
        self.content = chromium.new_page(viewport={"width": width, "height": height})
        self.content.set_default_timeout(TIMEOUT_MS)
        if not fine:
            self.content.add_init_script(ONE_SAMPLE)
        self.script_errors = []
        self.content.on("pageerror", lambda error: self.script_errors.append(str(error)))
        self.content.goto(page.url)
        # viser's notice that there is no GPU.
        self.content.locator(".mantine-Notification-closeButton").click()
        self.content.get_by_text("solve time").wait_for()
        self.visitor = None  # the server lists it after it has sent the panel

        def is_listed():
            self.visitor = next((v for v in page.visitors if id(v) not in before), None)
            return self.visitor is not None

        self._poll(is_listed)
        self.session = self.visitor.session
        self._clicks = 0
        self.visitor.client.scene.on_click()(self._count_click)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.content.close()

    def wait_until(self, condition):
        """Wait for a condition of the server, that holds when no change is half made."""
        self._poll(lambda: condition() and self._between_changes() and condition())

    def _poll(self, condition):
        deadline = monotonic() + 1e-3 * TIMEOUT_MS
        while not condition():
            assert monotonic() < deadline, f"not within {TIMEOUT_MS} ms; {self._state()}"
            self.content.wait_for_timeout(10)

    def _state(self):
        """What the session shows, for the message of a failure."""
        session = getattr(self, "session", None)
        return session and f"{session.message!r} at q = {session.q}, target {session.targets}"

    def _between_changes(self):
        """Wait for the end of what the visitor's thread is doing, if it has not been closed."""
        worker, passed = self.visitor._worker, Event()
        worker.submit(object(), passed.set)
        self._poll(lambda: passed.is_set() or not worker.is_alive())
        return True

    def wait_until_shown(self, text):
        """Wait for a text on the page, and until the scene is drawn, which is sent before it."""
        self.content.get_by_text(text).first.wait_for()
        self._draw()

    def _draw(self):
        """Wait for two frames: all that the tab has received is then drawn."""
        self.content.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def click(self, name, nth=0):
        """Press a button."""
        self.content.get_by_role("button", name=name, exact=True).nth(nth).click()

    def open(self, name):
        """Show a tab of the panel."""
        self.content.get_by_role("tab", name=name, exact=True).click()

    def select(self, label, option, arrived):
        """Select an option of a dropdown."""
        from playwright.sync_api import TimeoutError as PlaywrightTimeout

        def choose():
            self.content.get_by_label(label, exact=True).click()
            try:
                choice = self.content.get_by_role("option", name=option, exact=True)
                choice.click(timeout=INPUT_MS)
            except PlaywrightTimeout:  # the list did not open
                self.content.keyboard.press("Escape")

        self.until(arrived, choose)

    def until(self, arrived, act):
        """Repeat an input until its effect arrives.

        Chromium without a GPU loses input now and then if the machine is busy.
        """
        for _ in range(INPUTS):
            act()
            if self._arrives(arrived):
                self.wait_until(arrived)
                return
        raise AssertionError(f"none of {INPUTS} inputs has arrived; {self._state()}")

    def fields(self, label):
        """The number fields beside a label."""
        row = self.content.get_by_text(label, exact=True).locator("xpath=../../..")
        return row.locator("input").all()

    def type_values(self, label, values, arrived):
        """Type values into the number fields beside a label, until they have arrived.

        The panel may lag behind the session and change during typing.
        """
        self.content.get_by_text(label, exact=True).wait_for()

        def fill():
            for field, value in zip(self.fields(label), values, strict=True):
                retype(field, value)

        self.until(arrived, fill)
        self.content.keyboard.press("Tab")
        self._send_input()

    def _send_input(self):
        """Wait until the tab has sent all input: another panel's would overtake what it holds."""
        self.content.evaluate(f"() => new Promise(done => setTimeout(done, {THROTTLE_MS}))")

    def _shows_target(self):
        """Whether the panel has the session's target; else what is not typed would be stale."""
        shown = [float(field.input_value()) for field in self.fields("x y z [m]")]
        target = self.session.T_base_target[:3, 3]
        return np.allclose(shown, target, atol=1e-3)

    def type_position(self, *position):
        """Type the target's x, y, z [m] into the panel, and wait until the session has it.

        It waits after each number. If the model follows, it is solved for each, and it would
        depend on how busy the machine is which of them are skipped, and so which solution is found.
        """
        label = "x y z [m]"
        self.content.get_by_text(label, exact=True).wait_for()
        self.wait_until(self._shows_target)
        for axis, value in enumerate(position):
            field = self.fields(label)[axis]
            if float(field.input_value()) != value:
                arrived = partial(self._has_coordinate, axis, value)
                self.until(arrived, partial(retype, field, value))
        self.content.keyboard.press("Tab")
        self._send_input()

    def _has_coordinate(self, axis, value):
        return abs(self.session.T_base_target[axis, 3] - value) < 1e-9

    def press(self, slider, key, arrived):
        """Press a key on a slider, twice if the first press arrives late."""
        self.until(arrived, lambda: slider.press(key))

    def place(self, q):
        """Set the joint values, and move the target to the end effector."""

        def move():
            self.session.set_joints(q)
            self.session.snap_target_to_link()

        self.visitor.apply(move)
        self.wait_until(lambda: np.allclose(self.session.q, q, atol=1e-9))
        self.wait_until(self._shows_target)

    def slider(self, label):
        """The slider with a label."""
        after = f"xpath=(//label[.='{label}']/following::*[@role='slider'])[1]"
        return self.content.locator(after)

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

    def _count_click(self, _):
        self._clicks += 1

    def click_scene(self, pixel):
        """Click at a pixel of the scene."""
        before = self._clicks
        self.until(lambda: self._clicks > before, lambda: self.content.mouse.click(*pixel))

    def _arrives(self, condition):
        """Whether a condition holds soon."""
        deadline = monotonic() + 1e-3 * INPUT_MS
        while not condition() and monotonic() < deadline:
            self.content.wait_for_timeout(10)
        return condition()

    @contextmanager
    def held(self, handle, point):
        """Hold a handle of the scene at a point (3,) of the base frame [m], for a block of code.

        The block gets the pixel. After it, the handle is released, and the session has followed.
        """
        phases = set()

        async def updated(event):
            phases.add(event.phase)

        handle.on_update(updated)
        mouse = self.content.mouse
        for _ in range(INPUTS):
            self._draw()
            self._send_input()  # the server then knows where the camera is
            pixel = self.pixel(point)
            mouse.move(*pixel)
            mouse.down()
            if self._arrives(lambda: "start" in phases):
                break
            mouse.up()
        else:
            raise AssertionError(f"the handle could not be held at {pixel}")
        yield pixel
        mouse.up()
        self.wait_until(lambda: "end" in phases)
        handle.remove_update_callback(updated)

    def colors(self):
        """(3, k) red, green and blue of every pixel."""
        image = Image.open(BytesIO(self.content.screenshot())).convert("RGB")
        return np.asarray(image, float).reshape(-1, 3).T

    def sync(self):
        """Wait until the session has processed all input so far.

        Input is processed in order, so it waits for the effect of one more click.
        """
        self._send_input()
        self.visitor._worker.submit(object(), self._forget_message)
        self.click("Clear")
        self.wait_until(lambda: self.session.message == "Path cleared.")

    def _forget_message(self):
        self.session.message = ""  # or that of an earlier click would be taken for the effect

    def screenshot(self, name):
        """Wait until the current state is drawn; where screenshots are wanted, write one."""
        self._draw()
        if SCREENSHOTS is not None:
            Path(SCREENSHOTS).mkdir(exist_ok=True)
            self.content.screenshot(path=Path(SCREENSHOTS) / f"{name}.png")
