"""A command that is killed: no file of it stays, or the next one removes it."""

import os
import signal

import pytest

from tests.support.cli import jointwise_process, read_rows
from tests.support.reach import wait_until

HEADER = "x,y,z\n"
ROW = "0.4,0.2,0.5\n"
HOUR_S = 3600.0
SIGNALS = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]


def hidden(folder):
    return sorted(file.name for file in folder.iterdir() if file.name.startswith("."))


@pytest.mark.parametrize(
    ("number", "suffix"),
    [(each, "csv") for each in SIGNALS]
    + [(signal.SIGTERM, suffix) for suffix in ("jsonl", "parquet", "npz")],
)
def test_a_terminated_batch_leaves_nothing_and_keeps_the_old_file(tmp_path, number, suffix):
    output = tmp_path / f"joints.{suffix}"
    output.write_text("old")
    with jointwise_process("batch", "panda", "-", "-o", output) as process:
        process.stdin.write(HEADER + ROW)
        process.stdin.flush()
        wait_until(lambda: hidden(tmp_path))
        process.send_signal(number)
    assert process.returncode not in (0, -number)  # it has ended in its own way
    assert hidden(tmp_path) == []
    assert output.read_text() == "old"


def test_a_command_goes_on_where_hangups_are_ignored(tmp_path):
    """As with nohup."""
    output = tmp_path / "joints.csv"
    ignore = {"preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)}
    with jointwise_process("batch", "panda", "-", "-o", output, **ignore) as process:
        process.stdin.write(HEADER + ROW)
        process.stdin.flush()
        wait_until(lambda: hidden(tmp_path))
        process.send_signal(signal.SIGHUP)
        process.communicate(ROW)
    assert process.returncode == 0
    assert len(read_rows(output.read_text())) == 2


def test_the_next_command_removes_the_files_of_a_killed_one(tmp_path):
    output = tmp_path / "joints.csv"
    for _ in range(2):
        with jointwise_process("batch", "panda", "-", "-o", output) as process:
            process.stdin.write(HEADER + ROW)
            process.stdin.flush()
            wait_until(lambda: hidden(tmp_path))
            process.kill()
    (left,) = {*hidden(tmp_path)} - {".notes.csv"}
    for name in (left, ".notes.csv", ".joints.old.csv"):
        (tmp_path / name).touch()
        past = (tmp_path / name).stat().st_mtime - HOUR_S
        os.utime(tmp_path / name, (past, past))
    with jointwise_process("batch", "panda", "-", "-o", output) as process:
        process.communicate(HEADER + ROW)
    assert len(read_rows(output.read_text())) == 1
    assert hidden(tmp_path) == [".joints.old.csv", ".notes.csv"]


def test_a_command_keeps_the_file_of_another_that_still_runs(tmp_path):
    output = tmp_path / "joints.csv"
    with jointwise_process("batch", "panda", "-", "-o", output) as slow:
        slow.stdin.write(HEADER + ROW)
        slow.stdin.flush()
        wait_until(lambda: hidden(tmp_path))
        file = tmp_path / hidden(tmp_path)[0]
        os.utime(file, (0.0, 0.0))
        with jointwise_process("batch", "panda", "-", "-o", output) as fast:
            fast.communicate(HEADER + ROW)
        assert file.exists()
        slow.communicate(ROW)
    assert slow.returncode == 0
    assert len(read_rows(output.read_text())) == 2


@pytest.mark.parametrize("number", SIGNALS)
def test_a_terminated_map_leaves_no_part_files(tmp_path, number):
    folder = tmp_path / "map.zarr"
    command = ("reach", "ur5e", "--resolution", 0.1, "--chunk", 2, "--threads", 1, "-o", folder)
    with jointwise_process(*command) as process:
        wait_until(lambda: len(list(folder.glob("q/c/*/*/*/*"))) > 3)
        process.send_signal(number)
    assert process.returncode not in (0, -number)
    assert [file.name for file in tmp_path.iterdir()] == ["map.zarr"]
    assert list(folder.rglob("*.partial*")) == []
