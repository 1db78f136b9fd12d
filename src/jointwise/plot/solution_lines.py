"""Several solutions in 3D axes: a few with the bodies of their joints, many as thin lines."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointwise.chain import Chain
from jointwise.kernels.layout.arrays import Floats
from jointwise.plot import canvas
from jointwise.plot.arm3d import (
    LABEL_ZORDER,
    JointGeometry,
    draw_joint,
    joint_geometry,
    joint_size,
)
from jointwise.plot.canvas import DARK, SERIES

# Line widths of the first and the last of several solutions, and of each of many.
WIDEST, NARROWEST, THIN = 5.0, 2.0, 1.5
# More solutions than this are drawn as thin lines with numbers.
MANY = len(SERIES)
# Colours of many solutions: a map of Matplotlib, and the part of it that is dark enough.
COLOR_MAP, COLOR_RANGE = "turbo", (0.02, 0.92)
# Joints that are closer than this share of their size are at the same place.
SAME_PLACE = 0.1
# Numbers that are farther apart do not hide one another, in units of the projection, in which the
# drawing is about 0.1 wide.
NUMBER_SPACING = 0.008
# Cosine of the angle between axes that count as the same.
COS_SAME_AXIS = 0.999


def draw_few(ax: Any, chain: Chain, values: Floats) -> bool:
    """Draw (k, n) solutions with the bodies of their joints; return whether they share some."""
    arms = [joint_geometry(chain, q) for q in values]
    shared = _shared_joints(arms, SAME_PLACE * joint_size(chain))
    widths = np.linspace(WIDEST, NARROWEST, len(values))
    for i, (q, joints, color) in enumerate(zip(values, arms, SERIES, strict=False)):
        ax.plot(*chain.outline(q).T, color=color, lw=widths[i], label=f"solution {i + 1}")
        for joint, is_shared in zip(joints, shared[i], strict=True):
            draw_joint(ax, joint, DARK if is_shared else color)
    return bool(shared.any())


def draw_many(ax: Any, chain: Chain, values: Floats) -> bool:
    """Draw (k, n) solutions as lines with numbers; return whether all of them share a joint."""
    shades = np.linspace(*COLOR_RANGE, len(values))
    colors = canvas.matplotlib().colormaps[COLOR_MAP](shades)
    for i, (q, color) in enumerate(zip(values, colors, strict=True)):
        ax.plot(*chain.outline(q).T, ".-", color=color, lw=THIN, ms=3.0 * THIN, label=f"{i + 1}")
    first, *others = (joint_geometry(chain, q) for q in values)
    shared = [
        joint
        for i, joint in enumerate(first)
        if all(_coincide(joint, other[i], SAME_PLACE * joint_size(chain)) for other in others)
    ]
    for joint in shared:
        draw_joint(ax, joint, DARK)
    return bool(shared)


def number_lines(ax: Any, lines: Sequence[Any]) -> None:
    """Write the label of each line on it, where it is far from the others on the screen.

    Args:
        ax: 3D axes, with the final view.
        lines: Lines in them, with a number as label.
    """
    from mpl_toolkits.mplot3d import proj3d

    outlines = [_subdivide(np.array(line.get_data_3d()).T) for line in lines]
    on_screen = [
        np.stack(proj3d.proj_transform(*outline.T, ax.get_proj())[:2], axis=1)
        for outline in outlines
    ]
    places: list[Floats] = []
    for i, line in enumerate(lines):
        points, others = on_screen[i], np.vstack([*on_screen[:i], *on_screen[i + 1 :]])
        scores = np.linalg.norm(points[:, None] - others, axis=-1).min(axis=1)
        if places:  # a hidden number is worse than one on another line
            gaps = np.linalg.norm(points[:, None] - np.array(places), axis=-1).min(axis=1)
            scores = np.minimum(NUMBER_SPACING, gaps) + scores
        best = int(scores.argmax())
        places.append(points[best])
        _draw_number(ax, outlines[i][best], line.get_label(), line.get_color())


def _subdivide(corners: Floats) -> Floats:
    """(m, 3) points along an outline (k, 3), without its ends."""
    shares = np.linspace(0.0, 1.0, 9)[1:, None]
    points = [start + shares * (end - start) for start, end in itertools.pairwise(corners)]
    inner: Floats = np.vstack(points)[:-1]
    return inner


def _draw_number(ax: Any, point: Floats, number: str, color: Any) -> Any:
    """Draw a number in a disc with a coloured edge at a point (3,) [m], above everything."""
    disc = {"boxstyle": "circle,pad=0.15", "fc": "white", "ec": color, "lw": 1.2}
    style = {"color": DARK, "fontsize": 6.0, "ha": "center", "va": "center"}
    return ax.text(*point, number, bbox=disc, zorder=LABEL_ZORDER, **style)


def _coincide(joint: JointGeometry, other: JointGeometry, tolerance: float) -> bool:
    """Whether two joints have the same axis and, by a tolerance [m], the same place."""
    is_near = np.linalg.norm(joint.center - other.center) < tolerance
    return bool(is_near and abs(joint.axis @ other.axis) > COS_SAME_AXIS)


def _shared_joints(arms: list[list[JointGeometry]], tolerance: float) -> NDArray[np.bool_]:
    """(k, n) whether another of k arms has the same joint at the same place, by a tolerance [m]."""
    centers = np.array([[joint.center for joint in joints] for joints in arms])
    distances = np.linalg.norm(centers[:, None] - centers, axis=-1)
    shared: NDArray[np.bool_] = (distances < tolerance).sum(axis=1) > 1
    return shared
