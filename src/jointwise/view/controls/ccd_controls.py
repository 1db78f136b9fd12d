"""CCD step by step and other solutions, in the panel of an arm."""

from functools import partial

from jointwise.view.controls.actions import Controls, Gui
from jointwise.view.controls.buttons import add_button, add_buttons
from jointwise.view.controls.error_plot import ErrorPlot
from jointwise.view.server import html
from jointwise.view.session import MAX_SOLUTIONS, Session


class CCDControls(Controls):
    """CCD step by step, with a plot of the errors."""

    def _add(self, gui: Gui, session: Session) -> None:
        add_buttons(
            gui,
            "Manual",
            {
                "Step joint": partial(self._apply, session.step_joint),
                "Step sweep": partial(self._apply, session.step_sweep),
            },
        )
        play = partial(self._actions.play, session.play_ccd, self._rate)
        rewind = partial(self._apply, session.rewind_ccd)
        add_buttons(gui, "Automatic", {"Play / pause": play, "Rewind": rewind})
        self._rate_slider = gui.add_slider("Steps [1/s]", 1, 60, 1, 8)
        self._error_plot = ErrorPlot(gui)

    def _rate(self) -> float:
        return float(self._rate_slider.value)

    def refresh(self) -> None:
        """Plot the errors up to the current step."""
        self._error_plot.show(self._session.steps, self._session.angle_unit)


class SolutionControls(Controls):
    """A folder with the solutions of the target."""

    def _add(self, gui: Gui, session: Session) -> None:
        with gui.add_folder("Solutions"):
            add_button(gui, "Find solutions", partial(self._apply, session.find_solutions))
            select = {
                str(i + 1): partial(self._apply, partial(session.select_solution, i))
                for i in range(MAX_SOLUTIONS)
            }
            self._select = add_buttons(gui, "Select", select)
            self._names = gui.add_html("")

    def refresh(self) -> None:
        """Show the solutions that were found."""
        session = self._session
        self._select.visible = len(session.solutions) > 1
        if session.solutions:
            self._select.options = tuple(str(i + 1) for i in range(len(session.solutions)))
        names = [session.solution_name(i) for i in range(len(session.solutions))]
        self._names.visible = any(" " in name for name in names)
        self._names.content = html("<br>".join(names))
