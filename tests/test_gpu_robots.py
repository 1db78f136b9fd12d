"""Whole robots on a GPU: in Numba's simulator everywhere, and on a GPU where there is one.

``python -m pytest tests/test_gpu_robots.py`` tests the GPU of the machine it runs on.
"""

import numpy as np
import pytest

from jointwise import (
    InvalidInputError,
    PathOptions,
    Posture,
    Robot,
    Scene,
    SolveConfig,
    Status,
    position,
    relative,
    within,
)
from jointwise.backends import cuda as gpu
from jointwise.backends import cuda_trees
from jointwise.engines import valid_path
from jointwise.engines.path_limits import path_limits
from jointwise.engines.tree import gpu as tree_gpu
from jointwise.engines.tree.clips import alike
from jointwise.kernels.layout.tree import (
    TARGET_FORM,
    TARGET_LINK_AXES,
    TARGET_POINT,
    TARGET_POSITION_WEIGHT,
    TARGET_SIZE,
    TREE_HEADER,
    TREE_ROWS,
)
from tests.support.plan_scenes import robot_with_two_arms
from tests.support.simulator import SIMULATED, assert_passes
from tests.support.two_arms import two_arms

COUNT = 3 if SIMULATED else 3000
FEW = SolveConfig(max_restarts=1 if SIMULATED else 100)
LINKS = "jaw_2", "right_6"

on_a_gpu = pytest.mark.skipif(bool(gpu.unavailable_reason()), reason="needs a GPU or its simulator")


@pytest.mark.skipif(SIMULATED, reason="is the simulator")
def test_the_simulator_passes_these_tests():
    assert_passes(__file__)


@pytest.fixture(autouse=True)
def one_kernel(monkeypatch):
    """Robots of all sizes share the kernels of the benchmark, which take a minute to compile."""
    monkeypatch.setattr(cuda_trees, "MIN_SCRATCH", 5000)


def load(free_base=False):
    """A small robot with two arms on a lift, and a gripper whose second jaw mimics the first."""
    return Robot.from_urdf(two_arms(), free_base=free_base)


def reachable(robot, links=LINKS, count=COUNT, seed=1):
    """Poses of some links at random joint values, and values nearby."""
    q = robot.random(seed, count)
    near = q + np.random.default_rng(seed).normal(0.0, 0.05, q.shape)
    return {link: np.array([robot.fk(row)[link] for row in q]) for link in links}, near


def assert_true(robot, batch, targets, tolerance=1e-6):
    """Converged rows reach their targets inside the limits, by forward kinematics."""
    lower, upper = robot.limits.T
    for i in np.flatnonzero(batch.converged):
        found = robot.fk(batch.q[i], batch.base_poses[i])
        for link, poses in targets.items():
            assert np.abs(found[link] - poses[i]).max() < 2.0 * tolerance
        assert ((lower <= batch.q[i]) & (batch.q[i] <= upper)).all()


def assert_same(batch, wanted):
    """The same results; a GPU rounds differently, so some rows may end elsewhere."""
    share = 1.0 if SIMULATED else 0.98
    assert np.mean(batch.status == wanted.status) >= share
    same = np.abs(batch.q - wanted.q).max(axis=1) < 1e-6
    assert np.mean(same | np.isnan(wanted.q[:, 0])) >= share


def test_what_needs_the_cpu_is_refused_on_a_gpu(tmp_path):
    robot, poses = load(), np.tile(np.eye(4), (1, 1, 1))
    asked = {"jaw_1": poses, "right_6": poses}
    among = robot_with_two_arms(tmp_path).with_scene(Scene())
    cases = (
        (among, {"device": "cuda"}, "collisions are checked"),
        (robot, {"device": "cuda", "posture": Posture(robot.home)}, "a posture with a weight"),
        (robot, {"dtype": np.float32, "config": SolveConfig(1e-5, 1e-5)}, "dtype is float32"),
    )
    for model, given, message in cases:
        with pytest.raises(InvalidInputError, match=message):
            model.solve_batch(asked, **given)
    on_gpu, three = PathOptions(device="cuda"), np.tile(np.eye(4), (3, 1, 1))
    both = {"jaw_1": three, "right_6": three}
    cases = (
        (among, asked, {}, "collisions are checked on the CPU"),
        (robot, {"right_6": poses}, {}, "paths of one serial arm are solved"),
        (robot, both, {"times": [0.0, 0.1, 0.3]}, "at unequal times"),
    )
    for model, targets, given, message in cases:
        with pytest.raises(InvalidInputError, match=message):
            model.solve_path(targets, options=on_gpu, **given)
    with pytest.raises(InvalidInputError, match="device is 'gpu'"):
        PathOptions(device="gpu")


