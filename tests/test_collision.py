"""Clearance, and solutions that collide with nothing: laws, and a slow twin."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation

import jointwise
from jointwise import (
    Chain,
    InvalidInputError,
    Posture,
    Scene,
    SolveConfig,
    Status,
    UnsolvedError,
)
from jointwise.engines.serial.packing import packed_arm
from jointwise.engines.serial.solve import closed_form_for
from jointwise.errors import GeometryWarning
from jointwise.kernels.layout.arm import has_joint_penalties
from jointwise.kernels.layout.scene import sphere_blocks
from jointwise.kernels.layout.spheres import TABLE_CELLS, TABLE_MAX
from jointwise.shape.geometry import group_of_spheres, kernel_spheres
from tests.support import collision_twin as twin
from tests.support.scenes import everything, panda, table, ur5e

# Random obstacles may well collide with the first link.
pytestmark = pytest.mark.filterwarnings("ignore::jointwise.errors.GeometryWarning")

SEEDS = st.integers(0, 10_000)
PANDA, UR5E = panda(), ur5e()
ARMS = pytest.mark.parametrize("arm", [PANDA, UR5E], ids=["panda", "ur5e"])


def free_targets(arm, count, seed=0):
    """Poses that are reached free in the scene of an arm, and the joint values that do so."""
    q = arm.random(seed=seed, count=8 * count)
    q = q[arm.is_free(q)][:count]
    assert len(q) == count
    return arm.fk(q), q


@ARMS
@given(seed=SEEDS)
def test_clearance_is_that_of_the_twin(arm, seed):
    scene, q = everything(seed), arm.random(seed=seed)
    expected, names = twin.clearance(arm, q, scene)
    arm = arm.with_scene(scene)
    assert arm.clearance(q) == pytest.approx(expected, rel=0.0, abs=1e-11)
    result = arm.solve(arm.fk(q), q, config=SolveConfig(max_restarts=0))
    if (result.q == q).all():
        assert result.contact == names


@ARMS
@given(seed=SEEDS)
def test_blocks_have_the_spheres_of_each_link_group_and_nothing_else(arm, seed):
    rng, body = np.random.default_rng(seed), kernel_spheres(arm.geometry)
    counts = rng.integers(0, 20, arm.n + 2)
    first = np.concatenate([[0], counts.cumsum()])
    body = body._replace(
        centres=rng.normal(size=(first[-1], 3)), radii=rng.random(first[-1]), first=first
    )
    blocks, first_block = sphere_blocks(body)
    assert first_block.tolist() == np.concatenate([[0], (-(-counts // 8)).cumsum()]).tolist()
    for group, (begin, end) in enumerate(pairwise(first)):
        low, high = int(first_block[group]), int(first_block[group + 1])
        rows = blocks.reshape(-1, 4, 8).swapaxes(1, 2)[low:high].reshape(-1, 4)
        own = np.column_stack([body.centres[begin:end], body.radii[begin:end]])
        assert set(map(tuple, rows)) == set(map(tuple, own))


def test_an_arm_in_a_scene_is_packed_once():
    arm = PANDA.with_scene()
    check = arm._check()
    assert arm._check() is check
    assert arm.solve(arm.fk(arm.mid_range))._check is check


def test_penalties_are_seen_in_the_buffer():
    check = UR5E.with_scene(table())._check()
    weights = (1.0, 1.0, 1.0, 1.0)
    for config, decides in ((SolveConfig(), True), (SolveConfig(stiffness=0.1), False)):
        packed = packed_arm(UR5E.arm, config, None, check)
        assert has_joint_penalties(packed) != decides
        assert (closed_form_for(UR5E.arm, packed, weights) is not None) == decides


@given(seed=SEEDS, margin=st.floats(0.0, 0.3))
def test_free_is_a_clearance_of_at_least_the_margin(seed, margin):
    arm, q = PANDA.with_scene(everything(seed), margin=margin), PANDA.random(seed=seed, count=8)
    assert arm.margin == margin
    assert (arm.is_free(q) == (arm.clearance(q) >= margin)).all()


@given(seed=SEEDS, more=st.floats(0.0, 0.3))
def test_larger_obstacles_leave_no_more_clearance(seed, more):
    rng, q = np.random.default_rng(seed), PANDA.random(seed=seed, count=8)
    size, centre = rng.uniform(0.05, 0.4, 3), rng.uniform(-0.8, 0.8, 3)
    small, large = Scene().box(size, centre), Scene().box(size + more, centre)
    among_large, among_small = PANDA.with_scene(large), PANDA.with_scene(small)
    assert (among_large.clearance(q) <= among_small.clearance(q) + 1e-12).all()


@given(seed=SEEDS)
def test_moving_base_and_scene_together_changes_nothing(seed):
    rng, q = np.random.default_rng(seed), PANDA.random(seed=seed, count=8)
    move = RigidTransform.from_components(rng.normal(size=3), Rotation.random(rng=rng)).as_matrix()
    pose = np.eye(4)
    pose[:3, 3] = rng.uniform(-0.8, 0.8, 3)
    scene, moved = Scene().cylinder(0.2, 0.3, pose), Scene().cylinder(0.2, 0.3, move @ pose)
    rows = Chain.load("panda").rows
    there = Chain.from_mdh(rows, PANDA.limits, base=move, names=PANDA.joint_names)
    assert there.fk(q[0]) == pytest.approx(move @ Chain.from_mdh(rows).fk(q[0]), abs=1e-9)
    for arm in (there.with_geometry(PANDA.geometry), PANDA.with_base(move)):
        for self_collision in (False, True):
            expected = PANDA.with_scene(scene, self_collision=self_collision).clearance(q)
            found = arm.with_scene(moved, self_collision=self_collision).clearance(q)
            assert found == pytest.approx(expected, abs=1e-9)
    assert PANDA.with_scene(moved).with_base(move).clearance(q) == pytest.approx(
        PANDA.with_scene(scene).clearance(q), abs=1e-9
    )  # the scene stays


def test_self_collision_can_be_left_out():
    folded = np.array([0.0, 1.7, 0.0, -3.0, 0.0, 0.5, 0.0])
    arm, careless = PANDA.with_scene(), PANDA.with_scene(self_collision=False)
    assert arm.clearance(folded) == pytest.approx(twin.clearance(PANDA, folded, Scene())[0])
    assert careless.clearance(folded) == np.inf
    target = PANDA.fk(folded)
    if arm.clearance(folded) < 0.0:
        assert careless.solve(target, folded).iterations == 0


@pytest.mark.parametrize("voxel", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("margin", [0.0, 0.01, 0.05])
def test_what_is_free_of_a_grid_has_the_clearance_that_is_asked_for(voxel, margin):
    rng = np.random.default_rng(7)
    scene = Scene.from_points(rng.uniform([0.2, -0.6, 0.0], [0.7, 0.6, 0.7], (60, 3)), voxel)
    arm, q = PANDA.with_scene(scene, margin=margin), PANDA.random(seed=8, count=4000)
    free, clearance = arm.is_free(q), arm.clearance(q)
    assert 0 < free.sum() < len(q)
    assert (free == (clearance >= margin)).all()


@pytest.mark.parametrize("name", ["panda", "ur3e", "ur5", "ur5e", "ur10e", "xarm7", "irb120"])
def test_a_margin_does_not_count_between_links_that_are_always_close(name):
    arm = Chain.load(name).with_scene()
    q = arm.random(seed=1, count=400)
    free, clearance = arm.with_scene(margin=0.03).is_free(q), arm.clearance(q)
    assert (free == (clearance >= 0.03)).all()
    assert free.sum() > 0.5 * arm.is_free(q).sum() > 20


def test_a_table_of_distances_decides_for_its_pair():
    arm, body = UR5E, kernel_spheres(UR5E.geometry)
    table_of, ranges = np.full((1, TABLE_CELLS, TABLE_CELLS), TABLE_MAX), [[-np.pi, np.pi] * 2]
    table_of[0, 10, 20] = -0.01
    body = body._replace(
        pairs=body.pairs[:0],
        table_pairs=np.array([[2, 4, 2, 3]]),
        tables=table_of,
        table_ranges=np.array(ranges),
    )
    arm = arm.with_geometry(replace(arm.geometry, _spheres=body)).with_scene()
    cell = 2.0 * np.pi / TABLE_CELLS
    q = np.zeros(6)
    q[2], q[3] = -np.pi + 10.5 * cell, -np.pi + 20.5 * cell
    assert arm.clearance(q) == -0.01
    q[2] += 2.0 * np.pi  # a full turn is the same
    assert arm.clearance(q) == -0.01
    q[3] += cell
    assert arm.clearance(q) == np.inf


@ARMS
def test_solutions_in_a_scene_are_free_by_the_twin(arm):
    scene, margin = table(), 0.02
    bare, arm = arm, arm.with_scene(scene, margin=margin)
    targets, _ = free_targets(arm, 40)
    batch = arm.solve_batch(targets)
    assert batch.converged.all(), batch.summary()
    for target, row in zip(targets, batch, strict=True):
        assert twin.clearance(arm, row.q, scene)[0] >= margin
        assert arm.fk(row.q) == pytest.approx(target, abs=1e-5)
    assert (batch.clearance >= margin).all()
    without = bare.solve_batch(targets)
    assert (arm.clearance(without.q) < margin).any()  # the scene mattered


@ARMS
def test_rows_of_a_batch_are_those_of_single_solves(arm):
    arm, q = arm.with_scene(table()), arm.random(seed=2, count=60)
    batch = arm.solve_batch(arm.fk(q), config=SolveConfig(max_restarts=8))
    assert {Status.CONVERGED, Status.COLLIDES_ALWAYS} <= {row.status for row in batch}
    for target, row in zip(arm.fk(q), batch, strict=True):
        alone = arm.solve(target, config=SolveConfig(max_restarts=8))
        assert alone.status == row.status
        assert alone.q.tolist() == row.q.tolist()
        assert (alone.iterations, alone.restarts) == (row.iterations, row.restarts)


def test_a_start_that_collides_is_left_and_a_free_one_is_kept():
    arm = PANDA.with_scene(table())
    _, (q, *_) = free_targets(arm, 1)
    assert arm.solve(arm.fk(q), q).iterations == 0
    colliding = next(q for q in arm.random(seed=4, count=500) if not arm.is_free(q))
    result = arm.solve(arm.fk(colliding), colliding)
    assert not result.converged or result.clearance >= 0.0


def test_a_hand_that_collides_at_the_target_is_proven_without_a_search():
    target = PANDA.fk(PANDA.mid_range)
    scene = Scene().sphere(0.05, target[:3, 3], name="ball")
    result = PANDA.with_scene(scene).solve(target)
    assert result.status is Status.COLLIDES_ALWAYS
    assert not result.converged
    assert result.position_error < 1e-6
    assert result.contact == ("link7", "ball")
    assert result.restarts < 10
    with pytest.raises(
        UnsolvedError, match=r"^'link7' and 'ball' overlap by 0\.\d+ m\. Every solution of"
    ):
        result.or_raise()


def test_of_six_joints_the_nearest_free_solution_is_chosen():
    arm = UR5E.with_scene(table())
    targets, _ = free_targets(arm, 30, seed=3)
    for target in targets:
        everything_found = UR5E.solutions(target, None, near=UR5E.home)
        free = arm.solutions(target, None, near=UR5E.home)
        expected = [q for q in everything_found.q if arm.is_free(q)]
        assert free.q.tolist() == [q.tolist() for q in expected]
        assert free.complete
        chosen = arm.solve(target)
        assert chosen.q == pytest.approx(expected[0], abs=1e-9)
        assert free[0].clearance == pytest.approx(chosen.clearance, abs=1e-6)


def test_of_many_poses_only_free_solutions_are_listed():
    arm, targets = UR5E.with_scene(table(), margin=0.01), UR5E.fk(UR5E.random(seed=5, count=20))
    targets[3, 0, 0] = np.nan
    everything_found = UR5E.solutions_batch(targets)
    found = arm.solutions_batch(targets)
    assert found.counts.sum() < everything_found.counts.sum()
    assert found.complete.tolist() == everything_found.complete.tolist()
    for all_rows, rows, count in zip(everything_found.q, found.q, found.counts, strict=True):
        expected = [q for q in all_rows if np.isfinite(q).all() and arm.is_free(q)]
        assert rows[:count].tolist() == [q.tolist() for q in expected]
        assert np.isnan(rows[count:]).all()


def test_that_no_solution_of_six_joints_is_free_is_proven():
    target = UR5E.fk([0.4, -1.0, 1.3, -0.4, 1.2, 0.3])
    shoulder = UR5E.joint_frames([0.4, -1.0, 1.3, -0.4, 1.2, 0.3])[4][:3, 3]
    scene = Scene().box([0.02, 3.0, 3.0], [0.5 * shoulder[0], 0.0, 0.0], name="curtain")
    arm = UR5E.with_scene(scene)
    result = arm.solve(target)
    assert result.status is Status.COLLIDES_ALWAYS
    assert result.contact is not None
    assert "curtain" in result.contact
    found = arm.solutions(target)
    assert (len(found), found.complete) == (0, True)


def test_when_every_solution_found_collides_the_first_is_returned():
    target = PANDA.fk(PANDA.mid_range)
    elbow = PANDA.joint_frames(PANDA.mid_range)[3][:3, 3]
    cage = Scene().box(
        [0.02, 3.0, 3.0], [0.5 * (elbow[0] + target[0, 3]), 0.0, 0.0], name="curtain"
    )
    arm = PANDA.with_scene(cage)
    if arm.solve(target).status is Status.COLLIDES_ALWAYS:
        pytest.fail("the hand itself collides: choose another place")
    result = arm.solve(target, config=SolveConfig(max_restarts=5))
    assert result.status is Status.COLLIDES
    assert result.position_error < 1e-6
    assert result.clearance < 0.0
    assert result.restarts == 5


def test_other_kinds_of_targets_are_checked_too():
    arm = PANDA.with_scene(table())
    targets, _ = free_targets(arm, 10)
    batch = arm.solve_batch(targets[:, :3, 3].copy())
    assert batch.converged.all()
    assert (batch.clearance >= 0.0).all()


def test_methods_that_do_not_search_are_checked_at_their_end():
    position = PANDA.fk(PANDA.mid_range)[:3, 3]
    among_balls, arm = PANDA.with_scene(Scene().sphere(0.1, position)), PANDA.with_scene(table())
    ccd = among_balls.solve(position, config=SolveConfig(method="ccd"))
    assert ccd.status is Status.COLLIDES
    targets, _ = free_targets(arm, 3)
    for target in targets:
        assert arm.solve(target, posture=Posture(PANDA.mid_range)).clearance >= 0.0


def test_without_a_scene_nothing_is_checked():
    bare, targets = Chain.load("panda"), PANDA.fk(PANDA.random(seed=1, count=30))
    free = Scene().sphere(0.01, [50.0, 0.0, 0.0])
    expected = bare.solve_batch(targets)
    found = PANDA.with_scene(free, self_collision=False).solve_batch(targets)
    assert found.q.tolist() == expected.q.tolist()
    result = bare.solve(targets[0])
    assert np.isnan(result.clearance)
    assert result.contact is None
    assert np.isnan(expected.clearance).all()
    assert expected.contact[0] is None


def test_a_path_is_checked_between_its_waypoints():
    start, end = PANDA.mid_range.copy(), PANDA.mid_range.copy()
    start[0], end[0] = -0.8, 0.8
    targets = PANDA.fk(np.array([start, end]))
    pole = Scene().cylinder(0.02, 2.0, [*PANDA.fk(PANDA.mid_range)[:2, 3], 0.5], name="pole")
    arm = PANDA.with_scene(pole)
    assert arm.is_free(np.array([start, end])).all()
    path = arm.solve_path(targets, start)
    assert path.converged.all()
    assert path.colliding == (1,)
    assert "collisions on the way to 1" in str(path)
    assert (path.clearance > 0.0).all()
    for free in (PANDA, PANDA.with_scene()):
        assert free.solve_path(targets, start).colliding == ()


def test_solutions_are_complete_only_if_the_tolerances_leave_no_others():
    arm, loose = Chain.load("ur5e").with_scene(), SolveConfig(position_tolerance=0.01)
    start = np.array([0.3, -1.2, 1.4, -0.6, 1.1, 0.2])
    pose = arm.fk(start)
    z, spheres = pose[:3, 2], arm.geometry.spheres(start)[group_of_spheres(arm.geometry) == arm.n]
    front = ((spheres[:, :3] - pose[:3, 3]) @ z + spheres[:, 3]).max() + 0.003
    wall = Scene().half_space(-z, -z @ (pose[:3, 3] + z * front))
    pose[:3, 3] += 0.006 * z  # the flange collides with the wall there, but not 4 mm before
    at_wall = arm.with_scene(wall)
    solved = at_wall.solve(pose, start, config=loose)
    assert solved.converged
    found = at_wall.solutions(pose, config=loose)
    assert not found.complete
    assert all(at_wall.is_free(found.q))
    assert arm.solutions(pose, config=loose).complete
    assert at_wall.solutions(pose).complete


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: PANDA.clearance(PANDA.mid_range),
            "the arm has no scene: call with_scene first, arm.with_scene(scene) or "
            "arm.with_scene() for self-collision alone.",
        ),
        (lambda: PANDA.with_scene(margin=-0.1), "margin is -0.1: expected 0 or more [m]."),
        (lambda: PANDA.with_scene(3), "scene is 3: expected a Scene."),
        (
            lambda: PANDA.with_scene().clearance([np.nan] * 7),
            "q[0] is nan: expected finite numbers below 1e9.",
        ),
        (
            lambda: PANDA.with_scene().clearance([[np.nan] * 7]),
            "q[0, 0] is nan: expected finite numbers below 1e9.",
        ),
    ],
)
def test_bad_input_is_refused(call, text):
    with pytest.raises(InvalidInputError) as error:
        call()
    assert str(error.value) == text


def test_a_scene_that_swallows_the_base_is_named_once():
    scene = Scene().box([1.0, 1.0, 3.0], name="cabinet").sphere(0.1, [2, 0, 0], name="ball")
    arm = panda().with_scene(scene)
    with pytest.warns(GeometryWarning) as found:
        assert arm.clearance(arm.mid_range) == arm.clearance(arm.mid_range)
    assert [str(each.message) for each in found] == [
        "'cabinet' collides with 'link1' at every value of the first joint, so no configuration "
        "is free: move it or the base, or leave it out."
    ]


def test_a_reach_map_counts_free_solutions_only(tmp_path):
    block = Scene().box([0.2, 1.0, 0.5], [0.5, 0.0, 0.2], name="block")
    arm, region = UR5E.with_scene(block), ((0.3, 0.5), (-0.1, 0.1), (0.1, 0.3))

    def mapped(arm, name):
        return jointwise.reach_map(arm, 0.1, 12, region, store=tmp_path / name, progress=False)

    maps = [mapped(UR5E.with_scene(), "empty.zarr"), mapped(arm, "block.zarr")]
    empty, blocked = (each.dexterity for each in maps)
    assert (blocked <= empty).all()
    assert blocked.sum() < empty.sum()
    found = [maps[1].at(point).q for point in [[0.3, 0.0, 0.3], [0.3, 0.1, 0.1]]]
    assert arm.is_free(np.array([q for q in found if q is not None])).all()
    with pytest.raises(InvalidInputError, match=r"settings\.scene\.sha256 differ"):
        mapped(arm, "empty.zarr")
