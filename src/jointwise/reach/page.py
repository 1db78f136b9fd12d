"""The page of a reach map: its voxels in the browser, and the arm at the clicked voxel."""

from functools import partial
from html import escape
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.layout.arrays import Bools, Floats
from jointwise.reach.chunks import Float32s
from jointwise.reach.grid import AXES, Grid
from jointwise.reach.measures import MEASURE_NAMES, Measure, Reach, measure_unit
from jointwise.reach.pictures import VIRIDIS, Colours, colours
from jointwise.scene.scene import Scene
from jointwise.view.graphics import camera
from jointwise.view.graphics.floor import add_floor
from jointwise.view.graphics.model_drawing import ModelDrawing
from jointwise.view.server import (
    access_note,
    free_port,
    html,
    open_server,
    stop_server,
)

if TYPE_CHECKING:
    import viser

# Direction from the voxels to the camera: the surface of the first cut is visible.
CAMERA_DIRECTION = np.array([1.2, 2.9, 1.0])
# Edge of a cube relative to that of its voxel: gaps show where one ends.
CUBE_EDGE = 0.92
# Opacity of the voxels while one is selected, so that the arm among them is visible.
FADED = 0.2
# Intensities of ambient light and of light from the initial camera position. Their sum is about pi,
# at which a surface has its own colour.
AMBIENT, DIRECTIONAL = 2.6, 0.7
# Width of the panel [px].
PANEL_WIDTH = 320
SELECTED_COLOR = (213, 94, 0)
OBSTACLE_COLOR, OBSTACLE_OPACITY = (120, 120, 120), 0.55
MEASURES: dict[str, Measure] = {name: measure for measure, name in MEASURE_NAMES.items()}


