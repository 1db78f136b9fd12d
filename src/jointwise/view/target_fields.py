"""A target in a panel: its kind, and its pose in numbers."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from jointwise.kernels.shapes import Floats
from jointwise.model.rotation import rpy_matrix
from jointwise.solvers.targets import KINDS, TargetKind
from jointwise.view.units import METRES, Unit

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


class TargetSession(Protocol):
    """A session of an arm or of a robot, as the fields of its target need it."""

    angle_unit: Unit

    @property
    def kind(self) -> TargetKind:
        """The kind of the target."""

    @property
    def T_base_target(self) -> Floats:  # noqa: N802
        """(4, 4) its pose."""

    @property
    def target_rpy(self) -> Floats:
        """(3,) its roll, pitch, yaw [rad]."""

    def set_target_kind(self, name: str) -> None:
        """Change its kind."""

    def move_target(
        self,
        pose: ArrayLike | None = None,
        position: ArrayLike | None = None,
        rpy: ArrayLike | None = None,
    ) -> None:
        """Move it."""


class TargetFields:
    """The kind of a target, its position, and the orientation of a pose.

    Args:
        gui: The visitor's GUI.
        session: The session whose target is shown and moved.
        apply: Called with a change of the session, and the key of changes that it replaces.
    """

    def __init__(
        self, gui: "viser.GuiApi", session: TargetSession, apply: Callable[..., None]
    ) -> None:
        self._session, self._apply = session, apply
        self._kind: Any = gui.add_dropdown(
            "Target kind",
            tuple(KINDS),
            hint=" ".join(f"{name}: {PRESCRIBED[k.directions]}." for name, k in KINDS.items()),
        )
        self._position: Any = gui.add_vector3("x y z [m]", (0.0, 0.0, 0.0), step=0.001)
        self._rpy: Any = gui.add_vector3(
            "rpy",
            (0.0, 0.0, 0.0),
            step=0.001,
            hint="Roll, pitch, yaw: rotations about the fixed axes x, y, z, in this order.",
        )
        # What the fields had when they last agreed with the session. Where they differ from it, the
        # visitor has typed, and the change is on its way.
        self._known_position: Any = self._position.value
        self._known_rpy: Any = self._rpy.value
        self._kind.on_update(self._kind_changed)
        self._position.on_update(self._position_changed)
        self._rpy.on_update(self._rpy_changed)

    async def _kind_changed(self, event: "viser.GuiEvent[Any]") -> None:
        if event.client is not None:
            self._apply(partial(self._session.set_target_kind, event.target.value))

    async def _position_changed(self, event: "viser.GuiEvent[Any]") -> None:
        if event.client is not None:  # by the visitor, not by ``refresh``
            self._apply(partial(self._move_to, event.target.value), "position")

    async def _rpy_changed(self, event: "viser.GuiEvent[Any]") -> None:
        if event.client is not None:
            self._apply(partial(self._rotate_to, event.target.value), "rpy")

    def _move_to(self, position: Any) -> None:
        self._known_position = position
        self._session.move_target(position=position)

    def _rotate_to(self, rpy: Any) -> None:
        self._known_rpy = rpy
        self._session.move_target(rpy=np.array(rpy) / self._session.angle_unit.per_si)

    def show(self, visible: bool) -> None:
        """Show or hide all fields."""
        for field in (self._kind, self._position, self._rpy):
            field.visible = visible

    def refresh(self) -> None:
        """Show the session's target, but leave fields that the visitor has just typed into."""
        session, unit = self._session, self._session.angle_unit
        self._kind.value = session.kind.name
        position = session.T_base_target[:3, 3].round(METRES.decimals)
        far = np.abs(position - self._known_position).max() > MAX_ROUNDING * self._position.step
        if far and np.array_equal(self._position.value, self._known_position):
            self._position.value = self._known_position = position
        self._rpy.visible = session.kind.directions == 3
        label = f"rpy [{unit.symbol}]"
        if self._rpy.label != label:
            self._rpy.label = label
            self._rpy.precision, self._rpy.step = unit.decimals, 10.0**-unit.decimals
            self._show_rpy()
        elif not self._shows_rotation() and np.array_equal(self._rpy.value, self._known_rpy):
            self._show_rpy()

    def _show_rpy(self) -> None:
        unit = self._session.angle_unit
        rounded = (unit.per_si * self._session.target_rpy).round(unit.decimals)
        self._rpy.value = self._known_rpy = rounded + 0.0  # no minus zeros

    def _shows_rotation(self) -> bool:
        """Whether the fields have the target's rotation; many angles describe the same one."""
        unit = self._session.angle_unit
        shown = rpy_matrix(np.array(self._known_rpy) / unit.per_si)
        difference = np.abs(shown - self._session.T_base_target[:3, :3]).max()
        return bool(unit.per_si * difference < 2.0 * MAX_ROUNDING * self._rpy.step)
