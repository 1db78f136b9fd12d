"""The 3D scene of a visitor: the arm, its target, and other solutions."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.shapes import Floats
from jointwise.solvers.targets import TargetKind
from jointwise.view import shapes
from jointwise.view.workspace import drawing_size

if TYPE_CHECKING:
    import viser

Color = tuple[int, int, int]

# The palette of Okabe and Ito, safe for all kinds of colour vision; and greys.
TARGET_COLOR: Color = (213, 94, 0)
SOLUTION_COLOR: Color = (86, 180, 233)
MOVED_COLOR: Color = (230, 159, 0)
PART_COLORS: dict[shapes.Role, Color] = {
    "link": (0, 114, 178),
    "joint": (70, 76, 84),
    "rail": (150, 155, 160),
    "axis": (150, 155, 160),
}


def set_up_scene(server: "viser.ViserServer", chain: Chain, q: Floats) -> None:
    """Add what all visitors share: floor, base frame, and the initial camera.

    Args:
        server: The server of the page.
        chain: The arm.
        q: (n,) joint values that the camera is centred on [rad, m].
    """
    size = drawing_size(chain)
    spacing = float(10.0 ** np.floor(np.log10(size)))
    spacing = spacing if size / spacing > 2.5 else spacing / 2.0
    server.scene.add_grid(
        "/floor",
        2.4 * size,
        2.4 * size,
        cell_size=spacing / 5.0,
        section_size=spacing,
        cell_color=(232, 235, 238),
        section_color=(205, 210, 216),
        cell_thickness=0.7,
        shadow_opacity=0.08,
    )
    server.scene.add_frame(
        "/base", axes_length=0.12 * size, axes_radius=0.004 * size, origin_radius=0.006 * size
    )
    corners = chain.outline(q)
    centre = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    server.initial_camera.look_at = centre
    server.initial_camera.position = centre + 1.7 * size * np.array([0.72, -0.62, 0.35])
    server.initial_camera.fov = np.radians(45.0)
    server.initial_camera.near = 1e-3 * size
    server.initial_camera.far = 1e3 * size


class Drawing:
    """An arm and its target in one visitor's scene.

    The scene is a tree like the chain, each joint's frame below the one before. Meshes are sent
    once; a new configuration sends one rotation or one position per joint.

    Args:
        client: The visitor's connection.
        chain: The arm.
        meshes: GLB by joint, from ``meshes.load_glb``; empty to draw ``shapes.arm_parts``.

    Attributes:
        gizmo: The handle that the visitor drags the target by.
    """

    def __init__(
        self, client: "viser.ClientHandle", chain: Chain, meshes: dict[int, bytes]
    ) -> None:
        self._client = client
        self._chain = chain
        self._moved_joint: int | None = None
        self._solutions: dict[int, Any] = {}
        # Other solutions are thinner, so that the arm hides them where they coincide with it.
        thin = shapes.arm_parts(chain, 0.9 * shapes.link_radius(chain))
        self._solution_parts = [p for p in thin if p.joint >= 0 and p.role in ("link", "joint")]
        self._add_arm(meshes)
        self._add_target()

    def _add_arm(self, meshes: dict[int, bytes]) -> None:
        scene, chain, size = self._client.scene, self._chain, drawing_size(self._chain)
        self._link_wxyz = np.array([rotation_wxyz(link) for link in chain.arm.links[:-1]])
        # Path of each joint's frame in the tree.
        node = {-1: "/arm"} | {
            i: f"/arm/{'/'.join(map(str, range(i + 1)))}" for i in range(chain.n)
        }
        self._frames = [
            scene.add_frame(node[i], show_axes=False, position=link[:, 3], wxyz=wxyz)
            for i, (link, wxyz) in enumerate(zip(chain.arm.links, self._link_wxyz, strict=False))
        ]
        self._joint_parts: dict[int, list[tuple[Any, shapes.Role]]] = {}
        for number, part in enumerate(shapes.arm_parts(chain, shapes.link_radius(chain))):
            if meshes and part.role in ("link", "joint"):
                continue
            handle = scene.add_mesh_simple(
                f"{node[part.joint]}/{part.role}{number}",
                part.mesh.vertices,
                part.mesh.faces,
                color=PART_COLORS[part.role],
            )
            if part.role in ("joint", "axis"):
                self._joint_parts.setdefault(part.joint, []).append((handle, part.role))
        for joint, glb in meshes.items():
            scene.add_glb(f"{node[joint]}/mesh", glb)
        tool = chain.arm.links[-1]
        scene.add_frame(
            f"{node[chain.n - 1]}/tip",
            axes_length=0.09 * size,
            axes_radius=0.004 * size,
            origin_radius=0.008 * size,
            wxyz=rotation_wxyz(tool),
            position=tool[:, 3],
        )

    def _add_target(self) -> None:
        scene, size = self._client.scene, drawing_size(self._chain)
        self.gizmo = scene.add_transform_controls("/target", 0.2 * size, depth_test=False)
        scene.add_icosphere("/target/point", 0.03 * size, color=TARGET_COLOR)
        self._arrow = scene.add_arrows(
            "/target/direction",
            np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, 0.3 * size]]]),
            TARGET_COLOR,
            shaft_radius=0.006 * size,
            head_radius=0.016 * size,
            head_length=0.05 * size,
        )

    def show_arm(self, q: Floats, moved_joint: int | None = None) -> None:
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

    def show_target(self, T_base_target: Floats) -> None:
        """Move the target to a pose (4, 4)."""
        self.gizmo.wxyz, self.gizmo.position = rotation_wxyz(T_base_target), T_base_target[:3, 3]

    def show_kind(self, kind: TargetKind) -> None:
        """Show handles to rotate the target unless orientation is free; for one axis, an arrow."""
        self.gizmo.disable_rotations = kind.directions == 0
        self._arrow.visible = kind.directions == 1

    def show_solutions(self, solutions: dict[int, Floats], select: Callable[[int], None]) -> None:
        """Draw other solutions, translucent.

        Args:
            solutions: (n,) joint values [rad, m] by their index.
            select: Called with the index of a solution that is clicked.
        """
        for index in self._solutions.keys() - solutions.keys():
            self._solutions.pop(index).remove()
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
            self._solutions[index] = handle


def _clicked(select: Callable[[int], None], index: int, _: object) -> None:
    select(index)


def rotation_wxyz(frame: Floats) -> Floats:
    """(4,) quaternion w, x, y, z of the rotation of a frame, (3, 4) or (4, 4)."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(frame[:3, :3]).as_quat(scalar_first=True)
