"""Arms in 3D: one configuration, the motion to a target, and several solutions."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jointwise.chain import Chain
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.plot import canvas
from jointwise.plot.arm3d import draw_arm, draw_base, draw_frame, joint_size
from jointwise.plot.canvas import AFTER, BEFORE, BETWEEN, DARK, TARGET
from jointwise.plot.obstacles import draw_obstacles
from jointwise.plot.solution_lines import MANY, draw_few, draw_many, number_lines
from jointwise.plot.spheres import draw_spheres
from jointwise.targets import AnyTarget, pack_target

SIZE = 5.0, 4.6
# Elevation of the camera, and of the camera for a flat arm [°].
ELEVATION, FLAT_ELEVATION = 20.0, 45.0
# Azimuth of the camera, clockwise from the direction of the end effector [°].
AZIMUTH_OFFSET = 65.0
# Entries in a row of a legend, at most; of a legend of numbers.
LEGEND_COLUMNS, NUMBER_COLUMNS = 4, 10
NUMBER_LEGEND = {"title": "solutions", "title_fontsize": "small", "handlelength": 1.2}
# Share of the axes that the drawing fills; the rest is for the labels.
FILL = 0.74


def arm(
    chain: Chain,
    q: ArrayLike,
    ax: Any = None,
    color: str = AFTER,
    limits: bool = True,
    spheres: bool = False,
) -> Any:
    """Draw an arm in one configuration: links, joints with axes and limits, end effector frame.

    A revolute joint is a cylinder about its axis, a prismatic joint a box. A green sector shows
    the range of a revolute joint, a green scale that of a prismatic one; neither is drawn for an
    unlimited joint, or for a revolute one with a range of a full turn or more. The x, y and z axis
    of the end effector are red, green and blue. Obstacles of its scene are translucent.

    Args:
        chain: The arm.
        q: (n,) one value per joint [rad, m].
        ax: 3D axes to draw in. None: new ones, with a view that shows the arm from its side.
        color: Colour of the links.
        limits: Whether to show the joint limits.
        spheres: Whether to show the spheres of its ``geometry``, which collision checks use.

    Example:
        >>> from jointwise import plot, robots
        >>> panda = robots.panda()
        >>> ax = plot.arm(panda, panda.mid_range)
        >>> ax.figure.savefig("arm.png")  # doctest: +SKIP
    """
    canvas.check_chain(chain)
    values = checks.all_finite("q", checks.joint_values("q", q, chain.n))
    axes = canvas.axes_3d(ax, SIZE)
    draw_arm(axes, chain, values, color, limits)
    if spheres:
        draw_spheres(axes, chain, values)
    draw_obstacles(axes, chain.scene)
    if ax is None:
        set_view(axes, chain.fk(values)[:3, 3])
    fit_axes(axes)
    return axes


def motion(chain: Chain, configurations: ArrayLike, target: AnyTarget, ax: Any = None) -> Any:
    """Draw the motion of an arm to a target: configurations before, between and after.

    Args:
        chain: The arm.
        configurations: (k, n) joint values from first to last [rad, m], k at least 2; those of a
            trace are ``trace.q``.
        target: The target, as for ``Chain.solve``.
        ax: 3D axes to draw in. None: new ones, as for ``arm``.

    Example:
        >>> from jointwise import plot, robots
        >>> panda, target = robots.panda(), [0.4, 0.2, 0.5]
        >>> ax = plot.motion(panda, panda.trace(target).q, target)
    """
    canvas.check_chain(chain)
    values = _configurations(chain, configurations, at_least=2)
    description = describe_target(target)
    axes = canvas.axes_3d(ax, SIZE)
    first, *between, last = values
    axes.plot(*chain.outline(first).T, color=BEFORE, lw=3, label="before")
    for i, q in enumerate(between):
        axes.plot(*chain.outline(q).T, color=BETWEEN, lw=1, label="" if i else "between")
    draw_arm(axes, chain, last, AFTER, limits=False)[0].set_label("after")
    tip = chain.fk(last)[:3, 3]
    draw_target(axes, chain, description, tip)
    draw_obstacles(axes, chain.scene)
    add_legend(axes)
    if ax is None:
        set_view(axes, tip)
    fit_axes(axes)
    return axes


def solutions(chain: Chain, configurations: ArrayLike, target: AnyTarget, ax: Any = None) -> Any:
    """Draw several solutions for one target, each in its own colour, with a legend.

    A joint that is at the same place in several solutions is dark grey. Later solutions are
    narrower, so that links that coincide stay visible. More than six solutions are thin lines with
    numbers, and only the joints that all of them share have bodies.

    Args:
        chain: The arm.
        configurations: (k, n) joint values of the solutions [rad, m], k at least 1.
        target: The target, as for ``Chain.solve``.
        ax: 3D axes to draw in. None: new ones, as for ``arm``.

    Example:
        >>> from jointwise import plot, robots
        >>> ur5e = robots.ur5e()
        >>> pose = ur5e.fk([0.1, -1.2, 1.5, -0.4, 1.0, 0.3])
        >>> ax = plot.solutions(ur5e, ur5e.solutions(pose, count=3).q, pose)
    """
    canvas.check_chain(chain)
    values = _configurations(chain, configurations, at_least=1)
    description = describe_target(target)
    axes = canvas.axes_3d(ax, SIZE)
    draw_base(axes, joint_size(chain))
    many, drawn = len(values) > MANY, len(axes.lines)
    has_shared_joints = (draw_many if many else draw_few)(axes, chain, values)
    tip = chain.fk(values[0])[:3, 3]
    draw_target(axes, chain, description, tip)
    draw_obstacles(axes, chain.scene)
    if has_shared_joints:
        axes.plot([], [], [], "s", color=DARK, label="shared joint")
    add_legend(axes, numbers=many)
    if ax is None:
        set_view(axes, description.get("position", tip))
    fit_axes(axes)
    if many:
        number_lines(axes, axes.lines[drawn : drawn + len(values)])
    return axes


def _configurations(chain: Chain, configurations: ArrayLike, at_least: int) -> Floats:
    """(k, n) the given joint values, checked, k at least the given number."""
    values = checks.configurations("configurations", configurations, chain.n)
    if values.ndim == 1 or len(values) < at_least:
        raise InvalidInputError(
            f"configurations has shape {values.shape}: expected (k, {chain.n}), "
            f"k at least {at_least}."
        )
    return checks.all_finite("configurations", values)


def add_legend(ax: Any, numbers: bool = False) -> None:
    """Add a legend above the drawing, with rows of about equal length; or of numbers only."""
    entries = len(ax.get_legend_handles_labels()[0])
    columns = canvas.balanced_columns(entries, NUMBER_COLUMNS if numbers else LEGEND_COLUMNS)
    style = NUMBER_LEGEND if numbers else {}
    ax.legend(loc="upper center", ncols=columns, frameon=False, fontsize="small", **style)


def describe_target(target: AnyTarget) -> dict[str, Floats]:
    """Check a target and describe it, as ``TargetKind.describe`` does.

    Raises:
        InvalidInputError: It is not a target; the text says why.
    """
    packed = pack_target(target)
    packed.kind.check(packed.values)
    return packed.kind.describe(packed.values)


def draw_target(ax: Any, chain: Chain, description: dict[str, Floats], tip: Floats) -> None:
    """Draw a target: a star at its position, an arrow for a direction, a frame for an orientation.

    Args:
        ax: 3D axes.
        chain: The arm; its size sets that of the arrows.
        description: The target, as ``describe_target`` returns it.
        tip: (3,) where the arrow of a target without a position begins [m].
    """
    from scipy.spatial.transform import Rotation

    position, size, label = description.get("position", tip), joint_size(chain), "target"
    if "position" in description:
        star = {"color": TARGET, "ms": 15, "mec": "white", "label": label, "zorder": 99}
        ax.plot(*position[:, None], "*", **star)
        label = ""
    if "direction" in description:
        arrow = 1.8 * size * description["direction"]  # beyond the name of the tool's axis
        style = {"color": TARGET, "lw": 1.5, "arrow_length_ratio": 0.25, "label": label}
        ax.quiver(*position, *arrow, **style)
    if "quaternion" in description:
        pose = np.eye(4)
        pose[:3, :3] = Rotation.from_quat(description["quaternion"]).as_matrix()
        pose[:3, 3] = position
        draw_frame(ax, pose, size)


def set_view(ax: Any, tip: Floats) -> None:
    """Point the camera at the arm from its side; at a flat arm from a higher elevation.

    Args:
        ax: 3D axes in which the arm is drawn.
        tip: (3,) position of the end effector [m].
    """
    width, height = max(ax.xy_dataLim.size), ax.zz_dataLim.width
    elevation = ELEVATION if height > 0.5 * width else FLAT_ELEVATION
    ax.view_init(elevation, np.degrees(np.arctan2(tip[1], tip[0])) - AZIMUTH_OFFSET)


def fit_axes(ax: Any) -> None:
    """Label the axes, and fit them around the drawing with the same scale in all directions."""
    ax.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    ends = np.array([ax.xy_dataLim.intervalx, ax.xy_dataLim.intervaly, ax.zz_dataLim.intervalx])
    middle, half = ends.mean(axis=1), 0.5 * np.ptp(ends, axis=1)
    half = 1.05 * np.maximum(half, 0.3 * half.max())  # a flat arm, too, gets a box with a height
    for axis, m, h in zip("xyz", middle, half, strict=True):
        ax.set(**{f"{axis}lim": (m - h, m + h)})
        ax.locator_params(axis, nbins=4 if h > 0.5 * half.max() else 2)
    ax.set_box_aspect(half, zoom=FILL / _projected_size(half, *np.radians([ax.elev, ax.azim])))
    ax.tick_params(labelsize="small", pad=0)
    # Numbers and name of the z axis are beside it, where Matplotlib leaves too little space.
    ax.tick_params(axis="z", pad=4)
    ax.zaxis.labelpad = 8


def _projected_size(half: Floats, elevation: float, azimuth: float) -> float:
    """Larger of width and height of a box on the screen, as a share of its diagonal.

    Args:
        half: (3,) half of the box along x, y and z [m].
        elevation: Elevation of the camera [rad].
        azimuth: Azimuth of the camera [rad].
    """
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    ahead = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    up = np.array([0.0, 0.0, np.cos(elevation)]) - np.sin(elevation) * ahead
    largest = max(float(np.abs(right) @ half), float(np.abs(up) @ half))
    return largest / float(np.linalg.norm(half))
