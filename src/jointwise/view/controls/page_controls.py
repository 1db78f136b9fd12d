"""The top of the panel: the status, Fit view, Reset, and the angle unit."""

from functools import partial
from html import escape
from math import isnan

from jointwise.results.result import TargetErrors
from jointwise.view.controls.actions import Controls, Gui
from jointwise.view.controls.buttons import add_button, on_change
from jointwise.view.controls.obstacle_controls import clearance_lines
from jointwise.view.server import html
from jointwise.view.session import Session
from jointwise.view.state.units import ANGLE_UNITS, format_angle, format_si


class PageControls(Controls):
    """The status, Fit view, Reset, and the angle unit."""

    def _add(self, gui: Gui, session: Session) -> None:
        self._status = gui.add_html("")
        add_button(gui, "Fit view", self._actions.fit_view, f"Show the whole {session.noun}.")
        add_button(
            gui,
            "Reset",
            partial(self._apply, session.reset),
            "Move the joints home and restore the first targets.",
        )
        unit = gui.add_dropdown(
            "Angle unit", tuple(ANGLE_UNITS), initial_value=session.angle_unit.name
        )
        on_change(unit, self._apply, session.set_angle_unit)

    def refresh(self) -> None:
        """Show the status."""
        self._status.content = html("<br>".join(status_lines(self._session)))


def status_lines(session: Session) -> list[str]:
    """The message, the errors, the clearance and the solve time, as lines of HTML."""
    lines = [f"<b>{escape(session.message)}</b>", *_error_lines(session)]
    if session.obstacles is not None and session.clearance is not None:
        lines += clearance_lines(session.obstacles, session.clearance)
    return [*lines, f"solve time {format_si(session.solve_seconds, 's')}"]


def _error_lines(session: Session) -> list[str]:
    """The errors of the only target of an arm, or those of each link by its name."""
    if session.arm is not None:
        kinds = zip(("position", "orientation"), _texts(session, session.error), strict=True)
        return [f"{kind} error {text}" for kind, text in kinds if text]
    lines = ["Errors:"] if session.errors else []
    for link, errors in session.errors.items():
        listed = ", ".join(text for text in _texts(session, errors) if text)
        lines.append(f"{escape(link)}: {listed}")
    return lines


def _texts(session: Session, errors: TargetErrors) -> tuple[str, str]:
    """Position and orientation error with their units; empty where one is free."""
    position_error, orientation_error = map(float, errors)
    return (
        "" if isnan(position_error) else format_si(position_error, "m"),
        "" if isnan(orientation_error) else format_angle(orientation_error, session.angle_unit),
    )
