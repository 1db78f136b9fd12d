"""Laws meet the same examples every time; ``--hypothesis-profile=explore`` looks further."""

import signal

import pytest
from hypothesis import HealthCheck, settings

from jointwise.kernels._numba.notice import COMPILE_NOTICE

COMPILE_NOTICE.printed = True  # tests compare standard error, whatever is compiled meanwhile

settings.register_profile("same", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("few", deadline=None, derandomize=True, max_examples=6)
settings.register_profile("long", deadline=None, derandomize=True, max_examples=400)
settings.register_profile(
    "explore",
    deadline=None,
    max_examples=5000,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("same")

# The files that take longest. They begin first, so that no worker is busy with one at the end.
LONGEST = (
    "test_repository.py",
    "test_view.py",
    "test_obstacle_view.py",
    "test_plan.py",
    "test_plan_view.py",
    "test_track_scene.py",
    "test_robot_view.py",
    "test_edges.py",
    "test_fitting.py",
    "test_gpu.py",
    "test_backend.py",
)


def pytest_configure():
    """Let the processes of tests get the signals that this one ignores, as background jobs do.

    A handler is not passed on to a new process, but "ignored" is.
    """
    for name in ("SIGINT", "SIGHUP", "SIGTERM"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def pytest_collection_modifyitems(items):
    place = {name: k for k, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.name, len(LONGEST)))


@pytest.fixture(scope="module")
def chromium():
    """Chromium for the tests of a file."""
    from testbed.browser import browser

    with browser() as started:
        yield started
