"""The closed form of arms at many targets, or at many values of the redundancy of seven joints."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jointwise.backends import cpu
from jointwise.backends.threads import new_progress, run_threads
from jointwise.config import SolveConfig
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.kernels.layout.closed_form import BRANCHES, SAME_SOLUTION
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.model.closed_form import EXACT, ClosedForm
from jointwise.targets import POSE, AnyTarget, pack_target

# Number of values of the arm angle or the fixed joint to examine, if none are given.
SAMPLES = 64
# Accuracy of the ends of intervals [rad, m], and the samples that locate them.
INTERVAL_TOL, INTERVAL_SAMPLES = 1e-6, 256
# Number of rows that a thread takes at a time.
ROWS = 256


def redundancy_values(
    arm: ArmModel, form: ClosedForm, start: Floats, has_start: bool, given: ArrayLike | None
) -> Floats:
    """(k,) values of the arm angle or the fixed joint to examine, for seven joints."""
    if given is not None:
        values = np.atleast_1d(checks.all_finite("redundancy", checks.floats("redundancy", given)))
        if values.ndim != 1:
            raise InvalidInputError(
                f"redundancy has shape {values.shape}: expected a number or (k,), values of the "
                "arm angle or of the fixed joint."
            )
        return _distinct(arm, form, values)
    low, high = redundancy_range(arm, form)
    values = low + (high - low) * (np.arange(SAMPLES) + 0.5) / SAMPLES
    if not has_start or form.fixed is None:
        return values
    return _distinct(arm, form, np.append(values, start[form.fixed]))


def _distinct(arm: ArmModel, form: ClosedForm, values: Floats) -> Floats:
    """The values, without those that differ from an earlier one only by full turns."""
    apart = values[:, None] - values
    if form.fixed is None or not arm.prismatic[form.fixed]:
        apart = (apart + np.pi) % (2.0 * np.pi) - np.pi
    same = np.tril(np.abs(apart) < SAME_SOLUTION, -1)
    distinct: Floats = values[~same.any(axis=1)]
    return distinct


def redundancy_range(arm: ArmModel, form: ClosedForm) -> tuple[float, float]:
    """Smallest and largest value of the arm angle or the fixed joint, within a turn [rad, m]."""
    if form.fixed is None:
        return -np.pi, np.pi
    low, high = arm.limits[form.fixed].tolist()
    half = 5.0 * arm.angular_scale if arm.prismatic[form.fixed] else np.pi
    middle = float(arm.mid_range[form.fixed])
    return max(low, middle - half), min(high, middle + half)


def reach_tolerance(form: ClosedForm, config: SolveConfig) -> float:
    """How far off a target may be and still be reached within the tolerances [m]."""
    return 4.0 * (config.position_tolerance + form.size * config.orientation_tolerance)


def structure_tolerance(form: ClosedForm) -> float:
    """Largest deviation of an arm of this structure by rounding [m], allowed for in proofs."""
    return 4.0 * EXACT * form.size


def closed_rows(
    arm: ArmModel,
    form: ClosedForm,
    targets: Floats,
    near: Floats,
    values: Floats,
    threads: int = 1,
    tolerance: float | None = None,
) -> tuple[Floats, Ints]:
    """Solutions (m, k, n), k at least 8, of many targets or values; (m, 3) inside, all, notes.

    The notes are about targets that may be off by the tolerance [m]; None: by rounding.
    """
    count = max(len(targets), len(values)) if len(targets) else 0
    counts, progress = np.zeros((count, 3), np.int64), new_progress(threads)
    error = structure_tolerance(form) if tolerance is None else tolerance

    def solve(capacity: int, targets: Floats, near: Floats, values: Floats, counts: Ints) -> Floats:
        solutions = np.empty((len(counts), capacity, arm.n))
        fixed = arm.packed, form.packed, targets, near, values, error

        def work(worker: int, begin: int, end: int) -> None:
            if not progress[worker, 2]:
                cpu.closed_rows(*fixed, begin, end, solutions, counts)

        rows = len(counts) if threads == 1 else ROWS
        run_threads(work, len(counts), rows, progress, lambda done, solved: None)
        return solutions

    solutions = solve(BRANCHES, targets, near, values, counts)
    most = int(counts[:, 0].max(initial=0))
    if most <= BRANCHES:
        return solutions, counts
    many = np.flatnonzero(counts[:, 0] > BRANCHES)  # of a continuum
    whole = np.full((count, most, arm.n), np.nan)
    whole[:, :BRANCHES] = solutions
    some, starts, fixed = (
        each[many] if len(each) > 1 else each for each in (targets, near, values)
    )
    whole[many] = solve(most, some, starts, fixed, counts[many])
    return whole, counts


def redundancy_intervals(arm: ArmModel, target: AnyTarget) -> Floats:
    """(k, 2) intervals with solutions inside the limits; see ``Chain.redundancy_intervals``."""
    packed, form = pack_target(target), arm.closed_form
    if form is None or not form.redundant or packed.kind is not POSE:
        raise InvalidInputError(
            "this arm or target has no redundancy: expected a pose and an arm of seven joints "
            "with a closed form. See chain.closed_form."
        )
    packed.kind.check(packed.values)
    low, high = redundancy_range(arm, form)

    def exists(values: Floats) -> NDArray[np.bool_]:
        start = arm.mid_range[None].copy()
        _, counts = closed_rows(arm, form, packed.values[None], start, values)
        return counts[:, 0] > 0

    grid = np.linspace(low, high, INTERVAL_SAMPLES)
    inside = exists(grid)
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    a, b = grid[edges], grid[edges + 1]
    while len(edges) and float((b - a).max()) > INTERVAL_TOL:  # all ends at once
        middle = 0.5 * (a + b)
        as_first = exists(np.append(middle, low))[:-1] == inside[edges]
        a, b = np.where(as_first, middle, a), np.where(as_first, b, middle)
    ends = np.where(inside[edges], a, b)  # the side on which there is a solution
    ends = np.concatenate([[low] if inside[0] else [], ends, [high] if inside[-1] else []])
    intervals: Floats = ends.reshape(-1, 2)
    intervals.setflags(write=False)
    return intervals
