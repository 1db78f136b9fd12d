"""Colours, axes and legends that all figures share, and checks of what is to be drawn."""

from typing import Any

import numpy as np

from jointwise.chain import Chain
from jointwise.engines.serial.trace import Trace
from jointwise.errors import DimensionMismatchError, InvalidInputError
from jointwise.extras import require
from jointwise.robot import Robot

# The palette of Okabe and Ito, distinct for every kind of colour vision, and greys.
ORANGE, SKY, GREEN, BLUE = "#E69F00", "#56B4E9", "#009E73", "#0072B2"
VERMILLION, PURPLE = "#D55E00", "#CC79A7"
# Not in their palette: a dark colour for a sixth arm, and that of the x axis of a frame.
WINE, RED = "#882255", "#CC1F2F"
DARK, GREY, LIGHT, PALE = "#444444", "#999999", "#DDDDDD", "#F8F8F8"
# The meanings of the colours.
BEFORE, BETWEEN, AFTER, TARGET, MOVING, RANGE = GREY, SKY, BLUE, VERMILLION, ORANGE, GREEN

# Colours for several arms in one figure; joints that they share have another colour.
SERIES = BLUE, ORANGE, GREEN, PURPLE, SKY, WINE

# Left, bottom, width and height of 3D axes in a figure. Fixed, because Matplotlib's layout engines
# ignore the labels of 3D axes.
RECT_3D = 0.0, 0.03, 1.0, 0.97
STYLE_3D = {
    "grid.color": LIGHT,
    "grid.linewidth": 0.6,
    "axes3d.xaxis.panecolor": PALE,
    "axes3d.yaxis.panecolor": PALE,
    "axes3d.zaxis.panecolor": PALE,
}
# Height that ``panels`` adds for the legend, and width of one of its entries [inch].
LEGEND_HEIGHT, LEGEND_ENTRY_WIDTH = 0.6, 1.2


def matplotlib() -> Any:
    """Matplotlib, with its ``pyplot``; an error if it is not installed."""
    return require("matplotlib.pyplot", "figures need Matplotlib", "plot")


def check_chain(chain: Any) -> None:
    """Refuse anything but a Chain."""
    if not isinstance(chain, Chain):
        raise InvalidInputError(
            f"chain is {_short_repr(chain)}: expected a Chain, such as robots.panda() or "
            "Chain.from_dh(rows)."
        )


def check_model(model: Any) -> None:
    """Refuse anything but a Chain or a Robot."""
    if not isinstance(model, Chain | Robot):
        raise InvalidInputError(
            f"model is {_short_repr(model)}: expected a Chain or a Robot, such as robots.panda()."
        )


def check_type(name: str, value: Any, expected: type, source: str) -> None:
    """Refuse a value of another type than the one that ``source`` returns."""
    if not isinstance(value, expected):
        raise InvalidInputError(
            f"{name} is {_short_repr(value)}: expected the {expected.__name__} that {source} "
            "returns."
        )


def check_joint_count(name: str, value: Any, model: Chain | Robot) -> None:
    """Refuse a trace, path or plan of a model with another number of joints."""
    joints, owner = value.q.shape[-1], "robot" if isinstance(model, Robot) else "chain"
    if joints != model.n:
        raise DimensionMismatchError(
            f"{name} has {joints} joints and the {owner} has {model.n}: expected a {name} of this "
            f"{owner}."
        )


def check_trace(chain: Any, trace: Any) -> None:
    """Refuse anything but a Chain and a trace of it."""
    check_chain(chain)
    check_type("trace", trace, Trace, "chain.trace(target)")
    check_joint_count("trace", trace, chain)


def axes(ax: Any, size: tuple[float, float]) -> Any:
    """The given axes, checked; None: new ones in a figure of this size [inch]."""
    if ax is None:
        return matplotlib().pyplot.figure(figsize=size, layout="constrained").add_subplot()
    _check_axes("ax", ax, "rectilinear")
    return ax


def axes_3d(ax: Any, size: tuple[float, float]) -> Any:
    """The given 3D axes, checked; None: new ones in a figure of this size [inch]."""
    if ax is None:
        return add_axes_3d(matplotlib().pyplot.figure(figsize=size))
    _check_axes("ax", ax, "3d")
    return ax


def add_axes_3d(figure: Any) -> Any:
    """Add 3D axes that fill a figure."""
    with matplotlib().rc_context(STYLE_3D):
        return figure.add_axes(RECT_3D, projection="3d")


def balanced_columns(count: int, most: int) -> int:
    """Columns of a grid, up to a maximum, such that its rows are about equally full."""
    rows = -(-count // most)
    return -(-count // rows)


def new_panels(
    count: int, columns: int, size: tuple[float, float], fill_row: bool = False
) -> list[Any]:
    """(count,) new axes in a grid, each of this size [inch]; the last one may fill its row."""
    rows = -(-count // columns)
    figsize = size[0] * columns, size[1] * rows + LEGEND_HEIGHT
    figure = matplotlib().pyplot.figure(figsize=figsize, layout="constrained")
    grid = figure.add_gridspec(rows, columns)
    cells = [grid[divmod(i, columns)] for i in range(count)]
    if fill_row:
        cells[-1] = grid[-1, (count - 1) % columns :]
    return [figure.add_subplot(cell) for cell in cells]


def given_panels(axes: Any, count: int) -> Any:
    """(count,) the given axes, one per joint, checked."""
    flat = np.ravel(np.array(axes, dtype=object))
    for i, ax in enumerate(flat):
        _check_axes(f"axes[{i}]", ax, "rectilinear")
    if flat.size != count:
        raise DimensionMismatchError(
            f"axes has length {flat.size} for an arm of {count} joints: expected one per joint."
        )
    return flat


def legend(axes: Any) -> None:
    """Add one legend for all panels, above them."""
    handle_by_label: dict[str, Any] = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        handle_by_label.update(zip(labels, handles, strict=True))
    figure = axes[0].figure
    columns = max(1, int(figure.get_figwidth() / LEGEND_ENTRY_WIDTH))
    style = {"loc": "outside upper center", "frameon": False, "fontsize": "small"}
    figure.legend(handle_by_label.values(), handle_by_label, ncols=columns, **style)


def _check_axes(name: str, ax: Any, projection: str) -> None:
    if getattr(ax, "name", None) != projection:
        expected, source = "2D axes", "plt.subplots()"
        if projection == "3d":
            expected, source = "3D axes", 'plt.subplots(subplot_kw={"projection": "3d"})'
        raise InvalidInputError(
            f"{name} is {_short_repr(ax)}: expected {expected}, as {source} makes them."
        )


def _short_repr(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
