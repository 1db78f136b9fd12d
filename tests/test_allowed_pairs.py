"""Pairs of a link group and an obstacle that may touch: laws, and the slow twin."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import Robot, Scene, SolveConfig
from jointwise.backends import cpu
from jointwise.config import criteria_of
from jointwise.engines.serial.batch import solve_cpu
from jointwise.engines.serial.packing import packed_arm
from jointwise.engines.serial.solve import find_nearest
from jointwise.engines.tree.check import tree_check
from jointwise.kernels.layout.arm import has_joint_penalties, has_scene
from jointwise.kernels.layout.scene import pack_scene, with_scene_of
from jointwise.kernels.layout.status import COLLIDES_ALWAYS, CONVERGED
from jointwise.kernels.layout.task import PackedProblem
from jointwise.scene.scene import kernel_world, numbered_names
from jointwise.shape.geometry import group_of_spheres, kernel_spheres
from tests.support import collision_twin as twin
from tests.support.examples import examples
from tests.support.scenes import (
    allowed_mask,
    among_all_kinds,
    everything,
    pack_arm_in,
    panda,
    random_pairs,
    ur5e,
)
from tests.support.two_arms import strings_of_spheres, two_arms

PANDA, UR5E = panda(), ur5e()
ARMS = [PANDA, UR5E]
SEEDS = st.integers(0, 10_000)
POSE = (1.0, 1.0, 1.0, 1.0)


def contacts(arm, packed, q):
    found = np.empty((len(q), 3))
    cpu.clearances(packed, q, found)
    return found


def is_free(packed, q):
    free = np.empty(len(q), np.bool_)
    cpu.free_rows(packed, q, free)
    return free


@given(seed=SEEDS)
@examples(25)
def test_clearance_is_that_of_the_twin(seed):
    scene, q = everything(seed), PANDA.random(seed=seed, count=3)
    pairs = random_pairs(seed, PANDA.geometry.names, scene)
    packed = pack_arm_in(PANDA, scene, allowed_mask(PANDA.geometry.names, scene, pairs))
    names = (*PANDA.geometry.names, *numbered_names(scene))
    for row, (clearance, a, b) in zip(q, contacts(PANDA, packed, q), strict=True):
        expected, both = twin.clearance(PANDA, row, scene, allowed=pairs)
        assert clearance == pytest.approx(expected, abs=1e-9)
        assert (names[int(a)], names[int(b)]) == both


@given(seed=SEEDS)
@examples(25)
def test_an_obstacle_that_all_may_touch_is_left_out(seed):
    scene, q = among_all_kinds(seed), UR5E.random(seed=seed, count=10)
    for left_out in scene.names:
        pairs = {(name, left_out) for name in UR5E.geometry.names}
        packed = pack_arm_in(UR5E, scene, allowed_mask(UR5E.geometry.names, scene, pairs))
        without = pack_arm_in(UR5E, Scene(tuple(o for o in scene if o.name != left_out)), None)
        found, expected = contacts(UR5E, packed, q)[:, 0], contacts(UR5E, without, q)[:, 0]
        assert np.array_equal(found, expected)


def test_the_arm_itself_is_tested_whatever_it_may_touch():
    scene, q = among_all_kinds(3), PANDA.random(seed=3, count=50)
    allowed = np.ones((PANDA.n + 2, len(numbered_names(scene))), np.bool_)
    found, alone = (
        contacts(PANDA, pack_arm_in(PANDA, *each), q)
        for each in ((scene, allowed), (Scene(), None))
    )
    assert np.array_equal(found, alone)
    spheres = kernel_spheres(PANDA.geometry)
    alone = spheres._replace(pairs=spheres.pairs[:0])
    packed = pack_scene(PANDA.arm.packed, 0.0, alone, kernel_world(scene), allowed)
    assert (contacts(PANDA, packed, q) == [np.inf, -1.0, -1.0]).all()
    assert is_free(packed, q).all()


def test_no_allowed_pair_changes_no_bit():
    scene, q = among_all_kinds(4), PANDA.random(seed=4, count=200)
    none = pack_arm_in(PANDA, scene, np.zeros((PANDA.n + 2, len(numbered_names(scene))), np.bool_))
    assert np.array_equal(
        contacts(PANDA, none, q), contacts(PANDA, pack_arm_in(PANDA, scene, None), q)
    )


@given(seed=SEEDS, margin=st.floats(0.0, 0.2))
@examples(25)
def test_free_is_a_clearance_of_at_least_the_margin(seed, margin):
    scene, q = among_all_kinds(seed), PANDA.random(seed=seed, count=20)
    pairs = random_pairs(seed, PANDA.geometry.names, scene)
    packed = pack_arm_in(PANDA, scene, allowed_mask(PANDA.geometry.names, scene, pairs), margin)
    assert np.array_equal(is_free(packed, q), contacts(PANDA, packed, q)[:, 0] >= margin)


def grasped(arm, seed):
    """A scene with a ball in the hand at a pose, and the pairs that let the last links touch it."""
    q = arm.random(seed=seed)
    centre = arm.geometry.spheres(q)[group_of_spheres(arm.geometry) == arm.n].mean(axis=0)[:3]
    scene = Scene().sphere(0.04, centre, name="mug").box([0.3, 0.3, 0.02], [0.9, 0.9, 0.0])
    names = arm.geometry.names
    pairs = {(names[i], "mug") for i in range(arm.n - 3, arm.n + 1)}
    return arm.fk(q), scene, pairs


@pytest.mark.parametrize("arm", ARMS)
def test_a_grasp_is_solved_once_it_is_allowed(arm):
    config, solved = SolveConfig(max_restarts=40), 0
    for seed in range(12):
        target, scene, pairs = grasped(arm, seed)
        statuses = []
        for allowed in (None, allowed_mask(arm.geometry.names, scene, pairs)):
            packed, q = pack_arm_in(arm, scene, allowed), arm.mid_range.copy()
            given = packed, target, POSE, criteria_of(config, True)
            outcome = find_nearest(arm.arm, given, q)
            statuses.append(outcome[0])
        assert statuses[0] == COLLIDES_ALWAYS
        assert statuses[1] != COLLIDES_ALWAYS
        if statuses[1] == CONVERGED:
            solved += 1
            assert twin.clearance(arm, q, scene, allowed=pairs)[0] >= -1e-9
            assert arm.fk(q) == pytest.approx(target, abs=1e-5)
    assert solved > 6


@pytest.mark.parametrize("arm", ARMS)
def test_rows_of_a_batch_are_single_solves(arm):
    target, scene, pairs = grasped(arm, 1)
    packed = pack_arm_in(arm, scene, allowed_mask(arm.geometry.names, scene, pairs))
    targets = np.array([target, *arm.fk(arm.random(seed=2, count=40))])
    criteria, start = criteria_of(SolveConfig(max_restarts=10), True), arm.mid_range[None].copy()
    results = solve_cpu(arm.arm, PackedProblem(packed, targets, POSE, start, criteria), 1, True)
    for row, each in enumerate(targets):
        q = arm.mid_range.copy()
        status, *_ = find_nearest(arm.arm, (packed, each, POSE, criteria), q)
        assert (results.status[row], results.q[row].tolist()) == (status, q.tolist())
    assert results.status[0] == CONVERGED


def test_another_arm_before_the_scene_keeps_the_flags():
    scene = everything(2)
    allowed = np.ones((UR5E.n + 2, len(numbered_names(scene))), np.bool_)
    packed, q = pack_arm_in(UR5E, scene, allowed), UR5E.random(seed=5, count=30)
    stiff = packed_arm(UR5E.arm, SolveConfig(stiffness=0.1))
    both = with_scene_of(stiff, packed, UR5E.n)
    assert has_joint_penalties(both)
    assert has_scene(both)
    assert not has_scene(stiff)
    assert np.array_equal(contacts(UR5E, both, q), contacts(UR5E, packed, q))


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    file, spheres = tmp_path_factory.mktemp("two_arms") / "spheres.json", strings_of_spheres()
    file.write_text(json.dumps({"spheres": {link: s.tolist() for link, s in spheres.items()}}))
    return Robot.from_urdf(two_arms()).with_geometry(file)


@given(seed=SEEDS)
@examples(15)
@pytest.mark.filterwarnings("ignore::jointwise.errors.GeometryWarning")
def test_clearance_of_a_robot_is_that_of_the_twin(robot, seed):
    scene, q = everything(seed), robot.random(seed=seed)
    pairs = random_pairs(seed, filter(None, robot.geometry.names), scene)
    among = robot.with_scene(scene, allow=pairs)
    check = tree_check(among.model, among._collision_model, None)
    found = check.contacts(q[None])[0]
    spheres = strings_of_spheres()
    expected, both = twin.robot_clearance(robot, spheres, q, scene, allowed=pairs)
    assert found[0] == pytest.approx(expected, abs=1e-9)
    a, b = check.name_pair(found)
    assert (a, b) not in pairs
    if {a, b} != both:  # two link groups are equally near to obstacles: the named one is, too
        pose, obstacle = robot.fk(q)[a], scene[b]
        gaps = [
            twin.obstacle((pose @ [*row[:3], 1.0])[:3], obstacle) - row[3] for row in spheres[a]
        ]
        assert min(gaps) == pytest.approx(expected, abs=1e-9)
