"""The base class of the parts of a panel, and the actions that they request."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Protocol, TypeAlias

from jointwise.view.session import Session

if TYPE_CHECKING:
    import viser

Gui: TypeAlias = "viser.GuiApi"
Animation = Callable[[], Iterator[None]]


class Actions(Protocol):
    """Actions that controls request; ``Visitor`` implements them."""

    def apply(self, change: Callable[[], object], key: Hashable = None) -> None:
        """Change the session; the change replaces a waiting one with the same key."""

    def fit_view(self) -> None:
        """Show everything."""

    def play(self, animation: Animation, rate: Callable[[], float]) -> None:
        """Play an animation of the session at a rate [1/s], or pause it."""

    def save(self) -> None:
        """Download the recorded path."""

    def save_scene(self) -> None:
        """Download the obstacles."""

    def show_spheres(self, visible: bool) -> None:
        """Show or hide the spheres of the model's shape."""

    def check_collisions(self) -> None:
        """Find the shape of the model, and check for collisions from now on."""


class Controls(ABC):
    """A part of a panel.

    Args:
        gui: The visitor's GUI.
        session: The session to show and change.
        actions: Actions that the controls request.
    """

    def __init__(self, gui: Gui, session: Session, actions: Actions) -> None:
        self._gui, self._session, self._actions = gui, session, actions
        self._apply = actions.apply
        self._add(gui, session)

    @abstractmethod
    def _add(self, gui: Gui, session: Session) -> None:
        """Add the controls to the panel."""

    @abstractmethod
    def refresh(self) -> None:
        """Show the current state of the session."""
