"""Joint values in degrees (``--deg``) or radians; prismatic joints are in metres in both."""

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model.degrees import check_values
from jointwise.verbs import Verbs


def to_radians(
    model: Verbs, values: ArrayLike, in_degrees: bool, option: str = "the start"
) -> Floats:
    """(n,) or (m, n) joint values [rad, m]; warns if they look like degrees but are not said to be.

    Args:
        model: The arm or robot.
        values: Joint values as the user gave them. A wrong number of values is not converted: the
            solver refuses it.
        in_degrees: Whether the values of revolute joints are degrees.
        option: What a warning calls the values.
    """
    array = np.array(values, np.float64)
    if array.shape[-1] != model.n:
        return array
    if not in_degrees:
        check_values(option, array, model, model.joint_names)
        return array
    return np.where(model.prismatic, array, np.radians(array))


def step_to_radians(option: str, step: float | None, model: Verbs) -> float | None:
    """A step of all joints [°] in radians; a number for metres, too, cannot be in degrees.

    Raises:
        InvalidInputError: The model has revolute and prismatic joints.
    """
    if step is None or model.prismatic.all():
        return step
    if model.prismatic.any():
        raise InvalidInputError(
            f"{option} {step:g} is for revolute and prismatic joints, and with --deg in degrees: "
            "expected radians and metres, without --deg."
        )
    return float(np.radians(step))


def to_display(model: Verbs, values: Floats, in_degrees: bool) -> Floats:
    """(n,) or (m, n) joint values for output [rad, m], or [°, m] with ``in_degrees``."""
    return np.where(model.prismatic, values, np.degrees(values)) if in_degrees else values


def format_values(
    model: Verbs, values: Floats, in_degrees: bool, number_format: str = ".6f"
) -> list[str]:
    """(n,) joint values [rad, m] as text, each with its unit; an infinite one, a limit, is none."""
    units = [" m" if prismatic else "°" if in_degrees else " rad" for prismatic in model.prismatic]
    numbers = to_display(model, values, in_degrees)
    return [
        "none" if np.isinf(value) else f"{value:z{number_format}}{unit}"  # z: no minus zeros
        for value, unit in zip(numbers.tolist(), units, strict=True)
    ]
