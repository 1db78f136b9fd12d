"""A target in a panel: its kind, and its pose in numbers."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jointwise.kernels.layout.arrays import Floats
from jointwise.targets import TargetKind
from jointwise.view.controls.buttons import on_change
from jointwise.view.controls.pose_fields import PoseFields
from jointwise.view.session import Session
from jointwise.view.state.units import Unit

if TYPE_CHECKING:
    import viser

# What a target prescribes besides its position, by its number of directions.
PRESCRIBED = {1: "direction of the z axis", 3: "orientation"}


class TargetFields(PoseFields):
    """The kind of a target, its position, and the orientation of a pose.

    Args:
        gui: The visitor's GUI.
        session: The session whose target is shown and moved.
        apply: Called with a change of the session, and the key of changes that it replaces.
    """

    def __init__(self, gui: "viser.GuiApi", session: Session, apply: Callable[..., None]) -> None:
        self._session = session
        self._kind: Any = gui.add_dropdown(
            "Target kind",
            tuple(session.kinds),
            hint=" ".join(f"{name}: {prescribed(kind)}." for name, kind in session.kinds.items()),
        )
        on_change(self._kind, apply, session.set_target_kind)
        super().__init__(gui, ("x y z", "rpy"), apply)

    @property
    def _pose(self) -> Floats:
        return self._session.T_base_target

    @property
    def _rotates(self) -> bool:
        return self._session.kind.directions == 3

    @property
    def _unit(self) -> Unit:
        return self._session.angle_unit

    def _move(self, position: Any = None, rpy: Any = None) -> None:
        self._session.move_target(position=position, rpy=rpy)

    def show(self, visible: bool) -> None:
        """Show or hide all fields."""
        super().show(visible)
        self._kind.visible = visible

    def refresh(self) -> None:
        """Show the session's target, but leave fields that the visitor has just typed into."""
        self._kind.value = self._session.kind.name
        super().refresh()


def prescribed(kind: TargetKind) -> str:
    """What a kind of target prescribes, in words."""
    parts = ["position"] * kind.has_position + [PRESCRIBED[n] for n in [kind.directions] if n]
    return f"{' and '.join(parts)}{' only' * (len(parts) == 1)}"
