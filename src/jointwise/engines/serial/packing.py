"""An arm packed for a solve, with its scene and with penalties on its joints."""

from typing import TYPE_CHECKING

import numpy as np

from jointwise.config import SolveConfig
from jointwise.kernels.layout.arm import with_joint_penalties
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.model.arm import ANGULAR_SHARE, ArmModel

if TYPE_CHECKING:
    from jointwise.engines.serial.check import SerialCheck

# Weight of preferred joint values in a sweep, as a share of the weight of the target.
PREFERENCE = 0.01


def packed_arm(
    arm: ArmModel,
    config: SolveConfig,
    preferred: Floats | None = None,
    check: "SerialCheck | None" = None,
) -> Floats:
    """The packed arm, with its scene, and the penalties of stiffness and preferred values (n,)."""
    if not config.stiffness and preferred is None:
        return arm.packed if check is None else check.packed_arm
    penalties = np.zeros((arm.n, 3))
    if isinstance(config.stiffness, tuple):
        penalties[:, 0] = checks.joint_values("stiffness", config.stiffness, arm.n)
    else:
        penalties[:, 0] = config.stiffness
    revolute = ~arm.prismatic
    if preferred is not None:
        penalties[:, 1] = PREFERENCE * np.where(revolute, np.cos(preferred), 1.0)
        penalties[:, 2] = PREFERENCE * np.where(revolute, np.sin(preferred), preferred)
    penalties[revolute] *= (arm.angular_scale / ANGULAR_SHARE) ** 2
    packed = with_joint_penalties(arm.packed, penalties)
    return packed if check is None else check.around(packed, arm.n)
