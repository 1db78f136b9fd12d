"""The size of a map before it is computed."""

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import AimCone, Chain, InvalidInputError, robots
from jointwise.reach import Workers, map_size
from jointwise.reach.chunks import REACH_CONFIG
from jointwise.reach.grid import grid_over, within_reach
from jointwise.reach.size import MAX_LAYERS, POSES_PER_SECOND, MapSize
from tests.reach.test_input import REFUSED
from tests.support.reach import TWO_LINKS, small_reach_map

UR5E = robots.ur5e()


def count_voxels(chain, resolution, region=None):
    """The voxels that are solved, one by one."""
    grid = grid_over(chain.arm, resolution, region, None, 10**6)
    tolerance = REACH_CONFIG.position_tolerance
    return sum(
        int(within_reach(chain.arm, grid.points(index), tolerance).sum()) for index in grid.chunks()
    )


corners = st.tuples(*[st.floats(-1.5, 1.5)] * 2).map(sorted)


@given(
    resolution=st.floats(0.03, 0.5),
    region=st.none() | st.tuples(corners, corners, corners),
    name=st.sampled_from(["ur5e", "panda", "gen3"]),
)
def test_voxels_of_a_coarse_grid_are_exact(resolution, region, name):
    chain = Chain.load(name)
    try:
        expected = count_voxels(chain, resolution, region)
    except InvalidInputError:  # no voxel in the region
        with pytest.raises(InvalidInputError):
            map_size(chain, resolution, region=region)
        return
    assert map_size(chain, resolution, region=region).voxels == expected


@pytest.mark.parametrize(("resolution", "region"), [(0.012, None), (0.004, ((0, 1),) * 3)])
def test_voxels_of_a_fine_grid_are_within_1_percent(resolution, region):
    assert max(grid_over(UR5E.arm, resolution, region, 1, 1).shape) > 1.5 * MAX_LAYERS
    counted = count_voxels(UR5E, resolution, region)
    assert abs(map_size(UR5E, resolution, region=region).voxels / counted - 1) < 0.01


def test_the_whole_map_has_this_size(tmp_path):
    size = map_size(UR5E, 0.25, 12)
    opened = small_reach_map(tmp_path / "map.zarr")
    arrays = opened.dataset().data_vars.values()
    bytes_per_voxel = sum(array.nbytes for array in arrays) / opened.dexterity.size
    assert size.voxels >= (opened.dexterity > 0).sum()
    assert size.bytes == size.voxels * bytes_per_voxel
    assert size.poses == 12 * size.voxels


def test_orientations_threads_and_device_count():
    size = map_size(UR5E, 0.1, None, workers=Workers(threads=1))
    assert size.poses == size.voxels
    assert size.seconds == size.poses / POSES_PER_SECOND["cpu"]
    assert map_size(UR5E, 0.1, None, workers=Workers(threads=4)).seconds == size.seconds / 4
    on_cluster = map_size(UR5E, 0.1, None, workers=Workers(client="tcp://10.0.0.5:8786"))
    assert on_cluster == size  # of one core
    assert map_size(UR5E, 0.1, AimCone((0, 0, 1), 1.0, 7)).poses == 7 * size.poses


def test_absurd_maps_do_not_overflow_and_take_no_memory():
    size = map_size(UR5E, 2.2e-5, 999_999_999)
    assert all(value > 0 for value in astuple(size))
    ideal = 4 / 3 * np.pi * (UR5E.max_reach / 2.2e-5) ** 3
    assert abs(size.voxels / ideal - 1) < 0.01
    assert size.poses == 999_999_999 * size.voxels > 2**63


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (MapSize(1, 2, 60, 0.01), "1 voxels within reach, 2 poses: at most 0.1 kB, about 1 s"),
        (MapSize(1, 2, 2_260_000, 119.4), "at most 2.3 MB, about 119 s"),
        (MapSize(1, 2, 999_000_000, 120.0), "at most 999.0 MB, about 2 min"),
        (MapSize(1, 2, 10**9, 7200.0), "at most 1.0 GB, about 2 h"),
        (MapSize(1, 2, 10**16, 86_400.0), "at most 10.0 PB, about 24 h"),
        (MapSize(1, 2, 10**12, 172_800.0), "at most 1.0 TB, about 2 days"),
        (MapSize(1234, 5678, 10**19, 1e12), "at most 10,000.0 PB, about 31,688 years"),
    ],
)
def test_sizes_as_text(size, text):
    assert str(size).endswith(text)


KEYS = {"arm", "resolution", "orientations", "region"}


@pytest.mark.parametrize(
    "message", [message for message, options in REFUSED.items() if {*options} <= KEYS]
)
def test_what_reach_map_refuses_is_refused(message):
    options = {"resolution": 0.5, **REFUSED[message]}
    with pytest.raises(InvalidInputError) as caught:
        map_size(options.pop("arm", TWO_LINKS), **options)
    assert str(caught.value) == message
