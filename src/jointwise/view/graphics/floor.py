"""The grid below a model."""

from typing import TYPE_CHECKING

import numpy as np

from jointwise.kernels.layout.arrays import Floats

if TYPE_CHECKING:
    import viser


def add_floor(scene: "viser.SceneApi", size: float, centre: Floats) -> "viser.GridHandle":
    """A grid, with lines at round distances, as wide as the model reaches.

    Args:
        scene: The scene.
        size: Length that sets the scale of drawings [m].
        centre: (3,) its middle [m].
    """
    spacing = float(10.0 ** np.floor(np.log10(size)))
    spacing = spacing if size / spacing > 2.5 else spacing / 2.0
    return scene.add_grid(
        "/floor",
        2.4 * size,
        2.4 * size,
        cell_size=spacing / 5.0,
        section_size=spacing,
        cell_color=(232, 235, 238),
        section_color=(205, 210, 216),
        cell_thickness=0.7,
        shadow_opacity=0.08,
        position=centre,
    )


def sink_floor(floor: "viser.GridHandle", lowest: float) -> None:
    """Lower the floor to the lowest point of the drawing [m], if that is below it."""
    if lowest < floor.position[2]:
        floor.position = (0.0, 0.0, lowest)
