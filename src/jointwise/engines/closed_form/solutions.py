"""All solutions of a target: in closed form where the arm has one, else by search."""

from collections.abc import Callable
from functools import partial
from itertools import product
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jointwise.backends import cpu
from jointwise.config import SolveConfig, check_config, criteria_of, is_loose
from jointwise.engines.closed_form.redundancy import (
    closed_rows,
    reach_tolerance,
    redundancy_values,
    structure_tolerance,
)
from jointwise.engines.serial.distinct import distinct_solutions, smallest_difference
from jointwise.engines.serial.solve import clamp_to_limits, collect_solutions
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.kernels.layout.closed_form import (
    AT_LIMIT,
    HAS_FREE_JOINT,
    IS_INVALID,
    MAX_SOLUTIONS,
    SAME_SOLUTION,
    UNPROVEN,
)
from jointwise.model import checks
from jointwise.model.arm import ArmModel, joint_difference
from jointwise.model.closed_form import EXACT, ClosedForm
from jointwise.results.result import IDENTITY, IKResult
from jointwise.results.solutions import Solutions
from jointwise.results.status import Status
from jointwise.targets import POSE, PackedTarget, refuse

if TYPE_CHECKING:
    from jointwise.results.result import Check

# Largest number of combinations of full turns that are listed.
MAX_TURNS = 100_000
TURN = 2.0 * np.pi
# Largest errors of a solution in closed form, for an arm of up to a metre [m, rad].
ROUNDING = 20.0 * EXACT


def all_solutions(
    arm: ArmModel,
    target: PackedTarget,
    count: int | None,
    near: ArrayLike | None,
    config: SolveConfig,
    redundancy: ArrayLike | None = None,
    all_turns: bool = False,
    check: "Check | None" = None,
) -> Solutions:
    """Distinct solutions; see ``Chain.solutions``."""
    check_config(config)
    max_count = None if count is None else checks.count("count", count)
    start, by_distance, form = arm.mid_range.copy(), near is not None, arm.closed_form
    if near is not None:
        start = checks.all_finite("near", checks.joint_values("near", near, arm.n))
        clamp_to_limits(arm, start)
    kind, value = target.kind, target.values
    evaluate = partial(evaluated, arm, target, config, check)
    ordinary = kind is POSE and redundancy is None and check is None
    if ordinary and form is not None and not form.redundant:
        # The most frequent case, and fast.
        solutions, tolerance = np.empty((MAX_SOLUTIONS, start.size)), structure_tolerance(form)
        inside, _, noted = cpu.ordered_solutions(
            arm.packed, form.packed, value, start, 0.0, tolerance, by_distance, solutions
        )
        few = max_count is None or inside <= max_count
        rounding = ROUNDING + 5.0 * tolerance
        clear = config.position_tolerance > rounding < config.orientation_tolerance
        if inside and not noted and few and clear and not all_turns:
            return Solutions(solutions[:inside], evaluate, form.exact)
    if redundancy is not None and (form is None or not form.redundant or kind is not POSE):
        raise InvalidInputError(
            "redundancy is given: expected None, because only poses of arms with seven joints "
            "and a closed form have one. See chain.closed_form."
        )
    if form is None or kind is not POSE:
        return _searched(arm, target, max_count, near, config, all_turns, check)
    if form.redundant:
        values = redundancy_values(arm, form, start, by_distance, redundancy)
        found = _at_values(arm, form, target, start, by_distance, values, config)
        solutions, noted, value_of = found
        if form.fixed is not None:  # not a full turn away from the requested value
            low, high = arm.limits[form.fixed]
            inside = (low <= value_of) & (value_of <= high)
            solutions[inside, form.fixed] = value_of[inside]
    else:
        value_of = None
        solutions, noted = _at_one_value(arm, form, target, start, by_distance, 0.0, config)
    if noted and not len(solutions) and redundancy is None:
        searched = _searched(arm, target, max_count, near, config, all_turns, check)
        searched.continuum = bool(noted & HAS_FREE_JOINT)
        return searched
    if check is not None and len(solutions):
        free = check.free(np.ascontiguousarray(solutions))
        if not free.all() and is_loose(config):  # one that misses the target slightly may be free
            noted |= UNPROVEN
            if not free.any() and redundancy is None:
                return _searched(arm, target, max_count, near, config, all_turns, check)
        solutions, value_of = solutions[free], None if value_of is None else value_of[free]
    complete = form.exact and not noted & UNPROVEN
    complete = complete and (redundancy is not None or not form.redundant)
    listed = np.arange(len(solutions))
    if all_turns:
        solutions, listed = _with_all_turns(arm, solutions, start)
    if _is_strict(form, config):
        solutions, reached = _polished(arm, target, solutions, config, evaluate)
        complete, listed = complete and bool(reached.all()), listed[reached]
    if max_count is not None and len(solutions) > max_count:
        solutions, listed, complete = solutions[:max_count], listed[:max_count], False
    value_of = None if value_of is None else value_of[listed]
    continuum = noted & HAS_FREE_JOINT > 0
    return Solutions(solutions, evaluate, complete, continuum, value_of)


