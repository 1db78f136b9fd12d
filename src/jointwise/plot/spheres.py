"""The spheres of an arm in 3D axes."""

from typing import Any

import numpy as np

from jointwise.chain import Chain
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.plot.canvas import GREY
from jointwise.shape.solids.mesh import convex_hull

# Points on a drawn sphere.
POINTS = 60
OPACITY = 0.12


def draw_spheres(ax: Any, chain: Chain, q: Floats) -> Any:
    """Draw the spheres of an arm, translucent.

    Args:
        ax: 3D axes.
        chain: The arm.
        q: (n,) joint values [rad, m], checked.

    Returns:
        The collection of all triangles.

    Raises:
        InvalidInputError: The arm has no geometry.
    """
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    if chain.geometry is None:
        raise InvalidInputError(
            "the arm has no shape yet, so it has no spheres: expected one, such as "
            "arm.with_geometry() or arm.with_scene()."
        )
    heights = np.linspace(-1.0, 1.0, POINTS)  # a Fibonacci lattice
    angles = np.arange(POINTS) * np.pi * (3.0 - np.sqrt(5.0))
    around = np.sqrt(1.0 - heights**2)
    unit = convex_hull(np.stack([around * np.cos(angles), around * np.sin(angles), heights], 1))
    spheres = chain.geometry.spheres(q)
    triangles = unit.vertices[unit.faces] * spheres[:, None, None, 3:] + spheres[:, None, None, :3]
    flat = triangles.reshape(-1, 3, 3)
    drawn = Poly3DCollection(flat, facecolors=GREY, alpha=OPACITY, shade=True)
    ax.add_collection3d(drawn)
    ax.auto_scale_xyz(*flat.reshape(-1, 3).T)
    return drawn
