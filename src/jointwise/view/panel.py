"""What a visitor handles at the sides, and reads there."""

from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from math import degrees, isfinite, pi
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from jointwise.view.recording import Kind
from jointwise.view.session import Session, extent

if TYPE_CHECKING:
    import viser

# How wide the two panels are [px].
LEFT, RIGHT = 300, 320
# How many postures are looked for.
POSTURES = 5
# Pictures a second of a path that is played back.
PLAYBACK = 30.0
# The powers of ten that the error curve knows; errors below the least are drawn there.
POWERS = {-6: "1e-6", -5: "1e-5", -4: "1e-4", -3: "0.001", -2: "0.01", -1: "0.1", 0: "1", 1: "10"}


class Panel:
    """The knobs of one visitor: target and joints on the right, CCD and paths on the left.

    What answers them is ``async``, for viser runs that in order on its own thread, before anything
    can change again, and other functions in any order.

    Args:
        gui: The visitor's.
        session: What is shown.
        do: Called with every change of the session that is asked for.
        play: Called with every film that is asked for, and its pictures a second.
        save: Called when the recorded path is asked for.
    """

    def __init__(
        self,
        gui: "viser.GuiApi",
        session: Session,
        do: Callable[..., None],
        play: Callable[[Callable[[], Iterator[None]], Callable[[], float]], None],
        save: Callable[[], None],
    ) -> None:
        self._gui, self._session = gui, session
        self._do, self._play, self._save = do, play, save
        self._status = gui.add_html("")
        with gui.add_folder("Target"):
            self._build_target()
        slides = self._session.chain.prismatic.any()
        with gui.add_folder(f"Joints [{'rad, m' if slides else 'rad'}]"):
            self._build_joints()
        side = gui.add_panel()
        with side.add_tab("CCD, joint by joint"):
            self._build_steps()
            with gui.add_folder("Other postures"):
                self._build_postures()
            with gui.add_folder("Path of targets"):
                self._build_path()
        gui.main_panel.dock_right()
        gui.main_panel.set_width(RIGHT)
        side.dock_left()
        side.set_width(LEFT)

    @property
    def records(self) -> bool:
        """Whether the path is recorded while the target is dragged."""
        return bool(self._records.value)

    def _build_target(self) -> None:
        gui, session = self._gui, self._session
        kind = gui.add_dropdown(
            "Reach its",
            get_args(Kind),
            initial_value=session.kind,
            hint="position: only where. pose: also how turned. aim: where, and where z points.",
        )
        kind.on_update(self._asked)
        position = session.T_base_target[:3, 3].round(3)
        self._position: Any = gui.add_vector3("x y z [m]", position, step=0.001)
        self._position.on_update(self._typed)
        follows = gui.add_checkbox(
            "Arm follows", session.follows, hint="Off: the arm waits for a joint's or sweep's step."
        )
        follows.on_update(self._followed)
        self._buttons("Put it", {"at the tip": partial(self._do, session.target_to_tip)})

    async def _asked(self, event: "viser.GuiEvent[Any]") -> None:
        self._do(partial(self._session.ask_for, event.target.value))

    async def _followed(self, event: "viser.GuiEvent[Any]") -> None:
        self._do(partial(self._session.follow, event.target.value))

    async def _typed(self, event: "viser.GuiEvent[Any]") -> None:
        if event.client is not None:  # by the visitor, not by ``refresh``
            move = partial(self._session.move_target, position=event.target.value)
            self._do(move, "target")

    def _build_joints(self) -> None:
        session, chain = self._session, self._session.chain
        self._sliders: list[Any] = []
        for joint, name in enumerate(chain.names):
            lower, upper = chain.limits[joint].tolist()
            if chain.prismatic[joint]:
                free = extent(chain)
                hint = f"slides from {lower:.4g} to {upper:.4g} m"
            else:
                free = pi
                hint = f"turns from {degrees(lower):.4g}° to {degrees(upper):.4g}°"
            low = lower if isfinite(lower) else chain.home[joint] - free
            high = upper if isfinite(upper) else chain.home[joint] + free
            slider = self._gui.add_slider(
                name, float(low), float(high), 0.001, float(low), hint=hint
            )
            slider.on_update(partial(self._slid, joint))
            self._sliders.append(slider)
        middle = partial(session.set_joints, chain.home)
        self._buttons("All", {"to the middle": partial(self._do, middle)})

    async def _slid(self, joint: int, event: "viser.GuiEvent[Any]") -> None:
        if event.client is not None:
            move = partial(self._session.set_joint, joint, event.target.value)
            self._do(move, ("joint", joint))

    def _build_steps(self) -> None:
        gui, session = self._gui, self._session
        one = {"joint": session.step_joint, "sweep": session.step_sweep}
        self._buttons("One", {word: partial(self._do, step) for word, step in one.items()})
        play = partial(self._play, session.walking, self._rate)
        over = partial(self._do, session.start_over)
        self._buttons("All", {"play, pause": play, "start over": over})
        self._speed = gui.add_slider("Moves a second", 1, 60, 1, 8)
        self._curve = gui.add_uplot(
            (np.zeros(1), np.zeros(1), np.zeros(1)),
            self._series(),
            scales={"x": {"time": False}},
            axes=(
                {"size": 32},
                {"splits": tuple(POWERS), "values": tuple(POWERS.values()), "size": 52},
            ),
            height=230,
            padding=(10, 20, 0, 0),
            visible=False,
        )

    def _rate(self) -> float:
        return float(self._speed.value)

    def _build_postures(self) -> None:
        session = self._session
        find = partial(self._do, partial(session.find_answers, POSTURES))
        self._buttons("Search", {"find some": find})
        numbers = range(POSTURES + 1)
        self._postures = self._buttons(
            "Take", {str(i + 1): partial(self._do, partial(session.choose, i)) for i in numbers}
        )

    def _build_path(self) -> None:
        gui, session = self._gui, self._session
        self._recorded = gui.add_html("")
        self._records = gui.add_checkbox(
            "While dragging", False, hint="Add every target on the way."
        )
        add, forget = partial(self._do, session.record), partial(self._do, session.forget)
        self._buttons("Targets", {"add": add, "forget all": forget})
        play = partial(self._play, session.replay, lambda: PLAYBACK)
        self._buttons("Path", {"play, pause": play, "save CSV": self._save})

    def _buttons(
        self, label: str, actions: dict[str, Callable[[], None]]
    ) -> "viser.GuiButtonGroupHandle":
        """Buttons side by side."""
        buttons = self._gui.add_button_group(label, tuple(actions))

        async def clicked(event: "viser.GuiEvent[viser.GuiButtonGroupHandle]") -> None:
            actions[event.target.value]()

        buttons.on_click(clicked)
        return buttons

    def refresh(self) -> None:
        """Everything as it is now."""
        session = self._session
        self._status.content = _small(report(session))
        for slider, value in zip(self._sliders, session.q.tolist(), strict=True):
            if not slider.min <= value <= slider.max:  # free to turn: whole turns change nothing
                value = (value + pi) % (2.0 * pi) - pi
            slider.value = min(max(round(value, 3), slider.min), slider.max)
        position = session.T_base_target[:3, 3].round(3)
        if np.abs(position - self._position.value).max() > 6e-4:  # leave what is typed alone
            self._position.value = position
        self._postures.visible = len(session.answers) > 1
        if session.answers:
            self._postures.options = tuple(str(i + 1) for i in range(len(session.answers)))
        count = len(session.recorded)
        self._recorded.content = _small(f"{count or 'no'} target{'s' * (count != 1)} recorded")
        self._draw_curve()

    def _series(self) -> "tuple[viser.uplot.Series, ...]":
        turned = self._session.kind != "position"
        return (
            {"label": "sweeps"},
            {"label": "off [m]", "stroke": "#0072B2", "width": 2},
            {"label": "turned [rad]", "stroke": "#D55E00", "width": 2, "show": turned},
        )

    def _draw_curve(self) -> None:
        """The errors of the watched walk so far."""
        walk, at = self._session.walk, self._session.at
        self._curve.visible = walk is not None
        if walk is not None:
            angle = walk.distance if self._session.kind == "position" else walk.angle
            shown = np.stack([walk.distance, angle])[:, : at + 1]
            powers = np.log10(np.maximum(shown, 10.0 ** min(POWERS)))
            sweeps = np.arange(at + 1) / self._session.chain.n
            low, high = np.floor(powers.min()), np.floor(powers.max()) + 1.0
            self._curve.series = self._series()
            self._curve.scales = {
                "x": {"time": False, "range": (0.0, max(1.0, float(np.ceil(sweeps[-1]))))},
                "y": {"range": (float(low), float(high))},
            }
            self._curve.data = (sweeps, *powers)


def report(session: Session) -> str:
    """How it went: a sentence, the errors, the time; as HTML."""
    distance, angle = map(float, session.errors())
    numbers = f"off by {measure(distance, 'm')}"
    if session.kind != "position":
        numbers += f", turned by {measure(angle, 'rad')}"
    return (
        f"<b>{escape(session.says)}</b><br>{numbers}<br>"
        f"last solve took {measure(session.seconds, 's')}"
    )


def measure(value: float, unit: str) -> str:
    """A value for people: three digits and a small unit.

    Example:
        >>> measure(0.0312, "m"), measure(4.2e-6, "s"), measure(0.0, "rad")
        ('31.2 mm', '4.2 µs', 'less than 1 µrad')
    """
    if value < 1e-6:
        return f"less than 1 µ{unit}"
    for factor, prefix in ((1e6, "µ"), (1e3, "m")):
        if value * factor < 1000.0:
            return f"{value * factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def _small(content: str) -> str:
    return f"<div style='padding:0.2em 0.75em 0.5em;font-size:0.875em'>{content}</div>"
