"""Every robot compared with a second source, named in ``tests/support/references.py``."""

import inspect
from pathlib import Path

import numpy as np
import pytest

from jointwise import Chain, robots

NAMES = robots.names()
with np.load(Path(__file__).parent / "data" / "robots.npz") as archive:
    REFERENCES = dict(archive)
COMPARED = sorted(key.removesuffix("_limits") for key in REFERENCES if key.endswith("_limits"))

# Models of others that differ: (largest distance of the end effectors [m], why ours is right).
DIFFERING = {
    "iiwa14": (
        0.0009,
        "kuka_experimental's URDF, in rtb-data, has joints a2 and a4 0.436 mm off the axis; in "
        "lbr_fri_ros2_stack and in iiwa_stack all axes intersect",
    ),
    "stanford": (
        0.0203 + 1e-6,
        "Robotics Toolbox for Python gives the prismatic joint the a of the PUMA, 0.0203 m; its "
        "predecessors for MATLAB and Python, from the same report of Paul, have a = 0",
    ),
    "ur5": (
        0.0003 + 1e-6,
        "Robotics Toolbox has d1 = 0.089459; the table of Universal Robots has 0.089159",
    ),
}

JOINTS = {
    "fetch": 7,
    "fr3": 7,
    "gen3": 7,
    "iiwa14": 7,
    "iiwa7": 7,
    "irb120": 6,
    "jaco2": 6,
    "kr6_r900": 6,
    "panda": 7,
    "puma560": 6,
    "sawyer": 7,
    "so101": 5,
    "stanford": 6,
    "ur10e": 6,
    "ur3e": 6,
    "ur5": 6,
    "ur5e": 6,
    "xarm7": 7,
}


def reference(name, quantity):
    return REFERENCES[f"{name}_{quantity}"]


def pose_differences(poses, expected):
    """Distances (k,) [m] and angles (k,) [rad]; by arctan2, which is accurate for small angles."""
    distances = np.linalg.norm(poses[:, :3, 3] - expected[:, :3, 3], axis=1)
    rotation = np.swapaxes(poses[:, :3, :3], 1, 2) @ expected[:, :3, :3]
    skew = rotation - np.swapaxes(rotation, 1, 2)
    sines = np.linalg.norm(skew[:, [2, 0, 1], [1, 2, 0]], axis=1)
    return distances, np.arctan2(sines, np.trace(rotation, axis1=1, axis2=2) - 1)


@pytest.mark.parametrize("name", COMPARED)
def test_the_end_effector_pose_is_that_of_the_second_source(name):
    q = reference(name, "q")
    assert len(q) == 100
    distances, angles = pose_differences(Chain.load(name).fk(q), reference(name, "pose"))
    assert distances.max() < 1e-6
    assert angles.max() < 1e-6


@pytest.mark.parametrize("name", COMPARED)
def test_the_limits_are_those_of_the_second_source(name):
    limits = reference(name, "limits")
    np.testing.assert_allclose(Chain.load(name).limits, limits, rtol=0.0, atol=1e-3)


@pytest.mark.parametrize("name", sorted(DIFFERING))
def test_models_that_differ_do_so_by_the_stated_distance(name):
    largest, why = DIFFERING[name]
    poses = Chain.load(name).fk(reference(name, "q"))
    distances, angles = pose_differences(poses, reference(name, "elsewhere"))
    assert 1e-4 < distances.max() <= largest, why
    assert angles.max() < 1e-6, why


def test_every_model_that_differs_is_explained():
    differing = {key.removesuffix("_elsewhere") for key in REFERENCES if "_elsewhere" in key}
    assert differing == set(DIFFERING)


def test_every_robot_has_a_second_source():
    assert COMPARED == NAMES


def test_names_are_sorted_and_each_has_a_function():
    functions = [name for name, _ in inspect.getmembers(robots, inspect.isfunction)]
    assert sorted(NAMES) == NAMES == sorted(set(functions) - {"names"})
    assert set(JOINTS) == set(NAMES)
    assert len(NAMES) >= 15


@pytest.mark.parametrize("name", NAMES)
def test_a_robot_loads_by_name_and_by_function(name):
    by_name, by_function = Chain.load(name), getattr(robots, name)()
    assert by_name.n == by_function.n == JOINTS[name]
    assert by_name.joint_names == by_function.joint_names
    np.testing.assert_array_equal(by_name.fk(by_name.mid_range), by_function.fk(by_name.mid_range))


@pytest.mark.parametrize("name", NAMES)
def test_the_docstring_of_a_robot_names_its_sources(name):
    text = " ".join(inspect.getdoc(getattr(robots, name)).split())
    assert "Numbers: " in text
    assert "Checked against: " in text


@pytest.mark.parametrize("name", NAMES)
def test_a_robot_reaches_poses_of_random_configurations(name):
    arm = Chain.load(name)
    for q in arm.random(seed=0, count=3):
        assert arm.solve(arm.fk(q)).converged
