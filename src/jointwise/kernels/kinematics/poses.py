"""Whether targets are poses: rigid transforms of finite numbers."""

from jointwise.kernels._numba.arrays import QUAD, XYZ, stack_array
from jointwise.kernels._numba.jit import jit
from jointwise.kernels.kinematics.fk import all_finite
from jointwise.kernels.kinematics.tasks import rotation_defect
from jointwise.kernels.layout.arrays import ROTATION_DEFECT, Bools, Floats


@jit
def is_pose(target: Floats) -> bool:
    """Whether a target (4, 4) is a rigid transform of finite numbers."""
    points = stack_array(QUAD, XYZ, 0.0)
    for k in range(4):
        for row in range(3):
            points[k, row] = target[row, (k + 3) % 4]
    return all_finite(target) and rotation_defect(target, points) <= ROTATION_DEFECT


@jit
def check_poses(targets: Floats, valid: Bools) -> None:
    """Write which of many targets (m, 4, 4) are poses."""
    for i in range(valid.size):
        valid[i] = is_pose(targets[i])
