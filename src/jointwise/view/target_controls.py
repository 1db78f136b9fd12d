"""The target of an arm in its panel."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from jointwise.view.session import Session
from jointwise.view.target_fields import TargetFields

if TYPE_CHECKING:
    import viser


class TargetControls:
    """A folder with the target of an arm, and whether the arm follows it.

    Args:
        gui: The visitor's GUI.
        session: The arm and its target.
        apply: As for ``TargetFields``.
    """

    def __init__(self, gui: "viser.GuiApi", session: Session, apply: Callable[..., None]) -> None:
        self._session, self._apply = session, apply
        with gui.add_folder("Target"):
            self.fields = TargetFields(gui, session, apply)
            follows = gui.add_checkbox(
                "Arm follows",
                session.follows,
                hint="Solve whenever the target moves. Off: move the arm by CCD steps or by joint.",
            )
            snap = gui.add_button("Snap target to end effector")
        follows.on_update(self._follows_changed)
        snap.on_click(self._snap_clicked)

    async def _follows_changed(self, event: "viser.GuiEvent[Any]") -> None:
        self._apply(partial(self._session.set_follows, event.target.value))

    async def _snap_clicked(self, _: object) -> None:
        self._apply(self._session.snap_target_to_tip)
