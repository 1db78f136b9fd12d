"""DH tables as textbooks and data sheets print them, from a TOML or a CSV file."""

import csv
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Floats
from jointwise.model import checks
from jointwise.model.joints import DHJoint
from jointwise.model.urdf_xml import number_of, short

Convention = Literal["standard", "modified"]
Angles = Literal["radians", "degrees"]

COLUMNS = ("name", "type", "theta", "d", "a", "alpha", "lower", "upper")
KEYS = ("convention", "angles", "joints", "base", "tool")
# A key of ten names with dots between: reading it takes the square of its length.
DOTTED = re.compile(r"(?:\.[\w\s\"'-]+){10}")


class DHTable(NamedTuple):
    """What a file says of an arm, in metres and radians."""

    rows: list[DHJoint]
    modified: bool
    limits: list[tuple[float, float]]
    base: Floats | None
    tool: Floats | None
    names: list[str]


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
    except (ValueError, RecursionError) as problem:  # numbers without end, nesting without end
        raise InvalidInputError(f"{file.name} is no table: {problem}.") from None


def _table(file: Path, text: str, convention: Convention | None, angles: Angles | None) -> DHTable:
    if file.suffix.lower() == ".toml":
        import tomllib

        if DOTTED.search(text):
            raise InvalidInputError(f"{file.name} is no table: expected keys without dots.")
        try:
            content = tomllib.loads(text)
        except tomllib.TOMLDecodeError as problem:
            raise InvalidInputError(f"{file.name} is no TOML: {problem}.") from None
        _known(f"{file.name} has", content, KEYS)
        joints = content.get("joints", [])
    elif file.suffix.lower() == ".csv":
        content, joints = {}, _csv(file.name, text)
    else:
        raise InvalidInputError(f"{file.name} is no table: expected a .toml or a .csv file.")
    modified = _said(file.name, "convention", convention, content, get_args(Convention))
    degrees = _said(file.name, "angles", angles, content, get_args(Angles)) == "degrees"
    if not isinstance(joints, list) or not joints:
        raise InvalidInputError(f"{file.name} has no rows: expected a list of joints, base to tip.")
    rows, limits, names = [], [], []
    for number, joint in enumerate(joints, 1):
        where = f"row {number} of {file.name}"
        row, limit = _row(where, joint, degrees)
        name = joint.get("name", f"joint{number}")
        if not isinstance(name, str) or not name:
            raise InvalidInputError(f"name in {where} is {short(name)}: expected a word.")
        rows.append(row)
        limits.append(limit)
        names.append(name)
    base, tool = (_frame(file.name, key, content, degrees) for key in ("base", "tool"))
    return DHTable(rows, modified == "modified", limits, base, tool, names)


def _csv(title: str, text: str) -> list[dict[str, str | float]]:
    """The rows of a CSV file as dictionaries, without empty cells; with commas, ; or tabs."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    comma = max(",;\t", key=lines[0].count) if lines else ","
    try:
        cells = [*csv.reader(lines, delimiter=comma, skipinitialspace=True, strict=True)]
    except csv.Error as problem:
        raise InvalidInputError(f"{title} is no CSV: {problem}.") from None
    table = [[cell.strip() for cell in row] for row in cells]
    titles, *rows = [row for row in table if any(row)] or [[]]
    for number, name in enumerate(titles):
        if name in titles[:number]:
            raise InvalidInputError(f"{title} has the title {short(name)} twice: expected it once.")
    joints = []
    for number, row in enumerate(rows, 1):
        if len(row) != len(titles):
            raise InvalidInputError(
                f"row {number} of {title} has {len(row)} cells: expected {len(titles)}, "
                "as many as there are titles."
            )
        filled = {key: cell for key, cell in zip(titles, row, strict=True) if cell}
        joints.append({key: _cell(key, cell) for key, cell in filled.items()})
    return joints


def _cell(key: str, cell: str) -> str | float:
    """What is in a cell: a number, if it can be one and should."""
    number = np.nan if key in ("name", "type") else number_of(cell)
    return cell if np.isnan(number) else number


def _said(
    title: str, key: str, asked: str | None, content: Mapping[str, Any], words: tuple[str, ...]
) -> str:
    """What the file or else the caller says, or the first word; not two different things."""
    if asked is not None:
        checks.choice(key, asked, words)
    if key not in content:
        return asked or words[0]
    checks.choice(f"{key} in {title}", content[key], words)
    if asked not in (None, content[key]):
        raise InvalidInputError(
            f"{key} is {asked!r}, but {title} says {content[key]!r}: expected the same."
        )
    return cast(str, content[key])


def _known(what: str, given: Iterable[str], accepted: tuple[str, ...]) -> None:
    for key in given:
        if key not in accepted:
            like = get_close_matches(key, accepted, 1)
            hint = f"did you mean {like[0]!r}?" if like else f"expected {', '.join(accepted)}."
            raise InvalidInputError(f"{what} {short(key)}: {hint}")


def _row(where: str, joint: Any, degrees: bool) -> tuple[DHJoint, tuple[float, float]]:
    if not isinstance(joint, dict):
        raise InvalidInputError(f"{where} is {short(joint)}: expected names and numbers.")
    _known(f"{where} has", joint, COLUMNS)
    kind = joint.get("type", "revolute")
    checks.choice(f"type in {where}", kind, ("revolute", "prismatic"))
    numbers = {"lower": -np.inf, "upper": np.inf}
    for key in COLUMNS[2:]:
        if key in joint:
            value, ends = joint[key], key in ("lower", "upper")
            if not (ends and value in (np.inf, -np.inf)):
                value = checks.number(f"{key} in {where}", value)
            turns = key in ("theta", "alpha") or (ends and kind == "revolute")
            numbers[key] = float(np.radians(value)) if degrees and turns else value
    limit = numbers.pop("lower"), numbers.pop("upper")
    return DHJoint(**numbers, joint_type=kind), limit


def _frame(title: str, key: str, content: Mapping[str, Any], degrees: bool) -> Floats | None:
    """(4, 4) a pose given by ``xyz`` [m] and ``rpy``, angles about fixed x, y, z."""
    if key not in content:
        return None
    from scipy.spatial.transform import RigidTransform, Rotation

    if not isinstance(content[key], dict):
        raise InvalidInputError(f"{key} in {title} is {short(content[key])}: expected xyz and rpy.")
    _known(f"{key} in {title} has", content[key], ("xyz", "rpy"))
    xyz, rpy = (
        checks.all_finite(name, checks.position(name, content[key].get(part, [0.0, 0.0, 0.0])))
        for part in ("xyz", "rpy")
        for name in [f"{part} of {key} in {title}"]
    )
    turn = Rotation.from_euler("xyz", rpy, degrees=degrees)
    return RigidTransform.from_components(xyz, turn).as_matrix()
