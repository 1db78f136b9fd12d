"""Helpers for tests of the command line: tables of targets and results, and processes."""

import csv
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import numpy as np

from jointwise import robots

ROOT = Path(__file__).parent.parent.parent
PANDA = robots.panda()
# A target that the Panda reaches.
POSITION = [0.4, 0.2, 0.5]
TO = ["--to", *map(str, POSITION)]
# Keys of a result in JSON.
RESULT_KEYS = [
    *("robot", "target", "converged", "status", "message", "joint_names", "q", "branch"),
    *("position_error", "orientation_error", "iterations", "restarts"),
]
# Columns of a table of results, after those of the joints.
RESULT_COLUMNS = [
    *("converged", "status", "position_error", "orientation_error", "iterations", "restarts")
]
PANDA_COLUMNS = [*PANDA.joint_names, *RESULT_COLUMNS]
# A process that runs longer is killed [s].
TIMEOUT_S = 300


def random_poses(count):
    """(count, 4, 4) poses that the Panda reaches."""
    return PANDA.fk(PANDA.random(seed=1, count=count))


def straight_line(count=20):
    """(count, 3) positions on a line that the Panda follows without jumps."""
    return np.linspace([0.4, -0.2, 0.4], [0.4, 0.2, 0.5], count)


def xyz(positions):
    """The columns x, y, z of (m, 3) positions."""
    return dict(zip("xyz", np.asarray(positions).T, strict=True))


def write_csv(path, columns):
    """Write a CSV file of columns by name, and return its path."""
    rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    text = "\n".join([",".join(columns), *(",".join(map(repr, row)) for row in rows), ""])
    Path(path).write_text(text)
    return path


def read_rows(text):
    """The rows of a CSV text, as dictionaries."""
    return list(csv.DictReader(text.splitlines()))


def read_values(text, columns=PANDA.joint_names):
    """(m, k) the values of some columns of a CSV text."""
    return np.array([[float(row[name]) for name in columns] for row in read_rows(text)])


@contextmanager
def jointwise_process(*arguments, **options):
    """Run ``jointwise`` in a process, which has ended when the block ends.

    If the block raises, or after ``TIMEOUT_S``, it is killed.
    """
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command = [sys.executable, "-m", "jointwise", *map(str, arguments)]
    process = subprocess.Popen(command, text=True, **(pipes | options))
    timer = Timer(TIMEOUT_S, process.kill)
    timer.start()
    try:
        with process:
            try:
                yield process
            except BaseException:
                process.kill()
                raise
    finally:
        timer.cancel()


def run_shell(command, **options):
    """Run a shell command: (exit code, standard output, standard error)."""
    finished = subprocess.run(
        command,
        shell=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        **options,
    )
    return finished.returncode, finished.stdout, finished.stderr
