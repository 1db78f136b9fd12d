"""Arms in space: how one stands, and how it gets to a target."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jointwise.chain import Chain
from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Floats
from jointwise.model import checks
from jointwise.plot import canvas
from jointwise.plot.canvas import AFTER, BEFORE, BETWEEN, DARK, GREY, MOVING, RANGE, TARGET
from jointwise.solvers.targets import Target, pack_target

SIZE = 5.0, 4.6
# The axes of a frame: x, y, z.
XYZ = canvas.PURPLE, canvas.GREEN, canvas.BLUE
# Sides of what is round, and points on an arc.
SIDES, POINTS = 18, 73
# Above the panes, below all bodies, which Matplotlib sorts by their depth.
LINES = 3.0
# A height so far below that what is sorted by it is drawn behind all bodies [m].
BEHIND = -1e6
# Where the camera stands: above the floor, and to the side of where the arm reaches [°].
ABOVE, HIGH_ABOVE, ASIDE = 20.0, 45.0, 65.0
# How much of the axes is filled; the rest is for their labels.
FILLED = 0.74


class Place(NamedTuple):
    """Where a joint is drawn.

    Attributes:
        origin: (3,) of the frame it carries [m].
        centre: (3,) the point on its axis where it is drawn [m].
        axis: (3,) the direction of its axis.
        across: (3,) a direction across its axis: to what it carries, if that is off the axis.
        slides: Whether it slides.
    """

    origin: Floats
    centre: Floats
    axis: Floats
    across: Floats
    slides: bool


def arm(chain: Chain, q: ArrayLike, ax: Any = None, color: str = AFTER, limits: bool = True) -> Any:
    """Draw an arm as it stands: links, joints with their axes, limits, and the tip's frame.

    A joint that turns is a drum about its axis, one that slides a box. A sector shows where the
    limits let a joint swing what it carries, a rail how far they let it slide; a joint that can
    turn all the way round has neither. The tip's x, y and z are purple, green and blue.

    Args:
        chain: The arm.
        q: (n,) one value per joint [rad, m].
        ax: 3D axes to draw in. None: new ones, seen from where the arm shows its side.
        color: Of the links.
        limits: Whether to show the limits.

    Returns:
        The axes.

    Raises:
        InvalidInputError: Something does not fit; the text says what.
    """
    canvas.check_chain(chain)
    values = checks.all_finite("q", checks.joint_values("q", q, chain.n))
    space = canvas.axes_in_space(ax, SIZE)
    draw_arm(space, chain, values, color, limits)
    if ax is None:
        look(space, chain.fk(values)[:3, 3])
    furnish(space)
    return space


def motion(chain: Chain, configurations: ArrayLike, target: Target, ax: Any = None) -> Any:
    """Draw an arm on its way to a target: before, between, after.

    Args:
        chain: The arm.
        configurations: (k, n) joint values as the arm moves, from first to last [rad, m]; those
            of a trace are ``trace.joint_angles``.
        target: What it moves to, as for ``Chain.solve``.
        ax: 3D axes to draw in. None: new ones, as for ``arm``.

    Returns:
        The axes.

    Raises:
        InvalidInputError: Something does not fit; the text says what.
    """
    canvas.check_chain(chain)
    many = checks.configurations("configurations", configurations, chain.n)
    if many.ndim == 1 or len(many) < 2:
        raise InvalidInputError(
            f"configurations has shape {many.shape}: expected (k, {chain.n}), a first and a last."
        )
    checks.all_finite("configurations", many)
    asked = asked_of(chain, target)
    space = canvas.axes_in_space(ax, SIZE)
    first, *between, last = many
    space.plot(*chain.outline(first).T, color=BEFORE, lw=3, label="before")
    for i, q in enumerate(between):
        space.plot(*chain.outline(q).T, color=BETWEEN, lw=1, label="" if i else "between")
    draw_arm(space, chain, last, AFTER, limits=False)[0].set_label("after")
    draw_target(space, chain, asked)
    space.legend(loc="upper center", ncols=4, frameon=False, fontsize="small")
    if ax is None:
        look(space, chain.fk(last)[:3, 3])
    furnish(space)
    return space


def asked_of(chain: Chain, target: Target) -> Floats:
    """The target in numbers, checked: (1, 3) a position, (3, 3) an aim, (4, 4) a pose."""
    packed = pack_target(chain.arm, target)
    packed.kind.check(packed.values)
    return packed.values


def point_of(asked: Floats) -> Floats:
    """(3,) where a target wants the tip [m]."""
    point: Floats = asked[:3, 3] if asked.shape == (4, 4) else asked[0]
    return point


def size_of(chain: Chain) -> float:
    """A length that a joint may take up in a picture [m]."""
    corners = chain.outline(chain.home)
    total = float(np.linalg.norm(np.diff(corners, axis=0), axis=1).sum())
    return (total or 1.0) / (chain.n + 5)


def places(chain: Chain, q: Floats) -> list[Place]:
    """Where each joint is drawn: in the middle of the stretch the arm goes along its axis."""
    frames, size = chain.frames(q), size_of(chain)
    origins = frames[:, :3, 3]
    before = np.vstack([np.zeros(3), origins[:-1]])
    after = np.vstack([origins[1:], chain.fk(q)[:3, 3]])
    found = []
    for i, prismatic in enumerate(chain.prismatic):
        x, axis, origin = frames[i, :3, 0], frames[i, :3, 2], origins[i]
        slides = bool(prismatic)
        back = -q[i] if slides else (before[i] - origin) @ axis
        out = after[i] - origin
        out = out - (out @ axis) * axis
        length = float(np.linalg.norm(out))
        across = x if slides or length < 0.1 * size else out / length
        found.append(Place(origin, origin + 0.5 * back * axis, axis, across, slides))
    return found


def draw_arm(
    ax: Any, chain: Chain, q: Floats, color: str, limits: bool, moving: int | None = None
) -> list[Any]:
    """Everything of an arm; its artists, the line of its links first."""
    size, corners, tip = size_of(chain), chain.outline(q), chain.fk(q)
    artists: list[Any] = ax.plot(*corners.T, color=color, lw=4, zorder=LINES)
    for i, place in enumerate(places(chain, q)):
        artists += _joint(ax, place, size, MOVING if i == moving else DARK)
        if limits:
            lower, upper = chain.limits[i] - q[i]
            draw = _rail if place.slides else _sector
            artists += draw(ax, place, size, lower, upper)
    artists.append(_prism(ax, np.zeros(3), np.eye(3), (0.45 * size, 0.06 * size), SIDES, GREY))
    return artists + triad(ax, tip, size)


def _joint(ax: Any, place: Place, size: float, color: str) -> list[Any]:
    """A drum or a box, and the joint's axis."""
    ends = place.centre + np.outer([-size, size], place.axis)
    (line,) = ax.plot(*ends.T, color=color, lw=0.8, ls=(0, (6, 2, 1, 2)), zorder=0.9 * LINES)
    side = np.cross(place.axis, place.across)
    turned = np.stack([place.across, side, place.axis])
    sides, radius, half = (4, 0.32, 0.4) if place.slides else (SIDES, 0.22, 0.3)
    return [_prism(ax, place.centre, turned, (radius * size, half * size), sides, color), line]


