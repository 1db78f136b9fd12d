"""The controls of a visitor, and the status above them."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import partial
from html import escape
from math import isnan
from typing import TYPE_CHECKING, Any, Protocol

from jointwise.view.error_plot import ErrorPlot
from jointwise.view.joint_sliders import JointSliders
from jointwise.view.server import html
from jointwise.view.session import MAX_SOLUTIONS, Session
from jointwise.view.target_controls import TargetControls
from jointwise.view.units import ANGLE_UNITS, RADIANS, Unit
from jointwise.view.velocity_plot import VelocityPlot

if TYPE_CHECKING:
    import viser

# Width of the two panels [px].
LEFT_WIDTH, RIGHT_WIDTH = 300, 340
# Steps per second of a path that is played.
PATH_RATE = 30.0

Action = Callable[[], None]
Animation = Callable[[], Iterator[None]]


class Actions(Protocol):
    """What the controls ask for; ``Visitor`` does it."""

    def apply(self, change: Callable[[], object], key: Hashable = None) -> None:
        """Change the session; the change replaces a waiting one with the same key."""

    def play(self, animation: Animation, rate: Callable[[], float]) -> None:
        """Play an animation of the session at a rate [1/s], or pause it."""

    def save(self) -> None:
        """Download the recorded path."""

    def fit_view(self) -> None:
        """Show the whole arm and the target."""


class Panel:
    """The controls of one visitor: target and joints on the right, CCD and paths on the left.

    Callbacks are ``async``: viser runs those in order on its own thread, and others in any order.

    Args:
        gui: The visitor's GUI.
        session: What is shown.
        actions: What the controls ask for.
    """

    def __init__(self, gui: "viser.GuiApi", session: Session, actions: Actions) -> None:
        self._gui, self._session, self._actions = gui, session, actions
        self._apply = actions.apply
        self._status = gui.add_html("")
        self._add_button("Fit view", actions.fit_view, "Show the whole arm and the target.")
        unit = gui.add_dropdown(
            "Angle unit", tuple(ANGLE_UNITS), initial_value=session.angle_unit.name
        )
        unit.on_update(self._unit_changed)
        self._target = TargetControls(gui, session, actions.apply)
        self._joints = JointSliders(gui, session, actions.apply)
        left = gui.add_panel()
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

    async def _unit_changed(self, event: "viser.GuiEvent[Any]") -> None:
        self._apply(partial(self._session.set_angle_unit, event.target.value))

    def _add_ccd(self) -> None:
        gui, session = self._gui, self._session
        self._add_buttons(
            "Manual",
            {
                "Step joint": partial(self._apply, session.step_joint),
                "Step sweep": partial(self._apply, session.step_sweep),
            },
        )
        play = partial(self._actions.play, session.play_ccd, self._ccd_rate)
        reset = partial(self._apply, session.reset_ccd)
        self._add_buttons("Automatic", {"Play / pause": play, "Reset": reset})
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
        self._add_button("Switch branch", partial(self._apply, session.switch_branch))
        self._velocity_plot = VelocityPlot(gui, session.chain.names)

    def _add_solutions(self) -> None:
        session = self._session
        self._add_button("Find solutions", partial(self._apply, session.find_solutions))
        select = {
            str(i + 1): partial(self._apply, partial(session.select_solution, i))
            for i in range(MAX_SOLUTIONS)
        }
        self._solutions = self._add_buttons("Select", select)
        self._solution_names = self._gui.add_html("")

    def _add_path(self) -> None:
        gui, session = self._gui, self._session
        self._recorded = gui.add_html("")
        self._records_drag = gui.add_checkbox(
            "Record drag", False, hint="Record every target while it is dragged."
        )
        record = partial(self._apply, session.record_target)
        clear = partial(self._apply, session.clear_path)
        self._add_buttons("Targets", {"Record target": record, "Clear": clear})
        play = partial(self._actions.play, session.play_path, lambda: PATH_RATE)
        self._add_buttons("Path", {"Play / pause": play, "Save CSV": self._actions.save})

    def _add_button(self, label: str, action: Action, hint: str | None = None) -> None:
        async def clicked(_: object) -> None:
            action()

        self._gui.add_button(label, hint=hint).on_click(clicked)

    def _add_buttons(
        self, label: str, actions: Mapping[str, Action]
    ) -> "viser.GuiButtonGroupHandle":
        """A row of buttons."""
        buttons = self._gui.add_button_group(label, tuple(actions))

        async def clicked(event: "viser.GuiEvent[viser.GuiButtonGroupHandle]") -> None:
            actions[event.target.value]()

        buttons.on_click(clicked)
        return buttons

    def refresh(self) -> None:
        """Show the current state of the session."""
        session = self._session
        self._status.content = html(status_html(session))
        self._target.refresh()
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


def status_html(session: Session) -> str:
    """The message, the errors and the solve time, as HTML."""
    position_error, orientation_error = map(float, session.errors())
    lines = [f"<b>{escape(session.message)}</b>"]
    lines.append(f"position error {format_si(position_error, 'm')}")
    if not isnan(orientation_error):  # orientation is not free
        lines.append(f"orientation error {format_angle(orientation_error, session.angle_unit)}")
    lines.append(f"solve time {format_si(session.solve_seconds, 's')}")
    return "<br>".join(lines)


def format_si(value: float, unit: str) -> str:
    """A value with three digits and a prefix, milli or micro, where it is small.

    Example:
        >>> format_si(0.0312, "m"), format_si(4.2e-6, "s"), format_si(0.0, "rad")
        ('31.2 mm', '4.2 µs', 'less than 1 µrad')
    """
    if value < 1e-6:
        return f"less than 1 µ{unit}"
    for factor, prefix in ((1e6, "µ"), (1e3, "m")):
        if value * factor < 1000.0:
            return f"{value * factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def format_angle(angle: float, unit: Unit) -> str:
    """An angle [rad] in a unit, with three digits.

    Example:
        >>> from jointwise.view.units import DEGREES, RADIANS
        >>> format_angle(0.0312, RADIANS), format_angle(0.0312, DEGREES)
        ('31.2 mrad', '1.79°')
        >>> format_angle(1e-9, DEGREES)
        'less than 0.0001°'
    """
    if unit is RADIANS:
        return format_si(angle, unit.symbol)
    value = angle * unit.per_si
    return f"less than 0.0001{unit.suffix}" if value < 1e-4 else f"{value:.3g}{unit.suffix}"
