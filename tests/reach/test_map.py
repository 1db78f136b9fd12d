"""Reach maps against geometry, against solving each pose, and against laws."""

from dataclasses import replace
from math import pi

import numpy as np
import pytest
from scipy.spatial.transform import RigidTransform

from jointwise import (
    AimCone,
    Chain,
    DHJoint,
    InvalidInputError,
    SolveConfig,
    compare,
    puma560,
    reach_map,
    robots,
)
from jointwise.model.arm import arm_model
from jointwise.reach import Workers
from jointwise.reach.chunks import REACH_CONFIG
from jointwise.reach.levels import solve_levels
from jointwise.reach.orientations import uniform_rotations
from testbed.searches import without_closed_form
from tests.support.reach import TWO_LINKS, small_reach_map, voxel_centres

# Points at which a UR5e reaches some of twelve orientations.
REACHED = [(0.5, 0.25, 0.5), (-0.5, 0.0, 0.25), (0.25, 0.5, -0.25)]


def test_two_link_arm_reaches_its_annulus(tmp_path):
    region = ((-1.8, 1.8), (-1.8, 1.8), (0.0, 0.0))
    store, workers = tmp_path / "two.zarr", Workers(chunk=16)
    opened = reach_map(TWO_LINKS, 0.05, None, region, store=store, workers=workers, progress=False)
    r = np.linalg.norm(voxel_centres(opened), axis=-1)
    clear = (np.abs(r - 0.4) > 1e-3) & (np.abs(r - 1.6) > 1e-3)
    assert clear.sum() > 5000
    assert (opened.dexterity == ((r > 0.4) & (r < 1.6)))[clear].all()
    # Yoshikawa's manipulability of two links is l1 l2 |sin q2|; q2 follows from the distance.
    inside = clear & (r > 0.4) & (r < 1.6)
    elbow = np.arccos((r[inside] ** 2 - 1.0 - 0.36) / 1.2)
    assert opened.manipulability[inside] == pytest.approx(0.6 * np.sin(elbow), abs=1e-3)
    assert (opened.limit_margin[inside] == 1.0).all()  # no limits
    assert opened.volume() == pytest.approx(pi * (1.6**2 - 0.4**2) * 0.05, rel=0.01)


def test_wrist_of_a_puma_reaches_a_hollow_sphere_around_its_shoulder(tmp_path):
    rows = puma560()
    opened = reach_map(
        Chain.from_dh(rows), 0.06, None, store=tmp_path / "puma.zarr", progress=False
    )
    offset = sum(row.d for row in rows[:3])
    upper_arm, forearm = rows[1].a, np.hypot(rows[2].a, rows[3].d)
    x, y, z = np.moveaxis(voxel_centres(opened), -1, 0)
    horizontal = np.hypot(x, y)
    # The offset of the shoulder is at right angles to the plane in which the two links move.
    distance = np.sqrt(np.maximum(horizontal**2 - offset**2, 0.0) + z**2)
    inner, outer = abs(upper_arm - forearm), upper_arm + forearm
    reached = (horizontal > abs(offset)) & (distance > inner) & (distance < outer)
    clear = np.abs(horizontal - abs(offset)) > 1e-3
    clear &= (np.abs(distance - inner) > 1e-3) & (np.abs(distance - outer) > 1e-3)
    assert reached.sum() > 5000
    assert (opened.dexterity == reached)[clear].all()


