"""Pictures of reach maps: a slice with Matplotlib, and the colours of voxels."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jointwise.kernels.layout.arrays import Floats
from jointwise.plot import canvas
from jointwise.reach.chunks import Float32s
from jointwise.reach.grid import AXES, Grid
from jointwise.reach.measures import MEASURE_NAMES, Measure
from jointwise.scene.scene import Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Five colours of viridis, dark to bright, distinguishable with every kind of colour vision.
VIRIDIS = np.array([[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]])

# Edge of a square slice [inch]; smallest and largest width and height of other slices.
SLICE_EDGE = 3.8
MIN_SLICE, MAX_SLICE = np.array([1.8, 1.4]), np.array([7.0, 5.0])
# Extra width and height of a figure, for labels and the colour bar [inch].
SLICE_MARGIN = np.array([1.9, 0.9])

# Points along the longer edge of a slice at which the distance from obstacles is computed.
DISTANCE_POINTS = 400
OBSTACLE_FILL, OBSTACLE_EDGE = "#d0d0d0", "#404040"

Colours = NDArray[np.uint8]
Cloud = tuple[Floats, Colours]


def colours(shares: Floats) -> Colours:
    """(k, 3) red, green and blue for shares between 0 and 1."""
    stops = np.linspace(0.0, 1.0, len(VIRIDIS))
    channels = [np.interp(shares, stops, channel) for channel in VIRIDIS.T]
    return np.stack(channels, 1).astype(np.uint8)


def draw_slice(
    ax: "Axes | None",
    grid: Grid,
    values: Float32s,
    axis: int,
    layer: int,
    measure: Measure,
    scene: Scene | None = None,
) -> "Axes":
    """Draw one layer of voxels with a colour bar; voxels that are not reached stay white.

    Args:
        ax: Where to draw; None for a new figure.
        grid: The voxels.
        values: (x, y, z) the values of a measure.
        axis: The axis at right angles to the layer.
        layer: Index of the layer along that axis.
        measure: Which measure.
        scene: Obstacles, world frame; where the layer cuts them, they are hatched.
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
    name = MEASURE_NAMES[measure]
    title = f"{name} at {AXES[axis]} = {coordinate:.3g} m".replace("-", "−")
    ax.set(xlabel=f"{across} [m]", ylabel=f"{up} [m]", title=title, aspect="equal")
    ax.xaxis.set_major_locator(SpacedLocator())
    ax.yaxis.set_major_locator(SpacedLocator())
    if scene is not None:
        _draw_obstacles(ax, scene, extent, axis, coordinate)
    figure: Any = ax.figure
    figure.colorbar(image, ax=ax, label=name, fraction=0.046, pad=0.04, ticks=SpacedLocator())
    return ax


def _draw_obstacles(
    ax: "Axes", scene: Scene, extent: tuple[float, float, float, float], axis: int, at: float
) -> None:
    """Hatch the cut of each obstacle with a plane, and write its name on it.

    Args:
        ax: Where to draw.
        scene: The obstacles.
        extent: Left, right, lower and upper edge of what is drawn of the plane [m].
        axis: The axis at right angles to the plane.
        at: Coordinate of the plane on that axis [m].
    """
    left, right, lower, upper = extent
    step = max(right - left, upper - lower) / DISTANCE_POINTS
    across, up = np.arange(left, right + step, step), np.arange(lower, upper + step, step)
    points = np.stack(np.meshgrid(across, up), axis=-1)
    points = np.insert(points, axis, at, axis=-1)
    for obstacle in scene:
        distances = Scene((obstacle,)).distance(points.reshape(-1, 3)).reshape(points.shape[:2])
        if distances.min() < 0.0 < distances.max():
            style: dict[str, Any] = {"colors": [OBSTACLE_FILL], "hatches": ["////"]}
            ax.contourf(across, up, distances, [-np.inf, 0.0], **style)
            ax.contour(across, up, distances, [0.0], colors=OBSTACLE_EDGE, linewidths=0.8)
            _write_name(ax, obstacle.name, np.delete(points[distances <= 0.0], axis, axis=1))


def _write_name(ax: "Axes", name: str, points: Floats) -> None:
    """Write the name of an obstacle along its cut, at three quarters of its length.

    Args:
        ax: Where to write it.
        name: The name.
        points: (k, 2) points of the cut.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    upright = bool(high[1] - low[1] > high[0] - low[0])
    share = np.array([0.5, 0.75] if upright else [0.75, 0.5])
    box = {"boxstyle": "round,pad=0.1", "facecolor": "white", "linewidth": 0.0}
    x, y = low + share * (high - low)
    style: dict[str, Any] = {"size": 7, "ha": "center", "va": "center", "bbox": box}
    ax.text(x, y, name, rotation=90.0 * upright, clip_on=True, **style)


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
