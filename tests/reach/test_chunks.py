"""Grids, chunks, and the measures of a configuration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import Chain, robots, two_link_planar
from jointwise.reach.base_search import measure
from jointwise.reach.chunks import POSES_AT_ONCE, REACH_CONFIG, Job, compute_chunk
from jointwise.reach.grid import grid_over
from jointwise.reach.orientations import UP, orientation_set, uniform_rotations
from tests.support.arms import chains
from tests.support.reach import TWO_LINKS


@given(st.sampled_from([1, 2, 3, 7, 50]), st.floats(0.4, 0.9))
def test_chunks_cover_every_voxel_once(edge, resolution):
    grid = grid_over(TWO_LINKS.arm, resolution, None, edge, 1000)
    covered = np.zeros(grid.shape, int)
    for index in grid.chunks():
        covered[grid.slices(index)] += 1
        for point in grid.points(index)[[0, -1]]:
            assert covered[grid.voxel_at(point)] == 1
    assert (covered == 1).all()


@given(st.floats(0.4, 0.9))
def test_grid_covers_the_reach_of_the_arm(resolution):
    grid, reach = grid_over(TWO_LINKS.arm, resolution, None, None, 1000), TWO_LINKS.max_reach
    for axis in range(3):
        low, high = grid.centres(axis)[[0, -1]]
        assert -reach - 1e-6 <= low < -reach + resolution
        assert reach - resolution < high <= reach + 1e-6


def test_rounding_does_not_drop_voxels_at_the_boundary():
    grid = grid_over(TWO_LINKS.arm, 0.1, ((-0.3, 0.3), (-0.3, 0.3), (0, 0)), None, 1000)
    assert (-0.3 / 0.1, 0.3 / 0.1) == (-2.9999999999999996, 2.9999999999999996)
    assert (grid.first, grid.shape) == ((-3, -3, 0), (7, 7, 1))


@pytest.mark.parametrize(
    ("max_voxels", "chunk"), [(0, (1, 1, 1)), (8, (2, 2, 2)), (26, (2, 2, 2)), (27, (3, 3, 3))]
)
def test_chunks_are_as_large_as_allowed(max_voxels, chunk):
    grid = grid_over(TWO_LINKS.arm, 0.1, ((0, 1), (0, 1), (0, 1)), None, max_voxels)
    assert grid.chunk == chunk


def test_chunks_do_not_exceed_the_grid():
    grid = grid_over(TWO_LINKS.arm, 0.1, ((0, 1), (0, 0.3), (0, 0)), None, 24)
    assert (grid.shape, grid.chunk) == ((11, 4, 1), (6, 4, 1))


@pytest.mark.parametrize(
    ("point", "voxel"),
    [
        ((0.0, 0.5, -0.5), (0, 1, 0)),
        ((0.24, 0.26, -0.26), (0, 1, 0)),
        ((0.26, 0.24, -0.24), (1, 0, 1)),
        ((-0.26, 0.0, 0.0), None),
        ((0.0, 0.0, 0.26), None),
    ],
)
def test_voxel_extends_half_the_resolution_around_its_centre(point, voxel):
    grid = grid_over(TWO_LINKS.arm, 0.5, ((0, 1), (0, 1), (-0.5, 0)), None, 1000)
    assert grid.voxel_at(np.array(point)) == voxel


def test_chunk_does_not_depend_on_the_pieces_it_is_solved_in(monkeypatch):
    arm = robots.ur5e().arm
    job = Job(arm, grid_over(arm, 0.25, None, 3, 1000), orientation_set(9), REACH_CONFIG, "cpu")
    expected = compute_chunk(job, (1, 1, 1))
    assert 0.0 < expected.dexterity.mean() < 1.0
    monkeypatch.setitem(POSES_AT_ONCE, "cpu", 50)
    for array, again in zip(expected, compute_chunk(job, (1, 1, 1)), strict=True):
        assert array.tobytes() == again.tobytes()


@given(chains, st.integers(0, 9), st.sampled_from([3, 5, 6]))
def test_manipulability_is_the_product_of_singular_values(rows, seed, jacobian_rows):
    arm = Chain.from_dh(rows)
    q = arm.random(seed, 2)
    axis = uniform_rotations(7).rotations[seed % 7, 0]
    manipulability, margin = measure(arm.arm, q, np.ones(2, np.bool_), jacobian_rows, axis)
    for value, configuration in zip(manipulability, q, strict=True):
        jacobian = arm.jacobian(configuration)
        if jacobian_rows == 5:
            across = np.linalg.svd((arm.fk(configuration)[:3, :3] @ axis)[None])[2][1:]
            jacobian = np.vstack([jacobian[:3], across @ jacobian[3:]])
        singular = np.linalg.svd(jacobian[:jacobian_rows], compute_uv=False)
        scale = max(1.0, singular[0]) ** len(singular)
        assert value == pytest.approx(singular.prod(), abs=1e-7 * scale)
    assert (margin == 1.0).all()  # no limits


def test_margin_is_one_in_the_middle_and_zero_at_a_limit():
    arm = Chain.from_dh(two_link_planar(1, 1), [(-1.0, 3.0), (0.0, np.inf)])
    q = np.array([[1.0, 5.0], [3.0, 5.0], [-1.0, 5.0], [0.0, 5.0]])
    _, margin = measure(arm.arm, q, np.ones(4, np.bool_), 3, UP)
    assert margin.tolist() == [1.0, 0.0, 0.0, 0.5]


def test_measures_are_zero_where_nothing_has_converged():
    assert measure(TWO_LINKS.arm, np.ones((1, 2)), np.zeros(1, np.bool_), 3, UP).tolist() == [
        [0.0],
        [0.0],
    ]
