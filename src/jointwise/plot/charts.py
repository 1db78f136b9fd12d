"""Charts over the index of an iteration or a target: errors of a solve, joint values of a path."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from typing import Any

import numpy as np

from jointwise.chain import Chain
from jointwise.engines.serial.trace import Trace
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.plot import canvas
from jointwise.plot.canvas import AFTER, BLUE, DARK, GREY, LIGHT, ORANGE, TARGET
from jointwise.results.path import IKPath
from jointwise.robot import Robot

SIZE, PANEL, COLUMNS = (5.0, 3.4), (3.6, 1.3), 2


def convergence(trace: Trace, tolerance: float | None = None, ax: Any = None) -> Any:
    """Draw the errors of every iteration: CCD sweeps, then Levenberg-Marquardt steps, shaded.

    The scale is logarithmic; where an error is exactly 0, the line ends at the lower edge.

    Args:
        trace: The trace that ``Chain.trace`` returned.
        tolerance: Where to draw a line for the tolerance [m, rad]. None: no line.
        ax: Axes to draw in. None: new ones.

    Example:
        >>> from jointwise import plot, robots
        >>> ax = plot.convergence(robots.panda().trace([0.4, 0.2, 0.5]), tolerance=1e-6)
    """
    canvas.check_type("trace", trace, Trace, "chain.trace(target)")
    limit = None if tolerance is None else checks.positive("tolerance", tolerance)
    ax = canvas.axes(ax, SIZE)
    _draw_errors(ax, trace.position_error, trace.orientation_error, 5, limit)
    ax.set_xlabel("iteration")
    ax.xaxis.get_major_locator().set_params(integer=True)
    _label_methods(ax, trace)
    if len(ax.lines) > 1:
        ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _draw_errors(
    ax: Any,
    position: Floats,
    orientation: Floats,
    marker_size: float,
    tolerance: float | None = None,
) -> None:
    """Draw errors over their index, on a logarithmic scale; free errors are not drawn.

    Args:
        ax: New axes.
        position: (k,) position errors [m]; NaN where the position is free.
        orientation: (k,) orientation errors [rad]; NaN where orientation is free.
        marker_size: [points].
        tolerance: Where to draw a line [m, rad].
    """
    has_position = not np.isnan(position).all()
    has_orientation = bool(np.nan_to_num(orientation).any())
    if has_position:
        ax.plot(position, "o-", color=BLUE, ms=marker_size, label="position [m]")
    if has_orientation:
        ax.plot(orientation, "s-", color=ORANGE, ms=marker_size, label="orientation [rad]")
    if tolerance is not None:
        ax.axhline(tolerance, color=TARGET, lw=1, ls="--", label="tolerance")
    values = np.concatenate([line.get_ydata() for line in ax.lines])
    lowest = np.min(values, initial=np.inf, where=values > 0.0)
    lowest = lowest if np.isfinite(lowest) else 1.0
    highest = max(np.nanmax(values), lowest)
    # Before the log scale, because all errors may be zero; almost two decades at least, so that a
    # power of ten is among them.
    ax.set_ylim(min(lowest / 3.0, highest / 30.0), highest * 3.0)
    ax.set_yscale("log", nonpositive="clip")
    ax.yaxis.set_minor_formatter("")
    both = "error [m, rad]" if has_position else "orientation error [rad]"
    ax.set_ylabel(both if has_orientation else "position error [m]")


def _label_methods(ax: Any, trace: Trace) -> None:
    """Name the method of the iterations above the axes, and shade those that are not sweeps."""
    style = {"transform": ax.get_xaxis_transform(), "color": DARK, "va": "bottom"}
    if trace.sweeps:
        ax.text(0.0, 1.01, "CCD", ha="left", **style)
    last = len(trace)
    if last > trace.sweeps:
        ax.axvspan(trace.sweeps, last, color=LIGHT, alpha=0.5, lw=0, zorder=0)
        ax.text(last, 1.01, "Levenberg-Marquardt", ha="right", **style)


def path(model: Chain | Robot, path: IKPath, axes: Any = None, degrees: bool = False) -> Any:
    """Draw the joint values along a path, one panel per joint, and the errors.

    Values outside the joint limits are shaded. A dotted line and a gap mark a break; a cross marks
    a target that was missed. The turn of the tool, if it is free, and the errors fill the rest of
    the grid. Both are left out if axes are given.

    Args:
        model: The arm or the robot.
        path: The path that its ``solve_path`` returned.
        axes: (n,) axes to draw in. None: new ones, with a legend.
        degrees: Whether the values of revolute joints are drawn in degrees; errors never are.

    Returns:
        (n,) the axes of the joints, in the order of ``joint_names``.

    Example:
        >>> from jointwise import plot, robots
        >>> panda = robots.panda()
        >>> targets = [[0.4, 0.0, 0.4], [0.4, 0.1, 0.4], [0.4, 0.2, 0.4]]
        >>> axes = plot.path(panda, panda.solve_path(targets))
    """
    canvas.check_model(model)
    canvas.check_type("path", path, IKPath, "solve_path")
    canvas.check_joint_count("path", path, model)
    if axes is None:
        turns = not np.isnan(path.tool_angles).all()
        *joints, errors = canvas.new_panels(model.n + 1 + turns, COLUMNS, PANEL, fill_row=True)
        _draw_path_errors(errors, path)
        if turns:
            _draw_tool_angles(joints.pop(), path, degrees)
        panels = np.array(joints)
    else:
        panels = canvas.given_panels(axes, model.n)
    for i, (ax, prismatic) in enumerate(zip(panels, model.prismatic, strict=True)):
        scale = np.degrees(1.0) if degrees and not prismatic else 1.0
        _draw_joint_values(ax, path, scale * path.q[:, i])
        _shade_outside_limits(ax, *scale * model.limits[i])
        unit = "[m]" if prismatic else "[°]" if degrees else "[rad]"
        ax.set_ylabel(unit, fontsize="small")
        _label_path_panel(ax, model.joint_names[i])
    if axes is None:
        in_last_row = model.n % COLUMNS
        for ax in panels[: model.n - in_last_row]:
            ax.set_xlabel("")
            ax.tick_params(labelbottom=False)
        canvas.legend(panels)
        errors.figure.align_ylabels()
    return panels


def _label_path_panel(ax: Any, title: str) -> None:
    ax.set_title(title, fontsize="small", loc="left")
    ax.set_xlabel("target", fontsize="small")
    ax.tick_params(labelsize="small")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.margins(x=0.01)


def _draw_path_errors(ax: Any, path: IKPath) -> None:
    _draw_errors(ax, path.position_error, path.orientation_error, 2)
    ax.set_ylabel(ax.get_ylabel().partition("error ")[2], fontsize="small")
    _label_path_panel(ax, "errors")
    # Above the panel, on the line of its title.
    place = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
    ax.legend(
        ncols=2, handlelength=1.4, columnspacing=1.2, fontsize="small", frameon=False, **place
    )


def _draw_tool_angles(ax: Any, path: IKPath, degrees: bool) -> None:
    """The turn of the tool that was chosen at each target, and the spacing of samples around it."""
    scale = np.degrees(1.0) if degrees else 1.0
    angles, names = scale * path.tool_angles, ("rotation z", "rotation y", "rotation x")
    width = scale * next((path.resolution[each] for each in names if each in path.resolution), 0.0)
    _draw_joint_values(ax, path, angles)
    ax.fill_between(np.arange(len(path)), angles - width, angles + width, color=LIGHT, lw=0)
    ax.set_ylabel("[°]" if degrees else "[rad]", fontsize="small")
    _label_path_panel(ax, "tool angle")


def _draw_joint_values(ax: Any, path: IKPath, values: Floats) -> None:
    indices, converged = np.arange(len(path)), path.converged
    breaks = [each for each in path.breaks if each > 0]
    line = np.insert(np.where(converged, values, np.nan), breaks, np.nan)  # a gap at each
    places = np.insert(indices.astype(float), breaks, np.nan)
    ax.plot(places, line, ".-", color=AFTER, lw=1.5, ms=3, label="joint value")
    for index in path.breaks:
        ax.axvline(index, color=TARGET, lw=1.0, ls=":", label="break")
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
