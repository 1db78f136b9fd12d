"""Targets of a robot along a path: each set is solved from the previous one, without restarts."""

from typing import TYPE_CHECKING

import numpy as np

from jointwise.backends import cpu
from jointwise.config import SolveConfig, criteria_of
from jointwise.engines.path_limits import PathLimits
from jointwise.engines.tree.request import Request
from jointwise.engines.tree.solve import NO_CHECK, packed_rows, result_arrays, solve_rows, some_rows
from jointwise.kernels.layout.arrays import UNLIMITED, Floats
from jointwise.kernels.layout.tree import SETTING_MAX_CHANGE, SETTING_SMOOTH, TreeResults

if TYPE_CHECKING:
    from jointwise.engines.tree.check import TreeCollisionCheck

# Largest number of steps of a set, and the relative decrease of the cost below which it ends.
FRAME_LIMITS = 50, 1e-5
# Largest number of restarts of the first set, whose targets may be out of reach.
FIRST_RESTARTS = 16
# A larger step is a break, unless the largest step is given [rad, m].
LARGE_STEP = 0.5


def follow(
    request: Request,
    config: SolveConfig,
    limits: PathLimits,
    smoothness: float,
    has_start: bool,
    check: "TreeCollisionCheck | None",
    first: Floats | None = None,
) -> TreeResults:
    """Follow targets set by set, without restarts after the first.

    Each set starts at the previous solution and ends at the nearby minimum of the weighted squared
    errors, so that the robot does not change its branch where targets are out of reach.

    Args:
        request: The targets.
        config: Tolerances, and restarts of the first set.
        limits: Velocity limits; with a start, the robot is there one set before the first.
        smoothness: Weight of the change of the joints; a target weighs 1.
        has_start: Whether a start was given.
        check: The collision check, which the first set must pass.
        first: (v+12,) the state near which the first set is solved; None: it is searched.
    """
    tree, results, memory = request.tree, result_arrays(request), request.tree.memory
    criteria, from_start = criteria_of(config, has_start), has_start and limits.is_timed
    restarts = 0
    if not len(request.targets):
        return results
    if first is not None:
        results[0][0] = first
    elif not from_start:
        first_criteria = (*criteria[:2], min(criteria[2], FIRST_RESTARTS), *criteria[3:])
        around = NO_CHECK if check is None else check.packed(request, config)
        solve_rows(request, first_criteria, (0, 1), results, memory, around)
        restarts, v = int(results[2][0, 2]), len(tree.variables)
        results[0][0, :v] = tree.unwrap(results[0][0, :v], request.starts[0, tree.variables])
    settings = request.settings.copy()
    tree.keep_turns(settings)
    settings[SETTING_SMOOTH] = smoothness * tree.scales
    changes = np.minimum(limits.by_velocity[:, tree.variables], UNLIMITED)
    pieces = [slice(0, len(request.targets))]
    if len(changes) > 1:  # the time between targets differs
        pieces = [slice(i, i + 1) for i in range(len(request.targets))]
    for k, piece in enumerate(pieces):
        settings[SETTING_MAX_CHANGE] = changes[k] if len(changes) > 1 else changes[0]
        if k:
            results[0][piece] = results[0][k - 1]
        packed = packed_rows(request._replace(targets=request.targets[piece]), criteria, settings)
        frame_limits = (*FRAME_LIMITS, from_start or k > 0)
        cpu.follow_tree(packed, frame_limits, some_rows(results, piece), memory)
    results[2][0, 2] = restarts
    return results


def breaks_of(q: Floats, max_step: float) -> tuple[int, ...]:
    """Indices of targets that a joint reaches with a large step.

    Args:
        q: (m+1, n) the start and the solution of each target. A step from the start counts only if
            the largest step is given.
        max_step: Largest change of any joint [rad, m]; infinite if none is given.
    """
    steps = np.abs(np.diff(q, axis=0)).max(axis=1, initial=0.0)
    is_given = np.isfinite(max_step)
    large = steps > (max_step if is_given else LARGE_STEP)
    large[0] &= is_given
    return tuple(np.flatnonzero(large).tolist())
