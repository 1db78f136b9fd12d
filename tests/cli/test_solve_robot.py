"""``solve --target``: targets for links of a whole robot."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

from jointwise import Robot, aim, pose
from jointwise.cli.app import join_targets

TWO_ARMS = """<robot name="r"><link name="base"/><link name="l1"/><link name="left"/>
<link name="r1"/><link name="right"/>
{}
</robot>""".format(
    "".join(
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="0 0 1"/><limit lower="-3" upper="3"/></joint>'
        for name, kind, parent, child, xyz in [
            ("a", "revolute", "base", "l1", "0 1 0"),
            ("b", "revolute", "l1", "left", "1 0 0"),
            ("c", "revolute", "base", "r1", "0 -1 0"),
            ("d", "prismatic", "r1", "right", "1 0 0"),
        ]
    )
)


@pytest.fixture
def robot(tmp_path):
    (tmp_path / "r.urdf").write_text(TWO_ARMS)
    return Robot.load(tmp_path / "r.urdf")


def test_targets_of_two_links_are_reached(run, robot):
    targets = ["--target", "left", "0.6", "1.8", "0", "--target", "right", "1", "-1", "0.5"]
    code, printed, error = run("solve", "r.urdf", *targets)
    assert (code, error) == (0, "")
    header, *rows, status, left, right, effort = printed.splitlines()
    assert header.split() == ["joint", "lower", "value", "upper"]
    q = [float(row.split()[3]) for row in rows]
    poses = robot.fk(q)
    assert_allclose(poses["left"][:3, 3], [0.6, 1.8, 0.0], atol=2e-6)
    assert_allclose(poses["right"][:3, 3], [1.0, -1.0, 0.5], atol=2e-6)
    assert left.startswith("left: position error ")
    assert right.startswith("right: position error ")
    assert status == "The target is reached, within the tolerances."
    assert re.fullmatch(r"\d+ iterations, \d+ restarts\.", effort)


@pytest.mark.parametrize(
    ("words", "target"),
    [
        (["0", "2", "0", "rpy", "0", "0", "90"], pose([0, 2, 0], rpy=[0, 0, np.pi / 2])),
        (["0", "2", "0", "quat", "0", "0", "2", "2"], pose([0, 2, 0], rpy=[0, 0, np.pi / 2])),
        (["0", "2", "0", "aim", "0", "0", "1"], aim([0, 2, 0], [0, 0, 1])),
    ],
)
def test_orientations_follow_the_position(run_json, robot, words, target):
    (record,) = run_json("solve", "r.urdf", "--target", "left", *words, "--deg")
    expected = robot.solve({"left": target})
    assert record["converged"]
    assert_allclose(record["q"], expected.q, atol=1e-9)
    assert record["joint_names"] == ["a", "b", "c", "d"]
    assert record["errors"]["left"]["orientation_error"] < 1e-6
    assert record["base_pose"] == np.eye(4).tolist()


def test_start_and_free_base(run, run_json, robot):
    options = [
        "--target",
        "left",
        "5",
        "6",
        "7",
        "--free-base",
        "--start",
        "0.1",
        "0.2",
        "0.3",
        "1",
    ]
    (record,) = run_json("solve", "r.urdf", *options)
    assert record["converged"]
    moved = robot.fk(record["q"], record["base_pose"])["left"]
    assert_allclose(moved[:3, 3], [5.0, 6.0, 7.0], atol=1e-6)
    code, printed, _ = run("solve", "r.urdf", *options)
    assert code == 0
    assert "\nbase: xyz " in printed


def test_missed_targets_are_named(run, robot):
    code, printed, error = run("solve", "r.urdf", "--target", "left", "0", "9", "0")
    assert code == 1
    assert "left: position error 7.0e+00 m\n" in printed
    assert error.startswith("Missed by 7 m. ")


ERRORS = {
    ("--target", "lift", "1", "2", "3"): (
        "no link named 'lift' in r; did you mean 'left'? Links: base, l1, left, r1, right.\n"
    ),
    ("--target", "left", "1", "2"): (
        "--target left 1 2: expected a link and X Y Z, then nothing, rpy R P Y, quat X Y Z W or "
        "aim X Y Z.\n"
    ),
    ("--target", "left", "1", "2", "3", "aim"): (
        "--target left 1 2 3 aim: expected a link and X Y Z, then nothing, rpy R P Y, quat X Y Z W "
        "or aim X Y Z.\n"
    ),
    ("--target", "left", "1", "2", "nan"): (
        "--target left 1 2 nan: expected a link and X Y Z, then nothing, rpy R P Y, quat X Y Z W "
        "or aim X Y Z.\n"
    ),
    ("--target", "left", "1", "2", "3", "--target", "left", "1", "2", "3"): (
        "--target is given twice for 'left': expected it once.\n"
    ),
    ("--target", "left", "1", "2", "3", "--tip", "left"): (
        "--target cannot be combined with --tip.\n"
    ),
    ("--target", "left", "1", "2", "3", "--all"): "--target cannot be combined with --all.\n",
    ("--target", "left", "1", "2", "3", "--trace"): "--target cannot be combined with --trace.\n",
    ("--target", "left", "1", "2", "3", "--to", "1", "2", "3"): (
        "--target cannot be combined with --to.\n"
    ),
    ("--target", "left", "1", "2", "3", "--margin", "0.1"): (
        "r.urdf has no collision shapes: expected <collision> elements in its links. For spheres "
        "of your own, call with_geometry('spheres.json').\n"
    ),
    ("--to", "1", "2", "3", "--free-base"): (
        "--free-base needs targets of links: expected --target, or columns such as LINK.x in a "
        "table.\n"
    ),
    (): "no target is given: expected --to, or --target for a robot.\n",
    ("--target", "base", "1", "2", "3"): None,
}


@pytest.mark.parametrize("options", ERRORS, ids=" ".join)
def test_wrong_usage(run, robot, options):
    code, printed, error = run("solve", "r.urdf", *options)
    assert (code, printed) == (2, "")
    if ERRORS[options] is not None:
        assert error == ERRORS[options]


def test_values_of_a_target_are_joined():
    arguments = ["solve", "--target", "my hand", "1", "-2", "3", "rpy", "0", "0", "1", "r.urdf"]
    joined = ["solve", "--target", "'my hand' 1 -2 3 rpy 0 0 1", "r.urdf"]
    assert join_targets(arguments) == joined
