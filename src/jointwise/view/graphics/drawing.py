"""The 3D scene of a visitor: the model, its targets, solutions, a plan, a path, obstacles."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from jointwise.view.graphics.camera import show_points, visible_part
from jointwise.view.graphics.floor import add_floor, sink_floor
from jointwise.view.graphics.meshes import Mesh
from jointwise.view.graphics.model_drawing import ModelDrawing
from jointwise.view.graphics.obstacle_drawing import ObstacleDrawing
from jointwise.view.graphics.path_drawing import PathDrawing
from jointwise.view.graphics.plan_drawing import PlanDrawing
from jointwise.view.graphics.solution_drawing import SolutionDrawing
from jointwise.view.graphics.target_drawing import TargetDrawing
from jointwise.view.session import Session
from jointwise.view.state.workspace import drawing_size

if TYPE_CHECKING:
    import viser


class Drawing:
    """A session in one visitor's scene.

    Args:
        client: The visitor's connection.
        session: The session to draw.
        meshes: From ``meshes.load_meshes``; empty to draw a skin or rods.
        link_clicked: Called with the name of a link of a robot that is clicked.
        target_dragged: Called with the name of a link whose target is dragged.
        solution_clicked: Called with the index of a solution that is clicked.

    Attributes:
        model: The arm or robot.
        targets: Its targets, which the visitor drags.
        obstacles: The obstacles, of which the visitor drags the selected one.
        plan: The plan that is shown.
        floor: The grid below.
    """

    def __init__(
        self,
        client: "viser.ClientHandle",
        session: Session,
        meshes: Sequence[Mesh],
        link_clicked: Callable[[str], None],
        target_dragged: Callable[[str], None],
        solution_clicked: Callable[[int], None],
    ) -> None:
        self._client, self._session, scene = client, session, client.scene
        size = drawing_size(session.model)
        self.model = ModelDrawing(scene, session.model, meshes, link_clicked)
        self.floor = add_floor(scene, size, np.array([0.0, 0.0, self._lowest_point()]))
        self.targets = TargetDrawing(scene, session.model, target_dragged)
        self.obstacles = ObstacleDrawing(scene, size)
        self._solutions = SolutionDrawing(scene, session.model, solution_clicked)
        self.plan = PlanDrawing(scene, session.model)
        self._path = PathDrawing(scene)

    def show(self, with_handles: bool) -> None:
        """Draw the session; handles keep their poses while the visitor drags one.

        The floor sinks if something would go through it. ``fit_view`` raises it again.
        """
        session = self._session
        self.model.show(session.q, session.base_pose, session.moved_joint)
        sink_floor(self.floor, self._lowest_point())
        self.targets.show(session.targets, with_handles)
        self._solutions.show(session.other_solutions, session.solution_label)
        self.plan.show(session.live_plan)
        self._path.show(session.shown_path)
        if session.obstacles is not None and session.clearance is not None:
            self.obstacles.show(session.obstacles, session.clearance, with_handles)
            self.model.spheres.show_colliding(session.model, session.clearance.link_groups)
            sink_floor(self.floor, float(session.obstacles.points()[:, 2].min(initial=np.inf)))

    def show_spheres(self, visible: bool) -> None:
        """Show or hide the spheres of the model's shape."""
        self.model.spheres.show(self._session.model, visible)

    def fit_view(self, first: bool = False) -> None:
        """Put the floor below the model, and show everything.

        Args:
            first: Whether the visitor is new; otherwise the camera keeps its direction.
        """
        self.floor.position = (0.0, 0.0, self._lowest_point())
        session, camera = self._session, self._client.camera
        drawn = self.model.points(session.q, session.base_pose)
        points = np.concatenate([session.points(), drawn])
        part = visible_part(camera.image_width, camera.aspect)
        show_points(camera, points, part, first)

    def _lowest_point(self) -> float:
        return self.model.lowest_point(self._session.q, self._session.base_pose)
