"""A path of targets in a 3D scene, coloured by what limits it."""

from typing import TYPE_CHECKING, Any

import numpy as np

from jointwise.view.graphics.shapes import Color
from jointwise.view.state.shown_path import Binding, ShownPath

if TYPE_CHECKING:
    import viser

# Colours from the palette of Okabe and Ito.
COLORS: dict[Binding, Color] = {
    Binding.NOTHING: (0, 158, 115),
    Binding.JOINT_LIMIT: (230, 159, 0),
    Binding.OBSTACLE: (86, 180, 233),
    Binding.BREAK: (213, 94, 0),
}
MEANINGS: dict[Binding, str] = {
    Binding.NOTHING: "free",
    Binding.JOINT_LIMIT: "near a joint limit",
    Binding.OBSTACLE: "near an obstacle",
    Binding.BREAK: "break, miss or collision",
}
# viser takes the colours of segments as linear, and draws them lighter.
GAMMA = 2.2
# Width of a path [px], width of each of many, and the number of links above which there are many.
WIDTH, THIN, MANY = 6.0, 2.0, 4


class PathDrawing:
    """A line for each link with a target, through the targets.

    Args:
        scene: The visitor's scene.
    """

    def __init__(self, scene: "viser.SceneApi") -> None:
        self._scene = scene
        self._shown: ShownPath | None = None
        self._lines: list[Any] = []

    def show(self, shown: ShownPath | None) -> None:
        """Draw a path; nothing for None."""
        if shown is self._shown:
            return
        self._shown = shown
        for line in self._lines:
            line.remove()
        self._lines = []
        if shown is None or len(shown) < 2:
            return
        worst = shown.bindings()
        palette = np.array([COLORS[each] for each in Binding]) / 255.0
        palette = np.rint(255.0 * palette**GAMMA).astype(np.uint8)
        colors = palette[np.maximum(worst[:-1], worst[1:])]
        paths = shown.points()
        width = WIDTH if len(paths) <= MANY else THIN
        for number, points in enumerate(paths):
            known = np.isfinite(points[:-1] + points[1:]).all(axis=1)
            self._lines.append(
                self._scene.add_line_segments(
                    f"/path/{number}",
                    np.stack([points[:-1], points[1:]], axis=1)[known].astype(np.float32),
                    np.repeat(colors[known][:, None], 2, axis=1),
                    thickness=width,
                    thickness_units="screen",
                )
            )
