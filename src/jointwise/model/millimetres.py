"""Lengths that look like millimetres where metres are expected, and the warning about them."""

from math import inf, isfinite

import numpy as np

from jointwise.errors import MillimetresWarning, warn_caller
from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.model.arm import ArmModel
from jointwise.model.kinematic_tree import TreeModel

# A target that is out of reach by this many times the reach is hardly in metres; neither is an
# obstacle of that length.
MIN_SHARE = 100.0
# No tool is this many times as long as its arm.
MIN_TOOL_SHARE = 10.0
# Shorter lengths are not compared with the reach, and a shorter reach counts as this [m].
MIN_LENGTH, MIN_REACH = 1.0, 0.1


def check_miss(miss: float, model: ArmModel | TreeModel) -> None:
    """Warn if a target that was not reached looks like millimetres.

    Args:
        miss: Its position error [m]; NaN if there is no position.
        model: The arm or robot.
    """
    _check(miss, model, MIN_SHARE, "the target is {} m out of reach")


def check_tool(length: float, model: ArmModel | TreeModel) -> None:
    """Warn if the length of a tool [m] looks like millimetres."""
    _check(length, model, MIN_TOOL_SHARE, "the tool is {} m long")


def check_obstacle(name: str, length: float, model: ArmModel | TreeModel) -> None:
    """Warn if the length of an obstacle [m] looks like millimetres."""
    _check(length, model, MIN_SHARE, f"obstacle {name!r} is {{}} m long")


def _check(length: float, model: ArmModel | TreeModel, share: float, given: str) -> None:
    if not length > MIN_LENGTH:
        return
    reach = model.max_reach if isinstance(model, ArmModel) else _tree_reach(model)
    ratio = length / max(reach, MIN_REACH)
    if isfinite(reach) and ratio > share:
        text = f"{given.format(f'{length:.3g}')}, {ratio:,.0f} times the reach"
        warn_caller(MillimetresWarning(text, "divide them by 1000"))


def _tree_reach(model: TreeModel) -> float:
    """Upper bound of the distance from the base to any link of a robot [m]."""
    tree, prismatic = model.tree, model.tree.kinds == PRISMATIC
    if model.free_base:
        return inf
    travel = np.where(prismatic, np.abs(model.limits).max(axis=1)[tree.variables], 0.0)
    lengths = np.linalg.norm(tree.placements[:, :, 3], axis=1) + travel
    far: list[float] = []
    for parent, length in zip(tree.parents.tolist(), lengths.tolist(), strict=True):
        far.append(length + (far[parent] if parent >= 0 else 0.0))
    ends = model.links.values()
    return max(
        (far[joint] if joint >= 0 else 0.0) + float(np.linalg.norm(transform[:, 3]))
        for joint, transform, _ in ends
    )
