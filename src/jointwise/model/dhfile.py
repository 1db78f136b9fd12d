"""DH tables in the form of textbooks and data sheets, from a TOML or a CSV file."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model import checks, degrees
from jointwise.model.checks import parse_number, short
from jointwise.model.joints import DHJoint, JointType
from jointwise.model.rotation import rpy_matrix

Convention = Literal["standard", "modified"]
Angles = Literal["radians", "degrees"]

COLUMNS = ("name", "type", "theta", "d", "a", "alpha", "lower", "upper", "home")
KEYS = ("convention", "angles", "joints", "base", "tool")
# Ten dotted parts of a TOML key, which are refused because tomllib takes quadratic time for them.
DOTTED_KEY = re.compile(r"(?:\.[\w\s\"'-]+){10}")


class DHTable(NamedTuple):
    """The table in a file, in metres and radians.

    Attributes:
        rows: DH rows from base to end effector.
        modified: Whether they are modified (Craig) rows.
        limits: Lower and upper limit of each joint [rad, m].
        base: (4, 4) pose of the first row's frame in the base frame, or None.
        tool: (4, 4) pose of the end effector in the last row's frame, or None.
        names: One name per joint.
        home: The home configuration by joint [rad, m]; joints without one are left out.
    """

    rows: list[DHJoint]
    modified: bool
    limits: list[tuple[float, float]]
    base: Floats | None
    tool: Floats | None
    names: list[str]
    home: dict[str, float]


def read(
    path: str | PathLike[str], convention: Convention | None, angles: Angles | None
) -> DHTable:
    """The table in a file; see ``Chain.from_table``."""
    try:
        file = Path(path)
        text = file.read_text("utf-8-sig")
    except (OSError, ValueError, TypeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise InvalidInputError(
            f"{short(path)} cannot be read, {reason}: expected the path of a .toml or .csv file."
        ) from None
    try:
        return _table(file, text, convention, angles)
    except InvalidInputError:
        raise
    except (ValueError, RecursionError) as problem:  # numbers too long, nesting too deep
        raise InvalidInputError(f"{file.name} is not a DH table: {problem}.") from None


def _table(file: Path, text: str, convention: Convention | None, angles: Angles | None) -> DHTable:
    if file.suffix.lower() == ".toml":
        content = _read_toml(file.name, text)
        joints = content.get("joints", [])
    elif file.suffix.lower() == ".csv":
        content, joints = {}, _read_csv(file.name, text)
    else:
        raise InvalidInputError(f"{file.name} is not a DH table: expected a .toml or .csv file.")
    modified = _setting(file.name, "convention", convention, content, get_args(Convention))
    in_degrees = _setting(file.name, "angles", angles, content, get_args(Angles)) == "degrees"
    if not isinstance(joints, list) or not joints:
        raise InvalidInputError(
            f"{file.name} has no rows: expected a list of joints, base to end effector."
        )
    found = [] if in_degrees else [*_like_degrees(file.name, content, joints)]
    rows, limits = [], []
    names: list[str] = []
    home: dict[str, float] = {}
    for number, joint in enumerate(joints, 1):
        where = f"row {number} of {file.name}"
        with degrees.silenced() if found else nullcontext():  # a file has a different remedy, below
            row, limit, at_home = _row(where, joint, in_degrees)
        name = joint.get("name", f"joint{number}")
        if not isinstance(name, str) or not name:
            raise InvalidInputError(f"name in {where} is {short(name)}: expected text.")
        rows.append(row)
        limits.append(limit)
        names.append(name)
        home |= {} if at_home is None else {name: at_home}
    base, tool = (_frame(file.name, key, content, in_degrees) for key in ("base", "tool"))
    remedy = 'set angles = "degrees" in the file'
    if not content:  # a CSV file has no settings
        remedy = (
            'write a TOML file with angles = "degrees", or in Python use '
            'Chain.from_table(file, angles="degrees")'
        )
    degrees.warn(found, remedy)
    return DHTable(rows, modified == "modified", limits, base, tool, names, home)


def _like_degrees(title: str, content: Mapping[str, Any], joints: list[Any]) -> Iterator[str]:
    """The angles that look like degrees; they are not yet checked."""
    for number, joint in enumerate(joints, 1):
        row = joint if isinstance(joint, dict) else {}
        limits = () if row.get("type") == "prismatic" else ("lower", "upper", "home")
        for column in ("theta", "alpha", *limits):
            if degrees.suspected(row.get(column)):
                yield f"{column} in row {number} of {title} is {row[column]:g}"
    for key in ("base", "tool"):
        frame = content.get(key)
        rpy = frame.get("rpy") if isinstance(frame, dict) else None
        if isinstance(rpy, list) and any(map(degrees.suspected, rpy)):
            yield f"rpy of {key} in {title} is {' '.join(map(str, rpy))}"


def _read_toml(title: str, text: str) -> dict[str, Any]:
    import tomllib

    if DOTTED_KEY.search(text):
        raise InvalidInputError(f"{title} is not a DH table: expected keys without dots.")
    try:
        content = tomllib.loads(text)
    except RecursionError:
        raise InvalidInputError(
            f"{title} has lists nested too deeply to be read: expected a DH table."
        ) from None
    except tomllib.TOMLDecodeError as problem:
        raise InvalidInputError(f"{title} is not valid TOML: {problem}.") from None
    _check_keys(title, content, KEYS)
    return content


def _read_csv(title: str, text: str) -> list[dict[str, str | float]]:
    """The rows of a CSV file, each with its non-empty cells by column.

    Cells are separated by commas, semicolons or tabs; lines that begin with # are comments.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    separator = max(",;\t", key=lines[0].count) if lines else ","
    try:
        cells = [*csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)]
    except csv.Error as problem:
        raise InvalidInputError(f"{title} is not valid CSV: {problem}.") from None
    table = [[cell.strip() for cell in row] for row in cells]
    header, *rows = [row for row in table if any(row)] or [[]]
    for i, column in enumerate(header):
        if column in header[:i]:
            raise InvalidInputError(
                f"{title} has the column {short(column)} twice: expected it once."
            )
    joints = []
    for number, row in enumerate(rows, 1):
        if len(row) != len(header):
            raise InvalidInputError(
                f"row {number} of {title} has {len(row)} cells: expected {len(header)}, "
                "as many as the header."
            )
        filled = {column: cell for column, cell in zip(header, row, strict=True) if cell}
        joints.append({column: _cell_value(column, cell) for column, cell in filled.items()})
    return joints


