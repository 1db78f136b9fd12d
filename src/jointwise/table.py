"""An arm as a table, to be checked against a data sheet."""

from collections.abc import Sequence

import numpy as np

from jointwise.arm import Arm, roll_pitch_yaw
from jointwise.joints import DHJoint
from jointwise.kernels import LOWER, REVOLUTE, UPPER


def table(arm: Arm, names: Sequence[str], rows: Sequence[DHJoint], modified: bool) -> str:
    """The arm as text; see ``cells``."""
    lines, notes = cells(arm, names, rows, modified)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    printed = [
        "  ".join(
            f"{cell:<{width}}" if i < 2 else f"{cell:>{width}}"
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in lines
    ]
    return "\n".join([*printed, *notes])


def cells(
    arm: Arm, names: Sequence[str], rows: Sequence[DHJoint], modified: bool
) -> tuple[list[list[str]], list[str]]:
    """The DH rows an arm was made of or, where there are none, its links; and its limits.

    Returns:
        The titles and then a row a joint, all as long; and what is to be said below.
    """
    turns = arm.kinds == REVOLUTE
    if rows:
        titles = ["theta [°]", "d [m]", "a [m]", "alpha [°]"]
        numbers = [_written([r.theta, r.d, r.a, r.alpha], "°mm°") for r in rows]
    else:
        titles = ["x [m]", "y [m]", "z [m]", "roll [°]", "pitch [°]", "yaw [°]"]
        numbers = [_written([*link[:, 3], *roll_pitch_yaw(link)], "mmm°°°") for link in arm.links]
    lines = [["joint", "type", *titles, "lower", "upper"]]
    for name, turning, row, bound in zip(names, turns, numbers, arm.bounds, strict=False):
        ends = [
            f"{np.degrees(end):.2f}°" if turning else f"{end:.3f} m"
            for end in bound[[LOWER, UPPER]]
        ]
        lines.append([name, "turns" if turning else "slides", *row, *ends])
    if not rows:
        lines.append(["tip", "", *numbers[-1], "", ""])
    tip = np.zeros(3)
    for link in arm.links[::-1]:
        tip = link[:, :3] @ tip + link[:, 3]
    kind = "modified DH rows" if modified else "standard DH rows" if rows else "links"
    where = ", ".join(_written(tip.tolist(), "mmm"))
    return lines, [
        f"{kind}; tip at {where} m with all joints at 0",
        f"reach {arm.reach:.4f} m from the first joint",
    ]


def _written(values: Sequence[float], units: str) -> list[str]:
    """Numbers as a data sheet prints them: degrees to hundredths, metres to hundredths of a mm."""
    return [
        f"{np.degrees(value).round(2) + 0.0:.2f}" if unit == "°" else f"{round(value, 5) + 0.0:.5f}"
        for value, unit in zip(values, units, strict=True)
    ]
