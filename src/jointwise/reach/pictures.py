"""Pictures of reach maps: a slice with Matplotlib, and the colours of voxels."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jointwise.kernels.shapes import Floats
from jointwise.plot import canvas
from jointwise.reach.chunks import Float32s
from jointwise.reach.grid import AXES, Grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Five colours of viridis, dark to bright, distinguishable with every kind of colour vision.
VIRIDIS = np.array([[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]])

# Of a slice that is a square [inch]; of others, the least and the greatest width and height.
SLICE_EDGE = 3.8
MIN_SLICE, MAX_SLICE = np.array([1.8, 1.4]), np.array([7.0, 5.0])
# What a figure is wider and higher than its slice, for labels and colour bar [inch].
SLICE_MARGIN = np.array([1.9, 0.9])

Colours = NDArray[np.uint8]
Cloud = tuple[Floats, Colours]


def colours(shares: Floats) -> Colours:
    """(k, 3) red, green and blue for shares between 0 and 1."""
    stops = np.linspace(0.0, 1.0, len(VIRIDIS))
    channels = [np.interp(shares, stops, channel) for channel in VIRIDIS.T]
    return np.stack(channels, 1).astype(np.uint8)


def draw_slice(
    ax: "Axes | None", grid: Grid, values: Float32s, axis: int, layer: int, measure: str
) -> "Axes":
    """Draw one layer of voxels with a colour bar; voxels that are not reached stay white.

    Args:
        ax: Where to draw; None for a new figure.
        grid: The voxels.
        values: (x, y, z) the values of a measure.
        axis: The axis at right angles to the layer.
        layer: Index of the layer along that axis.
        measure: Name of the measure.
    """
    extent = slice_extent(grid, axis)
    if ax is None:
        ax = canvas.axes(None, _figure_size(extent))
    from jointwise.plot.ticks import SpacedLocator

    plane = np.take(values, layer, axis=axis)
    image = ax.imshow(
        np.ma.masked_where(plane <= 0.0, plane).T,
        origin="lower",
        extent=extent,
        cmap="viridis",
        vmin=0.0,
        vmax=1.0 if measure == "dexterity" else None,
    )
    across, up = (AXES[i] for i in range(3) if i != axis)
    coordinate = (layer + grid.first[axis]) * grid.resolution
    title = f"{measure} at {AXES[axis]} = {coordinate:.3g} m".replace("-", "−")
    ax.set(xlabel=f"{across} [m]", ylabel=f"{up} [m]", title=title, aspect="equal")
    ax.xaxis.set_major_locator(SpacedLocator())
    ax.yaxis.set_major_locator(SpacedLocator())
    figure: Any = ax.figure
    figure.colorbar(image, ax=ax, label=measure, fraction=0.046, pad=0.04, ticks=SpacedLocator())
    return ax


def _figure_size(extent: tuple[float, float, float, float]) -> tuple[float, float]:
    """Width and height of a figure around a slice with these edges [inch]."""
    left, right, lower, upper = extent
    root = np.sqrt((right - left) / (upper - lower))
    width, height = np.clip(SLICE_EDGE * np.array([root, 1.0 / root]), MIN_SLICE, MAX_SLICE)
    return width + SLICE_MARGIN[0], height + SLICE_MARGIN[1]


def slice_extent(grid: Grid, axis: int) -> tuple[float, float, float, float]:
    """Left, right, lower and upper edge of a layer of voxels at right angles to an axis [m].

    The edges are half a voxel beyond the outermost centres.
    """
    half = 0.5 * grid.resolution
    across, up = (grid.centres(i) for i in range(3) if i != axis)
    return across[0] - half, across[-1] + half, up[0] - half, up[-1] + half
