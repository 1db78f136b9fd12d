"""The viser server of a page: its address, and its restrictions of access."""

import errno
import io
import json
import socket
import sys
import warnings
from contextlib import redirect_stdout
from html import escape
from typing import TYPE_CHECKING

from jointwise.errors import InvalidInputError, JointwiseError
from jointwise.extras import install, require
from jointwise.view.access import checked_connections, is_loopback

if TYPE_CHECKING:
    import viser

# Number of ports that are tried, from the requested one, and the largest port.
PORTS_TRIED, MAX_PORT = 100, 65535
# Errors if a port is taken; Windows refuses a port that another program has reserved.
TAKEN = {errno.EADDRINUSE, *([errno.EACCES] if sys.platform == "win32" else [])}
# viser lightens this for buttons and sliders, to the blue (0, 114, 178) of the links.
BRAND_COLOR = (0, 54, 84)
# Labels in viser's panels are pale, condensed and close to sliders; these are not. On a narrow
# screen, viser has one panel, with the tabs below all joints; here the tabs come first, and the
# panel leaves more of the model visible (``COVERED_BELOW``).
STYLE = """
    p:has(> label), input { letter-spacing: normal !important }
    label, .mantine-Slider-markLabel { color: #343a40 }
    .mantine-Slider-markLabel { padding-top: 0.15rem }
    @media (max-width: 36em) {
        [style*="max-height: 60%"] { max-height: 42% !important; width: 100% !important }
        [style*="max-height: 60%"] [style*="width: 20em"] { width: 100% !important }
        div:has(> div > .mantine-Tabs-root) { display: flex; flex-direction: column }
        div:has(> .mantine-Tabs-root) { order: -1 }
        [aria-label^="Expand panel"] > p { opacity: 1 !important }
    }
"""


def access_note(host: str) -> str:
    """Who can open a page that listens on ``host``."""
    if is_loopback(host):
        return "reachable from this machine only"
    return "reachable from every machine that can connect, without a password"


def url_host(host: str) -> str:
    """The host as it is written in a URL: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def free_port(host: str, port: int) -> int:
    """The port, or the next one that is free.

    Raises:
        InvalidInputError: The host is not an address of this machine, or no port is free.
    """
    if port > MAX_PORT:
        raise InvalidInputError(f"port is {port}: expected a number from 0 to {MAX_PORT}.")
    try:
        family, *_, address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
    except OSError as problem:
        raise InvalidInputError(f"host is {host!r}: expected an address. {problem}") from None
    for candidate in range(port, min(port + PORTS_TRIED, MAX_PORT + 1)):
        try:
            with socket.create_server((address[0], candidate), family=family):
                return candidate
        except OSError as problem:
            if problem.errno not in TAKEN:
                raise InvalidInputError(
                    f"host is {host!r} and port {candidate}: expected an address of this machine "
                    f"and a port that is allowed. {problem.strerror}"
                ) from None
    raise InvalidInputError(
        f"port is {port}: expected a free port, but none is between {port} and "
        f"{min(port + PORTS_TRIED - 1, MAX_PORT)}."
    )


def open_server(host: str, port: int, name: str) -> "viser.ViserServer":
    """A viser server that prints nothing, serves only its own page, and has no public tunnel."""
    require("viser", "the page needs viser", "view")
    import viser

    class Server(viser.ViserServer):
        def request_share_url(self, verbose: bool = True) -> None:
            """Refuse: a browser could otherwise make the page public."""

    # Harmless: a visitor may disconnect while messages are being sent.
    warnings.filterwarnings("ignore", "Queued a .* on a closed connection")
    # viser prints its address in its own format.
    with redirect_stdout(io.StringIO()), checked_connections(host) as checked:
        server = Server(host, port, label=name, verbose=False)
    if not checked:
        stop_server(server)
        raise JointwiseError(
            f"connections cannot be checked with viser {viser.__version__}: {install('view')}."
        )
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=BRAND_COLOR)
    server.gui.add_html(title_html(f"{name} – jointwise"), order=float("inf"))
    return server


def stop_server(server: "viser.ViserServer") -> None:
    """Stop a server, without viser's message that it has stopped."""
    with redirect_stdout(io.StringIO()):
        server.stop()


def title_html(title: str) -> str:
    """HTML that sets the title of the browser's tab and the style of labels.

    viser has no function for either. Its pages run no script that comes as HTML, except that of an
    image that cannot be loaded.
    """
    script = escape(f"document.title = {json.dumps(title)}")
    return f'<style>{STYLE}</style><img src="data:," onerror="{script}" hidden>'


def html(content: str) -> str:
    """HTML for a panel, with the margins and the font size of its controls."""
    return f"<div style='padding:0.2em 0.75em 0.5em;font-size:0.875em'>{content}</div>"
