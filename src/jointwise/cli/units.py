"""Joint values in degrees (``--deg``) or radians; prismatic joints are in metres in both."""

from typing import TYPE_CHECKING, Union

import numpy as np
from numpy.typing import ArrayLike

from jointwise.chain import Chain
from jointwise.kernels.shapes import Floats
from jointwise.model.degrees import check_values

if TYPE_CHECKING:
    from jointwise.robot import Robot

ChainOrRobot = Union[Chain, "Robot"]


def to_radians(
    chain: ChainOrRobot, values: ArrayLike, in_degrees: bool, option: str = "the start"
) -> Floats:
    """(n,) or (m, n) joint values [rad, m]; warns if they look like degrees but are not said to be.

    Args:
        chain: The arm or robot.
        values: Joint values as the user gave them. A wrong number of values is not converted: the
            solver refuses it.
        in_degrees: Whether the values of revolute joints are degrees.
        option: What a warning calls the values.
    """
    array = np.array(values, np.float64)
    if array.shape[-1] != chain.n:
        return array
    if not in_degrees:
        if isinstance(chain, Chain):
            check_values(option, array, chain.arm, chain.names)
        else:
            check_values(option, array, chain.model, chain.joint_names)
        return array
    return np.where(chain.prismatic, array, np.radians(array))


def to_display(chain: ChainOrRobot, values: Floats, in_degrees: bool) -> Floats:
    """(n,) or (m, n) joint values for output [rad, m], or [°, m] with ``in_degrees``."""
    return np.where(chain.prismatic, values, np.degrees(values)) if in_degrees else values


def format_values(
    chain: ChainOrRobot, values: Floats, in_degrees: bool, number_format: str = ".6f"
) -> list[str]:
    """(n,) joint values [rad, m] as text, each with its unit; an infinite one, a limit, is none."""
    units = [" m" if prismatic else "°" if in_degrees else " rad" for prismatic in chain.prismatic]
    numbers = to_display(chain, values, in_degrees)
    return [
        "none" if np.isinf(value) else f"{value:z{number_format}}{unit}"  # z: no minus zeros
        for value, unit in zip(numbers.tolist(), units, strict=True)
    ]
