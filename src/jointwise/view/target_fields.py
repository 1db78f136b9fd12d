"""A target in a panel: its kind, and its pose in numbers."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import ArrayLike

from jointwise.kernels.shapes import Floats
from jointwise.solvers.targets import KINDS, TargetKind
from jointwise.view.pose_fields import PoseFields
from jointwise.view.units import Unit

if TYPE_CHECKING:
    import viser

# What a target prescribes, by its number of directions.
PRESCRIBED = {
    0: "position only",
    1: "position and direction of the z axis",
    3: "position and orientation",
}


class TargetSession(Protocol):
    """A session of an arm or of a robot, as the fields of its target need it."""

    angle_unit: Unit

    @property
    def kind(self) -> TargetKind:
        """The kind of the target."""

    @property
    def T_base_target(self) -> Floats:  # noqa: N802
        """(4, 4) its pose."""

    def set_target_kind(self, name: str) -> None:
        """Change its kind."""

    def move_target(
        self,
        pose: ArrayLike | None = None,
        position: ArrayLike | None = None,
        rpy: ArrayLike | None = None,
    ) -> None:
        """Move it."""


class TargetFields(PoseFields):
    """The kind of a target, its position, and the orientation of a pose.

    Args:
        gui: The visitor's GUI.
        session: The session whose target is shown and moved.
        apply: Called with a change of the session, and the key of changes that it replaces.
    """

    def __init__(
        self, gui: "viser.GuiApi", session: TargetSession, apply: Callable[..., None]
    ) -> None:
        self._session = session
        self._kind: Any = gui.add_dropdown(
            "Target kind",
            tuple(KINDS),
            hint=" ".join(f"{name}: {PRESCRIBED[k.directions]}." for name, k in KINDS.items()),
        )
        self._kind.on_update(self._kind_changed)
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

    async def _kind_changed(self, event: "viser.GuiEvent[Any]") -> None:
        if event.client is not None:
            self._apply(partial(self._session.set_target_kind, event.target.value))

    def show(self, visible: bool) -> None:
        """Show or hide all fields."""
        super().show(visible)
        self._kind.visible = visible

    def refresh(self) -> None:
        """Show the session's target, but leave fields that the visitor has just typed into."""
        self._kind.value = self._session.kind.name
        super().refresh()
