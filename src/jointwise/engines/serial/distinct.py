"""Distinct solutions of a target by search, where there is no closed form."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from jointwise.config import SolveConfig, criteria_of
from jointwise.engines.serial.solve import collect_solutions, solve_one
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks
from jointwise.model.arm import ArmModel, joint_difference
from jointwise.results.result import IKResult
from jointwise.targets import PackedTarget

if TYPE_CHECKING:
    from jointwise.engines.serial.check import SerialCheck

# Solutions that differ by less in every joint are equal [rad, m].
SAME = 1e-3
# Number of solutions that are collected before the most different are chosen.
POOL = 256


def distinct_solutions(
    arm: ArmModel,
    target: PackedTarget,
    count: int,
    config: SolveConfig,
    check: "SerialCheck | None" = None,
) -> list[IKResult]:
    """Distinct solutions, best spread first; see ``Chain.solutions``."""
    max_count = checks.count("count", count)
    combined = replace(config, method="combined")
    pool = max(POOL, 8 * max_count)
    search = criteria_of(combined, False), 4 * pool, pool
    found = collect_solutions(arm, target, arm.mid_range, combined, search, check)
    chosen: list[Floats] = []
    while len(found) and len(chosen) < max_count:
        others = np.array(chosen) if chosen else arm.mid_range[None]
        difference = np.abs(joint_difference(arm, found[:, None], others[None]))
        apart = difference.max(axis=2).min(axis=1)
        best = int(apart.argmax() if chosen else apart.argmin())
        if chosen and apart[best] < smallest_difference(arm, config):
            break
        chosen.append(found[best])
    results = (solve_one(arm, target, q.copy(), True, combined, check) for q in chosen)
    return [result for result in results if result.converged]


def smallest_difference(arm: ArmModel, config: SolveConfig) -> float:
    """Solutions that differ by less in every joint are equal [rad, m]."""
    share: float = config.position_tolerance / arm.angular_scale
    return max(SAME, 3.0 * float(share**0.5))
