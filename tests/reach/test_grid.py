"""The grid of a reach map: voxels of a region, and chunks that are as large as allowed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import InvalidInputError, robots
from jointwise.reach.grid import MAX_VOXELS, grid_over

ARM = robots.ur5e().arm
sizes = st.integers(1, 40)


def region_of(shape):
    """Voxels of 0.1 m, so many along each axis."""
    return [(0.0, 0.1 * (count - 1)) for count in shape]


@given(st.tuples(sizes, sizes, sizes), st.integers(1, 5000))
def test_a_chunk_is_the_largest_that_is_allowed(shape, max_voxels):
    grid = grid_over(ARM, 0.1, region_of(shape), None, max_voxels)
    assert grid.shape == shape
    edges = [edge for edge in range(1, 41) if np.prod(np.minimum(edge, shape)) <= max_voxels]
    assert grid.chunk == tuple(np.minimum(max(edges, default=1), shape))


@given(st.tuples(sizes, sizes, sizes), st.integers(1, 50))
def test_the_edge_of_a_chunk_can_be_given(shape, edge):
    grid = grid_over(ARM, 0.1, region_of(shape), edge, 1)
    assert grid.chunk == tuple(np.minimum(edge, shape))
    voxels = np.zeros(shape, int)
    for index in grid.chunks():
        voxels[grid.slices(index)] += 1
    assert (voxels == 1).all()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_region_without_voxels_or_with_too_many_is_refused(axis):
    region = region_of((2, 3, 4))
    for ends, count in (((0.02, 0.05), 0), ((0.0, 0.1 * MAX_VOXELS), MAX_VOXELS + 1)):
        region[axis] = ends
        shape = [2, 3, 4]
        shape[axis] = count
        with pytest.raises(InvalidInputError) as caught:
            grid_over(ARM, 0.1, region, None, 10)
        assert str(caught.value).startswith(
            f"resolution is 0.1 for a region of {shape[0]} by {shape[1]} by {shape[2]} voxels: "
        )
    region[axis] = (0.0, 0.1 * (MAX_VOXELS - 1))
    assert grid_over(ARM, 0.1, region, None, 10).shape[axis] == MAX_VOXELS


@pytest.mark.parametrize(
    ("region", "chunk", "start"),
    [
        ("everywhere", None, "region is 'everywhere': "),
        (None, 0.5, "chunk is 0.5: "),
        (None, 0, "chunk is 0: expected at least 1 voxel"),
        ([(0, 1), (0, np.nan), (0, 1)], None, "region[1, 1] is nan: "),
    ],
)
def test_errors_name_the_argument(region, chunk, start):
    with pytest.raises(InvalidInputError) as caught:
        grid_over(ARM, 0.1, region, chunk, 10)
    assert str(caught.value).startswith(start)