def _prism(
    ax: Any, centre: Floats, axes: Floats, shape: tuple[float, float], sides: int, color: str
) -> Any:
    """A body of so many sides about its third axis; its shape is its radius and half height."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    (radius, half), turns = shape, np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    rim = centre + radius * _around(axes[0], axes[1], turns + np.pi / sides)
    low, high = rim - half * axes[2], rim + half * axes[2]
    walls = np.stack([low, np.roll(low, -1, 0), np.roll(high, -1, 0), high], axis=1)
    # A collection wants as many corners of every face: those of a wall are said again.
    walls = walls[:, np.arange(sides) * 4 // sides]
    body = Poly3DCollection(
        [low[::-1], high, *walls], facecolors=color, edgecolors=color, lw=0.5, shade=True
    )
    ax.add_collection3d(body)
    return body


def _sector(ax: Any, place: Place, size: float, lower: float, upper: float) -> list[Any]:
    """Where the limits let a joint swing what it carries; they are given from where it is."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    if upper - lower >= 2.0 * np.pi:
        return []
    side = np.cross(place.axis, place.across)
    arc = place.centre + size * _around(place.across, side, np.linspace(lower, upper, POINTS))
    corners = np.vstack([place.centre, arc, place.centre])
    sector = Poly3DCollection([corners], facecolor=RANGE, edgecolor="none", alpha=0.15)
    sector.set_sort_zpos(BEHIND)
    ax.add_collection3d(sector)
    (edge,) = ax.plot(*corners.T, color=RANGE, lw=0.8, zorder=LINES)
    hand = np.stack([place.centre, place.centre + size * place.across])
    return [sector, edge, *ax.plot(*hand.T, color=RANGE, lw=1.6, zorder=LINES)]