def _is_strict(form: ClosedForm, config: SolveConfig) -> bool:
    """Whether a tolerance is so small that rounding errors of the closed form may exceed it."""
    return min(config.tolerances) <= ROUNDING + 5.0 * structure_tolerance(form)


def _polished(
    arm: ArmModel,
    target: PackedTarget,
    found: Floats,
    config: SolveConfig,
    evaluate: Callable[[Floats], IKResult],
) -> tuple[Floats, NDArray[np.bool_]]:
    """Solutions (j, n) inside the tolerances, by a few steps if needed; (k,) which have one."""
    kept, reached = [], np.zeros(len(found), bool)
    search = criteria_of(config, True), 1, 1
    for k, q in enumerate(found):
        closer = q[None]
        if not evaluate(q).converged:
            closer = collect_solutions(arm, target, q, config, search)
        if len(closer) and np.abs(closer[0] - q).max() < SAME_SOLUTION:
            kept.append(closer[0])
            reached[k] = True
    return np.array(kept).reshape(len(kept), arm.n), reached


def _searched(
    arm: ArmModel,
    target: PackedTarget,
    max_count: int | None,
    near: ArrayLike | None,
    config: SolveConfig,
    all_turns: bool,
    check: "Check | None",
) -> Solutions:
    """Solutions by search, which cannot determine whether there are others."""
    count = 16 if max_count is None else max_count
    serial: Any = check if hasattr(check, "packed_arm") else None
    results = distinct_solutions(arm, target, count, config, serial)
    q = np.array([result.q for result in results]).reshape(len(results), arm.n)
    if check is not None and serial is None and len(q):  # its kernels are not those of the search
        q = q[check.free(q)]
    start = arm.mid_range if near is None else checks.joint_values("near", near, arm.n)
    if near is not None:
        q = q[np.argsort(np.abs(q - start).max(axis=1), kind="stable")]
    if all_turns:
        q = _with_all_turns(arm, q, start)[0][:max_count]
    return Solutions(q, partial(evaluated, arm, target, config, check))


def _at_one_value(
    arm: ArmModel,
    form: ClosedForm,
    target: PackedTarget,
    start: Floats,
    by_distance: bool,
    value: float,
    config: SolveConfig,
) -> tuple[Floats, int]:
    """Solutions (k, n) in order, and the notes."""
    solutions = np.empty((MAX_SOLUTIONS, arm.n))
    before, after = (arm.packed, form.packed, target.values, start, value), (by_distance, solutions)
    inside, _, noted = cpu.ordered_solutions(*before, structure_tolerance(form), *after)
    if inside == 0:  # a target that is missed by less than the tolerances may still be reached
        inside, _, noted = cpu.ordered_solutions(*before, reach_tolerance(form, config), *after)
    if noted & IS_INVALID:
        refuse(target)
    return solutions[:inside], noted


