"""The obstacles in the panel."""

from collections.abc import Callable
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.scene.grid import Grid
from jointwise.scene.half_space import HalfSpace
from jointwise.scene.obstacle import Obstacle
from jointwise.view.controls.actions import Actions, Controls, Gui
from jointwise.view.controls.buttons import add_button, add_buttons, on_change
from jointwise.view.controls.pose_fields import PoseFields
from jointwise.view.graphics.obstacle_drawing import rotates
from jointwise.view.graphics.shapes import COLLIDING_COLOR
from jointwise.view.session import Session
from jointwise.view.state.obstacles import ADDED, Clearance, Obstacles
from jointwise.view.state.status_text import contact_texts
from jointwise.view.state.units import Unit

if TYPE_CHECKING:
    import viser

NO_OBSTACLE = "none"
# Largest margin of the slider [mm].
MAX_MARGIN = 100
# The colour of collisions in the status.
RED = f"rgb{COLLIDING_COLOR}"


class ObstacleControls(Controls):
    """The obstacles, or a button that begins to check collisions if nothing is checked."""

    def _add(self, gui: Gui, session: Session) -> None:
        self._editor: ObstacleEditor | None = None
        self._begin = gui.add_folder("Collisions", visible=session.obstacles is None)
        with self._begin:
            hint = "Avoid obstacles, and collisions of the model with itself."
            add_button(gui, "Check collisions", self._actions.check_collisions, hint)
        self._folder = gui.add_folder("Obstacles", visible=False)

    def refresh(self) -> None:
        """Show the session's obstacles and the selected one."""
        obstacles = self._session.obstacles
        if obstacles is None:
            return
        if self._editor is None:
            self._begin.visible, self._folder.visible = False, True
            with self._folder:
                asked = self._gui, self._session, obstacles, self._actions
                self._editor = ObstacleEditor(*asked)
        self._editor.refresh()


