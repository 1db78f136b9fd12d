"""Charts over the index of an iteration or a target: errors of a solve, joint values of a path."""

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
    """Draw the errors of every iteration: CCD sweeps, then Levenberg-Marquardt steps, shaded.

    The scale is logarithmic; where an error is exactly 0, the line ends at the lower edge.

    Args:
        trace: The trace that ``Chain.trace`` returned.
        tolerance: Where to draw a line for the tolerance [m, rad]. None: no line.
        ax: Axes to draw in. None: new ones.

    Returns:
        The axes.

    Raises:
        InvalidInputError: An argument is invalid; the text says which and why.
    """
    canvas.check_type("trace", trace, Trace, "chain.trace(target)")
    limit = None if tolerance is None else checks.positive("tolerance", tolerance)
    ax = canvas.axes(ax, SIZE)
    has_orientation = bool(trace.orientation_error.any())
    ax.plot(trace.position_error, "o-", color=BLUE, ms=5, label="position [m]")
    if has_orientation:
        ax.plot(trace.orientation_error, "s-", color=ORANGE, ms=5, label="orientation [rad]")
    if limit is not None:
        ax.axhline(limit, color=TARGET, lw=1, ls="--", label="tolerance")
    values = [*trace.position_error, *trace.orientation_error, limit or 0.0]
    lowest = min((value for value in values if value > 0.0), default=1.0)
    highest = max([*values, lowest])
    ax.set_ylim(lowest / 3.0, highest * 3.0)  # before the log scale: all errors may be zero
    ax.set_yscale("log", nonpositive="clip")
    ax.set(xlabel="iteration", ylabel="error [m, rad]" if has_orientation else "position error [m]")
    ax.xaxis.get_major_locator().set_params(integer=True)
    _label_methods(ax, trace)
    if has_orientation or limit is not None:
        ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _label_methods(ax: Any, trace: Trace) -> None:
    """Name the method of the iterations above the axes, and shade those that are not sweeps."""
    style = {"transform": ax.get_xaxis_transform(), "color": DARK, "va": "bottom"}
    if trace.sweeps:
        ax.text(0.0, 1.01, "CCD", ha="left", **style)
    last = len(trace)
    if last > trace.sweeps:
        ax.axvspan(trace.sweeps, last, color=LIGHT, alpha=0.5, lw=0, zorder=0)
        ax.text(last, 1.01, "Levenberg-Marquardt", ha="right", **style)


def path(chain: Chain, path: IKPath, axes: Any = None) -> Any:
    """Draw the joint values along a path, one panel per joint.

    Values outside the joint limits are shaded. A dotted line marks a jump, a cross a target that
    was missed.

    Args:
        chain: The arm.
        path: The path that ``chain.solve_path`` returned.
        axes: (n,) axes to draw in. None: new ones, with a legend.

    Returns:
        (n,) the axes, from base to end effector.

    Raises:
        InvalidInputError: An argument is invalid; the text says which and why.
    """
    canvas.check_chain(chain)
    canvas.check_type("path", path, IKPath, "chain.solve_path(targets)")
    canvas.check_joint_count("path", path, chain)
    panels = canvas.panels(axes, chain.n, COLUMNS, PANEL)
    for i, ax in enumerate(panels):
        _draw_joint_values(ax, path, i)
        _shade_outside_limits(ax, *chain.limits[i])
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


def _draw_joint_values(ax: Any, path: IKPath, joint: int) -> None:
    values, indices = path.joint_angles[:, joint], np.arange(len(path))
    converged = np.array([result.converged for result in path.results])
    line = np.where(converged, values, np.nan)
    ax.plot(indices, line, ".-", color=AFTER, lw=1.5, ms=3, label="joint value")
    for jump in path.jumps:
        ax.axvline(jump, color=TARGET, lw=1.0, ls=":", label="jump")
    if not converged.all():
        missed = indices[~converged], values[~converged]
        ax.plot(*missed, "x", color=TARGET, ms=4, label="missed")


def _shade_outside_limits(ax: Any, lower: float, upper: float) -> None:
    """Extend the y axis beyond both joint limits, and shade what is outside them."""
    low, high = ax.get_ylim()
    low, high = (lower if np.isfinite(lower) else low), (upper if np.isfinite(upper) else high)
    margin = 0.12 * (high - low)
    for limit, edge in ((lower, low - margin), (upper, high + margin)):
        if np.isfinite(limit):
            ax.axhspan(limit, edge, color=GREY, alpha=0.4, lw=0, label="outside the limits")
            low, high = min(low, edge), max(high, edge)
    ax.set_ylim(low, high)
