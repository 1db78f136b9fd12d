"""A redundant arm that tracks a closed path again and again does not drift."""

import numpy as np
import pytest

from jointwise import Chain

STARTS = {"panda": [0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8], "iiwa14": [0, 0.6, 0, -1.4, 0, 1.1, 0]}


@pytest.mark.parametrize("name", STARTS)
def test_rounds_of_a_circle_end_alike_and_rest_leads_back_to_the_start(name):
    arm, start = Chain.load(name), np.array(STARTS[name], float)
    angles = np.linspace(0.0, 2.0 * np.pi, 4000)
    circle = np.tile(arm.fk(start), (len(angles), 1, 1))
    circle[:, 0, 3] += 0.12 * (np.cos(angles) - 1.0)
    circle[:, 1, 3] += 0.12 * np.sin(angles)
    tracker = arm.track(start, 0.001, max_velocity=2.0, max_acceleration=10.0)
    ends = np.array([tracker.run(circle).q[-1] for _ in range(4)])
    assert np.abs(ends - start).max() < 0.1
    assert np.abs(ends[2:] - ends[1]).max() < 1e-3
    rest = tracker.run(np.tile(circle[-1], (8000, 1, 1)))
    assert np.abs(rest.q[-1] - start).max() < 2e-3
