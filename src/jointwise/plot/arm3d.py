"""An arm in 3D axes: links, joints with their axes and limits, and the end effector frame."""

from typing import Any, NamedTuple

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.layout.arrays import Floats
from jointwise.plot import canvas
from jointwise.plot.canvas import DARK, GREY, MOVING, RANGE

# Names and colours of the axes of a frame. The names are drawn too: red and green look alike to
# some readers.
AXIS_COLORS = {"x": canvas.RED, "y": canvas.GREEN, "z": canvas.BLUE}
# In sizes of a joint: the distance at which the bodies of neighbours do not touch, and the distance
# below which they are moved apart.
SPACING, COINCIDENT = 0.65, 0.4
# The size of a joint is at least this share of that of a joint with space around it.
MIN_SHRINK = 0.5
# Sides of the prism that stands for a cylinder, and points of an arc.
CYLINDER_SIDES, ARC_POINTS = 18, 73
# Lines are above the panes and below all bodies, which Matplotlib sorts by depth.
LINE_ZORDER = 3.0
# Names of axes are above everything.
LABEL_ZORDER = 100.0
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
        size: Half the length of its drawn axis, and radius of the sector of its range [m].
        limits: (2,) lower and upper limit, relative to the present value [rad, m].
    """

    origin: Floats
    center: Floats
    axis: Floats
    normal: Floats
    prismatic: bool
    size: float
    limits: Floats


def joint_size(chain: Chain) -> float:
    """The size of a joint that has space around it [m]."""
    corners = chain.outline(chain.mid_range)
    total = float(np.linalg.norm(np.diff(corners, axis=0), axis=1).sum())
    return (total or 1.0) / (chain.n + 5)


def joint_geometry(chain: Chain, q: Floats) -> list[JointGeometry]:
    """Where each joint is drawn, and how large, so that neighbours do not hide one another."""
    frames, size = chain.joint_frames(q), joint_size(chain)
    origins, axes = frames[:, :3, 3], frames[:, :3, 2]
    previous = np.vstack([np.zeros(3), origins[:-1]])
    following = np.vstack([origins[1:], chain.fk(q)[:3, 3]])
    segments = np.where(chain.prismatic, -q, np.sum((previous - origins) * axes, axis=1))
    # In the middle of the outline's segment on the joint's axis.
    centers = origins + 0.5 * segments[:, None] * axes
    _move_apart(centers, axes, following[-1], size)
    gaps = np.linalg.norm(np.diff(centers, axis=0), axis=1)
    nearest = np.minimum(np.append(gaps, np.inf), np.insert(gaps, 0, np.inf))
    sizes = np.clip(nearest / SPACING, MIN_SHRINK * size, size)
    joints = []
    for i, prismatic in enumerate(chain.prismatic.tolist()):
        offset = following[i] - origins[i]
        offset = offset - (offset @ axes[i]) * axes[i]
        distance = float(np.linalg.norm(offset))
        normal = frames[i, :3, 0] if prismatic or distance < 0.1 * size else offset / distance
        place, limits = (origins[i], centers[i], axes[i], normal), chain.limits[i] - q[i]
        joints.append(JointGeometry(*place, prismatic, sizes[i], limits))
    return joints


def _move_apart(centers: Floats, axes: Floats, tip: Floats, size: float) -> None:
    """Move joints that coincide, as in a spherical wrist, apart along their axes.

    Of two, the first one moves back along the link before it if its axis lies along that link;
    otherwise, and if there are three or more, the last one moves forwards.

    Args:
        centers: (n, 3) where the joints are drawn [m]. Modified.
        axes: (n, 3) unit vectors.
        tip: (3,) position of the end effector [m].
        size: The size of a joint [m].
    """
    points = np.vstack([np.zeros(3), centers, tip])
    links = np.diff(points, axis=0)  # links[i] ends at joint i
    lengths = np.linalg.norm(links, axis=1)
    apart = np.flatnonzero(lengths[1:-1] >= COINCIDENT * size) + 1
    for group in np.split(np.arange(len(centers)), apart):
        first, last = group[0], group[-1]
        along = float(links[first] @ axes[first])
        rolls = abs(along) > 0.5 * lengths[first]
        if len(group) > 1 and rolls:
            back = min(SPACING * size, 0.5 * lengths[first])
            centers[first] -= np.copysign(back, along) * axes[first]
        if len(group) > 2 or (len(group) == 2 and not rolls):
            outgoing = float(links[last + 1] @ axes[last])
            sign = -1.0 if outgoing < -1e-9 * size else 1.0
            centers[last] += sign * SPACING * size * axes[last]


def draw_arm(
    ax: Any, chain: Chain, q: Floats, color: str, limits: bool, moving: int | None = None
) -> list[Any]:
    """Draw a whole arm: links, joints, base and end effector frame.

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
    artists: list[Any] = ax.plot(*chain.outline(q).T, color=color, lw=4, zorder=LINE_ZORDER)
    for i, joint in enumerate(joint_geometry(chain, q)):
        artists += draw_joint(ax, joint, MOVING if i == moving else DARK)
        if limits:
            artists += (_draw_travel if joint.prismatic else _draw_sector)(ax, joint)
    artists.append(draw_base(ax, joint_size(chain)))
    return artists + draw_frame(ax, chain.fk(q), joint_size(chain))


