"""What comes back: frozen, with arrays that cannot be written to."""

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from jointwise.errors import UnsolvedError
from jointwise.kernels import Floats

if TYPE_CHECKING:
    from scipy.spatial.transform import RigidTransform, Rotation


class Status(Enum):
    """How a solve ended; the value is a sentence, with a remedy where one is needed."""

    CONVERGED = "The tip is at the target, within the tolerances."
    ITERATION_LIMIT = (
        "It stopped while the tip was still coming closer: allow more iterations, "
        "or go on from these joint values."
    )
    STALLED = (
        "The arm comes no closer to the target from any start that was tried: it is most likely "
        "out of reach as asked. Ask for less (an aim or a position instead of a pose, a larger "
        "tolerance), or try other starts."
    )
    BLOCKED = (
        "Joint limits keep the tip from the target, which it would reach without them: "
        "widen the limits, or move the target or the base."
    )
    UNREACHABLE = (
        "The target is farther away than the arm is long, and the arm reaches out towards it: "
        "move the target or the base."
    )


class IKResult(NamedTuple):
    """Where the joints must go, and whether that is good enough.

    A named tuple, because making a frozen dataclass takes longer than many a solve.

    Attributes:
        joint_angles: (n,) one value per joint [rad]; [m] for a sliding joint. Read-only.
        converged: Whether the errors are below the tolerances asked for.
        position_error: Distance from tip to target [m], measured at ``joint_angles``.
        iterations: Completed sweeps over all joints, and steps of the finish.
        status: How it ended, in a sentence: ``print(result.status.value)``.
        orientation_error: Angle between tip and target [rad]; 0 where orientation is free.
        restarts: Fresh starts that were needed.
    """

    joint_angles: Floats
    converged: bool
    position_error: float
    iterations: int
    status: Status
    orientation_error: float = 0.0
    restarts: int = 0

    def __eq__(self, other: object) -> bool:  # not by arrays, which have no single answer
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def or_raise(self) -> "IKResult":
        """This result if it converged.

        Raises:
            UnsolvedError: It did not; the text says why, and by how much it missed.
        """
        if not self.converged:
            miss = f"{self.position_error:.3g} m"
            if self.orientation_error:
                miss += f" and {self.orientation_error:.3g} rad"
            raise UnsolvedError(f"missed by {miss}. {self.status.value}")
        return self


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
