"""Every shipped robot against a second source; ``tests/support/references.py`` says which."""

import inspect
from pathlib import Path

import numpy as np
import pytest

from jointwise import Chain, robots

NAMES = robots.names()
with np.load(Path(__file__).parent / "data" / "robots.npz") as archive:
    REFERENCES = dict(archive)
CHECKED = sorted(key.removesuffix("_limits") for key in REFERENCES if key.endswith("_limits"))

# Models that put the tip elsewhere: robot -> (how far at most [m], why ours was chosen)
ELSEWHERE = {
    "iiwa14": (
        0.0009,
        "kuka_experimental's URDF, in rtb-data, has joints a2 and a4 0.436 mm off the axis; in "
        "lbr_fri_ros2_stack and in iiwa_stack all axes meet",
    ),
    "stanford": (
        0.0203 + 1e-6,
        "Robotics Toolbox for Python gives the slide an a of 0.0203 m, which is the PUMA's; its "
        "forerunners for MATLAB and Python, from the same report of Paul, have none",
    ),
    "ur5": (
        0.0003 + 1e-6,
        "Robotics Toolbox has d1 = 0.089459, a slip: 0.089159 in Universal Robots' own table",
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


def of(name, what):
    return REFERENCES[f"{name}_{what}"]


def apart(poses, others):
    """(k,) [m] and (k,) [rad] between poses; the angle by arctan2, exact for small ones too."""
    metres = np.linalg.norm(poses[:, :3, 3] - others[:, :3, 3], axis=1)
    turn = np.swapaxes(poses[:, :3, :3], 1, 2) @ others[:, :3, :3]
    sine = np.linalg.norm((turn - np.swapaxes(turn, 1, 2))[:, [2, 0, 1], [1, 2, 0]], axis=1)
    return metres, np.arctan2(sine, np.trace(turn, axis1=1, axis2=2) - 1)


@pytest.mark.parametrize("name", CHECKED)
def test_the_tip_is_where_the_second_source_has_it(name):
    q = of(name, "q")
    assert len(q) == 100
    metres, radians = apart(Chain.load(name).fk(q), of(name, "pose"))
    assert metres.max() < 1e-6
    assert radians.max() < 1e-6


@pytest.mark.parametrize("name", CHECKED)
def test_the_limits_are_those_of_the_second_source(name):
    assert np.allclose(Chain.load(name).limits, of(name, "limits"), rtol=0, atol=1e-3)


@pytest.mark.parametrize("name", sorted(ELSEWHERE))
def test_models_that_differ_are_known(name):
    most, why = ELSEWHERE[name]
    metres, radians = apart(Chain.load(name).fk(of(name, "q")), of(name, "elsewhere"))
    assert 1e-4 < metres.max() <= most, why
    assert radians.max() < 1e-6, why


def test_every_model_that_differs_is_explained():
    differing = {key.removesuffix("_elsewhere") for key in REFERENCES if "_elsewhere" in key}
    assert differing == set(ELSEWHERE)


def test_every_robot_has_a_second_source():
    assert CHECKED == NAMES


def test_names_are_sorted_and_complete():
    functions = [name for name, _ in inspect.getmembers(robots, inspect.isfunction)]
    assert sorted(NAMES) == NAMES == sorted(set(functions) - {"names"})
    assert set(JOINTS) == set(NAMES)
    assert len(NAMES) >= 15


@pytest.mark.parametrize("name", NAMES)
def test_a_robot_comes_by_name_and_by_function(name):
    by_name, by_function = Chain.load(name), getattr(robots, name)()
    assert by_name.n == by_function.n == JOINTS[name]
    assert by_name.names == by_function.names
    np.testing.assert_array_equal(by_name.fk(by_name.home), by_function.fk(by_name.home))


@pytest.mark.parametrize("name", NAMES)
def test_a_robot_says_where_its_numbers_come_from(name):
    text = " ".join(inspect.getdoc(getattr(robots, name)).split())
    assert "Numbers: " in text
    assert "Checked against: " in text


@pytest.mark.parametrize("name", NAMES)
def test_a_robot_reaches_where_it_can(name):
    arm = Chain.load(name)
    for q in arm.random(seed=0, count=3):
        assert arm.solve(arm.fk(q)).converged
