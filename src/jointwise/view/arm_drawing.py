"""An arm in a 3D scene."""

from typing import TYPE_CHECKING, Any

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.shapes import Floats
from jointwise.view import shapes
from jointwise.view.meshes import Mesh
from jointwise.view.workspace import drawing_size

if TYPE_CHECKING:
    import viser

Color = tuple[int, int, int]

# The palette of Okabe and Ito, safe for all kinds of colour vision; and greys.
MOVED_COLOR: Color = (230, 159, 0)
PART_COLORS: dict[shapes.Role, Color] = {
    "link": (0, 114, 178),
    "joint": (70, 76, 84),
    "rail": (150, 155, 160),
    "axis": (150, 155, 160),
}


class ArmDrawing:
    """An arm in a scene.

    The scene is a tree like the chain, each joint's frame below the one before. Meshes are sent
    once; a new configuration sends one rotation or one position per joint.

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
        self._link_wxyz = np.array([rotation_wxyz(link) for link in chain.arm.links[:-1]])
        # Path of each joint's frame in the tree.
        node = {-1: "/arm"} | {
            i: f"/arm/{'/'.join(map(str, range(i + 1)))}" for i in range(chain.n)
        }
        self.root = scene.add_frame(node[-1], show_axes=False)
        self._frames = [
            scene.add_frame(node[i], show_axes=False, position=link[:, 3], wxyz=wxyz)
            for i, (link, wxyz) in enumerate(zip(chain.arm.links, self._link_wxyz, strict=False))
        ]
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
        self._add_tip(scene, f"{node[chain.n - 1]}/tip")

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
        c, s = np.cos(0.5 * q), np.sin(0.5 * q)
        w, x, y, z = self._link_wxyz.T
        wxyz = np.stack([w * c - z * s, x * c + y * s, y * c - x * s, z * c + w * s], axis=1)
        for joint, (handle, link) in enumerate(
            zip(self._frames, self._chain.arm.links[:-1], strict=True)
        ):
            if self._chain.prismatic[joint]:
                handle.position = link[:, 3] + q[joint] * link[:, 2]
            else:
                handle.wxyz = wxyz[joint]
        if moved_joint != self._moved_joint:
            for joint, parts in self._joint_parts.items():
                for handle, role in parts:
                    handle.color = MOVED_COLOR if joint == moved_joint else PART_COLORS[role]
            self._moved_joint = moved_joint

    def lowest_point(self, q: Floats) -> float:
        """The smallest z of what is drawn at joint values (n,) [m]."""
        return shapes.lowest_point(self._chain, self._points, q)


def rotation_wxyz(frame: Floats) -> Floats:
    """(4,) quaternion w, x, y, z of the rotation of a frame, (3, 4) or (4, 4)."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(frame[:3, :3]).as_quat(scalar_first=True)
