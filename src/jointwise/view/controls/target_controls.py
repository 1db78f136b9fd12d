"""The targets in the panel."""

from functools import partial
from typing import Any

from jointwise.view.controls.actions import Controls, Gui
from jointwise.view.controls.buttons import add_button, on_change
from jointwise.view.controls.target_fields import TargetFields
from jointwise.view.session import Session

NO_LINK = "–"


class TargetControls(Controls):
    """A folder with the selected target, and whether the model follows it.

    If several links can have targets, it also has the link of the target.
    """

    def _add(self, gui: Gui, session: Session) -> None:
        self._link: Any = None
        several = len(session.links) > 1
        with gui.add_folder("Targets" if several else "Target"):
            if several:
                self._add_link(gui)
            self._fields = TargetFields(gui, session, self._apply)
            follows = gui.add_checkbox(
                f"{session.noun.capitalize()} follows",
                session.follows,
                hint="Solve whenever a target moves. Off: set the joints yourself.",
            )
            end = "link" if several else "end effector"
            snap = partial(self._apply, session.snap_target_to_link)
            self._of_target = [add_button(gui, f"Snap target to {end}", snap)]
            if several:
                hint = "Clicking the link does the same."
                remove = partial(self._apply, self._remove)
                self._of_target.append(add_button(gui, "Remove target", remove, hint))
        on_change(follows, self._apply, session.set_follows)

    def _add_link(self, gui: Gui) -> None:
        self._link = gui.add_dropdown(
            "Link",
            (NO_LINK, *self._session.links),
            hint="Links with targets are listed first. Selecting or clicking another link gives "
            "it a target at its current place.",
        )
        on_change(self._link, self._apply, self._select)

    def _select(self, link: str) -> None:
        if link != NO_LINK:
            self._session.select(link)

    def _remove(self) -> None:
        if self._session.selected is not None:
            self._session.remove_target(self._session.selected)

    def refresh(self) -> None:
        """Show the links with targets, and the selected target."""
        session, has_target = self._session, self._session.selected is not None
        if self._link is not None:
            first = list(session.targets) or [NO_LINK]
            links = tuple(dict.fromkeys([*first, *session.links]))
            if self._link.options != links:
                self._link.options = links
            self._link.value = session.selected or NO_LINK
        self._fields.show(has_target)
        for button in self._of_target:
            button.visible = has_target
        if has_target:
            self._fields.refresh()
