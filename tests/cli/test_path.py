"""``path``: targets in order."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from jointwise import Status, aim
from jointwise.solvers.targets import KINDS
from jointwise.view.session import Session
from tests.support.cli import PANDA, PANDA_COLUMNS, read_values, straight_line, write_csv, xyz


def test_path_from_csv_to_csv(run, tmp_path):
    source = write_csv("in.csv", xyz(straight_line()))
    code, printed, summary = run("path", "panda", source, "-o", "joints.csv")
    expected = PANDA.solve_path(straight_line())
    assert (code, printed, summary) == (0, "", f"{expected}\n")
    text = (tmp_path / "joints.csv").read_text()
    assert text.splitlines()[0].split(",") == PANDA_COLUMNS
    assert_array_equal(read_values(text), expected.joint_angles)


def test_path_of_aims_from_a_start(run):
    down = {"dx": np.zeros(20), "dy": np.zeros(20), "dz": np.full(20, -1.0)}
    source = write_csv("in.csv", xyz(straight_line()) | down)
    code, printed, _ = run("path", "panda", source, "--start", *np.degrees(PANDA.home), "--deg")
    targets = [aim(position, [0, 0, -1]) for position in straight_line()]
    expected = PANDA.solve_path(targets, PANDA.home)
    assert code == 0
    assert_allclose(read_values(printed), np.degrees(expected.joint_angles), atol=1e-6)


def test_the_first_start_of_the_file_is_used_unless_one_is_given(run):
    first, second = PANDA.random(seed=3, count=2)
    line = straight_line(2)
    np.savez("in.npz", targets=line, starts=[first, second])
    for options, start in ([], first), (["--start", *second], second):
        code, printed, _ = run("path", "panda", "in.npz", *options)
        assert code == 0
        assert_array_equal(read_values(printed), PANDA.solve_path(line, start).joint_angles)


def test_starts_of_the_wrong_shape_are_refused(run):
    np.savez("in.npz", targets=straight_line(2), starts=np.zeros((2, 6)))
    code, printed, error = run("path", "panda", "in.npz")
    assert (code, printed) == (2, "")
    assert error == (
        "starts has shape (2, 6) for an arm of 7 joints: expected one value per joint, "
        "shape (7,).\n"
    )


def test_jumps_and_missed_targets_are_listed(run):
    far_apart = b"x,y,z\n.4,.2,.5\n-.4,-.2,.5\n"
    code, _, summary = run("path", "panda", "-", "--max-step", "0.01", stdin=far_apart)
    assert code == 1
    assert "jumps to 1" in summary
    code, _, summary = run("path", "panda", "-", stdin=b"x,y,z\n.4,.2,.5\n5,0,0\n")
    assert code == 1
    assert f"First missed is target 1: {Status.UNREACHABLE.value}" in summary


def test_a_step_that_cannot_be_kept_exits_1_and_names_the_target(run):
    line = np.concatenate([straight_line()[:4], straight_line()[-2:]])
    source, expected = write_csv("in.csv", xyz(line)), PANDA.solve_path(line, max_step=0.1)
    assert expected.converged
    assert np.flatnonzero(expected.steps > 0.1).tolist() == [3]
    code, _, summary = run("path", "panda", source, "--max-step", "0.1")
    assert code == 1
    assert summary.splitlines()[-1] == (
        f"--max-step 0.1 is not kept: the step to target 4 is {expected.steps[3]:.3g} "
        "(the first target is 0); 1 of 5 steps are above it."
    )
    code, _, summary = run("path", "panda", source, "--max-step", expected.largest_step)
    assert (code, "--max-step" in summary) == (0, False)


@pytest.mark.parametrize("kind", KINDS)
def test_a_path_recorded_on_the_page_is_followed(run, tmp_path, kind):
    session = Session(PANDA)
    session.set_target_kind(kind)
    session.record_target()
    session.record_target()
    (tmp_path / "recorded.csv").write_text(session.to_csv())
    code, printed, _ = run("path", "panda", "recorded.csv")
    assert code == 0
    assert_allclose(read_values(printed), [session.q, session.q], atol=1e-4)
