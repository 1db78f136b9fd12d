"""The recorded path in the panel: record, solve, play and save it."""

from functools import partial
from html import escape
from math import radians
from typing import Any

from jointwise.view.controls.actions import Controls, Gui
from jointwise.view.controls.buttons import add_button, add_buttons, on_change
from jointwise.view.graphics.path_drawing import COLORS, MEANINGS
from jointwise.view.server import html
from jointwise.view.session import Session
from jointwise.view.state.shown_path import Binding, ShownPath

# Steps per second when a path of unknown rate is played, and the most steps per second.
PATH_RATE, MAX_RATE = 30.0, 60.0
# Largest tilt that can be chosen [degrees].
MAX_TILT = 45


class PathControls(Controls):
    """A folder in which targets are recorded, and the path is solved, played and saved."""

    def _add(self, gui: Gui, session: Session) -> None:
        with gui.add_folder("Recorded path"):
            self._count = gui.add_html("")
            self._records_drag = gui.add_checkbox(
                "Record drag", False, hint="Record every target while it is dragged."
            )
            record = partial(self._apply, session.record_target)
            clear = partial(self._apply, session.clear_path)
            add_buttons(gui, "Targets", {"Record target": record, "Clear": clear})
            self._add_freedom()
            hint = "Solve the whole path, so that joints do not jump, and draw it."
            add_button(gui, "Solve path", partial(self._apply, session.solve_path), hint)
            self._status = gui.add_html("", visible=False)
            play = partial(self._actions.play, session.play_path, self._rate)
            add_buttons(gui, "Path", {"Play / pause": play, "Save CSV": self._actions.save})
            self._along: Any = gui.add_slider("Along path [%]", 0, 100, 1, 0, visible=False)
            on_change(self._along, self._apply, self._move_along, "along a path")

    def _add_freedom(self) -> None:
        gui, session = self._gui, self._session
        hint = "The turn about the z axis of each target is free, as for a torch."
        roll = gui.add_checkbox("Free roll", session.freedom.free_roll, hint=hint)
        hint = "How far the z axis of each target may tilt about x and about y."
        tilt = gui.add_slider("Tilt [°]", 0, MAX_TILT, 1, 0, hint=hint)
        hint = "Return to the first target; the joints end where they begin."
        closed = gui.add_checkbox("Closed", session.freedom.closed, hint=hint)
        on_change(roll, self._apply, lambda value: session.set_freedom(free_roll=value))
        on_change(tilt, self._apply, lambda value: session.set_freedom(tilt=radians(value)), "tilt")
        on_change(closed, self._apply, lambda value: session.set_freedom(closed=value))

    def _rate(self) -> float:
        """Rows of the path per second; a faster clip skips rows."""
        shown = self._session.shown_path
        rate = None if shown is None else shown.path.rate
        return PATH_RATE if rate is None else min(rate, MAX_RATE)

    def _move_along(self, percent: float) -> None:
        self._session.move_along_path(0.01 * percent)

    @property
    def records_drag(self) -> bool:
        """Whether targets are recorded while one is dragged."""
        return bool(self._records_drag.value)

    def refresh(self) -> None:
        """Show how many targets are recorded, and what limits the path that is shown."""
        count, shown = len(self._session.recorded), self._session.shown_path
        self._count.content = html(f"{count or 'no'} target{'s' * (count != 1)} recorded")
        self._status.visible = self._along.visible = shown is not None
        if shown is not None:
            self._status.content = html("<br>".join(path_lines(shown)))
            self._along.value = round(100.0 * self._session.path_share)


def path_lines(shown: ShownPath) -> list[str]:
    """The targets that a path reaches, its limits and a legend of its colours, as lines of HTML."""
    present = set(shown.bindings().tolist())
    colors = [
        f"<span style='color:rgb{COLORS[each]}'>■</span> {MEANINGS[each]}"
        for each in Binding
        if each in present
    ]
    first, *others = map(escape, shown.sentences())
    return [f"<b>{first}</b>", *others, " ".join(colors)]
