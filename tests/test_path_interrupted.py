"""Ctrl-C ends a long path soon; the progress goes to standard error."""

import numpy as np

from jointwise import PathOptions, aim
from testbed.tool_paths import with_torch
from tests.support.interrupt import assert_ctrl_c_ends

# A path that takes many seconds.
LONG = """
import signal
from threading import Thread
from time import process_time, sleep
import numpy as np
from jointwise import PathOptions, aim
from testbed.tool_paths import with_torch

def announce(begin):
    while process_time() < begin + 0.5:
        sleep(0.01)
    print("solving", flush=True)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
arm = with_torch("ur5e")
a = np.linspace(0.0, 100.0, 40_000)
points = np.column_stack([0.45 + 0.1 * np.cos(a), 0.1 * np.sin(a), 0.2 + 0.0 * a])
options = PathOptions(samples=100)
arm.solve_path(aim(points[:10], [0.1, 0.0, -1.0]), options=options)
Thread(target=announce, args=(process_time(),), daemon=True).start()
arm.solve_path(aim(points, [0.1, 0.0, -1.0]), options=options)
print("done", flush=True)
"""


def test_ctrl_c_ends_a_long_path():
    assert_ctrl_c_ends(LONG, "solving")


def test_how_far_a_path_is_goes_to_standard_error(capsys):
    points = np.linspace([0.4, -0.1, 0.3], [0.4, 0.1, 0.3], 20)
    path = with_torch("ur5e").solve_path(
        aim(points, [0, 0, -1]), options=PathOptions(progress=True)
    )
    assert path.converged.all()
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "solving the path" in printed.err
