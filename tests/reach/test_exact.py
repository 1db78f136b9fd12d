"""Maps of arms with a closed form, which decides about every pose."""

import numpy as np
import pytest

from jointwise import AimCone, Chain, ReachMap, SolveConfig, reach_map, robots
from jointwise.reach.chunks import REACH_CONFIG
from jointwise.reach.levels import is_exact, solve_levels
from jointwise.reach.orientations import orientation_set, uniform_rotations
from testbed.searches import searched
from tests.support.reach import small_reach_map, tiny_reach_map


@pytest.mark.parametrize("name", ["ur5e", "irb120", "puma560", "jaco2", "stanford"])
def test_an_exact_map_finds_what_a_long_search_finds(name):
    chain, rng, orientations = Chain.load(name), np.random.default_rng(5), uniform_rotations(50)
    offsets = rng.normal(size=(30, 3))
    offsets *= (
        chain.max_reach * rng.random((30, 1)) / np.linalg.norm(offsets, axis=1, keepdims=True)
    )
    points = chain.arm.base_origin + offsets
    poses = np.tile(np.eye(4), (30, 50, 1, 1))
    poses[..., :3, :3], poses[..., :3, 3] = orientations.rotations, points[:, None]
    expected = searched(chain, poses.reshape(-1, 4, 4), 400).reshape(30, 50).sum(axis=1)
    # Restarts and tolerances do not matter: the pose itself is reached, or not.
    for config in (REACH_CONFIG, SolveConfig(max_restarts=1)):
        scores = solve_levels(chain.arm, orientations, config, False, points)
        assert scores.counts.tolist() == expected.tolist()
    reached = scores.counts > 0
    assert 2 < reached.sum() < 30
    tips = chain.fk(scores.q[reached])[:, :3, 3]
    assert tips == pytest.approx(points[reached], abs=1e-6)


def test_a_map_says_whether_it_is_exact(tmp_path):
    opened = small_reach_map(tmp_path / "ur5e.zarr", region=((0.4, 0.6),) * 3)
    assert opened.exact
    assert opened.dataset().attrs["jointwise"]["exact"] is True
    assert not tiny_reach_map(tmp_path, orientations=None).exact


def test_a_map_that_does_not_say_so_is_not_exact(tmp_path):
    path = tmp_path / "ur5e.zarr"
    reach_map(robots.ur5e(), 0.5, 4, store=path, progress=False)
    opened = ReachMap(path)
    del opened._store.description["exact"]  # as of an older version
    assert not opened.exact


def test_only_poses_of_six_joints_with_a_closed_form_are_decided():
    poses, rest = orientation_set(12), SolveConfig(stiffness=1.0)
    ur5e, panda = robots.ur5e().arm, robots.panda().arm
    assert is_exact(ur5e, poses, REACH_CONFIG, on_gpu=False)
    assert not is_exact(ur5e, poses, REACH_CONFIG, on_gpu=True)
    assert not is_exact(ur5e, poses, rest, on_gpu=False)
    assert not is_exact(panda, poses, REACH_CONFIG, on_gpu=False)
    for orientations in (None, AimCone((0, 0, -1), 0.5, 5)):
        assert not is_exact(ur5e, orientation_set(orientations), REACH_CONFIG, on_gpu=False)
