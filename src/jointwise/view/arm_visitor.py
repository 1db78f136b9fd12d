"""A visitor of the page of an arm."""

from collections.abc import Callable, Hashable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from jointwise.chain import Chain
from jointwise.scene.scene import Scene
from jointwise.solvers.targets import KINDS
from jointwise.view import meshes
from jointwise.view.panel import Animation, Panel
from jointwise.view.scene import Drawing
from jointwise.view.session import Session
from jointwise.view.visitor import Visitor

if TYPE_CHECKING:
    import viser


# Time between two drawings of an arm that tracks [s].
TRACK_FRAME_S = 1.0 / 30.0
# An arm that moves less between two of them stands still [rad, m].
STILL = 1e-9
# The file that obstacles are saved to.
SCENE_FILE = "scene.toml"


class ArmVisitor(Visitor):
    """One visitor's arm and target.

    Args:
        client: The visitor's connection.
        chain: The arm.
        name: Name of the file that a path is saved to, without its suffix.
        meshes: By joint, from ``meshes.load_meshes``.
        note: First message; the status of the first solve if empty.
        scene: The first obstacles.
        margin: The least distance to keep from them [m].

    Attributes:
        session: The visitor's arm and target.
        drawing: The arm and the target in the scene.
    """

    load_meshes = staticmethod(meshes.load_meshes)

    def __init__(
        self,
        client: "viser.ClientHandle",
        chain: Chain,
        name: str,
        meshes: dict[int, meshes.Mesh],
        note: str = "",
        scene: Scene | None = None,
        margin: float = 0.0,
    ) -> None:
        super().__init__(client)
        self.session: Session = Session(chain, scene, margin)
        self._name = name
        self._frames: Iterator[None] | None = None
        with client.atomic():
            self.drawing = Drawing(client, chain, meshes, self.session.q)
            self._panel: Panel = Panel(client.gui, self.session, self)
            self.drawing.target.handle.on_update(self._target_dragged)
            if self.session.obstacles is not None:
                self.drawing.obstacles.handle.on_update(self._obstacle_dragged)
                client.scene.on_click()(self._scene_clicked)
            self._start(note)

    @staticmethod
    def first_session(chain: Chain, scene: Scene | None = None, margin: float = 0.0) -> Session:
        """A session that has used each solver once for each kind of target, to compile them."""
        session = Session(chain, scene, margin)
        for name in KINDS:
            session.set_target_kind(name)
            session.step_joint()
            session.find_solutions(2)
        return Session(chain, scene, margin)

    def apply(
        self, change: Callable[[], object], key: Hashable = None, draw_targets: bool = True
    ) -> None:
        """Stop what plays, and change the session as ``Visitor.apply`` does."""

        def stop_and_change() -> None:
            self._stop()
            change()

        super().apply(stop_and_change, key, draw_targets)

    async def _target_dragged(self, _: object) -> None:
        def follow() -> None:
            session, before = self.session, self.session.T_base_target
            session.move_target(self.drawing.target.pose())
            if self._panel.records_drag and session.T_base_target is not before:
                session.record_target()

        self.apply(follow, "target", draw_targets=False)

    async def _obstacle_dragged(self, _: object) -> None:
        obstacles = self.session.obstacles

        def follow() -> None:
            if obstacles is not None and obstacles.selected is not None:
                pose = self.drawing.obstacles.pose()
                self.session.edit_scene(partial(obstacles.move, pose))

        self.apply(follow, "obstacle", draw_targets=False)

    def _scene_clicked(self, event: "viser.SceneClickEvent") -> None:
        obstacles, ray = self.session.obstacles, (event.ray_origin, event.ray_direction)
        if obstacles is not None:
            self.apply(lambda: obstacles.select(obstacles.hit(*map(np.array, ray))))

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

    def show_spheres(self, visible: bool) -> None:
        """Show or hide the spheres of the arm's geometry."""
        self.drawing.show_spheres(visible)

    def save(self) -> None:
        """Send the recorded path to the browser as a CSV file."""

        def job() -> None:
            content = self.session.to_csv().encode()
            self.client.send_file_download(f"{self._name}.csv", content, save_immediately=True)

        self._worker.submit(object(), job)

    def save_scene(self) -> None:
        """Send the obstacles to the browser as a TOML file."""

        def send() -> None:
            obstacles = self.session.obstacles
            if obstacles is not None:
                content = obstacles.scene.to_toml().encode()
                self.client.send_file_download(SCENE_FILE, content, save_immediately=True)

        self.apply(send)

    def _next_frame(self, frames: Iterator[None], rate: Callable[[], float]) -> None:
        played: list[bool] = []
        self._change(lambda: played.append(next(frames, False) is None), draw_targets=True)
        if played == [True]:
            self._worker.submit("frame", lambda: self._next_frame(frames, rate), 1.0 / rate())
        else:
            self._frames = None

    def _change(self, change: Callable[[], object], draw_targets: bool) -> None:
        super()._change(change, draw_targets)
        if self.session.tracking is not None:
            self._worker.submit("track", self._track, TRACK_FRAME_S)

    def _track(self) -> None:
        before = self.session.q
        self._change(lambda: self.session.track(TRACK_FRAME_S), draw_targets=False)
        if abs(self.session.q - before).max() < STILL:  # until the next change
            self._worker.cancel("track")

    def _stop(self) -> None:
        self._frames = None
        self._worker.cancel("frame")

    def _fit_view(self) -> None:
        self.drawing.fit_view(self.session.q, self.session.points())

    def _draw(self, with_targets: bool) -> None:
        session = self.session
        self.drawing.show_arm(session.q, session.moved_joint)
        self.drawing.target.show_kind(session.kind)
        others = session.other_solutions
        self.drawing.show_solutions(
            others,
            {i: session.solution_label(i) for i in others},
            lambda i: self.apply(lambda: session.select_solution(i)),
        )
        if session.obstacles is not None:
            clearance = session.obstacles.clearance(session.q)
            self.drawing.show_obstacles(session.obstacles, clearance, with_targets)
        if with_targets:
            self.drawing.target.show(session.T_base_target)
