"""Other solutions of an arm in a 3D scene."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.layout.arrays import Floats
from jointwise.robot import Robot
from jointwise.view.graphics import shapes
from jointwise.view.graphics.model_drawing import model_parts
from jointwise.view.graphics.shapes import Color, Part
from jointwise.view.graphics.target_drawing import CENTRED
from jointwise.view.state.workspace import outline_points

if TYPE_CHECKING:
    import viser

SOLUTION_COLOR: Color = (86, 180, 233)
# Thickness of their links, relative to those of the arm.
THICKNESS = 0.9
# Places of the labels of solutions, as shares of the arm's length from its base. They differ
# because two solutions may look alike, for example with a flipped spherical wrist.
LABEL_SHARES = (0.5, 0.65, 0.35, 0.8, 0.42, 0.58, 0.72, 0.28)


class SolutionDrawing:
    """Translucent arms, each with a label, which can be clicked.

    Args:
        scene: The visitor's scene.
        model: The arm, or the robot with one arm.
        select: Called with the index of a solution that is clicked.
    """

    def __init__(
        self, scene: "viser.SceneApi", model: Chain | Robot, select: Callable[[int], None]
    ) -> None:
        self._scene, self._model, self._select = scene, model, select
        self._drawn: dict[int, tuple[Floats, Any]] = {}

    @cached_property
    def _parts(self) -> list[Part]:
        return thin_parts(self._model)

    def show(self, solutions: dict[int, Floats], label: Callable[[int], str]) -> None:
        """Draw solutions.

        Args:
            solutions: (n,) joint values [rad, m] by their index.
            label: The label of an index.
        """
        for index, (q, handle) in tuple(self._drawn.items()):
            if solutions.get(index) is not q:
                handle.remove()  # with its label
                del self._drawn[index]
        for index in solutions.keys() - self._drawn.keys():
            self._add(index, solutions[index], label(index))

    def _add(self, index: int, q: Floats, label: str) -> None:
        mesh = shapes.merge_parts(self._model, self._parts, q)
        handle = self._scene.add_mesh_simple(
            f"/solutions/{index}",
            mesh.vertices,
            mesh.faces,
            color=SOLUTION_COLOR,
            opacity=0.3,
            cast_shadow=False,
            receive_shadow=False,
        )
        handle.on_click(lambda _: self._select(index))
        share = LABEL_SHARES[index % len(LABEL_SHARES)]
        corners = outline_points(self._model, q, self._model.base_pose)[1:]
        position = point_along(corners, share)
        name = f"/solutions/{index}/label"
        self._scene.add_label(name, label, position=position, anchor=CENTRED)
        self._drawn[index] = q, handle


def thin_parts(model: Chain | Robot) -> list[Part]:
    """The moving parts of another configuration, so thin that the model hides them where it is."""
    thin = model_parts(model, THICKNESS)
    return [p for p in thin if p.joint >= 0 and p.role in ("link", "joint")]


def point_along(corners: Floats, share: float) -> Floats:
    """(3,) the point of a polyline (k, 3) at a share of its length from its beginning [m]."""
    lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    distances = np.concatenate([[0.0], np.cumsum(lengths)])
    return np.array([np.interp(share * distances[-1], distances, column) for column in corners.T])
