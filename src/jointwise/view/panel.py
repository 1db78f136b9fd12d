"""The controls of a visitor, and the status above them."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from html import escape
from math import degrees, isfinite, pi
from typing import TYPE_CHECKING, Any

import numpy as np

from jointwise.solvers.targets import KINDS
from jointwise.view.error_plot import ErrorPlot
from jointwise.view.session import Session
from jointwise.view.workspace import drawing_size

if TYPE_CHECKING:
    import viser

# Width of the two panels [px].
LEFT_WIDTH, RIGHT_WIDTH = 300, 320
# Solutions that are searched for.
SOLUTION_COUNT = 5
# Steps per second of a path that is played.
PATH_RATE = 30.0
# What a target prescribes, by its number of directions.
PRESCRIBED = {
    0: "position only",
    1: "position and direction of the z axis",
    3: "position and orientation",
}

Action = Callable[[], None]
Animation = Callable[[], Iterator[None]]


class Panel:
    """The controls of one visitor: target and joints on the right, CCD and paths on the left.

    Callbacks are ``async``: viser runs those in order on its own thread, and others in any order.

    Args:
        gui: The visitor's GUI.
        session: What is shown.
        apply: Called with a change of the session, and the key of changes that it replaces.
        play: Called with an animation of the session, and its rate [1/s].
        save: Called to download the recorded path.
    """

    def __init__(
        self,
        gui: "viser.GuiApi",
        session: Session,
        apply: Callable[..., None],
        play: Callable[[Animation, Callable[[], float]], None],
        save: Action,
    ) -> None:
        self._gui, self._session = gui, session
        self._apply, self._play, self._save = apply, play, save
        self._status = gui.add_html("")
        with gui.add_folder("Target"):
            self._add_target()
        units = "rad, m" if session.chain.prismatic.any() else "rad"
        with gui.add_folder(f"Joints [{units}]"):
            self._add_joints()
        left = gui.add_panel()
        with left.add_tab("CCD step by step"):
            self._add_ccd()
            with gui.add_folder("Solutions"):
                self._add_solutions()
            with gui.add_folder("Recorded path"):
                self._add_path()
        gui.main_panel.dock_right()
        gui.main_panel.set_width(RIGHT_WIDTH)
        left.dock_left()
        left.set_width(LEFT_WIDTH)

    @property
    def records_drag(self) -> bool:
        """Whether targets are recorded while the target is dragged."""
        return bool(self._records_drag.value)

    def _add_target(self) -> None:
        gui, session = self._gui, self._session
        dropdown = gui.add_dropdown(
            "Target kind",
            tuple(KINDS),
            initial_value=session.kind.name,
            hint=" ".join(
                f"{name}: {PRESCRIBED[kind.directions]}." for name, kind in KINDS.items()
            ),
        )
        dropdown.on_update(self._kind_changed)
        position = session.T_base_target[:3, 3].round(3)
        self._position: Any = gui.add_vector3("x y z [m]", position, step=0.001)
        self._position.on_update(self._position_changed)
        follows = gui.add_checkbox(
            "Arm follows",
            session.follows,
            hint="Solve whenever the target moves. Off: move the arm by CCD steps or by joint.",
        )
        follows.on_update(self._follows_changed)
        self._add_button("Snap target to end effector", session.snap_target_to_tip)

    async def _kind_changed(self, event: "viser.GuiEvent[Any]") -> None:
        self._apply(partial(self._session.set_target_kind, event.target.value))

    async def _follows_changed(self, event: "viser.GuiEvent[Any]") -> None:
        self._apply(partial(self._session.set_follows, event.target.value))

    async def _position_changed(self, event: "viser.GuiEvent[Any]") -> None:
        if event.client is not None:  # by the visitor, not by ``refresh``
            move = partial(self._session.move_target, position=event.target.value)
            self._apply(move, "target")

    def _add_joints(self) -> None:
        chain = self._session.chain
        self._sliders: list[Any] = []
        for joint, name in enumerate(chain.names):
            lower, upper = chain.limits[joint].tolist()
            if chain.prismatic[joint]:
                half = drawing_size(chain)
                hint = f"prismatic, {lower:.4g} to {upper:.4g} m"
            else:
                half = pi
                hint = f"revolute, {degrees(lower):.4g}° to {degrees(upper):.4g}°"
            low = lower if isfinite(lower) else chain.home[joint] - half
            high = upper if isfinite(upper) else chain.home[joint] + half
            slider = self._gui.add_slider(
                name, float(low), float(high), 0.001, float(low), hint=hint
            )
            slider.on_update(partial(self._joint_changed, joint))
            self._sliders.append(slider)
        self._add_button("Move joints to mid-range", partial(self._session.set_joints, chain.home))

    async def _joint_changed(self, joint: int, event: "viser.GuiEvent[Any]") -> None:
        if event.client is not None:
            move = partial(self._session.set_joint, joint, event.target.value)
            self._apply(move, ("joint", joint))

    def _add_ccd(self) -> None:
        gui, session = self._gui, self._session
        self._add_buttons(
            "Manual",
            {
                "Step joint": partial(self._apply, session.step_joint),
                "Step sweep": partial(self._apply, session.step_sweep),
            },
        )
        play = partial(self._play, session.play_ccd, self._ccd_rate)
        reset = partial(self._apply, session.reset_ccd)
        self._add_buttons("Automatic", {"Play / pause": play, "Reset": reset})
        self._rate_slider = gui.add_slider("Steps per s", 1, 60, 1, 8)
        self._error_plot = ErrorPlot(gui)

    def _ccd_rate(self) -> float:
        return float(self._rate_slider.value)

    def _add_solutions(self) -> None:
        session = self._session
        self._add_button("Find solutions", partial(session.find_solutions, SOLUTION_COUNT))
        select = {
            str(i + 1): partial(self._apply, partial(session.select_solution, i))
            for i in range(SOLUTION_COUNT + 1)  # and the current one
        }
        self._solutions = self._add_buttons("Select", select)

    def _add_path(self) -> None:
        gui, session = self._gui, self._session
        self._recorded = gui.add_html("")
        self._records_drag = gui.add_checkbox(
            "Record drag", False, hint="Record every target while it is dragged."
        )
        record = partial(self._apply, session.record_target)
        clear = partial(self._apply, session.clear_path)
        self._add_buttons("Targets", {"Record target": record, "Clear": clear})
        play = partial(self._play, session.play_path, lambda: PATH_RATE)
        self._add_buttons("Path", {"Play / pause": play, "Save CSV": self._save})

    def _add_button(self, label: str, change: Callable[[], object]) -> None:
        """A button that changes the session."""

        async def clicked(_: object) -> None:
            self._apply(change)

        self._gui.add_button(label).on_click(clicked)

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
        self._status.content = _html(status_html(session))
        for slider, value in zip(self._sliders, session.q.tolist(), strict=True):
            if not slider.min <= value <= slider.max:  # unlimited joint: wrap to ±pi
                value = (value + pi) % (2.0 * pi) - pi
            slider.value = min(max(round(value, 3), slider.min), slider.max)
        position = session.T_base_target[:3, 3].round(3)
        if np.abs(position - self._position.value).max() > 6e-4:  # do not disturb typing
            self._position.value = position
        self._solutions.visible = len(session.solutions) > 1
        if session.solutions:
            self._solutions.options = tuple(str(i + 1) for i in range(len(session.solutions)))
        count = len(session.recorded)
        self._recorded.content = _html(f"{count or 'no'} target{'s' * (count != 1)} recorded")
        self._error_plot.show(session.steps, with_orientation=session.kind.directions > 0)


def status_html(session: Session) -> str:
    """The message, the errors and the solve time, as HTML."""
    position_error, orientation_error = map(float, session.errors())
    lines = [f"<b>{escape(session.message)}</b>"]
    lines.append(f"position error {format_si(position_error, 'm')}")
    if session.kind.directions > 0:
        lines.append(f"orientation error {format_si(orientation_error, 'rad')}")
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


def _html(content: str) -> str:
    return f"<div style='padding:0.2em 0.75em 0.5em;font-size:0.875em'>{content}</div>"
