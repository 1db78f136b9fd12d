"""A whole robot in 3D: lines between the frames of its links."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.model.joint_values import JointValues
from jointwise.model.kinematic_tree import MASS_CENTRE
from jointwise.plot import canvas, space
from jointwise.plot.canvas import AFTER, TARGET
from jointwise.plot.obstacles import draw_obstacles
from jointwise.robot import Robot
from jointwise.targets import AnyTarget, Pose

# Elevation and azimuth of the camera: from the right of a robot that looks along x, and ahead [°].
VIEW = space.ELEVATION, -50.0


def robot(
    robot: Robot,
    q: JointValues,
    base_pose: Pose | None = None,
    targets: Mapping[str, AnyTarget] | None = None,
    ax: Any = None,
    color: str = AFTER,
) -> Any:
    """Draw a whole robot in one configuration, with a line to each link from its parent.

    A dot is a joint. A star is the position of a target, and a line leads to it from its link.
    Targets without a position are not drawn. Obstacles of the robot's scene are translucent.

    Args:
        robot: The robot.
        q: (n,) joint values [rad, m], or a mapping of joint names, as for ``Robot.fk``.
        base_pose: Pose of the root link in the world; None: that of the robot.
        targets: Targets of links, as for ``Robot.solve``. None: none.
        ax: 3D axes to draw in. None: new ones.
        color: Colour of the lines.

    Example:
        >>> from jointwise import Robot, plot
        >>> panda = Robot.load("panda")
        >>> ax = plot.robot(panda, panda.mid_range, targets={"tip": [0.4, 0.2, 0.5]})
        >>> ax.figure.savefig("robot.png")  # doctest: +SKIP
    """
    if not isinstance(robot, Robot):
        raise InvalidInputError(
            f"robot is {checks.short(robot)}: expected a Robot, such as Robot.load('panda')."
        )
    poses = robot.fk(q, base_pose)
    root = poses[robot.link_names[0]]
    if root.ndim == 3:
        raise InvalidInputError(
            f"q has shape {(len(root), robot.n)}: expected ({robot.n},), one configuration."
        )
    positions = {link: pose[:3, 3] for link, pose in poses.items()}
    stars = _positions(robot, targets or {}, poses)
    if MASS_CENTRE in stars:
        centre = robot.center_of_mass(q, base_pose)
        positions = {MASS_CENTRE: centre} | positions
    axes = canvas.axes_3d(ax, space.SIZE)
    places = robot.model.links
    axes.plot(*link_lines(robot, positions), color=color, lw=2)
    moved = [
        link
        for link, place in places.items()
        if place.parent is not None and places[place.parent].joint != place.joint
    ]
    dots = {"color": color, "ms": 3.5, "mec": "white", "mew": 0.5}
    axes.plot(*np.reshape([positions[link] for link in moved], (-1, 3)).T, "o", **dots)
    if stars:
        missing = _segments([(positions[link], star) for link, star in stars.items()])
        axes.plot(*missing, color=TARGET, lw=1)
        axes.plot(*np.array(list(stars.values())).T, "*", color=TARGET, ms=9, mec="white")
    draw_obstacles(axes, robot.scene)
    if ax is None:
        axes.view_init(*VIEW)
    space.fit_axes(axes)
    return axes


def link_lines(robot: Robot, positions: Mapping[str, Floats]) -> Floats:
    """(3, k) a line to each link from the one that carries it; NaN between them.

    Args:
        robot: The robot.
        positions: (3,) where each link is [m].
    """
    places = robot.model.links.items()
    pairs = [(place.parent, link) for link, place in places if place.parent is not None]
    return _segments([(positions[a], positions[b]) for a, b in pairs])


def _positions(
    robot: Robot, targets: Mapping[str, AnyTarget], poses: Mapping[str, Floats]
) -> dict[str, Floats]:
    """(3,) the positions of targets in the world [m], by their links, all checked."""
    found: dict[str, Floats] = {}
    for link, target in targets.items():
        described, to = space.describe_target(target), getattr(target, "to", None)
        for name in {link, to} - {None, MASS_CENTRE}:
            checks.known_name("link", name, robot.link_names, robot.name)
        if "position" in described:
            at, frame = described["position"], np.eye(4) if to is None else poses[to]
            found[link] = frame[:3, :3] @ at + frame[:3, 3]
    return found


def _segments(pairs: list[tuple[Floats, Floats]]) -> Floats:
    """(3, k) separate lines as one: NaN between them interrupts the line."""
    gap = np.full(3, np.nan)
    return np.reshape([(a, b, gap) for a, b in pairs], (-1, 3)).T
