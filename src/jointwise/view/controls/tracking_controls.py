"""Tracking in the panel."""

from functools import partial
from typing import Any

from jointwise.view.controls.actions import Controls, Gui
from jointwise.view.controls.buttons import add_button, on_change
from jointwise.view.controls.velocity_plot import VelocityPlot
from jointwise.view.session import Session


class TrackingControls(Controls):
    """Start and stop tracking, set the velocity limit, and plot the velocities."""

    def _add(self, gui: Gui, session: Session) -> None:
        self._tracks: Any = gui.add_checkbox(
            f"{session.noun.capitalize()} tracks",
            False,
            hint="Follow the targets within limits of velocity and acceleration, in real time.",
        )
        limit = gui.add_slider("Limit [rad/s]", 0.1, 5.0, 0.1, session.max_velocity)
        on_change(self._tracks, self._apply, session.set_tracking)
        on_change(limit, self._apply, session.set_max_velocity, "velocity limit")
        add_button(gui, "Switch branch", partial(self._apply, session.switch_branch))
        self._plot = VelocityPlot(gui, session.model.joint_names)

    def refresh(self) -> None:
        """Plot the latest velocities."""
        self._tracks.value = self._session.tracking is not None
        self._plot.show(self._session.tracking)