def _rail(ax: Any, place: Place, size: float, lower: float, upper: float) -> list[Any]:
    """Where the limits let a joint slide; they are given from where it is."""
    if not np.isfinite(upper - lower):
        return []
    up = np.array([0.0, 0.0, 1.0]) - place.axis[2] * place.axis
    height = float(np.linalg.norm(up))
    beside = 0.5 * size * (up / height if height > 0.1 else place.across)
    ends = place.origin + np.outer([lower, upper], place.axis) + beside
    artists: list[Any] = ax.plot(*ends.T, color=RANGE, lw=1.6, zorder=LINES)
    for middle, width in zip((*ends, place.origin + beside), (0.8, 0.8, 2.0), strict=True):
        tick = np.stack([middle - 0.4 * beside, middle + 0.4 * beside])
        artists += ax.plot(*tick.T, color=RANGE, lw=width, zorder=LINES)
    return artists


def _around(across: Floats, side: Floats, turns: Floats) -> Floats:
    """(k, 3) unit vectors turned from one to the other and on."""
    around: Floats = np.outer(np.cos(turns), across) + np.outer(np.sin(turns), side)
    return around


def triad(ax: Any, pose: Floats, length: float) -> list[Any]:
    """The axes of a frame as arrows: x purple, y green, z blue."""
    arrows = length * pose[:3, :3].T
    return [
        ax.quiver(*pose[:3, 3], *arrow, color=color, lw=1.5, arrow_length_ratio=0.25)
        for arrow, color in zip(arrows, XYZ, strict=True)
    ]


def draw_target(ax: Any, chain: Chain, asked: Floats) -> None:
    """A star where the tip should be, and how it should be turned."""
    point, size = point_of(asked), size_of(chain)
    star = {"color": TARGET, "ms": 15, "mec": "white", "label": "target", "zorder": 99}
    ax.plot(*point[:, None], "*", **star)
    if asked.shape == (4, 4):
        triad(ax, asked, 1.3 * size)
    elif asked.shape == (3, 3):
        way = 1.5 * size * asked[1]
        ax.quiver(*point, *way, color=TARGET, lw=1.5, arrow_length_ratio=0.25)


def look(ax: Any, tip: Floats) -> None:
    """Put the camera where the arm shows its side; a flat arm, where it shows its top."""
    wide, high = max(ax.xy_dataLim.size), ax.zz_dataLim.width
    above = ABOVE if high > 0.5 * wide else HIGH_ABOVE
    ax.view_init(above, np.degrees(np.arctan2(tip[1], tip[0])) - ASIDE)


def furnish(ax: Any) -> None:
    """Labels, and the same scale in all directions around all that is drawn."""
    ax.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    ends = np.array([ax.xy_dataLim.intervalx, ax.xy_dataLim.intervaly, ax.zz_dataLim.intervalx])
    middle, half = ends.mean(axis=1), 0.5 * np.ptp(ends, axis=1)
    half = 1.05 * np.maximum(half, 0.3 * half.max())  # a flat arm needs room, too
    for end, m, h in zip("xyz", middle, half, strict=True):
        ax.set(**{f"{end}lim": (m - h, m + h)})
        ax.locator_params(end, nbins=4 if h > 0.5 * half.max() else 2)
    ax.set_box_aspect(half, zoom=FILLED / _seen(half, *np.radians([ax.elev, ax.azim])))
    ax.tick_params(labelsize="small", pad=0)


def _seen(half: Floats, elevation: float, azimuth: float) -> float:
    """How wide or high a box is seen from there, as a share of its diagonal."""
    across = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    ahead = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    up = np.array([0.0, 0.0, np.cos(elevation)]) - np.sin(elevation) * ahead
    largest = max(float(np.abs(across) @ half), float(np.abs(up) @ half))
    return largest / float(np.linalg.norm(half))
