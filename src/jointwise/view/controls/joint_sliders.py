"""The joint values of a visitor, as sliders."""

from functools import partial
from math import isfinite, pi
from typing import Any, NamedTuple

import numpy as np

from jointwise.chain import Chain
from jointwise.robot import Robot
from jointwise.view.controls.actions import Controls, Gui
from jointwise.view.controls.buttons import add_button, on_change
from jointwise.view.session import Session
from jointwise.view.state.units import METRES, Unit
from jointwise.view.state.workspace import drawing_size


class JointSliders(Controls):
    """A folder with a slider for each joint, in the session's angle unit or in metres."""

    def _add(self, gui: Gui, session: Session) -> None:
        self._folder = gui.add_folder("Joints")
        with self._folder:
            self._sliders: list[Any] = [
                gui.add_slider(n, 0.0, 1.0, 0.1, 0.0) for n in session.model.joint_names
            ]
            for joint, slider in enumerate(self._sliders):
                on_change(slider, self._apply, partial(self._set_joint, joint), ("joint", joint))
            hint = "The configuration with which the page opened."
            home = partial(self._apply, partial(session.set_joints, session.model.home))
            add_button(gui, "Move joints to home", home, hint)

    def _unit(self, joint: int) -> Unit:
        return METRES if self._session.model.prismatic[joint] else self._session.angle_unit

    def _set_joint(self, joint: int, shown: float) -> None:
        self._session.set_joint(joint, shown / self._unit(joint).per_si)

    def refresh(self) -> None:
        """Show the session's joint values."""
        model, unit = self._session.model, self._session.angle_unit
        self._folder.label = f"Joints [{unit.symbol}{', m' * bool(model.prismatic.any())}]"
        for joint, (slider, value) in enumerate(
            zip(self._sliders, self._session.q.tolist(), strict=True)
        ):
            unit = self._unit(joint)
            low, high, shown = (
                round(x * unit.per_si, unit.decimals) for x in slider_state(model, joint, value)
            )
            if (low, high, unit.decimals) != (slider.min, slider.max, slider.precision):
                slider.min, slider.max = low, high
                slider.precision, slider.step = unit.decimals, 10.0**-unit.decimals
                slider.hint = _hint(model, joint, unit)
            slider.value = shown


class SliderState(NamedTuple):
    """Lower end, upper end and value of a slider [rad, m]."""

    low: float
    high: float
    value: float


def slider_state(model: Chain | Robot, joint: int, value: float) -> SliderState:
    """The range of a joint's slider, and its value in it [rad, m].

    A slider ends at the joint limits. Where there are none, a revolute joint is shown within half a
    turn of 0; any other range is as long as the arm or half a turn, and longer if the value is
    beyond it.

    Args:
        model: The arm or robot.
        joint: Which joint, from 0.
        value: Its value [rad, m].
    """
    lower, upper = model.limits[joint].tolist()
    half = drawing_size(model) if model.prismatic[joint] else pi
    if not (model.prismatic[joint] or isfinite(lower) or isfinite(upper)):
        return SliderState(-pi, pi, (value + pi) % (2.0 * pi) - pi)
    low = lower if isfinite(lower) else min(model.mid_range[joint] - half, value)
    high = upper if isfinite(upper) else max(model.mid_range[joint] + half, value)
    return SliderState(low, high, value)


def _hint(model: Chain | Robot, joint: int, unit: Unit) -> str:
    """The type and the limits of a joint."""
    kind = "prismatic" if model.prismatic[joint] else "revolute"
    if not np.isfinite(model.limits[joint]).any():
        return f"{kind}, unlimited"
    low, high = (f"{limit:.{unit.decimals}f}" for limit in unit.per_si * model.limits[joint])
    return f"{kind}, {low} to {high}{unit.suffix}"
