"""Columns of a table of targets.

``x, y, z`` are positions [m]. The other columns come in groups, which the kinds of targets define,
such as ``roll, pitch, yaw`` for poses; see ``solvers.targets.TargetKind.columns``. Starts have one
column per joint, named as the joint or ``q1, q2, ...``. All others are extra columns, such as
``id``, which are copied to the results.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from jointwise.chain import Chain
from jointwise.cli.options import is_number
from jointwise.cli.units import to_radians
from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Floats
from jointwise.model.checks import short
from jointwise.model.degrees import check_rpy
from jointwise.solvers.targets import KINDS, MIN_LENGTH, TargetKind, Targets

# The group that every table has, and its columns.
POSITION, XYZ = "position", ("x", "y", "z")
# The group of angles: in degrees where the table is.
ANGLES = "rpy"
# Groups of vectors whose length has no meaning, except that it is not zero.
ANY_LENGTH = ("quaternion", "direction")
# Columns that other programs have for an orientation, such as rx, rot_x, yaw_deg; r and p are two
# of r, p, y.
LIKE_ORIENTATION = re.compile(
    r"(r|o|w|rot|rotation|ori|orientation|quat|euler)[_.]?[xyzw]|([a-z]+_)?(roll|pitch|yaw)(_.*)?"
    r"|r|p",
    re.IGNORECASE,
)

# Tells where a row is, for messages: "in line 3 of targets.csv".
Locate = Callable[[int], str]


class TargetTable(NamedTuple):
    """Targets of one kind, and where to start.

    Attributes:
        kind: The kind of the targets.
        targets: Many targets.
        starts: (n,) for all or (m, n) one for each [rad, m]; None: not given.
        columns: (m,) values of each column of the targets, as they were given; empty if the
            source has no columns.
        extra: m values of each extra column.
        locate: Tells where a row is.
        json_lines: Whether the source has JSON lines.
    """

    kind: TargetKind
    targets: Targets
    starts: Floats | None
    columns: Mapping[str, Floats] = {}
    extra: Mapping[str, Any] = {}
    locate: Locate = lambda row: f"in row {row + 1}"
    json_lines: bool = False


def column_groups() -> dict[str, tuple[str, ...]]:
    """The columns of targets in groups, by the names that JSON and messages use."""
    groups = [group for kind in KINDS.values() for group in kind.columns.items()]
    return {POSITION: XYZ, **dict(groups)}


def check_header(header: Sequence[str], file: str, chain: Chain) -> list[str]:
    """The extra columns of a header.

    Raises:
        InvalidInputError: A column is missing, repeated or misspelled, or two groups exclude each
            other; the text says which.
    """
    groups, joints = column_groups(), _start_columns(chain, header)
    known = [*_target_columns(), *joints]
    extra = [column for column in header if column not in known]
    for i, column in enumerate(header):
        if i and not column:  # the first one is the index that pandas writes
            raise InvalidInputError(
                f"{file} has no name for column {i + 1}: expected a header without empty names, "
                "and without a comma at its end."
            )
        if column in header[:i]:
            raise InvalidInputError(
                f"{file} has the column {short(column)} twice: expected it once."
            )
    for name, group in {**groups, "start": joints}.items():
        missing = [column for column in group if column not in header]
        is_incomplete = bool(missing) and (len(missing) < len(group) or name == POSITION)
        _refuse_misspelled(extra, group, missing if is_incomplete else [], file)
        if is_incomplete:
            raise InvalidInputError(
                f"{file} has no column {', '.join(missing)}: expected all of {', '.join(group)}."
            )
    for column in extra:
        if re.fullmatch(r"q\d+", column, re.IGNORECASE):
            raise InvalidInputError(
                f"{file} has the column {short(column)} for an arm of {chain.n} joints: expected "
                f"q1 to q{chain.n}."
            )
    del groups[POSITION]
    present = [", ".join(group) for group in groups.values() if group[0] in header]
    if len(present) > 1:
        raise InvalidInputError(f"{file} has {' and '.join(present)}: expected one of these.")
    if not present:
        _refuse_like_orientation(extra, file)
    return extra


def list_extra(table: TargetTable, chain: Chain) -> str:
    """The extra columns for a message; a question marks those like a column that is not there."""
    absent = [name for name in (*_target_columns(), *chain.names) if name not in table.columns]
    similar = {column: get_close_matches(column.lower(), absent, 1) for column in table.extra}
    return ", ".join(
        short(column) + (f" (did you mean {matches[0]!r}?)" if matches else "")
        for column, matches in similar.items()
    )


def table_from_columns(
    columns: Mapping[str, Any], locate: Locate, chain: Chain, in_degrees: bool
) -> TargetTable:
    """Targets and starts in columns whose header has been checked.

    Args:
        columns: (m,) values of each column, by name; of extra columns m values of any type.
        locate: Tells where a row is.
        chain: The arm.
        in_degrees: Whether angles are degrees.
    """
    joints = _start_columns(chain, columns)
    groups = {
        name: np.stack([columns[column] for column in group], axis=1)
        for name, group in {**column_groups(), "start": joints}.items()
        if group[0] in columns
    }
    starts = groups.pop("start", None)
    table = table_from_groups(groups, locate, in_degrees)
    target_columns = _target_columns()
    return table._replace(
        starts=None if starts is None else to_radians(chain, starts, in_degrees),
        columns={name: columns[name] for name in columns if name in target_columns},
        extra={name: columns[name] for name in columns if name not in {*target_columns, *joints}},
    )


def table_from_groups(groups: dict[str, Floats], locate: Locate, in_degrees: bool) -> TargetTable:
    """Targets from positions and at most one other group.

    Args:
        groups: (m, k) values of each group, by the names of ``column_groups``.
        locate: Tells where a row is.
        in_degrees: Whether angles are degrees.
    """
    finite = np.all([np.isfinite(values).all(axis=1) for values in groups.values()], axis=0)
    # A NaN makes the target invalid; its other values only have to be convertible.
    positions = np.where(finite[:, None], groups[POSITION], np.nan)
    group = next((group for group in groups if group != POSITION), "")
    values = groups[group] if group else np.empty((len(positions), 0))
    values = np.where(finite[:, None], values, 1.0)
    if group == ANGLES and not in_degrees:
        check_rpy(values, locate)
    if group in ANY_LENGTH:
        values = _scale_rows(group, values, locate)
    kind = next(kind for kind in KINDS.values() if group in (kind.columns or ("",)))
    targets = kind.from_columns(positions, group, values, in_degrees)
    return TargetTable(kind, targets, None, locate=locate)


def _scale_rows(group: str, vectors: Floats, locate: Locate) -> Floats:
    """Vectors whose largest component is 1, so that no length overflows."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    for row in np.flatnonzero(largest < MIN_LENGTH).tolist():
        raise InvalidInputError(
            f"the {group} {locate(row)} is {vectors[row].tolist()}: expected numbers, not all zero."
        )
    scaled: Floats = vectors / largest
    return scaled