def test_rotating_the_base_rotates_the_map(tmp_path):
    count, region = 64, ((-1.0, 1.0), (-1.0, 1.0), (-0.5, 1.0))
    rows, limits = zip(*[(row, (-2 * pi, 2 * pi)) for row in puma560()], strict=True)
    tool = RigidTransform.from_translation([0.0, 0.0, 0.1])
    quarter_turn = [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    straight, rotated = (
        reach_map(
            Chain.from_dh(rows, limits, base=base, tool=tool),
            0.2,
            count,
            region,
            store=tmp_path / f"{name}.zarr",
            progress=False,
        ).dexterity
        for name, base in (("straight", None), ("rotated", quarter_turn))
    )
    rotated_back = np.rot90(rotated, -1, axes=(0, 1))
    difference = (rotated_back - straight).ravel()
    share = 0.5 * (rotated_back + straight).ravel()
    assert np.count_nonzero(share > 0.0) > 300
    assert np.count_nonzero((share > 0.1) & (share < 0.9)) > 100
    # The orientations are others in the rotated frame: the error of as many random ones.
    deviation = np.sqrt(2.0 * share * (1.0 - share) / count)
    assert (np.abs(difference) <= 4.0 * deviation + 2.0 / count).all()
    assert abs(difference.mean()) < 0.01


def test_scaling_the_arm_scales_the_map(tmp_path):
    """By two, which rounds nothing: the same joint values, bit for bit.

    Fails if a length weighs differently against an angle in a larger arm.
    """
    arm, config = robots.ur5e(), SolveConfig(1e-4, 1e-4, max_restarts=20)
    links = arm.arm.links.copy()
    links[:, :, 3] *= 2.0
    doubled = replace(arm, arm=arm_model(links, arm.prismatic, arm.limits))
    double_config = SolveConfig(2e-4, 1e-4, max_restarts=20)
    small = reach_map(arm, 0.25, 6, config=config, store=tmp_path / "one", progress=False)
    large = reach_map(doubled, 0.5, 6, config=double_config, store=tmp_path / "two", progress=False)
    assert 0.1 < small.dexterity.mean() < 0.9
    assert large.dexterity.tobytes() == small.dexterity.tobytes()
    assert large.limit_margin.tobytes() == small.limit_margin.tobytes()
    assert large.manipulability == pytest.approx(8.0 * small.manipulability, rel=1e-6)
    small_q, large_q = (each.dataset().q.values for each in (small, large))
    assert large_q.tobytes() == small_q.tobytes()


def test_a_radian_weighs_a_fifth_of_the_length_of_the_links():
    assert TWO_LINKS.arm.angular_scale == pytest.approx(0.2 * (1.0 + 0.6), rel=1e-12)
    assert Chain.from_dh([DHJoint()]).arm.angular_scale == 1.0  # has no length


@pytest.mark.parametrize("point", REACHED)
def test_stored_configuration_reaches_its_voxel(small_map, point):
    arm, reach = robots.ur5e(), small_map.at(point)
    assert 0.0 < reach.dexterity <= 1.0
    assert arm.fk(reach.q)[:3, 3] == pytest.approx(point, abs=1e-4)
    lower, upper = arm.limits.T
    assert ((lower <= reach.q) & (reach.q <= upper)).all()
    jacobian = arm.jacobian(reach.q)
    manipulability = np.sqrt(np.linalg.det(jacobian @ jacobian.T))
    margin = (1.0 - np.abs(reach.q - arm.mid_range) / (0.5 * (upper - lower))).min()
    assert 0.0 < manipulability <= reach.manipulability + 1e-6
    assert 0.0 < margin <= reach.limit_margin + 1e-6


def test_dexterity_is_the_share_of_poses_that_are_reached_one_by_one(small_map):
    """Without first solving positions and directions, and with more restarts."""
    arm, points = robots.ur5e(), voxel_centres(small_map).reshape(-1, 1, 3)
    poses = np.tile(np.eye(4), (len(points), 12, 1, 1))
    poses[..., :3, :3], poses[..., :3, 3] = uniform_rotations(12).rotations, points
    config = SolveConfig(1e-4, 1e-4, search_unreached=False)
    batch = arm.solve_batch(poses.reshape(-1, 4, 4), config=config)
    expected = batch.converged.reshape(-1, 12).mean(axis=1)
    assert 0.2 < expected.mean() < 0.8
    missed = np.abs(expected - small_map.dexterity.ravel())
    assert missed.mean() < 1e-3
    assert missed.max() < 0.1


def test_few_poses_are_missed_with_their_direction():
    """At the first of these points a direction takes 21 restarts, and six poses depend on it."""
    chain, rng = without_closed_form(Chain.load("irb120")), np.random.default_rng(1)
    arm, orientations = chain.arm, uniform_rotations(100)
    directions, radii = rng.normal(size=(200, 3)), arm.max_reach * rng.random((200, 1)) ** (1 / 3)
    offsets = radii * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    hard = [[-0.10468845744330786, -0.20168287307005242, 0.5952122011255789]]
    points = np.vstack([hard, arm.base_origin + offsets])
    poses = np.tile(np.eye(4), (len(points), 100, 1, 1))
    poses[..., :3, :3], poses[..., :3, 3] = orientations.rotations, points[:, None]
    config = replace(REACH_CONFIG, search_unreached=False)
    solved = chain.solve_batch(poses.reshape(-1, 4, 4), config=config)
    expected = solved.converged.reshape(-1, 100).sum(axis=1)
    found = solve_levels(arm, orientations, REACH_CONFIG, False, points).counts
    assert expected[0] > 0
    assert found[0] >= expected[0]
    assert found.sum() >= expected.sum()


def test_aim_cone_leaves_rotation_about_the_axis_free(tmp_path):
    cone, arm = AimCone((0, 0, -2.0), 0.3, 5), robots.ur5e()
    region = ((0.4, 0.4), (0.0, 0.2), (0.2, 0.2))
    opened = reach_map(arm, 0.2, cone, region, store=tmp_path / "aims.zarr", progress=False)
    assert opened.dexterity.tolist() == [[[1.0], [1.0]]]
    pose = arm.fk(opened.at([0.4, 0.2, 0.2]).q)
    assert np.arccos(-pose[2, 2]) <= 0.3 + 1e-3
    assert opened.settings["orientations"] == {
        "direction": [0.0, 0.0, -1.0],
        "half_angle": 0.3,
        "count": 5,
        "axis": [0.0, 0.0, 1.0],
    }


def test_outside_the_map_nothing_is_reached(small_map):
    assert small_map.at([5.0, 0.0, 0.0]) == (0.0, 0.0, 0.0, None)
    corner = [small_map.grid.centres(axis)[0] for axis in range(3)]
    assert small_map.at(corner) == (0.0, 0.0, 0.0, None)


@pytest.mark.parametrize("as_pose", [np.asarray, np.ndarray.tolist, RigidTransform.from_matrix])
def test_pose_is_looked_up_by_its_position(small_map, as_pose):
    pose = np.eye(4)
    pose[:3, 3] = 0.5, 0.25, 0.5
    reach, expected = small_map.at(as_pose(pose)), small_map.at([0.5, 0.25, 0.5])
    assert reach[:3] == expected[:3]
    assert reach.q.tolist() == expected.q.tolist()


def test_arrays_are_read_only(small_map):
    assert not small_map.at(REACHED[0]).q.flags.writeable
    for array in (small_map.dexterity, small_map.manipulability, small_map.limit_margin):
        assert not array.flags.writeable


def test_map_prints_its_volume_and_mean_dexterity(small_map):
    reached = small_map.dexterity[small_map.dexterity > 0.0]
    assert small_map.volume() == pytest.approx(reached.size * 0.25**3)
    assert str(small_map) == (
        f"{small_map.volume():.4g} m³ reached, "
        f"mean dexterity there {reached.mean(dtype=float):.1%}; "
        f"{small_map.volume(0.9):.4g} m³ with a dexterity above 90 %"
    )
    assert 0.0 < small_map.volume(0.9) < small_map.volume()
    assert repr(small_map).startswith("<ReachMap of 9 × 9 × 8 voxels of 0.25 m: ")


def test_map_compared_with_itself_is_the_same(small_map):
    same = compare(small_map, small_map)
    assert same.volume_a == same.volume_b == same.volume_both == small_map.volume()
    assert same.dexterity_a == same.dexterity_b > 0.0


def dexterity_by_centre(opened):
    """The dexterity of every voxel that is reached, by its centre in multiples of 0.25 m."""
    centres = np.rint(voxel_centres(opened).reshape(-1, 3) / 0.25).astype(int)
    values = zip(map(tuple, centres.tolist()), opened.dexterity.ravel().tolist(), strict=True)
    return {centre: value for centre, value in values if value > 0.0}


def test_comparison_counts_voxels_that_both_arms_reach(small_map, tmp_path):
    other = small_reach_map(tmp_path / "ur3e.zarr", robots.ur3e())
    found = compare(small_map, other)
    a, b = dexterity_by_centre(small_map), dexterity_by_centre(other)
    both = a.keys() & b.keys()
    assert 0 < len(both) < len(a)
    volumes = found.volume_a, found.volume_b, found.volume_both
    assert volumes == pytest.approx([len(each) * 0.25**3 for each in (a, b, both)])
    assert found.dexterity_a == pytest.approx(np.mean([a[centre] for centre in both]))
    assert found.dexterity_b == pytest.approx(np.mean([b[centre] for centre in both]))
    assert str(found).startswith(f"the first reaches {found.volume_a:.4g} m³, the second ")


def test_maps_of_different_resolution_are_not_compared(small_map, tmp_path):
    coarse = reach_map(robots.ur3e(), 0.5, None, store=tmp_path / "coarse.zarr", progress=False)
    with pytest.raises(InvalidInputError, match=r"the maps have resolution 0.25 and 0.5: expected"):
        compare(small_map, coarse)
