"""The errors after each CCD step, as a plot in the panel."""

from typing import TYPE_CHECKING

import numpy as np

from jointwise.view.state.ccd_steps import CCDSteps
from jointwise.view.state.units import RADIANS, Unit

if TYPE_CHECKING:
    import viser

# Tick labels by power of ten; smaller errors are drawn at the lowest one.
TICKS = {
    -6: "1e-6",
    -5: "1e-5",
    -4: "1e-4",
    -3: "0.001",
    -2: "0.01",
    -1: "0.1",
    0: "1",
    1: "10",
    2: "100",
}


class ErrorPlot:
    """Position and orientation error over CCD sweeps, on a logarithmic scale.

    viser's plots have no logarithmic axis, so exponents are plotted, with powers of ten at the
    ticks.

    Args:
        gui: The visitor's GUI.
    """

    def __init__(self, gui: "viser.GuiApi") -> None:
        self._plot = gui.add_uplot(
            (np.zeros(1), np.zeros(1), np.zeros(1)),
            _series(False, RADIANS),
            scales={"x": {"time": False}},
            axes=(
                {"size": 32},
                {"splits": tuple(TICKS), "values": tuple(TICKS.values()), "size": 52},
            ),
            height=230,
            padding=(10, 20, 0, 0),
            visible=False,
        )

    def show(self, steps: CCDSteps | None, angle_unit: Unit) -> None:
        """Plot the errors up to the current step; hidden without steps.

        Args:
            steps: CCD step by step; the orientation error is left out where it is free.
            angle_unit: The unit of the orientation error.
        """
        self._plot.visible = steps is not None
        if steps is None:
            return
        with_orientation = bool(np.isfinite(steps.orientation_error).all())
        second = angle_unit.per_si * steps.orientation_error
        second = second if with_orientation else steps.position_error
        errors = np.stack([steps.position_error, second])[:, : steps.index + 1]
        powers = np.log10(np.maximum(errors, 10.0 ** min(TICKS)))
        sweeps = np.arange(steps.index + 1) / steps.chain.n
        low, high = np.floor(powers.min()), np.floor(powers.max()) + 1.0
        self._plot.series = _series(with_orientation, angle_unit)
        self._plot.scales = {
            "x": {"time": False, "range": (0.0, max(1.0, float(np.ceil(sweeps[-1]))))},
            "y": {"range": (float(low), float(high))},
        }
        self._plot.data = (sweeps, *powers)


def _series(with_orientation: bool, angle_unit: Unit) -> "tuple[viser.uplot.Series, ...]":
    return (
        {"label": "sweeps"},
        {"label": "position [m]", "stroke": "#0072B2", "width": 2},
        {
            "label": f"orientation [{angle_unit.symbol}]",
            "stroke": "#D55E00",
            "width": 2,
            "show": with_orientation,
        },
    )
