"""Cyclic Coordinate Descent for position targets: the plain method.

After Wang and Chen, "A combined optimization method for solving the inverse kinematics
problem of mechanical manipulators", IEEE Transactions on Robotics and Automation 7(4), 1991.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Union

from numpy.typing import ArrayLike

from jointwise import checks, kernels
from jointwise.arm import arm_of
from jointwise.errors import InvalidInputError
from jointwise.joints import DHJoint
from jointwise.results import IKResult, Status

if TYPE_CHECKING:
    from scipy.spatial.transform import RigidTransform


@dataclass(frozen=True, slots=True)
class CCDConfig:
    """When to stop.

    Args:
        max_iterations: Most sweeps over all joints; 0 only measures the start.
        tolerance: The tip has arrived when it is closer to the target than this [m].

    Raises:
        InvalidInputError: ``max_iterations`` is negative or not whole, or
            ``tolerance`` is not positive and finite.
    """

    max_iterations: int = 100
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        iterations = checks.count("max_iterations", self.max_iterations)
        object.__setattr__(self, "max_iterations", iterations)
        object.__setattr__(self, "tolerance", checks.positive("tolerance", self.tolerance))


DEFAULT_CCD_CONFIG = CCDConfig()


def ccd_solve(
    joints: Iterable[DHJoint],
    target: Union[ArrayLike, "RigidTransform"],
    initial_angles: ArrayLike,
    config: CCDConfig = DEFAULT_CCD_CONFIG,
) -> IKResult:
    """Bend the arm, one joint at a time, until its tip reaches the target.

    Each iteration sweeps from tip to base; every revolute joint takes the single turn
    that brings the tip closest to the target, so the error never grows. Sliding joints
    stay where they are, the tip's orientation is left free, and angles are not
    wrapped: a joint that went past pi says so.

    Args:
        joints: DH rows from base to tip, standard convention.
        target: (3,) where the tip should be [m], base frame. A SciPy
            ``RigidTransform`` is taken for its translation.
        initial_angles: (n,) where to start [rad]; [m] for a sliding joint. Never modified.
        config: When to stop.

    Returns:
        The angles reached. Look at ``converged``: an unreachable target is an
        answer, not an exception.

    Raises:
        DimensionMismatchError: ``initial_angles`` has not one value per joint.
        InvalidInputError: Something else about the input is wrong; the text says what.

    Example:
        >>> from jointwise import two_link_planar
        >>> arm = two_link_planar(1.0, 1.0)
        >>> result = ccd_solve(arm, [1.0, 1.0, 0.0], [0.0, 0.0])
        >>> result.converged, result.iterations
        (True, 1)
    """
    arm = arm_of(joints).arm
    q = checks.joint_values("initial_angles", initial_angles, arm.kinds.size)
    point = checks.position("target", target)
    if not isinstance(config, CCDConfig):
        raise InvalidInputError(f"config is {config!r}: expected a CCDConfig.")
    error, iterations = kernels.descent.ccd(
        arm.block,
        point.reshape(1, 3),
        (1.0,),
        config.tolerance,
        config.max_iterations,
        q,
    )
    if isnan(error):  # the kernel looked at every number, so a good call need not do it twice
        checks.workable("initial_angles", q)
        checks.workable("target", point)
    q.setflags(write=False)
    converged = error < config.tolerance
    status = Status.CONVERGED if converged else Status.ITERATION_LIMIT
    return IKResult(q, converged, error, iterations, status)
