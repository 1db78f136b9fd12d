"""One visitor of the page: a session, its drawing, its panel, and the thread they live on."""

from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING

from jointwise.chain import Chain
from jointwise.errors import JointwiseError
from jointwise.kernels.shapes import Floats
from jointwise.view.panel import Panel
from jointwise.view.scene import Drawing
from jointwise.view.session import Session
from jointwise.view.worker import Worker

if TYPE_CHECKING:
    import viser

# Seconds between two looks at the panel; the arm itself is drawn at every change.
GLANCE = 0.08


class Visitor:
    """Carries what the browser asks for to the session, and what became of it back.

    Attributes:
        client: The visitor's tab, as viser knows it.
        session: The visitor's arm and target.
        drawing: What is seen of them.
        drawn: How often the arm was drawn.
    """

    def __init__(
        self,
        client: "viser.ClientHandle",
        chain: Chain,
        name: str,
        meshes: dict[int, bytes],
        note: str = "",
    ) -> None:
        self.session = Session(chain)
        self.session.says = note or self.session.says
        self.drawn = 0
        self.client, self._name = client, name
        self._worker = Worker()
        self._film: Iterator[None] | None = None
        with client.atomic():
            self.drawing = Drawing(client, chain, meshes)
            self._panel = Panel(client.gui, self.session, self.do, self.play, self.save)
            self._draw(target=True)
            self._panel.refresh()
        self.drawing.gizmo.on_update(self._dragged)
        self._worker.start()

    def close(self) -> None:
        """End the thread."""
        self._worker.close()
        self._worker.join(timeout=5.0)

    def do(self, what: Callable[[], object], key: Hashable = None, target: bool = True) -> None:
        """Change the session and show it; what plays stops.

        Args:
            what: A change of the session.
            key: Of changes with the same key that wait, only the latest is made.
            target: Whether the target is drawn, too; not while the visitor holds it.
        """

        def job() -> None:
            self._stop()
            self._change(what, target)

        self._worker.put(object() if key is None else key, job)

    async def _dragged(self, _: object) -> None:
        """The target was moved by hand."""

        def follow() -> None:
            gizmo, session, before = self.drawing.gizmo, self.session, self.session.T_base_target
            session.move_target(pose_of(gizmo.wxyz, gizmo.position))
            if self._panel.records and session.T_base_target is not before:
                session.record()

        self.do(follow, "target", target=False)

    def play(self, film: Callable[[], Iterator[None]], rate: Callable[[], float]) -> None:
        """Show a film, a picture at a time, until it ends; if one is on, stop that instead.

        Args:
            film: Changes the session from picture to picture.
            rate: How many pictures a second.
        """

        def job() -> None:
            if self._film is not None:
                self._stop()
                self._glance()
            else:
                self._film = film()
                self._next_picture(self._film, rate)

        self._worker.put(object(), job)

    def save(self) -> None:
        """Send the recorded path to the browser as a CSV file."""

        def job() -> None:
            content = self.session.to_csv().encode()
            self.client.send_file_download(f"{self._name}.csv", content, save_immediately=True)

        self._worker.put(object(), job)

    def _next_picture(self, film: Iterator[None], rate: Callable[[], float]) -> None:
        goes_on: list[bool] = []
        self._change(lambda: goes_on.append(next(film, False) is None), target=True)
        if goes_on == [True]:
            self._worker.put("film", lambda: self._next_picture(film, rate), 1.0 / rate())
        else:
            self._film = None

    def _stop(self) -> None:
        self._film = None
        self._worker.drop("film")

    def _change(self, what: Callable[[], object], target: bool) -> None:
        try:
            what()
        except JointwiseError as problem:
            self.session.says = str(problem)
        with self.client.atomic():
            self._draw(target)
        self._glance()

    def _draw(self, target: bool) -> None:
        session = self.session
        self.drawing.show_arm(session.q, session.moving)
        self.drawing.show_kind(session.kind)
        self.drawing.show_ghosts(session.others, lambda i: self.do(lambda: session.choose(i)))
        if target:
            self.drawing.show_target(session.T_base_target)
        self.drawn += 1

    def _glance(self) -> None:
        def refresh() -> None:
            with self.client.atomic():
                self._panel.refresh()

        self._worker.put("glance", refresh, GLANCE)


def pose_of(wxyz: Floats, position: Floats) -> Floats:
    """(4, 4) a pose from a quaternion and a position."""
    from scipy.spatial.transform import RigidTransform, Rotation

    rotation = Rotation.from_quat(wxyz, scalar_first=True)
    return RigidTransform.from_components(position, rotation).as_matrix()
