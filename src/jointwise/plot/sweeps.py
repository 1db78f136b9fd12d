"""A sweep, joint by joint: the picture that explains Cyclic Coordinate Descent."""

from typing import Any

import numpy as np

from jointwise.chain import Chain
from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Floats
from jointwise.model import checks
from jointwise.plot import canvas
from jointwise.plot.canvas import AFTER, BEFORE, LIGHT, MOVING, TARGET
from jointwise.plot.space import asked_of, point_of
from jointwise.solvers.targets import Target
from jointwise.solvers.trace import Move, Trace

PANEL, COLUMNS, POINTS = (2.0, 2.35), 4, 181
# Axes are looked at from this side, so that parallel ones are seen alike.
READER = np.array([0.2, -0.6, 0.8])


def sweep(chain: Chain, trace: Trace, target: Target, number: int = 0, axes: Any = None) -> Any:
    """Draw one sweep as small multiples, one for each joint's move, from tip to base.

    Each looks along the axis of the joint that moves, where its turn is seen as it is: the tip
    goes round on a circle, to where it is nearest to the target. With a position as target, that
    is where joint, tip and target are in line; with a pose, its directions have a say as well. A
    joint that slides is looked at from its side.

    Args:
        chain: The arm.
        trace: What ``chain.trace(target)`` gave.
        target: What it was asked to reach, as for ``Chain.solve``.
        number: Which sweep, from 0.
        axes: (n,) axes to draw in. None: new ones, with a legend.

    Returns:
        (n,) the axes, in the order of the moves.

    Raises:
        InvalidInputError: Something does not fit; the text says what.
    """
    canvas.check_trace(chain, trace)
    point = point_of(asked_of(chain, target))
    chosen = checks.count("number", number)
    if chosen >= trace.sweeps:
        raise InvalidInputError(
            f"number is {chosen}: expected less than {trace.sweeps}, the sweeps of this trace."
        )
    panels = canvas.panels(axes, chain.n, COLUMNS, PANEL)
    moves = [move for move in trace.moves() if move.sweep == chosen]
    for ax, move in zip(panels, moves, strict=True):
        _draw_move(ax, chain, move, point)
        ax.set(xlabel="[m]", ylabel="[m]")
    _same_scale(panels)
    if axes is None:
        for i, ax in enumerate(panels):
            ax.set_xlabel("[m]" if i + COLUMNS >= chain.n else "")
            ax.set_ylabel("[m]" if i % COLUMNS == 0 else "")
        canvas.legend(panels)
    return panels


def _draw_move(ax: Any, chain: Chain, move: Move, point: Floats) -> None:
    slides = bool(chain.prismatic[move.joint])
    frame = chain.frames(move.joint_angles)[move.joint]
    axis, origin = frame[:3, 2], frame[:3, 3]
    flat = _view(axis, slides)

    def draw(points: Floats, style: str, color: str, **more: Any) -> None:
        ax.plot(*np.atleast_2d(points @ flat).T, style, color=color, **more)

    before, after = move.joint_angles.copy(), move.joint_angles
    before[move.joint] = move.before
    draw(
        _tips(chain, move, _free(chain, move)),
        "-",
        LIGHT,
        lw=3,
        solid_capstyle="butt",
        label="where the tip can go",
    )
    for q, color, width, label in ((before, BEFORE, 2.0, "before"), (after, AFTER, 2.5, "after")):
        corners = chain.outline(q)
        draw(corners, "-", color, lw=width, label=label)
        draw(corners[-1], "o", color, ms=5, mec="white")
    draw(_tips(chain, move, (move.before, move.after)), "-", MOVING, lw=1.5)
    tip = chain.fk(after)[:3, 3]
    draw(np.stack([tip if slides else origin, point]), "--", TARGET, lw=1.0)
    shape = "s" if slides else "o"
    draw(origin, shape, MOVING, ms=9, mec="white", label="moving joint")
    draw(point, "*", TARGET, ms=13, mec="white", label="target")

    change, left = move.after - move.before, np.linalg.norm(tip - point)
    unit = "m" if slides else "rad"
    moved = f"{change:+.2f} {unit}".replace("-", "−") if abs(change) > 0.005 else "stays"
    name = chain.names[move.joint]
    ax.set_title(f"{chain.n - move.joint}. {name}\n{moved}, {left:.3f} m left", fontsize="small")


def _free(chain: Chain, move: Move) -> tuple[float, float]:
    """From where to where the joint can go; of a joint without limits, a part that shows it."""
    lower, upper = chain.limits[move.joint]
    slides = chain.prismatic[move.joint]
    if upper - lower < (np.inf if slides else 2.0 * np.pi):
        return lower, upper
    span = 5.0 * chain.arm.angular_scale if slides else np.pi
    return max(lower, move.after - span), min(upper, move.after + span)


def _tips(chain: Chain, move: Move, ends: tuple[float, float]) -> Floats:
    """(k, 3) where the tip is as the joint goes from one value to another [m]."""
    many = np.tile(move.joint_angles, (POINTS, 1))
    many[:, move.joint] = np.linspace(*ends, POINTS)
    tips: Floats = chain.fk(many)[:, :3, 3]
    return tips


def _view(axis: Floats, slides: bool) -> Floats:
    """(3, 2) to the right and up as seen along an axis; from its side if the joint slides."""
    towards = axis * (1.0 if axis @ READER > 0.0 else -1.0)
    if slides:
        towards = np.cross(np.cross(axis, READER), axis)
        towards = towards / np.linalg.norm(towards)
    up = np.eye(3)[1 if abs(towards[2]) > 0.9 else 2]
    up = up - (up @ towards) * towards
    up = up / np.linalg.norm(up)
    return np.stack([np.cross(up, towards), up], axis=1)


def _same_scale(panels: Any) -> None:
    """A metre is as long in all of them."""
    boxes = [ax.dataLim for ax in panels]
    half = 0.55 * max(max(box.width, box.height) for box in boxes)
    for ax, box in zip(panels, boxes, strict=True):
        x, y = 0.5 * (box.x0 + box.x1), 0.5 * (box.y0 + box.y1)
        ax.set(xlim=(x - half, x + half), ylim=(y - half, y + half), aspect="equal")
        ax.locator_params(nbins=4)
        ax.tick_params(labelsize="x-small", color=LIGHT)
        ax.spines[:].set_color(LIGHT)
