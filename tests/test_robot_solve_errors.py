"""What the solvers of whole robots refuse, with the exact texts."""

import re

import numpy as np
import pytest

from jointwise import InvalidInputError, Posture, Robot, SolveConfig, Status, pose, position

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
NO_LIFT = f"no joint named 'lift' in the model; did you mean 'left'? {JOINTS}"

# Targets beside that of the left hand: without, one arm is solved by the serial engine.
OTHERS = pytest.mark.parametrize("others", [{}, {"right_hand": AT}], ids=["serial", "tree"])


def refused(text):
    return pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$")


@OTHERS
@pytest.mark.parametrize(
    ("targets", "text"),
    [
        (
            {"left_hnd": AT},
            f"no link named 'left_hnd' in two; did you mean 'left_hand'? {LISTED}",
        ),
        (
            {"left_hand": [1.0, 2.0]},
            "targets['left_hand'] has shape (2,): expected (3,) for a position or (4, 4) for a "
            "pose. For a planar arm, add z = 0.",
        ),
        (
            {"left_hand": [0.0, np.nan, 0.0]},
            "targets['left_hand'][1] is nan: expected finite numbers below 1e9.",
        ),
        (
            {"left_hand": np.diag([1.0, 1.0, -1.0, 1.0])},
            "targets['left_hand'] is not a pose: its rotation part is a reflection. Negate one "
            "of its axes to make it right-handed.",
        ),
        (
            {"stand": AT},
            "no active joint moves 'stand': no joint is between it and the base. Remove its "
            "target.",
        ),
    ],
)
def test_invalid_targets_are_refused(targets, text, others):
    with refused(text):
        ROBOT.solve(targets | others)


@pytest.mark.parametrize(
    ("targets", "text"),
    [
        ({}, "targets is empty: expected a target for at least one link."),
        (
            [1.0],
            "targets is [1.0]: expected a mapping of link names to targets, such as "
            "{'left_hand': pose}.",
        ),
        (
            dict.fromkeys(["left_hand", "right_hand"], position(AT, weight=0.0)),
            "all weights of the targets are 0: expected one above 0.",
        ),
    ],
)
def test_what_is_no_set_of_targets_is_refused(targets, text):
    with refused(text):
        ROBOT.solve(targets)


@OTHERS
@pytest.mark.parametrize(
    ("start", "text"),
    [
        ({"lift": 0.0}, NO_LIFT),
        (
            [0.0],
            "start has 1 value for a robot of 2 joints: expected one value per joint, shape (2,).",
        ),
        (np.array([0.0, np.inf]), "start[1] is inf: expected finite numbers below 1e9."),
        (np.array([np.inf, 0.0]), "start[0] is inf: expected finite numbers below 1e9."),
    ],
)
def test_invalid_starts_are_refused(start, text, others):
    with refused(text):
        ROBOT.solve({"left_hand": AT} | others, start)


@OTHERS
@pytest.mark.parametrize(
    ("posture", "text"),
    [
        (Posture(active=["lift"]), f"no joint named 'lift' in two; did you mean 'left'? {JOINTS}"),
        (
            Posture(active=["right"]),
            "no active joint moves 'left_hand': posture.active lists none of the joints between "
            "it and the base. Remove its target.",
        ),
        (
            Posture([0.0]),
            "posture has 1 value for a robot of 2 joints: expected one value per joint, shape "
            "(2,).",
        ),
        (Posture([0.0, np.nan]), "posture[1] is nan: expected finite numbers below 1e9."),
        (Posture({"lift": 0.0}), NO_LIFT),
        ([0.0, 0.0], "posture is [0.0, 0.0]: expected a Posture, such as Posture(q)."),
    ],
)
def test_invalid_postures_are_refused(posture, text, others):
    with refused(text):
        ROBOT.solve({"left_hand": AT} | others, posture=posture)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: position(AT, weight=-1.0), "weight is -1.0: expected 0 or more, below 1e9."),
        (lambda: position(AT, weight=np.nan), "weight is nan: expected 0 or more, below 1e9."),
        (
            lambda: pose(AT, rpy=[0.0, 0.0, 0.0], weight=[1.0, 2.0, 3.0]),
            "weight has shape (3,): expected a number, or two numbers, for position and for "
            "orientation.",
        ),
        (
            lambda: position(AT, point=[1.0]),
            "point has shape (1,): expected (3,), a position x, y, z.",
        ),
        (lambda: Posture(active="left"), "active is 'left': expected a list of joint names."),
        (lambda: Posture([0.0, 0.0], weight=-1.0), "weight is -1: expected 0 or more."),
        (lambda: Posture(smoothness=-1.0), "smoothness is -1: expected 0 or more."),
    ],
)
def test_invalid_weights_and_points_are_refused(make, text):
    with refused(text):
        make()


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
            "targets of 'left_hand' mix poses and positions: expected one kind for a link.",
        ),
        (
            {"left_hand": np.zeros((3, 3)), "right_hand": np.zeros((2, 3))},
            "targets differ in number, 'left_hand' has 3, 'right_hand' has 2: expected the same "
            "number for each link.",
        ),
    ],
)
def test_invalid_batches_are_refused(targets, text):
    for solve in (ROBOT.solve_batch, ROBOT.solve_path):
        with refused(text):
            solve(targets)


