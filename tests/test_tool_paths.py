"""Paths solved as a whole: never worse than followed, inside boxes and limits, and honest."""

import re
from functools import cache
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import (
    BreakReason,
    Chain,
    IKPath,
    InvalidInputError,
    PathOptions,
    Robot,
    Scene,
    aim,
    within,
)
from jointwise.targets.deviation import deviations_of
from testbed.tool_paths import KINDS, tool_path, with_torch
from tests.support.examples import examples, trials

FOLLOWED = PathOptions(samples=0)
torch_arm = cache(with_torch)


def motion(path):
    return np.abs(np.diff(path.q, axis=0)).sum()


def ring(count, height=0.2):
    """Poses of a tool that points down, on a closed circle in front of an arm."""
    a = np.linspace(0.0, 2.0 * np.pi, count)
    poses = np.tile(np.diag([1.0, -1.0, -1.0, 1.0]), (count, 1, 1))
    poses[:, :3, 3] = np.column_stack(
        [0.45 + 0.12 * np.cos(a), 0.1 + 0.12 * np.sin(a), np.full(count, height)]
    )
    poses[-1] = poses[0]
    return poses


@given(
    kind=st.sampled_from(list(KINDS)),
    name=st.sampled_from(["ur5e", "kr6_r900"]),
    seed=st.integers(0, 1000),
    step=st.sampled_from([0.05, 0.2, None]),
)
@examples(12)
def test_a_path_is_never_worse_than_followed(kind, name, seed, step):
    arm = torch_arm(name)
    targets = tool_path(arm, kind, seed, trials(12, 30))
    whole = arm.solve_path(targets, max_step=step)
    greedy = arm.solve_path(targets, max_step=step, options=FOLLOWED)
    assert (~whole.converged).sum() <= (~greedy.converged).sum()
    if greedy.converged.all():
        assert len(whole.breaks) <= len(greedy.breaks)
        if not greedy.breaks:
            assert motion(whole) <= motion(greedy) * (1.0 + 1e-6)
    reached = whole.converged
    lower, upper = arm.limits.T
    assert ((lower <= whole.q) & (whole.q <= upper)).all()
    tips = arm.fk(whole.q[reached])
    np.testing.assert_allclose(tips[:, :3, 3], targets.values[reached, 0], atol=2e-6)
    assert (np.einsum("mi,mi->m", tips[:, :3, 2], targets.values[reached, 1]) > 1.0 - 1e-9).all()
    if step is not None:
        large = np.flatnonzero(np.abs(np.diff(whole.q, axis=0)).max(axis=1) > step + 1e-9) + 1
        missed = {*np.flatnonzero(~reached)} | {*(np.flatnonzero(~reached) + 1)}
        assert {*large.tolist()} <= {*whole.breaks} | missed


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize(
    ("position", "rotation"),
    [(0.0, (0.0, 0.0, inf)), (0.0, (0.3, 0.3, 0.5)), ((0.0, 0.0, 0.02), 0.0), (0.0, 0.0)],
)
@pytest.mark.parametrize("frame", ["target", "tool"])
def test_a_path_stays_inside_its_boxes(position, rotation, frame, closed):
    arm = torch_arm("ur5e")
    targets = within(ring(25), position=position, rotation=rotation, frame=frame)
    path = arm.solve_path(targets, options=PathOptions(closed=closed, samples=300))
    assert path.converged.all()
    assert path.breaks == ()
    low, high = targets.box[:, [0, 2]].reshape(-1, 6), targets.box[:, [1, 3]].reshape(-1, 6)
    deviations = deviations_of(targets.values, arm.fk(path.q))
    assert ((low - 3e-6 <= deviations) & (deviations <= high + 3e-6)).all()
    if closed:
        np.testing.assert_array_equal(path.q[0], path.q[-1])


