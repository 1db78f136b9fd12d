"""The page: an arm or a robot in the browser, with viser, the extra ``view``."""

import webbrowser
from os import PathLike
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING

from jointwise.chain import Chain
from jointwise.errors import JointwiseError
from jointwise.model import checks
from jointwise.results.path import IKPath
from jointwise.results.plan import Plan
from jointwise.robot import Robot
from jointwise.view.graphics.camera import set_up_scene
from jointwise.view.graphics.meshes import Mesh, load_meshes
from jointwise.view.server import (
    access_note,
    free_port,
    open_server,
    stop_server,
    url_host,
)
from jointwise.view.session import Session
from jointwise.view.state.workspace import drawing_size, noun
from jointwise.view.visitor import Visitor

if TYPE_CHECKING:
    import viser

__all__ = ["Page", "serve"]

# Hosts that stand for all addresses of this machine.
ALL_ADDRESSES = ("", "0.0.0.0", "::")


class Page:
    """An arm or a robot on a page in the browser, for as long as this object is open.

    Every visitor (browser tab) has its own arm or robot and its own targets.

    Args:
        model: The arm, or the whole robot. Every visitor edits a copy of its scene.
        name: Its name on the page.
        host: The address to listen on. 127.0.0.1 is this machine alone.
        port: The port to listen on; if it is taken, the next free one. 0: any.
        urdf: The URDF or MJCF file that it came from, to draw its meshes.
        plan: A plan of the model to show, made by ``plan``; *Play* moves the model along it.
        path: A path of the model to show and play, made by ``solve_path``.

    Attributes:
        url: The address of the page.
        note: Arguments that could not be honoured, and what was done instead; empty if none.

    Raises:
        JointwiseError: viser is not installed.
        InvalidInputError: The host is not an address of this machine, no port is free, or the plan
            is of another model.

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
        plan: Plan | None = None,
        path: IKPath | None = None,
    ) -> None:
        self._plan, self._path = plan, path
        self._model, self._name = model, Path(name).stem
        self._meshes: list[Mesh] = []
        self.note = ""
        if urdf is not None:
            self._load_meshes(urdf)
        self._visitors: dict[int, Visitor] = {}
        self._lock = Lock()
        requested = checks.count("port", port)
        free = free_port(host, requested)
        session = _first_session(model)
        if plan is not None:
            session.show_plan(plan)
        if path is not None:
            session.show_path(path)
        self._server = open_server(host, free, self._name)
        set_up_scene(self._server, drawing_size(model), session.points())
        self._server.on_client_connect(self._connected)
        self._server.on_client_disconnect(self._disconnected)
        bound = self._server.get_port()
        if requested not in (0, bound):
            self.note = f"Port {requested} is taken. {self.note}".strip()
        self.url = f"http://{'localhost' if host in ALL_ADDRESSES else url_host(host)}:{bound}"

    @property
    def visitors(self) -> list[Visitor]:
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
            self._meshes = load_meshes(self._model, Path(urdf))
        except JointwiseError as problem:
            self.note = (
                f"The {noun(self._model)} is drawn from its joints, without meshes: {problem}"
            )

    def _connected(self, client: "viser.ClientHandle") -> None:
        shown = self._plan, self._path
        visitor = Visitor(client, self._model, self._name, self._meshes, self.note, *shown)
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
    plan: Plan | None = None,
    path: IKPath | None = None,
) -> None:
    """Show an arm or a robot on a page in the browser, until Ctrl+C.

    Args:
        model: As for ``Page``, like the other arguments.
        name: Its name on the page.
        host: The address to listen on. 127.0.0.1 is this machine alone.
        port: The port to listen on; if it is taken, the next free one.
        open_browser: Whether to open the page in the browser, too.
        urdf: The URDF that it came from, to draw its meshes.
        plan: A plan of the model, which is shown and can be played.
        path: A path of the model to show and play, as ``solve_path`` returns it.

    Example:
        >>> from jointwise import robots
        >>> serve(robots.panda(), "panda")  # doctest: +SKIP
    """
    with Page(model, name, host, port, urdf, plan, path) as page:
        try:
            if page.note:
                print(page.note)
            print(f"{name}: {page.url}, {access_note(host)}. Stop with Ctrl+C.", flush=True)
            if open_browser:
                webbrowser.open(page.url)
            Event().wait()
        except KeyboardInterrupt:
            print()


def _first_session(model: Chain | Robot) -> Session:
    """A session that has used each solver once for each kind of target, to compile them."""
    session = Session(model)
    for name in session.kinds if session.arm is not None else ():
        session.set_target_kind(name)
        session.step_joint()
        session.find_solutions(2)
    return Session(model)
