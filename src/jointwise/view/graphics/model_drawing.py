"""An arm or a robot in a 3D scene."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.kernels.layout.arrays import Floats
from jointwise.results.result import IDENTITY
from jointwise.robot import Robot
from jointwise.view.graphics import shapes
from jointwise.view.graphics.joint_frames import JointFrames, rotation_wxyz
from jointwise.view.graphics.meshes import Mesh
from jointwise.view.graphics.shapes import PART_COLORS, Color, Part
from jointwise.view.graphics.skin import skin_parts
from jointwise.view.graphics.sphere_drawing import SphereDrawing
from jointwise.view.graphics.tree_shapes import link_parts
from jointwise.view.state.workspace import drawing_size

if TYPE_CHECKING:
    import viser

# Colour of the joint that moved last, from the palette of Okabe and Ito.
MOVED_COLOR: Color = (230, 159, 0)


class ModelDrawing:
    """An arm or a robot in a scene. Meshes are sent once, in the frames of joints.

    Args:
        scene: The scene, of one visitor or of all.
        model: The arm or robot.
        meshes: From ``meshes.load_meshes``. Without any, a skin around the spheres of the model is
            drawn if its shape is known, and rods otherwise.
        clicked: Called with the name of a link of a robot that is clicked.

    Attributes:
        root: The node of the whole model, to hide it.
        spheres: The spheres of its shape, hidden at first.
    """

    def __init__(
        self,
        scene: "viser.SceneApi",
        model: Chain | Robot,
        meshes: Sequence[Mesh] = (),
        clicked: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._scene, self._model, self._clicked = scene, model, clicked
        self._tree = model._numbers.tree
        self._moved_joint: int | None = None
        self._joint_parts: dict[int, list[tuple[Any, shapes.Role]]] = {}
        tree = self._tree
        self._frames = JointFrames(
            scene, "/model", tree.placements, tree.parents.tolist(), tree.kinds == PRISMATIC
        )
        self.root = self._frames.root
        self.spheres = SphereDrawing(scene, self._frames.names)
        parts = model_parts(model)
        skins = [] if meshes else skin_parts(model)
        if meshes or skins:  # only the axes and rails of an arm are drawn beside them
            kept = () if isinstance(model, Robot) else ("axis", "rail")
            parts = [part for part in parts if part.role in kept] + skins
        if meshes:
            parts += shapes.tool_parts(model)
        self._points = shapes.part_points(parts)
        for number, part in enumerate(parts):
            self._add_part(number, part)
        for number, mesh in enumerate(meshes):
            self._add_mesh(number, mesh)
        if not isinstance(model, Robot):
            self._add_tip(model)

    def _add_part(self, number: int, part: Part) -> None:
        handle = self._scene.add_mesh_simple(
            f"{self._frames.names[part.joint]}/{part.role}{number}",
            part.mesh.vertices,
            part.mesh.faces,
            color=PART_COLORS[part.role],
        )
        if part.role in ("joint", "axis"):
            self._joint_parts.setdefault(part.joint, []).append((handle, part.role))
        self._on_click(handle, part.link)

    def _add_mesh(self, number: int, mesh: Mesh) -> None:
        handle = self._scene.add_glb(f"{self._frames.names[mesh.joint]}/mesh{number}", mesh.glb)
        carried = [self._points[mesh.joint]] if mesh.joint in self._points else []
        self._points[mesh.joint] = np.concatenate([*carried, mesh.hull])
        self._on_click(handle, mesh.link)

    def _on_click(self, handle: Any, link: str | None) -> None:
        if link is not None:
            handle.on_click(lambda _: self._clicked(link))

    def _add_tip(self, chain: Chain) -> None:
        size, tool, last = drawing_size(chain), chain.arm.links[-1], chain.n - 1
        radius, carried = 0.008 * size, self._points.get(last, np.empty((0, 3)))
        poles = tool[:, 3] + radius * np.concatenate([np.eye(3), -np.eye(3)])
        self._points[last] = np.concatenate([carried, poles])
        self._scene.add_frame(
            f"{self._frames.names[last]}/tip",
            axes_length=0.09 * size,
            axes_radius=0.004 * size,
            origin_radius=radius,
            wxyz=rotation_wxyz(tool),
            position=tool[:, 3],
        )

    def show(self, q: Floats, base_pose: Floats = IDENTITY, moved_joint: int | None = None) -> None:
        """Move the model, and highlight the joint that moved last.

        Args:
            q: (n,) joint values [rad, m].
            base_pose: (4, 4) pose of the root link of a robot.
            moved_joint: Which joint, from 0; None for none.
        """
        if isinstance(self._model, Robot):
            self.root.wxyz, self.root.position = rotation_wxyz(base_pose), base_pose[:3, 3]
        self._frames.move(self._tree.ratios * q[self._tree.variables] + self._tree.offsets)
        if moved_joint != self._moved_joint:
            for joint, parts in self._joint_parts.items():
                for handle, role in parts:
                    handle.color = MOVED_COLOR if joint == moved_joint else PART_COLORS[role]
            self._moved_joint = moved_joint

    def points(self, q: Floats, base_pose: Floats = IDENTITY) -> Floats:
        """(k, 3) points whose convex hull contains the whole drawing [m], world frame."""
        frames = shapes.carrying_frames(self._model, q, base_pose)
        each = [
            carried @ frames[joint, :3, :3].T + frames[joint, :3, 3]
            for joint, carried in self._points.items()
        ]
        return np.concatenate([np.empty((0, 3)), *each])

    def lowest_point(self, q: Floats, base_pose: Floats = IDENTITY) -> float:
        """The smallest z of the drawing [m]; the arguments are those of ``show``."""
        frames = shapes.carrying_frames(self._model, q, base_pose)
        return shapes.lowest_point(frames, self._points)


def model_parts(model: Chain | Robot, thickness: float = 1.0) -> list[Part]:
    """The bodies of a model, with links of a relative thickness."""
    if isinstance(model, Robot):
        return link_parts(model, thickness)
    return shapes.arm_parts(model, thickness * shapes.link_radius(model))
