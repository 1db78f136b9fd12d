"""Ctrl-C ends planning soon, whatever is left of the budget."""

import pytest

from tests.support.interrupt import assert_ctrl_c_ends

# There is no path, and the budget of samples would take minutes.
ENDLESS = """
from threading import Thread
from time import process_time, sleep
from jointwise import Chain
from tests.support.plan_scenes import BEYOND, IN_DEAD_END, dead_end

def announce(begin):
    while process_time() < begin + 0.5:
        sleep(0.01)
    print("planning", flush=True)

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
    assert_ctrl_c_ends(ENDLESS.format(verb=verb, goals=GOALS[verb]), "planning")