class VoxelMap(Protocol):
    """The map on the page: a ``ReachMap``, with an array of each measure."""

    grid: Grid

    @property
    def chain(self) -> Chain:
        """The arm."""

    @property
    def scene(self) -> Scene | None:
        """The obstacles; None if there was no scene."""

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the map."""

    @property
    def dexterity(self) -> Float32s:
        """(x, y, z) share of the orientations that are reached."""

    def at(self, pose: Any) -> Reach:
        """The values in the voxel that contains a position (3,) [m]."""


class MapPage:
    """A page with the voxels of a map, up to a plane that cuts it. All visitors share its controls.

    Args:
        reach_map: The map.
        name: Title of the page.
        host: The address to listen on.
        port: The port to listen on; if it is in use, the next free one.

    Attributes:
        server: The server, to be stopped at the end.
    """

    def __init__(self, reach_map: VoxelMap, name: str, host: str, port: int) -> None:
        self._map, self._grid, self._chain = reach_map, reach_map.grid, reach_map.chain
        self.server = open_server(host, free_port(host, port), name)
        self._lock = Lock()
        self._cubes: Any = None
        self._set_up_scene()
        self._add_controls()
        self._show_axis()
        self._deselect()

    def _set_up_scene(self) -> None:
        voxels = np.argwhere(self._map.dexterity > 0.0)
        if not len(voxels):
            voxels = np.zeros((1, 3), int)
        half = 0.5 * self._grid.resolution
        low = self._centres(voxels.min(axis=0)) - half
        high = self._centres(voxels.max(axis=0)) + half
        centre, extent = 0.5 * (low + high), 0.5 * (high - low)
        self._extremes = centre + np.concatenate([np.diag(extent), np.diag(-extent)])
        size = float(extent.max())
        camera.set_up_scene(self.server, size, self._extremes, CAMERA_DIRECTION)
        add_floor(self.server.scene, size, np.array([centre[0], centre[1], low[2]]))
        self._arm = ModelDrawing(self.server.scene, self._chain)
        self._add_obstacles()
        light_evenly(self.server.scene)

    def _add_obstacles(self) -> None:
        self._obstacles: list[Any] = [
            self.server.scene.add_mesh_simple(
                f"/obstacles/{number}",
                *obstacle.surface().moved(obstacle.pose),
                color=OBSTACLE_COLOR,
                opacity=OBSTACLE_OPACITY,
                flat_shading=True,
                side="double",
                cast_shadow=False,
                receive_shadow=False,
            )
            for number, obstacle in enumerate(self._map.scene or ())
        ]

    def _add_controls(self) -> None:
        gui = self.server.gui
        self._measure = gui.add_dropdown("Quantity", tuple(MEASURES))
        self._colour_bar = gui.add_html("")
        self._axis = gui.add_dropdown("Cut along", AXES, initial_value="y")
        self._coordinate: Any = gui.add_slider("Up to [m]", 0.0, 1.0, 0.1, 0.0)
        self._opacity: Any = gui.add_slider("Opacity", 0.05, 1.0, 0.05, 1.0)
        if self._obstacles:
            self._with_obstacles = gui.add_checkbox("Obstacles", True)
            self._with_obstacles.on_update(self._show_obstacles)
        fit = gui.add_button("Fit view", hint="Show all voxels.")
        with gui.add_folder("Voxel"):
            self._details = gui.add_html("")
            self._deselect_button = gui.add_button("Deselect voxel")
        gui.main_panel.dock_right()
        gui.main_panel.set_width(PANEL_WIDTH)
        self._measure.on_update(self._draw)
        self._axis.on_update(self._show_axis)
        self._coordinate.on_update(self._draw)
        self._opacity.on_update(self._draw)
        fit.on_click(self._fit_view)
        self._deselect_button.on_click(self._deselect)

    def _show_obstacles(self, _: object) -> None:
        for handle in self._obstacles:
            handle.visible = self._with_obstacles.value

    def _show_axis(self, _: object = None) -> None:
        """Range of the cut along the chosen axis; the cut is moved through the base of the arm."""
        axis, step = AXES.index(self._axis.value), self._grid.resolution
        low, high = self._grid.centres(axis)[[0, -1]]
        base = float(np.rint(self._chain.arm.base_origin[axis] / step)) * step
        slider = self._coordinate
        slider.min, slider.max, slider.step = float(low), float(high), step
        slider.value = float(min(max(base, low), high))
        self._draw()

    def _draw(self, _: object = None) -> None:
        """Draw the voxels up to the cut, coloured by the chosen measure."""
        with self._lock, self.server.atomic():
            measure = MEASURES[self._measure.value]
            values = getattr(self._map, measure)
            largest = float(values.max()) if measure == "manipulability" else 1.0
            unit = measure_unit(measure, self._chain.arm, self._map.settings["orientations"])
            self._colour_bar.content = colour_bar_html(
                f"{MEASURE_NAMES[measure]} [{unit}]", largest
            )
            axis = AXES.index(self._axis.value)
            layers = self._grid.layer_at(axis, self._coordinate.value)
            voxels = visible_voxels(self._map.dexterity > 0.0, axis, layers)
            shares = values[tuple(voxels.T)] / (largest or 1.0)
            self._draw_cubes(voxels, colours(shares))

    def _draw_cubes(self, voxels: Any, cube_colours: Colours) -> None:
        import trimesh

        if self._cubes is not None:
            self._cubes.remove()
            self._cubes = None
        if not len(voxels):
            return
        cube = trimesh.creation.box([CUBE_EDGE * self._grid.resolution] * 3)
        faded = self._opacity.value < 1.0
        self._cubes = self.server.scene.add_batched_meshes_simple(
            "/reach",
            cube.vertices,
            cube.faces,
            np.tile([1.0, 0.0, 0.0, 0.0], (len(voxels), 1)),
            self._centres(voxels),
            batched_colors=linear_colours(cube_colours),
            opacity=self._opacity.value if faded else None,
            flat_shading=True,
            lod="off",
            cast_shadow=not faded,
            receive_shadow=False,
        )
        self._cubes.on_click(partial(self._clicked, self._centres(voxels)))

    def _centres(self, voxels: Any) -> Floats:
        """(..., 3) the centres of voxels [m]."""
        centres: Floats = self._grid.resolution * (voxels + np.array(self._grid.first))
        return centres

    def _clicked(self, centres: Floats, event: Any) -> None:
        if event.instance_index is not None:
            self.select(centres[event.instance_index])

    def select(self, centre: Floats) -> None:
        """Draw the arm in the configuration that the map has for a voxel, and show its values.

        Args:
            centre: (3,) its centre [m].
        """
        reach = self._map.at(centre)
        if reach.q is None:
            return
        with self._lock:
            self._arm.show(reach.q)
            self._arm.root.visible = True
            self.server.scene.add_box(
                "/selected", SELECTED_COLOR, (1.1 * self._grid.resolution,) * 3, position=centre
            )
            self._details.content = details_html(self._chain, centre, reach)
            self._deselect_button.visible = True
        self._opacity.value = min(FADED, self._opacity.value)

    def _deselect(self, _: object = None) -> None:
        with self._lock:
            self._arm.root.visible = False
            self.server.scene.remove_by_name("/selected")
            self._details.content = html("Click a voxel to see its values and the arm reaching it.")
            self._deselect_button.visible = False
        self._opacity.value = 1.0

    def _fit_view(self, event: Any) -> None:
        if event.client is not None:
            camera.show_points(event.client.camera, self._extremes)


def light_evenly(lights: "viser.SceneApi") -> None:
    """Use mostly ambient light, so that voxels have the colours of the colour bar."""
    lights.configure_default_lights(enabled=False)
    lights.configure_environment_map(hdri=None)
    lights.add_light_ambient("/ambient", intensity=AMBIENT)
    lights.add_light_directional(
        "/directional", intensity=DIRECTIONAL, cast_shadow=False, position=tuple(CAMERA_DIRECTION)
    )


def visible_voxels(reached: Bools, axis: int, last: int | None) -> Any:
    """(k, 3) indices of the voxels up to a layer that have a free side, which may be visible.

    Args:
        reached: (x, y, z) which voxels are reached.
        axis: The axis that is cut.
        last: The last layer along this axis. None: all.
    """
    shown = reached.copy()
    if last is not None:
        np.moveaxis(shown, axis, 0)[last + 1 :] = False
    padded = np.pad(shown, 1)
    enclosed = shown.copy()
    for direction in range(3):
        for shift in (-1, 1):
            enclosed &= np.roll(padded, shift, direction)[1:-1, 1:-1, 1:-1]
    return np.argwhere(shown & ~enclosed)


def linear_colours(srgb: Colours) -> Colours:
    """(k, 3) colours as viser's instanced meshes take them: proportional to light, not sRGB."""
    return np.rint(255.0 * (srgb / 255.0) ** 2.2).astype(np.uint8)


