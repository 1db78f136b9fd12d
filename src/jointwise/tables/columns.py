"""Columns of a table of targets.

``x, y, z`` are positions [m]. The other columns of targets come in groups; see ``groups``. Targets
may have tolerances; see ``tolerances``. Starts have one column per joint, named after the joint or
``q1, q2, ...``. All others are extra columns, such as ``id``, which are copied to the results.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model.checks import known_name, short
from jointwise.robot import Robot
from jointwise.tables.groups import (
    POSITION,
    Locate,
    column_groups,
    link_prefixes,
    target_columns,
    targets_from_groups,
)
from jointwise.tables.plain_values import is_number
from jointwise.tables.tolerances import TOLERANCES, with_tolerances
from jointwise.tables.units import to_radians

if TYPE_CHECKING:
    from jointwise.chain import Chain
    from jointwise.verbs import Verbs

# Orientation columns of other programs, such as rx, rot_x, yaw_deg; r and p are two of r, p, y.
LIKE_ORIENTATION = re.compile(
    r"(r|o|w|rot|rotation|ori|orientation|quat|euler)[_.]?[xyzw]|([a-z]+_)?(roll|pitch|yaw)(_.*)?"
    r"|r|p",
    re.IGNORECASE,
)


# Returns the model for targets, given whether they are targets of links.
ModelFor = Callable[[bool], "Chain | Robot"]


class TargetTable(NamedTuple):
    """Targets of a model, and starts.

    Attributes:
        model: The arm; the whole robot if the table has targets of links.
        targets: Many targets, an array or a ``Target``; for a robot, by the names of links.
        starts: (n,) for all or (m, n) one for each [rad, m]; None: not given.
        columns: (m,) the given values of each column of the targets; empty if the source has no
            columns.
        extra: m values of each extra column.
        locate: Describes the place of a row.
        json_lines: Whether the source has JSON lines.
    """

    model: "Chain | Robot"
    targets: Any
    starts: Floats | None
    columns: Mapping[str, Floats] = {}
    extra: Mapping[str, Any] = {}
    locate: Locate = lambda row: f"in row {row + 1}"
    json_lines: bool = False

    @property
    def links(self) -> tuple[str, ...]:
        """The links of a robot that have targets; none for an arm."""
        return tuple(self.targets) if isinstance(self.targets, dict) else ()

    @property
    def size(self) -> int:
        """Number of rows."""
        targets = self.targets
        return len(next(iter(targets.values())) if isinstance(targets, dict) else targets)

    @property
    def first(self) -> Any:
        """The targets of the first row, in a batch of one; an empty batch if there is no row."""
        return self.rows(0, 1).targets

    def rows(self, begin: int, end: int) -> "TargetTable":
        """The rows from ``begin`` to ``end``, as views."""
        part = slice(begin, end)
        is_of_links = isinstance(self.targets, dict)
        starts = self.starts
        return self._replace(
            targets={link: each[part] for link, each in self.targets.items()}
            if is_of_links
            else self.targets[part],
            starts=starts if starts is None or starts.ndim == 1 else starts[part],
            columns={name: column[part] for name, column in self.columns.items()},
            extra={name: column[part] for name, column in self.extra.items()},
            locate=lambda row: self.locate(row + begin),
        )


class TableHeader(NamedTuple):
    """A header that has been checked.

    Attributes:
        model: The model that its targets are for.
        prefixes: The prefix of the columns of each link, as ``link_prefixes`` returns it.
        joints: The columns of starts.
        extra: The extra columns.
    """

    model: "Chain | Robot"
    prefixes: list[str]
    joints: Sequence[str]
    extra: list[str]

    def table(self, columns: Mapping[str, Any], locate: Locate, in_degrees: bool) -> TargetTable:
        """Targets and starts in columns.

        Args:
            columns: (m,) values of each column, by name; of extra columns m values of any type.
            locate: Describes the place of a row.
            in_degrees: Whether angles are degrees.
        """
        starts = None
        if self.joints and self.joints[0] in columns:
            values = np.stack([columns[joint] for joint in self.joints], axis=1)
            starts = to_radians(self.model, values, in_degrees)
        targets = {
            prefix[:-1]: _targets(columns, prefix, locate, in_degrees) for prefix in self.prefixes
        }
        copied = {*self.joints, *self.extra}
        return TargetTable(
            self.model,
            targets.get("", targets),
            starts,
            {name: column for name, column in columns.items() if name not in copied},
            {name: columns[name] for name in columns if name in self.extra},
            locate,
        )


def read_header(header: Sequence[str], file: str, model_for: ModelFor) -> TableHeader:
    """Check a header, and load the model that its targets are for.

    Raises:
        InvalidInputError: A column is missing, repeated or misspelled, or two groups exclude each
            other; the text says which.
    """
    prefixes = link_prefixes(header)
    model = model_for(prefixes != [""])
    if isinstance(model, Robot):
        for prefix in prefixes:
            known_name("link", prefix[:-1], model.link_names, model.name)
    joints = _start_columns(model, header)
    names = (*target_columns(), *TOLERANCES)
    known = {*joints, *(prefix + name for prefix in prefixes for name in names)}
    extra = [column for column in header if column not in known]
    _check_names(header, extra, file)
    for prefix in prefixes:
        _check_groups(header, extra, prefix, column_groups(), file)
    _check_groups(header, extra, "", {"start": joints}, file)
    for column in extra:
        if re.fullmatch(r"q\d+", column, re.IGNORECASE):
            raise InvalidInputError(
                f"{file} has the column {short(column)} for {noun(model)} of {model.n} joints: "
                f"expected q1 to q{model.n}."
            )
    for prefix in prefixes:
        _check_orientation(header, extra, prefix, file)
    return TableHeader(model, prefixes, joints, extra)


def noun(model: "Verbs") -> str:
    """The noun for an arm or a whole robot in messages."""
    return "a robot" if isinstance(model, Robot) else "an arm"


def list_extra(table: TargetTable) -> str:
    """The extra columns for a message, with a question for those that resemble a missing column."""
    prefixes = [f"{link}." for link in table.links] or [""]
    own = (*target_columns(), *TOLERANCES)
    names = [prefix + name for prefix in prefixes for name in own]
    absent = [name for name in (*names, *table.model.joint_names) if name not in table.columns]
    similar = {column: get_close_matches(column.lower(), absent, 1) for column in table.extra}
    return ", ".join(
        short(column) + (f" (did you mean {matches[0]!r}?)" if matches else "")
        for column, matches in similar.items()
    )


def _targets(columns: Mapping[str, Any], prefix: str, locate: Locate, in_degrees: bool) -> Any:
    """The targets of one link."""
    groups = {  # column by column in memory, too
        name: np.stack([columns[prefix + column] for column in group]).T
        for name, group in column_groups().items()
        if prefix + group[0] in columns
    }
    of_link: Callable[[int], str] = lambda row: f"of {prefix[:-1]} {locate(row)}"  # noqa: E731
    targets = targets_from_groups(groups, of_link if prefix else locate, in_degrees)
    return with_tolerances(targets, columns, prefix, locate, in_degrees)


def _check_names(header: Sequence[str], extra: Sequence[str], file: str) -> None:
    """Refuse extra columns that are numbers, and names that are empty or repeated."""
    for column in extra:
        if is_number(column):
            raise InvalidInputError(
                f"{file} begins with {column}: expected a header first, such as x,y,z."
            )
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


def _check_groups(
    header: Sequence[str],
    extra: Sequence[str],
    prefix: str,
    groups: Mapping[str, Sequence[str]],
    file: str,
) -> None:
    """Refuse groups that are incomplete, and extra columns that look like one of a group."""
    own = [column.removeprefix(prefix) for column in extra if column.startswith(prefix)]
    for name, group in groups.items():
        missing = [column for column in group if prefix + column not in header]
        is_incomplete = bool(missing) and (len(missing) < len(group) or name == POSITION)
        _refuse_misspelled(own, group, missing if is_incomplete else [], prefix, file)
        if is_incomplete:
            absent, all_of = (
                ", ".join(prefix + each for each in part) for part in (missing, group)
            )
            raise InvalidInputError(f"{file} has no column {absent}: expected all of {all_of}.")


def _refuse_misspelled(
    extra: Sequence[str], group: Sequence[str], missing: Sequence[str], prefix: str, file: str
) -> None:
    """Refuse extra columns that are columns of a group in capitals, or resemble a missing one."""
    for column in extra:
        in_capitals = [name for name in group if name.lower() == column.lower()]
        similar = in_capitals or get_close_matches(column.lower(), missing, 1)
        if similar:
            raise InvalidInputError(
                f"{file} has the column {short(prefix + column)}: did you mean "
                f"{prefix + similar[0]!r}?"
            )


def _check_orientation(header: Sequence[str], extra: Sequence[str], prefix: str, file: str) -> None:
    """Refuse two orientations, and columns that are one under other names."""
    groups = column_groups()
    del groups[POSITION]
    present = [
        ", ".join(prefix + column for column in group)
        for group in groups.values()
        if prefix + group[0] in header
    ]
    if len(present) > 1:
        raise InvalidInputError(
            f"{file} has {' and '.join(present)}: expected only one orientation."
        )
    own = [column for column in extra if column.startswith(prefix)]
    found = [column for column in own if LIKE_ORIENTATION.fullmatch(column.removeprefix(prefix))]
    # A single letter may mean anything.
    if not present and sum(len(column) - len(prefix) for column in found) > 1:
        raise InvalidInputError(
            f"{file} has {', '.join(found)}: did you mean {prefix}roll, {prefix}pitch, {prefix}yaw "
            f"(angles about fixed x, y, z) or {prefix}qx, {prefix}qy, {prefix}qz, {prefix}qw? "
            "Otherwise choose other names."
        )


def _start_columns(model: "Verbs", header: Collection[str]) -> Sequence[str]:
    """Columns of a start: the names of the joints, or q1, q2, ...

    Numbers are used if the header has one of them, or if a joint has the name of another column.
    """
    numbered = [f"q{i + 1}" for i in range(model.n)]
    ambiguous = not {*model.joint_names}.isdisjoint(target_columns())
    return numbered if ambiguous or not {*numbered}.isdisjoint(header) else model.joint_names
