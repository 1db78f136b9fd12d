"""The target of a visitor: its kind, and its pose in numbers."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from jointwise.model.rotation import rpy_matrix
from jointwise.solvers.targets import KINDS
from jointwise.view.session import Session
from jointwise.view.units import METRES

if TYPE_CHECKING:
    import viser

# What a target prescribes, by its number of directions.
PRESCRIBED = {
    0: "position only",
    1: "position and direction of the z axis",
    3: "position and orientation",
}
# A field is rewritten if it differs from the target by more than this many of its last decimals;
# its rounding is less, so that what the visitor types stays.
MAX_ROUNDING = 0.6


class TargetControls:
    """A folder with the kind of the target, its position, and the orientation of a pose.

    Args:
        gui: The visitor's GUI.
        session: The session whose target is shown and moved.
        apply: Called with a change of the session, and the key of changes that it replaces.
    """

    def __init__(self, gui: "viser.GuiApi", session: Session, apply: Callable[..., None]) -> None:
        self._session, self._apply = session, apply
        with gui.add_folder("Target"):
            kind = gui.add_dropdown(
                "Target kind",
                tuple(KINDS),
                initial_value=session.kind.name,
                hint=" ".join(f"{name}: {PRESCRIBED[k.directions]}." for name, k in KINDS.items()),
            )
            self._position: Any = gui.add_vector3("x y z [m]", (0.0, 0.0, 0.0), step=0.001)
            self._rpy: Any = gui.add_vector3(
                "rpy",
                (0.0, 0.0, 0.0),
                step=0.001,
                hint="Roll, pitch, yaw: rotations about the fixed axes x, y, z, in this order.",
            )
            follows = gui.add_checkbox(
                "Arm follows",
                session.follows,
                hint="Solve whenever the target moves. Off: move the arm by CCD steps or by joint.",
            )
            snap = gui.add_button("Snap target to end effector")
        kind.on_update(self._kind_changed)
        self._position.on_update(self._position_changed)
        self._rpy.on_update(self._rpy_changed)
        follows.on_update(self._follows_changed)
        snap.on_click(self._snap_clicked)

    async def _kind_changed(self, event: "viser.GuiEvent[Any]") -> None:
        self._apply(partial(self._session.set_target_kind, event.target.value))

    async def _position_changed(self, event: "viser.GuiEvent[Any]") -> None:
        if event.client is not None:  # by the visitor, not by ``refresh``
            move = partial(self._session.move_target, position=event.target.value)
            self._apply(move, "target")

    async def _rpy_changed(self, event: "viser.GuiEvent[Any]") -> None:
        if event.client is not None:
            rpy = np.array(event.target.value) / self._session.angle_unit.per_si
            self._apply(partial(self._session.move_target, rpy=rpy), "target")

    async def _follows_changed(self, event: "viser.GuiEvent[Any]") -> None:
        self._apply(partial(self._session.set_follows, event.target.value))

    async def _snap_clicked(self, _: object) -> None:
        self._apply(self._session.snap_target_to_tip)

    def refresh(self) -> None:
        """Show the session's target."""
        session, unit = self._session, self._session.angle_unit
        position = session.T_base_target[:3, 3].round(METRES.decimals)
        if np.abs(position - self._position.value).max() > MAX_ROUNDING * self._position.step:
            self._position.value = position
        self._rpy.visible = session.kind.directions == 3
        label = f"rpy [{unit.symbol}]"
        if self._rpy.label != label:
            self._rpy.label = label
            self._rpy.precision, self._rpy.step = unit.decimals, 10.0**-unit.decimals
            self._rpy.value = self._rounded_rpy()
        elif not self._shows_rotation():
            self._rpy.value = self._rounded_rpy()

    def _rounded_rpy(self) -> Any:
        unit = self._session.angle_unit
        return (unit.per_si * self._session.target_rpy).round(unit.decimals) + 0.0  # no minus zeros

    def _shows_rotation(self) -> bool:
        """Whether the fields have the target's rotation; many angles describe the same one."""
        unit = self._session.angle_unit
        shown = rpy_matrix(np.array(self._rpy.value) / unit.per_si)
        difference = np.abs(shown - self._session.T_base_target[:3, :3]).max()
        return bool(unit.per_si * difference < 2.0 * MAX_ROUNDING * self._rpy.step)
