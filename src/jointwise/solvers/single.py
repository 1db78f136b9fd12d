"""One target: a solution, or several distinct ones."""

from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from jointwise.backends import cpu
from jointwise.kernels.shapes import (
    BLOCKED,
    COLLIDES,
    CONVERGED,
    INVALID,
    PENDING,
    UNREACHABLE,
    Floats,
    Outcome,
    PackedCriteria,
    Weights,
    has_springs,
)
from jointwise.kernels.thresholds import MIN_MOVE
from jointwise.model import checks
from jointwise.model.arm import ArmModel, joint_difference
from jointwise.solvers.config import DEFAULT_SOLVE_CONFIG, SolveConfig, check_config
from jointwise.solvers.results import STATUS_BY_CODE, IKResult
from jointwise.solvers.targets import PackedTarget, Target, kind_and_value, pack_target, refuse

if TYPE_CHECKING:
    from jointwise.solvers.collision import CollisionCheck

# Solutions that differ by less in every joint are the same [rad, m].
SAME = 1e-3
# Solutions collected before the most different, or the nearest to rest, are chosen.
POOL, REST_POOL = 256, 32


def solve(
    arm: ArmModel,
    target: Target,
    start: ArrayLike | None = None,
    config: SolveConfig = DEFAULT_SOLVE_CONFIG,
    seed: int = 0,
    check: "CollisionCheck | None" = None,
) -> IKResult:
    """Joint values that reach a target; see ``Chain.solve``."""
    check_config(config)
    kind, value = kind_and_value(target)
    values, weights = kind.pack(value), kind.weights(arm.angular_scale)
    q = start_values(arm, start, config)
    if config.method == "ccd":
        return _solve_ccd(arm, PackedTarget(values, weights, kind), q, config, check)
    if config.rest is not None:
        packed = PackedTarget(values, weights, kind)
        nearest = _nearest_to_rest(arm, packed, q, config, seed, check)
        q = q if nearest is None else nearest
    criteria, packed_arm = config.criteria(start is not None, seed), config.packed_arm(arm, check)
    code, position_error, angle, iterations, restarts = find_nearest(
        arm, packed_arm, values, weights, criteria, q
    )
    if code == INVALID:  # the kernel found a value that is not finite, or no rotation
        checks.all_finite("start", q)
        refuse(PackedTarget(values, weights, kind))
    q.setflags(write=False)
    fields = (
        q,
        code == CONVERGED,
        position_error,
        iterations,
        STATUS_BY_CODE[code],
        angle if kind.directions else nan,
        restarts,
        check,
    )
    return tuple.__new__(IKResult, fields)  # as IKResult(*fields), in less time


def find_nearest(
    arm: ArmModel,
    packed_arm: Floats,
    values: Floats,
    weights: Weights,
    criteria: PackedCriteria,
    q: Floats,
) -> Outcome:
    """Move ``q`` to the nearest solution in closed form if there is one, else by ``search``."""
    form = closed_form_for(arm, packed_arm, weights)
    outcome: Outcome
    if form is not None:
        outcome = cpu.solve_nearest(packed_arm, form, values, criteria, q)
        code = outcome[0]
        if code == CONVERGED:
            return outcome
        if code in (BLOCKED, UNREACHABLE):
            return approach(packed_arm, values, weights, criteria, code, q)
        if code != PENDING:
            return outcome
    outcome = cpu.search(packed_arm, values, weights, criteria, q)
    return outcome


def closed_form_for(arm: ArmModel, packed_arm: Floats, weights: Weights) -> Floats | None:
    """The packed closed form, if it decides about a target: of poses, for six joints.

    Args:
        arm: The arm.
        packed_arm: The arm as it is solved; springs would prefer other solutions.
        weights: Of the target.
    """
    form = arm.closed_form
    if form is None or not form.decides or len(weights) != 4:
        return None
    springs = packed_arm is not arm.packed and has_springs(packed_arm, arm.n)
    return None if springs else form.packed


def approach(
    packed_arm: Floats,
    values: Floats,
    weights: Weights,
    criteria: PackedCriteria,
    proven: int,
    q: Floats,
) -> Outcome:
    """Move ``q`` to the local closest approach of a target that is proven not to be reached.

    Restarts are for finding a solution, and there is none.
    """
    local = (criteria[0], criteria[1], 0, criteria[3], criteria[4])
    outcome: Outcome = cpu.search(packed_arm, values, weights, local, q)
    return outcome if outcome[0] == CONVERGED else (proven, *outcome[1:])


