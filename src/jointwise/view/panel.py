"""The controls of a visitor, and the status above them."""

from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from math import isnan
from typing import TYPE_CHECKING, Protocol

from jointwise.view.buttons import add_button, add_buttons
from jointwise.view.error_plot import ErrorPlot
from jointwise.view.joint_sliders import JointSliders
from jointwise.view.obstacle_controls import ObstacleActions, ObstacleControls, clearance_lines
from jointwise.view.page_controls import PageControls
from jointwise.view.server import html
from jointwise.view.session import MAX_SOLUTIONS, Session
from jointwise.view.target_controls import TargetControls
from jointwise.view.units import format_angle, format_si
from jointwise.view.velocity_plot import VelocityPlot

if TYPE_CHECKING:
    import viser

# Width of the two panels [px].
LEFT_WIDTH, RIGHT_WIDTH = 300, 340
# Steps per second of a path that is played.
PATH_RATE = 30.0

Animation = Callable[[], Iterator[None]]


class Actions(ObstacleActions, Protocol):
    """What the controls ask for; ``ArmVisitor`` does it."""

    def play(self, animation: Animation, rate: Callable[[], float]) -> None:
        """Play an animation of the session at a rate [1/s], or pause it."""

    def save(self) -> None:
        """Download the recorded path."""


class Panel:
    """The controls of one visitor: target and joints on the right, CCD and paths on the left.

    Args:
        gui: The visitor's GUI.
        session: What is shown.
        actions: What the controls ask for.
    """

    def __init__(self, gui: "viser.GuiApi", session: Session, actions: Actions) -> None:
        self._gui, self._session, self._actions = gui, session, actions
        self._apply = actions.apply
        self._page = PageControls(gui, session, actions, "Show the whole arm and the target.")
        self._target = TargetControls(gui, session, actions.apply)
        self._joints = JointSliders(gui, session, actions.apply)
        left = gui.add_panel()
        self._obstacles: ObstacleControls | None = None
        if session.obstacles is not None:
            with left.add_tab("Obstacles"):
                self._obstacles = ObstacleControls(gui, session, session.obstacles, actions)
        with left.add_tab("CCD step by step"):
            self._add_ccd()
            with gui.add_folder("Solutions"):
                self._add_solutions()
            with gui.add_folder("Recorded path"):
                self._add_path()
        with left.add_tab("Tracking"):
            self._add_tracking()
        gui.main_panel.dock_right()
        gui.main_panel.set_width(RIGHT_WIDTH)
        left.dock_left()
        left.set_width(LEFT_WIDTH)

    @property
    def records_drag(self) -> bool:
        """Whether targets are recorded while the target is dragged."""
        return bool(self._records_drag.value)

    def _add_ccd(self) -> None:
        gui, session = self._gui, self._session
        add_buttons(
            gui,
            "Manual",
            {
                "Step joint": partial(self._apply, session.step_joint),
                "Step sweep": partial(self._apply, session.step_sweep),
            },
        )
        play = partial(self._actions.play, session.play_ccd, self._ccd_rate)
        reset = partial(self._apply, session.reset_ccd)
        add_buttons(self._gui, "Automatic", {"Play / pause": play, "Reset": reset})
        self._rate_slider = gui.add_slider("Steps [1/s]", 1, 60, 1, 8)
        self._error_plot = ErrorPlot(gui)

    def _ccd_rate(self) -> float:
        return float(self._rate_slider.value)

    def _add_tracking(self) -> None:
        gui, session = self._gui, self._session
        tracks = gui.add_checkbox(
            "Arm tracks", False, hint="Follow the target within limits, in real time."
        )
        limit = gui.add_slider("Limit [rad/s]", 0.1, 5.0, 0.1, session.max_velocity)

        async def toggled(_: object) -> None:
            self._apply(partial(session.set_tracking, tracks.value))

        async def limited(_: object) -> None:
            self._apply(partial(session.set_max_velocity, limit.value), "velocity limit")

        tracks.on_update(toggled)
        limit.on_update(limited)
        switch = partial(self._apply, session.switch_branch)
        add_button(gui, "Switch branch", switch)
        self._velocity_plot = VelocityPlot(gui, session.chain.names)

    def _add_solutions(self) -> None:
        session = self._session
        add_button(self._gui, "Find solutions", partial(self._apply, session.find_solutions))
        select = {
            str(i + 1): partial(self._apply, partial(session.select_solution, i))
            for i in range(MAX_SOLUTIONS)
        }
        self._solutions = add_buttons(self._gui, "Select", select)
        self._solution_names = self._gui.add_html("")

    def _add_path(self) -> None:
        gui, session = self._gui, self._session
        self._recorded = gui.add_html("")
        self._records_drag = gui.add_checkbox(
            "Record drag", False, hint="Record every target while it is dragged."
        )
        record = partial(self._apply, session.record_target)
        clear = partial(self._apply, session.clear_path)
        add_buttons(self._gui, "Targets", {"Record target": record, "Clear": clear})
        play = partial(self._actions.play, session.play_path, lambda: PATH_RATE)
        add_buttons(self._gui, "Path", {"Play / pause": play, "Save CSV": self._actions.save})

    def refresh(self) -> None:
        """Show the current state of the session."""
        session = self._session
        self._page.show_status(status_lines(session))
        self._target.fields.refresh()
        self._joints.refresh()
        self._solutions.visible = len(session.solutions) > 1
        if session.solutions:
            self._solutions.options = tuple(str(i + 1) for i in range(len(session.solutions)))
        names = [session.solution_name(i) for i in range(len(session.solutions))]
        self._solution_names.visible = any(" " in name for name in names)
        self._solution_names.content = html("<br>".join(names))
        count = len(session.recorded)
        self._recorded.content = html(f"{count or 'no'} target{'s' * (count != 1)} recorded")
        self._error_plot.show(session.steps, session.angle_unit)
        self._velocity_plot.show(session.tracking)
        if self._obstacles is not None:
            self._obstacles.refresh()


def status_lines(session: Session) -> list[str]:
    """The message, the errors and the solve time, as lines of HTML."""
    position_error, orientation_error = map(float, session.errors())
    lines = [f"<b>{escape(session.message)}</b>"]
    lines.append(f"position error {format_si(position_error, 'm')}")
    if not isnan(orientation_error):  # orientation is not free
        lines.append(f"orientation error {format_angle(orientation_error, session.angle_unit)}")
    if session.obstacles is not None:
        lines += clearance_lines(session.obstacles, session.obstacles.clearance(session.q))
    return [*lines, f"solve time {format_si(session.solve_seconds, 's')}"]
