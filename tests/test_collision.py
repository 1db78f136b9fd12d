"""Clearance, and solutions that touch nothing: laws, and a slow twin."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation

from jointwise import (
    Chain,
    InvalidInputError,
    Scene,
    SolveConfig,
    Status,
    UnsolvedError,
    reach_map,
)
from jointwise.errors import GeometryWarning
from jointwise.kernels.shapes import TABLE_CELLS, TABLE_MAX, has_springs
from jointwise.kernels.surroundings import sphere_blocks
from jointwise.solvers.collision import collision_check
from jointwise.solvers.single import closed_form_for
from tests.support import collision_twin as twin
from tests.support.scenes import everything, panda, table, ur5e

# Random obstacles may well touch the first link.
pytestmark = pytest.mark.filterwarnings("ignore::jointwise.errors.GeometryWarning")

SEEDS = st.integers(0, 10_000)
PANDA, UR5E = panda(), ur5e()
ARMS = pytest.mark.parametrize("arm", [PANDA, UR5E], ids=["panda", "ur5e"])


def free_targets(arm, scene, count, seed=0, margin=0.0):
    """Poses that are reached free, and the joint values that do so."""
    q = arm.random(seed=seed, count=8 * count)
    q = q[arm.free(q, scene, margin)][:count]
    assert len(q) == count
    return arm.fk(q), q


@ARMS
@given(seed=SEEDS)
def test_clearance_is_that_of_the_twin(arm, seed):
    scene, q = everything(seed), arm.random(seed=seed)
    expected, names = twin.clearance(arm, q, scene)
    assert arm.clearance(q, scene) == pytest.approx(expected, rel=0.0, abs=1e-11)
    result = arm.solve(arm.fk(q), q, scene=scene, config=SolveConfig(max_restarts=0))
    if (result.joint_angles == q).all():
        assert result.contact == names


@ARMS
@given(seed=SEEDS)
def test_blocks_have_the_spheres_of_each_carrier_and_nothing_else(arm, seed):
    rng, body = np.random.default_rng(seed), arm.geometry.body
    counts = rng.integers(0, 20, arm.n + 2)
    first = np.concatenate([[0], counts.cumsum()])
    body = body._replace(
        centres=rng.normal(size=(first[-1], 3)), radii=rng.random(first[-1]), first=first
    )
    blocks, first_block = sphere_blocks(body)
    assert first_block.tolist() == np.concatenate([[0], (-(-counts // 8)).cumsum()]).tolist()
    for carrier, (begin, end) in enumerate(pairwise(first)):
        low, high = int(first_block[carrier]), int(first_block[carrier + 1])
        rows = blocks.reshape(-1, 4, 8).swapaxes(1, 2)[low:high].reshape(-1, 4)
        own = np.column_stack([body.centres[begin:end], body.radii[begin:end]])
        assert set(map(tuple, rows)) == set(map(tuple, own))


def test_without_a_scene_an_arm_is_packed_once():
    check = collision_check(PANDA.arm, PANDA.geometry, None)
    assert collision_check(PANDA.arm, PANDA.geometry, None) is check
    assert PANDA.solve(PANDA.fk(PANDA.home)).check is check


def test_springs_are_seen_in_the_buffer():
    check = collision_check(UR5E.arm, UR5E.geometry, table())
    weights = (1.0, 1.0, 1.0, 1.0)
    for config, decides in ((SolveConfig(), True), (SolveConfig(stiffness=0.1), False)):
        packed_arm = config.packed_arm(UR5E.arm, check)
        assert has_springs(packed_arm, 6) != decides
        assert (closed_form_for(UR5E.arm, packed_arm, weights) is not None) == decides


@given(seed=SEEDS, margin=st.floats(0.0, 0.3))
def test_free_is_a_clearance_of_no_less_than_the_margin(seed, margin):
    scene, q = everything(seed), PANDA.random(seed=seed, count=8)
    assert (PANDA.free(q, scene, margin) == (PANDA.clearance(q, scene) >= margin)).all()


@given(seed=SEEDS, more=st.floats(0.0, 0.3))
def test_larger_obstacles_leave_no_more_clearance(seed, more):
    rng, q = np.random.default_rng(seed), PANDA.random(seed=seed, count=8)
    size, centre = rng.uniform(0.05, 0.4, 3), rng.uniform(-0.8, 0.8, 3)
    small, large = Scene().box(size, centre), Scene().box(size + more, centre)
    assert (PANDA.clearance(q, large) <= PANDA.clearance(q, small) + 1e-12).all()


@given(seed=SEEDS)
def test_moving_base_and_scene_together_changes_nothing(seed):
    rng, q = np.random.default_rng(seed), PANDA.random(seed=seed, count=8)
    move = RigidTransform.from_components(rng.normal(size=3), Rotation.random(rng=rng)).as_matrix()
    pose = np.eye(4)
    pose[:3, 3] = rng.uniform(-0.8, 0.8, 3)
    scene, moved = Scene().cylinder(0.2, 0.3, pose), Scene().cylinder(0.2, 0.3, move @ pose)
    rows = Chain.load("panda").rows
    there = Chain.from_mdh(rows, PANDA.limits, base=move)
    assert there.fk(q[0]) == pytest.approx(move @ Chain.from_mdh(rows).fk(q[0]), abs=1e-9)
    there = replace(there, geometry=replace(PANDA.geometry, tree=there.arm.tree))
    without_base = {"self_collision": False}  # carrier 0 is in the base frame
    assert there.clearance(q, moved, **without_base) == pytest.approx(
        PANDA.clearance(q, scene, **without_base), abs=1e-9
    )


def test_self_collision_can_be_left_out():
    folded = np.array([0.0, 1.7, 0.0, -3.0, 0.0, 0.5, 0.0])
    assert PANDA.clearance(folded) == pytest.approx(twin.clearance(PANDA, folded, Scene())[0])
    assert PANDA.clearance(folded, self_collision=False) == np.inf
    target = PANDA.fk(folded)
    if PANDA.clearance(folded) < 0.0:
        assert PANDA.solve(target, folded, self_collision=False).iterations == 0


@pytest.mark.parametrize("voxel", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("margin", [0.0, 0.01, 0.05])
def test_what_is_free_of_a_grid_has_the_clearance_that_is_asked_for(voxel, margin):
    rng = np.random.default_rng(7)
    scene = Scene.from_points(rng.uniform([0.2, -0.6, 0.0], [0.7, 0.6, 0.7], (60, 3)), voxel)
    q = PANDA.random(seed=8, count=4000)
    free, clearance = PANDA.free(q, scene, margin), PANDA.clearance(q, scene)
    assert 0 < free.sum() < len(q)
    assert (free == (clearance >= margin)).all()


@pytest.mark.parametrize("name", ["panda", "ur3e", "ur5", "ur5e", "ur10e", "xarm7", "irb120"])
def test_a_margin_does_not_count_between_links_that_are_always_close(name):
    arm = Chain.load(name, geometry=True)
    q = arm.random(seed=1, count=400)
    free, clearance = arm.free(q, margin=0.03), arm.clearance(q)
    assert (free == (clearance >= 0.03)).all()
    assert free.sum() > 0.5 * arm.free(q).sum() > 20


def test_a_table_of_distances_decides_for_its_pair():
    arm, body = UR5E, UR5E.geometry.body
    table_of, ranges = np.full((1, TABLE_CELLS, TABLE_CELLS), TABLE_MAX), [[-np.pi, np.pi] * 2]
    table_of[0, 10, 20] = -0.01
    body = body._replace(
        pairs=body.pairs[:0],
        table_pairs=np.array([[2, 4, 2, 3]]),
        tables=table_of,
        table_ranges=np.array(ranges),
    )
    arm = replace(arm, geometry=replace(arm.geometry, body=body))
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
    targets, _ = free_targets(arm, scene, 40, margin=margin)
    batch = arm.solve_batch(targets, scene=scene, margin=margin)
    assert batch.converged.all(), batch.summary()
    for target, row in zip(targets, batch, strict=True):
        assert twin.clearance(arm, row.joint_angles, scene)[0] >= margin
        assert arm.fk(row.joint_angles) == pytest.approx(target, abs=1e-5)
    assert (batch.clearance >= margin).all()
    without = arm.solve_batch(targets, self_collision=False)
    assert (arm.clearance(without.joint_angles, scene) < margin).any()  # the scene mattered


@ARMS
def test_rows_of_a_batch_are_those_of_single_solves(arm):
    scene, q = table(), arm.random(seed=2, count=60)
    batch = arm.solve_batch(arm.fk(q), scene=scene, config=SolveConfig(max_restarts=8))
    assert {Status.CONVERGED, Status.COLLIDES_ALWAYS} <= {row.status for row in batch}
    for target, row in zip(arm.fk(q), batch, strict=True):
        alone = arm.solve(target, scene=scene, config=SolveConfig(max_restarts=8))
        assert alone.status == row.status
        assert alone.joint_angles.tolist() == row.joint_angles.tolist()
        assert (alone.iterations, alone.restarts) == (row.iterations, row.restarts)


def test_a_start_that_touches_is_left_and_a_free_one_is_kept():
    scene = table()
    _, (q, *_) = free_targets(PANDA, scene, 1)
    assert PANDA.solve(PANDA.fk(q), q, scene=scene).iterations == 0
    touching = next(q for q in PANDA.random(seed=4, count=500) if not PANDA.free(q, scene))
    result = PANDA.solve(PANDA.fk(touching), touching, scene=scene)
    assert not result.converged or result.clearance >= 0.0


def test_a_hand_that_touches_at_the_target_is_proven_without_a_search():
    target = PANDA.fk(PANDA.home)
    scene = Scene().sphere(0.05, target[:3, 3], name="ball")
    result = PANDA.solve(target, scene=scene)
    assert result.status is Status.COLLIDES_ALWAYS
    assert not result.converged
    assert result.position_error < 1e-6
    assert result.contact == ("link7", "ball")
    assert result.restarts < 10
    with pytest.raises(
        UnsolvedError, match=r"^'link7' and 'ball' overlap by 0\.\d+ m\. The target"
    ):
        result.or_raise()


def test_of_six_joints_the_nearest_free_solution_is_chosen():
    scene = table()
    targets, _ = free_targets(UR5E, scene, 30, seed=3)
    for target in targets:
        everything_found = UR5E.solutions(target, None, near=UR5E.home, self_collision=False)
        free = UR5E.solutions(target, None, near=UR5E.home, scene=scene)
        expected = [q for q in everything_found.joint_angles if UR5E.free(q, scene)]
        assert free.joint_angles.tolist() == [q.tolist() for q in expected]
        assert free.complete
        chosen = UR5E.solve(target, scene=scene)
        assert chosen.joint_angles == pytest.approx(expected[0], abs=1e-9)
        assert free[0].clearance == pytest.approx(chosen.clearance, abs=1e-6)


def test_of_many_poses_only_free_solutions_are_listed():
    scene, targets = table(), UR5E.fk(UR5E.random(seed=5, count=20))
    targets[3, 0, 0] = np.nan
    everything_found = UR5E.solutions_batch(targets, self_collision=False)
    found = UR5E.solutions_batch(targets, scene=scene, margin=0.01)
    assert found.counts.sum() < everything_found.counts.sum()
    assert found.complete.tolist() == everything_found.complete.tolist()
    for all_rows, rows, count in zip(
        everything_found.joint_angles, found.joint_angles, found.counts, strict=True
    ):
        expected = [q for q in all_rows if np.isfinite(q).all() and UR5E.free(q, scene, 0.01)]
        assert rows[:count].tolist() == [q.tolist() for q in expected]
        assert np.isnan(rows[count:]).all()


def test_that_no_solution_of_six_joints_is_free_is_proven():
    target = UR5E.fk([0.4, -1.0, 1.3, -0.4, 1.2, 0.3])
    shoulder = UR5E.frames([0.4, -1.0, 1.3, -0.4, 1.2, 0.3])[4][:3, 3]
    scene = Scene().box([0.02, 3.0, 3.0], [0.5 * shoulder[0], 0.0, 0.0], name="curtain")
    result = UR5E.solve(target, scene=scene)
    assert result.status is Status.COLLIDES_ALWAYS
    assert result.contact is not None
    assert "curtain" in result.contact
    found = UR5E.solutions(target, scene=scene)
    assert (len(found), found.complete) == (0, True)


def test_when_every_solution_found_touches_the_first_is_returned():
    target = PANDA.fk(PANDA.home)
    elbow = PANDA.frames(PANDA.home)[3][:3, 3]
    cage = Scene().box(
        [0.02, 3.0, 3.0], [0.5 * (elbow[0] + target[0, 3]), 0.0, 0.0], name="curtain"
    )
    if PANDA.solve(target, scene=cage).status is Status.COLLIDES_ALWAYS:
        pytest.fail("the hand itself touches: choose another place")
    result = PANDA.solve(target, scene=cage, config=SolveConfig(max_restarts=5))
    assert result.status is Status.COLLIDES
    assert result.position_error < 1e-6
    assert result.clearance < 0.0
    assert result.restarts == 5


def test_other_kinds_of_targets_are_checked_too():
    scene = table()
    targets, _ = free_targets(PANDA, scene, 10)
    batch = PANDA.solve_batch(targets[:, :3, 3].copy(), scene=scene)
    assert batch.converged.all()
    assert (batch.clearance >= 0.0).all()


def test_methods_that_do_not_search_are_checked_at_their_end():
    scene = Scene().sphere(0.1, PANDA.fk(PANDA.home)[:3, 3])
    ccd = PANDA.solve(PANDA.fk(PANDA.home)[:3, 3], scene=scene, config=SolveConfig(method="ccd"))
    assert ccd.status is Status.COLLIDES
    rest = SolveConfig(rest=PANDA.home)
    targets, _ = free_targets(PANDA, table(), 3)
    for target in targets:
        assert PANDA.solve(target, scene=table(), config=rest).clearance >= 0.0


def test_without_geometry_and_scene_nothing_changes():
    bare, targets = Chain.load("panda"), PANDA.fk(PANDA.random(seed=1, count=30))
    free = Scene().sphere(0.01, [50.0, 0.0, 0.0])
    expected = bare.solve_batch(targets)
    found = PANDA.solve_batch(targets, scene=free, self_collision=False)
    assert found.joint_angles.tolist() == expected.joint_angles.tolist()
    result = bare.solve(targets[0])
    assert np.isnan(result.clearance)
    assert result.contact is None
    assert np.isnan(expected.clearance).all()
    assert expected.contact[0] is None


def test_a_path_is_checked_between_its_waypoints():
    start, end = PANDA.home.copy(), PANDA.home.copy()
    start[0], end[0] = -0.8, 0.8
    targets = PANDA.fk(np.array([start, end]))
    pole = Scene().cylinder(0.02, 2.0, [*PANDA.fk(PANDA.home)[:2, 3], 0.5], name="pole")
    assert PANDA.free(np.array([start, end]), pole).all()
    path = PANDA.solve_path(targets, start, scene=pole)
    assert path.converged
    assert path.touching == (1,)
    assert "something touches on the way to 1" in str(path)
    assert path.clearance > 0.0
    assert PANDA.solve_path(targets, start).touching == ()


def test_solutions_are_complete_only_if_the_tolerances_leave_no_others():
    arm, loose = Chain.load("ur5e", geometry=True), SolveConfig(position_tolerance=0.01)
    start = np.array([0.3, -1.2, 1.4, -0.6, 1.1, 0.2])
    pose = arm.fk(start)
    z, spheres = pose[:3, 2], arm.geometry.spheres(start)[arm.geometry.carriers == arm.n]
    front = ((spheres[:, :3] - pose[:3, 3]) @ z + spheres[:, 3]).max() + 0.003
    wall = Scene().half_space(-z, -z @ (pose[:3, 3] + z * front))
    pose[:3, 3] += 0.006 * z  # the flange touches the wall there, and 4 mm before it does not
    solved = arm.solve(pose, start, loose, scene=wall)
    assert solved.converged
    found = arm.solutions(pose, config=loose, scene=wall)
    assert not found.complete
    assert all(arm.free(found.joint_angles, wall))
    assert arm.solutions(pose, config=loose).complete
    assert arm.solutions(pose, scene=wall).complete


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: Chain.load("panda").clearance(PANDA.home, Scene()),
            "scene is given for an arm without geometry: expected an arm whose spheres are known, "
            "such as Chain.from_urdf(source, geometry=True).",
        ),
        (
            lambda: Chain.load("panda").solve(PANDA.fk(PANDA.home), margin=0.1),
            "margin is given for an arm without geometry: expected an arm whose spheres are known, "
            "such as Chain.from_urdf(source, geometry=True).",
        ),
        (
            lambda: PANDA.free(PANDA.home, Scene(), -0.1),
            "margin is -0.1: expected 0 or more [m].",
        ),
        (lambda: PANDA.solve(np.zeros(3), scene=3), "scene is 3: expected a Scene."),
        (
            lambda: PANDA.clearance([np.nan] * 7),
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
    arm = panda()
    with pytest.warns(GeometryWarning) as found:
        assert arm.clearance(arm.home, scene) == arm.clearance(arm.home, scene)
    assert [str(each.message) for each in found] == [
        "'cabinet' touches 'link1' whatever the first joint does, so no joint values are free: "
        "move it or the base, or leave it out."
    ]


def test_a_reach_map_counts_free_solutions_only(tmp_path):
    arm, region = UR5E, ((0.3, 0.5), (-0.1, 0.1), (0.1, 0.3))
    block = Scene().box([0.2, 1.0, 0.5], [0.5, 0.0, 0.2], name="block")
    maps = [
        reach_map(arm, 0.1, 12, region, store=tmp_path / name, progress=False, scene=scene)
        for name, scene in (("empty.zarr", Scene()), ("block.zarr", block))
    ]
    empty, blocked = (each.dexterity for each in maps)
    assert (blocked <= empty).all()
    assert blocked.sum() < empty.sum()
    found = [maps[1].at(point).configuration for point in [[0.3, 0.0, 0.3], [0.3, 0.1, 0.1]]]
    assert arm.free(np.array([q for q in found if q is not None]), block).all()
    with pytest.raises(InvalidInputError, match="surroundings"):
        reach_map(arm, 0.1, 12, region, store=tmp_path / "empty.zarr", progress=False, scene=block)
