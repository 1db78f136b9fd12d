"""An arm as a table, to check against a data sheet."""

from collections.abc import Sequence

import numpy as np

from jointwise.model.arm import ArmModel
from jointwise.model.joints import DHJoint
from jointwise.model.rotation import roll_pitch_yaw
from jointwise.model.working_radius import working_radius


def table(arm: ArmModel, names: Sequence[str], rows: Sequence[DHJoint], modified: bool) -> str:
    """The arm as text: the table of ``cells`` in columns, and the notes below it."""
    lines, notes = cells(arm, names, rows, modified)
    return "\n".join([*align(lines, "ll" + "r" * (len(lines[0]) - 2)), *notes])


def align(lines: Sequence[Sequence[str]], sides: str) -> list[str]:
    """The lines of a table; ``sides`` has l or r for each column, left or right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    marks = [
        f"{'<' if side == 'l' else '>'}{width}" for side, width in zip(sides, widths, strict=True)
    ]
    return [
        "  ".join(format(cell, mark) for cell, mark in zip(row, marks, strict=True)).rstrip()
        for row in lines
    ]


def cells(
    arm: ArmModel, names: Sequence[str], rows: Sequence[DHJoint], modified: bool
) -> tuple[list[list[str]], list[str]]:
    """The DH rows of an arm or, if it has none, its links; and its joint limits.

    Args:
        arm: The arm.
        names: One name per joint.
        rows: The DH rows from which it was made; may be empty.
        modified: Whether the rows are modified (Craig) DH rows.

    Returns:
        The header and then one row per joint, all of one length; and the notes below the table.
    """
    if rows:
        columns = ["theta [°]", "d [m]", "a [m]", "alpha [°]"]
        numbers = [_format_values([r.theta, r.d, r.a, r.alpha], "°mm°") for r in rows]
    else:
        columns = ["x [m]", "y [m]", "z [m]", "roll [°]", "pitch [°]", "yaw [°]"]
        numbers = [
            _format_values([*link[:, 3], *roll_pitch_yaw(link)], "mmm°°°") for link in arm.links
        ]
    lines = [["joint", "type", *columns, "lower", "upper"]]
    joints = zip(names, arm.prismatic, numbers, arm.limits, strict=False)
    for name, prismatic, row, limits in joints:
        ends = [format_limit(end, prismatic) for end in limits]
        lines.append([name, "prismatic" if prismatic else "revolute", *row, *ends])
    if not rows:
        lines.append(["end effector", "", *numbers[-1], "", ""])
    tip = np.zeros(3)
    for link in arm.links[::-1]:
        tip = link[:, :3] @ tip + link[:, 3]
    kind = f"{'modified' if modified else 'standard'} DH rows"
    if not rows:
        kind = "each joint's frame in the frame of the previous joint"
    where = ", ".join(_format_values(tip.tolist(), "mmm"))
    notes = [
        f"{kind}; end effector at {where} m with all joints at 0",
        f"reach at most {arm.max_reach:.4f} m from the first joint, the sum of the lengths",
    ]
    radius = working_radius(arm)
    if np.isfinite(radius):
        first = names[int(np.argmin(arm.prismatic))]
        notes.append(f"working radius {radius:.4f} m from the axis of {first}, within the limits")
    if arm.closed_form is not None:
        notes.append(f"solutions in closed form: {arm.closed_form.description}")
    return lines, notes


def format_limit(end: float, prismatic: bool) -> str:
    """A joint limit in degrees or metres."""
    if np.isinf(end):
        return "none"
    return f"{end:.3f} m" if prismatic else f"{np.degrees(end):.2f}°"


def _format_values(values: Sequence[float], units: str) -> list[str]:
    """Numbers as a data sheet prints them: degrees to 0.01, metres to 0.01 mm."""
    return [
        f"{np.degrees(value).round(2) + 0.0:.2f}" if unit == "°" else f"{round(value, 5) + 0.0:.5f}"
        for value, unit in zip(values, units, strict=True)
    ]
