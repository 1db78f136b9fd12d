"""Single steps of a solve, for a trace, and the errors of a configuration."""

from jointwise.kernels._numba.jit import jit
from jointwise.kernels.kinematics.fk import unpack_arm
from jointwise.kernels.kinematics.tasks import (
    is_converged,
    is_too_far,
    scaled_error_sq,
    task_errors,
)
from jointwise.kernels.layout.arrays import Floats, Weights
from jointwise.kernels.layout.task import PackedCriteria
from jointwise.kernels.serial.descent import descend, unpack_solve
from jointwise.kernels.serial.lm import levenberg_marquardt
from jointwise.kernels.serial.search import lm_scratch
from jointwise.kernels.serial.sweep import clamp_joints


@jit
def clamp_to_limits(packed_arm: Floats, q: Floats) -> None:
    """Bring joint values inside their limits, in place; revolute ones by full turns if possible."""
    clamp_joints(unpack_arm(packed_arm, q.size), q)


@jit
def evaluate(
    packed_arm: Floats,
    target: Floats,
    weights: Weights,
    packed_criteria: PackedCriteria,
    q: Floats,
) -> tuple[float, float, float, bool, bool]:
    """How far ``q`` is from a target.

    Returns position error [m], orientation error [rad], both as one squared error [rad²], whether
    they are below the tolerances, and whether the target is beyond reach.
    """
    arm, task, criteria = unpack_solve(packed_arm, target, weights, packed_criteria, q)
    errors = task_errors(arm, task, q)
    converged, too_far = is_converged(errors, criteria, weights), is_too_far(arm, task, criteria)
    return errors[0], errors[1], scaled_error_sq(errors, arm.angular_scale), converged, too_far


@jit
def sweep_once(
    packed_arm: Floats,
    target: Floats,
    weights: Weights,
    packed_criteria: PackedCriteria,
    q: Floats,
) -> float:
    """Move ``q`` by one CCD sweep; the largest move of a joint [rad, m]."""
    arm, task, criteria = unpack_solve(packed_arm, target, weights, packed_criteria, q)
    return descend(arm, task, criteria, -1.0, 1, q)[1]


@jit
def lm_once(
    packed_arm: Floats,
    target: Floats,
    weights: Weights,
    packed_criteria: PackedCriteria,
    q: Floats,
) -> None:
    """Move ``q`` by one Levenberg-Marquardt step."""
    arm, task, criteria = unpack_solve(packed_arm, target, weights, packed_criteria, q)
    levenberg_marquardt(arm, task, criteria, 1, 2, q, lm_scratch(q.size))
