"""Where a camera must be to see a set of points."""

import numpy as np

from jointwise.kernels.shapes import Floats

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
