"""``solve``: what it prints, as text and as JSON."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from jointwise import SolveConfig, Status, aim, robots
from jointwise.cli.app import repeat_options
from jointwise.model.rotation import rpy_matrix
from tests.support.cli import PANDA, POSITION, RESULT_KEYS, TO

# A pose that the Panda does not reach, though it is near.
HARD = [[0.05, 0.05, 0.2], [2.0, 0.5, 1.0]]
HARD_OPTIONS = ["--to", *HARD[0], "--rpy", *HARD[1]]


def test_solve_prints_a_table_and_the_errors(run):
    code, printed, error = run("solve", "panda", *TO)
    assert (code, error) == (0, "")
    header, *rows, status, errors = printed.splitlines()
    assert header.split() == ["joint", "lower", "value", "upper"]
    result = PANDA.solve(POSITION)
    assert [row.split()[0] for row in rows] == list(PANDA.joint_names)
    assert_allclose([float(row.split()[3]) for row in rows], result.q, atol=1e-6)
    assert status == Status.CONVERGED.value
    assert errors == (
        f"Position error {result.position_error:.1e} m; {result.iterations} iterations, 0 restarts."
    )
    assert "\x1b" not in printed  # no colours in a pipe


def test_solve_as_json(run_json):
    (record,) = run_json("solve", "panda", *TO)
    assert list(record) == RESULT_KEYS
    result = PANDA.solve(POSITION)
    assert record == {
        "robot": "panda",
        "target": {"position": POSITION, "quaternion": None, "direction": None},
        "converged": True,
        "status": "CONVERGED",
        "message": Status.CONVERGED.value,
        "joint_names": list(PANDA.joint_names),
        "q": result.q.tolist(),
        "branch": PANDA.branch(result.q),
        "position_error": result.position_error,
        "orientation_error": None,
        "iterations": result.iterations,
        "restarts": 0,
    }


def test_a_pose_by_rpy_and_by_quaternion_is_the_same(run_json):
    (by_rpy,) = run_json("solve", "panda", *TO, "--rpy", "180", "0", "-90", "--deg")
    half = np.sqrt(0.5)
    (by_quaternion,) = run_json("solve", "panda", *TO, "--quat", half, -half, 0, 0)
    assert list(by_rpy["target"]) == ["position", "quaternion", "direction"]
    assert_allclose(np.abs(by_rpy["target"]["quaternion"]), [half, half, 0, 0], atol=1e-15)
    assert by_rpy["target"]["direction"] is None
    assert_allclose(by_rpy["q"], by_quaternion["q"], atol=1e-6)
    T_base_tip = PANDA.fk(by_rpy["q"])
    assert_allclose(T_base_tip[:3, :3], [[0, -1, 0], [-1, 0, 0], [0, 0, -1]], atol=2e-6)
    assert_allclose(T_base_tip[:3, 3], POSITION, atol=1e-6)


def test_a_quaternion_of_any_length_is_accepted(run_json):
    (unit,) = run_json("solve", "panda", *TO, "--quat", "1", "0", "0", "0")
    for length in ("1e200", "1e-9"):
        (scaled,) = run_json("solve", "panda", *TO, "--quat", length, "0", "0", "0")
        assert scaled == unit


def test_aim_prescribes_the_direction_of_the_z_axis(run_json):
    (record,) = run_json("solve", "panda", *TO, "--aim", "0", "0", "-2")
    expected = PANDA.solve(aim(POSITION, [0, 0, -1]))
    assert record["target"] == {"position": POSITION, "quaternion": None, "direction": [0, 0, -1]}
    assert record["q"] == expected.q.tolist()


def test_degrees_are_printed_but_json_is_in_radians(run, run_json):
    start = np.degrees(PANDA.mid_range + 0.1)
    arguments = ["solve", "panda", "--to", "-0.4", "0.2", "0.5", "--start", *start, "--deg"]
    (record,) = run_json(*arguments)
    result = PANDA.solve([-0.4, 0.2, 0.5], np.radians(start))
    assert record["q"] == result.q.tolist()
    _, printed, _ = run(*arguments)
    values = [float(line.split()[2].rstrip("°")) for line in printed.splitlines()[1:8]]
    assert_allclose(values, np.degrees(result.q), atol=1e-6)


def test_an_unsolved_target_exits_1_with_the_reason_on_standard_error(run, run_json):
    code, printed, error = run("solve", "panda", "--to", "5", "0", "0")
    assert code == 1
    assert error == f"Missed by 4.15 m. {Status.UNREACHABLE.value}\n"
    assert "Position error 4.2e+00 m" in printed
    (record,) = run_json("solve", "panda", "--to", "5", "0", "0", code=1)
    assert (record["converged"], record["status"]) == (False, "UNREACHABLE")
    assert record["message"] == f"Missed by 4.15 m. {Status.UNREACHABLE.value}"


def test_tolerance_restarts_and_seed_reach_the_solver(run_json):
    (record,) = run_json("solve", "panda", *TO, "--tolerance", "0.1")
    loose = PANDA.solve(POSITION, config=SolveConfig(0.1, 0.1))
    assert record["q"] == loose.q.tolist()
    assert 1e-3 < record["position_error"] < 0.1
    pose = np.eye(4)
    pose[:3, 3], pose[:3, :3] = HARD[0], rpy_matrix(HARD[1])
    for restarts, seed in (0, 0), (3, 0), (3, 1):
        options = ["--restarts", restarts, "--seed", seed]
        (record,) = run_json("solve", "panda", *HARD_OPTIONS, *options, code=1)
        expected = PANDA.solve(pose, config=SolveConfig(max_restarts=restarts, seed=seed))
        assert record["q"] == expected.q.tolist()
        assert record["restarts"] == expected.restarts


def test_all_finds_several_solutions(run, run_json):
    arguments = ["solve", "ur5e", *TO, "--rpy", "3", "0", "0", "--all"]
    records = run_json(*arguments)
    assert {tuple(record) for record in records} == {tuple(RESULT_KEYS)}
    solutions = np.array([record["q"] for record in records])
    assert len(np.unique(solutions.round(3), axis=0)) == 8
    poses = robots.ur5e().fk(solutions)
    assert_allclose(poses, np.broadcast_to(poses[0], poses.shape), atol=5e-6)
    code, printed, _ = run(*arguments)
    assert code == 0
    names = [f"solution {i}" for i in range(1, 9)]
    header = re.split(" {2,}", printed.splitlines()[0])
    assert header == ["joint", "lower", *names, "upper"]
    branches = [record["branch"] for record in records]
    assert [f"Solution {i + 1}: {name}." for i, name in enumerate(branches)] == [
        line for line in printed.splitlines() if line.startswith("Solution ")
    ]
    assert len(set(branches)) == 8


def test_all_without_a_solution_reports_the_closest_approach(run, run_json):
    arguments = ["solve", "panda", "--to", "5", "0", "0", "--all"]
    code, _, error = run(*arguments)
    assert (code, error) == (1, f"Missed by 4.15 m. {Status.UNREACHABLE.value}\n")
    (record,) = run_json(*arguments, code=1)
    assert record["q"] == PANDA.solve([5, 0, 0]).q.tolist()


def test_trace_prints_every_move(run, run_json):
    _, printed, _ = run("solve", "panda", *TO, "--trace")
    trace = PANDA.trace(POSITION)
    rows = [line.split() for line in printed.splitlines()[1:] if line[:1].isdigit()]
    moves, lm_steps = rows[: trace.sweeps * PANDA.n], rows[trace.sweeps * PANDA.n :]
    assert [row[1] for row in moves] == list(PANDA.joint_names[::-1]) * trace.sweeps
    sweep_ends = moves[PANDA.n - 1 :: PANDA.n]
    assert (
        [row[-1] for row in sweep_ends]
        == [  # no column of a free orientation
            f"{error:.1e}" for error in trace.position_error[1 : trace.sweeps + 1]
        ]
    )
    assert [row[1:] for row in lm_steps] == [
        ["all", "(Levenberg-Marquardt", "step)", f"{error:.1e}"]
        for error in trace.position_error[trace.sweeps + 1 :]
    ]
    assert "did not converge" not in printed
    (record,) = run_json("solve", "panda", *TO, "--trace")
    assert list(record) == [*RESULT_KEYS, "trace"]
    keys = ["q", "position_error", "orientation_error", "sweeps", "converged"]
    assert list(record["trace"]) == keys
    assert record["trace"]["q"] == trace.q.tolist()


def test_a_trace_that_did_not_converge_is_marked(run):
    code, printed, _ = run("solve", "panda", *HARD_OPTIONS, "--trace")
    assert code == 1
    assert "The first attempt, traced above, did not converge.\n" in printed


def test_a_trace_of_no_iterations(run, run_json):
    position = [f"{value:.17g}" for value in PANDA.fk(PANDA.home)[:3, 3]]
    arguments = ["solve", "panda", "--to", *position, "--trace"]
    assert run_json(*arguments)[0]["trace"]["q"] == [PANDA.home.tolist()]
    assert run(*arguments)[1].startswith("iteration  joint")


values = st.lists(st.floats().map(str), min_size=1)


@given(values, st.lists(st.sampled_from(["--deg", "panda", "-o", "--to"])), values)
def test_only_joint_value_options_take_several_values(first, words, last):
    repeated = [word for value in first for word in ("--q", value)]
    assert repeat_options(["--q", *first, *words]) == repeated + words
    assert repeat_options(["fk", *words, "--to", *last]) == ["fk", *words, "--to", *last]


def test_with_deg_the_message_of_a_miss_is_in_degrees(run):
    degrees = np.degrees(HARD[1]).tolist()
    _, _, in_radians = run("solve", "panda", *HARD_OPTIONS)
    code, _, in_degrees = run("solve", "panda", "--to", *HARD[0], "--rpy", *degrees, "--deg")
    assert code == 1
    radians = float(re.search(r"and ([\d.e-]+) rad", in_radians)[1])
    assert float(re.search(r"and ([\d.e-]+)°\.", in_degrees)[1]) == pytest.approx(
        np.degrees(radians), rel=1e-2
    )
    assert " rad" not in in_degrees


def test_all_says_whether_that_is_all(run):
    pose = ("--to", "0.3", "0.2", "0.4", "--rpy", "3", "0", "0")
    _, printed, _ = run("solve", "ur5e", *pose, "--all")
    assert printed.splitlines()[-1] == (
        "These are all solutions within the limits; solutions that differ by full turns count once."
    )
    _, printed, _ = run("solve", "panda", *pose, "--all")
    assert printed.splitlines()[-1] == "There may be others."
