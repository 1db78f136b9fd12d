"""Plans in the panel: make and play them, and plan again."""

from functools import partial
from html import escape
from math import isfinite
from typing import Any

from jointwise.model import checks
from jointwise.view.controls.actions import Controls, Gui
from jointwise.view.controls.buttons import add_button, add_buttons, on_change
from jointwise.view.controls.obstacle_controls import RED
from jointwise.view.server import html
from jointwise.view.session import Session
from jointwise.view.state.live_plan import Planned
from jointwise.view.state.units import format_si

# Steps per second when a plan is played.
PLAN_RATE = 30.0


class PlanControls(Controls):
    """The buttons that plan and play, and the status of the plan."""

    def _add(self, gui: Gui, session: Session) -> None:
        noun = session.noun
        hint = "Plan from the configuration before the target moved, and play the plan."
        add_button(gui, "Plan", self._plan, hint)
        self._status = gui.add_html("")
        self._again: Any = gui.add_checkbox(
            "Plan again",
            session.plans_again,
            hint="Plan again from the same start whenever a target or an obstacle moves.",
        )
        on_change(self._again, self._apply, self._set_again)
        hint = f"Start the next plan where the {noun} is now."
        add_button(gui, "Start here", partial(self._apply, session.start_here), hint)
        self._folder = gui.add_folder("Playback", visible=False)
        with self._folder:
            play = partial(self._actions.play, self._played, lambda: PLAN_RATE)
            rewind = partial(self._apply, partial(session.move_along, 0.0))
            add_buttons(gui, "Play", {"Play / pause": play, "Rewind": rewind})
            self._along: Any = gui.add_slider("Path [%]", 0, 100, 1, 0)
            self._speed: Any = gui.add_slider(
                "Speed [rad/s]", 0.1, 5.0, 0.1, 1.0, hint="Speed of the joint that moves most."
            )
        on_change(self._along, self._apply, self._move_along, "along the path")

    def _plan(self) -> None:
        self._apply(self._session.ask_plan)
        self._actions.play(self._played, lambda: PLAN_RATE)

    def _played(self) -> Any:
        return self._session.play_plan(lambda: float(self._speed.value) / PLAN_RATE)

    def _set_again(self, again: bool) -> None:
        self._session.plans_again = again

    def _move_along(self, percent: float) -> None:
        self._session.move_along(0.01 * percent)

    def refresh(self) -> None:
        """Show the status of the latest plan, and how much of its path is done."""
        live = self._session.live_plan
        planned = None if live is None else live.planned
        self._status.visible = planned is not None
        self._folder.visible = planned is not None and planned.found
        if live is not None and planned is not None:
            self._status.content = html("<br>".join(plan_lines(planned)))
            self._along.value = round(100.0 * live.share)


def plan_lines(planned: Planned) -> list[str]:
    """How planning ended, and figures of the path, as lines of HTML."""
    plan, message = planned.plan, f"<b>{escape(planned.message)}</b>"
    if plan is None or not plan.found:
        return [f"<span style='color:{RED}'>{message}</span>"]
    lines = [message]
    if len(plan) > 1:
        edges = checks.quantity(len(plan) - 1, "edge")
        lines.append(f"length {plan.length:.3g}, {edges}")
    if planned.contact is not None:
        between = ", ".join(map(escape, planned.contact))
        lines.append(f"smallest clearance {1e3 * planned.clearance:.1f} mm: {between}")
    if isfinite(planned.seconds):
        samples = checks.quantity(plan.samples, "sample")
        lines.append(f"planned in {format_si(planned.seconds, 's')}, {samples}")
    return lines
