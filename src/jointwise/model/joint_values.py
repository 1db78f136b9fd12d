"""Joint values of an arm or a robot: from users, and random ones."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks, degrees
from jointwise.model.arm import ArmModel
from jointwise.model.kinematic_tree import TreeModel

# One value per joint [rad, m] in the order of the joints, or a mapping of some joint names.
JointValues: TypeAlias = ArrayLike | Mapping[str, float]


def ordered_values(
    name: str, values: Any, model: ArmModel | TreeModel, joint_names: tuple[str, ...]
) -> Any:
    """Joint values in the order of the joints, also from a mapping of their names; None stays None.

    Joints that a mapping leaves out are at home. Values typed by hand are checked for degrees.
    Their number is not checked yet.
    """
    if values is None or type(values) is np.ndarray:
        return values
    ordered = values
    if isinstance(values, Mapping):
        for joint in values:
            checks.known_name("joint", joint, joint_names, "the model")
        pairs = zip(joint_names, model.home.tolist(), strict=True)
        ordered = [values.get(joint, at_home) for joint, at_home in pairs]
    if isinstance(ordered, (list, tuple)):  # typed by hand: are these degrees?
        typed = checks.floats(name, ordered)
        suspected = np.abs(typed).max(initial=0.0) > degrees.MIN_SUSPECTED
        if suspected and typed.shape[-1:] == (model.n,):
            degrees.check_values(name, typed, model, joint_names, "use numpy.radians")
    return ordered


def full_turns(model: ArmModel | TreeModel) -> Floats:
    """(n,) the period of each joint [rad]: the turn that changes nothing; 0 if there is none.

    Prismatic joints have none, and neither do joints that others follow, whatever the ratio.
    """
    moves_one = np.ones(model.n, bool)
    if isinstance(model, TreeModel):
        moves_one = np.bincount(model.tree.variables, minlength=model.n) == 1
    return np.where(moves_one & ~model.prismatic, 2.0 * np.pi, 0.0)


def joint_velocities(names: tuple[str, ...], known: Floats, given: Any) -> Floats:
    """(n,) largest velocity of each joint [rad/s, m/s].

    Args:
        names: One name per joint.
        known: (n,) velocities of the model, for joints without a given one; infinite where unknown.
        given: None for those of the model; one for all joints, (n,), or a mapping of names.
    """
    if given is None:
        return known
    if isinstance(given, Mapping):
        for joint in given:
            checks.known_name("joint", joint, names, "the model")
        pairs = zip(names, known.tolist(), strict=True)
        given = [given.get(name, velocity) for name, velocity in pairs]
    array = checks.floats("max_velocity", given)
    if array.ndim:
        array = checks.joint_values("max_velocity", array, len(names))
    if not (array > 0.0).all():
        raise InvalidInputError(f"max_velocity is {checks.short(given)}: expected above zero.")
    return np.broadcast_to(array, (len(names),))


def random_values(
    model: ArmModel | TreeModel, travel: float, seed: int, count: int | None
) -> Floats:
    """Draw joint values uniformly between the limits, or within a full turn if there are none.

    Args:
        model: The arm or robot.
        travel: Largest distance from the middle of the range at which prismatic joints without
            limits are drawn [m].
        seed: Seed of the generator.
        count: None for one configuration, (n,); else (count, n).
    """
    rng = np.random.default_rng(checks.seed(seed))
    lower, upper = model.limits.T
    half = np.where(model.prismatic, travel, np.pi)
    unlimited = np.isinf(upper - lower)
    low = np.where(unlimited, np.maximum(lower, model.mid_range - half), lower)
    high = np.where(unlimited, np.minimum(upper, model.mid_range + half), upper)
    shape = (model.n,) if count is None else (checks.count("count", count), model.n)
    return rng.uniform(low, high, shape)
