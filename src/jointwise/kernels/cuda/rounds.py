"""A round of attempts on a GPU: which rows take part, and their results."""

from typing import Any, NamedTuple

from jointwise.kernels._numba.driver_calls import KernelCall as KernelCall
from jointwise.kernels._numba.driver_calls import copy_to_device as copy_to_device
from jointwise.kernels._numba.driver_calls import copy_to_host as copy_to_host
from jointwise.kernels._numba.jit import ir_inline
from jointwise.kernels.cuda.arm import ThreadMemory
from jointwise.kernels.kinematics.tasks import is_converged, set_task
from jointwise.kernels.layout.arm import BOUND_LOWER, BOUND_UPPER, Arm
from jointwise.kernels.layout.arrays import MAX_VALUE, Errors
from jointwise.kernels.layout.task import Criteria
from jointwise.kernels.serial.lm import evaluate_residual
from jointwise.kernels.serial.search import unwrap_near
from jointwise.kernels.serial.sweep import clamp_joint

# Entries of ``Queues.counter``: attempts taken, problems for the next round, problems refused, and
# problems all of whose solutions touch something.
TAKEN, RETRIED, REFUSED, TOUCHING = range(4)


class Round(NamedTuple):
    """A round of attempts.

    Attributes:
        rows: (k,) rows of the batch that take part; in the first round all do, and it is not read.
        row_count: How many.
        first_attempt: The number of the first attempt of this round, 0 from the given start.
        attempts: Attempts of each row in this round.
    """

    rows: Any
    row_count: int
    first_attempt: int
    attempts: int


class Attempts(NamedTuple):
    """The attempts of a round; those of a row are next to each other.

    Attributes:
        q: (n, s) joint values [rad, m].
        iterations: (s,) CCD sweeps and Levenberg-Marquardt steps.
        status: (s,) ``PENDING``, or why nothing is attempted; after a check, how each ended.
        errors: (2, s) position [m] and orientation error [rad] at the end.
    """

    q: Any
    iterations: Any
    status: Any
    errors: Any


class Queues(NamedTuple):
    """Where the rows of a round go that have no result yet.

    Attributes:
        retried: (k,) rows for the next round.
        refused: (k,) rows that are not solved on the GPU.
        counter: (4,) attempts taken, entries of both queues, rows that always touch.
    """

    retried: Any
    refused: Any
    counter: Any


@ir_inline
def row_of_attempt(round_: Round, attempt: int) -> int:
    """The row of the batch that an attempt belongs to."""
    return attempt if round_.first_attempt == 0 else round_.rows[attempt // round_.attempts]


@ir_inline
def read_target(targets: Any, row: int, target: Any) -> None:
    """Copy the packed target of a row."""
    for j in range(target.shape[0]):
        for k in range(target.shape[1]):
            target[j, k] = targets[row, j, k]


@ir_inline
def read_start(arm: Arm, starts: Any, row: int, start: Any) -> None:
    """Copy the start values of a row, clamped; those that are no numbers are 0."""
    first = row if starts.shape[0] > 1 else 0
    for i in range(start.shape[0]):
        value = 1.0 * starts[first, i]
        start[i] = clamp_joint(arm.kinds, arm.bounds, i, value if abs(value) < MAX_VALUE else 0.0)


@ir_inline
def finish_attempt(
    targets: Any,
    criteria: Criteria,
    arm: Arm,
    memory: ThreadMemory,
    limits: Any,
    attempts: Attempts,
    row: int,
    attempt: int,
    evaluates: bool,
) -> Errors:
    """Write the joint values of an attempt to ``memory.q``, near the start; their errors.

    They are rounded to the precision of the attempts, inside ``limits``. Errors are evaluated again
    if full turns were added, or if asked for; then ``memory`` has the frames, too.
    """
    task, q = memory.task, memory.q
    errors = (1.0 * attempts.errors[0, attempt], 1.0 * attempts.errors[1, attempt])
    if is_converged(errors, criteria, task.weights):
        for i in range(q.shape[0]):
            q[i] = attempts.q[i, attempt]
        if unwrap_near(arm, memory.start, q) or evaluates:
            for i in range(q.shape[0]):
                attempts.q[i, attempt] = q[i]
                value = attempts.q[i, attempt]
                q[i] = min(max(value, limits[i, BOUND_LOWER]), limits[i, BOUND_UPPER])
                attempts.q[i, attempt] = q[i]
            read_target(targets, row, memory.target)
            set_task(arm, memory.target, task)
            errors = evaluate_residual(arm, task, q, memory.workspace)
    return errors
