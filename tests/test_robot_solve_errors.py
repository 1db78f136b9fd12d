"""What the solvers of whole robots refuse, with the exact texts."""

import re

import numpy as np
import pytest

from jointwise import InvalidInputError, Robot, SolveConfig
from jointwise.solvers.robot import solve_robot, solve_robot_batch, solve_robot_path
from jointwise.solvers.robot.path import Motion
from jointwise.solvers.robot.requests import Options

JOINT = (
    '<link name="{child}"/><joint name="{name}" type="revolute"><parent link="{parent}"/>'
    '<child link="{child}"/><origin xyz="0 0 1"/><axis xyz="1 0 0"/>'
    '<limit lower="-2" upper="2"/></joint>'
)
ROBOT = Robot.from_urdf(
    '<robot name="two"><link name="base"/><link name="stand"/>'
    '<joint name="bolt" type="fixed"><parent link="base"/><child link="stand"/></joint>'
    + JOINT.format(name="left", parent="base", child="left_hand")
    + JOINT.format(name="right", parent="base", child="right_hand")
    + "</robot>"
)
AT = [0.0, 0.0, 1.0]
LISTED = "Links: base, stand, left_hand, right_hand."
JOINTS = "Joints: left, right."


@pytest.mark.parametrize(
    ("targets", "start", "options", "text"),
    [
        ({}, None, {}, "targets is empty: expected a target for at least one link."),
        (
            [1.0],
            None,
            {},
            "targets is [1.0]: expected a mapping of link names to targets, such as "
            "{'left_hand': pose}.",
        ),
        (
            {"left_hnd": AT},
            None,
            {},
            f"no link named 'left_hnd' in two; did you mean 'left_hand'? {LISTED}",
        ),
        (
            {"left_hand": [1.0, 2.0]},
            None,
            {},
            "targets['left_hand'] has shape (2,): expected (3,) for a position or (4, 4) for a "
            "pose. For a planar arm, add z = 0.",
        ),
        (
            {"left_hand": [0.0, np.nan, 0.0]},
            None,
            {},
            "targets['left_hand'][1] is nan: expected finite numbers below 1e9.",
        ),
        (
            {"left_hand": np.diag([1.0, 1.0, -1.0, 1.0])},
            None,
            {},
            "targets['left_hand'] is not a pose: its rotation part is a reflection. Negate one "
            "of its axes to make it right-handed.",
        ),
        (
            {"stand": AT},
            None,
            {},
            "no active joint moves 'stand': no joint is between it and the base. Remove its "
            "target.",
        ),
        (
            {"left_hand": AT},
            None,
            {"active": ["right"]},
            "no active joint moves 'left_hand': all joints between it and the base are held by "
            "active. Remove its target.",
        ),
        (
            {"left_hand": AT},
            None,
            {"active": ["lift"]},
            f"no joint named 'lift' in two; did you mean 'left'? {JOINTS}",
        ),
        (
            {"left_hand": AT},
            None,
            {"active": "left"},
            "active is 'left': expected a list of joint names.",
        ),
        (
            {"left_hand": AT},
            {"lift": 0.0},
            {},
            f"no joint named 'lift' in two; did you mean 'left'? {JOINTS}",
        ),
        (
            {"left_hand": AT},
            [0.0],
            {},
            "start has 1 value for a robot of 2 joints: expected one value per joint, shape (2,).",
        ),
        (
            {"left_hand": AT},
            np.array([0.0, np.inf]),
            {},
            "start[1] is inf: expected finite numbers below 1e9.",
        ),
        (
            {"left_hand": AT},
            None,
            {"weights": {"left_hand": -1.0}},
            "weights['left_hand'] is -1.0: expected 0 or more, below 1e9.",
        ),
        (
            {"left_hand": AT},
            None,
            {"weights": {"left_hand": np.nan}},
            "weights['left_hand'] is nan: expected 0 or more, below 1e9.",
        ),
        (
            {"left_hand": AT},
            None,
            {"weights": {"left_hand": [1.0, 2.0, 3.0]}},
            "weights['left_hand'] has shape (3,): expected a number, or two: of position and "
            "orientation.",
        ),
        (
            {"left_hand": AT},
            None,
            {"weights": {"right_hand": 1.0}},
            "no link named 'right_hand' in targets; did you mean 'left_hand'? Links: left_hand.",
        ),
        (
            {"left_hand": AT},
            None,
            {"weights": 2.0},
            "weights is 2.0: expected a mapping of link names.",
        ),
        (
            {"left_hand": AT},
            None,
            {"weights": {"left_hand": 0.0}},
            "weights are all 0: expected one above 0.",
        ),
        (
            {"left_hand": AT},
            None,
            {"offsets": {"left_hand": [1.0]}},
            "offsets['left_hand'] has shape (1,): expected (3,), a position x, y, z.",
        ),
        (
            {"left_hand": AT},
            None,
            {"rest": [0.0, 0.0], "rest_weight": -1.0},
            "rest_weight is -1: expected 0 or more.",
        ),
    ],
)
def test_invalid_input_is_refused(targets, start, options, text):
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$"):
        solve_robot(ROBOT.model, targets, start, options=Options(**options))


