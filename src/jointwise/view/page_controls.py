"""What is at the top of every panel: the status, Fit view, and the angle unit."""

from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from jointwise.view.buttons import add_button
from jointwise.view.server import html
from jointwise.view.units import ANGLE_UNITS, Unit

if TYPE_CHECKING:
    import viser


class UnitSession(Protocol):
    """A session of an arm or of a robot, as the angle unit needs it."""

    angle_unit: Unit

    def set_angle_unit(self, name: str) -> None:
        """Show angles in another unit."""


class PageActions(Protocol):
    """What all controls ask for; ``Visitor`` does it."""

    def apply(self, change: Callable[[], object], key: Hashable = None) -> None:
        """Change the session; the change replaces a waiting one with the same key."""

    def fit_view(self) -> None:
        """Show everything."""


class PageControls:
    """The status, Fit view, and the angle unit.

    Args:
        gui: The visitor's GUI.
        session: The session whose angle unit is set.
        actions: What the controls ask for.
        hint: What Fit view shows.
    """

    def __init__(
        self, gui: "viser.GuiApi", session: UnitSession, actions: PageActions, hint: str
    ) -> None:
        self._session, self._apply = session, actions.apply
        self._status = gui.add_html("")
        add_button(gui, "Fit view", actions.fit_view, hint)
        unit = gui.add_dropdown(
            "Angle unit", tuple(ANGLE_UNITS), initial_value=session.angle_unit.name
        )
        unit.on_update(self._unit_changed)

    async def _unit_changed(self, event: "viser.GuiEvent[Any]") -> None:
        self._apply(partial(self._session.set_angle_unit, event.target.value))

    def show_status(self, lines: list[str]) -> None:
        """Show lines of HTML."""
        self._status.content = html("<br>".join(lines))
