"""A visitor of the page of a robot."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from jointwise.robot import Robot
from jointwise.view import meshes
from jointwise.view.robot_drawing import RobotDrawing
from jointwise.view.robot_panel import RobotPanel
from jointwise.view.robot_session import RobotSession
from jointwise.view.visitor import Visitor

if TYPE_CHECKING:
    import viser


class RobotVisitor(Visitor):
    """One visitor's robot and its targets.

    Args:
        client: The visitor's connection.
        robot: The robot.
        name: Its name on the page.
        meshes: By link, from ``meshes.load_link_meshes``.
        note: First message; that of the session if empty.

    Attributes:
        session: The visitor's robot and its targets.
        drawing: Both in the scene.
    """

    load_meshes = staticmethod(meshes.load_link_meshes)
    first_session = staticmethod(RobotSession)

    def __init__(
        self,
        client: "viser.ClientHandle",
        robot: Robot,
        name: str,
        meshes: Mapping[str, meshes.Mesh],
        note: str = "",
    ) -> None:
        super().__init__(client)
        self.session: RobotSession = RobotSession(robot)
        with client.atomic():
            self.drawing = RobotDrawing(client, robot, meshes, self._clicked, self._dragged)
            self._panel: RobotPanel = RobotPanel(client.gui, self.session, self)
            self._start(note)

    def _clicked(self, link: str) -> None:
        self.apply(partial(self.session.toggle_target, link))

    def _dragged(self, link: str) -> None:
        def follow() -> None:
            if link in self.drawing.gizmos:  # it may have been removed in the meantime
                self.session.move_link_target(link, self.drawing.gizmos[link].pose())

        self.apply(follow, ("target", link), draw_targets=False)

    def _fit_view(self) -> None:
        session = self.session
        self.drawing.fit_view(session.q, session.base, session.points())

    def _draw(self, with_targets: bool) -> None:
        session = self.session
        self.drawing.show_robot(session.q, session.base)
        self.drawing.show_targets(session.targets, with_targets)