@OTHERS
def test_an_invalid_row_has_a_status_and_the_others_are_solved(others):
    rows = {"left_hand": np.array([AT, [0.0, 0.0, np.inf], AT])}
    rows |= {link: [at] * 3 for link, at in others.items()}
    starts = np.array([[0.1, 0.1], [0.1, 0.1], [0.1, np.nan]])
    batch = ROBOT.solve_batch(rows, starts)
    assert batch.status.tolist() == [Status.CONVERGED, Status.INVALID, Status.INVALID]
    assert batch.converged.tolist() == [True, False, False]
    assert np.isnan(batch.q).all(axis=1).tolist() == [False, True, True]
    assert np.isnan(batch.position_error).tolist() == [False, True, True]
    assert np.isnan(starts).sum() == 1
    assert "2 invalid" in str(batch).lower()
    path = ROBOT.solve_path(rows)
    assert path.status.tolist() == [Status.CONVERGED, Status.INVALID, Status.CONVERGED]


@OTHERS
def test_a_wrong_number_of_starts_is_refused(others):
    rows = {link: [AT, AT] for link in {"left_hand": AT} | others}
    text = "starts has shape (3, 2) for 2 targets of a robot of 2 joints: expected (2,) for all or "
    with refused(text + "(2, 2), one for each."):
        ROBOT.solve_batch(rows, np.zeros((3, 2)))


@OTHERS
@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"max_velocity": 1.0}, "max_velocity needs times, the time between targets [s]."),
        ({"max_velocity": -1.0, "times": 0.1}, "max_velocity is -1.0: expected above zero."),
        ({"times": 0.0}, "times is 0.0: expected a number above zero."),
        (
            {"times": [0.0, 0.0]},
            "times has shape (2,) for 2 targets: expected the time between targets [s], or (2,) "
            "increasing times.",
        ),
        ({"times": [0.0, np.nan]}, "times[1] is nan: expected finite numbers below 1e9."),
        ({"max_step": 0.0}, "max_step is 0.0: expected a number above zero."),
        ({"max_velocity": {"lift": 1.0}, "times": 0.1}, NO_LIFT),
    ],
)
def test_invalid_limits_of_a_path_are_refused(options, text, others):
    rows = {link: np.zeros((2, 3)) for link in {"left_hand": AT} | others}
    with refused(text):
        ROBOT.solve_path(rows, **options)


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (
            SolveConfig(method="ccd"),
            "config has method, which is for one target of a serial arm: leave it out.",
        ),
        (
            SolveConfig(stiffness=1.0),
            "config has stiffness, which is for one target of a serial arm: leave it out.",
        ),
        ("fast", "config is 'fast': expected a SolveConfig."),
    ],
)
def test_settings_of_an_arm_are_refused(config, text):
    with refused(text):
        ROBOT.solve({"left_hand": AT, "right_hand": AT}, config=config)


def test_settings_of_an_arm_are_obeyed_for_one_target_on_a_link_arm():
    for config in (SolveConfig(method="ccd"), SolveConfig(stiffness=1.0)):
        assert ROBOT.solve({"left_hand": AT}, config=config).converged


@pytest.mark.parametrize(
    ("paths", "text"),
    [
        (
            {"left_hand": [AT]},
            f"paths is {{'left_hand': [{AT}]}}: expected a list of paths. For one, use solve_path.",
        ),
        (3, "paths is 3: expected a list of paths. For one, use solve_path."),
        (
            [{"left_hand": [AT]}, {"left_hand": [AT], "right_hand": [AT, AT]}],
            "paths[1]: targets differ in number, 'left_hand' has 1, 'right_hand' has 2: expected "
            "the same number for each link.",
        ),
    ],
)
def test_invalid_paths_are_refused(paths, text):
    with refused(text):
        ROBOT.solve_paths(paths)