@pytest.mark.parametrize(
    ("targets", "text"),
    [
        ([], "targets is empty: expected at least one mapping."),
        (
            [{"left_hand": AT}, {"right_hand": AT}],
            "targets[1] is for right_hand and targets[0] for left_hand: expected the same links "
            "in all.",
        ),
        (
            [{"left_hand": AT}, {"left_hand": np.eye(4)}],
            "targets of 'left_hand' mix poses and positions: expected targets of one kind.",
        ),
        (
            {"left_hand": np.zeros((3, 3)), "right_hand": np.zeros((2, 3))},
            "targets differ in number, 'left_hand' has 3, 'right_hand' has 2: expected as many "
            "for each.",
        ),
        (
            {"left_hand": np.array([AT, [0.0, 0.0, np.inf]])},
            "targets['left_hand'][1][2] is inf: expected finite numbers below 1e9.",
        ),
    ],
)
def test_invalid_batches_are_refused(targets, text):
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$"):
        solve_robot_batch(ROBOT.model, targets)


@pytest.mark.parametrize(
    ("motion", "text"),
    [
        (Motion(max_velocity=1.0), "max_velocity needs dt, the time between frames [s]."),
        (Motion(max_velocity=-1.0, dt=0.1), "max_velocity is -1.0: expected above zero."),
        (Motion(max_velocity=1.0, dt=0.0), "dt is 0.0: expected a number above zero."),
        (Motion(smooth=-1.0), "smooth is -1: expected 0 or more."),
        (
            Motion(max_velocity={"lift": 1.0}, dt=0.1),
            f"no joint named 'lift' in two; did you mean 'left'? {JOINTS}",
        ),
    ],
)
def test_invalid_motions_are_refused(motion, text):
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$"):
        solve_robot_path(ROBOT.model, {"left_hand": np.zeros((2, 3))}, motion=motion)


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (SolveConfig(method="ccd"), "config has method, which is for one arm: leave it out."),
        (SolveConfig(stiffness=1.0), "config has stiffness, which is for one arm: leave it out."),
        (
            SolveConfig(rest=[0.0, 0.0]),
            "config has rest, which is for one arm: pass rest to the solve itself.",
        ),
        ("fast", "config is 'fast': expected a SolveConfig."),
    ],
)
def test_settings_of_an_arm_are_refused(config, text):
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$"):
        solve_robot(ROBOT.model, {"left_hand": AT}, config=config)


@pytest.mark.parametrize(
    ("clips", "text"),
    [
        (
            {"left_hand": [AT]},
            "clips is {'left_hand': [AT]}: expected a list of clips. For one, use solve_path.",
        ),
        (3, "clips is 3: expected a list of clips. For one, use solve_path."),
        (
            [{"left_hand": [AT]}, {"left_hand": [AT], "right_hand": [AT, AT]}],
            "clips[1]: targets differ in number, 'left_hand' has 1, 'right_hand' has 2: expected "
            "as many for each.",
        ),
    ],
)
def test_invalid_clips_are_refused(clips, text):
    text = text.replace("AT", repr(AT))
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$"):
        ROBOT.solve_paths(clips)
