"""A plan in a 3D scene: the paths of links, and the model at the start."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from jointwise.chain import Chain
from jointwise.robot import Robot
from jointwise.view.graphics import shapes
from jointwise.view.graphics.shapes import Color, Part
from jointwise.view.graphics.solution_drawing import thin_parts
from jointwise.view.state.live_plan import Configuration, LivePlan, Planned

if TYPE_CHECKING:
    import viser

# A colour from the palette of Okabe and Ito.
PATH_COLOR: Color = (204, 121, 167)
START_OPACITY = 0.35
# Width of a path [px].
WIDTH = 5.0


class PlanDrawing:
    """A line for each link with a target, and the model at the start of the plan, translucent.

    Args:
        scene: The visitor's scene.
        model: The arm or robot.
    """

    def __init__(self, scene: "viser.SceneApi", model: Chain | Robot) -> None:
        self._scene, self._model = scene, model
        self._planned: Planned | None = None
        self._start: Configuration | None = None
        self._lines: list[Any] = []
        self._ghost: Any = None

    @cached_property
    def _parts(self) -> list[Part]:
        return thin_parts(self._model)

    def show(self, live: LivePlan | None) -> None:
        """Draw the latest plan; nothing without one, or if no path was found."""
        planned = None if live is None else live.planned
        if planned is self._planned:
            return
        self._planned = planned
        lines = [] if planned is None else planned.lines()
        for line in self._lines[len(lines) :]:
            line.remove()
        self._lines = [
            self._scene.add_line_segments(
                f"/plan/{number}",
                np.stack([points[:-1], points[1:]], axis=1),
                PATH_COLOR,
                thickness=WIDTH,
                thickness_units="screen",
            )
            for number, points in enumerate(lines)
        ]
        self._show_start(planned if lines else None)

    def _show_start(self, planned: Planned | None) -> None:
        """Draw the model at the start; it stays while plans from there are updated."""
        start = None if planned is None else planned.request.start
        if start is self._start:
            return
        self._start = start
        if self._ghost is not None:
            self._ghost.remove()
            self._ghost = None
        if planned is not None:
            mesh = shapes.merge_parts(planned.request.model, self._parts, planned.request.start.q)
            self._ghost = self._scene.add_mesh_simple(
                "/plan/start",
                mesh.vertices,
                mesh.faces,
                color=PATH_COLOR,
                opacity=START_OPACITY,
                cast_shadow=False,
                receive_shadow=False,
            )
