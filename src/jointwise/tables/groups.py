"""Groups of columns that make a target, such as ``x, y, z`` or ``roll, pitch, yaw``.

The kinds of targets define the groups; see ``targets.TargetKind.columns``. For a link of a robot,
the columns begin with its name: ``left_hand.x``.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jointwise.errors import InvalidInputError
from jointwise.kernels.layout.arrays import Floats
from jointwise.model.degrees import check_rpy
from jointwise.targets import KINDS, MIN_LENGTH

# The group that every target has, and its columns.
POSITION, XYZ = "position", ("x", "y", "z")
# The group of angles, which are in degrees if the table is.
ANGLES = "rpy"
# Columns of ± tolerances along x, y, z [m], and angles about them; a tolerance without a column is
# 0.
ALONG = ("tolerance_x", "tolerance_y", "tolerance_z")
ABOUT = ("tolerance_rx", "tolerance_ry", "tolerance_rz")
# Groups of vectors of any length but zero.
ANY_LENGTH = ("quaternion", "direction")

# Describes the place of a row in messages: "in line 3 of targets.csv".
Locate = Callable[[int], str]


def column_groups() -> dict[str, tuple[str, ...]]:
    """The columns of targets in groups, by the names that JSON and messages use."""
    groups = [group for kind in KINDS.values() for group in kind.columns.items()]
    return {POSITION: XYZ, **dict(groups)}


def target_columns() -> list[str]:
    """The columns of all groups."""
    return [column for group in column_groups().values() for column in group]


def split_link(column: str) -> tuple[str, str]:
    """``left_hand.x`` as ``("left_hand.", "x")``; no link in front is ``""``."""
    link, dot, name = column.rpartition(".")
    return link + dot, name


def is_angle(column: str) -> bool:
    """Whether a column of targets has angles."""
    return split_link(column)[1] in (*column_groups()[ANGLES], *ABOUT)


def link_prefixes(header: Sequence[str]) -> list[str]:
    """The links for which a header has targets, such as ``"left_hand."``; ``[""]`` for an arm.

    A header with a position of its own is that of an arm.
    """
    known = target_columns()
    split = [split_link(column) for column in header]
    prefixes = dict.fromkeys(prefix for prefix, name in split if prefix and name in known)
    is_arm = not prefixes or not set(XYZ).isdisjoint(header)
    return [""] if is_arm else [*prefixes]


def targets_from_groups(groups: dict[str, Floats], locate: Locate, in_degrees: bool) -> Any:
    """Many targets from positions and at most one other group, as an array or a ``Target``.

    Args:
        groups: (m, k) values of each group, by the names of ``column_groups``.
        locate: Describes the place of a row.
        in_degrees: Whether angles are degrees.
    """
    positions = groups[POSITION]
    group = next((group for group in groups if group != POSITION), "")
    values = groups[group] if group else np.empty((len(positions), 0))
    if not (np.isfinite(positions).all() and np.isfinite(values).all()):
        # A NaN makes the target invalid; its other values only have to be convertible.
        finite = np.isfinite(np.hstack([positions, values])).min(axis=1)
        positions = np.where(finite[:, None], positions, np.nan)
        values = np.where(finite[:, None], values, 1.0)
    if group == ANGLES and not in_degrees:
        check_rpy(values, locate)
    if group in ANY_LENGTH:
        values = _scale_rows(group, values, locate)
    kind = next(kind for kind in KINDS.values() if group in (kind.columns or ("",)))
    return kind.from_columns(positions, group, values, in_degrees)


def _scale_rows(group: str, vectors: Floats, locate: Locate) -> Floats:
    """Scale vectors to a largest component of 1, so that no length overflows."""
    # By columns: NumPy is slow along a short axis.
    largest = np.maximum.reduce([np.abs(column) for column in vectors.T])[:, None]
    for row in np.flatnonzero(largest < MIN_LENGTH).tolist():
        raise InvalidInputError(
            f"the {group} {locate(row)} is {vectors[row].tolist()}: expected numbers, not all zero."
        )
    scaled: Floats = vectors / largest
    return scaled