def _at_values(
    arm: ArmModel,
    form: ClosedForm,
    target: PackedTarget,
    start: Floats,
    by_distance: bool,
    values: Floats,
    config: SolveConfig,
) -> tuple[Floats, int, Floats]:
    """Distinct solutions for several values of the redundancy, and the value of each."""
    if len(values) == 1:
        value = float(values[0])
        found, noted = _at_one_value(arm, form, target, start, by_distance, value, config)
        return found, noted, np.full(len(found), value)
    target.kind.check(target.values)
    fixed = arm, form, target.values[None], start[None], values
    rows, counts = closed_rows(*fixed)
    if not counts[:, 0].any():  # as for one value
        rows, counts = closed_rows(*fixed, tolerance=reach_tolerance(form, config))
    found = rows[np.arange(rows.shape[1]) < counts[:, :1]]
    order = _order(arm, found, start, by_distance, smallest_difference(arm, config))
    noted = int(np.bitwise_or.reduce(counts[:, 2]))
    return found[order], noted, np.repeat(values, counts[:, 0])[order]


def _order(
    arm: ArmModel, found: Floats, start: Floats, by_distance: bool, least: float
) -> list[int]:
    """The order of solutions by the kernel ``order_solutions``.

    If they are spread, solutions that differ by less than ``least`` from an earlier one are left
    out.
    """
    if not len(found):
        return []
    change = np.abs(found - start).max(axis=1)
    if by_distance:
        nearest: list[int] = np.argsort(change, kind="stable").tolist()
        return nearest
    order, apart = [int(change.argmin())], np.full(len(found), np.inf)
    while len(order) < len(found):
        difference = np.abs(joint_difference(arm, found, found[order[-1]])).max(axis=1)
        apart = np.minimum(apart, difference)
        apart[order] = -1.0
        farthest = int(apart.argmax())
        if apart[farthest] < least:
            break
        order.append(farthest)
    return order


def _with_all_turns(arm: ArmModel, found: Floats, start: Floats) -> tuple[Floats, Ints]:
    """Each solution with all full turns inside the limits, and which solution each belongs to.

    Joints with an infinite limit keep the turn that is closest to the start.
    """
    rows, index = [], []
    lower, upper = arm.limits.T
    for k, q in enumerate(found):
        options = []
        for i, value in enumerate(q):
            turns = np.zeros(1)
            if not arm.prismatic[i] and np.isfinite(lower[i]) and np.isfinite(upper[i]):
                first = np.ceil((lower[i] - value - AT_LIMIT) / TURN)
                last = np.floor((upper[i] - value + AT_LIMIT) / TURN)
                turns = np.arange(first, last + 1.0)
            options.append(np.clip(value + TURN * turns, lower[i], upper[i]))
        if np.prod([len(each) for each in options]) > MAX_TURNS:
            raise InvalidInputError(
                f"all_turns is True: the limits allow more than {MAX_TURNS:,} combinations of full "
                "turns. Narrow the limits, or choose turns from one solution."
            )
        turned = sorted(product(*options), key=lambda each: np.abs(np.array(each) - start).max())
        rows.extend(turned)
        index.extend([k] * len(turned))
    return np.array(rows).reshape(len(rows), arm.n), np.array(index, np.int64)


def evaluated(
    arm: ArmModel,
    target: PackedTarget,
    config: SolveConfig,
    check: "Check | None",
    q: Floats,
) -> IKResult:
    """The result of joint values that should reach a target; its errors are computed."""
    kind, values, weight, *_ = target
    weights = kind.weights(arm.angular_scale, weight)
    position_error, angle, _, converged, _ = cpu.evaluate(
        arm.packed, values, weights, criteria_of(config, True), q.copy()
    )
    orientation_error = angle if kind.directions else nan
    status = Status.CONVERGED if converged else Status.STALLED
    errors = position_error, 0, status, orientation_error, 0
    return tuple.__new__(IKResult, (q, bool(converged), *errors, IDENTITY, None, check))
