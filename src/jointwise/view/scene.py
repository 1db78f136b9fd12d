"""What a visitor sees in the middle: arm, target, ghosts."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from jointwise.chain import Chain
from jointwise.kernels.shapes import Floats
from jointwise.view import shapes
from jointwise.view.recording import Kind
from jointwise.view.session import extent

if TYPE_CHECKING:
    import viser

# Okabe and Ito's palette, told apart by every kind of colour vision; and greys.
LINK, TARGET, GHOST, MOVING = (0, 114, 178), (213, 94, 0), (86, 180, 233), (230, 159, 0)
COLORS: dict[shapes.Role, tuple[int, int, int]] = {
    "link": LINK,
    "joint": (70, 76, 84),
    "rail": (150, 155, 160),
    "axis": (150, 155, 160),
}


def furnish(server: "viser.ViserServer", chain: Chain, q: Floats) -> None:
    """What all visitors share: the floor, the base, and where they look from at first.

    Args:
        server: Of the page.
        chain: The arm.
        q: (n,) how it stands at first [rad, m].
    """
    size = extent(chain)
    step = float(10.0 ** np.floor(np.log10(size)))
    step = step if size / step > 2.5 else step / 2.0
    server.scene.add_grid(
        "/floor",
        2.4 * size,
        2.4 * size,
        cell_size=step / 5.0,
        section_size=step,
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

    The scene is the chain itself, each joint's frame below the one before: bodies are sent once,
    and a new posture sends one turn or one place a joint.
    """

    def __init__(
        self, client: "viser.ClientHandle", chain: Chain, meshes: dict[int, bytes]
    ) -> None:
        self._client = client
        self._chain = chain
        # Ghosts are slimmer, so that where they stand in the arm they are hidden by it.
        slim = shapes.parts(chain, 0.9 * shapes.radius(chain))
        self._slim = [p for p in slim if p.joint >= 0 and p.role in ("link", "joint")]
        self._lit: int | None = None
        self._moving: dict[int, list[Any]] = {}
        self._ghosts: dict[int, Any] = {}
        scene, size = client.scene, extent(chain)
        self._links = np.array([quaternion(link) for link in chain.arm.links[:-1]])
        # Where the bodies of each joint are in the tree; those of none stand still.
        node = {-1: "/arm"} | {
            i: f"/arm/{'/'.join(map(str, range(i + 1)))}" for i in range(chain.n)
        }
        self._frames = [
            scene.add_frame(node[i], show_axes=False, position=link[:, 3], wxyz=turn)
            for i, (link, turn) in enumerate(zip(chain.arm.links, self._links, strict=False))
        ]
        for number, part in enumerate(shapes.parts(chain, shapes.radius(chain))):
            if meshes and part.role in ("link", "joint"):
                continue
            handle = scene.add_mesh_simple(
                f"{node[part.joint]}/{part.role}{number}",
                part.mesh.vertices,
                part.mesh.faces,
                color=COLORS[part.role],
            )
            if part.role in ("joint", "axis"):
                self._moving.setdefault(part.joint, []).append((handle, part.role))
        for joint, content in meshes.items():
            scene.add_glb(f"{node[joint]}/mesh", content)
        tool = chain.arm.links[-1]
        scene.add_frame(
            f"{node[chain.n - 1]}/tip",
            axes_length=0.09 * size,
            axes_radius=0.004 * size,
            origin_radius=0.008 * size,
            wxyz=quaternion(tool),
            position=tool[:, 3],
        )
        self.gizmo = scene.add_transform_controls("/target", 0.2 * size, depth_test=False)
        scene.add_icosphere("/target/point", 0.03 * size, color=TARGET)
        self._arrow = scene.add_arrows(
            "/target/direction",
            np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, 0.3 * size]]]),
            TARGET,
            shaft_radius=0.006 * size,
            head_radius=0.016 * size,
            head_length=0.05 * size,
        )

    def show_arm(self, q: Floats, moving: int | None = None) -> None:
        """The arm in a posture, the joint that has just moved in another colour."""
        c, s = np.cos(0.5 * q), np.sin(0.5 * q)
        w, x, y, z = self._links.T
        turned = np.stack([w * c - z * s, x * c + y * s, y * c - x * s, z * c + w * s], axis=1)
        for joint, (handle, link) in enumerate(
            zip(self._frames, self._chain.arm.links[:-1], strict=True)
        ):
            if self._chain.prismatic[joint]:
                handle.position = link[:, 3] + q[joint] * link[:, 2]
            else:
                handle.wxyz = turned[joint]
        if moving != self._lit:
            for joint, bodies in self._moving.items():
                for handle, role in bodies:
                    handle.color = MOVING if joint == moving else COLORS[role]
            self._lit = moving

    def show_target(self, pose: Floats) -> None:
        """The target where it is."""
        self.gizmo.wxyz, self.gizmo.position = quaternion(pose), pose[:3, 3]

    def show_kind(self, kind: Kind) -> None:
        """What of the target can be dragged, and what it looks like."""
        self.gizmo.disable_rotations = kind == "position"
        self._arrow.visible = kind == "aim"

    def show_ghosts(self, postures: dict[int, Floats], choose: Callable[[int], None]) -> None:
        """Other postures, translucent; a click on one chooses it."""
        for number in self._ghosts.keys() - postures.keys():
            self._ghosts.pop(number).remove()
        for number in postures.keys() - self._ghosts.keys():
            mesh = shapes.placed(self._chain, self._slim, postures[number])
            ghost = self._client.scene.add_mesh_simple(
                f"/ghosts/{number}",
                mesh.vertices,
                mesh.faces,
                color=GHOST,
                opacity=0.3,
                cast_shadow=False,
                receive_shadow=False,
            )
            ghost.on_click(partial(_chosen, choose, number))
            self._ghosts[number] = ghost


def _chosen(choose: Callable[[int], None], number: int, _: object) -> None:
    choose(number)


def quaternion(frame: Floats) -> Floats:
    """(4,) w, x, y, z of a frame's rotation."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(frame[:3, :3]).as_quat(scalar_first=True)
