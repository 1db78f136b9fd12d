"""The 3D scene of a visitor: the arm, its target, other solutions, and the floor."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.shapes import Floats
from jointwise.view import camera, shapes
from jointwise.view.arm_drawing import ArmDrawing
from jointwise.view.meshes import Mesh
from jointwise.view.obstacle_drawing import ObstacleDrawing
from jointwise.view.obstacles import Clearance, Obstacles
from jointwise.view.shapes import Color
from jointwise.view.target_gizmo import TargetGizmo
from jointwise.view.workspace import drawing_size

if TYPE_CHECKING:
    import viser

SOLUTION_COLOR: Color = (86, 180, 233)
CENTRED: Literal["center-center"] = "center-center"
# Where the labels of solutions are, as shares of the arm's length from its base. They differ, since
# two solutions may look alike: a spherical wrist that is flipped.
LABEL_SHARES = (0.5, 0.65, 0.35, 0.8, 0.42, 0.58, 0.72, 0.28)


def set_up_scene(
    server: "viser.ViserServer",
    size: float,
    points: Floats,
    direction: Floats = camera.FIRST_DIRECTION,
) -> None:
    """Add what all visitors share: the base frame, and the initial camera.

    Args:
        server: The server of the page.
        size: Length to which drawings are scaled [m].
        points: (k, 3) what the camera sees at first [m].
        direction: (3,) from there to the camera.
    """
    server.scene.add_frame(
        "/base", axes_length=0.12 * size, axes_radius=0.004 * size, origin_radius=0.006 * size
    )
    look_at, position = camera.frame_points(points, direction)
    server.initial_camera.look_at, server.initial_camera.position = look_at, position
    server.initial_camera.fov = camera.FIELD_OF_VIEW
    server.initial_camera.near, server.initial_camera.far = 1e-3 * size, 1e3 * size


def add_floor(scene: "viser.SceneApi", size: float, centre: Floats) -> "viser.GridHandle":
    """A grid, with lines at round distances, as wide as the arm can reach.

    Args:
        scene: The scene.
        size: Length to which drawings are scaled [m].
        centre: (3,) its middle [m].
    """
    spacing = float(10.0 ** np.floor(np.log10(size)))
    spacing = spacing if size / spacing > 2.5 else spacing / 2.0
    return scene.add_grid(
        "/floor",
        2.4 * size,
        2.4 * size,
        cell_size=spacing / 5.0,
        section_size=spacing,
        cell_color=(232, 235, 238),
        section_color=(205, 210, 216),
        cell_thickness=0.7,
        shadow_opacity=0.08,
        position=centre,
    )


class Drawing:
    """An arm and its target in one visitor's scene.

    Args:
        client: The visitor's connection.
        chain: The arm.
        meshes: By joint, from ``meshes.load_meshes``; empty to draw ``shapes.arm_parts``.
        q: (n,) first joint values [rad, m]; the floor is below them.

    Attributes:
        target: The target, which the visitor drags.
        obstacles: The obstacles, of which the visitor drags the selected one.
        floor: The grid below the arm.
    """

    def __init__(
        self,
        client: "viser.ClientHandle",
        chain: Chain,
        meshes: dict[int, Mesh],
        q: Floats,
    ) -> None:
        self._client = client
        self._chain = chain
        self._solutions: dict[int, tuple[Floats, Any]] = {}
        # Other solutions are thinner, so that the arm hides them where they coincide with it.
        thin = shapes.arm_parts(chain, 0.9 * shapes.link_radius(chain))
        self._solution_parts = [p for p in thin if p.joint >= 0 and p.role in ("link", "joint")]
        self._arm = ArmDrawing(client.scene, chain, meshes)
        centre = np.array([0.0, 0.0, self._arm.lowest_point(q)])
        self.floor = add_floor(client.scene, drawing_size(chain), centre)
        self.target = TargetGizmo(client.scene, "/target", drawing_size(chain))
        self.obstacles = ObstacleDrawing(client.scene, drawing_size(chain))

    def show_arm(self, q: Floats, moved_joint: int | None = None) -> None:
        """Move the arm to joint values (n,) [rad, m], and highlight the joint that moved last.

        The floor sinks where the arm would go through it. ``fit_view`` raises it again.
        """
        self._arm.show(q, moved_joint)
        sink_floor(self.floor, self._arm.lowest_point(q))

    def show_spheres(self, visible: bool) -> None:
        """Show or hide the spheres of the arm's geometry."""
        self._arm.show_spheres(visible)

    def show_obstacles(
        self, obstacles: Obstacles, clearance: Clearance, with_handles: bool
    ) -> None:
        """Draw the obstacles, and in red what touches; see ``ObstacleDrawing.show``."""
        self.obstacles.show(obstacles, clearance, with_handles)
        self._arm.show_touching(clearance.carriers)
        sink_floor(self.floor, float(obstacles.points()[:, 2].min(initial=np.inf)))

    def fit_view(self, q: Floats, points: Floats) -> None:
        """Put the floor below the arm at joint values (n,) [rad, m], and show all points (k, 3).

        The camera keeps its direction.
        """
        self.floor.position = (0.0, 0.0, self._arm.lowest_point(q))
        show_points(self._client.camera, points)

    def show_solutions(
        self,
        solutions: dict[int, Floats],
        labels: dict[int, str],
        select: Callable[[int], None],
    ) -> None:
        """Draw other solutions, translucent, each with a label.

        Args:
            solutions: (n,) joint values [rad, m] by their index.
            labels: By index, too.
            select: Called with the index of a solution that is clicked.
        """
        for index, (q, handle) in tuple(self._solutions.items()):
            if solutions.get(index) is not q:
                handle.remove()  # with its label
                del self._solutions[index]
        for index in solutions.keys() - self._solutions.keys():
            mesh = shapes.merge_parts(self._chain, self._solution_parts, solutions[index])
            handle = self._client.scene.add_mesh_simple(
                f"/solutions/{index}",
                mesh.vertices,
                mesh.faces,
                color=SOLUTION_COLOR,
                opacity=0.3,
                cast_shadow=False,
                receive_shadow=False,
            )
            handle.on_click(partial(_clicked, select, index))
            share = LABEL_SHARES[index % len(LABEL_SHARES)]
            position = point_along(self._chain.outline(solutions[index]), share)
            name = f"/solutions/{index}/label"
            self._client.scene.add_label(name, labels[index], position=position, anchor=CENTRED)
            self._solutions[index] = solutions[index], handle


def sink_floor(floor: "viser.GridHandle", lowest: float) -> None:
    """Lower the floor to the lowest point of what is drawn [m], if that is below it."""
    if lowest < floor.position[2]:
        floor.position = (0.0, 0.0, lowest)


def show_points(handle: "viser.CameraHandle", points: Floats) -> None:
    """Move a visitor's camera until it sees all points (k, 3) [m], in its current direction."""
    direction = handle.position - handle.look_at
    look_at, position = camera.frame_points(points, direction, handle.fov, handle.aspect)
    handle.position = position  # moves the point to look at, too: so that comes after
    handle.look_at = look_at


def point_along(corners: Floats, share: float) -> Floats:
    """(3,) the point of a polyline (k, 3) at a share of its length from its beginning [m]."""
    lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    distances = np.concatenate([[0.0], np.cumsum(lengths)])
    return np.array([np.interp(share * distances[-1], distances, column) for column in corners.T])


def _clicked(select: Callable[[int], None], index: int, _: object) -> None:
    select(index)
