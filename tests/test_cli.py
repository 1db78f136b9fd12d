"""The command: what it prints, as text and as JSON, how it exits, and what it says to bad input."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from threading import Timer
from urllib.request import urlopen

import matplotlib.pyplot as plt
import numpy as np
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import jointwise
from jointwise import Chain, IKBatch, Status, aim, plot, robots
from jointwise import view as page
from jointwise.cli import _spread, main, show, targetfile
from jointwise.solvers.results import endings
from jointwise.view.session import Session

ROOT = Path(__file__).parent.parent
PANDA = robots.panda()
Q = ["0", "-0.5", "0", "-2", "0", "1.5", "0.8"]
TO = ["--to", "0.4", "0.2", "0.5"]
ANSWER_KEYS = [
    *("robot", "target", "converged", "status", "message", "joint_names", "joint_angles"),
    *("position_error", "orientation_error", "iterations", "restarts"),
]
COLUMNS = [
    *PANDA.names,
    *("converged", "status", "position_error", "orientation_error", "iterations", "restarts"),
]


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Call the command in an empty folder: (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)

    def call(*words, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in words])
        printed = capsys.readouterr()
        return end.value.code, printed.out, printed.err

    return call


@pytest.fixture
def ask(run):
    """Call the command for JSON: the objects it prints, of which there must be some."""

    def call(*words, code=0):
        ended, printed, _ = run(*words, "--json")
        assert ended == code
        return [json.loads(line, parse_constant=pytest.fail) for line in printed.splitlines()]

    return call


def poses(count):
    return PANDA.fk(PANDA.random(seed=1, count=count))


def written(path, columns):
    """A CSV file of columns under their titles."""
    rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    text = "\n".join([",".join(columns), *(",".join(map(repr, row)) for row in rows), ""])
    Path(path).write_text(text)
    return path


def numbers(text, columns=PANDA.names):
    """(m, k) some columns of a CSV text."""
    return np.array([[float(row[name]) for name in columns] for row in csv.DictReader(text)])


def xyz(array):
    return dict(zip("xyz", array.T, strict=True))


# Arms as they are


def test_all_robots_are_listed(run, ask):
    code, printed, _ = run("robots")
    assert code == 0
    titles, *lines = printed.splitlines()
    assert titles.split() == ["name", "arm", "reach", "[m]"]
    assert [line.split()[0] for line in lines] == robots.names()
    assert "panda     Franka Emika Panda, 7 joints, to its flange." in printed
    listed = ask("robots")
    assert [each["robot"] for each in listed] == robots.names()
    assert {tuple(each) for each in listed} == {("robot", "description", "joint_names", "reach")}


def test_an_arm_is_shown_as_its_table(run):
    code, printed, _ = run("info", "panda")
    assert code == 0
    lines = [line.rstrip() for line in printed.splitlines()]
    *table, what, source = lines
    assert table == str(PANDA).splitlines()
    assert what == "Franka Emika Panda, 7 joints, to its flange."
    assert source.startswith("Numbers: D-H table and limits of Franka's documentation")


def test_an_arm_as_json(ask, tmp_path):
    (tmp_path / "arm.csv").write_text(
        "name,type,a,lower,upper\nturn,revolute,1,,\nslide,prismatic,0,0,2\n"
    )
    assert ask("info", "arm.csv") == [
        {
            "robot": "arm.csv",
            "description": None,
            "joint_names": ["turn", "slide"],
            "reach": 3.0,
            "joint_types": ["revolute", "prismatic"],
            "limits": [[None, None], [0.0, 2.0]],
            "home": [0.0, 1.0],
            "convention": "standard",
            "rows": [
                {"theta": 0.0, "d": 0.0, "a": 1.0, "alpha": 0.0},
                {"theta": 0.0, "d": 0.0, "a": 0.0, "alpha": 0.0},
            ],
        }
    ]
    assert (ask("info", "panda")[0]["convention"], ask("info", "iiwa7")[0]["rows"]) == (
        "modified",
        None,
    )


def test_a_part_of_a_urdf(run, ask, tmp_path):
    (tmp_path / "arm.urdf").write_text(PANDA.to_urdf())
    (found,) = ask("info", "arm.urdf", "--base", "link4", "--tip", "tip")
    assert found["joint_names"] == list(PANDA.names[4:])
    code, _, said = run("info", "arm.urdf", "--base", "lnk4")
    assert (code, "did you mean 'link4'?" in said) == (2, True)


def test_where_the_tip_is(run, ask):
    code, printed, _ = run("fk", "panda", "--q", *Q)
    assert code == 0
    assert [line.rstrip() for line in printed.splitlines()] == [
        "tip            x, roll   y, pitch     z, yaw         w",
        "position [m]  0.386104   0.000000   0.652325",
        "angles [rad]  3.141593   0.000000  -0.800000",
        "quaternion    0.921061  -0.389418   0.000000  0.000000",
    ]
    (found,) = ask("fk", "panda", "--q", *Q)
    keys = ["robot", "joint_names", "joint_angles", "position", "rpy", "quaternion", "pose"]
    assert list(found) == keys
    assert_allclose(found["pose"], PANDA.fk([float(value) for value in Q]), atol=1e-15)


def test_degrees_are_for_turns_alone(run, ask):
    turned = ["0", "90", "0.5", "0", "-90", "10"]
    (found,) = ask("fk", "stanford", "--deg", "--q", *turned)
    radians = [0.0, np.pi / 2, 0.5, 0.0, -np.pi / 2, np.radians(10)]
    assert_allclose(found["joint_angles"], radians)
    _, printed, _ = run("fk", "stanford", "--q", *turned, "--deg")
    angles = printed.splitlines()[2].split()
    assert angles[:2] == ["angles", "[°]"]
    assert_allclose(np.radians([float(angle) for angle in angles[2:]]), found["rpy"], atol=1e-7)


# One target


def test_a_solve_is_printed(run):
    code, printed, said = run("solve", "panda", *TO)
    assert (code, said) == (0, "")
    titles, *rows, sentence, off = printed.splitlines()
    assert titles.split() == ["joint", "lower", "value", "upper"]
    result = PANDA.solve([0.4, 0.2, 0.5])
    assert [row.split()[0] for row in rows] == list(PANDA.names)
    assert_allclose([float(row.split()[3]) for row in rows], result.joint_angles, atol=1e-6)
    assert sentence == "The tip is at the target, within the tolerances."
    assert off.endswith(f"after {result.iterations} iterations and 0 restarts.")
    assert "\x1b" not in printed


def test_a_solve_as_json_has_these_keys(ask):
    (found,) = ask("solve", "panda", *TO)
    assert list(found) == ANSWER_KEYS
    result = PANDA.solve([0.4, 0.2, 0.5])
    assert found == {
        "robot": "panda",
        "target": {"position": [0.4, 0.2, 0.5], "quaternion": None, "direction": None},
        "converged": True,
        "status": "CONVERGED",
        "message": Status.CONVERGED.value,
        "joint_names": list(PANDA.names),
        "joint_angles": result.joint_angles.tolist(),
        "position_error": result.position_error,
        "orientation_error": 0.0,
        "iterations": result.iterations,
        "restarts": 0,
    }


def test_a_pose_by_angles_and_by_quaternion(ask):
    (found,) = ask("solve", "panda", *TO, "--rpy", "180", "0", "-90", "--deg")
    half = np.sqrt(0.5)
    (same,) = ask("solve", "panda", *TO, "--quat", half, -half, 0, 0)
    assert_allclose(np.abs(found["target"]["quaternion"]), [half, half, 0, 0], atol=1e-15)
    assert_allclose(found["joint_angles"], same["joint_angles"], atol=1e-6)
    tip = PANDA.fk(found["joint_angles"])
    assert_allclose(tip[:3, :3], [[0, -1, 0], [-1, 0, 0], [0, 0, -1]], atol=2e-6)
    assert_allclose(tip[:3, 3], [0.4, 0.2, 0.5], atol=1e-6)


def test_an_aim(ask):
    (found,) = ask("solve", "panda", *TO, "--aim", "0", "0", "-2")
    expected = PANDA.solve(aim([0.4, 0.2, 0.5], [0, 0, -1]))
    assert found["target"]["direction"] == [0, 0, -1]
    assert found["joint_angles"] == expected.joint_angles.tolist()


def test_json_is_in_radians_whatever_is_printed(run, ask):
    start = np.degrees(PANDA.home + 0.1)
    asked = ["solve", "panda", "--to", "-0.4", "0.2", "0.5", "--start", *start, "--deg"]
    (found,) = ask(*asked)
    result = PANDA.solve([-0.4, 0.2, 0.5], np.radians(start))
    assert found["joint_angles"] == result.joint_angles.tolist()
    _, printed, _ = run(*asked)
    shown = [float(line.split()[2].rstrip("°")) for line in printed.splitlines()[1:8]]
    assert_allclose(shown, np.degrees(result.joint_angles), atol=1e-6)


def test_not_solved_is_one_with_a_sentence_on_standard_error(run, ask):
    code, printed, said = run("solve", "panda", "--to", "5", "0", "0")
    assert code == 1
    assert said == f"missed by 4.15 m. {Status.UNREACHABLE.value}\n"
    assert "Off by 4.2e+00 m" in printed
    (found,) = ask("solve", "panda", "--to", "5", "0", "0", code=1)
    assert (found["converged"], found["status"]) == (False, "UNREACHABLE")
    assert found["message"] == Status.UNREACHABLE.value


def test_tolerance_restarts_and_seed_are_heard(ask):
    narrow = ["solve", "panda", "--to", "0.05", "0.05", "0.2", "--rpy", "2", "0.5", "1"]
    (found,) = ask(*narrow, "--restarts", "0", code=1)
    assert found["restarts"] == 0
    (loose,) = ask("solve", "panda", *TO, "--tolerance", "0.1")
    assert 1e-3 < loose["position_error"] < 0.1
    ended = [ask(*narrow, "--seed", seed, code=1)[0]["joint_angles"] for seed in (0, 1)]
    assert ended[0] != ended[1]


def test_several_answers(run, ask):
    asked = ["solve", "ur5e", *TO, "--rpy", "3", "0", "0", "--all"]
    found = ask(*asked)
    chain = robots.ur5e()
    assert len(found) == 8
    assert {tuple(each) for each in found} == {tuple(ANSWER_KEYS)}
    tips = chain.fk([each["joint_angles"] for each in found])
    assert_allclose(tips, np.broadcast_to(tips[0], tips.shape), atol=5e-6)
    code, printed, _ = run(*asked)
    assert (code, "answer 8" in printed) == (0, True)
    assert run("solve", "panda", "--to", "5", "0", "0", "--all")[0] == 1


def test_a_trace_shows_every_move(run, ask):
    _, printed, _ = run("solve", "panda", *TO, "--trace")
    course = PANDA.trace([0.4, 0.2, 0.5])
    moves = [line.split() for line in printed.splitlines()[1:] if line[:1].isdigit()]
    joints = [row[1] for row in moves[: course.sweeps * PANDA.n]]
    assert joints == list(PANDA.names[::-1]) * course.sweeps
    assert len(moves) == course.sweeps * PANDA.n + len(course) - course.sweeps
    last = [row[-2:] for row in moves[PANDA.n - 1 :: PANDA.n]][: course.sweeps]
    assert [row[0] for row in last] == [
        f"{e:.1e}" for e in course.position_error[1:][: course.sweeps]
    ]
    (found,) = ask("solve", "panda", *TO, "--trace")
    assert list(found) == [*ANSWER_KEYS, "trace"]
    assert found["trace"]["joint_angles"] == course.joint_angles.tolist()
    keys = ["joint_angles", "position_error", "orientation_error", "sweeps", "converged"]
    assert list(found["trace"]) == keys


values = st.lists(st.floats().map(str), min_size=1)


def test_a_trace_of_no_iterations(run, ask):
    there = [f"{value:.17g}" for value in PANDA.fk(PANDA.home)[:3, 3]]
    asked = ["solve", "panda", "--to", *there, "--trace"]
    assert ask(*asked)[0]["trace"]["joint_angles"] == [PANDA.home.tolist()]
    assert run(*asked)[1].startswith("iteration  joint")


@given(values, st.lists(st.sampled_from(["--deg", "panda", "-o", "--to"])), values)
def test_one_value_per_joint_may_follow_an_option(first, words, last):
    """And only there: what follows other words is left alone."""
    wanted = [word for value in first for word in ("--q", value)]
    assert _spread(["--q", *first, *words]) == wanted + words
    assert _spread(["fk", *words, "--to", *last]) == ["fk", *words, "--to", *last]


# Many targets


def test_a_batch_from_file_to_file(run, tmp_path):
    targets = poses(300)[:, :3, 3]
    code, printed, said = run("batch", "panda", written("in.csv", xyz(targets)), "-o", "out.csv")
    assert (code, printed) == (0, "")
    assert said == "300 of 300 solved (100.000%)\n"
    batch = PANDA.solve_batch(targets)
    text = (tmp_path / "out.csv").read_text().splitlines()
    assert text[0].split(",") == COLUMNS
    assert_array_equal(numbers(text), batch.joint_angles)
    assert_array_equal(numbers(text, ["position_error"])[:, 0], batch.position_error)
    assert text[1].split(",")[7:9] == ["true", "CONVERGED"]


def test_a_batch_of_poses_in_every_format_is_the_same_batch(run, tmp_path):
    """Not bit for bit: a quaternion is rounded."""
    from scipy.spatial.transform import Rotation

    targets, starts = poses(50), PANDA.random(seed=2, count=50)
    turns = Rotation.from_matrix(targets[:, :3, :3])
    places = xyz(targets[:, :3, 3])
    begins = dict(zip(PANDA.names, starts.T, strict=True))
    roll_pitch_yaw = dict(zip(["roll", "pitch", "yaw"], turns.as_euler("xyz").T, strict=True))
    quaternions = dict(zip(["qx", "qy", "qz", "qw"], turns.as_quat().T, strict=True))
    numbered = {f"q{i + 1}": column for i, column in enumerate(starts.T)}
    np.savez("arrays.npz", targets=targets, starts=starts)
    written("angles.csv", begins | places | roll_pitch_yaw)
    pyarrow.parquet.write_table(pyarrow.table(places | quaternions | numbered), "quats.parquet")
    expected = PANDA.solve_batch(targets, starts)
    for source in ("arrays.npz", "angles.csv", "quats.parquet"):
        assert run("batch", "panda", source, "-o", "out.npz")[0] == 0
        found = IKBatch.load("out.npz")
        assert found.converged.all()
        assert_allclose(found.joint_angles, expected.joint_angles, atol=1e-5)
    assert_array_equal(found.status, expected.status)
    assert run("batch", "panda", "arrays.npz", "-o", "out.parquet")[0] == 0
    table = pyarrow.parquet.read_table("out.parquet")
    assert table.column_names == COLUMNS
    columns = [table[name].to_numpy() for name in PANDA.names]
    assert_array_equal(np.stack(columns, axis=1), expected.joint_angles)
    assert set(table["status"].to_pylist()) == {"CONVERGED"}


def test_a_batch_of_aims_in_degrees(run):
    positions, start = poses(20)[:, :3, 3], np.degrees(PANDA.home)
    down = {"dx": np.zeros(20), "dy": np.zeros(20), "dz": np.full(20, -2.0)}
    begins = {name: np.full(20, value) for name, value in zip(PANDA.names, start, strict=True)}
    source = written("in.csv", xyz(positions) | down | begins)
    _, printed, _ = run("batch", "panda", source, "--deg", "--threads", "1")
    expected = PANDA.solve_batch(aim(positions, [0, 0, -1]), np.radians(start))
    found = numbers(printed.splitlines())
    assert_allclose(found, np.degrees(expected.joint_angles), atol=1e-9)


def test_a_stream_gives_what_a_file_gives(run, monkeypatch):
    """Bit by bit, wherever it is cut, with comments, empty lines and other line ends."""
    source = written("in.csv", xyz(poses(40)[:, :3, 3]))
    _, expected, _ = run("batch", "panda", source)
    text = "\ufeff# a comment\n\n" + Path(source).read_text().replace("\n", "\r\n\n").rstrip()
    for size in (7, 64, 1000):
        monkeypatch.setattr(targetfile, "BLOCK", max(size, 100))
        code, printed, said = run("batch", "panda", "-", stdin=text.encode())
        assert (code, printed, said) == (0, expected, "40 of 40 solved (100.000%)\n")
    semicolons = Path(source).read_text().replace(",", "; ")
    assert run("batch", "panda", "-", stdin=semicolons.encode())[1] == expected


def test_what_is_not_solved_is_told_apart_and_makes_it_one(run):
    code, printed, said = run("batch", "panda", "-", stdin=b"x,y,z\n.4,.2,.5\n5,0,0\nnan,0,0\n")
    assert code == 1
    assert said.splitlines() == endings(np.array([1, 0, 0, 0, 1, 1]))
    status = [row["status"] for row in csv.DictReader(printed.splitlines())]
    assert status == ["CONVERGED", "UNREACHABLE", "INVALID"]


def test_no_targets_are_no_answers(run):
    code, printed, said = run("batch", "panda", "-", stdin=b"x,y,z\n")
    assert (code, printed) == (0, ",".join(COLUMNS) + "\n")
    assert said == "0 of 0 solved (0.000%)\n"


def test_a_file_is_written_as_a_whole_or_not_at_all(run, tmp_path):
    (tmp_path / "out.csv").write_text("before")
    assert run("batch", "panda", "-", "-o", "out.csv", stdin=b"x,y,z\n1,2\n")[0] == 2
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]
    assert (tmp_path / "out.csv").read_text() == "before"
    assert run("batch", "panda", "-", "-o", "out.csv", stdin=b"x,y,z\n.4,.2,.5\n")[0] == 0
    assert (tmp_path / "out.csv").read_text().startswith("panda_joint1,")
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]


def line(count=20):
    """Positions along a line that the arm follows well."""
    return np.linspace([0.4, -0.2, 0.4], [0.4, 0.2, 0.5], count)


def test_a_path_is_followed(run, tmp_path):
    source = written("in.csv", xyz(line()))
    code, printed, said = run("path", "panda", source, "-o", "joints.csv")
    expected = PANDA.solve_path(line())
    assert (code, printed, said) == (0, "", f"{expected}\n")
    text = (tmp_path / "joints.csv").read_text().splitlines()
    assert text[0].split(",") == COLUMNS
    assert_array_equal(numbers(text), expected.joint_angles)


def test_a_path_of_aims_from_a_start(run):
    down = dict(zip(["dx", "dy", "dz"], np.tile([[0.0], [0.0], [-1.0]], 20), strict=True))
    source = written("in.csv", xyz(line()) | down)
    code, printed, _ = run("path", "panda", source, "--start", *np.degrees(PANDA.home), "--deg")
    targets = [aim(position, [0, 0, -1]) for position in line()]
    expected = PANDA.solve_path(targets, PANDA.home)
    assert code == 0
    assert_allclose(numbers(printed.splitlines()), np.degrees(expected.joint_angles), atol=1e-6)


def test_jumps_and_misses_of_a_path_are_named(run):
    far = b"x,y,z\n.4,.2,.5\n-.4,-.2,.5\n"
    code, _, said = run("path", "panda", "-", "--max-step", "0.01", stdin=far)
    assert (code, "jumps to 1" in said) == (0, True)
    code, _, said = run("path", "panda", "-", stdin=b"x,y,z\n.4,.2,.5\n5,0,0\n")
    assert code == 1
    assert f"First missed is target 1: {Status.UNREACHABLE.value}" in said


# Pictures and the page


@pytest.fixture
def drawn(monkeypatch):
    """What is drawn: a list of what each picture was asked for."""
    seen = []

    def spied(draw):
        def spy(*arguments, **options):
            seen.append(arguments)
            return draw(*arguments, **options)

        return spy

    for name in ("arm", "motion", "path"):
        monkeypatch.setattr(plot, name, spied(getattr(plot, name)))
    yield seen
    plt.close("all")


def test_a_solve_and_a_path_are_drawn(run, drawn, tmp_path):
    assert run("solve", "panda", *TO, "--plot", "arm.png")[0] == 0
    (before, after), target = drawn[0][1:]
    assert_array_equal(after, PANDA.solve([0.4, 0.2, 0.5]).joint_angles)
    assert_array_equal([*before, *target], [*PANDA.home, 0.4, 0.2, 0.5])
    assert run("path", "panda", written("in.csv", xyz(line(3))), "--plot", "path.png")[0] == 0
    assert len(drawn[1][1]) == 3
    assert {"arm.png", "path.png"} <= {file.name for file in tmp_path.iterdir()}
    assert run("solve", "ur5e", *TO, "--rpy", "3", "0", "0", "--all", "--plot", "all.png")[0] == 0
    assert len(drawn) == 2 + 8
    code, _, said = run("solve", "panda", *TO, "--plot", "nowhere/arm.png")
    folder = "nowhere/arm.png cannot be written, there is no such folder: make it.\n"
    assert (code, said) == (2, folder)
    code, printed, said = run("solve", "panda", *TO, "--plot", "arm.txt")
    expected = "arm.txt is no picture: expected a file that ends in .png, .pdf or .svg.\n"
    assert (code, printed, said) == (2, "", expected)


def test_no_number_is_cut_on_a_narrow_terminal():
    solve = "solve ur5e --to 0.4 0.2 0.5 --rpy 3 0 0 --all"
    command = f"stty cols 80; {sys.executable} -m jointwise {solve}"
    env = {**os.environ, "TERM": "dumb"}
    shown = subprocess.run(
        ["script", "-qec", command, "/dev/null"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=env,
    ).stdout
    assert "shoulder_pan_joint" in shown
    assert "…" not in shown
    assert len(re.findall(r"-?\d\.\d{6} rad", shown)) >= 6 * 4


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-", "<&-", "2>&-"])
def test_streams_that_are_closed_or_full_are_no_traceback(redirection, tmp_path):
    written(tmp_path / "t.csv", xyz(np.array([[0.4, 0.2, 0.5]])))
    source = "-" if redirection == "<&-" else "t.csv"
    process = subprocess.run(
        f"{sys.executable} -m jointwise batch panda {source} {redirection}",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert "Traceback" not in process.stderr
    said = {
        ">/dev/full": (2, "the output cannot be written, No space left on device.\n"),
        "<&-": (2, "the input is empty: expected a line of titles, such as x,y,z.\n"),
    }
    if redirection in said:
        assert (process.returncode, process.stderr) == said[redirection]
    else:
        assert process.returncode == 0


def test_answers_never_replace_the_targets(run):
    source = written("t.csv", xyz(line(3)))
    before = Path(source).read_text()
    code, _, said = run("batch", "panda", source, "-o", "t.csv")
    expected = "t.csv holds the targets: expected another file for the answers.\n"
    assert (code, said, Path(source).read_text()) == (2, expected, before)


def test_a_joint_may_be_called_as_a_column_is(run, tmp_path):
    arm = Chain.from_dh(PANDA.rows, PANDA.limits, names=["status", *"bcdefg"])
    (tmp_path / "arm.urdf").write_text(arm.to_urdf())
    _, printed, _ = run("batch", "arm.urdf", written("t.csv", xyz(np.array([[0.4, 0.2, 0.5]]))))
    (row,) = csv.DictReader(io.StringIO(printed))
    assert list(row)[:8] == ["q1", "q2", "q3", "q4", "q5", "q6", "q7", "converged"]
    assert row["status"] in Status.__members__


def test_nothing_is_printed_of_what_is_refused(run):
    assert run("batch", "panda", "nosuch.csv")[:2] == (2, "")


def test_rows_that_are_not_finite_are_invalid_and_the_others_solved(run):
    poses = {"x": [0.4, 0.4], "y": [0.2, 0.2], "z": [0.5, 0.5]}
    for more in ("roll", "pitch", "yaw"), ("qx", "qy", "qz", "qw"), ("dx", "dy", "dz"):
        columns = poses | {title: [0.5, np.nan] for title in more}
        code, printed, _ = run("batch", "panda", written("t.csv", columns))
        rows = list(csv.DictReader(io.StringIO(printed)))
        assert (code, [row["status"] for row in rows]) == (1, ["CONVERGED", "INVALID"])
    code, _, said = run("solve", "panda", *TO, "--quat", "nan", "0", "0", "1")
    assert (code, said) == (2, "--quat is (nan, 0.0, 0.0, 1.0): expected finite numbers.\n")
    assert run("solve", "panda", *TO, "--quat", "1e200", "0", "0", "0")[0] == 0


def test_a_path_that_the_page_saved_is_followed(run, tmp_path):
    session = Session(PANDA)
    for kind in ("position", "pose", "aim"):
        session.ask_for(kind)
        session.recorded.clear()
        for _ in range(2):
            session.record()
        (tmp_path / "saved.csv").write_text(session.to_csv())
        code, printed, _ = run("path", "panda", "saved.csv")
        rows = list(csv.DictReader(io.StringIO(printed)))
        values = np.array([[float(row[name]) for name in PANDA.names] for row in rows])
        assert code == 0
        assert_allclose(values, np.stack([session.q] * 2), atol=1e-4)


def test_the_page_is_served(run, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(page, "serve", lambda *words, **options: asked.append((words, options)))
    (tmp_path / "arm.urdf").write_text(robots.ur5e().to_urdf())
    assert run("view")[0] == 0
    assert run("view", "arm.urdf", "--port", "9000", "--no-open")[0] == 0
    assert [(words[0].n, words[1]) for words, _ in asked] == [(7, "panda"), (6, "arm.urdf")]
    host = {"host": "127.0.0.1"}
    assert asked[0][1] == {**host, "port": 8080, "open_browser": True, "urdf": None}
    assert asked[1][1] == {**host, "port": 9000, "open_browser": False, "urdf": "arm.urdf"}


def test_the_page_answers_until_it_is_ended():
    command = [sys.executable, "-m", "jointwise", "view", "ur5e", "--no-open", "--port", "8765"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            said = next(line for line in process.stdout if "http://" in line)
            assert said.startswith("ur5e: http://127.0.0.1:")
            assert "for this machine alone" in said
            with urlopen(said.split()[1].rstrip(",")) as answer:
                assert b"<html" in answer.read().lower()
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(20) in (0, 130)


def test_the_demo_shows_the_best_of_it(run, drawn, monkeypatch, tmp_path):
    monkeypatch.setattr(show, "MANY", 100)
    code, printed, _ = run("demo")
    assert code == 0
    assert "$ jointwise solve panda --to 0.4 0.2 0.5 --aim 0 0 -1 --deg" in printed
    assert "100 random poses at once: " in printed
    assert "100 of 100 solved (100.000%)" in printed
    assert "is drawn in demo.png" in printed
    assert "jointwise view" in printed
    assert (tmp_path / "demo.png").exists()


# Maps


def test_a_map_is_made_shown_and_gone_on_with(run, tmp_path):
    asked = ("reach", "ur3e", "-o", "map.zarr", "--resolution", "0.2", "--orientations", "4")
    code, printed, said = run(*asked, "--plot", "slice.png")
    assert (code, said) == (0, "")
    assert "m³ reached, there" in printed
    assert "not finished" not in printed
    assert (tmp_path / "slice.png").stat().st_size > 1000
    assert run(*asked) == (0, printed, "")  # it is there already
    assert run("reach", "show", "map.zarr", "--plot", "again.png") == (0, printed, "")
    code, _, said = run("reach", "ur5e", *asked[2:])
    assert code == 2
    assert said.startswith("'map.zarr' holds another map: arm.")
    plt.close("all")


def test_a_map_is_of_an_arm_or_shown(run):
    expected = "expected jointwise reach ARM -o MAP, or jointwise reach show MAP.\n"
    assert run("reach", "show") == (2, "", expected)
    assert run("reach", "ur5e", "map.zarr") == (2, "", expected)
    code, _, said = run("reach", "show", "nowhere.zarr")
    assert (code, said) == (2, "there is no 'nowhere.zarr': expected a map that reach_map wrote.\n")


def test_a_map_is_not_begun_for_a_picture_that_cannot_be_drawn(run, tmp_path):
    code, _, said = run("reach", "ur3e", "--plot", "x.nope")
    expected = "x.nope is no picture: expected a file that ends in .png, .pdf or .svg.\n"
    assert (code, said) == (2, expected)
    assert not list(tmp_path.iterdir())


def test_a_map_that_is_shown_is_not_asked_for_otherwise(run):
    expected = "reach show takes no seed: expected the map, and --plot or --port.\n"
    assert run("reach", "show", "map.zarr", "--seed", "0") == (2, "", expected)
    expected = "reach ARM takes no port: expected it with reach show MAP.\n"
    assert run("reach", "ur3e", "--port", "8081") == (2, "", expected)


def test_a_map_is_cut_at_the_base_of_the_arm(run, tmp_path):
    rows = "[[joints]]\na = 0.2\n[[joints]]\na = 0.2\n"
    Path("away.toml").write_text("base = { xyz = [0.0, 3.0, 0.0] }\n" + rows)
    asked = ("--resolution", "0.1", "--orientations", "0", "--plot", "slice.png")
    assert run("reach", "away.toml", *asked)[::2] == (0, "")
    plt.close("all")


AIM = ("x", "y", "z", "dx", "dy", "dz")


def test_where_to_stand(run):
    poses = written("poses.csv", {"x": [1.0, 1.2], "y": [0.0, 0.1], "z": [0.3, 0.3]})
    code, printed, _ = run("place", "ur3e", poses, "--step", "0.2", "--json")
    found = json.loads(printed)
    keys = ["robot", "base", "reached", "targets", "margin", "joint_names", "joint_angles"]
    assert (code, list(found)) == (0, keys)
    arm, base = robots.ur3e(), np.array(found["base"])
    tips = base @ arm.fk(found["joint_angles"])
    assert_allclose(tips[:, :3, 3], [[1.0, 0.0, 0.3], [1.2, 0.1, 0.3]], atol=1e-3)
    assert "2 of 2 poses reached" in run("place", "ur3e", poses)[1]
    far = written("far.csv", {"x": [0.0, 0.0], "y": [0.0, 0.0], "z": [9.0, 0.3]})
    code, _, said = run("place", "ur3e", far)
    assert (code, said) == (1, "1 of 2 targets are missed.\n")
    code, _, said = run("place", "ur3e", written("aims.csv", {key: [0.3] for key in AIM}))
    assert (code, said) == (2, "aims.csv has directions: expected positions or poses.\n")


# Wrong usage

TABLE = "expected some of x, y, z, roll, pitch, yaw, qx, qy, qz, qw, dx, dy, dz, "
BATCH = ("batch", "panda", "-")
WRONG = {
    "an unknown robot": (
        ("info", "pand"),
        "no robot named 'pand'; did you mean 'panda'? Robots: "
        + ", ".join(robots.names())
        + ". A file is read by its ending: .urdf, .toml or .csv.",
    ),
    "too few values": (
        ("fk", "panda", "--q", "1", "2"),
        "q has 2 values for an arm of 7 joints: expected one value per joint, shape (7,).",
    ),
    "too few values in degrees": (
        ("solve", "panda", *TO, "--deg", "--start", "1", "2"),
        "start has 2 values for an arm of 7 joints: expected one value per joint, shape (7,).",
    ),
    "no number": (
        ("solve", "panda", "--to", "nan", "0", "0"),
        "--to is (nan, 0.0, 0.0): expected finite numbers.",
    ),
    "angles and a quaternion": (
        ("solve", "panda", *TO, "--rpy", "0", "0", "0", "--quat", "0", "0", "0", "1"),
        "more than one of --rpy, --quat, --aim is given: expected one.",
    ),
    "a quaternion of no length": (
        ("solve", "panda", *TO, "--quat", "0", "0", "0", "0"),
        "the quaternion given is [0.0, 0.0, 0.0, 0.0]: expected numbers, not all zero.",
    ),
    "a tolerance of zero": (
        ("solve", "panda", *TO, "--tolerance", "0"),
        "position_tolerance is 0.0: expected a number above zero.",
    ),
    "all from somewhere": (
        ("solve", "panda", *TO, "--all", "--start", *Q),
        "--all looks everywhere: expected no --start and no --trace.",
    ),
    "links of a table": (
        ("info", "panda", "--base", "link1"),
        "base and tip are for a URDF: panda.toml is a DH table.",
    ),
    "no file": (
        ("batch", "panda", "none.csv"),
        "none.csv cannot be read, No such file or directory.",
    ),
    "no table": (
        ("batch", "panda", "targets.txt"),
        "targets.txt is no table: expected a .csv, .npz or .parquet file, or -.",
    ),
    "no table to write": (
        (*BATCH, "-o", "out.txt"),
        "out.txt is no table: expected a .csv, .npz or .parquet file.",
    ),
    "a folder": (
        (*BATCH, "-o", "folder.csv"),
        "folder.csv cannot be written: expected a file, or a name for one.",
    ),
    "an array of another name": (
        ("batch", "panda", "bad.npz"),
        "bad.npz has no targets: expected an array of this name, (m, 3) or (m, 4, 4), saved with "
        "numpy.savez.",
    ),
    "no array at all": (
        ("batch", "panda", "text.npz"),
        "text.npz has no targets: expected an array of this name, (m, 3) or (m, 4, 4), saved with "
        "numpy.savez.",
    ),
    "words in a column": (
        ("batch", "panda", "words.parquet"),
        "words.parquet is no table of numbers: could not convert string to float: 'a'.",
    ),
    "no threads": (
        (*BATCH, "--threads", "0"),
        "threads is 0: expected at least 1, or None for all cores.",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_usage_is_two_and_a_sentence(case, run, tmp_path):
    words, sentence = WRONG[case]
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "text.npz").write_text("x,y,z")
    np.savez("bad.npz", goals=np.zeros((1, 3)))
    pyarrow.parquet.write_table(pyarrow.table({"x": ["a"], "y": ["b"]}), "words.parquet")
    code, _, said = run(*words, stdin=b"x,y,z\n0.4,0.2,0.5\n")
    assert (code, said) == (2, f"{sentence}\n")


def test_a_folder_that_is_not_there_is_not_made(run, tmp_path):
    code, _, said = run("batch", "panda", "-", "-o", "no/out.csv", stdin=b"x,y,z\n")
    assert code == 2
    assert said == (
        f"no/out.csv cannot be written, there is no folder {tmp_path / 'no'}: make it first.\n"
    )


NAMES = ", ".join(PANDA.names)
BAD_TABLES = {
    "nothing": ("", "the input is empty: expected a line of titles, such as x,y,z."),
    "no titles": (
        "0.4,0.2,0.5\n",
        "the input begins with 0.4: expected a line of titles first, such as x,y,z.",
    ),
    "a title with a slip": (
        "x,y,z,role,pitch,yaw\n",
        "the input has the column 'role': did you mean 'roll'?",
    ),
    "a title twice": ("x,y,z,x\n", "the input has the column 'x' twice: expected it once."),
    "no z": ("x,y\n", "the input has no column z: expected all of x, y, z."),
    "no yaw": (
        "x,y,z,roll,pitch\n",
        "the input has no column yaw: expected all of roll, pitch, yaw.",
    ),
    "some starts": (
        "x,y,z,q1,q2\n",
        "the input has no column q3, q4, q5, q6, q7: expected all of q1, q2, q3, q4, q5, q6, q7.",
    ),
    "turned twice": (
        "x,y,z,roll,pitch,yaw,dx,dy,dz\n",
        "the input has roll, pitch, yaw and dx, dy, dz: expected one of these.",
    ),
    "a word": (
        "x,y,z\n1,2,3\n\n1,2,here\n",
        "z in line 4 of the input is 'here': expected a number.",
    ),
    "an empty cell": (
        "x,y,z\n1,,3\n",
        "y in line 2 of the input is '': expected a number.",
    ),
    "a cell too many": (
        "x,y,z\n1,2,3\n1,2,3,4\n",
        "line 3 of the input has 4 cells: expected 3, as many as there are titles.",
    ),
    "a cell too few everywhere": (
        "x,y,z\n1,2\n1,2\n",
        "line 2 of the input has 2 cells: expected 3, as many as there are titles.",
    ),
    "Python's own numbers": (
        "x,y,z\n1_0,2,3\n",
        "the input cannot be read: could not convert string '1_0' to float64 at row 0, column 1.",
    ),
    "a quaternion of no length": (
        "x,y,z,qx,qy,qz,qw\n1,2,3,0,0,0,1\n1,2,3,0,0,0,0\n",
        "the quaternion in line 3 of the input is [0.0, 0.0, 0.0, 0.0]: "
        "expected numbers, not all zero.",
    ),
    "a direction that is none": (
        "x,y,z,dx,dy,dz\n# here\n1,2,3,0,0,0\n",
        "the direction in line 3 of the input is [0.0, 0.0, 0.0]: expected numbers, not all zero.",
    ),
    "no text": (b"\xff\xfe\n", "the input is no text: expected a CSV file in UTF-8."),
    "no end": (b"x" * (1 << 21), "line 1 of the input has no end: expected lines of text."),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_what_is_wrong_in_a_table_is_named_by_its_line(case, run):
    text, sentence = BAD_TABLES[case]
    command = "path" if "path" in case else "batch"
    data = text if isinstance(text, bytes) else text.encode()
    code, _, said = run(command, "panda", "-", stdin=data)
    assert (code, said) == (2, f"{sentence}\n")


def test_lines_are_counted_through_a_stream(run, monkeypatch):
    monkeypatch.setattr(targetfile, "BLOCK", 30)
    text = b"x,y,z\n" + b"0.4,0.2,0.5\n" * 20 + b"0.4,0.2,here\n"
    code, printed, said = run("batch", "panda", "-", stdin=text)
    assert (code, said) == (2, "z in line 22 of the input is 'here': expected a number.\n")
    assert printed.count("CONVERGED") > 15  # what came before is answered


def test_joints_that_are_called_as_targets_start_by_number(run, tmp_path):
    gantry = "name,type,alpha,lower,upper\nx,prismatic,1.5,0,1\ny,prismatic,1.5,0,1\n"
    (tmp_path / "gantry.csv").write_text(gantry)
    place = xyz(Chain.load("gantry.csv").fk([[0.5, 0.1]])[:, :3, 3])
    source = written("in.csv", place | {"q1": [0.5], "q2": [0.1]})
    code, printed, _ = run("batch", "gantry.csv", source)
    assert code == 0
    (row,) = csv.DictReader(printed.splitlines())
    assert (row["x"], row["y"], row["iterations"]) == ("0.5", "0.1", "0")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("slove",), "No such command 'slove'. Did you mean 'solve'"),
        (("solve", "panda"), "Missing option '--to'"),
        (("solve", "panda", "--to", "1", "2"), "'--to' requires 3 arguments"),
        (("fk", "panda", "--q", "a"), "Invalid value for '--q'"),
        (("solve", "panda", *TO, "--too"), "No such option"),
        (("batch", "panda", "-", "--device", "tpu"), "Invalid value for '--device'"),
    ],
)
def test_what_the_parser_refuses_is_two(words, said, run):
    code, printed, complaint = run(*words)
    assert (code, printed) == (2, "")
    assert said in complaint


def test_pyarrow_that_is_missing_is_said(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, said = run("batch", "panda", "-", "-o", "out.parquet", stdin=b"x,y,z\n")
    assert code == 2
    assert said == (
        "a .parquet file needs pyarrow, which is not here: pip install 'jointwise[parquet]'.\n"
    )


# In a shell


def jointwise_process(*words, **options):
    command = [sys.executable, "-m", "jointwise", *words]
    options = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | options
    process = subprocess.Popen(command, text=True, **options)
    rescue = Timer(300, process.kill)  # so that what waits for ever fails
    rescue.daemon = True
    rescue.start()
    return process


def test_help_needs_nothing_heavy():
    heavy = {"numpy", "numba", "scipy", "matplotlib", "rich"}
    code = (
        "import sys\nfrom jointwise.cli import main\ntry: main(['--help'])\n"
        f"except SystemExit as end: print('left', end.code, {heavy} & set(sys.modules))"
    )
    printed = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert "left 0 set()" in printed
    for command in ("robots", "info", "fk", "solve", "batch", "path", "view", "demo"):
        assert f"\n  {command} " in printed


def test_every_key_is_documented():
    page = (Path(__file__).parent.parent / "docs" / "command.md").read_text()
    for key in ANSWER_KEYS:
        assert f'"{key}": ' in page
    for key in ("description", "reach", "joint_types", "limits", "home", "convention", "rows"):
        assert f"`{key}`" in page
    for column in COLUMNS[PANDA.n :]:
        assert f"`{column}`" in page


def test_help_and_version(run):
    for command in ("robots", "info", "fk", "solve", "batch", "path", "view", "demo"):
        code, printed, _ = run(command, "--help")
        assert (code, "Usage: jointwise" in printed) == (0, True)
    assert run("--version") == (0, f"{jointwise.__version__}\n", "")
    assert "Usage: jointwise" in "".join(run()[1:])


def test_an_answer_goes_through_a_pipe():
    code = "import json, sys; print(json.load(sys.stdin)['converged'])"
    solve = jointwise_process("solve", "panda", *TO, "--json")
    reader = subprocess.run([sys.executable, "-c", code], stdin=solve.stdout, capture_output=True)
    assert (reader.stdout, solve.wait(), solve.communicate()[1]) == (b"True\n", 0, "")


def test_a_closed_pipe_is_no_traceback(monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    with jointwise_process("robots", "--json") as robots_process:
        robots_process.stdout.close()
        assert robots_process.stderr.read() == ""
    assert robots_process.returncode == 141


def test_a_stream_answers_as_it_goes_and_stops_at_ctrl_c(monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    with jointwise_process("batch", "panda", "-") as process:
        process.stdin.write("x,y,z\n0.4,0.2,0.5\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith("panda_joint1,")
        assert ",true,CONVERGED," in process.stdout.readline()  # while the stream is open
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == ""
    assert process.returncode == 130


def completed(*words, shell="complete_bash"):
    environment = {
        **os.environ,
        "_JOINTWISE_COMPLETE": shell,
        "COMP_WORDS": " ".join(["jointwise", *words]),
        "COMP_CWORD": str(len(words)),
    }
    return jointwise_process(env=environment).communicate()[0]


def test_a_shell_completes_commands_robots_and_choices():
    assert "complete -o default -F _jointwise_completion jointwise" in completed(
        shell="source_bash"
    )
    assert "#compdef jointwise" in completed(shell="source_zsh")
    assert completed("so").split() == ["solve"]
    assert completed("solve", "pa").split() == ["panda"]
    assert completed("info", "ur").split() == ["ur10e", "ur3e", "ur5", "ur5e"]
    assert completed("batch", "panda", "-", "--device", "c").split() == ["cpu", "cuda"]
