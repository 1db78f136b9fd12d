"""Ctrl-C ends planning soon, whatever is left of the budget."""

import signal
import subprocess
import sys

import pytest

# There is no path, and the budget of samples would take minutes.
ENDLESS = """
import signal
from threading import Thread
from time import process_time, sleep
from jointwise import Chain
from tests.support.plan_scenes import BEYOND, IN_DEAD_END, dead_end

def announce(begin):
    while process_time() < begin + 0.5:
        sleep(0.01)
    print("planning", flush=True)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
arm = Chain.load("ur5e").with_scene(dead_end())
arm.{verb}(max_samples=10, **{goals})
Thread(target=announce, args=(process_time(),), daemon=True).start()
arm.{verb}(max_samples=2_000_000, **{goals})
"""
GOALS = {
    "plan": "dict(q=BEYOND, start=IN_DEAD_END)",
    "plan_batch": "dict(q=[BEYOND] * 4, starts=[IN_DEAD_END] * 4)",
}


@pytest.mark.parametrize("verb", GOALS)
def test_ctrl_c_ends_planning(verb):
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS.format(verb=verb, goals=GOALS[verb])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "planning\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)  # about 0.1 s on an idle machine
    finally:
        process.kill()
        process.communicate()
    assert "KeyboardInterrupt" in errors
    assert process.returncode != 0
