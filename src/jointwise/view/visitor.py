"""A visitor of the page: a session, its drawing and panel, and the threads that update them."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING

import numpy as np

from jointwise.chain import Chain
from jointwise.errors import JointwiseError
from jointwise.results.path import IKPath
from jointwise.results.plan import Plan
from jointwise.robot import Robot
from jointwise.view.controls.actions import Animation
from jointwise.view.controls.panel import Panel
from jointwise.view.graphics.drawing import Drawing
from jointwise.view.graphics.meshes import Mesh
from jointwise.view.session import Session
from jointwise.view.state.live_plan import Planned, PlanRequest
from jointwise.view.worker import Worker

if TYPE_CHECKING:
    import viser

# Delay between a change and the refresh of the panel [s]; the scene is drawn at every change.
REFRESH_DELAY_S = 0.08
# Time between two drawings of a model that tracks [s].
TRACK_FRAME_S = 1.0 / 30.0
# A model that moves less between two of them stands still [rad, m].
STILL = 1e-9
# The file that obstacles are saved to.
SCENE_FILE = "scene.toml"


class Visitor:
    """Passes input from the browser to a session, and draws the session in the browser.

    Args:
        client: The visitor's connection.
        model: The arm or the robot.
        name: Name of the file of a saved path, without its suffix.
        meshes: From ``meshes.load_meshes``.
        note: First message; that of the session if empty.
        plan: A plan to show first.
        path: A path to show first.

    Attributes:
        client: The visitor's connection, one for each tab.
        session: The visitor's arm or robot.
        drawing: The drawing of the session in the scene.
        draw_count: How often the scene was drawn.
    """

    def __init__(
        self,
        client: "viser.ClientHandle",
        model: Chain | Robot,
        name: str,
        meshes: Sequence[Mesh],
        note: str = "",
        plan: Plan | None = None,
        path: IKPath | None = None,
    ) -> None:
        self.client, self._name = client, name
        self.draw_count = 0
        self._worker, self._planner = Worker(), Worker()
        self._asked: PlanRequest | None = None
        self._frames: Iterator[None] | None = None
        self.session = Session(model)
        if plan is not None:
            self.session.show_plan(plan)
        if path is not None:
            self.session.show_path(path)
        self.session.message = note or self.session.message
        with client.atomic():
            self.drawing = Drawing(
                client,
                self.session,
                meshes,
                self._link_clicked,
                self._target_dragged,
                self._solution_clicked,
            )
            self._panel = Panel(client.gui, self.session, self)
            self.drawing.obstacles.handle.on_update(self._obstacle_dragged)
            client.scene.on_click()(self._scene_clicked)
            self.drawing.show(with_handles=True)
            self.drawing.fit_view(first=True)
            self._panel.refresh()
        self._worker.start()
        self._planner.start()

    def close(self) -> None:
        """End the threads."""
        for thread in (self._planner, self._worker):
            thread.close()
            thread.join(timeout=5.0)

    # Actions of the controls

    def apply(self, change: Callable[[], object], key: Hashable = None) -> None:
        """Stop what plays, change the session and draw it, on the visitor's thread.

        Args:
            change: Changes the session.
            key: The change replaces a waiting one with the same key. None: it replaces none.
        """

        def job() -> None:
            self._stop()
            self._change(change, draw_handles=True)

        self._worker.submit(object() if key is None else key, job)

    def fit_view(self) -> None:
        """Move the camera until it sees everything, on the visitor's thread."""
        self._worker.submit("fit view", self.drawing.fit_view)

    def play(self, animation: Animation, rate: Callable[[], float]) -> None:
        """Play an animation to its end; if one is playing, pause that instead.

        Args:
            animation: Changes the session and yields, once for each frame.
            rate: Frames per second [1/s], read before each frame.
        """

        def job() -> None:
            if self._frames is not None:
                self._stop()
                self._refresh_soon()
            else:
                self._frames = animation()
                self._next_frame(self._frames, rate)

        self._worker.submit(object(), job)

    def save(self) -> None:
        """Send the recorded path to the browser as a CSV file."""
        self.apply(lambda: self._send(f"{self._name}.csv", self.session.to_csv()))

    def save_scene(self) -> None:
        """Send the obstacles to the browser as a TOML file."""
        obstacles = self.session.obstacles
        if obstacles is not None:
            self.apply(lambda: self._send(SCENE_FILE, obstacles.scene.to_toml()))

    def show_spheres(self, visible: bool) -> None:
        """Show or hide the spheres of the model's shape."""
        self._worker.submit("spheres", partial(self.drawing.show_spheres, visible))

    def check_collisions(self) -> None:
        """Find the shape of the model, and check for collisions from then on.

        A fit to a new robot may take minutes, so it runs on a thread of its own. It is saved in a
        file, which the session then reads.
        """

        def announce() -> None:
            self.session.message = "Finding the shape; for a new robot this may take minutes."

        def find() -> None:
            with suppress(JointwiseError):  # the session reports it
                self.session.model.with_scene()
            self.apply(self.session.check_collisions)

        self.apply(announce)
        Thread(target=find, daemon=True).start()

    def _send(self, file: str, content: str) -> None:
        self.client.send_file_download(file, content.encode(), save_immediately=True)

    # Input from the scene

    def _link_clicked(self, link: str) -> None:
        self.apply(partial(self.session.toggle_target, link))

    def _solution_clicked(self, index: int) -> None:
        self.apply(partial(self.session.select_solution, index))

    def _target_dragged(self, link: str) -> None:
        def follow() -> None:
            session, before = self.session, self.session.targets
            if link in self.drawing.targets.gizmos:  # it may have been removed in the meantime
                session.move_link_target(link, self.drawing.targets.gizmos[link].pose())
            if self._panel.records_drag and session.targets is not before:
                session.record_target()

        self._drag(follow, ("target", link))

    async def _obstacle_dragged(self, _: object) -> None:
        def follow() -> None:
            obstacles = self.session.obstacles
            if obstacles is not None and obstacles.selected is not None:
                pose = self.drawing.obstacles.pose()
                self.session.edit_scene(partial(obstacles.move, pose))

        self._drag(follow, "obstacle")

    def _drag(self, follow: Callable[[], None], key: Hashable) -> None:
        """Change the session while a handle is dragged; a plan that is updated keeps playing."""

        def job() -> None:
            if not self.session.replans:
                self._stop()
            self._change(follow, draw_handles=False)

        self._worker.submit(key, job)

    def _scene_clicked(self, event: "viser.SceneClickEvent") -> None:
        obstacles, ray = self.session.obstacles, (event.ray_origin, event.ray_direction)
        if obstacles is not None:
            self.apply(lambda: obstacles.select(obstacles.hit(*map(np.array, ray))))

    # On the visitor's thread

    def _change(self, change: Callable[[], object], draw_handles: bool) -> None:
        try:
            change()
        except JointwiseError as problem:
            self.session.message = str(problem)
        with self.client.atomic():
            self.drawing.show(draw_handles)
        self.draw_count += 1
        self._refresh_soon()
        if self.session.tracking is not None:
            self._worker.submit("track", self._track, TRACK_FRAME_S)
        live = self.session.live_plan
        if live is not None and live.is_pending and live.request is not self._asked:
            self._asked = live.request
            self._planner.submit("plan", partial(self._plan, live.request))

    def _track(self) -> None:
        before = self.session.q
        self._change(lambda: self.session.track(TRACK_FRAME_S), draw_handles=False)
        if abs(self.session.q - before).max() < STILL:  # until the next change
            self._worker.cancel("track")

    def _plan(self, request: PlanRequest) -> None:
        """Plan on the planner's thread: one plan at a time, and only the latest waiting request."""

        def take(planned: Planned) -> None:
            change = partial(self.session.take_plan, planned)
            self._worker.submit("planned", partial(self._change, change, draw_handles=False))

        try:
            take(request.answer())
        except Exception as problem:
            take(request.failed(problem))
            raise  # the planner's thread prints it

    def _next_frame(self, frames: Iterator[None], rate: Callable[[], float]) -> None:
        played: list[bool] = []
        self._change(lambda: played.append(next(frames, False) is None), draw_handles=True)
        if played == [True]:
            self._worker.submit("frame", lambda: self._next_frame(frames, rate), 1.0 / rate())
        else:
            self._frames = None

    def _stop(self) -> None:
        self._frames = None
        self._worker.cancel("frame")

    def _refresh_soon(self) -> None:
        self._worker.submit("refresh", self._refresh, REFRESH_DELAY_S)

    def _refresh(self) -> None:
        with self.client.atomic():
            self._panel.refresh()
