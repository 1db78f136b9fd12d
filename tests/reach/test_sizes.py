"""Wherever a size becomes a count: it is small enough to begin, or refused by its number."""

from math import inf, nan, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import InvalidInputError, robots
from jointwise.backends.threads import MAX_THREADS, thread_count
from jointwise.reach import AimCone, Workers, base_candidates, map_size, reach_map
from jointwise.reach.grid import MAX_CHUNK, MAX_TOTAL, MAX_VOXELS, check_size, grid_over
from jointwise.reach.orientations import MAX_ORIENTATIONS, orientation_set
from jointwise.reach.placement import MAX_CANDIDATES
from tests.support.reach import tiny_reach_map

UR5E = robots.ur5e()
# Powers of ten from the smallest to the largest float, both signs, and what is no number.
hostile = st.one_of(
    st.integers(-323, 308).map(lambda power: 10.0**power),
    st.integers(-323, 308).map(lambda power: -(10.0**power)),
    st.sampled_from([0.0, nan, inf, -inf, 2.0**63, 2.0**31, 1e18, 1e-12]),
    st.integers(-(10**20), 10**20),
    st.floats(),
)


def result_or_refusal(call, *arguments):
    """What a call returns, or the text of the error by which it refuses its arguments."""
    try:
        return call(*arguments), ""
    except InvalidInputError as error:
        return None, str(error)


@given(st.tuples(*[st.tuples(hostile, hostile)] * 3) | st.none(), hostile, hostile | st.none())
def test_a_grid_can_be_counted_or_is_refused(region, resolution, chunk):
    def checked_grid():
        grid = grid_over(UR5E.arm, resolution, region, chunk, 1000)
        check_size(grid)
        return grid

    grid, text = result_or_refusal(checked_grid)
    if grid is None:
        assert text.startswith(("region", "resolution", "chunk"))
    else:
        assert prod(grid.shape) <= MAX_TOTAL
        assert prod(grid.chunk) <= MAX_CHUNK


@given(hostile, hostile, hostile)
def test_the_size_of_a_map_is_a_number_or_refused(x, resolution, orientations):
    region = (-0.5, x), (-0.5, 0.5), (0.0, 0.0)
    size, text = result_or_refusal(map_size, UR5E, resolution, orientations, region)
    if size is None:
        assert text.startswith(("region", "resolution", "orientations"))
    else:
        assert 0 <= size.voxels <= MAX_VOXELS**3
        assert size.seconds < inf


@given(hostile, hostile, hostile)
def test_candidates_are_few_enough_or_refused(x, radius, step):
    bases, text = result_or_refusal(base_candidates, [[x, 0.0, 0.0]], radius, step)
    if bases is None:
        assert text.startswith(("targets", "radius", "step"))
    else:
        assert len(bases) <= MAX_CANDIDATES
        assert np.isfinite(bases).all()


@given(st.integers(MAX_ORIENTATIONS + 1, 10**9 - 1))
def test_more_orientations_than_fit_are_refused(count):
    for orientations in (count, AimCone((0, 0, 1), 1.0, count)):
        with pytest.raises(InvalidInputError, match=f"^orientations has {count:,} entries: "):
            orientation_set(orientations)
    assert orientation_set(3).count == 3


@given(hostile)
def test_threads_can_be_started_or_are_refused(threads):
    count, text = result_or_refusal(thread_count, threads)
    assert text.startswith("threads is ") if count is None else 1 <= count <= MAX_THREADS


REFUSED = {
    "resolution is 0.0001 for a region of 3.28e+13 voxels: "
    "expected at most 1e+11. Use a larger resolution or a smaller region.": {"resolution": 1e-4},
    "chunk is 5000, so a chunk has 25,000,000 voxels: expected at most 10,000,000. Use a smaller "
    "chunk, such as 32.": {
        "resolution": 1e-3,
        "region": ((0, 0), (0, 50), (0, 50)),
        "workers": Workers(chunk=5000),
    },
    "orientations has 999,999,999 entries: expected at most 1,000,000, since all orientations of a "
    "voxel are solved at once.": {"orientations": 10**9 - 1},
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_map_that_is_too_large_is_refused_before_anything_is_written(tmp_path, text):
    with pytest.raises(InvalidInputError) as caught:
        tiny_reach_map(tmp_path, **REFUSED[text])
    assert str(caught.value) == text
    assert not list(tmp_path.iterdir())


def test_too_many_threads_are_refused_by_every_call(tmp_path):
    targets = UR5E.fk(UR5E.random(1, 3))
    for call in (
        lambda: UR5E.solve_batch(targets, threads=10**8),
        lambda: reach_map(UR5E, store=tmp_path / "map.zarr", workers=Workers(threads=10**8)),
    ):
        with pytest.raises(
            InvalidInputError, match=f"^threads is 100000000: expected at most {MAX_THREADS}"
        ):
            call()
