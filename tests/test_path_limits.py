"""Paths of arms and robots stay inside the joint limits, also of joints that can turn fully."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import InvalidInputError, Posture, Robot, Scene
from tests.support.examples import examples

UR5E = Robot.load("ur5e")


def past_the_limits(seed, turns):
    """Joint values of a smooth motion that leaves the limits, and the robot with these limits."""
    rng = np.random.default_rng(seed)
    half = turns * np.pi
    robot = UR5E.with_limits(np.tile([-half, half], (6, 1)))
    start = rng.uniform(-0.6, 0.6, 6) * half
    end = start.copy()
    joint = rng.integers(6)
    end[joint] = np.sign(start[joint]) * half + np.sign(start[joint]) * 0.8
    return robot, start, np.linspace(start, end, 40)


@given(seed=st.integers(0, 10_000), turns=st.sampled_from([0.9, 0.9999, 1.0, 1.2, 2.0]))
@examples(40)
def test_a_path_past_the_limits_stays_inside_them(seed, turns):
    robot, start, motion = past_the_limits(seed, turns)
    poses = UR5E.with_limits(None).fk(motion)
    lower, upper = robot.limits.T
    for targets in (
        {"tip": poses["tip"]},
        {"tip": poses["tip"], "link3": poses["link3"][:, :3, 3]},
    ):
        for posture in (None, Posture(smoothness=1e-6)):
            path = robot.solve_path(targets, start, posture=posture)
            assert (lower <= path.q).all()
            assert (path.q <= upper).all()


def test_the_elbow_of_a_ur5e_stops_at_its_limit():
    start = np.array([0.3, -1.0, 2.9, -0.5, 1.0, 0.2])
    end = start.copy()
    end[2] = 3.6
    poses = UR5E.with_limits(None).fk(np.linspace(start, end, 60))
    targets = {"tip": poses["tip"], "link5": poses["link5"]}
    path = UR5E.solve_path(targets, start)
    assert path.q[:, 2].max() <= UR5E.limits[2, 1]
    assert path.breaks or not path.converged.all()
    (again,) = UR5E.solve_paths([targets], start)
    np.testing.assert_array_equal(again.q, path.q)


@pytest.mark.parametrize("far", [1e12, 1e18, 1e30, float(np.finfo(np.float32).max)])
def test_a_far_point_does_not_empty_a_cloud(far):
    cloud = np.random.default_rng(1).uniform(-0.5, 0.5, (200, 3))
    with pytest.raises(InvalidInputError, match=r"leave out far points|below 1e9"):
        Scene.from_points(np.vstack([cloud, [far, 0.0, 0.0]]))
