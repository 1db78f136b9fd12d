"""A CCD sweep joint by joint: the figure that explains Cyclic Coordinate Descent."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from typing import Any

import numpy as np

from jointwise.chain import Chain
from jointwise.engines.serial.trace import Move, Trace
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.plot import canvas
from jointwise.plot.canvas import AFTER, BEFORE, LIGHT, MOVING, TARGET
from jointwise.plot.space import describe_target
from jointwise.targets import AnyTarget

PANEL, MAX_COLUMNS, ARC_POINTS = (2.0, 2.35), 4, 181
# Panels show the side of a joint axis that faces this direction, so parallel axes look alike.
VIEWER = np.array([0.2, -0.6, 0.8])


def sweep(chain: Chain, trace: Trace, target: AnyTarget, number: int = 0, axes: Any = None) -> Any:
    """Draw one CCD sweep, one panel for each joint's move, from end effector to base.

    A panel of a revolute joint is a view along the joint's axis, so that the end effector moves
    on a circle, to its point nearest to the target. For a position target, joint, end effector
    and target are then on one line; directions of a target shift that point. A panel of a
    prismatic joint is a view from the side.

    Args:
        chain: The arm.
        trace: The trace that ``chain.trace(target)`` returned.
        target: The target of the trace, as for ``Chain.solve``.
        number: Index of the sweep, from 0.
        axes: (n,) axes to draw in. None: new ones, with a legend.

    Returns:
        (n,) the axes, in the order of the moves.

    Example:
        >>> from jointwise import plot, robots
        >>> panda, target = robots.panda(), [0.4, 0.2, 0.5]
        >>> axes = plot.sweep(panda, panda.trace(target), target)
    """
    canvas.check_trace(chain, trace)
    target_position = describe_target(target)["position"]
    index = checks.count("number", number)
    if index >= trace.sweeps:
        raise InvalidInputError(
            f"number is {index}: expected less than {trace.sweeps}, the sweeps of this trace."
        )
    columns = canvas.balanced_columns(chain.n, MAX_COLUMNS)
    if axes is None:
        panels = np.array(canvas.new_panels(chain.n, columns, PANEL))
    else:
        panels = canvas.given_panels(axes, chain.n)
    moves = [move for move in trace.moves() if move.sweep == index]
    for ax, move in zip(panels, moves, strict=True):
        _draw_move(ax, chain, move, target_position)
        ax.set(xlabel="[m]", ylabel="[m]")
    _set_equal_scale(panels)
    if axes is None:
        for i, ax in enumerate(panels):
            ax.set_xlabel("[m]" if i + columns >= chain.n else "")
            ax.set_ylabel("[m]" if i % columns == 0 else "")
        canvas.legend(panels)
    return panels


def _draw_move(ax: Any, chain: Chain, move: Move, target_position: Floats) -> None:
    prismatic = bool(chain.prismatic[move.joint])
    frame = chain.joint_frames(move.q)[move.joint]
    axis, origin = frame[:3, 2], frame[:3, 3]
    projection = _projection(axis, prismatic)

    def draw(points: Floats, style: str, color: str, **kwargs: Any) -> None:
        ax.plot(*np.atleast_2d(points @ projection).T, style, color=color, **kwargs)

    before, after = move.q.copy(), move.q
    before[move.joint] = move.before
    arc = _tip_positions(chain, move, _joint_range(chain, move))
    draw(arc, "-", LIGHT, lw=3, solid_capstyle="butt", label="range of motion")
    for q, color, width, label in ((before, BEFORE, 2.0, "before"), (after, AFTER, 2.5, "after")):
        corners = chain.outline(q)
        draw(corners, "-", color, lw=width, label=label)
        draw(corners[-1], "o", color, ms=5, mec="white")
    draw(_tip_positions(chain, move, (move.before, move.after)), "-", MOVING, lw=1.5)
    tip = chain.fk(after)[:3, 3]
    draw(np.stack([tip if prismatic else origin, target_position]), "--", TARGET, lw=1.0)
    marker = "s" if prismatic else "o"
    draw(origin, marker, MOVING, ms=9, mec="white", label="moving joint")
    draw(target_position, "*", TARGET, ms=13, mec="white", label="target")
    error = float(np.linalg.norm(tip - target_position))
    ax.set_title(_title(chain, move, error), fontsize="small")


def _title(chain: Chain, move: Move, position_error: float) -> str:
    unit = "m" if chain.prismatic[move.joint] else "rad"
    change = f"{move.after - move.before:+.2f}"
    moved = "unchanged" if float(change) == 0.0 else f"{change} {unit}".replace("-", "−")
    visited = chain.n - move.joint
    return f"{visited}. {chain.joint_names[move.joint]}\n{moved}, error {position_error:.3f} m"


def _joint_range(chain: Chain, move: Move) -> tuple[float, float]:
    """The limits of the joint; for an unlimited joint, a range around its value."""
    lower, upper = chain.limits[move.joint]
    prismatic = chain.prismatic[move.joint]
    if upper - lower < (np.inf if prismatic else 2.0 * np.pi):
        return lower, upper
    half = 5.0 * chain.arm.angular_scale if prismatic else np.pi
    return max(lower, move.after - half), min(upper, move.after + half)


def _tip_positions(chain: Chain, move: Move, ends: tuple[float, float]) -> Floats:
    """(k, 3) positions of the end effector while the joint moves between two values [m]."""
    configurations = np.tile(move.q, (ARC_POINTS, 1))
    configurations[:, move.joint] = np.linspace(*ends, ARC_POINTS)
    positions: Floats = chain.fk(configurations)[:, :3, 3]
    return positions


def _projection(axis: Floats, prismatic: bool) -> Floats:
    """(3, 2) projection onto a panel, as right and up vector: a view along the joint's axis.

    For a prismatic joint, a view normal to its axis.
    """
    towards = axis * (1.0 if axis @ VIEWER > 0.0 else -1.0)
    if prismatic:
        towards = np.cross(np.cross(axis, VIEWER), axis)
        towards = towards / np.linalg.norm(towards)
    up = np.eye(3)[1 if abs(towards[2]) > 0.9 else 2]
    up = up - (up @ towards) * towards
    up = up / np.linalg.norm(up)
    return np.stack([np.cross(up, towards), up], axis=1)


def _set_equal_scale(panels: Any) -> None:
    """Use the same scale in all panels."""
    boxes = [ax.dataLim for ax in panels]
    half = 0.55 * max(max(box.width, box.height) for box in boxes)
    for ax, box in zip(panels, boxes, strict=True):
        x, y = 0.5 * (box.x0 + box.x1), 0.5 * (box.y0 + box.y1)
        ax.set(xlim=(x - half, x + half), ylim=(y - half, y + half), aspect="equal")
        ax.locator_params(nbins=4)
        ax.tick_params(labelsize="x-small", color=LIGHT)
        ax.spines[:].set_color(LIGHT)
