"""One target of a serial arm: in closed form where the arm has one, else by search."""

from math import nan
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from jointwise.backends import cpu
from jointwise.config import SolveConfig, criteria_of
from jointwise.engines.serial.packing import packed_arm
from jointwise.engines.serial.tolerance import has_extent, solve_sampled, without_empty_box
from jointwise.kernels.layout.arm import has_joint_penalties
from jointwise.kernels.layout.arrays import Floats, Outcome, Weights
from jointwise.kernels.layout.status import (
    COLLIDES,
    CONVERGED,
    INVALID,
    OUTSIDE_LIMITS,
    PENDING,
    UNREACHABLE,
)
from jointwise.kernels.layout.task import BOX_ROWS, PackedCriteria
from jointwise.kernels.layout.thresholds import MIN_MOVE
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.results.result import IDENTITY, IKResult
from jointwise.results.status import STATUS_BY_CODE
from jointwise.targets import EQUAL_WEIGHT, PackedTarget, refuse

if TYPE_CHECKING:
    from jointwise.engines.serial.check import SerialCheck

# What ``search`` is given: the arm as it is solved, the target, its weights, and when to stop.
SearchInput: TypeAlias = tuple[Floats, Floats, Weights, PackedCriteria]
# Number of solutions from which the nearest to the preferred joint values is chosen.
PREFERRED_POOL = 32
# A step towards the preferred joint values must come closer by this share.
MIN_GAIN = 1e-3


def solve_one(
    arm: ArmModel,
    target: PackedTarget,
    q: Floats,
    near_start: bool,
    config: SolveConfig,
    check: "SerialCheck | None" = None,
    preferred: Floats | None = None,
    link: str | None = None,
) -> IKResult:
    """Joint values that reach a target; see ``Chain.solve``.

    Args:
        arm: The arm.
        target: The target.
        q: (n,) the start [rad, m]; it becomes the result.
        near_start: Whether the first restarts stay in the neighbourhood of the start.
        config: Tolerances, and how to search.
        check: The collision check.
        preferred: (n,) preferred joint values [rad, m].
        link: The name of the end effector, for the result.
    """
    kind, values, weight, _, _ = target
    if kind.has_box:
        target = without_empty_box(target)
        kind, values, weight, _, _ = target
    if weight is EQUAL_WEIGHT:
        weights = kind.point_weights(arm.angular_scale)
    else:
        weights = kind.weights(arm.angular_scale, weight)
    if config.method != "combined":
        code, position_error, angle, iterations, restarts = _ccd(
            arm, target, q, config, check, preferred
        )
    else:
        if preferred is not None:
            nearest = _nearest_to(preferred, arm, target, q, near_start, config, check)
            q = q if nearest is None else nearest
        packed = arm.packed
        if check is not None or preferred is not None or config.stiffness:
            packed = packed_arm(arm, config, preferred, check)
        code, position_error, angle, iterations, restarts = find_nearest(
            arm, (packed, values, weights, criteria_of(config, near_start)), q
        )
    if code == INVALID:  # the kernel found a value that is not finite, or not a rotation
        checks.all_finite("start", q)
        refuse(target)
    q.setflags(False)  # type: ignore[call-arg]  # a keyword is slower
    fields = (
        q,
        code == CONVERGED,
        position_error,
        iterations,
        STATUS_BY_CODE[code],
        angle if kind.directions else nan,
        restarts,
        IDENTITY,
        link,
        check,
    )
    return tuple.__new__(IKResult, fields)  # as IKResult(...), but faster


def find_nearest(arm: ArmModel, given: SearchInput, q: Floats) -> Outcome:
    """Move ``q`` to the nearest solution in closed form if there is one, else by ``search``.

    With a tolerance box, the search comes first. If it finds nothing, poses inside the box are
    solved in closed form.
    """
    outcome: Outcome
    packed, values, weights, criteria = given
    if len(weights) == BOX_ROWS:
        return _find_within(arm, given, q)
    if arm.closed_form is not None and (form := closed_form_for(arm, packed, weights)) is not None:
        outcome = cpu.solve_nearest(packed, form, values, criteria, q)
        code = outcome[0]
        if code == CONVERGED:
            return outcome
        if code in (OUTSIDE_LIMITS, UNREACHABLE):
            return approach(given, code, q)
        if code != PENDING:
            return outcome
    outcome = cpu.search(packed, values, weights, criteria, q)
    return outcome


def _find_within(arm: ArmModel, given: SearchInput, q: Floats) -> Outcome:
    """Move ``q`` into a tolerance box."""
    packed, values, weights, criteria = given
    if not has_extent(values):
        return find_nearest(arm, (packed, values[:4], weights[:4], criteria), q)
    start = q.copy()
    outcome: Outcome = cpu.search(packed, values, weights, criteria, q)
    form = closed_form_for(arm, packed, weights[:4])
    if outcome[0] in (CONVERGED, INVALID, UNREACHABLE) or form is None:
        return outcome
    clamp_to_limits(arm, start)
    if not solve_sampled(arm, packed, form, values, criteria, start):
        return outcome
    q[:] = start
    position_error, angle, _, converged, _ = cpu.evaluate(packed, values, weights, criteria, q)
    code = CONVERGED if converged else outcome[0]
    return code, position_error, angle, outcome[3], outcome[4]