def draw_base(ax: Any, size: float) -> Any:
    """Draw the base of an arm with joints of a size [m] as a disc."""
    shape = 0.45 * size, 0.06 * size
    return _draw_prism(ax, np.zeros(3), np.eye(3), shape, CYLINDER_SIDES, GREY)


def draw_frame(ax: Any, pose: Floats, length: float) -> list[Any]:
    """Draw the axes of a frame (4, 4) as arrows of a length [m], with their names."""
    from matplotlib.patheffects import withStroke

    halo = withStroke(linewidth=2.5, foreground="white")
    artists: list[Any] = []
    for direction, (name, color) in zip(pose[:3, :3].T, AXIS_COLORS.items(), strict=True):
        start, end = pose[:3, 3], pose[:3, 3] + 1.25 * length * direction
        artists.append(
            ax.quiver(*start, *length * direction, color=color, lw=1.5, arrow_length_ratio=0.25)
        )
        style = {"color": color, "fontsize": "small", "ha": "center", "va": "center"}
        artists.append(ax.text(*end, name, zorder=LABEL_ZORDER, path_effects=[halo], **style))
    return artists


def draw_joint(ax: Any, joint: JointGeometry, color: str) -> list[Any]:
    """Draw a joint as a cylinder or a box, and its axis."""
    size = joint.size
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


def _draw_sector(ax: Any, joint: JointGeometry) -> list[Any]:
    """The range of a revolute joint, and its present value, as a sector with a hand."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    lower, upper = joint.limits
    if upper - lower >= 2.0 * np.pi:
        return []
    size, side = joint.size, np.cross(joint.axis, joint.normal)
    arc = _unit_circle(joint.normal, side, np.linspace(lower, upper, ARC_POINTS))
    corners = np.vstack([joint.center, joint.center + size * arc, joint.center])
    sector = Poly3DCollection([corners], facecolor=RANGE, edgecolor="none", alpha=0.15)
    sector.set_sort_zpos(BEHIND_BODIES)
    ax.add_collection3d(sector)
    (edge,) = ax.plot(*corners.T, color=RANGE, lw=0.8, zorder=LINE_ZORDER)
    hand = np.stack([joint.center, joint.center + size * joint.normal])
    return [sector, edge, *ax.plot(*hand.T, color=RANGE, lw=1.6, zorder=LINE_ZORDER)]


def _draw_travel(ax: Any, joint: JointGeometry) -> list[Any]:
    """The range of a prismatic joint, and its present value, as a scale beside it."""
    lower, upper = joint.limits
    if not np.isfinite(upper - lower):
        return []
    up = np.array([0.0, 0.0, 1.0]) - joint.axis[2] * joint.axis
    height = float(np.linalg.norm(up))
    offset = 0.5 * joint.size * (up / height if height > 0.1 else joint.normal)
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