def test_pieces_reasons_and_resolution_of_a_broken_path():
    arm = torch_arm("ur5e")
    poses = ring(20)
    poses[7, :3, 3] = [3.0, 0.0, 0.0]
    path = arm.solve_path(aim(poses[:, :3, 3], [0, 0, -1]), max_step=0.2)
    assert not path.converged[7]
    assert path.pieces == (range(7), range(8, 20))
    assert path.break_reasons[8] is BreakReason.NO_SOLUTION
    assert path.resolution["rotation z"] <= 0.2 / 5.0 + 1e-12
    assert path.tool_angles.shape == (20,)
    far = arm.solve_path(arm.fk(arm.random(1, 2)), max_step=0.1)
    assert far.break_reasons == {1: BreakReason.STEP_TOO_LARGE}
    assert "at this resolution" in str(far)
    many = arm.solve_path(arm.fk(arm.random(1, 9)), max_step=0.01)
    listed = ", ".join(map(str, many.breaks[:5]))
    assert f"breaks at {listed} and {len(many.breaks) - 5} more (the first" in str(many)


def test_a_saved_path_is_loaded_with_its_breaks(tmp_path):
    arm = torch_arm("ur5e")
    path = arm.solve_path(arm.fk(arm.random(1, 3)), max_step=0.1)
    path.save(tmp_path / "path.npz")
    loaded = IKPath.load(tmp_path / "path.npz")
    assert (loaded.breaks, loaded.break_reasons) == (path.breaks, path.break_reasons)
    assert loaded.resolution == path.resolution


def test_a_wrist_that_winds_is_broken_where_it_does_not_fit():
    """A straight tool turned with the last joint alone: three turns do not fit into two."""
    arm = Chain.load("ur5e")
    down = arm.fk([0.3, -1.2, 1.8, -2.2, -1.6, 0.0])
    for turns, breaks in ((1.4, 0), (3.0, 1)):
        angles = np.linspace(0.0, turns * 2.0 * np.pi, 80)
        poses = np.tile(down, (80, 1, 1))
        c, s = np.cos(angles), np.sin(angles)
        spin = np.tile(np.eye(4), (80, 1, 1))
        spin[:, 0, 0], spin[:, 0, 1], spin[:, 1, 0], spin[:, 1, 1] = c, -s, s, c
        path = arm.solve_path(poses @ spin, max_step=0.5)
        assert path.converged.all()
        assert len(path.breaks) == breaks


def test_a_given_start_is_where_the_path_begins():
    arm = torch_arm("ur5e")
    free = arm.solve_path(aim(ring(15)[:, :3, 3], [0, 0, -1]))
    start = free.q[0] + 0.02
    path = arm.solve_path(aim(ring(15)[:, :3, 3], [0, 0, -1]), start, max_step=0.15)
    assert path.breaks == ()
    assert np.abs(path.q[0] - start).max() <= 0.15


@pytest.mark.parametrize("name", ["panda", "iiwa14"])
def test_redundancy_is_sampled_with_the_tool_angle(name):
    arm = torch_arm(name)
    targets = aim(ring(8)[:, :3, 3] + [0.05, 0.0, 0.1], [0, 0, -1])
    path = arm.solve_path(targets)
    assert path.converged.all()
    assert path.breaks == ()
    assert len(path.resolution) == 2
    followed = arm.solve_path(targets, options=FOLLOWED)
    assert motion(path) <= motion(followed) * (1.0 + 1e-6)


def test_samples_farther_apart_than_steps_are_not_tried_on_a_path_that_is_whole():
    """They hold few paths, and cost ten times as much as following the targets."""
    arm = torch_arm("iiwa14")
    targets = aim(ring(40)[:, :3, 3] + [0.05, 0.0, 0.1], [0, 0, -1])
    path = arm.solve_path(targets, max_step=0.1)
    assert path.breaks == ()
    assert path.converged.all()
    assert dict(path.resolution) == {}
    assert motion(path) <= motion(arm.solve_path(targets, max_step=0.1, options=FOLLOWED)) + 1e-9


def test_a_rail_reaches_what_no_fixed_base_does():
    y = np.linspace(-1.2, 1.2, 60)
    seam = aim(np.column_stack([np.full(60, 0.6), y, np.full(60, 0.1)]), [0.5, 0.0, -1.0])
    arm = torch_arm("kr6_r900")
    assert not arm.solve_path(seam, options=FOLLOWED).converged.all()
    rail = arm.with_external_axis([0.0, 1.0, 0.0], [-1.0, 1.0])
    path = rail.solve_path(seam, max_step=0.2, options=PathOptions(samples=1500))
    assert path.converged.all()
    assert path.breaks == ()
    assert np.abs(path.q[:, 0]).max() <= 1.0
    assert "joint 1" in path.resolution


