"""A target in a 3D scene, with handles to drag it."""

from typing import TYPE_CHECKING

import numpy as np

from jointwise.kernels.layout.arrays import Floats
from jointwise.targets import TargetKind
from jointwise.view.graphics.joint_frames import rotation_wxyz
from jointwise.view.graphics.shapes import Color

if TYPE_CHECKING:
    import viser

TARGET_COLOR: Color = (213, 94, 0)
# Radius of the sphere, relative to the size of the drawing.
POINT_SIZE = 0.06


class TargetGizmo:
    """A sphere with handles that move and rotate it.

    Args:
        scene: The visitor's scene.
        name: The name of its node.
        size: Length that sets its scale [m].

    Attributes:
        handle: The handle that the visitor drags.
    """

    def __init__(self, scene: "viser.SceneApi", name: str, size: float) -> None:
        self.handle = scene.add_transform_controls(name, 0.2 * size, depth_test=False)
        # Larger than a wrist, which would hide it, and translucent.
        scene.add_icosphere(f"{name}/point", POINT_SIZE * size, color=TARGET_COLOR, opacity=0.5)
        self.arrow = scene.add_arrows(
            f"{name}/direction",
            np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, 0.3 * size]]]),
            TARGET_COLOR,
            shaft_radius=0.006 * size,
            head_radius=0.016 * size,
            head_length=0.05 * size,
        )

    def pose(self) -> Floats:
        """(4, 4) where the visitor dragged it."""
        return pose_matrix(self.handle.wxyz, self.handle.position)

    def show(self, T_base_target: Floats) -> None:
        """Move it to a pose (4, 4)."""
        self.handle.wxyz = rotation_wxyz(T_base_target)
        self.handle.position = T_base_target[:3, 3]

    def show_kind(self, kind: TargetKind) -> None:
        """Show handles to rotate it unless orientation is free; for one axis, an arrow."""
        self.handle.disable_rotations = kind.directions == 0
        self.arrow.visible = kind.directions == 1


def pose_matrix(wxyz: Floats, position: Floats) -> Floats:
    """(4, 4) a pose from a quaternion w, x, y, z and a position [m]."""
    from scipy.spatial.transform import RigidTransform, Rotation

    rotation = Rotation.from_quat(wxyz, scalar_first=True)
    return RigidTransform.from_components(position, rotation).as_matrix()
