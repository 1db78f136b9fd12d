"""Laws meet the same examples every time; ``--hypothesis-profile=explore`` looks further.

Compiling every kernel with Numba takes minutes, and so do all tables of the benchmarks. Both begin
with the first test, in processes of their own, and the tests of what they give come last.
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

# What runs beside the tests, by the fixture that waits for it; each writes into a folder.
BESIDE = {
    "benchmark_tables": "-m benchmarks --count 3 --hours 0.001 --no-rivals --keep {}",
    "numba_results": "-m tests.support.backend_results {}/results.npz",
}
RUNNING = pytest.StashKey[dict[str, tuple[subprocess.Popen[str], Path]]]()


def beside(item):
    """Which of these a test waits for, as a number; 0 for none."""
    return next((i for i, name in enumerate(BESIDE, 1) if name in item.fixturenames), 0)


def pytest_collection_modifyitems(items):
    items.sort(key=beside)


def pytest_collection_finish(session):
    running = session.config.stash[RUNNING] = {}
    if session.config.option.collectonly:
        return
    for name in {name for item in session.items for name in BESIDE if name in item.fixturenames}:
        folder = Path(tempfile.mkdtemp())
        backend = {"JOINTWISE_BACKEND": "numba"} if name == "numba_results" else {}
        with (folder / "printed").open("w") as printed:
            process = subprocess.Popen(
                [sys.executable, *BESIDE[name].format(folder).split()],
                env={**os.environ, **backend},
                cwd=Path(__file__).parents[1],
                stdout=printed,
                stderr=subprocess.STDOUT,
                text=True,
            )
        running[name] = process, folder


def pytest_sessionfinish(session):
    for process, folder in session.config.stash.get(RUNNING, {}).values():
        process.kill()
        process.wait()
        shutil.rmtree(folder)


def wait_for(request, name):
    """(what it printed, its folder) of a process that ran beside the tests."""
    process, folder = request.config.stash[RUNNING][name]
    process.wait()
    printed = (folder / "printed").read_text()
    assert process.returncode == 0, printed
    return printed, folder


@pytest.fixture
def numba_results(request):
    """The file of ``tests.support.backend_results`` with kernels that Numba compiled."""
    printed, folder = wait_for(request, "numba_results")
    assert printed.split()[-1] == "numba"
    return folder / "results.npz"


@pytest.fixture
def benchmark_tables(request):
    """(what all tables of the benchmarks print for few targets, the folder of kept results)."""
    return wait_for(request, "benchmark_tables")
