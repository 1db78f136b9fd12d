"""The first call: what is imported, and what is said while kernels are compiled."""

import os
import subprocess
import sys

from jointwise.kernels._numba.notice import NOTICE

SHORT = """
import sys
from jointwise import kernels
from jointwise.kernels import trig
trig.polar_angle(1.0, 1.0)
trig.polar_angle(1.0, 2.0)
"""


def run(code, cache):
    """(standard output, standard error) of Python code with kernels cached in a folder."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", code]
    finished = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, check=True
    )
    return finished.stdout, finished.stderr


def test_compiling_is_announced_once_and_a_cache_is_silent(tmp_path):
    assert run(SHORT, tmp_path) == ("", f"{NOTICE}\n")
    assert run(SHORT, tmp_path) == ("", "")
