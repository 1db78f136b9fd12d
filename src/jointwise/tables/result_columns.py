"""Columns of a table of results: one per joint, then status and errors."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats, Ints
from jointwise.model.checks import short
from jointwise.results.batch import IKBatch
from jointwise.results.plan import Plan
from jointwise.results.status import CodedStatus, Status, TrackStatus
from jointwise.results.tracking import TrackRun
from jointwise.tables.columns import TargetTable
from jointwise.tables.groups import is_angle
from jointwise.tables.plain_values import to_json
from jointwise.tables.units import to_display

if TYPE_CHECKING:
    from jointwise.verbs import Verbs

# m values of each column, by name: an array, or a list for an extra column.
Columns = Mapping[str, Any]
# Results of many targets; their fields are arrays.
Results = IKBatch | TrackRun
# The content of a file: results, or the waypoints of a plan.
Saved = Results | Plan
# Writes the content and its columns.
Write = Callable[[Saved, Columns], None]

Q = "q"
# Columns of the pose of a free base.
BASE_POSE = tuple(f"base_pose.{name}" for name in ("x", "y", "z", "qx", "qy", "qz", "qw"))


class Names(NamedTuple):
    """A column with few distinct texts.

    Attributes:
        codes: (m,) numbers of the texts.
        names: The texts.
    """

    codes: Ints
    names: tuple[str, ...]

    def tolist(self) -> list[str]:
        """The text of each row."""
        return [self.names[code] for code in self.codes.tolist()]


class Lists(NamedTuple):
    """A column of lists of numbers.

    Attributes:
        offsets: (m+1,) where each list begins, and the end of the last one.
        values: The numbers of all lists.
    """

    offsets: Ints
    values: Floats

    def tolist(self) -> list[list[float]]:
        """The list of each row."""
        return [part.tolist() for part in np.split(self.values, self.offsets[1:-1])]


def status_names(codes: Ints, statuses: type[CodedStatus]) -> Names:
    """The column of the statuses with these codes."""
    return Names(codes, tuple(status.name for status in statuses))


@dataclass(frozen=True, slots=True)
class ResultColumns:
    """The columns of results.

    Attributes:
        model: The arm or the robot.
        links: The links of a robot that have targets; none for an arm.
        in_degrees: Whether angles are in degrees; what ``--json`` prints is always in radians.
        with_targets: Whether to add the columns of the targets.
        tracked: Whether the results are those of tracking.
    """

    model: "Verbs"
    links: tuple[str, ...]
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
        taken = {Q, *self._joints(table._replace(extra={})), *self._outcome()}
        taken |= {*table.columns} if self.with_targets else set()
        for column in table.extra:
            if column in taken:
                raise InvalidInputError(
                    f"{source} has the column {short(column)}, which the results have, too: "
                    "expected another name."
                )

    def of_table(self, results: Any, table: TargetTable) -> Columns:
        """The columns of a file: those of the targets, one per joint, then status and errors."""
        return {
            **self._repeated(table),
            **dict(zip(self._joints(table), self._joint_values(results), strict=True)),
            **{name: compute(results) for name, compute in self._outcome().items()},
        }

    def json_rows(self, results: Results, table: TargetTable) -> list[dict[str, Any]]:
        """The rows that ``--json`` prints, in metres and radians."""
        repeated = dict(self._repeated(table))
        if self.in_degrees:
            angles = [name for name in table.columns if name in repeated and is_angle(name)]
            repeated |= {name: np.radians(repeated[name]) for name in angles}
        outcome = replace(self, in_degrees=False)._outcome()
        computed = {name: compute(results) for name, compute in outcome.items()}
        return list(to_rows({**repeated, Q: results.q, **computed}))

    def _repeated(self, table: TargetTable) -> Columns:
        """The columns that are repeated from the table of the targets."""
        return {**table.extra, **(table.columns if self.with_targets else {})}

    def _joints(self, table: TargetTable) -> Sequence[str]:
        """The columns of the joints; numbered if the name of a joint is that of another column."""
        names = self.model.joint_names
        if {*self._outcome(), *self._repeated(table)}.isdisjoint(names):
            return names
        return [f"q{i + 1}" for i in range(self.model.n)]

    def _joint_values(self, results: Any) -> Sequence[Any]:
        """The values of each joint."""
        return list(to_display(self.model, results.q, self.in_degrees).T)

    def _outcome(self) -> dict[str, Callable[[Any], Any]]:
        """How each column after those of the joints is computed from results."""
        errors = self._errors("", lambda results: results)
        columns: dict[str, Callable[[Any], Any]]
        if self.tracked:
            columns = {"status": lambda run: status_names(run.status, TrackStatus), **errors}
        else:
            columns = {
                "converged": attrgetter("converged"),
                "status": lambda batch: status_names(batch.status, Status),
                **errors,
                "iterations": attrgetter("iterations"),
                "restarts": attrgetter("restarts"),
            }
        for link in self.links:
            columns |= self._errors(f"{link}.", partial(_errors_of, link))
        if not self.tracked and getattr(self.model, "free_base", False):
            columns |= {name: partial(_base_value, i) for i, name in enumerate(BASE_POSE)}
        if self.model.scene is not None:
            columns |= {"clearance": attrgetter("clearance"), "contact": _contacts}
        return columns

    def _errors(self, prefix: str, part: Callable[[Any], Any]) -> dict[str, Callable[[Any], Any]]:
        """The two columns of errors of a part of results."""
        in_unit = np.degrees if self.in_degrees else np.asarray
        return {
            f"{prefix}position_error": lambda results: part(results).position_error,
            f"{prefix}orientation_error": lambda results: in_unit(part(results).orientation_error),
        }


def to_rows(columns: Columns) -> Iterator[dict[str, Any]]:
    """The rows of columns, in types that JSON has."""
    for row in zip(*map(to_json, columns.values()), strict=True):
        yield dict(zip(columns, row, strict=True))


def json_summary(name: str, model: "Verbs", rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The object that ``--json`` prints for the results of a model, the rows last."""
    return {
        "robot": name,
        "joint_names": model.joint_names,
        "targets": len(rows),
        "solved": sum(row["converged"] for row in rows),
        "statuses": Counter(row["status"] for row in rows),
        "rows": rows,
    }


def _errors_of(link: str, results: Results) -> Any:
    """The errors of one link."""
    return results.errors[link]


def _contacts(batch: IKBatch) -> Any:
    """(m,) the nearest pair of things, in each row."""
    return np.array([" and ".join(pair or ()) for pair in batch.contact], np.str_)


def _base_value(number: int, batch: IKBatch) -> Floats:
    """(m,) one of the values of ``BASE_POSE``; NaN in invalid rows."""
    from scipy.spatial.transform import Rotation

    poses = batch.base_poses
    values, valid = np.full(len(poses), np.nan), np.isfinite(poses).all(axis=(1, 2))
    if number < 3:
        values[valid] = poses[valid, number, 3]
    elif valid.any():
        values[valid] = Rotation.from_matrix(poses[valid, :3, :3]).as_quat()[:, number - 3]
    return values
