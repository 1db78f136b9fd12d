"""What comes back: frozen, with arrays that cannot be written to."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jointwise.kernels import Floats

if TYPE_CHECKING:
    from scipy.spatial.transform import RigidTransform, Rotation


@dataclass(frozen=True, slots=True, eq=False)
class IKResult:
    """Where the joints must go, and whether that is good enough.

    Attributes:
        joint_angles: (n,) one value per joint [rad]; [m] for a sliding joint. Read-only.
        converged: Whether ``position_error`` is below the tolerance asked for.
        position_error: Distance from tip to target [m], measured at ``joint_angles``.
        iterations: Completed sweeps over all joints.
    """

    joint_angles: Floats
    converged: bool
    position_error: float
    iterations: int


@dataclass(frozen=True, slots=True, eq=False)
class FKResult:
    """Where the arm is.

    Attributes:
        end_effector: (4, 4) pose of the tip in the base frame, ``T_base_tip``. Read-only.
        frames: (n+1, 4, 4) pose of every DH frame, first the base's own. Read-only.
    """

    end_effector: Floats
    frames: Floats

    @property
    def position(self) -> Floats:
        """(3,) where the tip is [m], base frame."""
        return self.end_effector[:3, 3]

    @property
    def rotation(self) -> "Rotation":
        """How the tip is turned, as SciPy's ``Rotation``."""
        from scipy.spatial.transform import Rotation

        return Rotation.from_matrix(self.end_effector[:3, :3])

    @property
    def transform(self) -> "RigidTransform":
        """The tip's pose as SciPy's ``RigidTransform``."""
        from scipy.spatial.transform import RigidTransform

        return RigidTransform.from_matrix(self.end_effector)
