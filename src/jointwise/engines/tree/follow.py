"""Targets of a robot along a path: each set is solved from the previous one."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from jointwise.config import SolveConfig, criteria_of
from jointwise.engines.path_limits import PathLimits
from jointwise.engines.tree.branches import LARGE_STEP, Branches
from jointwise.engines.tree.frames import Frames
from jointwise.engines.tree.recovery import recovered
from jointwise.engines.tree.request import Request
from jointwise.engines.tree.solve import NO_CHECK, result_arrays, solve_rows
from jointwise.kernels.layout.arrays import UNLIMITED, Floats
from jointwise.kernels.layout.task import PackedCriteria
from jointwise.kernels.layout.tree import SETTING_SMOOTH, TreeResults

if TYPE_CHECKING:
    from jointwise.engines.tree.check import TreeCollisionCheck

# Largest number of restarts of the first set, whose targets may be out of reach.
FIRST_RESTARTS = 16


def follow(
    request: Request,
    config: SolveConfig,
    limits: PathLimits,
    smoothness: float,
    has_start: bool,
    check: "TreeCollisionCheck | None",
    first: Floats | None = None,
) -> TreeResults:
    """Follow targets set by set, and search for a solution where one is missed.

    Each set starts at the previous solution and ends at a nearby minimum of the weighted squared
    errors, so that the robot does not jump where targets are out of reach. If another branch
    reaches more sets, the path changes to it; see ``recovery``.

    Args:
        request: The targets.
        config: Tolerances, and restarts of the first set.
        limits: Velocity limits; a given start is the state one set before the first.
        smoothness: Weight of the change of the joints; a target weighs 1.
        has_start: Whether a start was given.
        check: The collision check that the solution of the first set must pass.
        first: (v+12,) the state near which the first set is solved; None: it is searched for.
    """
    if not len(request.targets):
        return result_arrays(request)
    begun = begin(request, config, limits, smoothness, has_start, check, first)
    frames = begun.frames
    results = frames.follow(range(frames.size), begun.state, begun.from_start)
    return finish(begun, results, config, limits, check)


class Begun(NamedTuple):
    """A path whose first state is known.

    Attributes:
        frames: Its frames.
        state: (v+12,) the state from which the first frame is followed.
        restarts: How many restarts it took.
        from_start: Whether it is the start of the path, one frame before the first.
        before: (v+12,) the start; None if none was given.
    """

    frames: Frames
    state: Floats
    restarts: int
    from_start: bool
    before: Floats | None


def begin(
    request: Request,
    config: SolveConfig,
    limits: PathLimits,
    smoothness: float,
    has_start: bool,
    check: "TreeCollisionCheck | None",
    first: Floats | None,
) -> Begun:
    """Find the first state of a path; arguments as for ``follow``."""
    tree, memory, start = request.tree, request.tree.memory, request.states[0]
    criteria, from_start = criteria_of(config, has_start), has_start and limits.is_timed
    state, restarts = start, 0
    if first is not None:
        state = first
    elif not from_start:
        around = NO_CHECK if check is None else check.packed(request, config)
        one = request._replace(targets=request.targets[:1])
        found = result_arrays(one)
        solve_rows(one, first_criteria(criteria), (0, 1), found, memory, around)
        state, restarts = found.states[0], int(found.outcomes[0, 2])
        turn_near(request, state)
    settings = request.settings.copy()
    tree.keep_turns(settings)
    settings[SETTING_SMOOTH] = smoothness * tree.scales
    changes = np.minimum(limits.by_velocity[:, tree.variables], UNLIMITED)
    frames = Frames(request, criteria, settings, changes, memory)
    return Begun(frames, state, restarts, from_start, start if has_start else None)


def first_criteria(criteria: PackedCriteria) -> PackedCriteria:
    """The criteria of the first set of a path."""
    return (*criteria[:2], min(criteria[2], FIRST_RESTARTS), *criteria[3:])


def turn_near(request: Request, state: Floats) -> None:
    """Choose the full turns of a state near the start."""
    v = len(request.tree.variables)
    state[:v] = request.tree.unwrap(state[:v], request.states[0, :v])


def finish(
    begun: Begun,
    results: TreeResults,
    config: SolveConfig,
    limits: PathLimits,
    check: "TreeCollisionCheck | None",
) -> TreeResults:
    """The path that was followed, or a better one; see ``recovery``."""
    results.outcomes[0, 2] = begun.restarts
    return recovered(Branches(begun.frames, config, limits, begun.before, True, check), results)


def breaks_of(q: Floats, max_step: float) -> tuple[int, ...]:
    """Indices of targets to which a joint makes a large step.

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