class ObstacleEditor(PoseFields):
    """Select, move and resize an obstacle; add, remove, save and load obstacles.

    Args:
        gui: The visitor's GUI.
        session: The model, whose obstacles are shown and changed.
        obstacles: Its obstacles.
        actions: Actions that the controls request.
    """

    def __init__(
        self,
        gui: "viser.GuiApi",
        session: Session,
        obstacles: Obstacles,
        actions: Actions,
    ) -> None:
        self._gui, self._session, self._obstacles = gui, session, obstacles
        self._actions = actions
        self._sizes: dict[str, Any] = {}
        self._known_sizes: dict[str, Any] = {}  # as in ``PoseFields``
        self._sized: tuple[str | None, ...] = (None,)
        add = {
            kind.capitalize(): partial(self._edit, partial(obstacles.add, kind)) for kind in ADDED
        }
        add_buttons(gui, "Add", add)
        self._name: Any = gui.add_dropdown(
            "Obstacle", (NO_OBSTACLE,), hint="Clicking an obstacle selects it, too."
        )
        on_change(self._name, actions.apply, self._select)
        super().__init__(gui, ("Position", "Rotation"), actions.apply)
        self._folder = gui.add_folder("Size [m]", visible=False)
        self._remove = add_button(gui, "Delete", partial(self._edit, obstacles.remove))
        with gui.add_folder("Scene"):
            self._add_scene()

    def _add_scene(self) -> None:
        gui, margin = self._gui, 1e3 * self._obstacles.margin
        most = max(MAX_MARGIN, int(np.ceil(margin)))
        self._margin: Any = gui.add_slider(
            "Margin [mm]", 0, most, 1, round(margin), hint="The minimum distance to keep."
        )
        on_change(self._margin, self._actions.apply, self._set_margin, "margin")
        self._add_spheres()
        add_button(gui, "Save scene", self._actions.save_scene, "As TOML, for --scene.")
        self._upload: Any = gui.add_upload_button("Load scene", mime_type=".toml")
        self._upload.on_upload(self._uploaded)

    def _add_spheres(self) -> None:
        async def changed(event: "viser.GuiEvent[Any]") -> None:
            self._actions.show_spheres(event.target.value)

        hint = "Show the spheres that are checked for collisions."
        self._gui.add_checkbox("Spheres", False, hint=hint).on_update(changed)

    def _edit(self, edit: Callable[[], str]) -> None:
        self._actions.apply(partial(self._session.edit_scene, edit))

    def _select(self, name: str) -> None:
        chosen = None if name == NO_OBSTACLE else name
        if chosen != self._obstacles.selected:
            self._obstacles.select(chosen)

    def _set_margin(self, millimetres: float) -> None:
        self._session.edit_scene(partial(self._obstacles.set_margin, 1e-3 * millimetres))

    async def _uploaded(self, event: "viser.GuiEvent[Any]") -> None:
        file = event.target.value
        self._edit(partial(self._obstacles.load, file.name, file.content))

    # The selected obstacle, as ``PoseFields`` shows and moves it.

    @property
    def _pose(self) -> Floats:
        obstacle = self._obstacles.obstacle
        return np.eye(4) if obstacle is None else obstacle.pose

    @property
    def _rotates(self) -> bool:
        obstacle = self._obstacles.obstacle
        return obstacle is not None and rotates(obstacle)

    @property
    def _unit(self) -> Unit:
        return self._session.angle_unit

    def _move(self, position: Any = None, rpy: Any = None) -> None:
        self._session.edit_scene(partial(self._obstacles.move, position=position, rpy=rpy))

    def refresh(self) -> None:
        """Show the session's obstacles and the selected one."""
        names = (NO_OBSTACLE, *self._obstacles.scene.names)
        if self._name.options != names:
            self._name.options = names
        self._name.value = self._obstacles.selected or NO_OBSTACLE
        selected = self._obstacles.obstacle
        self.show(selected is not None)
        self._remove.visible = selected is not None
        super().refresh()
        self._show_sizes(selected)

    def _show_sizes(self, obstacle: Obstacle | None) -> None:
        """Show a field for each number of the selected obstacle."""
        has_sizes = obstacle is not None and not isinstance(obstacle, Grid | HalfSpace)
        sizes = obstacle.sizes() if obstacle is not None and has_sizes else {}
        if self._sized != (self._obstacles.selected, *sizes):
            self._sized, self._folder.visible = (self._obstacles.selected, *sizes), has_sizes
            for field in self._sizes.values():
                field.remove()
            with self._folder:
                self._sizes = {key: self._add_size(key, value) for key, value in sizes.items()}
            self._known_sizes = {key: field.value for key, field in self._sizes.items()}
        for key, field in self._sizes.items():
            known = self._known_sizes[key]
            if not np.allclose(known, sizes[key], atol=1e-9) and np.array_equal(field.value, known):
                field.value = self._known_sizes[key] = sizes[key]

    def _add_size(self, key: str, value: Any) -> Any:
        add: Any = self._gui.add_vector3 if isinstance(value, list) else self._gui.add_number
        field = add(key, value, step=0.001)
        on_change(field, self._actions.apply, partial(self._resize, key), (self, key))
        return field

    def _resize(self, key: str, value: Any) -> None:
        self._known_sizes[key] = value
        self._session.edit_scene(partial(self._obstacles.resize, **{key: value}))


def clearance_lines(obstacles: Obstacles, clearance: Clearance) -> list[str]:
    """The nearest or colliding things, and problems of the scene, as lines of HTML."""
    lines = [f"<span style='color:{RED}'>{escape(w)}</span>" for w in (obstacles.warning,) if w]
    if clearance.nearest is None:
        return [*lines, "clearance unlimited: no obstacles"]
    if clearance.distance >= obstacles.margin:
        names = ", ".join(map(escape, clearance.nearest))
        return [*lines, f"clearance {1e3 * clearance.distance:.1f} mm: {names}"]
    texts = contact_texts(clearance.nearest, clearance.distance, obstacles.margin)
    what, detail = map(escape, texts)
    return [*lines, f"<span style='color:{RED}'><b>{what}</b>, {detail}</span>"]
