"""What serves a page: viser, at an address of this machine, with nothing open to elsewhere."""

import errno
import io
import socket
import warnings
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from jointwise.errors import InvalidInputError, JointwiseError

if TYPE_CHECKING:
    import viser

# Ports that are tried after the one that was asked for.
PORTS = 100
BRAND = (0, 114, 178)


def audience(host: str) -> str:
    """Who can open the page."""
    if host == "localhost" or host == "::1" or host.startswith("127."):
        return "for this machine alone"
    return "for every machine that can reach this one, without a password"


def bracketed(host: str) -> str:
    """A host as it stands in an address."""
    return f"[{host}]" if ":" in host else host


def free_port(host: str, port: int) -> int:
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


def need_viser() -> None:
    """Viser, or a sentence that says how to get it."""
    try:
        import viser  # noqa: F401
    except ImportError:
        raise JointwiseError(
            "the page needs viser, which is not installed: pip install 'jointwise[view]'."
        ) from None


def open_server(host: str, port: int, name: str) -> "viser.ViserServer":
    """A server without tunnels to elsewhere, which says nothing by itself."""
    import viser

    class Server(viser.ViserServer):
        def request_share_url(self, verbose: bool = True) -> None:
            """Refuse: nobody opens the page to the world from a browser."""

    # A visitor may leave while something is on the way to him; that is no trouble.
    warnings.filterwarnings("ignore", "Queued a .* on a closed connection")
    with redirect_stdout(io.StringIO()):  # viser says where it is in its own way
        server = Server(host, port, label=name, verbose=False)
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=BRAND)
    return server
