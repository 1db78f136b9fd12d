"""Tracking in the panel."""

from functools import partial
from typing import TYPE_CHECKING, Any

from jointwise.view.controls.actions import Controls
from jointwise.view.controls.buttons import add_button
from jointwise.view.controls.velocity_plot import VelocityPlot

if TYPE_CHECKING:
    import viser


class TrackingControls(Controls):
    """Whether targets are tracked, how fast, and a plot of the velocities."""

    def _add(self) -> None:
        gui, session = self._gui, self._session
        self._tracks: Any = gui.add_checkbox(
            f"{session.noun.capitalize()} tracks",
            False,
            hint="Follow the targets within limits, in real time. Obstacles are not avoided.",
        )
        limit = gui.add_slider("Limit [rad/s]", 0.1, 5.0, 0.1, session.max_velocity)
        self._tracks.on_update(self._toggled)
        limit.on_update(self._limited)
        add_button(gui, "Switch branch", partial(self._apply, session.switch_branch))
        self._plot = VelocityPlot(gui, session.model.joint_names)

    async def _toggled(self, event: "viser.GuiEvent[Any]") -> None:
        if event.client is not None:  # by the visitor, not by ``refresh``
            self._apply(partial(self._session.set_tracking, event.target.value))

    async def _limited(self, event: "viser.GuiEvent[Any]") -> None:
        change = partial(self._session.set_max_velocity, event.target.value)
        self._apply(change, "velocity limit")

    def refresh(self) -> None:
        """Plot the latest velocities."""
        self._tracks.value = self._session.tracking is not None
        self._plot.show(self._session.tracking)
