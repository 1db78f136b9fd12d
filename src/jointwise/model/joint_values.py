"""Joint values of an arm or a robot: as users give them, and random ones."""

from typing import Any

import numpy as np

from jointwise.kernels.shapes import Floats
from jointwise.model import checks, degrees
from jointwise.model.arm import ArmModel
from jointwise.model.kinematic_tree import TreeModel


def ordered_values(
    name: str, values: Any, model: ArmModel | TreeModel, joint_names: tuple[str, ...]
) -> Any:
    """Joint values in the order of the joints; a mapping is by their names, None stays None.

    Values that were typed by hand are checked for degrees. Their number is not yet checked.
    """
    if values is None or type(values) is np.ndarray:
        return values
    ordered = checks.by_name(name, values, joint_names)
    if isinstance(ordered, (list, tuple)):  # typed by hand: are these degrees?
        typed = checks.floats(name, ordered)
        suspected = np.abs(typed).max(initial=0.0) > degrees.MIN_SUSPECTED
        if suspected and typed.shape[-1:] == (model.n,):
            degrees.check_values(name, typed, model, joint_names, "use numpy.radians")
    return ordered


def random_values(
    model: ArmModel | TreeModel, travel: float, seed: int, count: int | None
) -> Floats:
    """Joint values drawn uniformly between the limits; within a full turn where there are none.

    Args:
        model: The arm or robot.
        travel: How far from home prismatic joints without limits are drawn, at most [m].
        seed: Seed of the generator.
        count: None for one configuration, (n,); else (count, n).
    """
    rng = np.random.default_rng(checks.seed(seed))
    lower, upper = model.limits.T
    half = np.where(model.prismatic, travel, np.pi)
    unlimited = np.isinf(upper - lower)
    low = np.where(unlimited, np.maximum(lower, model.home - half), lower)
    high = np.where(unlimited, np.minimum(upper, model.home + half), upper)
    shape = (model.n,) if count is None else (checks.count("count", count), model.n)
    return rng.uniform(low, high, shape)
