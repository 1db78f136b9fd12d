"""Buttons of a panel, and callbacks of its fields.

Callbacks are ``async``: viser runs those in order on its own thread, and others in any order.
"""

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import viser

Action = Callable[[], None]


def add_button(
    gui: "viser.GuiApi", label: str, action: Action, hint: str | None = None
) -> "viser.GuiButtonHandle":
    """A button that calls ``action``."""

    async def clicked(_: object) -> None:
        action()

    button = gui.add_button(label, hint=hint)
    button.on_click(clicked)
    return button


def add_buttons(
    gui: "viser.GuiApi", label: str, actions: Mapping[str, Action]
) -> "viser.GuiButtonGroupHandle":
    """A row of buttons with a label; each calls its action."""
    buttons = gui.add_button_group(label, tuple(actions))

    async def clicked(event: "viser.GuiEvent[viser.GuiButtonGroupHandle]") -> None:
        actions[event.target.value]()

    buttons.on_click(clicked)
    return buttons


def on_change(
    field: Any, apply: Callable[..., None], change: Callable[[Any], object], key: Hashable = None
) -> None:
    """Apply a change whenever the visitor, not ``refresh``, changes the value of a field.

    Args:
        field: A checkbox, slider, dropdown or number.
        apply: As ``Actions.apply``.
        change: Called with the new value.
        key: As for ``Actions.apply``.
    """

    async def changed(event: "viser.GuiEvent[Any]") -> None:
        if event.client is not None:
            apply(partial(change, event.target.value), key)

    field.on_update(changed)
