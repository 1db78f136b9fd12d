"""Columns of a table of results: one per joint, then status and errors."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jointwise.chain import Chain
from jointwise.cli.printing import to_json
from jointwise.cli.tables.columns import TargetTable, angle_columns
from jointwise.cli.units import to_display
from jointwise.errors import InvalidInputError
from jointwise.model.checks import short
from jointwise.solvers.results import STATUS_BY_CODE, IKBatch
from jointwise.solvers.track_results import TRACK_STATUS_BY_CODE, TrackRun

# m values of each column, by name: an array, or for an extra column a list.
Columns = Mapping[str, Any]
# Results of many targets; their fields are arrays.
Results = IKBatch | TrackRun
# Writes results, and their columns.
Write = Callable[[Results, Columns], None]

JOINT_ANGLES, CLEARANCE, CONTACT = "joint_angles", "clearance", "contact"
STATUS_NAMES = np.array([status.name for status in STATUS_BY_CODE])
TRACK_STATUS_NAMES = np.array([status.name for status in TRACK_STATUS_BY_CODE])


@dataclass(frozen=True, slots=True)
class ResultColumns:
    """Which columns results have.

    Attributes:
        chain: The arm.
        in_degrees: Whether angles are in degrees; what ``--json`` prints is always in radians.
        with_targets: Whether the columns of the targets are repeated.
        tracked: Whether the results are those of tracking.
    """

    chain: Chain
    in_degrees: bool
    with_targets: bool
    tracked: bool = False

    def check(self, table: TargetTable, source: str) -> None:
        """Refuse extra columns that are named like those of the results.

        Raises:
            InvalidInputError: A name is taken, or the source has no columns to repeat.
        """
        if self.with_targets and not table.columns:
            raise InvalidInputError(
                f"{source} has no columns to repeat: expected a .csv, .jsonl or .parquet file "
                "with --with-targets."
            )
        n, none = self.chain.n, np.empty(0)
        no_results: Results = IKBatch.from_list([], n)
        if self.tracked:
            nowhere = np.empty((0, n))
            no_results = TrackRun(nowhere, nowhere, none, none, np.empty(0, np.uint8))
        taken = {JOINT_ANGLES, *self.of_table(no_results, table._replace(extra={}))}
        if self.chain.geometry is not None:
            taken |= {CLEARANCE, CONTACT}
        for column in table.extra:
            if column in taken:
                raise InvalidInputError(
                    f"{source} has the column {short(column)}, and so have the results: expected "
                    "another name."
                )

    def of_table(self, batch: Results, table: TargetTable) -> Columns:
        """The columns of a file: those of the targets, one per joint, then status and errors."""
        joints = to_display(self.chain, batch.joint_angles, self.in_degrees)
        angles = batch.orientation_error
        outcome = _outcome(batch, np.degrees(angles) if self.in_degrees else angles)
        repeated = self._repeated(table)
        unambiguous = {*outcome, *repeated}.isdisjoint(self.chain.names)
        numbered = [f"q{i + 1}" for i in range(self.chain.n)]
        names = self.chain.names if unambiguous else numbered
        return {**repeated, **dict(zip(names, joints.T, strict=True)), **outcome}

    def json_rows(self, batch: Results, table: TargetTable) -> list[dict[str, Any]]:
        """The rows that ``--json`` prints, in metres and radians."""
        repeated = dict(self._repeated(table))
        if self.in_degrees:
            angles = [name for name in angle_columns() if name in repeated]
            repeated |= {name: np.radians(repeated[name]) for name in angles}
        outcome = _outcome(batch, batch.orientation_error)
        return list(to_rows({**repeated, JOINT_ANGLES: batch.joint_angles, **outcome}))

    def _repeated(self, table: TargetTable) -> Columns:
        """The columns that are repeated from the table of the targets."""
        return {**table.extra, **(table.columns if self.with_targets else {})}


def to_rows(columns: Columns) -> Iterator[dict[str, Any]]:
    """The rows of columns, in types that JSON has."""
    for row in zip(*map(to_json, columns.values()), strict=True):
        yield dict(zip(columns, row, strict=True))


def json_summary(arm: str, chain: Chain, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What ``--json`` prints of an arm's results, the rows last."""
    return {
        "robot": arm,
        "joint_names": chain.names,
        "targets": len(rows),
        "solved": sum(row["converged"] for row in rows),
        "statuses": Counter(row["status"] for row in rows),
        "rows": rows,
    }


def _outcome(batch: Results, orientation_error: Any) -> dict[str, Any]:
    if isinstance(batch, TrackRun):
        return {
            "status": TRACK_STATUS_NAMES[batch.status],
            "position_error": batch.position_error,
            "orientation_error": orientation_error,
        }
    outcome = {
        "converged": batch.converged,
        "status": STATUS_NAMES[batch.status],
        "position_error": batch.position_error,
        "orientation_error": orientation_error,
        "iterations": batch.iterations,
        "restarts": batch.restarts,
    }
    if batch.check is None:
        return outcome
    contact = [" and ".join(pair or ()) for pair in batch.contact]
    return outcome | {CLEARANCE: batch.clearance, CONTACT: contact}
