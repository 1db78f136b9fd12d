"""Many targets of a serial arm at once: the same results as one by one, many times as fast."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from jointwise.backends import cpu, cuda
from jointwise.backends.device_arrays import (
    device_results,
    host_results,
    is_on_gpu,
    to_device,
    write_row,
)
from jointwise.backends.progress import Report, reporting, silent
from jointwise.backends.threads import new_progress, run_threads, thread_count
from jointwise.config import SolveConfig, criteria_of
from jointwise.engines.run_options import RunOptions, gpu_array, precision, wants_gpu
from jointwise.engines.serial.packing import packed_arm
from jointwise.engines.serial.solve import (
    clamp_to_limits,
    closed_form_for,
    find_nearest,
    solve_one,
)
from jointwise.errors import DimensionMismatchError, InvalidInputError
from jointwise.kernels.layout.arm import has_scene
from jointwise.kernels.layout.arrays import MAX_VALUE, Floats, Ints, Outcome
from jointwise.kernels.layout.slots import slot_buffers
from jointwise.kernels.layout.status import (
    COLLIDES,
    COLLIDES_ALWAYS,
    CONVERGED,
    INVALID,
    ITERATION_LIMIT,
    UNDECIDED,
)
from jointwise.kernels.layout.task import BOX_ROWS, PackedProblem, Results
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.model.closed_form import EXACT
from jointwise.results.batch import batch_of
from jointwise.results.result import IKResult
from jointwise.results.status import Status
from jointwise.targets import PackedTarget

if TYPE_CHECKING:
    from jointwise.engines.serial.check import SerialCheck

# Number of rows that a thread takes at a time: enough to fill the lanes, few enough to share the
# end.
MIN_ROWS, MAX_ROWS = 64, 4096
# (256,) whether the code of a row means that its target is reached, even if every solution
# collides.
ARRIVED = np.isin(np.arange(256), (CONVERGED, COLLIDES, COLLIDES_ALWAYS))


def solve_batch(
    arm: ArmModel,
    targets: PackedTarget,
    starts: Floats | None,
    config: SolveConfig,
    options: RunOptions,
    check: "SerialCheck | None" = None,
) -> Results:
    """Joint values that reach each of many targets; see ``Chain.solve_batch``.

    The results are on a GPU if the targets are.
    """
    dtype, resident = precision(options.dtype, config), is_on_gpu(targets.values)
    on_gpu = wants_gpu(options.device) or resident
    if dtype is np.float32 and not on_gpu:
        raise InvalidInputError("dtype is float32: expected float64 on a CPU, or device='cuda'.")
    start_rows = start_values_of(arm, starts, len(targets.values), resident)
    problem = pack_batch(arm, targets, start_rows, starts is not None, config, check)
    threads, search_unreached = thread_count(options.threads), config.search_unreached
    with reporting(options.progress, "solving", len(targets.values)) as report:
        if not on_gpu:
            return solve_cpu(arm, problem, threads, search_unreached, report)
        return solve_gpu(arm, problem, dtype, threads, search_unreached, report)


def solve_rows_singly(
    arm: ArmModel,
    targets: PackedTarget,
    starts: Floats | None,
    config: SolveConfig,
    options: RunOptions,
    check: "SerialCheck | None",
    preferred: Floats | None,
) -> Results:
    """Solve rows one by one, for CCD alone or preferred joint values, which lanes cannot do."""
    count, has_starts = len(targets.values), starts is not None
    rows = start_values_of(arm, preferred if starts is None else starts, count)
    packed_arm(arm, config, preferred, check)  # raises if the stiffness is for another arm
    invalid = IKResult(np.full(arm.n, np.nan), False, np.nan, 0, Status.INVALID)
    found, progress = [invalid] * count, new_progress(thread_count(options.threads))

    def work(worker: int, begin: int, end: int) -> None:
        for i in range(begin, end):
            if progress[worker, 2]:
                return
            target = targets._replace(values=targets.values[i])
            q = rows[i if len(rows) > 1 else 0].copy()
            with suppress(InvalidInputError):
                found[i] = solve_one(arm, target, q, has_starts, config, check, preferred)
            progress[worker, :2] += 1, found[i].converged

    with reporting(options.progress, "solving", count) as report:
        run_threads(work, count, 1, progress, report)
    return batch_of(found, arm.n)


def pack_batch(
    arm: ArmModel,
    targets: PackedTarget,
    starts: Floats,
    near_start: bool,
    config: SolveConfig,
    check: "SerialCheck | None" = None,
) -> PackedProblem:
    """Many targets and their starts, (m, n) or (1, n) for all, packed for kernels."""
    weights = targets.kind.weights(arm.angular_scale, targets.weight)
    packed, criteria = packed_arm(arm, config, None, check), criteria_of(config, near_start)
    return PackedProblem(packed, targets.values, weights, starts, criteria)


def solve_cpu(
    arm: ArmModel,
    problem: PackedProblem,
    threads: int,
    search_unreached: bool,
    report: Report = silent,
    exact: bool = False,
) -> Results:
    """Solve a batch on some threads.

    With ``exact``, the closed form decides whether a target itself is reached, and the tolerances
    count only for targets that it leaves open.
    """
    count = len(problem.targets)
    results, progress = host_results(count, arm.n), new_progress(threads)

    def work(worker: int, begin: int, end: int) -> None:
        if closed_form_for(arm, problem.packed_arm, problem.weights) is not None:
            _solve_closed(arm, problem, exact, begin, end, results, progress[worker])
        elif cpu.HAS_LANES:
            buffers = slot_buffers(arm.n, len(problem.weights))
            cpu.solve_rows(problem, begin, end, results, progress[worker], buffers)
        else:
            results.status[begin:end] = UNDECIDED
        arrived = ARRIVED[results.status[begin:end]]
        if len(problem.weights) == BOX_ROWS:  # a pose with an empty box is solved as a pose
            arrived &= problem.targets[begin:end, 4:, :3].any(axis=(1, 2))
        missed = begin + np.flatnonzero(~arrived)
        for row in missed.tolist() if search_unreached or not cpu.HAS_LANES else ():
            if progress[worker, 2]:
                return
            _write_outcome(results, row, *_solve_row(arm, problem, row))

    run_threads(work, count, min(max(count // (8 * threads), MIN_ROWS), MAX_ROWS), progress, report)
    results.q[results.status == INVALID] = np.nan
    if len(problem.weights) == 1:  # orientation is free
        results.orientation_error.fill(np.nan)
    return results


def _solve_closed(
    arm: ArmModel,
    problem: PackedProblem,
    exact: bool,
    begin: int,
    end: int,
    results: Results,
    progress: Ints,
) -> None:
    """Solve rows in closed form, and undecided rows by search, as for other arms."""
    form = closed_form_for(arm, problem.packed_arm, problem.weights)
    packed_arm, targets, weights, starts, criteria = problem
    if exact:
        criteria = (EXACT, EXACT, *criteria[2:])
    cpu.nearest_rows(packed_arm, form, targets, starts, criteria, begin, end, results, progress)
    rows = begin + np.flatnonzero(results.status[begin:end] == UNDECIDED)
    if not len(rows) or progress[2]:
        return
    results.converged[rows] = False
    if not cpu.HAS_LANES:
        return
    few = problem._replace(
        targets=targets[rows], starts=starts[rows] if len(starts) > 1 else starts
    )
    searched, buffers = host_results(len(rows), arm.n), slot_buffers(arm.n, len(weights))
    cpu.solve_rows(few, 0, len(rows), searched, progress, buffers)
    for column, values in zip(results, searched, strict=True):
        column[rows] = values


def solve_gpu(
    arm: ArmModel,
    problem: PackedProblem,
    dtype: type,
    threads: int,
    search_unreached: bool,
    report: Report = silent,
) -> Results:
    """Solve a batch on the GPU; the results are on the GPU if the targets are.

    The batch is split into pieces of rows, several of them in flight, one CUDA stream each.
    """
    count, resident = len(problem.targets), is_on_gpu(problem.targets)
    size, streams = cuda.piece_sizes(count, arm.n, resident)
    results = (
        device_results(count, arm.n, dtype)
        if resident
        else host_results(count, arm.n, dtype, np.int32)
    )
    progress = new_progress(streams)
    missed: list[Ints] = []

    def work(worker: int, begin: int, end: int) -> None:
        piece, part = problem, results
        if end - begin < count:
            starts = problem.starts[begin:end] if len(problem.starts) > 1 else problem.starts
            piece = problem._replace(targets=problem.targets[begin:end], starts=starts)
            part = Results(*(each[begin:end] for each in results))
        rows, touching = workers[worker].solve(piece, part)
        missed.append(begin + rows.astype(np.int64))
        done = end - begin - len(rows) if search_unreached else end - begin
        progress[worker, :2] += done, end - begin - len(rows) - touching

    with cuda.borrow_workers(streams, arm.n, dtype, size) as workers:
        for each in workers:
            each.prepare(problem.packed_arm, problem.weights)
        run_threads(work, count, size, progress, report)
    rows = np.concatenate(missed) if search_unreached and missed else np.empty(0, np.int64)
    if len(rows):
        _retry_on_cpu(arm, problem, rows, results, threads, report)
    return results


def _retry_on_cpu(
    arm: ArmModel,
    problem: PackedProblem,
    rows: Ints,
    results: Results,
    threads: int,
    report: Report,
) -> None:
    """Solve on the CPU, one by one, the rows that the GPU did not solve."""
    solved_before, progress = len(results.q) - len(rows), new_progress(threads)

    def work(worker: int, begin: int, end: int) -> None:
        for row in rows[begin:end].tolist():
            if progress[worker, 2]:
                return
            q, outcome = _solve_row(arm, problem, row)
            if results.q.dtype == np.float32:
                q, outcome = _round_to_float32(arm, problem, row, q, outcome)
            _write_outcome(results, row, q, outcome)
            progress[worker, :2] += 1, outcome[0] == CONVERGED

    def report_all(done: int, solved: int) -> None:
        report(solved_before + done, solved_before + solved)

    run_threads(work, len(rows), 1, progress, report_all)


def _solve_row(arm: ArmModel, problem: PackedProblem, row: int) -> tuple[Floats, Outcome]:
    """Solve one row of a batch by itself, as ``solve`` does."""
    first = row if len(problem.starts) > 1 else 0
    target = np.array(problem.targets[row : row + 1], float)[0]
    start = np.array(problem.starts[first : first + 1], float)[0]
    finite = np.abs(start) < MAX_VALUE
    q = np.where(finite, start, 0.0)
    clamp_to_limits(arm, q)
    if not finite.all():
        target = np.full_like(target, np.nan)
    status, position_error, orientation_error, iterations, restarts = find_nearest(
        arm, (problem.packed_arm, target, problem.weights, problem.criteria), q
    )
    if status == INVALID:
        q.fill(np.nan)
    if len(problem.weights) == 1:  # orientation is free
        orientation_error = np.nan
    return q, (status, position_error, orientation_error, iterations, restarts)


def _write_outcome(results: Results, row: int, q: Floats, outcome: Outcome) -> None:
    status, position_error, orientation_error, iterations, restarts = outcome
    values = Results(
        q, status == CONVERGED, position_error, orientation_error, iterations, restarts, status
    )
    for column, value in zip(results, values, strict=True):
        write_row(column, row, value)


def _round_to_float32(
    arm: ArmModel, problem: PackedProblem, row: int, q: Floats, outcome: Outcome
) -> tuple[Floats, Outcome]:
    """Round the joint values to single precision, inside the limits, and update their errors."""
    lower, upper = arm.limits.T
    rounded = q.astype(np.float32)
    rounded = np.where(rounded < lower, np.nextafter(rounded, np.float32(np.inf)), rounded)
    rounded = np.where(rounded > upper, np.nextafter(rounded, np.float32(-np.inf)), rounded)
    values, status, errors = rounded.astype(float), outcome[0], [np.nan, np.nan]
    if status != INVALID:
        target = np.array(problem.targets[row : row + 1], float)[0]
        *errors, _, converged, _ = cpu.evaluate(
            problem.packed_arm, target, problem.weights, problem.criteria, values
        )
        if len(problem.weights) == 1:
            errors[1] = np.nan
        if status == CONVERGED and not converged:
            status = ITERATION_LIMIT
        if status == CONVERGED and has_scene(problem.packed_arm):
            free = np.empty(1, np.bool_)
            cpu.free_rows(problem.packed_arm, values[None], free)
            status = CONVERGED if free[0] else COLLIDES
    return values, (status, errors[0], errors[1], *outcome[3:])


def start_values_of(
    arm: ArmModel, starts: Any, count: int, on_gpu: bool = False, name: str = "starts"
) -> Floats:
    """(count, n) start values of each target, or (1, n) for all; on the GPU if requested."""
    if starts is None:
        array = arm.home.copy()
    elif is_on_gpu(starts):
        if not on_gpu:
            raise InvalidInputError(
                f"{name} is on a GPU and targets is not: expected both on the GPU."
            )
        array = gpu_array(name, starts)
    else:
        array = checks.contiguous(name, starts)
    if array.shape not in ((arm.n,), (count, arm.n)):
        raise DimensionMismatchError(
            f"{name} has shape {array.shape} for {count} targets of an arm of {arm.n} joints: "
            f"expected ({arm.n},) for all or ({count}, {arm.n}), one for each."
        )
    rows = array if array.ndim == 2 else array.reshape(1, arm.n)
    return to_device(rows) if on_gpu else rows
