"""Pictures of reach maps: a slice with Matplotlib, a cloud of points in the browser with viser."""

from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jointwise.chain import Chain
from jointwise.kernels.shapes import Floats
from jointwise.plot import canvas
from jointwise.reach.chunks import Float32s
from jointwise.reach.grid import AXES, Grid
from jointwise.view import scene
from jointwise.view.server import access_note, free_port, open_server, require_viser

if TYPE_CHECKING:
    import viser
    from matplotlib.axes import Axes

# Five colours of viridis, dark to bright, distinguishable with every kind of colour vision.
VIRIDIS = np.array([[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]])

FIGURE_SIZE = 6.0, 4.6  # [inch]
# Position of the camera relative to what it looks at, in multiples of the arm's reach: the surface
# of the first cut is visible.
CAMERA_OFFSET = np.array([1.2, 2.9, 1.0])

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
    if ax is None:
        ax = canvas.axes(None, FIGURE_SIZE)
    plane = np.take(values, layer, axis=axis)
    image = ax.imshow(
        np.ma.masked_where(plane <= 0.0, plane).T,
        origin="lower",
        extent=slice_extent(grid, axis),
        cmap="viridis",
        vmin=0.0,
        vmax=1.0 if measure == "dexterity" else None,
    )
    across, up = (AXES[i] for i in range(3) if i != axis)
    coordinate = (layer + grid.first[axis]) * grid.resolution
    title = f"{measure} at {AXES[axis]} = {coordinate:.3g} m"
    ax.set(xlabel=f"{across} [m]", ylabel=f"{up} [m]", title=title, aspect="equal")
    figure: Any = ax.figure
    figure.colorbar(image, ax=ax, label=measure, fraction=0.046, pad=0.04)
    return ax


def slice_extent(grid: Grid, axis: int) -> tuple[float, float, float, float]:
    """Left, right, lower and upper edge of a layer of voxels at right angles to an axis [m].

    The edges are half a voxel beyond the outermost centres.
    """
    half = 0.5 * grid.resolution
    across, up = (grid.centres(i) for i in range(3) if i != axis)
    return across[0] - half, across[-1] + half, up[0] - half, up[-1] + half


def open_cloud_page(
    chain: Chain,
    grid: Grid,
    cloud: Callable[[tuple[str, float]], Cloud],
    name: str,
    host: str,
    port: int,
) -> "viser.ViserServer":
    """Serve a page with a cloud of points, and controls for a plane that cuts it.

    Args:
        chain: The arm; the first cut is through its base, across y.
        grid: The voxels.
        cloud: The points up to a coordinate along an axis, and their colours.
        name: Title of the page.
        host: The address to listen at.
        port: The port to listen at; if it is in use, the next free one.
    """
    require_viser()
    server = open_server(host, free_port(host, port), name)
    size = grid.resolution
    low = size * min(grid.first)
    high = size * max(
        first + count - 1 for first, count in zip(grid.first, grid.shape, strict=True)
    )
    base = min(max(float(np.rint(chain.arm.base_origin[1] / size)) * size, low), high)
    axis = server.gui.add_dropdown("cut along", AXES, initial_value="y")
    coordinate = server.gui.add_slider("up to [m]", low, high, step=size, initial_value=base)

    def draw(_: Any = None) -> None:
        points, point_colours = cloud((axis.value, coordinate.value))
        server.scene.add_point_cloud(
            "/reach",
            points.astype(np.float32),
            point_colours,
            point_size=size,
            point_shape="rounded",
        )

    axis.on_update(draw)
    coordinate.on_update(draw)
    scene.set_up_scene(server, chain, chain.home)
    look_at = np.array(server.initial_camera.look_at)
    server.initial_camera.position = look_at + chain.reach * CAMERA_OFFSET
    draw()
    return server


def serve_until_interrupted(server: "viser.ViserServer") -> None:
    """Print the address of a page on this machine, and wait for Ctrl+C; then stop the server."""
    try:
        address = f"http://127.0.0.1:{server.get_port()}"
        print(f"{address}, {access_note('127.0.0.1')}. Stop with Ctrl+C.", flush=True)
        Event().wait()
    except KeyboardInterrupt:
        print()
    finally:
        server.stop()
