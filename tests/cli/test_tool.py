"""``--tool``: a tool for every command that takes a robot."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from jointwise import pose, robots
from tests.support.cli import write_csv, xyz

PANDA = robots.panda()
WITH_TOOL = PANDA.with_tool([0.0, 0.01, 0.12])
TOOL = ("--tool", "0", "0.01", "0.12")
TO = ("--to", "0.4", "0.2", "0.5")


def test_the_tool_reaches_the_target(run_json):
    (record,) = run_json("solve", "panda", *TOOL, *TO)
    assert record["q"] == WITH_TOOL.solve([0.4, 0.2, 0.5]).q.tolist()
    (record,) = run_json("fk", "panda", *TOOL, "--q", *"0000000")
    assert_allclose(record["position"], WITH_TOOL.fk(np.zeros(7))[:3, 3], atol=1e-12)
    (record,) = run_json("info", "panda", *TOOL)
    assert record["tip_link"] == "tool"


@pytest.mark.parametrize("words", [("rpy", "90", "0", "45", "--deg"), ("quat", 0, 0, 2, 2)])
def test_a_tool_may_be_turned(run_json, words):
    turned = {"rpy": np.radians([90, 0, 45])} if words[0] == "rpy" else {"quat": [0, 0, 1, 1]}
    tool = pose([0.0, -0.01, 0.12], **turned).matrix
    (record,) = run_json("fk", "panda", "--q", *"0000000", "--tool", "0", "-0.01", "0.12", *words)
    assert_allclose(record["position"], PANDA.with_tool(tool).fk(np.zeros(7))[:3, 3], atol=1e-12)
    expected = PANDA.with_tool(tool).fk(np.zeros(7))[:3, :3]
    assert_allclose(Rotation.from_quat(record["quaternion"]).as_matrix(), expected, atol=1e-9)


def test_a_batch_has_the_tool(run, tmp_path):
    targets = write_csv("targets.csv", xyz([[0.4, 0.0, 0.3], [0.3, 0.2, 0.4]]))
    assert run("batch", "panda", targets, *TOOL, "-o", "found.npz")[0] == 0
    found = np.load(tmp_path / "found.npz")["q"]
    expected = WITH_TOOL.solve_batch([[0.4, 0.0, 0.3], [0.3, 0.2, 0.4]]).q
    assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            ("0", "0"),
            "--tool is '0 0': expected X Y Z [m], optionally followed by rpy R P Y or quat ",
        ),
        (("0", "0", "0.1", "rpy", "1"), "--tool is '0 0 0.1 rpy 1': expected X Y Z"),
        (("0", "0", "0.1", "aim", "0", "0", "1"), "--tool is '0 0 0.1 aim 0 0 1': expected"),
        (("0", "0", "nan"), "--tool is '0 0 nan': expected"),
        (("x",), "--tool is 'x': expected"),
    ],
)
def test_what_is_no_tool_is_refused(run, words, text):
    code, _, error = run("solve", "panda", *TO, "--tool", *words)
    assert (code, error[: len(text)]) == (2, text)


def test_targets_of_links_take_no_tool(run):
    command = ("solve", "panda", "--target", "tip", "0.4", "0.2", "0.5", *TOOL)
    code, _, error = run(*command)
    assert (code, error) == (2, "--target cannot be combined with --tool.\n")