@on_a_gpu
@pytest.mark.parametrize("free_base", [False, True])
def test_targets_of_a_robot_are_reached_as_on_a_cpu(free_base):
    robot = load(free_base)
    targets, near = reachable(robot)
    wanted = robot.solve_batch(targets, near)
    batch = robot.solve_batch(targets, near, device="cuda")
    assert batch.converged.all()
    assert_true(robot, batch, targets)
    assert_same(batch, wanted)


@on_a_gpu
def test_rounds_of_more_and_more_restarts_are_one_search(monkeypatch):
    monkeypatch.setattr(cuda_trees, "FEW_RESTARTS", (0,))
    monkeypatch.setattr(cuda_trees, "PIECE", max(COUNT // 2, 2))
    monkeypatch.setattr(cuda_trees, "_warps", lambda: 1)
    robot = load()
    targets, _ = reachable(robot, seed=3)
    config = SolveConfig(max_restarts=4)
    wanted = robot.solve_batch(targets, config=config)
    batch = robot.solve_batch(targets, config=config, device="auto")
    assert_true(robot, batch, targets)
    assert_same(batch, wanted)
    if SIMULATED:
        assert np.array_equal(batch.restarts, wanted.restarts)
        assert np.array_equal(batch.iterations, wanted.iterations)


@on_a_gpu
def test_invalid_rows_and_rows_out_of_reach():
    robot = load()
    targets, near = reachable(robot)
    targets["jaw_2"][0, 0, 3] = np.nan
    targets["right_6"][1, :3, 3] += 3.0
    near[2, 0] = np.nan
    wanted = robot.solve_batch(targets, near, config=FEW)
    batch = robot.solve_batch(targets, near, config=FEW, device="cuda")
    assert_same(batch, wanted)
    assert batch[0].status is Status.INVALID
    assert np.isnan(batch.q[[0, 2]]).all()
    assert not batch.converged[:3].any()
    assert np.isclose(batch.position_error[1], wanted.position_error[1])  # the same compromise


@on_a_gpu
def test_couplings_boxes_and_held_joints():
    robot, posture = load(), Posture(active=load().joint_names[1:])
    targets, near = reachable(robot, ("jaw_1", "jaw_2", "right_6"), count=2)
    from_jaw = np.linalg.inv(targets["jaw_1"]) @ targets["right_6"]
    asked = {
        "jaw_2": within(targets["jaw_2"], 0.05),
        "right_6": relative(position(from_jaw[:, :3, 3]), to="jaw_1"),
    }
    wanted = robot.solve_batch(asked, near, posture=posture, config=FEW)
    batch = robot.solve_batch(asked, near, posture=posture, config=FEW, device="cuda")
    assert batch.converged.all()
    assert_same(batch, wanted)
    assert np.array_equal(batch.q[:, 0], np.clip(near[:, 0], *robot.limits[0]))


@on_a_gpu
def test_no_targets_have_no_rows_on_a_gpu():
    robot = load()
    batch = robot.solve_batch(
        {"right_6": np.empty((0, 4, 4)), "jaw_1": np.empty((0, 4, 4))}, device="cuda"
    )
    assert len(batch) == 0


def clip_of(robot, frames, seed=1):
    """A clip of poses along a smooth motion."""
    rng = np.random.default_rng(seed)
    q, change = robot.random(seed), rng.normal(0.0, 0.01, robot.n)
    lower, upper = robot.limits.T
    q = np.clip(q + np.arange(frames)[:, None] * change, lower, upper)
    return {link: np.array([robot.fk(row)[link] for row in q]) for link in LINKS}


def assert_same_path(path, wanted):
    """The same path, to the rounding of a GPU."""
    assert np.array_equal(path.status, wanted.status)
    assert path.breaks == wanted.breaks
    assert np.allclose(path.q, wanted.q, rtol=0.0, atol=1e-9 if SIMULATED else 1e-5, equal_nan=True)
    assert np.allclose(
        path.base_poses, wanted.base_poses, rtol=0.0, atol=1e-9 if SIMULATED else 1e-5
    )


@on_a_gpu
def test_clips_of_different_lengths_are_followed_as_on_a_cpu():
    robot = load(free_base=True)
    clips = [clip_of(robot, frames, seed) for seed, frames in enumerate((3, 2))]
    clips[1]["right_6"][0, 0, 3] = np.nan
    for path, wanted in zip(
        robot.solve_paths(clips, options=PathOptions(device="cuda")),
        robot.solve_paths(clips),
        strict=True,
    ):
        if SIMULATED:  # rounding on a GPU may lead the search for the first frame elsewhere
            assert_same_path(path, wanted)
        assert np.array_equal(path.status, wanted.status)
        assert np.isnan(path.q).all(axis=1).tolist() == np.isnan(wanted.q).all(axis=1).tolist()
        assert path.position_error[-1] < 1e-6


@on_a_gpu
def test_velocity_limits_hold_on_a_gpu():
    robot = load()
    clip, start = clip_of(robot, 3), robot.home
    given = {"start": start, "times": 0.02, "posture": Posture(smoothness=1e-3)}
    path = robot.solve_path(clip, options=PathOptions(device="cuda"), **given)
    assert_same_path(path, robot.solve_path(clip, **given))
    assert np.abs(np.diff(np.vstack([start, path.q]), axis=0)).max() <= 0.02 + 1e-12
    assert not path.converged.any()


@pytest.mark.parametrize("column", [TARGET_POSITION_WEIGHT, TARGET_LINK_AXES, TARGET_FORM])
def test_only_plain_targets_are_uploaded_in_part(column):
    ints, targets = np.zeros(TREE_HEADER, np.int64), np.zeros((3, 2, TARGET_SIZE))
    targets[1:, :, TARGET_POINT] = 0.5
    assert cuda_trees._is_plain(ints, targets)
    targets[2, 1, column] = 1.0
    assert not cuda_trees._is_plain(ints, targets)
    ints[TREE_ROWS] = 1
    assert not cuda_trees._is_plain(ints, targets[:2])


def test_paths_with_equal_postures_are_followed_together():
    robot = load()
    problems = [
        robot._problem(clip_of(robot, 2), True, None, Posture(smoothness=0.1), FEW, path=True)
        for _ in range(2)
    ]
    limits = path_limits(robot.max_velocity, 2, None, None)
    assert len({alike(problem, limits) for problem in problems}) == 1
    other = robot._problem(clip_of(robot, 2), True, None, Posture(smoothness=0.2), FEW, path=True)
    assert alike(other, limits) != alike(problems[0], limits)


def test_a_robot_that_is_too_large_is_followed_on_a_cpu(monkeypatch):
    robot = load()
    clip = clip_of(robot, 2)
    monkeypatch.setattr(cuda_trees, "MAX_SCRATCH", 1)
    monkeypatch.setattr(valid_path, "MIN_PATHS", 1)
    monkeypatch.setattr(tree_gpu, "wants_gpu", lambda device: device != "cpu")
    (path,) = robot.solve_paths([clip], options=PathOptions(device="auto"))
    np.testing.assert_array_equal(path.q, robot.solve_paths([clip])[0].q)
    with pytest.raises(InvalidInputError, match="so many joints and targets are solved on the CPU"):
        robot.solve_paths([clip], options=PathOptions(device="cuda"))