def test_a_turntable_carries_the_part():
    arm = torch_arm("kr6_r900")
    table = arm.with_external_axis(
        [0, 0, 1], [-4.0, 4.0], part="part", prismatic=False, origin=[0.7, 0.0, 0.1]
    )
    a = np.linspace(0.0, 5.0, 40)
    seam = aim(0.3 * np.column_stack([np.cos(a), np.sin(a), 0.0 * a]), [0.0, 0.0, -1.0])
    path = table.solve_path(seam, max_step=0.25, options=PathOptions(samples=800))
    assert path.converged.all()
    assert path.breaks == ()
    np.testing.assert_allclose(table.fk(path.q)[:, :3, 3], seam.position, atol=1e-6)


def test_obstacles_are_avoided_or_reported():
    scene = Scene().box([0.1, 0.4, 0.3], [0.66, 0.1, 0.2], name="wall")
    arm = torch_arm("ur5e").with_scene(scene)
    targets = aim(ring(20)[:, :3, 3], [0, 0, -1])
    path = arm.solve_path(targets, max_step=0.3)
    assert path.converged.all()
    assert path.colliding == ()
    assert path.breaks == ()
    assert arm.is_free(path.q).all()


@pytest.mark.parametrize("facade", [Chain, Robot])
def test_detours_lead_around_obstacles(facade):
    """Two free targets on both sides of a wall: the straight motion between them collides."""
    scene = Scene().box([0.3, 0.04, 0.4], [0.45, 0.0, 0.2], name="wall")
    model = facade.load("ur5e").with_scene(scene)
    points = np.array([[0.45, -0.25, 0.3], [0.45, 0.25, 0.3]])
    targets = aim(points, [0, 0, -1])
    path = model.solve_path(
        targets if facade is Chain else {"tip": targets}, options=PathOptions(detours=True)
    )
    assert path.converged.all()
    assert path.colliding == (1,) or path.breaks == (1,)
    plan = path.detours[1]
    assert plan.status.name == "PLANNED"
    np.testing.assert_array_equal(plan.waypoints[[0, -1]], path.q)


@pytest.mark.parametrize("facade", [Chain, Robot])
def test_both_facades_solve_as_a_whole(facade):
    model = facade.load("ur5e")
    targets = within(ring(12), rotation=(0.0, 0.0, inf))
    path = model.solve_path(
        targets if facade is Chain else {"tip": targets}, options=PathOptions(closed=True)
    )
    assert path.converged.all()
    assert "rotation z" in path.resolution
    assert not np.isnan(path.tool_angles).any()


@pytest.mark.parametrize("step", [0.15, None])
@pytest.mark.parametrize("name", ["panda", "iiwa14", "ur5e"])
def test_a_closed_path_is_cyclic_or_says_that_it_is_not(name, step):
    """Followed alone, seven joints drift: they do not end where they begin."""
    arm = torch_arm(name)
    targets = aim(ring(40)[:, :3, 3] + [0.05, 0.0, 0.1], [0, 0, -1])
    path = arm.solve_path(targets, max_step=step, options=PathOptions(closed=True))
    assert path.converged.all()
    assert path.breaks == ()
    np.testing.assert_array_equal(path.q[0], path.q[-1])
    opened = arm.solve_path(targets, max_step=step)
    assert len(path.breaks) <= len(opened.breaks) + 1


def test_a_circle_whose_last_target_is_the_first_up_to_rounding_closes():
    arm, a = Chain.load("panda"), np.linspace(0.0, 2.0 * np.pi, 101)
    targets = np.tile(np.diag([1.0, -1.0, -1.0, 1.0]), (101, 1, 1))
    targets[:, :3, 3] = np.column_stack([0.45 + 0.1 * np.cos(a), 0.1 * np.sin(a), 0.4 + 0.0 * a])
    assert (targets[0] != targets[-1]).any()
    path = arm.solve_path(targets, options=PathOptions(closed=True))
    assert path.breaks == ()
    assert np.abs(path.q[0] - path.q[-1]).max() < 1e-9


