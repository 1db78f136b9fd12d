"""What pictures are drawn on: colours, axes, and the words for input that is none."""

from typing import Any

import numpy as np

from jointwise.chain import Chain
from jointwise.errors import DimensionMismatchError, InvalidInputError, JointwiseError
from jointwise.solvers.trace import Trace

# Okabe and Ito's palette, told apart by every kind of colour vision, and greys.
ORANGE, SKY, GREEN, BLUE = "#E69F00", "#56B4E9", "#009E73", "#0072B2"
VERMILLION, PURPLE = "#D55E00", "#CC79A7"
DARK, GREY, LIGHT, PALE = "#444444", "#999999", "#DDDDDD", "#F8F8F8"
# What they are for.
BEFORE, BETWEEN, AFTER, TARGET, MOVING, RANGE = GREY, SKY, BLUE, VERMILLION, ORANGE, GREEN

# For several of a kind.
SERIES = BLUE, ORANGE, GREEN, PURPLE, SKY, DARK, "#F0E442", GREY

# Where 3D axes stand in a figure, as no layout engine knows how wide their labels are.
WHOLE = 0.0, 0.03, 1.0, 0.97
# How wide an entry of a legend is [inch].
ENTRY = 1.2
PLAIN = {
    "grid.color": LIGHT,
    "grid.linewidth": 0.6,
    "axes3d.xaxis.panecolor": PALE,
    "axes3d.yaxis.panecolor": PALE,
    "axes3d.zaxis.panecolor": PALE,
}


def matplotlib() -> Any:
    """Matplotlib, with its ``pyplot``.

    Raises:
        JointwiseError: It is not installed.
    """
    try:
        import matplotlib
        import matplotlib.pyplot
    except ImportError:
        raise JointwiseError(
            "pictures need Matplotlib, which is not installed: pip install 'jointwise[plot]'."
        ) from None
    return matplotlib


def check_chain(chain: Any) -> None:
    """An arm, and not what one is made of."""
    if not isinstance(chain, Chain):
        raise InvalidInputError(
            f"chain is {_short(chain)}: expected a Chain, such as robots.panda() or "
            "Chain.from_dh(rows)."
        )


def check_kind(name: str, value: Any, kind: type, source: str) -> None:
    """Something that only ``source`` gives."""
    if not isinstance(value, kind):
        raise InvalidInputError(
            f"{name} is {_short(value)}: expected the {kind.__name__} that {source} gives."
        )


def check_joints(name: str, value: Any, chain: Chain) -> None:
    """A trace or a path of this arm, as far as the number of its joints tells."""
    joints = value.joint_angles.shape[1]
    if joints != chain.n:
        raise DimensionMismatchError(
            f"{name} is of an arm of {joints} joints and the chain has {chain.n}: "
            f"expected a {name} of this chain."
        )


def check_trace(chain: Any, trace: Any) -> None:
    """An arm and a trace of it."""
    check_chain(chain)
    check_kind("trace", trace, Trace, "chain.trace(target)")
    check_joints("trace", trace, chain)


def axes(ax: Any, size: tuple[float, float]) -> Any:
    """The axes given; for None, new ones."""
    if ax is None:
        return matplotlib().pyplot.figure(figsize=size, layout="constrained").add_subplot()
    _check_axes("ax", ax, "rectilinear")
    return ax


def axes_in_space(ax: Any, size: tuple[float, float]) -> Any:
    """The 3D axes given; for None, new ones."""
    if ax is None:
        return space_in(matplotlib().pyplot.figure(figsize=size))
    _check_axes("ax", ax, "3d")
    return ax


def space_in(figure: Any) -> Any:
    """New 3D axes that fill a figure."""
    with matplotlib().rc_context(PLAIN):
        return figure.add_axes(WHOLE, projection="3d")


def panels(given: Any, count: int, columns: int, size: tuple[float, float]) -> Any:
    """(count,) the axes given, one for each joint; for None, new ones, each of that size."""
    if given is None:
        columns = min(columns, count)
        rows = -(-count // columns)
        whole = size[0] * columns, size[1] * rows + 0.6  # and the legend
        figure = matplotlib().pyplot.figure(figsize=whole, layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for spare in grid[count:]:
            spare.remove()
        return grid[:count]
    found = np.ravel(np.array(given, dtype=object))
    for i, ax in enumerate(found):
        _check_axes(f"axes[{i}]", ax, "rectilinear")
    if found.size != count:
        raise DimensionMismatchError(
            f"axes has length {found.size} for an arm of {count} joints: expected one per joint."
        )
    return found


def legend(axes: Any) -> None:
    """A legend above all panels, of all that is in them."""
    labelled: dict[str, Any] = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        labelled.update(zip(labels, handles, strict=True))
    figure = axes[0].figure
    columns = max(1, int(figure.get_figwidth() / ENTRY))
    style = {"loc": "outside upper center", "frameon": False, "fontsize": "small"}
    figure.legend(labelled.values(), labelled, ncols=columns, **style)


def _check_axes(name: str, ax: Any, kind: str) -> None:
    if getattr(ax, "name", None) != kind:
        wanted = ("2D axes", "plt.subplots()")
        if kind == "3d":
            wanted = ("3D axes", 'plt.subplots(subplot_kw={"projection": "3d"})')
        raise InvalidInputError(
            f"{name} is {_short(ax)}: expected {wanted[0]}, as {wanted[1]} makes them."
        )


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