def _solve_ccd(
    arm: ArmModel,
    packed: PackedTarget,
    q: Floats,
    config: SolveConfig,
    check: "CollisionCheck | None",
) -> IKResult:
    packed.kind.check(packed.values)
    clamp_to_limits(arm, checks.all_finite("start", q))
    ccd = cpu.ccd_anderson if config.extrapolate else cpu.ccd
    code, position_error, angle, sweeps, _ = ccd(
        config.packed_arm(arm),
        packed.values,
        packed.weights,
        config.criteria(True, 0),
        MIN_MOVE,
        config.max_iterations,
        q,
    )
    if code == CONVERGED and check is not None and not check.free(q[None])[0]:
        code = COLLIDES
    q.setflags(write=False)
    status, orientation_error = STATUS_BY_CODE[code], angle if packed.kind.directions else nan
    converged = code == CONVERGED
    return IKResult(q, converged, position_error, sweeps, status, orientation_error, 0, check)


def collect_solutions(
    arm: ArmModel,
    packed: PackedTarget,
    start: Floats,
    config: SolveConfig,
    criteria: PackedCriteria,
    attempts: int,
    count: int,
    check: "CollisionCheck | None" = None,
) -> Floats:
    """(k, n) up to ``count`` solutions from so many attempts, in the order they were found.

    Args:
        arm: The arm.
        packed: The target.
        start: (n,) start of the first attempt [rad, m].
        config: How to search.
        criteria: When to stop, from ``config.criteria``.
        attempts: Attempts at most.
        count: Solutions at most.
        check: What they must not touch.
    """
    packed.kind.check(packed.values)
    first = checks.all_finite("start", start.copy())
    clamp_to_limits(arm, first)
    solutions = np.empty((count, arm.n))
    packed_arm = config.packed_arm(arm, check)
    found = cpu.collect_solutions(
        packed_arm, packed.values, packed.weights, criteria, attempts, first, solutions
    )
    return solutions[:found]


def distinct_solutions(
    arm: ArmModel,
    target: Target,
    count: int,
    config: SolveConfig,
    seed: int,
    check: "CollisionCheck | None" = None,
) -> list[IKResult]:
    """Distinct solutions, best spread first; see ``Chain.solutions``."""
    max_count = checks.count("count", count)
    check_config(config)
    without_rest = replace(
        config, rest=None, method="combined"
    )  # rest would bias all of them to one solution
    packed = pack_target(arm, target)
    pool = max(POOL, 8 * max_count)
    criteria = without_rest.criteria(False, seed)
    found = collect_solutions(arm, packed, arm.home, without_rest, criteria, 4 * pool, pool, check)
    same = max(SAME, 3.0 * (config.position_tolerance / arm.angular_scale) ** 0.5)
    chosen: list[Floats] = []
    while len(found) and len(chosen) < max_count:
        others = np.array(chosen) if chosen else arm.home[None]
        difference = np.abs(joint_difference(arm, found[:, None], others[None]))
        apart = difference.max(axis=2).min(axis=1)
        best = int(apart.argmax() if chosen else apart.argmin())
        if chosen and apart[best] < same:
            break
        chosen.append(found[best])
    return [solve(arm, target, q, without_rest, seed, check) for q in chosen]


def _nearest_to_rest(
    arm: ArmModel,
    packed: PackedTarget,
    start: Floats,
    config: SolveConfig,
    seed: int,
    check: "CollisionCheck | None",
) -> Floats | None:
    rest = checks.joint_values("rest", config.rest or (), arm.n)

    def distance_sq(q: Floats) -> Floats:
        squared: Floats = (joint_difference(arm, q, rest) ** 2).sum(axis=-1)
        return squared

    criteria = config.criteria(True, seed)
    found = collect_solutions(arm, packed, start, config, criteria, REST_POOL, REST_POOL, check)
    if not len(found):
        return None
    best: Floats = found[distance_sq(found).argmin()]
    # Step towards rest and solve from there, which moves the joints least; then again, with
    # shorter steps where that led away.
    step = 1.0
    while step > 0.01:
        moved = best - step * joint_difference(arm, best, rest)
        closer = collect_solutions(arm, packed, moved, config, criteria, 1, 1, check)
        if len(closer) and distance_sq(closer[0]) < distance_sq(best) * (1.0 - SAME):
            best = closer[0]
        else:
            step *= 0.5
    return best.copy()


def clamp_to_limits(arm: ArmModel, q: Floats) -> None:
    """Bring joint values inside their limits, in place; revolute ones by full turns if possible."""
    cpu.clamp_to_limits(arm.packed, q)


def start_values(arm: ArmModel, start: ArrayLike | None, config: SolveConfig) -> Floats:
    """(n,) where a solve starts: at the given start, else at rest, else at home."""
    if start is not None:
        return checks.joint_values("start", start, arm.n)
    if config.rest is not None:
        return checks.joint_values("rest", config.rest, arm.n)
    return arm.home.copy()
