"""Numbers over time: the error of a solve, the joint values along a path."""

from typing import Any

import numpy as np

from jointwise.chain import Chain
from jointwise.model import checks
from jointwise.plot import canvas
from jointwise.plot.canvas import AFTER, BLUE, DARK, GREY, LIGHT, ORANGE, TARGET
from jointwise.solvers.path import IKPath
from jointwise.solvers.trace import Trace

SIZE, PANEL, COLUMNS = (5.0, 3.4), (3.6, 1.3), 2


def convergence(trace: Trace, tolerance: float | None = None, ax: Any = None) -> Any:
    """Draw how the error falls, iteration by iteration: sweeps first, then the finish, shaded.

    The scale is logarithmic; an error of exactly 0 is below it, and the line leaves the picture.

    Args:
        trace: What ``Chain.trace`` gave.
        tolerance: Where to draw a line for what is good enough [m, rad]. None: nowhere.
        ax: Axes to draw in. None: new ones.

    Returns:
        The axes.

    Raises:
        InvalidInputError: Something does not fit; the text says what.
    """
    canvas.check_kind("trace", trace, Trace, "chain.trace(target)")
    line = None if tolerance is None else checks.positive("tolerance", tolerance)
    ax = canvas.axes(ax, SIZE)
    turned = bool(trace.orientation_error.any())
    ax.plot(trace.position_error, "o-", color=BLUE, ms=5, label="position [m]")
    if turned:
        ax.plot(trace.orientation_error, "s-", color=ORANGE, ms=5, label="orientation [rad]")
    if line is not None:
        ax.axhline(line, color=TARGET, lw=1, ls="--", label="tolerance")
    drawn = [*trace.position_error, *trace.orientation_error, line or 0.0]
    lowest = min((value for value in drawn if value > 0.0), default=1.0)
    highest = max([*drawn, lowest])
    ax.set_ylim(lowest / 3.0, highest * 3.0)  # before it is logarithmic: there may be zeros alone
    ax.set_yscale("log", nonpositive="clip")
    ax.set(xlabel="iteration", ylabel="error [m, rad]" if turned else "position error [m]")
    ax.xaxis.get_major_locator().set_params(integer=True)
    last = len(trace)
    above_axes = {"transform": ax.get_xaxis_transform(), "color": DARK, "va": "bottom"}
    if trace.sweeps:
        ax.text(0.0, 1.01, "sweeps", ha="left", **above_axes)
    if last > trace.sweeps:
        ax.axvspan(trace.sweeps, last, color=LIGHT, alpha=0.5, lw=0, zorder=0)
        ax.text(last, 1.01, "finish", ha="right", **above_axes)
    if turned or line is not None:
        ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def path(chain: Chain, path: IKPath, axes: Any = None) -> Any:
    """Draw the joint values along a path, what is beyond their limits shaded.

    A dotted line stands at each jump, a cross at each target that was missed.

    Args:
        chain: The arm.
        path: What ``chain.solve_path`` gave.
        axes: (n,) axes to draw in. None: new ones, with a legend.

    Returns:
        (n,) the axes, from base to tip.

    Raises:
        InvalidInputError: Something does not fit; the text says what.
    """
    canvas.check_chain(chain)
    canvas.check_kind("path", path, IKPath, "chain.solve_path(targets)")
    canvas.check_joints("path", path, chain)
    panels = canvas.panels(axes, chain.n, COLUMNS, PANEL)
    reached = np.array([result.converged for result in path.results])
    numbers = np.arange(len(path))
    for i, ax in enumerate(panels):
        values = path.joint_angles[:, i]
        line = np.where(reached, values, np.nan)
        ax.plot(numbers, line, ".-", color=AFTER, lw=1.5, ms=3, label="joint value")
        for jump in path.jumps:
            ax.axvline(jump, color=TARGET, lw=1.0, ls=":", label="jump")
        if not reached.all():
            ax.plot(numbers[~reached], values[~reached], "x", color=TARGET, ms=4, label="missed")
        _shade_beyond(ax, *chain.limits[i])
        unit = "m" if chain.prismatic[i] else "rad"
        ax.set(xlabel="target", ylabel=f"[{unit}]")
        ax.set_title(chain.names[i], fontsize="small", loc="left")
        ax.tick_params(labelsize="small")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.margins(x=0.01)
    if axes is None:
        for ax in panels[:-COLUMNS]:
            ax.set_xlabel("")
            ax.tick_params(labelbottom=False)
        canvas.legend(panels)
    return panels


def _shade_beyond(ax: Any, lower: float, upper: float) -> None:
    """Show the whole range between the limits, and shade what is outside."""
    low, high = ax.get_ylim()
    low, high = (lower if np.isfinite(lower) else low), (upper if np.isfinite(upper) else high)
    margin = 0.12 * (high - low)
    for limit, beyond in ((lower, low - margin), (upper, high + margin)):
        if np.isfinite(limit):
            ax.axhspan(limit, beyond, color=GREY, alpha=0.4, lw=0, label="beyond the limits")
            low, high = min(low, beyond), max(high, beyond)
    ax.set_ylim(low, high)
