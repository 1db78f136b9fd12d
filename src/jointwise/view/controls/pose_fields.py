"""A pose in a panel, in numbers: of a target or of an obstacle."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.model.rotation import roll_pitch_yaw, rpy_matrix
from jointwise.view.controls.buttons import on_change
from jointwise.view.state.units import METRES, Unit

if TYPE_CHECKING:
    import viser

# A field is rewritten if it differs from the pose by more than this many units of its last decimal.
# Rounding errors are smaller, so the numbers that the visitor types stay.
MAX_ROUNDING = 0.6


class PoseFields(ABC):
    """The position and the orientation of something that the visitor moves.

    Args:
        gui: The visitor's GUI.
        labels: Labels of the position and of the orientation.
        apply: Called with a change of the session, and the key of changes that it replaces.
    """

    def __init__(
        self, gui: "viser.GuiApi", labels: tuple[str, str], apply: Callable[..., None]
    ) -> None:
        self._rpy_label = labels[1]
        self._position: Any = gui.add_vector3(f"{labels[0]} [m]", (0.0, 0.0, 0.0), step=0.001)
        self._rpy: Any = gui.add_vector3(
            labels[1],
            (0.0, 0.0, 0.0),
            step=0.001,
            hint="Roll, pitch, yaw: rotations about the fixed axes x, y, z, in this order.",
        )
        # The values of the fields when they last agreed with the pose. If a field differs, the
        # visitor has typed into it, and the change is pending.
        self._known_position: Any = self._position.value
        self._known_rpy: Any = self._rpy.value
        on_change(self._position, apply, self._move_to, (self, "position"))
        on_change(self._rpy, apply, self._rotate_to, (self, "rpy"))

    @property
    @abstractmethod
    def _pose(self) -> Floats:
        """(4, 4) the current pose."""

    @property
    @abstractmethod
    def _rotates(self) -> bool:
        """Whether its orientation can be set."""

    @property
    @abstractmethod
    def _unit(self) -> Unit:
        """The unit of angles."""

    @abstractmethod
    def _move(self, position: Any = None, rpy: Any = None) -> None:
        """Move it to a position (3,) [m], or rotate it to angles (3,) [rad]."""

    def _move_to(self, position: Any) -> None:
        self._known_position = position
        self._move(position=position)

    def _rotate_to(self, rpy: Any) -> None:
        self._known_rpy = rpy
        self._move(rpy=np.array(rpy) / self._unit.per_si)

    def show(self, visible: bool) -> None:
        """Show or hide all fields."""
        self._position.visible = visible
        self._rpy.visible = visible and self._rotates

    def refresh(self) -> None:
        """Show the pose, but leave fields that the visitor has just typed into."""
        unit, position = self._unit, self._pose[:3, 3].round(METRES.decimals)
        far = np.abs(position - self._known_position).max() > MAX_ROUNDING * self._position.step
        if far and np.array_equal(self._position.value, self._known_position):
            self._position.value = self._known_position = position
        self._rpy.visible = self._rotates
        label = f"{self._rpy_label} [{unit.symbol}]"
        if self._rpy.label != label:
            self._rpy.label = label
            self._rpy.precision, self._rpy.step = unit.decimals, 10.0**-unit.decimals
            self._show_rpy()
        elif not self._shows_rotation() and np.array_equal(self._rpy.value, self._known_rpy):
            self._show_rpy()

    def _show_rpy(self) -> None:
        rounded = (self._unit.per_si * roll_pitch_yaw(self._pose)).round(self._unit.decimals)
        self._rpy.value = self._known_rpy = rounded + 0.0  # no minus zeros

    def _shows_rotation(self) -> bool:
        """Whether the fields have the pose's rotation; many angles describe the same one."""
        shown = rpy_matrix(np.array(self._known_rpy) / self._unit.per_si)
        difference = np.abs(shown - self._pose[:3, :3]).max()
        return bool(self._unit.per_si * difference < 2.0 * MAX_ROUNDING * self._rpy.step)
