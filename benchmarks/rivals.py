"""Rivals: each from PyPI in an environment of its own, called through its adaptor."""

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.problems import Problems

HERE = Path(__file__).parent
ENVIRONMENTS = HERE.parent / ".bench"


@dataclass(frozen=True)
class Rival:
    """A solver to compare with."""

    name: str
    adaptor: str
    packages: tuple[str, ...]

    def solve(self, problems: Problems, least: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """(answers, seconds each) of the quickest pass in ``least`` seconds; NaN for no answer."""
        with tempfile.TemporaryDirectory() as folder:
            asked, given = f"{folder}/problems.npz", f"{folder}/answers.npz"
            problems.save(asked)
            script = HERE / "adaptors" / f"{self.adaptor}.py"
            subprocess.run([self.python(), script, asked, given, str(least)], check=True)
            with np.load(given) as answers:
                return answers["answers"], answers["seconds"]

    def python(self) -> Path:
        """The interpreter of the rival's environment, set up if it is not there yet."""
        folder = ENVIRONMENTS / "-".join(self.packages)
        python = folder / "bin" / "python"
        if not (folder / "ready").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
            pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            subprocess.run([*pip, *self.packages], check=True)
            (folder / "ready").touch()
        return python


FOR_POSITIONS = [
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
