"""Statuses on the page: no words of Python, what collides, and remedies that a visitor has."""

import re

import numpy as np
import pytest

from jointwise import Chain, PlanStatus, Scene, Status, TrackResult, TrackStatus
from jointwise.view.state.status_text import plan_text, status_text, track_text

ARM = Chain.load("ur5e")
START = [-0.6, -1.4, 1.8, -2.0, -1.5, 0.0]
ON_THE_TIP = ARM.fk(START)[:3, 3]
BESIDE_THE_TIP = ON_THE_TIP - [0.0, 0.0, 0.11]
TARGET, FAR = [0.5, 0.35, 0.3], [3.0, 0.0, 0.0]
MARGIN = 0.02
PYTHON = re.compile(r"\(see |\w_\w|\(\)|=|\bcall\b", re.IGNORECASE)


@pytest.mark.parametrize("status", [*Status, *PlanStatus, *TrackStatus], ids=str)
def test_no_status_has_words_of_python(status):
    assert not PYTHON.search(status_text(status))


@pytest.mark.parametrize(
    ("ball", "target", "text"),
    [
        (
            ON_THE_TIP,
            TARGET,
            "wrist_3_link collides with ball, 101.5 mm deep. A plan cannot start there: move the "
            "joints until nothing is red, or move the obstacle. Then press Plan.",
        ),
        (
            TARGET,
            TARGET,
            "wrist_3_link collides with ball, 101.5 mm deep. Every solution found collides or is "
            "within the margin: move the target or the obstacle.",
        ),
        (
            BESIDE_THE_TIP,
            TARGET,
            "wrist_3_link is 5.3 mm from ball, less than the margin of 20 mm. A plan cannot start "
            "there: move the joints until nothing is red, or move the obstacle. Then press Plan.",
        ),
        (
            FAR,
            FAR,
            "Missed by 2.04 m. The target is provably out of reach: move it closer.",
        ),
    ],
)
def test_a_plan_without_a_path_says_what_collides_and_what_to_do(ball, target, text):
    scene = Scene().sphere(0.1, ball, name="ball")
    plan = ARM.with_scene(scene, margin=MARGIN).plan(target, START)
    assert plan_text(plan, MARGIN) == text


def test_tracking_says_what_is_in_the_way():
    def text(status, contact=("hand", "wall")):
        return track_text(
            TrackResult(np.zeros(6), np.zeros(6), 0.0, status=status, contact=contact)
        )

    assert text(TrackStatus.AT_OBSTACLE).startswith("wall is in the way of hand. The joints slow")
    assert text(TrackStatus.COLLIDES).startswith("hand collides with wall. The joints move out of ")
    assert text(TrackStatus.FOLLOWING) == TrackStatus.FOLLOWING.value
    assert text(TrackStatus.STUCK, None).endswith("press Switch branch.")
