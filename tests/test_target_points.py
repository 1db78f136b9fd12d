"""A target for a point of the end effector: every verb of an arm brings that point there."""

import numpy as np
import pytest

from jointwise import InvalidInputError, direction, pose, robots

POINT = np.array([0.02, -0.03, 0.1])


def pose_for_point(arm, seed, count=None):
    """A reachable pose of the point, or many, and the matrix of each."""
    tips = arm.with_tool(POINT).fk(arm.random(seed, count))
    return pose(tips[..., :3, 3], matrix=tips[..., :3, :3], point=POINT), tips


def points(arm, q):
    """(..., 3) where the point is [m]."""
    return arm.fk(q)[..., :3, :] @ np.append(POINT, 1.0)


@pytest.mark.parametrize("name", ["ur5e", "panda", "so101"])
def test_the_point_is_brought_to_the_target(name):
    arm = getattr(robots, name)()
    target, tip = pose_for_point(arm, 3)
    found = arm.solutions(target)
    assert len(found) > 0
    for q in (arm.solve(target).q, arm.trace(target, found[0].q).q[-1], *found.q):
        assert points(arm, q) == pytest.approx(tip[:3, 3], abs=1e-5)


def test_the_points_of_many_targets_are_brought_there():
    arm = robots.ur5e()
    targets, tips = pose_for_point(arm, 4, 20)
    batch, found = arm.solve_batch(targets), arm.solutions_batch(targets)
    assert points(arm, batch.q) == pytest.approx(tips[:, :3, 3], abs=1e-5)
    assert (found.counts > 0).all()
    assert points(arm, found.q[:, 0]) == pytest.approx(tips[:, :3, 3], abs=1e-9)


def test_the_redundancy_is_that_of_an_arm_with_a_tool():
    arm = robots.iiwa14()
    target, tip = pose_for_point(arm, 5)
    expected = arm.with_tool(POINT).redundancy_intervals(tip)
    assert arm.redundancy_intervals(target) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "call", ["solutions", "trace", "redundancy_intervals"], ids=lambda name: name
)
def test_a_direction_alone_is_refused_where_a_position_is_needed(call):
    with pytest.raises(InvalidInputError, match="target is a direction: expected a target with"):
        getattr(robots.iiwa14(), call)(direction([0, 0, -1]))
