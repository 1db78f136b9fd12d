"""``--plot``: which pictures are drawn."""

import pytest
from numpy.testing import assert_array_equal

from tests.support.cli import PANDA, POSITION, TO, straight_line, write_csv, xyz


def is_png(path):
    return path.read_bytes().startswith(b"\x89PNG")


def test_solve_draws_the_motion_to_the_solution(run, plot_calls, tmp_path):
    assert run("solve", "panda", *TO, "--plot", "arm.png")[0] == 0
    ((_, (before, after), target),) = plot_calls["motion"]
    assert_array_equal(before, PANDA.home)
    assert_array_equal(after, PANDA.solve(POSITION).q)
    assert_array_equal(target, POSITION)
    assert is_png(tmp_path / "arm.png")


def test_solve_all_draws_every_solution(run, run_json, plot_calls, tmp_path):
    arguments = ["solve", "ur5e", *TO, "--rpy", "3", "0", "0", "--all"]
    records = run_json(*arguments, "--plot", "all.png")
    assert len(records) == 8
    ((_, drawn, target),) = plot_calls["solutions"]
    assert_array_equal(target[:3, 3], POSITION)
    assert_array_equal(drawn, [record["q"] for record in records])
    assert is_png(tmp_path / "all.png")


def test_path_draws_the_joint_values(run, plot_calls, tmp_path):
    source = write_csv("in.csv", xyz(straight_line(3)))
    assert run("path", "panda", source, "--plot", "path.png")[0] == 0
    ((_, path),) = plot_calls["path"]
    assert_array_equal(path.q, PANDA.solve_path(straight_line(3)).q)
    assert is_png(tmp_path / "path.png")


@pytest.mark.parametrize(("options", "unit"), [([], "[rad]"), (["--deg"], "[°]")])
def test_the_picture_of_a_path_has_the_unit_of_the_results(run, options, unit, monkeypatch):
    drawn = []
    monkeypatch.setattr("jointwise.cli.pictures._save", lambda axes, file: drawn.append(axes))
    source = write_csv("in.csv", xyz(straight_line(3)))
    assert run("path", "panda", source, "--plot", "path.png", *options)[0] == 0
    assert [ax.get_ylabel() for ax in drawn] == [unit]


@pytest.mark.parametrize(
    "command", [("solve", "panda", *TO), ("path", "panda", "-"), ("reach", "ur3e")], ids=" ".join
)
def test_a_picture_that_cannot_be_written_is_refused_before_solving(run, command, tmp_path):
    code, printed, error = run(*command, "--plot", "no/arm.png")
    folder = tmp_path / "no"
    expected = f"no/arm.png cannot be written: the folder {folder} does not exist.\n"
    assert (code, printed, error) == (2, "", expected)
    code, printed, error = run(*command, "--plot", "arm.txt")
    expected = "arm.txt is not a picture: expected a file name that ends in .png, .pdf or .svg.\n"
    assert (code, printed, error) == (2, "", expected)
    assert not list(tmp_path.iterdir())
