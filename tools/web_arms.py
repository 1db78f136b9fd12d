"""Arms for a page: ``python tools/web_arms.py FOLDER [ARM ...]`` writes ``arms.json``.

An arm is the name of one or a file, as for ``Chain.load``; all named arms, if none is given.
``expected.json`` beside it has targets with the answers of Python, by which
``tools/compare_web.mjs`` checks those of WebAssembly. Arrays are float64 in base64, since JSON has
no infinity.
"""

import base64
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jointwise import Chain, SolveConfig, robots
from jointwise.config import criteria_of
from jointwise.engines.closed_form.redundancy import structure_tolerance
from jointwise.targets.pose import POSE
from jointwise.targets.position import POSITION

NAMES = tuple(robots.names())
TARGETS = 40


def floats(array: Any) -> str:
    """The bytes of an array of float64, in base64."""
    return base64.b64encode(np.asarray(array, "<f8").tobytes()).decode()


def description(arm: Chain) -> dict[str, Any]:
    """What a page needs to know of an arm."""
    model, form = arm.arm, arm.arm.closed_form
    listed = form is not None and not form.redundant
    return {
        "n": arm.n,
        "packed": floats(model.packed),
        "start": floats(model.mid_range),
        "home": floats(arm.home),
        "limits": floats(arm.limits),
        "position": POSITION.point_weights(model.angular_scale),
        "pose": POSE.point_weights(model.angular_scale),
        "criteria": criteria_of(SolveConfig(), True),
        "closedForm": floats(form.packed) if form is not None else None,
        "decides": form is not None and form.decides,
        "tolerance": structure_tolerance(form) if form is not None and listed else None,
    }


def answers(arm: Chain) -> list[dict[str, Any]]:
    """Targets inside the reach and outside, with what Python finds."""
    found, start = [], arm.arm.mid_range
    for k, pose in enumerate(arm.fk(arm.random(seed=1, count=TARGETS))):
        pose[:3, 3] *= 1.3 if k % 4 == 3 else 1.0
        target = pose if k % 2 else pose[:3, 3]
        result = arm.solve(target, start)
        found.append(
            {
                "target": floats(target),
                "q": floats(result.q),
                "status": result.status.name,
                "iterations": result.iterations,
                "tip": floats(arm.fk(result.q)),
            }
        )
    return found


def write_arms(folder: Path, names: Sequence[str]) -> None:
    """Write ``arms.json``: the arms by the names of their files."""
    arms = {Path(name).stem: description(Chain.load(name)) for name in names}
    (folder / "arms.json").write_text(json.dumps(arms), encoding="utf-8")


def write_expected(folder: Path, names: Sequence[str]) -> None:
    """Write ``expected.json``: answers of Python, by arm."""
    expected = {Path(name).stem: answers(Chain.load(name)) for name in names}
    (folder / "expected.json").write_text(json.dumps(expected), encoding="utf-8")


def main(folder: str, *names: str) -> None:
    """Write both files."""
    for write in (write_arms, write_expected):
        write(Path(folder), names or NAMES)


if __name__ == "__main__":
    main(*sys.argv[1:])
