"""Forward kinematics of whole robots beside Pinocchio and MuJoCo."""

import subprocess
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path

import numpy as np

from benchmarks.rivals import ENVIRONMENTS
from jointwise import DegreesWarning, JointwiseError, Robot
from testbed.whole_robots import mujoco_poses, pinocchio_poses, random_base

# MJCF models, in packages whose files are read without importing them.
PACKAGES = {
    "dm_control==1.0.50": "dm_control/suite",
    "gymnasium==1.4.0": "gymnasium/envs/mujoco/assets",
    "gymnasium-robotics==1.4.2": "gymnasium_robotics/envs/assets/hand",
    "holosoma-retargeting==0.1.0": "holosoma_retargeting/models",
    "robosuite==1.5.2": "robosuite/models/assets",
}
MODELS = {
    "dm_control==1.0.50": ("humanoid_CMU", "manipulator"),
    "gymnasium==1.4.0": ("ant", "half_cheetah", "humanoid", "swimmer"),
    "gymnasium-robotics==1.4.2": ("reach",),
    "holosoma-retargeting==0.1.0": ("g1/g1_29dof", "g1/g1_29dof_w_largebox", "t1/t1_23dof"),
    "robosuite==1.5.2": (
        "grippers/inspire_left_hand",
        *(f"robots/{name}/robot" for name in ("baxter", "gr1", "panda", "spot", "tiago")),
    ),
}
MAX_CONFIGURATIONS = 100


def fk_table(count: int, with_rivals: bool) -> None:
    """The greatest difference of the poses of all links, per robot."""
    configurations = min(count, MAX_CONFIGURATIONS)
    print(f"\nPoses of all links at {configurations} configurations: greatest difference")
    print(f"{'robot':46}{'links':>6}{'joints':>7}{'mimics':>7}{'difference':>12}")
    files = distribution("example-robot-data").files or []
    print("URDF, beside Pinocchio")
    for file in sorted(str(file.locate()) for file in files if file.suffix == ".urdf"):
        _print_row(Path(file).name, lambda f=file: _beside_pinocchio(f, configurations))
    if with_rivals:
        print("MJCF, beside MuJoCo")
        for package, names in MODELS.items():
            folder = _installed(package) / PACKAGES[package]
            for name in names:
                file = folder / f"{name}.xml"
                _print_row(name, lambda f=file: _beside_mujoco(f, configurations))


def _print_row(name: str, compare: Callable[[], tuple[Robot, float]]) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegreesWarning)
            robot, difference = compare()
    except JointwiseError as error:
        print(f"{name:46}refused: {error}")
        return
    links, mimics = len(robot.link_names), len(robot.mimics)
    print(f"{name:46}{links:6}{robot.n:7}{mimics:7}{difference:12.1e}", flush=True)


def _beside_pinocchio(file: str, count: int) -> tuple[Robot, float]:
    robot = Robot.from_urdf(file)
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (count, robot.n))
    expected, poses = pinocchio_poses(file, robot, q), robot.fk(q)
    return robot, max(np.abs(poses[link] - expected[link]).max() for link in poses)


def _beside_mujoco(file: Path, count: int) -> tuple[Robot, float]:
    robot = Robot.from_mjcf(file)
    import mujoco

    mujoco.set_mju_user_warning(lambda _: None)  # they go to a log file in the working directory
    model = mujoco.MjModel.from_xml_path(str(file))
    difference = 0.0
    for seed, q in enumerate(np.random.default_rng(0).uniform(-1.0, 1.0, (count, robot.n))):
        base = random_base(seed) if robot.free_base else np.eye(4)
        poses = robot.fk(q, base)
        expected = mujoco_poses(model, robot, q, base)
        differences = (np.abs(poses[link] - expected[link]).max() for link in expected)
        difference = max(difference, *differences)
    return robot, difference


def _installed(package: str) -> Path:
    """The folder of a package, which is installed without those that it needs."""
    folder = ENVIRONMENTS / package
    if not folder.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--no-deps", "--target", folder, package], check=True)
    return folder
