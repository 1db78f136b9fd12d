"""The page: an arm or a robot in the browser, with viser (``pip install jointwise[view]``)."""

import webbrowser
from os import PathLike
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from jointwise.chain import Chain
from jointwise.errors import InvalidInputError, JointwiseError
from jointwise.model import checks
from jointwise.robot import Robot
from jointwise.scene.scene import Scene
from jointwise.view.arm_visitor import ArmVisitor
from jointwise.view.meshes import Mesh
from jointwise.view.robot_visitor import RobotVisitor
from jointwise.view.scene import set_up_scene
from jointwise.view.server import (
    access_note,
    free_port,
    open_server,
    require_viser,
    stop_server,
    url_host,
)
from jointwise.view.workspace import drawing_size

if TYPE_CHECKING:
    import viser

__all__ = ["Page", "serve"]

# Hosts that stand for all addresses of this machine.
ALL_ADDRESSES = ("", "0.0.0.0", "::")


class Page:
    """An arm or a robot on a page in the browser, for as long as this object is open.

    Every visitor, that is every tab, has an arm or robot and targets of its own.

    Args:
        model: The arm, or the whole robot.
        name: Its name on the page.
        host: The address to listen at. 127.0.0.1 is this machine alone.
        port: The port to listen at; if it is taken, the next free one. 0: any.
        urdf: The URDF that it came from, to draw its meshes.
        scene: Obstacles that an arm must not touch; every visitor has its own copy to edit.
        margin: The least distance to keep from them [m].

    Attributes:
        url: The address of the page.
        note: Which arguments could not be followed, and what was done instead; empty if none.

    Raises:
        JointwiseError: viser is not installed.
        InvalidInputError: The host is not an address of this machine, or no port is free; or there
            is a scene, and the arm has no geometry.

    Example:
        >>> from jointwise import robots
        >>> with Page(robots.panda(), "panda", port=0) as page:
        ...     page.url.startswith("http://127.0.0.1:")
        True
    """

    def __init__(
        self,
        model: Chain | Robot,
        name: str = "arm",
        host: str = "127.0.0.1",
        port: int = 8080,
        urdf: str | PathLike[str] | None = None,
        scene: Scene | None = None,
        margin: float = 0.0,
    ) -> None:
        self._model, self._name = model, Path(name).stem
        self._visitor = _visitor_class(model)
        self._around = _surroundings(model, scene, margin)
        self._meshes: dict[Any, Mesh] = {}
        self.note = ""
        if urdf is not None:
            self._load_meshes(urdf)
        self._visitors: dict[int, ArmVisitor | RobotVisitor] = {}
        self._lock = Lock()
        requested = checks.count("port", port)
        free = free_port(host, requested)
        require_viser()
        session = self._visitor.first_session(model, **self._around)  # compiles the solvers
        self._server = open_server(host, free, self._name)
        set_up_scene(self._server, drawing_size(model), session.points())
        self._server.on_client_connect(self._connected)
        self._server.on_client_disconnect(self._disconnected)
        bound = self._server.get_port()
        if requested not in (0, bound):
            self.note = f"Port {requested} is taken. {self.note}".strip()
        self.url = f"http://{'localhost' if host in ALL_ADDRESSES else url_host(host)}:{bound}"

    @property
    def visitors(self) -> list[Any]:
        """The visitors that are connected, in order of arrival."""
        with self._lock:
            return list(self._visitors.values())

    def close(self) -> None:
        """Stop the server; tabs that show the page lose their connection."""
        for visitor in self.visitors:
            visitor.close()
        stop_server(self._server)

    def __enter__(self) -> "Page":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _load_meshes(self, urdf: str | PathLike[str]) -> None:
        try:
            self._meshes = self._visitor.load_meshes(self._model, Path(urdf))
        except JointwiseError as problem:
            noun = "robot" if isinstance(self._model, Robot) else "arm"
            self.note = f"The {noun} is drawn from its joints, without meshes: {problem}"

    def _connected(self, client: "viser.ClientHandle") -> None:
        visitor = self._visitor(
            client, self._model, self._name, self._meshes, self.note, **self._around
        )
        with self._lock:
            self._visitors[client.client_id] = visitor
        if client.client_id not in self._server.get_clients():  # disconnected in the meantime
            self._disconnected(client)

    def _disconnected(self, client: "viser.ClientHandle") -> None:
        with self._lock:
            visitor = self._visitors.pop(client.client_id, None)
        if visitor is not None:
            visitor.close()


def serve(
    model: Chain | Robot,
    name: str = "arm",
    host: str = "127.0.0.1",
    port: int = 8080,
    open_browser: bool = True,
    urdf: str | PathLike[str] | None = None,
    scene: Scene | None = None,
    margin: float = 0.0,
) -> None:
    """Show an arm or a robot on a page in the browser, until Ctrl+C.

    Args:
        model: As for ``Page``, like the other arguments.
        name: Its name on the page.
        host: The address to listen at. 127.0.0.1 is this machine alone.
        port: The port to listen at; if it is taken, the next free one.
        open_browser: Whether to open the page in the browser, too.
        urdf: The URDF that it came from, to draw its meshes.
        scene: Obstacles that an arm must not touch.
        margin: The least distance to keep from them [m].

    Example:
        >>> from jointwise import robots
        >>> serve(robots.panda(), "panda")  # doctest: +SKIP
    """
    with Page(model, name, host, port, urdf, scene, margin) as page:
        if page.note:
            print(page.note)
        print(f"{name}: {page.url}, {access_note(host)}. Stop with Ctrl+C.", flush=True)
        if open_browser:
            webbrowser.open(page.url)
        try:
            Event().wait()
        except KeyboardInterrupt:
            print()


def _surroundings(model: Chain | Robot, scene: Scene | None, margin: float) -> dict[str, Any]:
    """What visitors of an arm are made with; nothing for a robot, which has no obstacles."""
    if not isinstance(model, Robot):
        return {"scene": scene, "margin": margin}
    if scene is not None or margin != 0.0:
        given = "margin" if scene is None else "scene"
        raise InvalidInputError(
            f"{given} is given for a whole robot: expected an arm, such as robot.chain(base, tip). "
            "The page shows obstacles around arms only."
        )
    return {}


def _visitor_class(model: Chain | Robot) -> Any:
    """The class whose visitors see the model, with meshes that it loads itself."""
    return RobotVisitor if isinstance(model, Robot) else ArmVisitor
