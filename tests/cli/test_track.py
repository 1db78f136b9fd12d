"""``jointwise track``: a target that moves, from a file or a stream."""

import numpy as np
from numpy.testing import assert_array_equal

from jointwise import TrackStatus
from tests.support.cli import (
    PANDA,
    jointwise_process,
    read_rows,
    read_values,
    straight_line,
    write_csv,
    xyz,
)

START = [0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8]
AT_START = ("--start", *START)
LIMITS = {"max_velocity": 1.0, "max_acceleration": 10.0}
FOLLOWED = "40 of 40 steps followed (100.000%)\n"


def line():
    """(40, 3) positions that move away slowly from where the arm starts."""
    return PANDA.fk(START)[:3, 3] + np.linspace([0, 0, 0], [0, 2e-5, 0], 40)


def test_a_file_gives_the_joint_values_of_a_run(run):
    targets = write_csv("targets.csv", xyz(line()))
    code, printed, error = run("track", "panda", targets, "--rate", 500, *AT_START)
    assert (code, error) == (0, FOLLOWED)
    expected = PANDA.track(START, 0.002, **LIMITS).run(line())
    assert_array_equal(read_values(printed), expected.q)
    assert list(read_rows(printed)[0]) == [
        *PANDA.joint_names,
        *("status", "position_error", "orientation_error"),
    ]
    assert {row["status"] for row in read_rows(printed)} == {"FOLLOWING"}


def test_all_limits_can_be_given(run):
    targets = write_csv("targets.csv", xyz(straight_line()))
    limits = {"max_velocity": 0.5, "max_acceleration": 3.0, "max_jerk": 90.0}
    options = [
        word for name, value in limits.items() for word in (f"--{name.replace('_', '-')}", value)
    ]
    code, _, error = run("track", "panda", targets, "-o", "joints.npz", *AT_START, *options)
    assert (code, error.splitlines()[0]) == (0, "0 of 20 steps followed (0.000%)")
    expected = PANDA.track(START, 0.001, **limits).run(straight_line())
    with np.load("joints.npz") as written:
        assert_array_equal(written["q"], expected.q)
        assert_array_equal(written["velocities"], expected.velocities)
        assert_array_equal(written["status"], expected.status)


def test_without_a_start_it_begins_at_a_solution_of_the_first_target(run):
    targets = write_csv("targets.csv", xyz(straight_line(3)))
    _, printed, _ = run("track", "panda", targets)
    first = PANDA.solve_batch(straight_line(3)[:1]).q[0]
    expected = PANDA.track(first, 0.001, **LIMITS).run(straight_line(3))
    assert_array_equal(read_values(printed), expected.q)


def test_the_start_of_the_first_row_is_used(run):
    starts = dict(zip(PANDA.joint_names, np.tile(START, (40, 1)).T, strict=True))
    targets = write_csv("targets.csv", {**xyz(line()), **starts})
    assert run("track", "panda", targets)[::2] == (0, FOLLOWED)


def test_angles_are_in_degrees_where_asked(run):
    targets = write_csv("targets.csv", xyz(line()))
    _, printed, _ = run("track", "panda", targets, *("--start", *np.degrees(START)), "--deg")
    expected = PANDA.track(np.radians(np.degrees(START)), 0.001, **LIMITS).run(line())
    assert_array_equal(read_values(printed), np.degrees(expected.q))


def test_a_target_that_is_not_followed_is_reported(run):
    text = b"x,y,z,id\n0.4,0.2,nan,a\n9,0,0,b\n"
    code, printed, error = run("track", "panda", "-", *AT_START, "--with-targets", stdin=text)
    assert code == 1
    assert [row["status"] for row in read_rows(printed)] == ["INVALID", "APPROACHING"]
    assert [row["id"] for row in read_rows(printed)] == ["a", "b"]
    assert error.endswith(f"1 INVALID: {TrackStatus.INVALID.value}\n")


def test_wrong_limits_are_refused(run):
    targets = write_csv("targets.csv", xyz(line()))
    assert run("track", "panda", targets, "--rate", 0) == (
        2,
        "",
        "--rate is 0.0: expected a number above zero.\n",
    )
    code, _, error = run("track", "panda", targets, "--max-velocity", -1)
    assert (code, error) == (
        2,
        "max_velocity is -1.0: expected above zero.\n",
    )


def test_a_stream_is_followed_as_it_arrives():
    with jointwise_process("track", "panda", "-", *AT_START) as process:
        tracker = PANDA.track(START, 0.001, **LIMITS)
        process.stdin.write("x,y,z\n")
        header = ""
        for target in line()[:3]:
            process.stdin.write(",".join(map(repr, target.tolist())) + "\n")
            process.stdin.flush()
            header = header or process.stdout.readline()
            row = read_values(header + process.stdout.readline())
            assert_array_equal(row[0], tracker.step(target).q)
        process.stdin.close()
        assert process.stderr.read() == "3 of 3 steps followed (100.000%)\n"
        process.wait()
    assert process.returncode == 0
