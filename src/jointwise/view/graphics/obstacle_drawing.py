"""Obstacles in a 3D scene, with handles to drag the selected one."""

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.scene.grid import Grid
from jointwise.scene.half_space import HalfSpace
from jointwise.scene.obstacle import Obstacle
from jointwise.scene.sphere import Sphere
from jointwise.view.graphics.joint_frames import rotation_wxyz
from jointwise.view.graphics.shapes import COLLIDING_COLOR, Color
from jointwise.view.graphics.target_gizmo import pose_matrix
from jointwise.view.state.obstacles import Clearance, Obstacles

if TYPE_CHECKING:
    import viser

OBSTACLE_COLOR: Color = (150, 155, 160)
# Opacity of a half-space, of other obstacles, and of one that is selected or collides.
PLANE_OPACITY, OPACITY, MARKED_OPACITY = 0.25, 0.5, 0.75
ABOVE: Literal["bottom-center"] = "bottom-center"


class _Drawn(NamedTuple):
    """An obstacle, its nodes, and (3,) the middle of its surface in its own frame [m]."""

    obstacle: Obstacle
    mesh: Any
    label: Any
    middle: Floats


class ObstacleDrawing:
    """Obstacles in one visitor's scene.

    Args:
        scene: The visitor's scene.
        size: Length that sets the scale of the handles [m].

    Attributes:
        handle: The handle that the visitor drags; hidden while no obstacle is selected.
    """

    def __init__(self, scene: "viser.SceneApi", size: float) -> None:
        self._scene = scene
        self._drawn: dict[str, _Drawn] = {}
        self._count = 0
        self._middle: Floats = np.zeros(3)
        self.handle = scene.add_transform_controls(
            "/obstacle_handles", 0.2 * size, depth_test=False, visible=False
        )

    def pose(self) -> Floats:
        """(4, 4) where the visitor dragged the selected obstacle."""
        pose = pose_matrix(self.handle.wxyz, self.handle.position)
        pose[:3, 3] -= pose[:3, :3] @ self._middle
        return pose

    def show(self, obstacles: Obstacles, clearance: Clearance, with_handles: bool) -> None:
        """Draw the obstacles; handles stay while the visitor drags them.

        Args:
            obstacles: The visitor's obstacles.
            clearance: The clearance of the drawn model; colliding obstacles are red.
            with_handles: Whether the handles are moved to the selected obstacle, too.
        """
        for name in self._drawn.keys() - set(obstacles.scene.names):
            self._remove(name)
        for each in obstacles.scene:
            self._show(each, each.name == obstacles.selected, each.name in clearance.obstacles)
        selected = obstacles.obstacle
        self.handle.visible = selected is not None
        if selected is not None and with_handles:
            self.handle.disable_rotations = not rotates(selected)
            self._middle = self._drawn[selected.name].middle
            self.handle.wxyz = rotation_wxyz(selected.pose)
            self.handle.position = selected.pose[:3, :3] @ self._middle + selected.pose[:3, 3]

    def _show(self, obstacle: Obstacle, selected: bool, colliding: bool) -> None:
        drawn = self._drawn.get(obstacle.name)
        if drawn is None or not _same_shape(drawn.obstacle, obstacle):
            self._remove(obstacle.name)
            drawn = self._add(obstacle)
        self._drawn[obstacle.name] = drawn._replace(obstacle=obstacle)
        mesh, label = drawn.mesh, drawn.label
        _set(mesh, "position", obstacle.pose[:3, 3])
        _set(mesh, "wxyz", rotation_wxyz(obstacle.pose))
        _set(mesh, "color", COLLIDING_COLOR if colliding else OBSTACLE_COLOR)
        plain = PLANE_OPACITY if isinstance(obstacle, HalfSpace) else OPACITY
        _set(mesh, "opacity", MARKED_OPACITY if selected or colliding else plain)
        _set(label, "visible", selected or colliding)

    def _add(self, obstacle: Obstacle) -> "_Drawn":
        """Add a mesh and its label, named by numbers because names of obstacles may be anything.

        The mesh takes no clicks, because it would hide handles behind or inside it; see
        ``Obstacles.hit``.
        """
        self._count += 1
        node, surface = f"/obstacles/{self._count}", obstacle.surface()
        mesh = self._scene.add_mesh_simple(
            node,
            surface.vertices,
            surface.faces,
            color=OBSTACLE_COLOR,
            opacity=OPACITY,
            flat_shading=True,
            side="double",
            cast_shadow=False,
            receive_shadow=False,
        )
        middle = 0.5 * (surface.vertices.min(axis=0) + surface.vertices.max(axis=0))
        label = self._scene.add_label(
            f"{node}/name", obstacle.name, position=middle, anchor=ABOVE, visible=False
        )
        return _Drawn(obstacle, mesh, label, middle)

    def _remove(self, name: str) -> None:
        if name in self._drawn:
            self._drawn.pop(name).mesh.remove()  # with its label


def rotates(obstacle: Obstacle) -> bool:
    """Whether a rotation changes an obstacle, and is possible."""
    return not isinstance(obstacle, Sphere | Grid)


def _same_shape(a: Obstacle, b: Obstacle) -> bool:
    """Whether two differ at most in their poses; ``Obstacle.at`` keeps all other fields."""
    names = [each.name for each in fields(a) if each.name != "pose"]
    return type(a) is type(b) and all(getattr(a, name) is getattr(b, name) for name in names)


def _set(handle: Any, name: str, value: Any) -> None:
    """Set a property of a node if it differs, since each is a message to the browser."""
    if not np.array_equal(getattr(handle, name), value):
        setattr(handle, name, value)