def colour_bar_html(label: str, largest: float) -> str:
    """A labelled colour bar from 0 to the largest value."""
    stops = ", ".join(f"rgb{tuple(colour.tolist())}" for colour in VIRIDIS)
    ticks = "".join(f"<span>{value:.3g}</span>" for value in (0.0, 0.5 * largest, largest))
    return html(
        f"<div>{escape(label)}</div>"
        f"<div style='height:0.9em;background:linear-gradient(to right, {stops})'></div>"
        f"<div style='display:flex;justify-content:space-between'>{ticks}</div>"
    )


def details_html(chain: Chain, centre: Floats, reach: Reach) -> str:
    """The centre and the values of a voxel, and the joint values of the arm in it."""
    rows = [("x, y, z [m]", ", ".join(f"{x:.3f}" for x in centre + 0.0))]
    rows += [(name, f"{getattr(reach, measure):.3g}") for measure, name in MEASURE_NAMES.items()]
    if reach.q is not None:
        units = ["m" if prismatic else "rad" for prismatic in chain.prismatic]
        rows += [
            (f"{joint} [{unit}]", f"{value:.3f}")
            for joint, unit, value in zip(chain.joint_names, units, reach.q, strict=True)
        ]
    cells = "".join(
        f"<tr><td>{escape(name)}</td><td style='text-align:right'>{value}</td></tr>"
        for name, value in rows
    )
    return html(f"<table style='width:100%'>{cells}</table>")


def serve_until_interrupted(server: "viser.ViserServer") -> None:
    """Print the address of a page on this machine, and wait for Ctrl+C; then stop the server."""
    try:
        address = f"http://127.0.0.1:{server.get_port()}"
        print(f"{address}, {access_note('127.0.0.1')}. Stop with Ctrl+C.", flush=True)
        Event().wait()
    except KeyboardInterrupt:
        print()
    finally:
        stop_server(server)
