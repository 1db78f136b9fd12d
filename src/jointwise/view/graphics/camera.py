"""Where a camera must be to see a set of points."""

from typing import TYPE_CHECKING

import numpy as np

from jointwise.kernels.layout.arrays import Floats

if TYPE_CHECKING:
    import viser

# Vertical field of view [rad], and the first direction from what is seen to the camera.
FIELD_OF_VIEW = float(np.radians(45.0))
FIRST_DIRECTION = np.array([0.72, -0.62, 0.35])
# Radius of what must be visible, relative to that of the points.
MARGIN = 1.2


def frame_points(
    points: Floats, direction: Floats, fov: float = FIELD_OF_VIEW, aspect: float = 1.0
) -> tuple[Floats, Floats]:
    """(3,) the point to look at and (3,) a position from which the camera sees all points [m].

    Args:
        points: (k, 3) what must be visible [m].
        direction: (3,) from what is seen to the camera; its length does not matter.
        fov: Vertical field of view [rad].
        aspect: Width of the picture divided by its height.
    """
    centre = 0.5 * (points.min(axis=0) + points.max(axis=0))
    radius = MARGIN * float(np.linalg.norm(points - centre, axis=1).max())
    half = min(0.5 * fov, float(np.arctan(aspect * np.tan(0.5 * fov))))
    distance = radius / np.sin(half)
    return centre, centre + distance * direction / np.linalg.norm(direction)


def set_up_scene(
    server: "viser.ViserServer",
    size: float,
    points: Floats,
    direction: Floats = FIRST_DIRECTION,
) -> None:
    """Add what all visitors share: the base frame, and the initial camera.

    Args:
        server: The server of the page.
        size: Length that sets the scale of drawings [m].
        points: (k, 3) what the camera sees at first [m].
        direction: (3,) from there to the camera.
    """
    server.scene.add_frame(
        "/base", axes_length=0.12 * size, axes_radius=0.004 * size, origin_radius=0.006 * size
    )
    look_at, position = frame_points(points, direction)
    server.initial_camera.look_at, server.initial_camera.position = look_at, position
    server.initial_camera.fov = FIELD_OF_VIEW
    server.initial_camera.near, server.initial_camera.far = 1e-3 * size, 1e3 * size


def show_points(handle: "viser.CameraHandle", points: Floats) -> None:
    """Move a visitor's camera until it sees all points (k, 3) [m], in its current direction."""
    direction = handle.position - handle.look_at
    look_at, position = frame_points(points, direction, handle.fov, handle.aspect)
    handle.position = position  # moves the point to look at, too: so that comes after
    handle.look_at = look_at
