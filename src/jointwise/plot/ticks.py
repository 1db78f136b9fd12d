"""Ticks whose labels do not overlap; imported only where Matplotlib is used."""

from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from jointwise.kernels.layout.arrays import Floats

MAX_INTERVALS = 8
# Width of a character, and space between labels, in font sizes.
CHARACTER, SPACE = 0.62, 0.6
# Font sizes per tick in Matplotlib's ``get_tick_space`` of an x axis.
TICK_SPACE = 3.0


class SpacedLocator(MaxNLocator):
    """Ticks at round values, as many as the axis has space for when it is drawn; at least one."""

    def __init__(self) -> None:
        """Round values are 1, 2 or 5 times a power of ten."""
        super().__init__(steps=[1, 2, 5, 10], min_n_ticks=1)

    def __call__(self) -> Any:
        """The values of the ticks; the middle of the axis if it is too short for two labels."""
        axis: Any = self.axis
        for intervals in range(min(axis.get_tick_space(), MAX_INTERVALS), 0, -1):
            self.set_params(nbins=intervals)
            ticks = np.asarray(super().__call__())
            if self._fit(ticks):
                return ticks
        return np.array([np.mean(axis.get_view_interval())])

    def _fit(self, ticks: Floats) -> bool:
        """Whether there is a tick, and the labels do not overlap, by the length of their text."""
        axis: Any = self.axis
        low, high = sorted(axis.get_view_interval())
        visible = ticks[(low <= ticks) & (ticks <= high)]
        if len(visible) < 2 or axis.axis_name != "x":
            return len(visible) > 0
        length = TICK_SPACE * float(axis.get_tick_space())
        longest = max(len(text) for text in axis.get_major_formatter().format_ticks(visible))
        spacing: float = length * (visible[1] - visible[0]) / (high - low)
        return spacing > CHARACTER * longest + SPACE
