"""The recorded path in the panel."""

from functools import partial

from jointwise.view.controls.actions import Controls
from jointwise.view.controls.buttons import add_buttons
from jointwise.view.server import html

# Steps per second of a path that is played.
PATH_RATE = 30.0


class PathControls(Controls):
    """A folder in which targets are recorded, played and saved."""

    def _add(self) -> None:
        gui, session = self._gui, self._session
        with gui.add_folder("Recorded path"):
            self._count = gui.add_html("")
            self._records_drag = gui.add_checkbox(
                "Record drag", False, hint="Record every target while it is dragged."
            )
            record = partial(self._apply, session.record_target)
            clear = partial(self._apply, session.clear_path)
            add_buttons(gui, "Targets", {"Record target": record, "Clear": clear})
            play = partial(self._actions.play, session.play_path, lambda: PATH_RATE)
            add_buttons(gui, "Path", {"Play / pause": play, "Save CSV": self._actions.save})

    @property
    def records_drag(self) -> bool:
        """Whether targets are recorded while one is dragged."""
        return bool(self._records_drag.value)

    def refresh(self) -> None:
        """Show how many targets are recorded."""
        count = len(self._session.recorded)
        self._count.content = html(f"{count or 'no'} target{'s' * (count != 1)} recorded")
