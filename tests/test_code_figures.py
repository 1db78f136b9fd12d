"""The figures of a code base, counted in a small repository of which they are known."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "code_figures.py"
STUB = """\
from . import shelf as shelf
from .arm import LIMIT as LIMIT
from .arm import Arm as Arm
from .arm import RobotArm as RobotArm
from .kernels import turn as turn
"""
ARM = '''\
"""An arm."""

from dataclasses import dataclass
from typing import ClassVar

LIMIT = 3


@dataclass(frozen=True)
class Arm:
    """Fields are parameters."""

    kind: ClassVar[str] = "arm"
    joints: int
    links: int = 2

    @classmethod
    def load(cls, a, b, *, c=1): ...
    def _hidden(self, a, b, c, d, e, f, g): ...


@dataclass(frozen=True)
class RobotArm(Arm):
    """Fields of its base class come first."""

    base: int = 0

    def solve(self, a, /, b, *c, d=1, **e): ...
'''
SUM = """\
def total{number}(values, weights):
    # why: {number}
    result{number} = {number}
    for value, weight in zip(values, weights, strict=True):
        result{number} += value * weight
        if result{number} > {number}:
            break

    return result{number} / {number}
"""


@pytest.fixture
def checkout(tmp_path):
    """A folder with a package, in which git tracks all files but one."""
    package = tmp_path / "src" / "jointwise"
    (package / "kernels" / "layout").mkdir(parents=True)
    texts = {
        "__init__.py": "",
        "__init__.pyi": STUB,
        "arm.py": ARM,
        "shelf.py": "def shelf(a): ...\ndef _board(a, b): ...\n",
        "kernels/__init__.py": "from .turn import turn as turn\n",
        "kernels/turn.py": "def turn(a, b): ...\n",
        "kernels/layout/table.py": "",
    }
    for name, text in texts.items():
        (package / name).write_text(text)
    for command in ("init", "add ."):
        subprocess.run(["git", *command.split()], cwd=tmp_path, check=True, capture_output=True)
    (package / "kernels" / "untracked.py").touch()
    return package


def figures(package):
    command = [sys.executable, str(TOOL), "--root", str(package.parents[1])]
    json_text = subprocess.run([*command, "--json"], check=True, capture_output=True, text=True)
    printed = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(json_text.stdout), printed.stdout


def test_what_is_public_and_tracked_is_counted(checkout):
    found, printed = figures(checkout)
    assert found == {
        "most parameters of a public signature": 5,
        "public signatures with more than 8 parameters": 0,
        "public names": 5,
        "entries of src/jointwise": 5,
        "entries of kernels": 3,
        "Python files": 6,
        "source lines": ARM.count("\n") + 4,
        "pairs of files that share six lines or more": 0,
        "of these, to the letter": 0,
        "classes named Robot...": 1,
    }
    for row in ("5  RobotArm.solve", "3  RobotArm()", "3  Arm.load", "3  RobotArm.load"):
        assert f"     {row}\n" in printed


def test_clones_are_counted_once_a_pair_of_files(checkout):
    one, other = SUM.format(number=1), SUM.format(number=2)
    (checkout / "arm.py").write_text(ARM + one)
    (checkout / "shelf.py").write_text(f"from os import path\n{one}\n{one}")
    found, _ = figures(checkout)
    assert found["pairs of files that share six lines or more"] == 2
    assert found["of these, to the letter"] == 2
    (checkout / "shelf.py").write_text(other.replace("zip", "izip"))
    found, _ = figures(checkout)
    assert found["pairs of files that share six lines or more"] == 1
    assert found["of these, to the letter"] == 0
    (checkout / "shelf.py").write_text(other.replace("break", "continue"))
    found, _ = figures(checkout)
    assert found["pairs of files that share six lines or more"] == 0
