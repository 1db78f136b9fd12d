"""An arm in 3D axes: links, joints with their axes and limits, and the end effector frame."""

from typing import Any, NamedTuple

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.shapes import Floats
from jointwise.plot import canvas
from jointwise.plot.canvas import DARK, GREY, MOVING, RANGE

# Colours of the x, y and z axis of a frame.
AXIS_COLORS = canvas.PURPLE, canvas.GREEN, canvas.BLUE
# Sides of the prism that stands for a cylinder, and points of an arc.
CYLINDER_SIDES, ARC_POINTS = 18, 73
# Lines are above the panes and below all bodies, which Matplotlib sorts by depth.
LINE_ZORDER = 3.0
# A height so low that Matplotlib draws what is sorted by it behind all bodies [m].
BEHIND_BODIES = -1e6


class JointGeometry(NamedTuple):
    """Where a joint is drawn, base frame.

    Attributes:
        origin: (3,) origin of the frame that the joint carries [m].
        center: (3,) the point of its axis where it is drawn [m].
        axis: (3,) direction of its axis.
        normal: (3,) a direction normal to the axis: towards the next joint if that is off the axis.
        prismatic: Whether the joint is prismatic; else it is revolute.
    """

    origin: Floats
    center: Floats
    axis: Floats
    normal: Floats
    prismatic: bool


def joint_size(chain: Chain) -> float:
    """The length in which a joint is drawn [m]."""
    corners = chain.outline(chain.home)
    total = float(np.linalg.norm(np.diff(corners, axis=0), axis=1).sum())
    return (total or 1.0) / (chain.n + 5)


def joint_geometry(chain: Chain, q: Floats) -> list[JointGeometry]:
    """Where each joint is drawn: in the middle of the outline's segment on its axis."""
    frames, size = chain.frames(q), joint_size(chain)
    origins = frames[:, :3, 3]
    previous = np.vstack([np.zeros(3), origins[:-1]])
    following = np.vstack([origins[1:], chain.fk(q)[:3, 3]])
    joints = []
    for i, prismatic in enumerate(chain.prismatic.tolist()):
        x, axis, origin = frames[i, :3, 0], frames[i, :3, 2], origins[i]
        segment = -q[i] if prismatic else (previous[i] - origin) @ axis
        offset = following[i] - origin
        offset = offset - (offset @ axis) * axis
        distance = float(np.linalg.norm(offset))
        normal = x if prismatic or distance < 0.1 * size else offset / distance
        center = origin + 0.5 * segment * axis
        joints.append(JointGeometry(origin, center, axis, normal, prismatic))
    return joints


def draw_arm(
    ax: Any, chain: Chain, q: Floats, color: str, limits: bool, moving: int | None = None
) -> list[Any]:
    """Draw a whole arm.

    Args:
        ax: 3D axes.
        chain: The arm.
        q: (n,) joint values [rad, m], checked.
        color: Colour of the links.
        limits: Whether to show the joint limits.
        moving: Index of the joint that is drawn in the colour of moving joints.

    Returns:
        All artists; first the line of the links.
    """
    size = joint_size(chain)
    artists: list[Any] = ax.plot(*chain.outline(q).T, color=color, lw=4, zorder=LINE_ZORDER)
    for i, joint in enumerate(joint_geometry(chain, q)):
        artists += _draw_joint(ax, joint, size, MOVING if i == moving else DARK)
        if limits:
            lower, upper = chain.limits[i] - q[i]
            draw_range = _draw_travel if joint.prismatic else _draw_sector
            artists += draw_range(ax, joint, size, lower, upper)
    base_shape = 0.45 * size, 0.06 * size
    artists.append(_draw_prism(ax, np.zeros(3), np.eye(3), base_shape, CYLINDER_SIDES, GREY))
    return artists + draw_frame(ax, chain.fk(q), size)


def draw_frame(ax: Any, pose: Floats, length: float) -> list[Any]:
    """Draw the axes of a frame (4, 4) as arrows: x purple, y green, z blue."""
    arrows = length * pose[:3, :3].T
    return [
        ax.quiver(*pose[:3, 3], *arrow, color=color, lw=1.5, arrow_length_ratio=0.25)
        for arrow, color in zip(arrows, AXIS_COLORS, strict=True)
    ]


