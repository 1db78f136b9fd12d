"""Plans in 3D: the arm or the robot along its path, among the obstacles."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from typing import Any

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.layout.arrays import Floats
from jointwise.plot import canvas, robot3d, space
from jointwise.plot.arm3d import LINE_ZORDER, draw_arm
from jointwise.plot.canvas import AFTER, BEFORE, BETWEEN, TARGET
from jointwise.plot.obstacles import draw_obstacles
from jointwise.results.plan import Plan
from jointwise.robot import Robot

SIZE = 6.0, 5.4
# Configurations between start and goal, evenly spaced along the path.
GHOSTS = 10
# Configurations of a path with rounded corners are this far apart [rad, m].
STEP = 0.02
# Points of the drawn path of a tip.
TIP_POINTS = 300
# The path of an end that moves less is not drawn [m].
MOVED = 1e-3


def plan(model: Chain | Robot, plan: Plan, ax: Any = None) -> Any:
    """Draw a plan: the start, the goal, configurations between them, and the path of the tip.

    Obstacles are translucent, and cut off at some distance from the motion. For a robot, the path
    of every end link that moves is drawn.

    Args:
        model: The arm or the robot, with its scene.
        plan: A plan of this model, with a path.
        ax: 3D axes to draw in. None: new ones, as for ``arm``.

    Raises:
        UnsolvedError: The plan has no path.

    Example:
        >>> from jointwise import Chain, Scene, plot
        >>> wall = Scene().box([0.6, 0.02, 0.6], [-0.6, 0.0, 0.3], name="wall")
        >>> arm = Chain.load("ur5e").with_scene(wall)
        >>> start, goal = [-0.6, -1.4, 1.8, -2.0, -1.5, 0.0], [0.8, -1.4, 1.8, -2.0, -1.5, 0.0]
        >>> ax = plot.plan(arm, arm.plan(q=goal, start=start))
    """
    canvas.check_model(model)
    canvas.check_type("plan", plan, Plan, "plan")
    canvas.check_joint_count("plan", plan.or_raise(), model)
    axes = canvas.axes_3d(ax, SIZE)
    path = plan.resampled(STEP) if plan.blends.any() else plan.waypoints
    first, *between, last = configurations(path, GHOSTS + 2)
    style = {"zorder": LINE_ZORDER}
    axes.plot(*_lines(model, first), color=BEFORE, lw=4, label="start", **style)
    for i, q in enumerate(between):
        label = "" if i else "between"
        axes.plot(*_lines(model, q), color=BETWEEN, lw=1, label=label, **style)
    if isinstance(model, Chain):
        draw_arm(axes, model, last, AFTER, limits=False)[0].set_label("goal")
    else:
        axes.plot(*_lines(model, last), color=AFTER, lw=3, label="goal", **style)
    for i, tip in enumerate(_tips(model, configurations(path, TIP_POINTS))):
        label = "" if i else "path of the tip"
        axes.plot(*tip.T, color=TARGET, lw=1.5, label=label, **style)
    draw_obstacles(axes, model.scene)
    space.add_legend(axes)
    if ax is None:
        _set_view(axes, model, last)
    space.fit_axes(axes)
    return axes


def configurations(waypoints: Floats, count: int) -> Floats:
    """(count, n) joint values, evenly spaced along the path from its first to its last waypoint."""
    lengths = np.linalg.norm(np.diff(waypoints, axis=0), axis=1)
    places = np.insert(np.cumsum(lengths), 0, 0.0)
    at = np.linspace(0.0, places[-1], count)
    values = np.stack([np.interp(at, places, column) for column in waypoints.T], axis=1)
    values[0], values[-1] = waypoints[0], waypoints[-1]
    return values


def _lines(model: Chain | Robot, q: Floats) -> Floats:
    """(3, k) lines that represent the links [m]."""
    if isinstance(model, Chain):
        return model.outline(q).T
    poses = model.fk(q)
    return robot3d.link_lines(model, {link: pose[:3, 3] for link, pose in poses.items()})


def _tips(model: Chain | Robot, q: Floats) -> list[Floats]:
    """(k, 3) the path of the end effector, or of each end of a robot that moves [m]."""
    if isinstance(model, Chain):
        return [model.fk(q)[:, :3, 3]]
    poses, places = model.fk(q), model.model.links
    parents = {place.parent for place in places.values()}
    paths = [poses[link][:, :3, 3] for link in places if link not in parents]
    return [path for path in paths if np.ptp(path, axis=0).max() > MOVED]


def _set_view(ax: Any, model: Chain | Robot, q: Floats) -> None:
    """Point the camera at an arm from its side, at a robot as ``robot`` does."""
    if isinstance(model, Chain):
        space.set_view(ax, model.fk(q)[:3, 3])
    else:
        ax.view_init(*robot3d.VIEW)
