"""Rivals: each from PyPI or npm in an environment of its own, called through its adaptor."""

import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from testbed.named_arms import Problems

HERE = Path(__file__).parent
ENVIRONMENTS = HERE.parent / ".bench"


@dataclass(frozen=True)
class Rival:
    """A solver to compare with."""

    name: str
    adaptor: str
    packages: tuple[str, ...]
    options: tuple[str, ...] = ()

    def solve(self, problems: Problems, least: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """(answers, seconds each) of the quickest pass in ``least`` seconds; NaN for no answer."""
        with tempfile.TemporaryDirectory() as folder:
            asked, given = f"{folder}/problems.npz", f"{folder}/answers.npz"
            problems.save(asked)
            script = HERE / "adaptors" / f"{self.adaptor}.py"
            subprocess.run([self.python(), script, asked, given, str(least)], check=True)
            with np.load(given) as answers:
                return answers["answers"], answers["seconds"]

    def run(self, asked: dict[str, Any], least: float = 5.0) -> tuple[np.ndarray, np.ndarray]:
        """(answers, seconds each) for what an adaptor of its own kind reads; see ``solve``."""
        with tempfile.TemporaryDirectory() as folder:
            given = f"{folder}/answers.npz"
            np.savez(f"{folder}/problems.npz", **asked)
            script = HERE / "adaptors" / f"{self.adaptor}.py"
            command = [self.python(), script, f"{folder}/problems.npz", given, str(least)]
            subprocess.run(command, check=True)
            with np.load(given) as answers:
                return answers["answers"], answers["seconds"]

    def python(self) -> Path:
        """The interpreter of the rival's environment, set up if it is not there yet."""
        folder = ENVIRONMENTS / "-".join(self.packages)
        python = folder / "bin" / "python"
        if not (folder / "ready").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
            pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            subprocess.run([*pip, *self.options, *self.packages], check=True)
            (folder / "ready").touch()
        return python


@dataclass(frozen=True)
class NodeRival:
    """A solver in JavaScript, which takes positions; it needs Node."""

    name: str
    adaptor: str
    packages: tuple[str, ...]

    def solve(self, problems: Problems, least: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """(answers, seconds each) of the quickest pass in ``least`` seconds."""
        with tempfile.TemporaryDirectory() as folder:
            asked, given = Path(folder, "problems.json"), Path(folder, "answers.json")
            chain, points = problems.chain, problems.targets[:, :3, 3]
            lists = {"links": chain.arm.links, "targets": points, "starts": problems.starts}
            asked.write_text(json.dumps({name: each.tolist() for name, each in lists.items()}))
            script = self.script()
            command = ["node", script.name, asked, given, str(least)]
            subprocess.run(command, check=True, cwd=script.parent)
            answers = json.loads(given.read_text())
            return np.array(answers["answers"]), np.array(answers["seconds"])

    def script(self) -> Path:
        """The adaptor beside the packages that it imports, set up if they are not there yet."""
        folder = ENVIRONMENTS / "-".join(self.packages).replace("/", "-")
        if not (folder / "ready").exists():
            folder.mkdir(parents=True, exist_ok=True)
            npm = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", folder]
            subprocess.run([*npm, *self.packages], check=True)
            (folder / "ready").touch()
        return Path(shutil.copy(HERE / "adaptors" / f"{self.adaptor}.mjs", folder))


FOR_POSITIONS = [
    NodeRival("three.js, CCDIKSolver", "three_ccd", ("three@0.187.0",)),
    Rival("ikpy 4.2.1", "ikpy_default", ("ikpy==4.2.1",)),
    Rival("tinyik 2.2.1, CCD", "tinyik_ccd", ("tinyik==2.2.1",)),
]
FOR_BATCHES = [
    Rival(
        "pytorch-kinematics 0.10",
        "ptk_batch",
        ("pytorch-kinematics==0.10.0", "torch==2.13.0+cpu"),
    )
]
FOR_POSES = [
    Rival("Robotics Toolbox 1.5", "rtb_lm", ("roboticstoolbox-python==1.5.0",)),
    Rival("optik 0.5", "optik_speed", ("optik-py==0.5.0", "numpy")),
    Rival("TRAC-IK, pytracik", "tracik_speed", ("pytracik==0.0.3",)),
    Rival("EAIK 1.2, analytic", "eaik_analytic", ("EAIK==1.2.2",)),
]
ALL_SOLUTIONS = Rival("EAIK 1.2, analytic", "eaik_all", ("EAIK==1.2.2",))
ROBOPLAN = Rival("roboplan 0.7, 1e-3", "roboplan_free", ("roboplan==0.7.0",))
# Without toppra, which has no wheel and times trajectories.
MPLIB = Rival(
    "mplib 0.2.1, 1e-3",
    "mplib_free",
    ("mplib==0.2.1", "numpy==1.26.4", "transforms3d==0.4.2"),
    ("--no-deps",),
)
MPLIB_PLAN = Rival("mplib 0.2.1 plan_qpos", "mplib_plan", MPLIB.packages, MPLIB.options)
ROBOPLAN_PLAN = Rival("roboplan 0.7 RRT-Connect", "roboplan_plan", ROBOPLAN.packages)
# With what jointwise needs, which is its check.
OMPL_PLAN = Rival(
    "OMPL 2.0.1 RRT-Connect",
    "ompl_plan",
    ("ompl==2.0.1", "scipy", "lazy_loader", "rich", "typer", "numba"),
)
