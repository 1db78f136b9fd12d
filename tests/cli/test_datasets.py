"""``jointwise batch`` to a folder and in pieces, and ``jointwise retarget``."""

import numpy as np
import pytest
from pyarrow import parquet

from jointwise import IKBatch, robots
from jointwise.cli.commands import batch as command

PANDA = robots.panda()
TARGETS = PANDA.fk(PANDA.random(seed=1, count=40))


def test_a_folder_of_results_is_resumed(run):
    np.savez("arrays.npz", targets=TARGETS)
    first = run("batch", "panda", "arrays.npz", "-o", "out/")
    assert first == (0, "", "40 of 40 solved (100.000%)\n")
    assert run("batch", "panda", "arrays.npz", "-o", "out/") == first
    q = np.stack([parquet.read_table("out")[name].to_numpy() for name in PANDA.joint_names], 1)
    assert q.tobytes() == PANDA.solve_batch(TARGETS).q.tobytes()


def test_a_folder_with_other_settings_is_refused(run):
    np.savez("arrays.npz", targets=TARGETS)
    run("batch", "panda", "arrays.npz", "-o", "out/")
    code, _, error = run("batch", "panda", "arrays.npz", "-o", "out/", "--seed", 3)
    assert code == 2
    assert error == (
        "'out/' holds another dataset: settings.config.seed is 0, not 3. Expected the same arm "
        "and settings to resume it; otherwise use another store, or remove this one.\n"
    ).replace("out/", "out")


@pytest.mark.parametrize("output", ["out.npz", "out.parquet", "out.csv"])
def test_a_file_is_the_same_in_pieces(run, tmp_path, monkeypatch, output):
    np.savez("arrays.npz", targets=TARGETS)
    run("batch", "panda", "arrays.npz", "-o", f"whole{output}")
    monkeypatch.setattr(command, "ROWS_AT_ONCE", 7)
    run("batch", "panda", "arrays.npz", "-o", output)
    if output == "out.npz":
        batches = IKBatch.load("out.npz"), IKBatch.load("wholeout.npz")
        assert batches[0].q.tobytes() == batches[1].q.tobytes()
    elif output == "out.parquet":
        tables = [parquet.read_table(tmp_path / name) for name in (output, f"whole{output}")]
        assert tables[0].equals(tables[1])
    else:
        assert (tmp_path / output).read_text() == (tmp_path / f"whole{output}").read_text()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["-o", "out/", "--json"], "out/ is a folder, which cannot be resumed with --json: exp"),
        (["-o", "out.csv", "--cluster", "x"], "--cluster is given with -o out.csv: expected a fo"),
    ],
)
def test_options_that_exclude_each_other_are_refused(run, options, text):
    np.savez("arrays.npz", targets=TARGETS)
    code, _, error = run("batch", "panda", "arrays.npz", *options)
    assert code == 2
    assert error.startswith(text)


def test_clips_are_followed_and_resumed(run, tmp_path):
    (tmp_path / "clips").mkdir()
    points = np.linspace([0.3, 0.2, 0.5], [0.3, 0.3, 0.5], 20)[:, None]
    np.savez("clips/one.npz", links=["Hand"], positions=points, rate=30.0)
    command = ("retarget", "ur5e", "clips", "-o", "out", "--follow", "tip=Hand")
    expected = (0, "", "1 clip\n20 of 20 frames solved (100.000%)\n")
    assert run(*command) == expected
    assert run(*command) == expected
    assert IKBatch.load("out/one.npz").converged.all()
    code, _, error = run("retarget", "ur5e", "clips", "-o", "out", "--follow", "tip")
    assert code == 2
    assert error == (
        "--follow is 'tip': expected a link of the robot and one of the clips, such as "
        "left_hand=LeftHand.\n"
    )
