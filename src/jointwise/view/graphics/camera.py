"""Camera positions from which a set of points is visible."""

from typing import TYPE_CHECKING

import numpy as np

from jointwise.kernels.layout.arrays import Floats

if TYPE_CHECKING:
    import viser

# The part that panels leave visible, in shares of the picture: left, right, top and bottom.
Part = tuple[float, float, float, float]
ALL: Part = (0.0, 1.0, 0.0, 1.0)
# Upright pictures that are narrower [px] have one panel, at the bottom, which covers this share of
# the height. A narrow picture that is not upright is the rest of a wide one beside docked panels.
NARROW, UPRIGHT, COVERED_BELOW = 576, 0.75, 0.42
# Widths of the panels of wider pictures [px], left and right.
LEFT_WIDTH, RIGHT_WIDTH = 330, 340
# Smallest visible share of the width: in narrower pictures, panels are made smaller.
MIN_WIDTH = 0.25
# Vertical field of view [rad], and the first direction from the points to the camera.
FIELD_OF_VIEW = float(np.radians(45.0))
FIRST_DIRECTION = np.array([0.72, -0.62, 0.35])
# Radius of the visible region, relative to that of the points.
MARGIN = 1.2


def frame_points(
    points: Floats,
    direction: Floats,
    fov: float = FIELD_OF_VIEW,
    aspect: float = 1.0,
    part: Part = ALL,
) -> tuple[Floats, Floats]:
    """(3,) the point to look at and (3,) a position from which the camera sees all points [m].

    Args:
        points: (k, 3) points that must be visible [m].
        direction: (3,) from the points to the camera, of any length.
        fov: Vertical field of view [rad].
        aspect: Width of the picture divided by its height.
        part: The part of the picture in which the points are shown.
    """
    left, right, top, bottom = part
    high = np.tan(0.5 * fov)
    wide = aspect * high
    centre = 0.5 * (points.min(axis=0) + points.max(axis=0))
    radius = MARGIN * float(np.linalg.norm(points - centre, axis=1).max())
    distance = radius / np.sin(np.arctan(min((bottom - top) * high, (right - left) * wide)))
    backward = direction / np.linalg.norm(direction)
    sideways = np.cross([0.0, 0.0, 1.0], backward)
    sideways /= max(float(np.linalg.norm(sideways)), 1e-9)
    upward = np.cross(backward, sideways)
    # To show the centre in the middle of the part, the camera moves the other way.
    centre = centre - distance * (left + right - 1.0) * wide * sideways
    centre -= distance * (1.0 - top - bottom) * high * upward
    return centre, centre + distance * backward


def visible_part(width: float, aspect: float) -> Part:
    """The part of a picture that the panels of a visitor leave visible.

    Args:
        width: Width of the picture [px].
        aspect: Its width divided by its height.
    """
    if width < NARROW and aspect < UPRIGHT:
        return (0.0, 1.0, 0.0, 1.0 - COVERED_BELOW)
    left, right = LEFT_WIDTH / width, 1.0 - RIGHT_WIDTH / width
    return (left, right, 0.0, 1.0) if right - left > MIN_WIDTH else ALL


def set_up_scene(
    server: "viser.ViserServer",
    size: float,
    points: Floats,
    direction: Floats = FIRST_DIRECTION,
) -> None:
    """Add the parts that all visitors share: the base frame, and the initial camera.

    Args:
        server: The server of the page.
        size: Length that sets the scale of drawings [m].
        points: (k, 3) points that the camera shows at first [m].
        direction: (3,) from there to the camera.
    """
    server.scene.add_frame(
        "/base", axes_length=0.12 * size, axes_radius=0.004 * size, origin_radius=0.006 * size
    )
    look_at, position = frame_points(points, direction)
    server.initial_camera.look_at, server.initial_camera.position = look_at, position
    server.initial_camera.fov = FIELD_OF_VIEW
    server.initial_camera.near, server.initial_camera.far = 1e-3 * size, 1e3 * size


def show_points(
    handle: "viser.CameraHandle", points: Floats, part: Part = ALL, first: bool = False
) -> None:
    """Move a visitor's camera until it sees all points (k, 3) [m].

    Args:
        handle: The camera.
        points: The points that must be visible.
        part: The part of the picture in which they are shown.
        first: Whether to look in the first direction. The camera of a new visitor may still be
            that of viser, so its own direction and field of view do not count then.
    """
    direction, fov = handle.position - handle.look_at, handle.fov
    if first:
        direction, fov = FIRST_DIRECTION, FIELD_OF_VIEW
    look_at, position = frame_points(points, direction, fov, handle.aspect, part)
    handle.position = position  # also moves the point to look at, which is therefore set afterwards
    handle.look_at = look_at
