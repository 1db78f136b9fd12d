"""Joint values of tables in degrees or radians; prismatic joints are in metres in both."""

import numpy as np
from numpy.typing import ArrayLike

from jointwise.kernels.layout.arrays import Floats
from jointwise.model.degrees import check_values
from jointwise.verbs import Verbs


def to_radians(
    model: Verbs, values: ArrayLike, in_degrees: bool, option: str = "the start"
) -> Floats:
    """(n,) or (m, n) joint values [rad, m]; warns if they look like undeclared degrees.

    Args:
        model: The arm or robot.
        values: Joint values as the user gave them. A wrong number of values is not converted: the
            solver refuses it.
        in_degrees: Whether the values of revolute joints are degrees.
        option: The name of the values in a warning.
    """
    array = np.array(values, np.float64)
    if array.shape[-1] != model.n:
        return array
    if not in_degrees:
        check_values(option, array, model, model.joint_names)
        return array
    return np.where(model.prismatic, array, np.radians(array))


def to_display(model: Verbs, values: Floats, in_degrees: bool) -> Floats:
    """(n,) or (m, n) joint values for output [rad, m], or [°, m] with ``in_degrees``."""
    return np.where(model.prismatic, values, np.degrees(values)) if in_degrees else values
