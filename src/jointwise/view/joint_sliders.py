"""The joint values of a visitor, as sliders."""

from collections.abc import Callable
from functools import partial
from math import isfinite, pi
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.shapes import Floats
from jointwise.robot import Robot
from jointwise.view.units import METRES, Unit
from jointwise.view.workspace import drawing_size

if TYPE_CHECKING:
    import viser


class JointSession(Protocol):
    """A session of an arm or of a robot, as its sliders need it."""

    q: Floats
    angle_unit: Unit

    @property
    def model(self) -> Chain | Robot:
        """What has the joints."""

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The names of the joints."""

    def set_joints(self, q: Floats) -> None:
        """Set all joint values (n,) [rad, m]."""

    def set_joint(self, joint: int, value: float) -> None:
        """Set the value of one joint [rad, m]."""


class JointSliders:
    """A folder with a slider for each joint, in the session's angle unit or in metres.

    Args:
        gui: The visitor's GUI.
        session: The session whose joints are shown and set.
        apply: Called with a change of the session, and the key of changes that it replaces.
    """

    def __init__(
        self, gui: "viser.GuiApi", session: JointSession, apply: Callable[..., None]
    ) -> None:
        self._session, self._apply = session, apply
        self._folder = gui.add_folder("Joints")
        with self._folder:
            self._sliders: list[Any] = [
                gui.add_slider(n, 0.0, 1.0, 0.1, 0.0) for n in session.joint_names
            ]
            for joint, slider in enumerate(self._sliders):
                slider.on_update(partial(self._moved, joint))
            home = gui.add_button("Move joints to home", hint="The middle of the joint ranges.")
            home.on_click(self._home_clicked)

    def _unit(self, joint: int) -> Unit:
        return METRES if self._session.model.prismatic[joint] else self._session.angle_unit

    async def _moved(self, joint: int, event: "viser.GuiEvent[Any]") -> None:
        if event.client is not None:  # by the visitor, not by ``refresh``
            value = event.target.value / self._unit(joint).per_si
            self._apply(partial(self._session.set_joint, joint, value), ("joint", joint))

    async def _home_clicked(self, _: object) -> None:
        self._apply(partial(self._session.set_joints, self._session.model.home))

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
    low = lower if isfinite(lower) else min(model.home[joint] - half, value)
    high = upper if isfinite(upper) else max(model.home[joint] + half, value)
    return SliderState(low, high, value)


def _hint(model: Chain | Robot, joint: int, unit: Unit) -> str:
    """The type and the limits of a joint."""
    kind = "prismatic" if model.prismatic[joint] else "revolute"
    if not np.isfinite(model.limits[joint]).any():
        return f"{kind}, unlimited"
    low, high = (f"{limit:.{unit.decimals}f}" for limit in unit.per_si * model.limits[joint])
    return f"{kind}, {low} to {high}{unit.suffix}"
