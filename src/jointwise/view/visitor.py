"""A visitor of the page: a session, its drawing and panel, and the thread that updates them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Protocol

from jointwise.errors import JointwiseError
from jointwise.view.worker import Worker

if TYPE_CHECKING:
    import viser

# Delay between a change and the refresh of the panel [s]; the scene is drawn at every change.
REFRESH_DELAY_S = 0.08


class HasMessage(Protocol):
    """A session.

    Attributes:
        message: What happened last.
    """

    message: str


class Refreshed(Protocol):
    """A panel."""

    def refresh(self) -> None:
        """Show the current state of the session."""


class Visitor(ABC):
    """Passes input from the browser to a session, and draws the session in the browser.

    A subclass creates session, drawing and panel, and then calls ``_start``.

    Args:
        client: The visitor's connection.

    Attributes:
        client: The visitor's connection, one for each tab.
        draw_count: How often the scene was drawn.
    """

    session: HasMessage
    _panel: Refreshed

    def __init__(self, client: "viser.ClientHandle") -> None:
        self.client = client
        self.draw_count = 0
        self._worker = Worker()

    @abstractmethod
    def _draw(self, with_targets: bool) -> None:
        """Draw the session; without targets while the visitor drags one."""

    @abstractmethod
    def _fit_view(self) -> None:
        """Move the camera until it sees everything."""

    def _start(self, note: str) -> None:
        """Show the session with its first message, unless that is empty, and begin to listen."""
        self.session.message = note or self.session.message
        self._draw(with_targets=True)
        self._panel.refresh()
        self._worker.start()

    def close(self) -> None:
        """End the thread."""
        self._worker.close()
        self._worker.join(timeout=5.0)

    def apply(
        self, change: Callable[[], object], key: Hashable = None, draw_targets: bool = True
    ) -> None:
        """Change the session and draw it, on the visitor's thread.

        Args:
            change: Changes the session.
            key: The change replaces a waiting one with the same key. None: it replaces none.
            draw_targets: Whether targets are drawn; False while the visitor drags one.
        """
        self._worker.submit(
            object() if key is None else key, lambda: self._change(change, draw_targets)
        )

    def fit_view(self) -> None:
        """Move the camera until it sees everything, on the visitor's thread."""
        self._worker.submit("fit view", self._fit_view)

    def _change(self, change: Callable[[], object], draw_targets: bool) -> None:
        try:
            change()
        except JointwiseError as problem:
            self.session.message = str(problem)
        with self.client.atomic():
            self._draw(draw_targets)
        self.draw_count += 1
        self._refresh_soon()

    def _refresh_soon(self) -> None:
        def refresh() -> None:
            with self.client.atomic():
                self._panel.refresh()

        self._worker.submit("refresh", refresh, REFRESH_DELAY_S)
