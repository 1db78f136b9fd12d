"""Joint velocities against their limits, as a plot in the panel."""

from typing import TYPE_CHECKING

import numpy as np

from jointwise.view.state.live_tracking import HISTORY_S, LiveTracking

if TYPE_CHECKING:
    import viser

# Okabe and Ito's colours, which colour-blind people can distinguish, too; they repeat.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


class VelocityPlot:
    """The velocity of every joint over the last seconds, in percent of its limit.

    Args:
        gui: The visitor's GUI.
        names: The joints.
    """

    def __init__(self, gui: "viser.GuiApi", names: tuple[str, ...]) -> None:
        self._plot = gui.add_uplot(
            tuple(np.zeros((len(names) + 3, 1))),
            _series(names),
            scales={"x": {"time": False}, "y": {"range": (-110.0, 110.0)}},
            axes=({"size": 32}, {"size": 52}),
            title="velocity [% of its limit]",
            height=300,
            visible=False,
        )

    def show(self, tracking: LiveTracking | None) -> None:
        """Plot the latest velocities; hidden without tracking."""
        self._plot.visible = tracking is not None
        if tracking is None:
            return
        times, ones = tracking.times, np.full(len(tracking.times), 100.0)
        last = float(times[-1])
        self._plot.scales = {
            "x": {"time": False, "range": (max(last - HISTORY_S, 0.0), max(last, HISTORY_S))},
            "y": {"range": (-110.0, 110.0)},
        }
        self._plot.data = (times, *(100.0 * tracking.shares.T), ones, -ones)


def _series(names: tuple[str, ...]) -> "tuple[viser.uplot.Series, ...]":
    limit: viser.uplot.Series = {"label": "limit", "stroke": "#888888", "dash": (6, 6)}
    lines: list[viser.uplot.Series] = [
        {"label": name, "stroke": COLORS[i % len(COLORS)], "width": 2}
        for i, name in enumerate(names)
    ]
    return {"label": "time [s]"}, *lines, limit, limit
