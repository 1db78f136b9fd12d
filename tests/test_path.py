"""Paths: no breaks where none is forced, and the truth where one is."""

from math import pi

import numpy as np
import pytest

from jointwise import Chain, DHJoint, PathOptions, Status, aim, robots, two_link_planar
from testbed.named_arms import CHOSEN as ARMS

POSTURES = {
    "Panda": [0.3, 0.2, -0.2, -1.8, 0.2, 2.0, 0.5],
    "UR5": [0.3, -1.2, 1.5, -1.0, -1.3, 0.4],
}


def line(pose, count=200):
    along = np.linspace(0.0, 1.0, count)[:, None] * [0.0, 0.25, -0.1]
    return [pose + _shift(offset) for offset in along]


def circle(pose, count=200):
    angle = np.linspace(0.0, 2.0 * pi, count)
    ring = 0.1 * np.stack([np.cos(angle) - 1.0, np.sin(angle), 0.0 * angle], axis=1)
    return [pose + _shift(offset) for offset in ring]


def _shift(offset):
    shift = np.zeros((4, 4))
    shift[:3, 3] = offset
    return shift


@pytest.mark.parametrize("name", POSTURES)
@pytest.mark.parametrize("shape", [line, circle])
@pytest.mark.parametrize("begin", ["from the posture", "anywhere"])
def test_a_line_and_a_circle_are_followed_smoothly(name, shape, begin):
    chain = ARMS[name]
    targets = shape(chain.fk(POSTURES[name]))
    path = chain.solve_path(targets, POSTURES[name] if begin == "from the posture" else None)
    assert path.converged.all()
    assert path.breaks == ()
    assert len(path) == 200
    assert path.largest_step <= 3.0 * path.steps.mean()
    assert path.q.shape == (200, chain.n)
    np.testing.assert_allclose(chain.fk(path.q), targets, atol=1e-5)
    assert not path.q.flags.writeable
    assert str(path).startswith("200 of 200 targets reached, largest step ")


def test_a_path_of_positions_and_of_aims():
    chain = ARMS["iiwa 14"]
    positions = [[0.5, y, 0.5] for y in np.linspace(-0.2, 0.2, 20)]
    assert chain.solve_path(positions).converged.all()
    aims = [aim(position, [0, 0, -1]) for position in positions]
    path = chain.solve_path(aims)
    assert path.converged.all()
    assert path.largest_step < 0.3
    assert path[3] == path[3] != path[4]


def test_a_forced_break_is_reported():
    """Past half a turn a joint with limits must turn all the way back."""
    chain = Chain.from_dh(two_link_planar(1.0, 0.5), [[-pi, 2.0], [-0.1, 0.1]])
    angles = np.linspace(0.0, 2.5 * pi / 2, 60)
    targets = [[1.499 * np.cos(a), 1.499 * np.sin(a), 0.0] for a in angles]
    path = chain.solve_path(targets, [0.0, 0.0])
    missed = [not result.converged for result in path]
    assert any(missed)
    first = missed.index(True)
    assert angles[first] > 2.0
    assert path[first].status in (Status.OUTSIDE_LIMITS, Status.STALLED)
    back = 1 + int(path.steps.argmax())  # still missed, but closer by a tenth
    again = back + missed[back:].index(False)  # reached from where it was missed
    assert path.breaks == (back, again)
    assert path.largest_step > 3.0
    assert f"breaks at {back}, {again}" in str(path)
    assert f"The first missed target is {first}: " in str(path)


def test_a_joint_that_must_go_all_the_way_round_is_a_break():
    chain = Chain.from_dh([DHJoint(a=1.0)], [[-pi, pi]])
    angles = np.linspace(2.5, 4.5, 41)
    path = chain.solve_path([[np.cos(a), np.sin(a), 0.0] for a in angles], [2.5])
    assert path.converged.all()
    assert path.largest_step > 6.0
    assert path.breaks == (int(np.argmax(angles > pi)),)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("count", [10, 50])
def test_where_the_joints_can_move_smoothly_no_break_is_reported(name, count):
    chain = ARMS[name]
    for trial in range(6):
        a, b = chain.random(trial), chain.random(trial + 50)
        along = np.linspace(0.0, 1.0, count)[:, None] * np.clip(b - a, -0.6, 0.6)
        path = chain.solve_path(list(chain.fk(a + along)), a)
        assert path.converged.all()
        if np.abs(path.q - (a + along)).max() < 0.05:
            assert path.breaks == ()
        assert path.largest_step < 1.0 or path.breaks


def test_a_step_above_max_step_counts_as_a_break():
    chain = ARMS["UR5"]
    targets = line(chain.fk(POSTURES["UR5"]), 3)
    smooth = chain.solve_path(targets, POSTURES["UR5"])
    assert smooth.breaks == ()
    strict = chain.solve_path(targets, POSTURES["UR5"], max_step=0.5 * smooth.largest_step)
    assert strict.breaks == (1, 2)
    far = chain.solve_path(targets[:1], np.array(POSTURES["UR5"]) + 0.3, max_step=0.1)
    assert far.breaks == (0,)


def test_one_target_is_a_path_too():
    path = ARMS["UR5"].solve_path([[0.4, 0.2, 0.3]])
    assert (len(path), path.largest_step, path.converged.all()) == (1, 0.0, True)


def test_how_far_it_is_goes_to_standard_error(capsys):
    chain = robots.panda()
    line = chain.fk(np.linspace(chain.mid_range, chain.mid_range + 0.2, 30))
    path = chain.solve_path(line, start=chain.mid_range, options=PathOptions(progress=True))
    assert path.converged.all()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "following" in shown.err
    assert "30/30" in shown.err


def test_a_large_step_to_a_missed_target_is_a_break():
    """A missed target far from the one before moves the arm; that is a break as any other."""
    chain = Chain.from_dh(two_link_planar(1.0, 1.0))
    targets = [[1.5, 0.0, 0.0], [1.6, 0.0, 0.0], [-2.5, 0.1, 0.0], [-2.6, 0.1, 0.0]]
    path = chain.solve_path(targets, chain.solve(targets[0]).q)
    assert [result.converged for result in path] == [True, True, False, False]
    assert path.steps[1] > 1.0
    assert 2 in path.breaks
    assert 1 not in path.breaks
    assert all(i + 1 in path.breaks for i in np.flatnonzero(path.steps > 0.5))
