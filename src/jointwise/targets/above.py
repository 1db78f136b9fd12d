"""Above: a point should be above a polygon on the ground, at any height."""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats, Weights
from jointwise.kernels.layout.tree import CORNERS, IN_POLYGON
from jointwise.model import checks
from jointwise.targets.kind import AnyTarget, TargetKind
from jointwise.targets.target import Target, make_target

# The axes of the world, in which a polygon is.
AXES = np.eye(3).reshape(1, 9)
# Corners that are nearer to each other are merged [m]; smaller areas count as zero [m²].
SAME_CORNER, LEAST_AREA = 1e-9, 1e-9


class AboveKind(TargetKind):
    """(12, 2) the corners of a convex polygon, anticlockwise; the last one is repeated."""

    name, plural, directions, has_position = "above", "polygons to be above", 0, False
    packed_shape, form = (CORNERS, 2), IN_POLYGON

    def check(self, packed: Floats, name: str = "target") -> None:
        """Refuse numbers that are not finite."""
        checks.all_finite(name, packed)

    def point_weights(self, angular_scale: float) -> Weights:
        """The weights of a point."""
        return (1.0,)

    def target_points(self, packed: Floats) -> Floats:
        """The origin of the frame in which the polygons are."""
        return np.zeros((len(packed), 3))

    def target_axes(self, packed: Floats) -> Floats:
        """The axes of that frame, which are those of the world."""
        return AXES

    def region_numbers(self, packed: Floats) -> Floats:
        """Their corners."""
        return packed.reshape(len(packed), -1)

    def at_pose(self, T_base_target: Floats) -> AnyTarget:
        """A square of a decimetre around its origin."""
        square = 0.05 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
        return above(T_base_target[:2, 3] + square)

    def orientation_error(self, T_base_tip: Floats, T_base_target: Floats) -> Floats:
        """NaN: orientation is free."""
        return np.full(T_base_tip.shape[:-2], np.nan)

    def column_values(self, T_base_target: Floats) -> dict[str, list[float]]:
        """None."""
        return {}

    def describe(self, packed: Floats) -> dict[str, Floats]:
        """The middle of its corners."""
        return {"middle": np.unique(packed, axis=0).mean(axis=0)}


ABOVE = AboveKind()


def above(
    polygon: ArrayLike,
    margin: float = 0.0,
    *,
    weight: float = 1.0,
    point: ArrayLike | None = None,
) -> Target:
    """A target that keeps a point above a convex polygon on the ground, at any height.

    For balance, keep the centre of mass above the feet: ``{"center_of_mass": above(corners)}``. The
    error is the horizontal distance to the polygon, and 0 above it.

    Args:
        polygon: (k, 2) or (k, 3) corners [m], world frame; z is ignored. They may be in any order,
            and points inside their convex hull are ignored. (m, k, 2) or (m, k, 3) for many.
        margin: How far inside its edges the point should stay [m].
        weight: How much the target counts relative to others.
        point: (3,) the point of the link [m], link frame. None: its origin.

    Raises:
        InvalidInputError: The corners enclose no area, the margin leaves none of it, or the convex
            hull has more than 12 corners.

    Example:
        >>> from jointwise import Robot, above
        >>> tray = above([[0.3, 0.1], [0.5, 0.1], [0.5, 0.3], [0.3, 0.3]], margin=0.05)
        >>> result = Robot.load("panda").solve({"tip": tray})
        >>> result.converged
        True
    """
    if np.ndim(weight):
        raise InvalidInputError(f"weight is {weight!r}: expected a number for a polygon.")
    given = checks.all_finite("polygon", checks.floats("polygon", polygon))
    if given.ndim not in (2, 3) or given.shape[-1] not in (2, 3):
        raise InvalidInputError(
            f"polygon has shape {given.shape}: expected (k, 2) corners, or (m, k, 2) for many."
        )
    inside = checks.floats("margin", margin)
    if inside.shape or not 0.0 <= inside < np.inf:
        raise InvalidInputError(f"margin is {margin!r}: expected a distance of 0 or more [m].")
    polygons = given[None] if given.ndim == 2 else given
    rows = np.array([packed_polygon(each[:, :2], float(inside)) for each in polygons])
    values = rows.reshape(-1, CORNERS, 2) if given.ndim == 3 else rows[0]
    return make_target(ABOVE, values, weight, point)


def packed_polygon(points: Floats, margin: float) -> Floats:
    """(12, 2) the corners of the hull of points, inside a margin."""
    corners = convex_hull(points)
    if margin > 0.0 and len(corners) > 2:
        corners = inset(corners, margin)
    if len(corners) < 3 or area(corners) < LEAST_AREA:
        what = f"leaves nothing inside a margin of {margin:g} m" if margin else "has no area"
        raise InvalidInputError(f"polygon {what}: expected three corners or more around an area.")
    if len(corners) > CORNERS:
        raise InvalidInputError(
            f"polygon has {len(corners)} corners: expected {CORNERS} at most. Leave out some."
        )
    return np.vstack([corners, np.tile(corners[-1], (CORNERS - len(corners), 1))])


def convex_hull(points: Floats) -> Floats:
    """(c, 2) the corners of the hull, anticlockwise (Andrew's monotone chain)."""
    ordered = np.unique(points, axis=0)
    halves = []
    for side in (ordered, ordered[::-1]):
        half: list[Floats] = []
        for each in side:
            while len(half) > 1 and _turn(half[-2], half[-1], each) <= SAME_CORNER**2:
                half.pop()
            half.append(each)
        halves += half[:-1]
    return np.array(halves).reshape(-1, 2)


def inset(corners: Floats, margin: float) -> Floats:
    """(c, 2) the part of a convex polygon at a distance from all its edges; may be empty."""
    left = corners
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        along = (end - start) / np.linalg.norm(end - start)
        inward = np.array([-along[1], along[0]])
        depths = (left - start) @ inward - margin
        kept: list[Floats] = []
        for i, depth in enumerate(depths):
            after = (i + 1) % len(left)
            if depth >= 0.0:
                kept.append(left[i])
            if depth * depths[after] < 0.0:
                share = depth / (depth - depths[after])
                kept.append(left[i] + share * (left[after] - left[i]))
        left = np.array(kept).reshape(-1, 2)
        if len(left) < 3:
            break
    return left


def area(corners: Floats) -> float:
    """The area of a polygon [m²]."""
    x, y = corners.T
    return 0.5 * float(np.abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)))


def _turn(a: Floats, b: Floats, c: Floats) -> float:
    """Positive if c is to the left of the line from a to b."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
