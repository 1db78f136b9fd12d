"""The page: an arm in the browser, with viser (``pip install jointwise[view]``)."""

import io
import webbrowser
from contextlib import redirect_stdout
from os import PathLike
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, get_args

from jointwise.chain import Chain
from jointwise.errors import JointwiseError
from jointwise.model import checks
from jointwise.view import meshes, scene
from jointwise.view.recording import Kind
from jointwise.view.server import audience, bracketed, free_port, need_viser, open_server
from jointwise.view.session import Session
from jointwise.view.visitor import Visitor

if TYPE_CHECKING:
    import viser

# Addresses that stand for all addresses of this machine.
EVERYWHERE = ("", "0.0.0.0", "::")


class Page:
    """An arm on a page in the browser, for as long as this object is open.

    Every visitor, that is every tab, has an arm and a target of its own.

    Args:
        chain: The arm.
        name: What it is called on the page.
        host: The address to listen at. 127.0.0.1 is this machine alone.
        port: The port to listen at; if it is taken, the next that is free. 0: any.
        urdf: The URDF that the arm came from, to draw its meshes.

    Attributes:
        url: Where the page is.
        note: What could not be done as asked, in a sentence, or nothing.

    Raises:
        JointwiseError: viser is not installed.
        InvalidInputError: There is no such address, or no free port.

    Example:
        >>> from jointwise import robots
        >>> with Page(robots.panda(), "panda", port=0) as page:
        ...     page.url.startswith("http://127.0.0.1:")
        True
    """

    def __init__(
        self,
        chain: Chain,
        name: str = "arm",
        host: str = "127.0.0.1",
        port: int = 8080,
        urdf: str | PathLike[str] | None = None,
    ) -> None:
        self._chain, self._name = chain, Path(name).stem
        self._meshes: dict[int, bytes] = {}
        self.note = ""
        if urdf is not None:
            self._read_meshes(urdf)
        self._visitors: dict[int, Visitor] = {}
        self._lock = Lock()
        asked = checks.count("port", port)
        free = free_port(host, asked)
        need_viser()
        warm(chain)
        self._server = open_server(host, free, self._name)
        scene.furnish(self._server, chain, Session(chain).q)
        self._server.on_client_connect(self._arrives)
        self._server.on_client_disconnect(self._leaves)
        bound = self._server.get_port()
        if asked not in (0, bound):
            self.note = f"Port {asked} is taken. {self.note}".strip()
        self.url = f"http://{'localhost' if host in EVERYWHERE else bracketed(host)}:{bound}"

    @property
    def visitors(self) -> list[Visitor]:
        """Who is there, in order of arrival."""
        with self._lock:
            return list(self._visitors.values())

    def close(self) -> None:
        """End the page; tabs that show it lose their connection."""
        for visitor in self.visitors:
            visitor.close()
        with redirect_stdout(io.StringIO()):  # viser says that it stops
            self._server.stop()

    def __enter__(self) -> "Page":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read_meshes(self, urdf: str | PathLike[str]) -> None:
        try:
            self._meshes = meshes.of_urdf(self._chain, Path(urdf))
        except JointwiseError as problem:
            self.note = f"The arm is drawn from its joints, without meshes: {problem}"

    def _arrives(self, client: "viser.ClientHandle") -> None:
        visitor = Visitor(client, self._chain, self._name, self._meshes, self.note)
        with self._lock:
            self._visitors[client.client_id] = visitor
        if client.client_id not in self._server.get_clients():  # gone again already
            self._leaves(client)

    def _leaves(self, client: "viser.ClientHandle") -> None:
        with self._lock:
            visitor = self._visitors.pop(client.client_id, None)
        if visitor is not None:
            visitor.close()


def serve(
    chain: Chain,
    name: str = "arm",
    host: str = "127.0.0.1",
    port: int = 8080,
    open_browser: bool = True,
    urdf: str | PathLike[str] | None = None,
) -> None:
    """Show an arm on a page in the browser, until Ctrl+C.

    Args:
        chain: As for ``Page``, as the other arguments.
        name: What it is called on the page.
        host: The address to listen at. 127.0.0.1 is this machine alone.
        port: The port to listen at; if it is taken, the next that is free.
        open_browser: Whether to open the page in the browser, too.
        urdf: The URDF that the arm came from, to draw its meshes.
    """
    print("Getting ready; the very first time that takes up to a minute.", flush=True)
    with Page(chain, name, host, port, urdf) as page:
        if page.note:
            print(page.note)
        print(f"{name}: {page.url}, {audience(host)}. Ctrl+C ends it.", flush=True)
        if open_browser:
            webbrowser.open(page.url)
        try:
            Event().wait()
        except KeyboardInterrupt:
            print()


def warm(chain: Chain) -> None:
    """Solve once for each kind of target, so that everything is compiled before it is needed."""
    session = Session(chain)
    for kind in get_args(Kind):
        session.ask_for(kind)
        session.step_joint()
        session.find_answers(2)
