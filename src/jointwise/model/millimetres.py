"""Lengths that look like millimetres where metres are expected, and the warning about them."""

from math import inf, isfinite

import numpy as np

from jointwise.errors import MillimetresWarning, warn_caller
from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.kernels.layout.arrays import Floats
from jointwise.model.arm import ArmModel
from jointwise.model.kinematic_tree import TreeModel

# A target that is out of reach by this many times the reach is hardly in metres; neither is an
# obstacle of that length.
MIN_SHARE = 100.0
# No tool is this many times as long as its arm.
MIN_TOOL_SHARE = 10.0
# No robot is longer than this [m].
MAX_ROBOT = 50.0
# Shorter lengths are not compared with the reach, and a shorter reach counts as this [m].
MIN_LENGTH, MIN_REACH = 1.0, 0.1


def check_miss(miss: float, model: ArmModel | TreeModel) -> None:
    """Warn if a target that was not reached looks like millimetres.

    Args:
        miss: Its position error [m]; NaN if there is no position.
        model: The arm or robot.
    """
    _check(miss, model, MIN_SHARE, ("the target is", "m out of reach"))


def check_robot(model: TreeModel) -> None:
    """Warn if the lengths of a robot look like millimetres."""
    length = _tree_length(model)
    if MAX_ROBOT < length < inf:
        text = f"{model.title} is up to {length:.3g} m long"
        warn_caller(MillimetresWarning(text, "divide them by 1000"))


def check_tool(length: float, model: ArmModel | TreeModel) -> None:
    """Warn if the length of a tool [m] looks like millimetres."""
    _check(length, model, MIN_TOOL_SHARE, ("the tool is", "m long"))


def check_obstacle(name: str, length: float, model: ArmModel | TreeModel) -> None:
    """Warn if the length of an obstacle [m] looks like millimetres."""
    _check(length, model, MIN_SHARE, (f"obstacle {name!r} is", "m long"))


def check_attached(name: str, spheres: Floats, model: ArmModel | TreeModel) -> None:
    """Warn if an attached object, of spheres (k, 4) [m], looks like millimetres."""
    centres, radii = spheres[:, :3], spheres[:, 3:]
    length = ((centres + radii).max(axis=0) - (centres - radii).min(axis=0)).max()
    _check(float(length), model, MIN_TOOL_SHARE, (f"{name!r} is up to", "m long"))


def _check(
    length: float, model: ArmModel | TreeModel, share: float, given: tuple[str, str]
) -> None:
    if not length > MIN_LENGTH:
        return
    reach = model.max_reach if isinstance(model, ArmModel) else _tree_reach(model)
    ratio = length / max(reach, MIN_REACH)
    if isfinite(reach) and ratio > share:
        text = f"{given[0]} {length:.3g} {given[1]}, {ratio:,.0f} times the reach"
        warn_caller(MillimetresWarning(text, "divide them by 1000"))


def _tree_reach(model: TreeModel) -> float:
    """Upper bound of the distance from the base to any link of a robot [m]."""
    if model.free_base:
        return inf
    prismatic = model.tree.kinds == PRISMATIC
    slides = np.where(prismatic, np.abs(model.limits).max(axis=1)[model.tree.variables], 0.0)
    return _tree_length(model, slides)


def _tree_length(model: TreeModel, slides: Floats | float = 0.0) -> float:
    """The largest sum of lengths from the root to a link, with prismatic joints at values [m]."""
    tree = model.tree
    lengths = np.linalg.norm(tree.placements[:, :, 3], axis=1) + slides
    far: list[float] = []
    for parent, length in zip(tree.parents.tolist(), lengths.tolist(), strict=True):
        far.append(length + (far[parent] if parent >= 0 else 0.0))
    ends = model.links.values()
    return max(
        (far[joint] if joint >= 0 else 0.0) + float(np.linalg.norm(transform[:, 3]))
        for joint, transform, _ in ends
    )
