"""Cyclic Coordinate Descent for position targets of DH rows, and their forward kinematics.

After Wang and Chen, "A combined optimization method for solving the inverse kinematics
problem of mechanical manipulators", IEEE Transactions on Robotics and Automation 7(4), 1991.
"""

# Annotations stay text, so that help() shows the names of types, not what they stand for.
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from jointwise.backends import cpu
from jointwise.engines.serial.forward import frames_and_jacobian
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.kernels.layout.status import CONVERGED, INVALID
from jointwise.model import checks, millimetres
from jointwise.model.dh import dh_arm
from jointwise.model.joints import DHJoint
from jointwise.results.result import IKResult
from jointwise.results.status import Status

if TYPE_CHECKING:
    from scipy.spatial.transform import RigidTransform, Rotation


@dataclass(frozen=True, slots=True)
class CCDConfig:
    """Iteration limit and tolerance.

    Args:
        max_iterations: Largest number of sweeps over all joints; 0 only measures the error of the
            start.
        tolerance: Position error below which the solve has converged [m].

    Raises:
        InvalidInputError: ``max_iterations`` is negative or not an integer, or
            ``tolerance`` is not positive and finite.

    Example:
        >>> from jointwise import ccd_solve, two_link_planar
        >>> arm, config = two_link_planar(1.0, 1.0), CCDConfig(max_iterations=0)
        >>> ccd_solve(arm, [1.0, 1.0, 0.0], [0.0, 0.0], config).status.name
        'ITERATION_LIMIT'
    """

    max_iterations: int = 100
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        iterations = checks.count("max_iterations", self.max_iterations)
        object.__setattr__(self, "max_iterations", iterations)
        object.__setattr__(self, "tolerance", checks.positive("tolerance", self.tolerance))


DEFAULT_CCD_CONFIG = CCDConfig()

# Every move is larger, so sweeps end only at the tolerance or the iteration limit.
NEVER_STALLS = -1.0


def ccd_solve(
    joints: Iterable[DHJoint],
    target: ArrayLike | RigidTransform,
    initial_angles: ArrayLike,
    config: CCDConfig = DEFAULT_CCD_CONFIG,
) -> IKResult:
    """Solve for a position target by Cyclic Coordinate Descent.

    Each iteration visits the joints from the end effector to the base and turns
    every revolute joint by the angle that brings the end effector closest to the
    target. The position error never increases. Prismatic joints are not moved,
    orientation is free, and angles are not wrapped to ±pi.

    Args:
        joints: DH rows from base to end effector, standard convention.
        target: (3,) target position [m], base frame. Only the translation of a SciPy
            ``RigidTransform`` is used.
        initial_angles: (n,) start values [rad]; [m] for prismatic joints. Not modified.
        config: Iteration limit and tolerance.

    Returns:
        The result with the best joint values; ``converged`` tells whether the
        position error is below the tolerance. An unreachable target does not raise.

    Raises:
        DimensionMismatchError: ``initial_angles`` does not have one value per joint.
        InvalidInputError: Something else about the input is wrong; the text says what.

    Example:
        >>> from jointwise import two_link_planar
        >>> arm = two_link_planar(1.0, 1.0)
        >>> result = ccd_solve(arm, [1.0, 1.0, 0.0], [0.0, 0.0])
        >>> result.converged, result.iterations
        (True, 1)
    """
    arm = dh_arm(joints).model
    q = checks.joint_values("initial_angles", initial_angles, arm.n)
    point = checks.position("target", target)
    if not isinstance(config, CCDConfig):
        raise InvalidInputError(f"config is {config!r}: expected a CCDConfig.")
    code, error, _, sweeps, _ = cpu.ccd(
        arm.packed,
        point.reshape(1, 3),
        (1.0,),
        (config.tolerance, config.tolerance, 0, True, 0.5),
        NEVER_STALLS,
        config.max_iterations,
        q,
    )
    if code == INVALID:  # the kernel found a value that is not finite
        checks.all_finite("initial_angles", q)
        checks.all_finite("target", point)
    q.setflags(write=False)
    millimetres.check_miss(error, arm)
    converged = code == CONVERGED
    status = Status.CONVERGED if converged else Status.ITERATION_LIMIT
    return IKResult(q, converged, error, sweeps, status)


@dataclass(frozen=True, slots=True, eq=False)
class FKResult:
    """The frames of an arm at given joint values.

    Attributes:
        end_effector: (4, 4) pose of the end effector in the base frame, ``T_base_tip``. Read-only.
        frames: (n+1, 4, 4) pose of every DH frame, the first the identity. Read-only.

    Example:
        >>> from jointwise import forward_kinematics, two_link_planar
        >>> result = forward_kinematics(two_link_planar(1.0, 0.5), [0.0, 0.0])
        >>> result.frames.shape, result.end_effector.shape
        ((3, 4, 4), (4, 4))
    """

    end_effector: Floats
    frames: Floats

    @property
    def position(self) -> Floats:
        """(3,) position of the end effector [m], base frame."""
        return self.end_effector[:3, 3]

    @property
    def rotation(self) -> Rotation:
        """Orientation of the end effector, as SciPy's ``Rotation``."""
        from scipy.spatial.transform import Rotation

        return Rotation.from_matrix(self.end_effector[:3, :3])

    @property
    def transform(self) -> RigidTransform:
        """Pose of the end effector, as SciPy's ``RigidTransform``."""
        from scipy.spatial.transform import RigidTransform

        return RigidTransform.from_matrix(self.end_effector)


def forward_kinematics(joints: Iterable[DHJoint], joint_values: ArrayLike) -> FKResult:
    """Compute every frame of the arm, from base to end effector.

    Args:
        joints: DH rows from base to end effector, standard convention.
        joint_values: (n,) one value per joint [rad]; [m] for a prismatic joint.

    Returns:
        The pose of the end effector, and the n+1 frames that lead to it, the first the identity.

    Raises:
        DimensionMismatchError: ``joint_values`` does not have one value per joint.
        InvalidInputError: A value is not finite, or beyond 1e9, or ``joints`` are not DH rows.

    Example:
        >>> from jointwise import two_link_planar
        >>> forward_kinematics(two_link_planar(1.0, 0.5), [0.0, 0.0]).position
        array([1.5, 0. , 0. ])
    """
    arm, row_ends = dh_arm(joints)
    carried = frames_and_jacobian(arm, joint_values, "joint_values")[0]
    frames = np.empty((arm.n + 1, 4, 4))
    frames[:] = np.eye(4)
    np.matmul(carried, row_ends, out=frames[1:, :3])
    frames.setflags(write=False)
    return FKResult(end_effector=frames[-1], frames=frames)


def fk_position(joints: Iterable[DHJoint], joint_values: ArrayLike) -> Floats:
    """(3,) position of the end effector [m], base frame; see ``forward_kinematics``.

    Example:
        >>> from jointwise import two_link_planar
        >>> fk_position(two_link_planar(1.0, 0.5), [0.0, 0.0])
        array([1.5, 0. , 0. ])
    """
    return forward_kinematics(joints, joint_values).position


def fk_rotation(joints: Iterable[DHJoint], joint_values: ArrayLike) -> Rotation:
    """Orientation of the end effector, as SciPy's ``Rotation``; see ``forward_kinematics``.

    Example:
        >>> from jointwise import two_link_planar
        >>> fk_rotation(two_link_planar(1.0, 0.5), [0.1, 0.2]).magnitude().round(3)
        np.float64(0.3)
    """
    return forward_kinematics(joints, joint_values).rotation
