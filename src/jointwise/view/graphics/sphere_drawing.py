"""The spheres of a model's shape in a 3D scene."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jointwise.chain import Chain
from jointwise.robot import Robot
from jointwise.shape.geometry import group_spheres
from jointwise.shape.link_groups import move_spheres
from jointwise.view.graphics.shapes import COLLIDING_COLOR, Color, sphere_mesh
from jointwise.view.graphics.skin import group_carrier

if TYPE_CHECKING:
    import viser

SPHERE_COLOR: Color = (0, 158, 115)
SPHERE_OPACITY, COLLIDING_OPACITY = 0.35, 0.6


class SphereDrawing:
    """The spheres of each link group, translucent; drawn when they are first needed.

    Args:
        scene: The scene.
        nodes: The name of the node of each joint; that of the root is at -1.
    """

    def __init__(self, scene: "viser.SceneApi", nodes: Mapping[int, str]) -> None:
        self._scene, self._nodes = scene, nodes
        self._handles: dict[int, Any] = {}
        self._visible, self._colliding = False, frozenset[int]()

    def show(self, model: Chain | Robot, visible: bool) -> None:
        """Show or hide all spheres; colliding ones are always shown."""
        self._add(model)
        self._visible = visible
        for group, handle in self._handles.items():
            handle.visible = visible or group in self._colliding

    def show_colliding(self, model: Chain | Robot, groups: frozenset[int]) -> None:
        """Show the spheres of some link groups in red, by the numbers of ``Geometry``."""
        if groups == self._colliding:
            return
        self._add(model)
        for group in groups ^ self._colliding:
            if group in self._handles:
                handle, collides = self._handles[group], group in groups
                handle.color = COLLIDING_COLOR if collides else SPHERE_COLOR
                handle.opacity = COLLIDING_OPACITY if collides else SPHERE_OPACITY
                handle.visible = self._visible or collides
        self._colliding = groups

    def _add(self, model: Chain | Robot) -> None:
        if self._handles or model.geometry is None:
            return
        for group, spheres in enumerate(group_spheres(model.geometry)):
            if len(spheres):
                joint, pose = group_carrier(model.geometry, group, len(self._nodes) - 1)
                mesh = sphere_mesh(move_spheres(pose, spheres))
                self._handles[group] = self._scene.add_mesh_simple(
                    f"{self._nodes[joint]}/spheres{group}",
                    mesh.vertices,
                    mesh.faces,
                    color=SPHERE_COLOR,
                    opacity=SPHERE_OPACITY,
                    visible=False,
                    cast_shadow=False,
                )