def _draw_joint(ax: Any, joint: JointGeometry, size: float, color: str) -> list[Any]:
    """A cylinder or a box, and the joint's axis."""
    ends = joint.center + np.outer([-size, size], joint.axis)
    (line,) = ax.plot(*ends.T, color=color, lw=0.8, ls=(0, (6, 2, 1, 2)), zorder=0.9 * LINE_ZORDER)
    frame = np.stack([joint.normal, np.cross(joint.axis, joint.normal), joint.axis])
    sides, radius, half = (4, 0.32, 0.4) if joint.prismatic else (CYLINDER_SIDES, 0.22, 0.3)
    return [_draw_prism(ax, joint.center, frame, (radius * size, half * size), sides, color), line]


def _draw_prism(
    ax: Any, center: Floats, frame: Floats, shape: tuple[float, float], sides: int, color: str
) -> Any:
    """A regular prism.

    Args:
        ax: 3D axes.
        center: (3,) [m].
        frame: (3, 3) unit vectors, one per row; the prism's axis is the last one.
        shape: Circumradius of the polygon and half of the height [m].
        sides: Number of sides of the polygon.
        color: Colour of faces and edges.
    """
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    (radius, half), angles = shape, np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    rim = center + radius * _unit_circle(frame[0], frame[1], angles + np.pi / sides)
    bottom, top = rim - half * frame[2], rim + half * frame[2]
    walls = np.stack([bottom, np.roll(bottom, -1, 0), np.roll(top, -1, 0), top], axis=1)
    # All faces of a collection need the same number of corners, so those of a wall are repeated.
    walls = walls[:, np.arange(sides) * 4 // sides]
    body = Poly3DCollection(
        [bottom[::-1], top, *walls], facecolors=color, edgecolors=color, lw=0.5, shade=True
    )
    ax.add_collection3d(body)
    return body


def _draw_sector(
    ax: Any, joint: JointGeometry, size: float, lower: float, upper: float
) -> list[Any]:
    """The range of a revolute joint, and its present value, as a sector with a hand.

    Args:
        ax: 3D axes.
        joint: The joint.
        size: Radius of the sector [m].
        lower: Lower limit, relative to the present value [rad].
        upper: Upper limit, relative to the present value [rad].
    """
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    if upper - lower >= 2.0 * np.pi:
        return []
    side = np.cross(joint.axis, joint.normal)
    arc = _unit_circle(joint.normal, side, np.linspace(lower, upper, ARC_POINTS))
    corners = np.vstack([joint.center, joint.center + size * arc, joint.center])
    sector = Poly3DCollection([corners], facecolor=RANGE, edgecolor="none", alpha=0.15)
    sector.set_sort_zpos(BEHIND_BODIES)
    ax.add_collection3d(sector)
    (edge,) = ax.plot(*corners.T, color=RANGE, lw=0.8, zorder=LINE_ZORDER)
    hand = np.stack([joint.center, joint.center + size * joint.normal])
    return [sector, edge, *ax.plot(*hand.T, color=RANGE, lw=1.6, zorder=LINE_ZORDER)]


def _draw_travel(
    ax: Any, joint: JointGeometry, size: float, lower: float, upper: float
) -> list[Any]:
    """The range of a prismatic joint, and its present value, as a scale beside it.

    Args:
        ax: 3D axes.
        joint: The joint.
        size: Twice the distance of the scale from the joint [m].
        lower: Lower limit, relative to the present value [m].
        upper: Upper limit, relative to the present value [m].
    """
    if not np.isfinite(upper - lower):
        return []
    up = np.array([0.0, 0.0, 1.0]) - joint.axis[2] * joint.axis
    height = float(np.linalg.norm(up))
    offset = 0.5 * size * (up / height if height > 0.1 else joint.normal)
    ends = joint.origin + np.outer([lower, upper], joint.axis) + offset
    artists: list[Any] = ax.plot(*ends.T, color=RANGE, lw=1.6, zorder=LINE_ZORDER)
    for middle, width in zip((*ends, joint.origin + offset), (0.8, 0.8, 2.0), strict=True):
        tick = np.stack([middle - 0.4 * offset, middle + 0.4 * offset])
        artists += ax.plot(*tick.T, color=RANGE, lw=width, zorder=LINE_ZORDER)
    return artists


def _unit_circle(x: Floats, y: Floats, angles: Floats) -> Floats:
    """(k, 3) unit vectors in the plane of two orthonormal ones, at angles [rad] from the first."""
    points: Floats = np.outer(np.cos(angles), x) + np.outer(np.sin(angles), y)
    return points
