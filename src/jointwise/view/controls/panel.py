"""The controls of a visitor. Which parts there are depends on what the model can do."""

from typing import TYPE_CHECKING

from jointwise.view.controls.actions import Actions, Controls
from jointwise.view.controls.ccd_controls import CCDControls, SolutionControls
from jointwise.view.controls.joint_sliders import JointSliders
from jointwise.view.controls.obstacle_controls import ObstacleControls
from jointwise.view.controls.page_controls import PageControls
from jointwise.view.controls.path_controls import PathControls
from jointwise.view.controls.plan_controls import PlanControls
from jointwise.view.controls.target_controls import TargetControls
from jointwise.view.controls.tracking_controls import TrackingControls
from jointwise.view.graphics.camera import LEFT_WIDTH, RIGHT_WIDTH
from jointwise.view.session import Session

if TYPE_CHECKING:
    import viser


class Panel:
    """The controls of one visitor: targets and joints on the right, all else on the left.

    Args:
        gui: The visitor's GUI.
        session: The session to show.
        actions: Actions that the controls request.
    """

    def __init__(self, gui: "viser.GuiApi", session: Session, actions: Actions) -> None:
        self._asked = asked = gui, session, actions
        self._parts: list[Controls] = [PageControls(*asked), TargetControls(*asked)]
        self._parts.append(JointSliders(*asked))
        self._left = left = gui.add_panel()
        self._plans = False
        if session.obstacles is not None:
            tabs = [self._add_obstacles, self._add_plan]
            for add_tab in tabs if session.live_plan is None else tabs[::-1]:  # the first one opens
                add_tab()
        with left.add_tab("Path"):
            if session.lists_solutions:
                self._parts.append(SolutionControls(*asked))
            self._path = PathControls(*asked)
        with left.add_tab("Tracking"):
            self._parts += [self._path, TrackingControls(*asked)]
        if session.obstacles is None and session.has_shape:
            self._add_obstacles()
        if session.arm is not None:
            with left.add_tab("CCD"):
                self._parts.append(CCDControls(*asked))
        gui.main_panel.dock_right()
        gui.main_panel.set_width(RIGHT_WIDTH)
        left.dock_left()
        left.set_width(LEFT_WIDTH)

    @property
    def records_drag(self) -> bool:
        """Whether targets are recorded while one is dragged."""
        return self._path.records_drag

    def _add_obstacles(self) -> None:
        with self._left.add_tab("Obstacles"):
            self._parts.append(ObstacleControls(*self._asked))

    def _add_plan(self) -> None:
        with self._left.add_tab("Plan"):
            self._parts.append(PlanControls(*self._asked))
        self._plans = True

    def refresh(self) -> None:
        """Show the current state of the session; with a scene, also plans."""
        if self._asked[1].obstacles is not None and not self._plans:
            self._add_plan()
        for part in self._parts:
            part.refresh()
