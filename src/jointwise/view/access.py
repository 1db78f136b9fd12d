"""Who may connect to a page: tabs that show it, and programs that are not browsers.

A browser lets every website open a WebSocket to every address, and names the website in the Origin
header. viser does not check this header, and has no option for it.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

# The package of the server whose connections are checked.
MODULE = "viser"


def is_loopback(name: str) -> bool:
    """Whether a host name or address is that of the loopback interface."""
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def refusal(host: str, origin: str | None, loopback: bool) -> str:
    """Why a request is refused; empty if it is not.

    Args:
        host: Its Host header: the name and port in the address of the page.
        origin: Its Origin header: the website that asks; None for programs that are not browsers.
        loopback: Whether the page can be opened from this machine only. Another name then belongs
            to a website whose address was changed to this machine's (DNS rebinding).
    """
    name, port = _split(host)
    if loopback and not is_loopback(name):
        return f"jointwise refuses the Host {host!r}: expected localhost or 127.0.0.1."
    if origin is None:
        return ""
    scheme, _, location = origin.partition("://")
    if scheme in ("http", "https") and name:
        asking, asking_port = _split(location)
        both_here = is_loopback(name) and is_loopback(asking)
        if location.lower() == host.lower() or (both_here and asking_port == port):
            return ""
    return f"jointwise refuses the Origin {origin!r}: expected the page itself, http://{host}."


def _split(location: str) -> tuple[str, int | None]:
    """The name, in lower case, and the port of ``name:port``; empty and None if it has none."""
    try:
        parts = urlsplit(f"//{location}")
        return parts.hostname or "", parts.port
    except ValueError:
        return "", None


@contextmanager
def checked_connections(host: str) -> Iterator[list[Any]]:
    """In this block, a viser server that starts at ``host`` gets a check of all its requests.

    viser offers no way to add arguments to its call of ``serve`` of websockets, so that function is
    wrapped while the server starts. Yields a list that is empty if a server was started in another
    way, and would accept every website. Connections that end during their handshake are not logged.
    """
    from websockets.asyncio import server

    serve = server.serve
    checked: list[Any] = []

    def serve_checked(handler: Any, *args: Any, process_request: Any = None, **options: Any) -> Any:
        if handler.__module__.partition(".")[0] == MODULE:  # no other server of this process
            process_request = partial(_process, process_request, is_loopback(host))
            options.setdefault("logger", _logger())
            checked.append(handler)
        return serve(handler, *args, process_request=process_request, **options)

    server.serve = serve_checked  # type: ignore[assignment,misc]
    try:
        yield checked
    finally:
        server.serve = serve  # type: ignore[misc]


def _logger() -> logging.Logger:
    """The logger of the server, without connections that ended during their handshake.

    viser leaves these out as well, but only after the first request.
    """
    logger = logging.getLogger("websockets.server.jointwise")
    logger.addFilter(_is_after_handshake)
    return logger


def _is_after_handshake(record: logging.LogRecord) -> bool:
    return record.msg != "opening handshake failed"


def _process(then: Any, loopback: bool, connection: Any, request: Any) -> Any:
    """Refuse a request, or pass it on to viser."""
    host, origin = request.headers.get("Host", ""), request.headers.get("Origin")
    text = refusal(host, origin, loopback)
    return connection.respond(HTTPStatus.FORBIDDEN, text) if text else then(connection, request)
