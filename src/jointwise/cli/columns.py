"""What the columns of a table of targets mean, in a CSV or Parquet file.

``x, y, z`` are positions [m]; with ``roll, pitch, yaw`` (about fixed x, y, z) or ``qx, qy, qz, qw``
they are poses, with ``dx, dy, dz`` aims. Where to start has a column for each joint, under its
name or as ``q1, q2, ...``.
"""

from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from typing import NamedTuple

import numpy as np

from jointwise.chain import Chain
from jointwise.cli import degrees
from jointwise.cli.options import is_number
from jointwise.errors import InvalidInputError
from jointwise.kernels.shapes import Floats
from jointwise.model.urdf_xml import short
from jointwise.solvers.targets import MIN_LENGTH, Aim, Target, Targets, aim

GROUPS = {
    "position": ("x", "y", "z"),
    "rpy": ("roll", "pitch", "yaw"),
    "quaternion": ("qx", "qy", "qz", "qw"),
    "direction": ("dx", "dy", "dz"),
}
TITLES = tuple(title for group in GROUPS.values() for title in group)

# What to call a row in an error: its line, where it has one.
Where = Callable[[int], str]


class Asked(NamedTuple):
    """Many targets, and where to start: for all, for each, or None."""

    targets: Targets
    starts: Floats | None


def check(titles: Sequence[str], file: str, chain: Chain) -> None:
    """Columns that make sense together: none unknown, none missing, none twice."""
    joints = _joint_titles(chain, titles)
    known = [*TITLES, *joints]
    for i, title in enumerate(titles):
        if title in titles[:i]:
            raise InvalidInputError(
                f"{file} has the column {short(title)} twice: expected it once."
            )
        if title not in known:
            like = get_close_matches(title.lower(), known, 1)
            if is_number(title):
                raise InvalidInputError(
                    f"{file} begins with {title}: expected a line of titles first, such as x,y,z."
                )
            hint = f"did you mean {like[0]!r}?" if like else f"expected some of {', '.join(known)}."
            raise InvalidInputError(f"{file} has the column {short(title)}: {hint}")
    for name, group in {**GROUPS, "start": joints}.items():
        missing = [title for title in group if title not in titles]
        if missing and (len(missing) < len(group) or name == "position"):
            raise InvalidInputError(
                f"{file} has no column {', '.join(missing)}: expected all of {', '.join(group)}."
            )
    turned = [", ".join(group) for group in [*GROUPS.values()][1:] if group[0] in titles]
    if len(turned) > 1:
        raise InvalidInputError(f"{file} has {' and '.join(turned)}: expected one of these.")


def asked(columns: dict[str, Floats], where: Where, chain: Chain, in_degrees: bool) -> Asked:
    """What the columns, known to make sense together, ask for."""
    groups = {
        name: np.stack([columns[title] for title in titles], axis=1)
        for name, titles in {**GROUPS, "start": _joint_titles(chain, columns)}.items()
        if titles[0] in columns
    }
    starts = groups.pop("start", None)
    if starts is not None:
        starts = degrees.given(chain, starts, in_degrees)
    return Asked(targets_of(groups, where, in_degrees), starts)


def targets_of(groups: dict[str, Floats], where: Where, in_degrees: bool) -> Targets:
    """Targets of what makes them up, (m, 3) or (m, 4) each, named as in ``GROUPS``."""
    whole = np.all([np.isfinite(group).all(axis=1) for group in groups.values()], axis=0)
    positions = np.where(whole[:, None], groups["position"], np.nan)  # the others are invalid
    for what in groups.keys() & {"quaternion", "direction"}:
        largest = np.abs(groups[what]).max(axis=1, keepdims=True)
        for row in np.flatnonzero(largest < MIN_LENGTH).tolist():
            numbers = groups[what][row].tolist()
            raise InvalidInputError(
                f"the {what} {where(row)} is {numbers}: expected numbers, not all zero."
            )
        groups[what] = np.where(whole[:, None], groups[what] / largest, 1.0)
    if "direction" in groups:
        return aim(positions, groups["direction"])
    if len(groups) == 1:
        return positions
    from scipy.spatial.transform import Rotation

    if "rpy" in groups:
        turns = Rotation.from_euler("xyz", groups["rpy"], in_degrees)
    else:
        turns = Rotation.from_quat(groups["quaternion"])
    poses = np.tile(np.eye(4), (len(positions), 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = turns.as_matrix(), positions
    return poses


def one_by_one(targets: Targets) -> list[Target]:
    """Many targets as a list of single ones."""
    if isinstance(targets, Aim):
        return [aim(*both) for both in zip(targets.position, targets.direction, strict=True)]
    return list(np.asarray(targets))


def _joint_titles(chain: Chain, titles: Collection[str]) -> Sequence[str]:
    """What the columns of a start are called: as the joints, or q1, q2, ... if that is used."""
    numbered = [f"q{i + 1}" for i in range(chain.n)]
    ambiguous = not {*chain.names}.isdisjoint(TITLES)
    return numbered if ambiguous or not {*numbered}.isdisjoint(titles) else chain.names
