"""The verbs of datasets of rows, and their columns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from jointwise.config import DEFAULT_SOLVE_CONFIG, SolveConfig
from jointwise.datasets.row_options import DEFAULT_OPTIONS, DatasetOptions
from jointwise.engines.run_options import Device
from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Ints
from jointwise.model import checks
from jointwise.results.status import CodedStatus, PlanStatus, SolutionsStatus, Status
from jointwise.tables.columns import TargetTable
from jointwise.tables.list_columns import (
    PlanColumns,
    SolutionColumns,
    plan_codes,
    solution_codes,
)
from jointwise.tables.result_columns import ResultColumns

Verb = Literal["solve", "solutions", "plan"]
# Largest number of rows that are solved at a time.
MAX_ROWS = 32_768


@dataclass(frozen=True, slots=True)
class RowVerb:
    """A verb.

    Attributes:
        call: Returns the results of some rows.
        columns: Their columns.
        codes: (m,) codes of their statuses.
        statuses: The statuses, the most wanted first.
        solved: The statuses of rows that count as solved, and a description of these.
        needs: The method that a model must have.
        options: The options of this verb that not all verbs have.
        has_config: Whether it has a config.
        on_gpu: Whether a GPU can compute it.
        piece_rows: Rows of a piece on a CPU and on a GPU: a second of one core, or a full GPU.
        first_rows: Rows that are computed before the time of a row is known.
    """

    call: Callable[["RowCall", TargetTable, Any], Any]
    columns: type[ResultColumns]
    codes: Callable[[Any], Ints]
    statuses: type[CodedStatus]
    solved: tuple[tuple[CodedStatus, ...], str]
    needs: str
    options: Sequence[str]
    has_config: bool = True
    on_gpu: bool = True
    piece_rows: tuple[int, int] = (100_000, 4_000_000)
    first_rows: int = 64

    def count_solved(self, counts: Mapping[str, int]) -> int:
        """How many rows are solved, from the number of each status."""
        return sum(counts.get(status.name, 0) for status in self.solved[0])


@dataclass(frozen=True, slots=True)
class RowCall:
    """How a verb is called for every row.

    Attributes:
        verb: Its name.
        options: The options.
        config: As for ``solve_batch``.
        device: Where to compute, ``"cpu"`` or ``"cuda"``.
    """

    verb: Verb
    options: DatasetOptions
    config: SolveConfig
    device: Device

    def results(self, table: TargetTable) -> Any:
        """The results of some rows, computed by one thread or a GPU."""
        starts = self.options.start if table.starts is None else table.starts
        return VERBS[self.verb].call(self, table, starts)


def _solve(call: RowCall, table: TargetTable, starts: Any) -> Any:
    return table.model.solve_batch(
        table.targets,
        starts,
        posture=call.options.posture,
        config=call.config,
        device=call.device,
        threads=1,
    )


def _solutions(call: RowCall, table: TargetTable, near: Any) -> Any:
    model: Any = table.model
    redundancy = call.options.redundancy
    return model.solutions_batch(
        table.targets, near=near, redundancy=redundancy, threads=1, device=call.device
    )


def _plan(call: RowCall, table: TargetTable, starts: Any) -> Any:
    options, model = call.options, table.model
    return model.plan_batch(
        table.targets if table.size else None,
        model.home if starts is None else starts,
        q=None if table.size else np.empty((0, model.n)),
        posture=options.posture,
        config=call.config,
        max_samples=options.max_samples,
        shortcuts=options.shortcuts,
        threads=1,
    )


VERBS: dict[str, RowVerb] = {
    "solve": RowVerb(
        _solve,
        ResultColumns,
        lambda batch: batch.status,
        Status,
        ((Status.CONVERGED,), "solved"),
        "solve_batch",
        ("posture",),
    ),
    "solutions": RowVerb(
        _solutions,
        SolutionColumns,
        solution_codes,
        SolutionsStatus,
        ((SolutionsStatus.FOUND,), "with solutions"),
        "solutions_batch",
        ("redundancy",),
        has_config=False,
        piece_rows=(50_000, 500_000),
    ),
    "plan": RowVerb(
        _plan,
        PlanColumns,
        plan_codes,
        PlanStatus,
        ((PlanStatus.PLANNED, PlanStatus.ALREADY_THERE), "planned"),
        "plan_batch",
        ("posture", "max_samples", "shortcuts"),
        on_gpu=False,
        piece_rows=(5_000, 0),
        first_rows=1,
    ),
}


def check_call(model: Any, call: RowCall) -> None:
    """Refuse a verb that the model lacks, and options that the verb lacks."""
    checks.choice("verb", call.verb, get_args(Verb))
    verb = VERBS[call.verb]
    given = f"verb is {call.verb!r}"
    if not hasattr(model, verb.needs):
        raise InvalidInputError(f"{given}, which a whole robot does not have: expected a Chain.")
    for other in VERBS.values():
        for name in other.options:
            default = getattr(DEFAULT_OPTIONS, name)
            if name not in verb.options and getattr(call.options, name) != default:
                raise InvalidInputError(f"{given}, which has no {name}: expected {default}.")
    if not verb.has_config and call.config != DEFAULT_SOLVE_CONFIG:
        raise InvalidInputError(f"{given}, which has no config: expected the default.")
    if not verb.on_gpu and call.device == "cuda":
        raise InvalidInputError(f"{given}, which needs a CPU: expected the device 'cpu'.")