def _refuse_misspelled(
    extra: Sequence[str], group: Sequence[str], missing: Sequence[str], file: str
) -> None:
    """Refuse extra columns that are columns of a group in capitals, or like a missing one."""
    for column in extra:
        if is_number(column):
            raise InvalidInputError(
                f"{file} begins with {column}: expected a header first, such as x,y,z."
            )
        in_capitals = [name for name in group if name.lower() == column.lower()]
        similar = in_capitals or get_close_matches(column.lower(), missing, 1)
        if similar:
            raise InvalidInputError(
                f"{file} has the column {short(column)}: did you mean {similar[0]!r}?"
            )


def _refuse_like_orientation(extra: Sequence[str], file: str) -> None:
    """Refuse to copy what is meant as an orientation, and to solve for positions only."""
    found = [column for column in extra if LIKE_ORIENTATION.fullmatch(column)]
    if sum(map(len, found)) > 1:  # a single letter means anything
        raise InvalidInputError(
            f"{file} has {', '.join(found)}: did you mean roll, pitch, yaw (angles about fixed x, "
            "y, z) or qx, qy, qz, qw? Otherwise choose other names."
        )


def angle_columns() -> tuple[str, ...]:
    """The columns of targets that are angles."""
    return column_groups()[ANGLES]


def _target_columns() -> list[str]:
    return [column for group in column_groups().values() for column in group]


def _start_columns(chain: Chain, header: Collection[str]) -> Sequence[str]:
    """Columns of a start: the names of the joints, or q1, q2, ...

    Numbers are used if the header has one of them, or if a joint has the name of another column.
    """
    numbered = [f"q{i + 1}" for i in range(chain.n)]
    ambiguous = not {*chain.names}.isdisjoint(_target_columns())
    return numbered if ambiguous or not {*numbered}.isdisjoint(header) else chain.names
