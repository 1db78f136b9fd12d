"""All solutions of many poses at once, on the CPU or on a GPU."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jointwise.backends import cuda_solutions
from jointwise.backends.device_arrays import (
    check_library,
    is_on_gpu,
    to_device,
    to_host,
    to_library,
)
from jointwise.backends.threads import thread_count
from jointwise.config import DEFAULT_SOLVE_CONFIG
from jointwise.engines.closed_form.redundancy import closed_rows
from jointwise.engines.closed_form.solutions import all_solutions
from jointwise.engines.run_options import RunOptions, gpu_array, wants_gpu
from jointwise.engines.serial.batch import start_values_of
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.kernels.layout.closed_form import BRANCHES, HAS_FREE_JOINT, IS_INVALID, UNPROVEN
from jointwise.model import checks
from jointwise.model.arm import ArmModel
from jointwise.model.closed_form import ClosedForm
from jointwise.results.solutions import SolutionsBatch
from jointwise.targets import POSE, AnyTargets, pack_target, pack_targets

if TYPE_CHECKING:
    from jointwise.results.result import Check


def solutions_batch(
    arm: ArmModel,
    targets: AnyTargets,
    near: Any,
    redundancy: ArrayLike | None,
    options: RunOptions,
    check: "Check | None" = None,
) -> SolutionsBatch:
    """All solutions of each of many poses; see ``Chain.solutions_batch``."""
    resident = is_on_gpu(targets)
    if resident and check is not None:
        raise InvalidInputError(
            "targets is on a GPU, and the arm has a scene: expected arrays in host memory, such as "
            "targets.get()."
        )
    on_gpu, threads = wants_gpu(options.device) or resident, options.threads
    if resident:
        check_library(targets, np.float64)
    packed = pack_targets(targets, gpu_array if resident else checks.contiguous)
    form, poses = arm.closed_form, packed.values
    if form is None or packed.kind is not POSE:
        raise InvalidInputError(
            "this arm has no closed form, or the targets are not poses: expected poses of an arm "
            "whose closed_form is not None. Use solutions for each target, or solve_batch."
        )
    values = _redundancy_of(form, redundancy, len(poses))
    first = arm.mid_range if near is None else near
    starts = start_values_of(arm, first, len(poses), resident, "near")
    workers = thread_count(threads)

    def on_cpu(poses: Floats, starts: Floats) -> cuda_solutions.Solved:
        solutions, counts = closed_rows(arm, form, poses, starts, values, workers)
        noted = counts[:, 2]
        complete = ((noted & UNPROVEN) == 0) & form.exact
        if not form.redundant and not complete.all():
            solutions = _searched_rows(arm, poses, solutions, counts)
        return solutions, counts[:, 0].copy(), complete, (noted & HAS_FREE_JOINT) > 0

    def careful(poses: Floats, starts: Floats) -> cuda_solutions.Solved:
        solutions, counts, *flags = on_cpu(poses, starts)
        few = np.ascontiguousarray(solutions[:, :BRANCHES])
        return few, np.minimum(counts, BRANCHES).astype(np.int32), flags[0], flags[1]

    if on_gpu and form.has_regular_poses:
        written = cuda_solutions.all_solutions(arm.packed, form.packed, poses, starts, careful)
    else:
        written = on_cpu(np.array(to_host(poses), float), to_host(starts))
    if check is not None:
        written = (*_free_ones(check, *written[:2], threads), *written[2:])
    if resident:
        return SolutionsBatch(*(to_library(to_device(each), targets) for each in written))
    for array in written:
        array.setflags(write=False)
    return SolutionsBatch(*written)


def _searched_rows(arm: ArmModel, poses: Floats, solutions: Floats, counts: Ints) -> Floats:
    """The solutions (m, k, n), with those of undecided rows by search, as in ``all_solutions``."""
    noted = counts[:, 2]
    undecided = (counts[:, 0] == 0) & (noted & UNPROVEN > 0) & (noted & IS_INVALID == 0)
    for row in np.flatnonzero(undecided).tolist():
        q = all_solutions(arm, pack_target(poses[row]), None, None, DEFAULT_SOLVE_CONFIG).q
        missing = max(len(q) - solutions.shape[1], 0)
        if missing:
            solutions = np.pad(solutions, ((0, 0), (0, missing), (0, 0)), constant_values=np.nan)
        solutions[row, : len(q)], counts[row, 0] = q, len(q)
    return solutions


def _free_ones(
    check: "Check", solutions: Floats, counts: Ints, threads: int | None
) -> tuple[Floats, Ints]:
    """The solutions (m, k, n) that do not collide, in order, then NaN; and their numbers."""
    m, k, n = solutions.shape
    free = check.free(
        np.ascontiguousarray(solutions.reshape(m * k, n), np.float64), threads=threads
    )
    free = free.reshape(m, k) & (np.arange(k) < counts[:, None])
    order = np.argsort(~free, axis=1, kind="stable")
    sorted_solutions = np.take_along_axis(solutions, order[:, :, None], axis=1)
    found = free.sum(axis=1).astype(counts.dtype)
    sorted_solutions[np.arange(k) >= found[:, None]] = np.nan
    return sorted_solutions, found


def _redundancy_of(form: ClosedForm, redundancy: ArrayLike | None, count: int) -> Floats:
    """(count,) or (1,) values of the redundancy; 0 for six joints, which have none."""
    if form.redundant and redundancy is None:
        raise InvalidInputError(
            "redundancy is None: expected a value of the arm angle or the fixed joint [rad, m], "
            "or (m,) one for each target, because an arm with seven joints has infinitely many "
            "solutions."
        )
    if redundancy is not None and not form.redundant:
        raise InvalidInputError(
            "redundancy is given: expected None, because an arm with six joints has none. See "
            "chain.closed_form."
        )
    values = np.zeros(1) if redundancy is None else checks.floats("redundancy", redundancy)
    values = np.atleast_1d(checks.all_finite("redundancy", values))
    if len(values) not in (1, count) or values.ndim != 1:
        raise InvalidInputError(
            f"redundancy has shape {values.shape} for {count} targets: expected a number or "
            f"({count},)."
        )
    return values