def test_a_path_that_cannot_close_breaks_once_and_says_why():
    """The tool turns by three turns while the joints may turn by less than two."""
    arm = Chain.load("kr6_r900")
    a = np.linspace(0.0, 6.0 * np.pi, 160)
    spin = np.tile(np.eye(4), (160, 1, 1))
    spin[:, 0, 0], spin[:, 0, 1], spin[:, 1, 0], spin[:, 1, 1] = (
        np.cos(a), -np.sin(a), np.sin(a), np.cos(a),
    )  # fmt: skip
    poses = arm.fk(arm.home) @ spin
    poses[-1] = poses[0]
    path = arm.solve_path(poses, options=PathOptions(closed=True))
    opened = arm.solve_path(poses)
    assert path.converged.all()
    assert 1 <= len(path.breaks) <= len(opened.breaks) + 1
    assert set(path.break_reasons.values()) <= {BreakReason.OTHER_BRANCH, BreakReason.NOT_CLOSED}


@pytest.mark.parametrize("facade", [Chain, Robot])
def test_options_hold_for_each_of_many_paths(facade, capsys):
    model, targets = facade.load("ur5e"), aim(ring(8)[:, :3, 3], [0, 0, -1])
    given = targets if facade is Chain else {"tip": targets}
    for options in (PathOptions(closed=True, samples=100), FOLLOWED):
        one = model.solve_path(given, options=options)
        for path in model.solve_paths([given, given], options=options, threads=2):
            np.testing.assert_array_equal(path.q, one.q)
            assert path.resolution == one.resolution
            assert path.breaks == one.breaks
    assert capsys.readouterr().err == ""
    model.solve_paths([given, given], options=PathOptions(samples=0, progress=True), threads=2)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "2/2" in shown.err


def test_bad_input_is_refused_before_work():
    arm = torch_arm("ur5e")
    open_ends = aim(ring(12)[:-1, :3, 3], [0, 0, -1])
    with pytest.raises(InvalidInputError, match="append the first target at the end"):
        arm.solve_path(open_ends, options=PathOptions(closed=True))
    with pytest.raises(InvalidInputError, match="call with_scene first"):
        arm.solve_path(open_ends, options=PathOptions(detours=True))
    many = aim(np.tile([0.4, 0.0, 0.3], (30_000, 1)), [0, 0, -1])
    text = (
        "30,000 targets at 315 samples have up to 75,600,000 solutions, which take 2.4 GB: "
        "expected at most 50,000,000. Split the path, or allow 208 samples "
        "(PathOptions.samples)."
    )
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$"):
        arm.solve_path(many, max_step=0.1)
    mixed = [[0.4, 0.0, 0.4], aim([0.4, 0.1, 0.4], [0, 0, -1])]
    with pytest.raises(InvalidInputError, match="mix aims and positions: expected one kind"):
        arm.solve_path(mixed)
    with pytest.raises(InvalidInputError, match=r"low end 0.2 is above high end 0.1"):
        within(ring(3), rotation=((0.2, 0.1), 0.0, 0.0))
    with pytest.raises(InvalidInputError, match="closed is 'yes'"):
        PathOptions(closed="yes")
    with pytest.raises(InvalidInputError, match="samples is -1"):
        PathOptions(samples=-1)
    with pytest.raises(InvalidInputError, match=r"expected PathOptions, such as PathOptions\("):
        arm.solve_path(open_ends, options={"closed": True})
    with pytest.raises(InvalidInputError, match="expected PathOptions"):
        arm.solve_paths([open_ends], options=True)
    with pytest.raises(
        InvalidInputError, match="already has a joint 'wrist_1_joint': pass another name"
    ):
        Chain.load("ur5e").with_external_axis([0, 1, 0], [0, 1], name=arm.joint_names[3])
    with pytest.raises(InvalidInputError, match="no length"):
        Chain.load("ur5e").with_external_axis([0, 0, 0], [0, 1])
    with pytest.raises(InvalidInputError, match="finite"):
        Chain.load("ur5e").with_external_axis([0, 1, 0], [-inf, inf])


def test_an_invalid_target_is_named():
    arm = torch_arm("ur5e")
    poses = ring(10)
    poses[4, 0, 3] = np.nan
    path = arm.solve_path(poses)
    assert path[4].status.name == "INVALID"
    assert path.break_reasons[5] is BreakReason.INVALID
    assert path.pieces == (range(4), range(5, 10))
