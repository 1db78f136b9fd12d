"""A round of attempts on a GPU: which rows take part, and their results."""

from typing import Any, NamedTuple

from jointwise.kernels._numba.driver_calls import KernelCall as KernelCall
from jointwise.kernels._numba.driver_calls import copy_to_device as copy_to_device
from jointwise.kernels._numba.driver_calls import copy_to_host as copy_to_host
from jointwise.kernels._numba.jit import ir_inline

# Entries of ``Queues.counter``: attempts taken, problems for the next round, problems refused.
TAKEN, RETRIED, REFUSED = range(3)


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
        status: (s,) ``PENDING``, or why nothing is attempted.
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
        counter: (3,) entries of both, and attempts taken.
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