def _cell_value(column: str, cell: str) -> str | float:
    """A cell as a number, if it is one in a column of numbers; else its text."""
    number = np.nan if column in ("name", "type") else parse_number(cell)
    return cell if np.isnan(number) else number


def _setting(
    title: str,
    key: str,
    argument: str | None,
    content: Mapping[str, Any],
    accepted: tuple[str, ...],
) -> str:
    """A setting from the file or from the caller; by default the first of the accepted ones.

    Raises:
        InvalidInputError: File and caller contradict each other.
    """
    if argument is not None:
        checks.choice(key, argument, accepted)
    if key not in content:
        return argument or accepted[0]
    checks.choice(f"{key} in {title}", content[key], accepted)
    if argument not in (None, content[key]):
        raise InvalidInputError(
            f"{key} is {argument!r}, but {title} sets {content[key]!r}: expected the same, or None."
        )
    return cast(str, content[key])


def _check_keys(where: str, keys: Iterable[str], accepted: tuple[str, ...]) -> None:
    for key in keys:
        if key not in accepted:
            similar = get_close_matches(key, accepted, 1)
            hint = (
                f"did you mean {similar[0]!r}?" if similar else f"expected {', '.join(accepted)}."
            )
            raise InvalidInputError(f"{where} has the unknown entry {short(key)}: {hint}")


def _row(
    where: str, joint: Any, in_degrees: bool
) -> tuple[DHJoint, tuple[float, float], float | None]:
    """A row, its joint limits and its home value [rad, m]."""
    if not isinstance(joint, dict):
        raise InvalidInputError(
            f"{where} is {short(joint)}: expected a table, such as {{ a = 0.4, alpha = 90 }}."
        )
    _check_keys(where, joint, COLUMNS)
    joint_type = joint.get("type", "revolute")
    checks.choice(f"type in {where}", joint_type, get_args(JointType))
    values: dict[str, Any] = {"lower": -np.inf, "upper": np.inf, "home": None}
    for column in COLUMNS[2:]:
        if column in joint:
            value, is_limit = joint[column], column in ("lower", "upper")
            if not (is_limit and value in (np.inf, -np.inf)):
                value = checks.number(f"{column} in {where}", value)
            moves = is_limit or column == "home"
            is_angle = column in ("theta", "alpha") or (moves and joint_type == "revolute")
            values[column] = float(np.radians(value)) if in_degrees and is_angle else value
    limit = values.pop("lower"), values.pop("upper")
    home = values.pop("home")
    return DHJoint(**values, joint_type=joint_type), limit, home


def _frame(title: str, key: str, content: Mapping[str, Any], in_degrees: bool) -> Floats | None:
    """(4, 4) a pose from ``xyz`` [m] and ``rpy``, angles about fixed x, y, z; None if not given."""
    if key not in content:
        return None
    where, entries = f"{key} in {title}", content[key]
    if not isinstance(entries, dict):
        raise InvalidInputError(f"{where} is {short(entries)}: expected a table of xyz and rpy.")
    _check_keys(where, entries, ("xyz", "rpy"))
    xyz, rpy = (
        checks.all_finite(name, checks.position(name, entries.get(part, [0.0, 0.0, 0.0])))
        for part in ("xyz", "rpy")
        for name in [f"{part} of {where}"]
    )
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rpy_matrix(np.radians(rpy) if in_degrees else rpy), xyz
    return pose
