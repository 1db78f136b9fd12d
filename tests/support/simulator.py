"""Tests of GPU kernels in Numba's simulator."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Kernels select instead of branching: both values are computed, and one may divide by zero.
QUIET = ("-W", "ignore::RuntimeWarning")
SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"


def assert_passes(file):
    """Run a test file in the simulator, uncompiled: quicker than compiling everything for it."""
    process = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *QUIET, file],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout
    assert "passed" in process.stdout
    assert "needs a GPU or its simulator" not in process.stdout
