"""Angles in degrees where radians are expected: one line on standard error, never on output."""

import json

from tests.cli.test_info import Q
from tests.support.cli import write_csv

IN_DEGREES = ["90", "0", "0", "-90", "0", "90", "0"]
OUTSIDE = "more than a turn outside its limits"
ADD_DEG = "angles are in radians. If these are degrees, add --deg.\n"


def test_degrees_are_warned_about_in_one_line(run, run_json):
    code, printed, error = run("fk", "panda", "--q", *IN_DEGREES, "--json")
    assert code == 0
    assert json.loads(printed)["q"][0] == 90.0
    limits = "-2.8973 and 2.8973 rad"
    assert error == f"Warning: --q has 90 for panda_joint1, {OUTSIDE} {limits}: {ADD_DEG}"
    assert run("fk", "panda", "--q", *IN_DEGREES, "--deg")[2] == ""
    assert run("fk", "panda", "--q", *Q)[2] == ""


def test_values_within_two_turns_or_in_metres_are_not_warned_about(run, tmp_path):
    (tmp_path / "arm.csv").write_text("type,a\nrevolute,1\nprismatic,0\n")
    assert run("fk", "arm.csv", "--q", "12.5", "90")[2] == ""
    assert run("fk", "arm.csv", "--q", "13", "0")[2] == (
        f"Warning: --q has 13 for joint1, more than two turns: {ADD_DEG}"
    )


def test_an_orientation_and_a_start_in_degrees_are_warned_about(run):
    to = ["solve", "panda", "--to", "0.4", "0.2", "0.5"]
    assert run(*to, "--rpy", "180", "0", "90", "--json")[2].splitlines()[0] == (
        f"Warning: roll, pitch, yaw given are 180 0 90, more than two turns: {ADD_DEG}".strip()
    )
    assert run(*to, "--start", *IN_DEGREES)[2] == (
        f"Warning: the start has 90 for panda_joint1, {OUTSIDE} -2.8973 and 2.8973 rad: {ADD_DEG}"
    )


def test_a_file_in_degrees_is_warned_about_with_its_own_remedy(run, tmp_path):
    (tmp_path / "arm.toml").write_text("joints = [{ a = 1, alpha = 90 }, { a = 1, alpha = -90 }]")
    code, printed, error = run("info", "arm.toml", "--json")
    assert code == 0
    assert len(json.loads(printed)["rows"]) == 2
    assert error == (
        "Warning: alpha in row 1 of arm.toml is 90 (and 1 more), more than two turns: angles are "
        'in radians. If these are degrees, set angles = "degrees" in the file.\n'
    )


def test_a_csv_file_in_degrees_is_warned_about_with_a_remedy_for_the_shell(run, tmp_path):
    (tmp_path / "arm.csv").write_text("a,alpha\n1,90\n")
    assert run("info", "arm.csv", "--json")[2] == (
        "Warning: alpha in row 1 of arm.csv is 90, more than two turns: angles are in radians. If "
        'these are degrees, write a TOML file with angles = "degrees", or in Python use '
        'Chain.from_table(file, angles="degrees").\n'
    )


def test_a_table_in_degrees_is_warned_about_once(run):
    columns = {"x": [0.4] * 3, "y": [0.2] * 3, "z": [0.5] * 3}
    angles = {"roll": [3.0, 180.0, 180.0], "pitch": [0.0] * 3, "yaw": [0.0, 90.0, 80.0]}
    targets = write_csv("targets.csv", columns | angles)
    warnings = [line for line in run("batch", "panda", targets)[2].splitlines() if "deg" in line]
    (warning,) = warnings
    assert warning.startswith("Warning: roll, pitch, yaw in ")
    assert warning.endswith(f"are 180 0 90, more than two turns: {ADD_DEG}".strip())
    assert "Warning" not in run("batch", "panda", targets, "--deg")[2]
