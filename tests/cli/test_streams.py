"""Pipes, terminals and signals."""

import json
import os
import re
import signal
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.support.cli import (
    PANDA,
    POSITION,
    ROOT,
    TO,
    jointwise_process,
    read_rows,
    read_values,
    run_shell,
    write_csv,
    xyz,
)

JOINTWISE = f"exec {sys.executable} -m jointwise"


@pytest.fixture(autouse=True)
def buffered(monkeypatch):
    """Python buffers the output of the processes, as by default."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)


def test_json_goes_through_a_pipe():
    with jointwise_process("solve", "panda", *TO, "--json") as process:
        printed, error = process.communicate()
    assert (process.returncode, error) == (0, "")
    assert json.loads(printed)["q"] == PANDA.solve(POSITION).q.tolist()


def test_a_closed_pipe_exits_141_without_a_traceback():
    with jointwise_process("robots", "--json") as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


def test_a_stream_is_solved_as_it_arrives_and_sigint_exits_130():
    with jointwise_process("batch", "panda", "-") as process:
        process.stdin.write("x,y,z\n0.4,0.2,0.5\n")
        process.stdin.flush()
        header, row = process.stdout.readline(), process.stdout.readline()
        assert_array_equal(read_values(header + row), [PANDA.solve(POSITION).q])
        process.send_signal(signal.SIGINT)  # while standard input is open
        assert process.stderr.read() == ""
        process.wait()
    assert process.returncode == 130


def test_json_lines_are_solved_as_they_arrive():
    with jointwise_process("batch", "panda", "-") as process:
        for name in ("a", "b"):
            record = {"id": name, **dict(zip("xyz", POSITION, strict=True))}
            process.stdin.write(json.dumps(record) + "\n")
            process.stdin.flush()
            result = json.loads(process.stdout.readline())
            assert (result["id"], result["status"]) == (name, "CONVERGED")
        process.stdin.close()
        assert process.stderr.read().endswith("2 of 2 solved (100.000%)\n")
        process.wait()
    assert process.returncode == 0


SOLVED = "1 of 1 solved (100.000%)\n"
EMPTY = "the input is empty: expected CSV with a header, such as x,y,z, or JSON lines.\n"
FULL = "the output cannot be written: No space left on device.\n"


@pytest.mark.parametrize(
    ("redirection", "code", "rows", "error"),
    [
        (">/dev/full", 2, 0, FULL),
        (">&-", 0, 0, SOLVED),
        ("2>&-", 0, 1, ""),
        ("<&-", 2, 0, EMPTY),
    ],
)
def test_closed_and_full_streams(redirection, code, rows, error, tmp_path):
    write_csv(tmp_path / "targets.csv", xyz([POSITION]))
    source = "-" if redirection == "<&-" else "targets.csv"
    command = f"{JOINTWISE} batch panda {source} {redirection}"
    exit_code, printed, message = run_shell(command, cwd=tmp_path)
    assert (exit_code, message) == (code, error)
    assert len(read_rows(printed)) == rows


def test_tables_are_not_truncated_on_a_narrow_terminal():
    solve = f"{sys.executable} -m jointwise solve ur5e --to 0.4 0.2 0.5 --rpy 3 0 0 --all"
    command = f'exec script -qec "stty cols 80; {solve}" /dev/null'
    code, printed, _ = run_shell(command, cwd=ROOT, env={**os.environ, "TERM": "dumb"})
    assert code == 0
    assert "shoulder_pan_joint" in printed
    assert "…" not in printed
    # Eight solutions and the limits of six joints.
    assert len(re.findall(r"-?\d\.\d{6} rad", printed)) == 6 * (8 + 2)
    values = np.array(re.findall(r"wrist_3_joint +(.*)", printed)[0].split()[::2], float)
    assert len(values) == 10
