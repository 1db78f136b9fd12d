"""One visitor of the page: a session, its scene and panel, and the thread that updates them."""

from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING

from jointwise.chain import Chain
from jointwise.errors import JointwiseError
from jointwise.kernels.shapes import Floats
from jointwise.view.meshes import Mesh
from jointwise.view.panel import Animation, Panel
from jointwise.view.scene import Drawing
from jointwise.view.session import Session
from jointwise.view.worker import Worker

if TYPE_CHECKING:
    import viser

# Delay between a change and the refresh of the panel [s]; the arm is drawn at every change.
REFRESH_DELAY_S = 0.08
# Time between two drawings of an arm that tracks [s].
TRACK_FRAME_S = 1.0 / 30.0
# An arm that moves less between two of them stands still [rad, m].
STILL = 1e-9


class Visitor:
    """Passes input from the browser to the session, and draws the session in the browser.

    Args:
        client: The visitor's connection.
        chain: The arm.
        name: Name of the file that a path is saved to, without its suffix.
        meshes: By joint, from ``meshes.load_meshes``.
        note: First message; the status of the first solve if empty.

    Attributes:
        client: The visitor's connection, one for each tab.
        session: The visitor's arm and target.
        drawing: The arm and the target in the scene.
        draw_count: How often the arm was drawn.
    """

    def __init__(
        self,
        client: "viser.ClientHandle",
        chain: Chain,
        name: str,
        meshes: dict[int, Mesh],
        note: str = "",
    ) -> None:
        self.session = Session(chain)
        self.session.message = note or self.session.message
        self.draw_count = 0
        self.client, self._name = client, name
        self._worker = Worker()
        self._frames: Iterator[None] | None = None
        with client.atomic():
            self.drawing = Drawing(client, chain, meshes, self.session.q)
            self._panel = Panel(client.gui, self.session, self)
            self._draw(with_target=True)
            self._panel.refresh()
        self.drawing.gizmo.on_update(self._target_dragged)
        self._worker.start()

    def close(self) -> None:
        """End the thread."""
        self._worker.close()
        self._worker.join(timeout=5.0)

    def apply(
        self, change: Callable[[], object], key: Hashable = None, draw_target: bool = True
    ) -> None:
        """Stop what plays, change the session and draw it, on the visitor's thread.

        Args:
            change: Changes the session.
            key: The change replaces a waiting one with the same key. None: it replaces none.
            draw_target: Whether the target is drawn; False while the visitor drags it.
        """

        def job() -> None:
            self._stop()
            self._change(change, draw_target)

        self._worker.submit(object() if key is None else key, job)

    async def _target_dragged(self, _: object) -> None:
        def follow() -> None:
            gizmo, session, before = self.drawing.gizmo, self.session, self.session.T_base_target
            session.move_target(pose_matrix(gizmo.wxyz, gizmo.position))
            if self._panel.records_drag and session.T_base_target is not before:
                session.record_target()

        self.apply(follow, "target", draw_target=False)

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

        def job() -> None:
            content = self.session.to_csv().encode()
            self.client.send_file_download(f"{self._name}.csv", content, save_immediately=True)

        self._worker.submit(object(), job)

    def fit_view(self) -> None:
        """Move the camera until it sees the whole arm and the target."""
        session = self.session

        def job() -> None:
            self.drawing.fit_view(session.q, session.points())

        self._worker.submit("fit view", job)

    def _next_frame(self, frames: Iterator[None], rate: Callable[[], float]) -> None:
        played: list[bool] = []
        self._change(lambda: played.append(next(frames, False) is None), draw_target=True)
        if played == [True]:
            self._worker.submit("frame", lambda: self._next_frame(frames, rate), 1.0 / rate())
        else:
            self._frames = None

    def _stop(self) -> None:
        self._frames = None
        self._worker.cancel("frame")

    def _change(self, change: Callable[[], object], draw_target: bool) -> None:
        try:
            change()
        except JointwiseError as problem:
            self.session.message = str(problem)
        with self.client.atomic():
            self._draw(draw_target)
        self._refresh_soon()
        if self.session.tracking is not None:
            self._worker.submit("track", self._track, TRACK_FRAME_S)

    def _track(self) -> None:
        before = self.session.q
        self._change(lambda: self.session.track(TRACK_FRAME_S), draw_target=False)
        if abs(self.session.q - before).max() < STILL:  # until the next change
            self._worker.cancel("track")

    def _draw(self, with_target: bool) -> None:
        session = self.session
        self.drawing.show_arm(session.q, session.moved_joint)
        self.drawing.show_kind(session.kind)
        others = session.other_solutions
        self.drawing.show_solutions(
            others,
            {i: session.solution_label(i) for i in others},
            lambda i: self.apply(lambda: session.select_solution(i)),
        )
        if with_target:
            self.drawing.show_target(session.T_base_target)
        self.draw_count += 1

    def _refresh_soon(self) -> None:
        def refresh() -> None:
            with self.client.atomic():
                self._panel.refresh()

        self._worker.submit("refresh", refresh, REFRESH_DELAY_S)


def pose_matrix(wxyz: Floats, position: Floats) -> Floats:
    """(4, 4) a pose from a quaternion w, x, y, z and a position [m]."""
    from scipy.spatial.transform import RigidTransform, Rotation

    rotation = Rotation.from_quat(wxyz, scalar_first=True)
    return RigidTransform.from_components(position, rotation).as_matrix()