def closed_form_for(arm: ArmModel, packed: Floats, weights: Weights) -> Floats | None:
    """The packed closed form, if it decides about a target: for poses and six joints.

    Args:
        arm: The arm.
        packed: The arm packed for the solve; penalties on joints would prefer other solutions.
        weights: Weights of the target.
    """
    form = arm.closed_form
    if form is None or not form.decides or len(weights) != 4:
        return None
    penalised = packed is not arm.packed and has_joint_penalties(packed)
    return None if penalised else form.packed


def approach(given: SearchInput, proven: int, q: Floats) -> Outcome:
    """Move ``q`` to the closest configuration nearby, for a target that is provably not reached.

    There are no restarts, because there is no solution to find.
    """
    packed, values, weights, criteria = given
    local = (criteria[0], criteria[1], 0, criteria[3], criteria[4])
    outcome: Outcome = cpu.search(packed, values, weights, local, q)
    return outcome if outcome[0] in (CONVERGED, COLLIDES) else (proven, *outcome[1:])


def _ccd(
    arm: ArmModel,
    target: PackedTarget,
    q: Floats,
    config: SolveConfig,
    check: "SerialCheck | None",
    preferred: Floats | None,
) -> Outcome:
    target.kind.check(target.values)
    clamp_to_limits(arm, checks.all_finite("start", q))
    ccd = cpu.ccd_anderson if config.method == "ccd_anderson" else cpu.ccd
    outcome: Outcome = ccd(
        packed_arm(arm, config, preferred),
        target.values,
        target.kind.weights(arm.angular_scale, target.weight),
        criteria_of(config, True),
        MIN_MOVE,
        config.max_iterations,
        q,
    )
    if outcome[0] == CONVERGED and check is not None and not check.free(q[None])[0]:
        return (COLLIDES, *outcome[1:])
    return outcome


def collect_solutions(
    arm: ArmModel,
    target: PackedTarget,
    start: Floats,
    config: SolveConfig,
    search: tuple[PackedCriteria, int, int],
    check: "SerialCheck | None" = None,
    preferred: Floats | None = None,
) -> Floats:
    """(k, n) solutions from several attempts, in the order in which they were found.

    Args:
        arm: The arm.
        target: The target.
        start: (n,) start of the first attempt [rad, m].
        config: How to search.
        search: When to stop, the largest number of attempts, and the largest number of solutions.
        check: The collision check.
        preferred: (n,) preferred joint values [rad, m].
    """
    target.kind.check(target.values)
    criteria, attempts, count = search
    first = checks.all_finite("start", start.copy())
    clamp_to_limits(arm, first)
    solutions, packed = np.empty((count, arm.n)), packed_arm(arm, config, preferred, check)
    weights = target.kind.weights(arm.angular_scale, target.weight)
    found = cpu.collect_solutions(
        packed, target.values, weights, criteria, attempts, first, solutions
    )
    return solutions[:found]


def _nearest_to(
    preferred: Floats,
    arm: ArmModel,
    target: PackedTarget,
    start: Floats,
    near_start: bool,
    config: SolveConfig,
    check: "SerialCheck | None",
) -> Floats | None:
    """The solution nearest to preferred joint values, of those found; None if there is none.

    The solution without preferred values is one of them, so it is never nearer.
    """

    def distance_sq(q: Floats) -> Floats:
        squared: Floats = ((q - preferred) ** 2).sum(axis=-1)
        return squared

    def collect(first: Floats, attempts: int) -> Floats:
        search = criteria_of(config, True), attempts, attempts
        found = collect_solutions(arm, target, first, config, search, check, preferred)
        return turns_near(arm, found, preferred)

    found = collect(start, PREFERRED_POOL)
    plain = solve_one(
        arm,
        target,
        (start if near_start else arm.home).copy(),
        near_start,
        config,
        check,
    )
    if plain.converged:
        found = np.vstack([found, turns_near(arm, plain.q, preferred)])
    if not len(found):
        return None
    best: Floats = found[distance_sq(found).argmin()]
    # Step towards the preferred values and solve from there, which moves the joints least. Then
    # repeat, with shorter steps if the last one led away.
    step = 1.0
    while step > 0.01:
        closer = collect(best - step * (best - preferred), 1)
        if len(closer) and distance_sq(closer[0]) < distance_sq(best) * (1.0 - MIN_GAIN):
            best = closer[0]
        else:
            step *= 0.5
    return best.copy()


def turns_near(arm: ArmModel, q: Floats, near: Floats) -> Floats:
    """Joint values (..., n) with full turns that bring them near others (n,), inside the limits."""
    turn, (lower, upper) = 2.0 * np.pi, arm.limits.T
    least, most = np.ceil((lower - q) / turn), np.floor((upper - q) / turn)
    turns = np.clip(np.round((near - q) / turn), least, most)
    moved: Floats = np.where(arm.prismatic, q, np.clip(q + turn * turns, lower, upper))
    return moved


def clamp_to_limits(arm: ArmModel, q: Floats) -> None:
    """Bring joint values inside their limits, in place; revolute ones by full turns if possible."""
    cpu.clamp_to_limits(arm.packed, q)
