"""The page: an arm in the browser, with viser (``pip install jointwise[view]``)."""

import errno
import io
import socket
import warnings
import webbrowser
from contextlib import redirect_stdout
from os import PathLike
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, get_args

from jointwise import checks
from jointwise.chain import Chain
from jointwise.errors import InvalidInputError, JointwiseError
from jointwise.view import meshes, scene
from jointwise.view.session import Kind, Session
from jointwise.view.visitor import Visitor

if TYPE_CHECKING:
    import viser

# Ports that are tried after the one that was asked for.
PORTS = 100
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
        free = _free_port(host, asked)
        _need_viser()
        warm(chain)
        self._server = _server(host, free, self._name)
        scene.furnish(self._server, chain, Session(chain).q)
        self._server.on_client_connect(self._arrives)
        self._server.on_client_disconnect(self._leaves)
        bound = self._server.get_port()
        if asked not in (0, bound):
            self.note = f"Port {asked} is taken. {self.note}".strip()
        self.url = f"http://{'localhost' if host in EVERYWHERE else _bracketed(host)}:{bound}"

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
        visitor = Visitor(client, self._chain, self._name, self._meshes)
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
        print(f"{name}: {page.url}, {_audience(host)}. Ctrl+C ends it.", flush=True)
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


def _audience(host: str) -> str:
    """Who can open the page."""
    if host == "localhost" or host == "::1" or host.startswith("127."):
        return "for this machine alone"
    return "for every machine that can reach this one, without a password"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _free_port(host: str, port: int) -> int:
    """The port, or the next that is free."""
    try:
        family, *_, address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
    except OSError as problem:
        raise InvalidInputError(f"host is {host!r}: expected an address. {problem}") from None
    for free in range(port, min(port + PORTS, 65536)):
        try:
            with socket.create_server((address[0], free), family=family):
                return free
        except OSError as problem:
            if problem.errno != errno.EADDRINUSE:
                raise InvalidInputError(
                    f"host is {host!r} and port {free}: expected an address of this machine and "
                    f"a port that is allowed. {problem.strerror}"
                ) from None
    raise InvalidInputError(
        f"port is {port}: expected one that is free, or with free ones after it."
    )


def _need_viser() -> None:
    try:
        import viser  # noqa: F401
    except ImportError:
        raise JointwiseError(
            "the page needs viser, which is not installed: pip install 'jointwise[view]'."
        ) from None


def _server(host: str, port: int, name: str) -> "viser.ViserServer":
    """A server without tunnels to elsewhere, which says nothing by itself."""
    import viser

    class Server(viser.ViserServer):
        def request_share_url(self, verbose: bool = True) -> None:
            """Refuse: nobody opens the page to the world from a browser."""

    # A visitor may leave while something is on the way to him; that is no trouble.
    warnings.filterwarnings("ignore", "Queued a .* on a closed connection")
    with redirect_stdout(io.StringIO()):  # viser says where it is in its own way
        server = Server(host, port, label=name, verbose=False)
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=scene.LINK)
    return server
