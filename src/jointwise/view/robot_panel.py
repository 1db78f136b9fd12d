"""The controls of a robot, and the status above them."""

from functools import partial
from html import escape
from math import isnan
from typing import TYPE_CHECKING, Any

from jointwise.view.buttons import add_button
from jointwise.view.joint_sliders import JointSliders
from jointwise.view.page_controls import PageActions, PageControls
from jointwise.view.robot_session import RobotSession
from jointwise.view.target_fields import TargetFields
from jointwise.view.units import format_angle, format_si

if TYPE_CHECKING:
    import viser

# Width of the panel [px].
WIDTH = 340
NO_LINK = "–"


class RobotPanel:
    """The controls of one visitor: which links have targets, one of the targets, the joints.

    Args:
        gui: The visitor's GUI.
        session: What is shown.
        actions: What the controls ask for.
    """

    def __init__(self, gui: "viser.GuiApi", session: RobotSession, actions: PageActions) -> None:
        self._session, self._apply = session, actions.apply
        self._page = PageControls(gui, session, actions, "Show the whole robot and all targets.")
        add_button(
            gui,
            "Reset",
            partial(actions.apply, session.reset),
            "Joints to the middle of their ranges, first targets.",
        )
        self._add_targets(gui)
        self._joints = JointSliders(gui, session, actions.apply)
        gui.main_panel.dock_right()
        gui.main_panel.set_width(WIDTH)

    def _add_targets(self, gui: "viser.GuiApi") -> None:
        session = self._session
        with gui.add_folder("Targets"):
            self._link: Any = gui.add_dropdown(
                "Link",
                (NO_LINK, *session.robot.link_names),
                hint="Links with targets come first. Another one gets a target where it is; "
                "a click on the link does the same.",
            )
            self._link.on_update(self._link_chosen)
            self._fields = TargetFields(gui, session, self._apply)
            self._remove_button = add_button(
                gui, "Remove target", self._remove, "A click on the link does the same."
            )

    async def _link_chosen(self, event: "viser.GuiEvent[Any]") -> None:
        if event.client is not None and event.target.value != NO_LINK:
            self._apply(partial(self._session.select, event.target.value))

    def _remove(self) -> None:
        def remove() -> None:
            if self._session.selected is not None:
                self._session.remove_target(self._session.selected)

        self._apply(remove)

    def refresh(self) -> None:
        """Show the current state of the session."""
        session = self._session
        self._page.show_status(status_lines(session))
        first = list(session.targets) or [NO_LINK]
        links = tuple(dict.fromkeys([*first, *session.robot.link_names]))
        if self._link.options != links:
            self._link.options = links
        self._link.value = session.selected or NO_LINK
        has_target = session.selected is not None
        self._remove_button.visible = has_target
        self._fields.show(has_target)
        if has_target:
            self._fields.refresh()
        self._joints.refresh()


def status_lines(session: RobotSession) -> list[str]:
    """The message, the errors of each target and the solve time, as lines of HTML."""
    lines = [f"<b>{escape(session.message)}</b>"]
    if session.targets:
        lines.append("Errors:")
    for link, (position_error, orientation_error) in session.errors().items():
        errors = format_si(position_error, "m")
        if not isnan(orientation_error):  # orientation is not free
            errors += f", {format_angle(orientation_error, session.angle_unit)}"
        lines.append(f"{escape(link)}: {errors}")
    return [*lines, f"solve time {format_si(session.solve_seconds, 's')}"]
