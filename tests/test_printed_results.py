"""What ``print`` shows of results: a sentence and a small table."""

import numpy as np
import pytest

from jointwise import Chain, Robot
from tests.support.facades import both
from tests.support.two_arms import two_arms

UR5E = Chain.load("ur5e")
Q = np.array([0.1, -1.2, 1.5, -0.4, 1.0, 0.3])


@both
def test_a_result_is_printed_as_its_message_its_joint_values_and_its_errors(facade):
    target = UR5E.fk(Q)
    result = facade.load("ur5e").solve(target if facade is Chain else {"tip": target}, Q)
    message, values, error = str(result).splitlines()
    assert message == result.message == "The target is reached, within the tolerances."
    assert values.split() == ["q", *(f"{value:.6f}" for value in Q)]
    text = f"{result.position_error:.3g} m and {result.orientation_error:.3g} rad"
    assert error == f"error  {text}"


def test_a_missed_target_and_a_clearance_are_printed():
    result = Chain.load("panda").with_scene().solve([2.0, 0.0, 0.0])
    message, values, error, clearance = str(result).splitlines()
    assert message == result.message
    assert len(values.split()) == 8
    assert error == f"error      {result.position_error:.3g} m"
    assert clearance.split()[:3] == ["clearance", f"{result.clearance:.3g}", "m,"]
    assert clearance.endswith(" and ".join(result.contact))


def test_several_links_and_more_joints_than_fit_a_line():
    robot = Robot.from_urdf(two_arms())
    poses = robot.fk(robot.home + 0.01)
    result = robot.solve({link: poses[link] for link in ("left_6", "right_6")})
    lines = str(result).splitlines()
    assert lines[0] == "All targets are reached, within the tolerances."
    assert " ".join(lines[1:3]).split() == ["q", *(f"{value + 0.0:.6f}" for value in result.q)]
    assert [line.split()[0] for line in lines[3:]] == ["left_6", "right_6"]


@pytest.mark.parametrize(
    ("target", "count", "sentence"),
    [
        (UR5E.fk(Q), 8, "8 solutions, provably all."),
        (UR5E.fk(Q), 1, "1 solution, there may be others."),
        (
            np.vstack([np.eye(4)[:3] + [[0, 0, 0, 3]] * 3, [0, 0, 0, 1]]),
            8,
            "Provably no solutions.",
        ),
        ([3.0, 0.0, 0.0], 1, "No solutions were found."),
    ],
)
def test_solutions_are_printed_one_on_a_line(target, count, sentence):
    found = UR5E.solutions(target, count)
    first, *lines = str(found).splitlines()
    assert first == sentence
    for i, (q, line) in enumerate(zip(found.q, lines, strict=True)):
        assert line.split() == [str(i), *(f"{round(value, 6) + 0.0:.6f}" for value in q)]


def test_solutions_of_many_poses_are_counted():
    found = UR5E.solutions_batch(UR5E.fk(UR5E.random(seed=1, count=10)))
    assert repr(found) == "<SolutionsBatch of 10>"
    mean, most = found.counts.mean(), found.counts.max()
    assert str(found) == (
        f"10 of 10 poses have solutions, {mean:.1f} on average and {most} at most.\n"
        "For 10 poses, these are provably all."
    )
