"""Laws meet the same examples every time; ``--hypothesis-profile=explore`` looks further.

Compiling every kernel with Numba takes minutes. It begins with the first test, in a process of its
own, and the test that compares the results comes last.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from jointwise.kernels._numba.notice import COMPILE_NOTICE

COMPILE_NOTICE.printed = True  # tests compare standard error, whatever is compiled meanwhile

settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile(
    "explore",
    deadline=None,
    max_examples=5000,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("same")

NUMBA_RESULTS = pytest.StashKey[tuple[subprocess.Popen[str], Path]]()


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: "numba_results" in item.fixturenames)


def pytest_collection_finish(session):
    needed = any("numba_results" in item.fixturenames for item in session.items)
    if needed and not session.config.option.collectonly:
        folder = Path(tempfile.mkdtemp())
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.backend_results", str(folder / "numba.npz")],
            env={**os.environ, "JOINTWISE_BACKEND": "numba"},
            cwd=Path(__file__).parents[1],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        session.config.stash[NUMBA_RESULTS] = process, folder / "numba.npz"


def pytest_sessionfinish(session):
    if NUMBA_RESULTS in session.config.stash:
        process, file = session.config.stash[NUMBA_RESULTS]
        process.kill()
        process.wait()
        shutil.rmtree(file.parent)


@pytest.fixture
def numba_results(request):
    """The file of ``tests.support.backend_results`` with kernels that Numba compiled."""
    process, file = request.config.stash[NUMBA_RESULTS]
    printed, _ = process.communicate()
    assert process.returncode == 0, printed
    assert printed.split()[-1] == "numba"
    return file
