"""Joint values in degrees (``--deg``) or radians; prismatic joints are in metres in both."""

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.tables.units import to_display
from jointwise.verbs import Verbs


def step_to_radians(option: str, step: float | None, model: Verbs) -> float | None:
    """Convert a step of all joints from degrees to radians, unless it is for metres, too.

    Raises:
        InvalidInputError: The model has revolute and prismatic joints.
    """
    if step is None or model.prismatic.all():
        return step
    if model.prismatic.any():
        raise InvalidInputError(
            f"{option} {step:g} applies to revolute and prismatic joints, so it cannot be in "
            "degrees: expected radians and metres, without --deg."
        )
    return float(np.radians(step))


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
