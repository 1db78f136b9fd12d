"""Pictures of reach maps: a slice with Matplotlib, a cloud in the browser with viser."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jointwise.chain import Chain
from jointwise.kernels.shapes import Floats
from jointwise.plot import canvas
from jointwise.view import scene
from jointwise.view.server import free_port, need_viser, open_server

if TYPE_CHECKING:
    import viser
    from matplotlib.axes import Axes

# Five colours along viridis, dark to bright, told apart by every kind of colour vision.
VIRIDIS = np.array([[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]])

SIZE = 6.0, 4.6
# From where the cloud is looked at, as a multiple of the arm's reach: into the cut.
FROM = np.array([1.2, 2.9, 1.0])

Colours = NDArray[np.uint8]
Cloud = tuple[Floats, Colours]


def colours(shares: Floats) -> Colours:
    """(k, 3) red, green and blue for shares between 0 and 1."""
    along = np.linspace(0.0, 1.0, len(VIRIDIS))
    return np.stack([np.interp(shares, along, each) for each in VIRIDIS.T], 1).astype(np.uint8)


def draw_slice(
    ax: "Axes | None",
    plane: Floats,
    ends: tuple[float, float, float, float],
    names: tuple[str, str],
    title: str,
    label: str,
    most: float | None,
) -> "Axes":
    """Draw one layer of voxels, the unreached left white, with a scale beside it.

    Args:
        ax: Where to draw; None for a new figure.
        plane: (u, v) the values.
        ends: Left, right, lower and upper edge [m].
        names: Of the axes across and up.
        title: What is shown where.
        label: What the colours mean.
        most: The value of the brightest colour; None for the greatest there is.
    """
    if ax is None:
        ax = canvas.axes(None, SIZE)
    shown = np.ma.masked_where(plane <= 0.0, plane).T
    image = ax.imshow(shown, origin="lower", extent=ends, cmap="viridis", vmin=0.0, vmax=most)
    ax.set(xlabel=f"{names[0]} [m]", ylabel=f"{names[1]} [m]", title=title, aspect="equal")
    figure: Any = ax.figure
    figure.colorbar(image, ax=ax, label=label, fraction=0.046, pad=0.04)
    return ax


def cloud_page(
    chain: Chain,
    cut_to: Callable[[str, float], Cloud],
    ends: tuple[float, float],
    size: float,
    name: str,
    host: str,
    port: int,
) -> "viser.ViserServer":
    """A page with the points and a plane that cuts them, for this machine alone unless asked.

    Args:
        chain: The arm, in the middle of which it is cut at first.
        cut_to: The points up to a place along an axis, and their colours.
        ends: Where the points begin and end [m].
        size: Of a point [m].
        name: What the page is called.
        host: The address to listen at.
        port: The port to listen at; if it is taken, the next that is free.
    """
    need_viser()
    server = open_server(host, free_port(host, port), name)
    axis = server.gui.add_dropdown("cut along", ("x", "y", "z"), initial_value="y")
    middle = min(max(float(np.rint(chain.arm.links[0, 1, 3] / size)) * size, ends[0]), ends[1])
    place = server.gui.add_slider("up to [m]", *ends, step=size, initial_value=middle)

    def draw(_: Any = None) -> None:
        points, painted = cut_to(axis.value, place.value)
        server.scene.add_point_cloud(
            "/reach", points.astype(np.float32), painted, point_size=size, point_shape="rounded"
        )

    axis.on_update(draw)
    place.on_update(draw)
    scene.furnish(server, chain, chain.home)
    server.initial_camera.position = np.array(server.initial_camera.look_at) + chain.reach * FROM
    draw()
    return server
