"""An arm in a 3D scene."""

from typing import TYPE_CHECKING, Any

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.shapes import Floats
from jointwise.view import shapes
from jointwise.view.joint_frames import JointFrames, rotation_wxyz
from jointwise.view.meshes import Mesh
from jointwise.view.shapes import PART_COLORS, TOUCHING_COLOR, Color
from jointwise.view.workspace import drawing_size

if TYPE_CHECKING:
    import viser

# Of the joint that moved last; of the palette of Okabe and Ito.
MOVED_COLOR: Color = (230, 159, 0)
# Of the spheres of its geometry.
SPHERE_COLOR: Color = (0, 158, 115)
SPHERE_OPACITY, TOUCHING_OPACITY = 0.35, 0.6


class ArmDrawing:
    """An arm in a scene. Meshes are sent once, in the frames of the joints that carry them.

    Args:
        scene: The scene, of one visitor or of all.
        chain: The arm.
        meshes: By joint, from ``meshes.load_meshes``. None: ``shapes.arm_parts`` are drawn.

    Attributes:
        root: The node of the whole arm, to hide it.
    """

    def __init__(
        self, scene: "viser.SceneApi", chain: Chain, meshes: dict[int, Mesh] | None = None
    ) -> None:
        self._chain = chain
        self._moved_joint: int | None = None
        placements, parents = chain.arm.links[:-1], range(-1, chain.n - 1)
        self._frames = JointFrames(scene, "/arm", placements, parents, chain.prismatic)
        self.root, node = self._frames.root, self._frames.names
        parts = shapes.arm_parts(chain, shapes.link_radius(chain))
        if meshes:
            parts = [part for part in parts if part.role not in ("link", "joint")]
        self._points = shapes.part_points(parts)
        self._joint_parts: dict[int, list[tuple[Any, shapes.Role]]] = {}
        for number, part in enumerate(parts):
            handle = scene.add_mesh_simple(
                f"{node[part.joint]}/{part.role}{number}",
                part.mesh.vertices,
                part.mesh.faces,
                color=PART_COLORS[part.role],
            )
            if part.role in ("joint", "axis"):
                self._joint_parts.setdefault(part.joint, []).append((handle, part.role))
        for joint, mesh in (meshes or {}).items():
            scene.add_glb(f"{node[joint]}/mesh", mesh.glb)
            carried = [self._points[joint]] if joint in self._points else []
            self._points[joint] = np.concatenate([*carried, mesh.hull])
        self._spheres = self._add_spheres(scene, node)
        self._shows_spheres, self._touching = False, frozenset[int]()
        self._add_tip(scene, f"{node[chain.n - 1]}/tip")

    def _add_spheres(self, scene: "viser.SceneApi", node: dict[int, str]) -> dict[int, Any]:
        """The spheres of each carrier, translucent and hidden at first."""
        geometry, handles = self._chain.geometry, {}
        for carrier, spheres in enumerate([] if geometry is None else geometry.spheres_by_carrier):
            if len(spheres):
                mesh = shapes.sphere_mesh(spheres)
                handles[carrier] = scene.add_mesh_simple(
                    f"{node[min(carrier, self._chain.n) - 1]}/spheres{carrier}",
                    mesh.vertices,
                    mesh.faces,
                    color=SPHERE_COLOR,
                    opacity=SPHERE_OPACITY,
                    visible=False,
                    cast_shadow=False,
                )
        return handles

    def show_spheres(self, visible: bool) -> None:
        """Show or hide the spheres of the arm's geometry; those of what touches are shown."""
        self._shows_spheres = visible
        for carrier, handle in self._spheres.items():
            handle.visible = visible or carrier in self._touching

    def show_touching(self, carriers: frozenset[int]) -> None:
        """Show the spheres of some carriers in red, by the numbers of ``Geometry``."""
        if carriers == self._touching:
            return
        for carrier in carriers ^ self._touching:
            if carrier in self._spheres:
                handle, touches = self._spheres[carrier], carrier in carriers
                handle.color = TOUCHING_COLOR if touches else SPHERE_COLOR
                handle.opacity = TOUCHING_OPACITY if touches else SPHERE_OPACITY
                handle.visible = self._shows_spheres or touches
        self._touching = carriers

    def _add_tip(self, scene: "viser.SceneApi", name: str) -> None:
        size, tool = drawing_size(self._chain), self._chain.arm.links[-1]
        scene.add_frame(
            name,
            axes_length=0.09 * size,
            axes_radius=0.004 * size,
            origin_radius=0.008 * size,
            wxyz=rotation_wxyz(tool),
            position=tool[:, 3],
        )

    def show(self, q: Floats, moved_joint: int | None = None) -> None:
        """Move the arm to joint values (n,) [rad, m], and highlight the joint that moved last."""
        self._frames.move(q)
        if moved_joint != self._moved_joint:
            for joint, parts in self._joint_parts.items():
                for handle, role in parts:
                    handle.color = MOVED_COLOR if joint == moved_joint else PART_COLORS[role]
            self._moved_joint = moved_joint

    def lowest_point(self, q: Floats) -> float:
        """The smallest z of what is drawn at joint values (n,) [m]."""
        return shapes.lowest_point(shapes.carrying_frames(self._chain, q), self._points)
