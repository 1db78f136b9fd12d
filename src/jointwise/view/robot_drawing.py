"""A robot and its targets in a 3D scene."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from jointwise.kernels.shapes import PRISMATIC, Floats
from jointwise.model.tree_poses import body_poses
from jointwise.robot import Robot
from jointwise.view import scene, shapes
from jointwise.view.joint_frames import JointFrames, rotation_wxyz
from jointwise.view.meshes import Mesh
from jointwise.view.robot_session import LinkTarget
from jointwise.view.robot_shapes import link_parts
from jointwise.view.target_gizmo import TargetGizmo
from jointwise.view.workspace import drawing_size

if TYPE_CHECKING:
    import viser

# How far above a target its label is, relative to the size of the drawing.
LABEL_HEIGHT = 0.22


class RobotDrawing:
    """A robot whose links can be clicked, and a gizmo for each target.

    Args:
        client: The visitor's connection.
        robot: The robot.
        meshes: By link, from ``meshes.load_link_meshes``; empty to draw ``link_parts``.
        clicked: Called with the name of a link that is clicked.
        dragged: Called with the name of a link whose target is dragged.

    Attributes:
        gizmos: The target of each link that has one, by the link's name.
        floor: The grid below the robot.
    """

    def __init__(
        self,
        client: "viser.ClientHandle",
        robot: Robot,
        meshes: Mapping[str, Mesh],
        clicked: Callable[[str], None],
        dragged: Callable[[str], None],
    ) -> None:
        self._client, self._robot, self._dragged = client, robot, dragged
        tree = robot.model.tree
        self._frames = JointFrames(
            client.scene, "/robot", tree.placements, tree.parents.tolist(), tree.kinds == PRISMATIC
        )
        self._numbers = {link: number for number, link in enumerate(robot.link_names)}
        if meshes:
            self._add_meshes(meshes, clicked)
        else:
            self._add_parts(clicked)
        self.gizmos: dict[str, TargetGizmo] = {}
        self._labels: dict[str, viser.LabelHandle] = {}
        self._size = drawing_size(robot)
        lowest = self._lowest_point(robot.home, np.eye(4))
        self.floor = scene.add_floor(client.scene, self._size, np.array([0.0, 0.0, lowest]))

    def _node(self, link: str, content: str) -> str:
        """The name of a node that moves with a link, whose name may have slashes."""
        carrier = self._frames.names[self._robot.model.links[link].body]
        return f"{carrier}/{content}{self._numbers[link]}"

    def _add_meshes(self, meshes: Mapping[str, Mesh], clicked: Callable[[str], None]) -> None:
        points: dict[int, list[Floats]] = {}
        for link, mesh in meshes.items():
            body, transform, _ = self._robot.model.links[link]
            handle = self._client.scene.add_glb(
                self._node(link, "mesh"),
                mesh.glb,
                wxyz=rotation_wxyz(transform),
                position=transform[:, 3],
            )
            handle.on_click(partial(_clicked, clicked, link))
            hull = mesh.hull @ transform[:, :3].T + transform[:, 3]
            points.setdefault(body, []).append(hull)
        self._points = {body: np.concatenate(hulls) for body, hulls in points.items()}

    def _add_parts(self, clicked: Callable[[str], None]) -> None:
        parts = link_parts(self._robot)
        self._points = shapes.part_points([part for _, part in parts])
        for link, (_, role, mesh) in parts:
            handle = self._client.scene.add_mesh_simple(
                self._node(link, role), mesh.vertices, mesh.faces, color=shapes.PART_COLORS[role]
            )
            handle.on_click(partial(_clicked, clicked, link))

    def show_robot(self, q: Floats, base: Floats) -> None:
        """Move the robot to joint values (n,) [rad, m] and its root link to a pose (4, 4)."""
        tree, root = self._robot.model.tree, self._frames.root
        root.wxyz, root.position = rotation_wxyz(base), base[:3, 3]
        self._frames.move(tree.ratios * q[tree.variables] + tree.offsets)
        scene.sink_floor(self.floor, self._lowest_point(q, base))

    def show_targets(self, targets: Mapping[str, LinkTarget], with_poses: bool) -> None:
        """Show the targets of links; without their poses while the visitor drags one."""
        for link in self.gizmos.keys() - targets.keys():
            self.gizmos.pop(link).handle.remove()
            self._labels.pop(link).remove()
        for link, target in targets.items():
            added = link not in self.gizmos
            if added:
                self._add_gizmo(link)
            if added or with_poses:
                self.gizmos[link].show(target.pose)
            self.gizmos[link].show_kind(target.kind)
            height = LABEL_HEIGHT * self._size
            self._labels[link].position = target.pose[:3, 3] + [0.0, 0.0, height]

    def _add_gizmo(self, link: str) -> None:
        number, in_scene = self._numbers[link], self._client.scene
        gizmo = TargetGizmo(in_scene, f"/targets/{number}", self._size)
        self.gizmos[link] = gizmo
        self._labels[link] = in_scene.add_label(f"/labels/{number}", link, anchor=scene.CENTRED)

        async def dragged(_: object) -> None:
            self._dragged(link)

        gizmo.handle.on_update(dragged)

    def fit_view(self, q: Floats, base: Floats, points: Floats) -> None:
        """Put the floor below the robot, and show all points (k, 3) [m]."""
        self.floor.position = (0.0, 0.0, self._lowest_point(q, base))
        scene.show_points(self._client.camera, points)

    def _lowest_point(self, q: Floats, base: Floats) -> float:
        bodies = base @ body_poses(self._robot.model.tree, q[None])[0]
        return shapes.lowest_point(np.concatenate([bodies, base[None]]), self._points)


def _clicked(clicked: Callable[[str], None], link: str, _: object) -> None:
    clicked(link)
