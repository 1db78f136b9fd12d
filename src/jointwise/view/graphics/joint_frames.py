"""The frames that joints carry, as nodes of a 3D scene."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from jointwise.kernels.layout.arrays import Bools, Floats

if TYPE_CHECKING:
    import viser


class JointFrames:
    """A tree of nodes, each joint's frame below that of the joint which carries it.

    A new configuration sends one rotation or one position per joint.

    Args:
        scene: The scene, of one visitor or of all.
        name: The name of the root node.
        placements: (b, 3, 4) where each joint is, in the frame that carries it.
        parents: Which joint carries each; -1 for the root.
        prismatic: (b,) which joints move along z; the others turn about it.

    Attributes:
        root: The root node, to hide or to move all.
        names: The node's name of each joint; that of the root is at -1.
    """

    def __init__(
        self,
        scene: "viser.SceneApi",
        name: str,
        placements: Floats,
        parents: Sequence[int],
        prismatic: Bools,
    ) -> None:
        self._placements, self._prismatic = placements, prismatic
        self._wxyz = np.reshape([rotation_wxyz(placement) for placement in placements], (-1, 4))
        self.root = scene.add_frame(name, show_axes=False)
        self.names = {-1: name}
        self._handles = []
        for joint, (placement, parent) in enumerate(zip(placements, parents, strict=True)):
            self.names[joint] = f"{self.names[parent]}/{joint}"
            handle = scene.add_frame(
                self.names[joint],
                show_axes=False,
                position=placement[:, 3],
                wxyz=self._wxyz[joint],
            )
            self._handles.append(handle)

    def move(self, q: Floats) -> None:
        """Move all joints to their values (b,) [rad, m]."""
        c, s = np.cos(0.5 * q), np.sin(0.5 * q)
        w, x, y, z = self._wxyz.T
        wxyz = np.stack([w * c - z * s, x * c + y * s, y * c - x * s, z * c + w * s], axis=1)
        for joint, (handle, placement) in enumerate(
            zip(self._handles, self._placements, strict=True)
        ):
            if self._prismatic[joint]:
                handle.position = placement[:, 3] + q[joint] * placement[:, 2]
            else:
                handle.wxyz = wxyz[joint]


def rotation_wxyz(frame: Floats) -> Floats:
    """(4,) quaternion w, x, y, z of the rotation of a frame, (3, 4) or (4, 4)."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(frame[:3, :3]).as_quat(scalar_first=True)
