"""Whole robots among obstacles: laws, and a slow twin."""

import json
import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation

from jointwise import (
    Chain,
    GeometryWarning,
    InvalidInputError,
    Posture,
    Robot,
    Scene,
    SolveConfig,
    Status,
    UnsolvedError,
)
from jointwise.kernels.layout.spheres import TABLE_CELLS
from jointwise.shape.geometry import group_spheres, kernel_spheres, make_geometry
from jointwise.shape.solids import primitives
from jointwise.shape.tables.table import Table
from jointwise.shape.tables.two_joints import joints_between, pairs_two_apart, table_between
from testbed.geometry_arms import ARM
from tests.support import collision_twin as twin
from tests.support.examples import examples
from tests.support.scenes import everything
from tests.support.two_arms import strings_of_spheres, two_arms

# Random obstacles may well touch the first link.
pytestmark = pytest.mark.filterwarnings("ignore::jointwise.errors.GeometryWarning")

SEEDS = st.integers(0, 10_000)
HANDS = ("left_6", "right_6")


SPHERES = strings_of_spheres()


def with_spheres(robot, folder, **more):
    file = folder / "spheres.json"
    content = {"spheres": {link: rows.tolist() for link, rows in SPHERES.items()}, **more}
    file.write_text(json.dumps(content))
    return robot.with_geometry(file)


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    return with_spheres(Robot.from_urdf(two_arms()), tmp_path_factory.mktemp("fixed"))


@pytest.fixture(scope="module")
def floating(tmp_path_factory):
    return with_spheres(
        Robot.from_urdf(two_arms(), free_base=True), tmp_path_factory.mktemp("free")
    )


def random_pose(seed, size=1.0):
    rng = np.random.default_rng(seed)
    return RigidTransform.from_components(
        rng.uniform(-size, size, 3), Rotation.random(rng=rng)
    ).as_matrix()


def free_targets(robot, count):
    """Poses of both hands that are reached free, in the scene of the robot."""
    q = robot.random(seed=4, count=30 * count)
    q = q[robot.is_free(q)][:count]
    assert len(q) == count
    poses = robot.fk(q)
    return [{hand: poses[hand][i] for hand in HANDS} for i in range(count)]


def around_the_robot():
    """A table in front, a pole beside it, and a floor below what the base stands on."""
    scene = Scene().box([0.6, 1.0, 0.04], [0.6, 0.0, 0.35], name="table")
    scene = scene.cylinder(0.04, 1.0, [0.3, 0.35, 0.9], name="pole")
    return scene.half_space([0.0, 0.0, 1.0], 0.0, name="floor")


# Clearance


def test_many_configurations_of_a_robot_with_one_joint_are_those_one_by_one(tmp_path):
    """An array of one column is in both memory orders."""
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
    file = tmp_path / "spheres.json"
    file.write_text(json.dumps({"spheres": {"b": [[0.3, 0.0, 0.0, 0.05]]}}))
    robot = Robot.from_urdf(f'<robot name="r"><link name="a"/><link name="b"/>{joint}</robot>')
    robot = robot.with_geometry(file).with_scene(Scene().box([0.1, 0.1, 0.1], [0.5, 0.0, 0.0]))
    q = np.linspace(-1.0, 1.0, 7)[:, None]
    assert robot.clearance(q).tolist() == [robot.clearance(each) for each in q]


@pytest.mark.parametrize("free_base", [False, True])
@examples(15)
@given(seed=SEEDS)
def test_clearance_is_that_of_the_twin(robot, floating, free_base, seed):
    robot = floating if free_base else robot
    scene, q, base = everything(seed), robot.random(seed=seed), random_pose(seed, 0.3)
    placed = robot.with_base(base)
    checked, blind = placed.with_scene(scene), placed.with_scene(scene, self_collision=False)
    expected, _ = twin.robot_clearance(robot, SPHERES, q, scene, base)
    assert checked.clearance(q) == pytest.approx(expected, abs=1e-9)
    if free_base:
        assert robot.with_scene(scene).clearance(q, base) == pytest.approx(expected, abs=1e-9)
    alone, _ = twin.robot_clearance(robot, SPHERES, q, scene, base, self_collision=False)
    assert blind.clearance(q) == pytest.approx(alone, abs=1e-9)
    poses = robot.fk(q, base)
    config = SolveConfig(max_restarts=0)
    result = checked.solve({h: poses[h] for h in HANDS}, q, config=config)
    if (result.q == q).all():
        # Neighbouring links share spheres, so another link may be as near.
        shown = {link: rows for link, rows in SPHERES.items() if link in result.contact}
        assert result.clearance == pytest.approx(expected, abs=1e-9)
        alone, _ = twin.robot_clearance(robot, shown, q, scene, base)
        assert alone == pytest.approx(expected, abs=1e-9)


@examples(15)
@given(seed=SEEDS, margin=st.floats(0.0, 0.3))
def test_free_is_a_clearance_of_no_less_than_the_margin(robot, seed, margin):
    scene, q = everything(seed), robot.random(seed=seed, count=8)
    robot = robot.with_scene(scene, margin=margin)
    assert (robot.is_free(q) == (robot.clearance(q) >= margin)).all()
    assert robot.is_free(q[0]) is bool(robot.clearance(q[0]) >= margin)


@examples(10)
@given(seed=SEEDS)
def test_moving_base_and_scene_together_changes_nothing(robot, seed):
    q, move, pose = robot.random(seed=seed, count=4), random_pose(seed), random_pose(seed + 1)
    here = robot.with_scene(Scene().cylinder(0.2, 0.3, pose)).clearance(q)
    moved = robot.with_scene(Scene().cylinder(0.2, 0.3, move @ pose))
    assert moved.with_base(move).clearance(q) == pytest.approx(here, abs=1e-9)


def test_the_root_is_compared_with_obstacles_only_where_it_moves(robot, floating):
    inside = Scene().sphere(0.05, [0.0, 0.0, 0.1])
    q = robot.mid_range
    assert robot.with_scene(inside, self_collision=False).clearance(q) > 0.0
    assert floating.with_scene(inside).clearance(q) == pytest.approx(-0.15)


def test_a_robot_of_one_arm_has_the_clearance_of_the_chain(tmp_path, monkeypatch):
    monkeypatch.setenv("JOINTWISE_CACHE_DIR", str(tmp_path))
    text = ARM.replace('name="grip" type="prismatic"', 'name="grip" type="fixed"')
    chain = Chain.from_urdf(text, "foot", "tip").with_geometry(padding=0.03)
    robot = Robot.from_urdf(text).with_geometry(padding=0.03)
    assert robot.geometry.names == chain.geometry.names
    scene, q = around_the_robot(), chain.random(seed=1, count=200)
    expected = chain.with_scene(scene).clearance(q)
    assert robot.with_scene(scene).clearance(q) == pytest.approx(expected, abs=1e-9)
    assert len({*map(str, tmp_path.rglob("*.json"))}) <= 2  # the same, or one each


def test_a_named_robot_has_the_clearance_of_the_chain():
    chain, robot = (kind.load("panda").with_scene(around_the_robot()) for kind in (Chain, Robot))
    q = chain.random(seed=2, count=300)
    assert (robot.clearance(q) == chain.clearance(q)).all()


# Which pairs are checked


def test_neighbours_are_not_checked_and_siblings_are(robot):
    names, body = robot.geometry.names, kernel_spheres(robot.geometry)
    checked = {frozenset((names[a], names[b])) for a, b in body.pairs}
    for link, place in robot.model.links.items():
        assert {link, place.parent} not in checked
    assert {"left_1", "right_1"} in checked
    assert {"jaw_1", "jaw_2"} in checked
    assert {"base", "left_1"} in checked
    assert len(checked) == len(names[:-1]) * (len(names) - 2) // 2 - len(robot.model.links) + 1


def test_links_without_spheres_are_passed_over_from_parent_to_child(tmp_path):
    file = tmp_path / "few.json"
    names = ("torso", "left_3", "left_4", "right_3")
    file.write_text(json.dumps({"spheres": {link: SPHERES[link].tolist() for link in names}}))
    geometry = Robot.from_urdf(two_arms()).with_geometry(file).geometry
    links, body = geometry.names, kernel_spheres(geometry)
    checked = {frozenset((links[a], links[b])) for a, b in body.pairs}
    # Between torso and either arm are empty links alone, and from arm to arm is the torso.
    assert checked == {
        frozenset(("torso", "left_4")),
        frozenset(("left_3", "right_3")),
        frozenset(("left_4", "right_3")),
    }


def test_pairs_two_apart_are_grandparents_and_siblings():
    parents = np.array([-1, 0, 1, 0, -1])
    assert pairs_two_apart(parents) == [(0, 2), (1, 3), (0, 4), (2, 4), (1, 5)]
    assert [joints_between(parents, *pair) for pair in pairs_two_apart(parents)] == [
        (0, 1),
        (1, 2),
        (0, 3),
        (1, 3),
        (0, 4),
    ]


@pytest.mark.parametrize("pair", [(1, 2), (0, 3)], ids=["siblings", "grandparent"])
def test_a_table_is_a_lower_bound_of_the_distance_and_free_where_links_are_apart(pair):
    text = """<robot name="r"><link name="l0"/><link name="l1"/><link name="l2"/><link name="l3"/>
    <joint name="a" type="revolute"><parent link="l0"/><child link="l1"/>
      <origin xyz="0 0.1 0" rpy="0.3 0 0"/><axis xyz="0 0 1"/><limit lower="-1" upper="2"/></joint>
    <joint name="b" type="prismatic"><parent link="l0"/><child link="l2"/>
      <origin xyz="0 -0.1 0" rpy="0 0.2 0.1"/><axis xyz="0 1 0"/><limit lower="-0.1" upper="0.2"/>
    </joint>
    <joint name="c" type="revolute"><parent link="l1"/><child link="l3"/>
      <origin xyz="0.1 0 0.1" rpy="0.3 0 0"/><axis xyz="1 0 0"/><limit lower="-1" upper="2"/>
    </joint></robot>"""
    robot = Robot.from_urdf(text)
    groups = ["l0", "l1", "l3", "l2"]  # depth first
    tree = robot.model.tree
    a, b = sorted(groups.index(f"l{each}") for each in pair)
    corner = np.array([0.05, 0.0, 0.0])
    ball = primitives.sphere(0.02).moved(np.block([[np.eye(3), corner[:, None]], [0, 0, 0, 1]]))
    table = table_between(tree, [[ball]] * 4, a, b)
    q, names = robot.random(seed=1, count=300), robot.joint_names
    poses = robot.fk(q)
    joints = joints_between(tree.parents, a, b)
    cells = []
    for joint, (low, high) in zip(joints, table.ranges.reshape(2, 2), strict=True):
        values = q[:, names.index(robot.model.all_joint_names[joint])]
        cells.append(np.minimum(((values - low) / (high - low) * TABLE_CELLS).astype(int), 95))
    centres = []
    for group in (a, b):
        place = robot.model.links[groups[group]]
        local = place.transform[:, :3].T @ (corner - place.transform[:, 3])
        centres.append(poses[groups[group]] @ [*local, 1.0])
    exact = np.linalg.norm(centres[0] - centres[1], axis=1) - 0.04
    found = table.distances[cells[0], cells[1]]
    apart = exact > 0.0
    assert apart.any()
    assert (found <= exact)[apart].all()
    assert (found > 0.0)[0.7 * exact - 0.005 > 0.0].all()
    assert (found[exact <= 0.0] < 0.0).all()


@pytest.mark.parametrize("is_free_somewhere", [False, True])
def test_a_pair_without_a_cell_that_is_free_is_not_checked(robot, is_free_somewhere):
    names, parts = robot.geometry.names, group_spheres(robot.geometry)
    pair = names.index("left_1"), names.index("right_1")
    distances = np.full((TABLE_CELLS, TABLE_CELLS), -0.001)
    distances[5, 7] = 0.01 if is_free_somewhere else -0.001
    table = Table(distances, np.array([-np.pi, np.pi] * 2), False)
    model, links = robot.model, robot.geometry.links
    geometry = make_geometry(
        model, model.all_joint_names, parts, links, None, "a test", {min(pair, pair[::-1]): table}
    )
    assert len(kernel_spheres(geometry).table_pairs) == is_free_somewhere
    assert ((*sorted(pair), "always touch") in geometry.skipped) != is_free_somewhere


def test_of_many_disabled_pairs_some_are_named(tmp_path):
    links = [f"left_{i}" for i in range(1, 7)]
    disabled = [[a, f"right_{i}"] for a in links for i in range(1, 4)]
    robot = with_spheres(Robot.from_urdf(two_arms()), tmp_path, disabled=disabled)
    assert "; and 6 more (see skipped)" in str(robot.geometry)


def test_disabled_pairs_of_a_file_are_not_checked(tmp_path):
    disabled = [["left_1", "right_1"], ["torso", "left_2"]]
    robot = with_spheres(Robot.from_urdf(two_arms()), tmp_path, disabled=disabled)
    names = robot.geometry.names
    checked = {frozenset((names[a], names[b])) for a, b in kernel_spheres(robot.geometry).pairs}
    assert all(frozenset(pair) not in checked for pair in disabled)
    assert "not checked, disabled: torso and left_2; left_1 and right_1" in str(robot.geometry)


def test_disabled_pairs_of_an_srdf_are_not_checked(tmp_path, monkeypatch):
    monkeypatch.setenv("JOINTWISE_CACHE_DIR", str(tmp_path))
    srdf = '<robot name="arm"><disable_collisions link1="foot" link2="fork"/></robot>'
    robot = Robot.from_urdf(ARM).with_geometry(padding=0.03, srdf=srdf)
    assert (0, 3, "disabled") in robot.geometry.skipped
    assert robot.geometry.padding == 0.03
    again = Robot.from_urdf(ARM).with_geometry(padding=0.03, srdf=srdf)
    assert again.geometry.skipped == robot.geometry.skipped


def test_a_saved_geometry_is_read_again(robot, tmp_path):
    robot.geometry.save(tmp_path / "saved.json")
    for source in (tmp_path / "saved.json", robot.geometry):
        again = Robot.from_urdf(two_arms()).with_geometry(source)
        q = robot.random(seed=1, count=20)
        assert (again.with_scene().clearance(q) == robot.with_scene().clearance(q)).all()


# Solutions


def test_two_arms_that_reach_do_not_hit_each_other(robot):
    targets = free_targets(robot.with_scene(), 30)
    blind = robot.with_scene(self_collision=False).solve_batch(targets)
    batch = robot.with_scene().solve_batch(targets)
    assert blind.converged.all()
    assert batch.converged.all(), str(batch)
    gaps = [twin.robot_clearance(robot, SPHERES, q, Scene())[0] for q in batch.q]
    assert min(gaps) >= 0.0
    assert batch.clearance == pytest.approx(gaps, abs=1e-9)
    touching = [twin.robot_clearance(robot, SPHERES, q, Scene())[0] for q in blind.q]
    assert min(touching) < 0.0  # else this test shows nothing


def test_solutions_in_a_scene_are_free_by_the_twin(robot):
    scene, margin = around_the_robot(), 0.02
    base = np.eye(4)
    base[:3, 3] = 0.1, 0.0, 0.05
    placed = robot.with_base(base).with_scene(scene, margin=margin)
    for target in free_targets(placed, 20):
        result = placed.solve(target)
        assert result.converged, result.message
        gap, _ = twin.robot_clearance(robot, SPHERES, result.q, scene, base)
        assert gap >= margin - 1e-9
        poses = robot.fk(result.q, base)
        for hand, pose in target.items():
            assert poses[hand] == pytest.approx(pose, abs=1e-5)


def test_a_floating_base_keeps_the_scene_of_the_world(floating):
    scene, base = around_the_robot(), np.eye(4)
    base[:3, 3] = 0.0, 0.0, 0.3
    placed = floating.with_scene(scene).with_base(base)
    for target in free_targets(placed, 10):
        result = placed.solve(target)
        assert result.converged, result.message
        gap, _ = twin.robot_clearance(floating, SPHERES, result.q, scene, result.base_pose)
        assert gap >= -1e-9
        assert result.clearance == pytest.approx(gap, abs=1e-9)


def test_rows_of_a_batch_are_single_solves(robot):
    targets = free_targets(robot.with_scene(around_the_robot()), 6)
    robot = robot.with_scene(around_the_robot(), margin=0.01)
    batch = robot.solve_batch(targets, threads=2)
    for target, row in zip(targets, batch, strict=True):
        one = robot.solve(target)
        assert (one.q == row.q).all()
        assert (one.status, one.contact) == (row.status, row.contact)


def test_with_preferred_values_solutions_are_free_too(robot):
    robot = robot.with_scene(around_the_robot())
    for target in free_targets(robot, 5):
        result = robot.solve(target, posture=Posture(robot.mid_range))
        assert result.converged
        assert robot.is_free(result.q)


def along_a_line(robot, count=9):
    """Frames of the left hand on a line across a pole, and where they start."""
    pose = robot.fk(robot.mid_range)["left_6"]
    frames = np.tile(pose, (count, 1, 1))
    frames[:, 1, 3] += np.linspace(0.0, 0.25, count)
    return {"left_6": frames}


@pytest.mark.parametrize("free_base", [False, True])
def test_a_path_tells_which_frames_and_ways_touch(robot, floating, free_base):
    robot = floating if free_base else robot
    frames = along_a_line(robot)
    plain = robot.with_scene(self_collision=False).solve_path(frames, robot.mid_range)
    at = plain.q[4], plain.base_poses[4]
    tip = robot.fk(*at)["left_6"][:3, 3]
    scene = Scene().sphere(0.02, tip, name="ball")
    robot = robot.with_scene(scene, self_collision=False)
    path = robot.solve_path(frames, robot.mid_range)
    assert (path.q == plain.q).all()
    touches = ~robot.is_free(path.q, path.base_poses if free_base else None)
    assert touches[4]
    assert not touches.all()
    codes = np.where(touches & plain.converged, list(Status).index(Status.COLLIDES), plain.status)
    assert (path.status == codes).all()
    assert (path.converged == (plain.converged & ~touches)).all()
    assert path[4].contact[1] == "ball"
    expected = [i for i in range(1, len(touches)) if touches[i - 1] or touches[i]]
    assert set(expected) <= set(path.colliding)
    assert plain.colliding == ()


def test_between_two_free_frames_the_way_is_checked(robot):
    start = robot.mid_range
    poses = [robot.fk(start)["left_6"], None]
    other = start.copy()
    other[list(robot.joint_names).index("left_1_joint")] += 0.8
    poses[1] = robot.fk(other)["left_6"]
    half = robot.fk(0.5 * (start + other))["left_6"][:3, 3]
    scene = Scene().sphere(0.01, half, name="ball")
    path = robot.with_scene(scene, self_collision=False).solve_path(
        {"left_6": np.array(poses)}, start, posture=Posture(active=["left_1_joint"])
    )
    assert path.converged.all()
    assert path.colliding == (1,)


def test_without_a_check_nothing_changes(robot):
    plain, blind = Robot.from_urdf(two_arms()), robot.with_scene(self_collision=False)
    for target in free_targets(robot.with_scene(), 5):
        one, other = plain.solve(target), blind.solve(target)
        assert (one.q == other.q).all()
        assert (one.iterations, one.restarts) == (other.iterations, other.restarts)
        assert np.isnan(one.clearance)
        assert one.contact is None


# Where nothing is free


def test_hands_at_one_place_always_collide(robot):
    poses = robot.fk(robot.random(seed=1, count=50))["left_6"]
    both = robot.solve_batch({"left_6": poses, "right_6": poses})
    pose = poses[both.converged][0]
    result = robot.with_scene().solve(dict.fromkeys(HANDS, pose))
    assert result.missed == ()
    assert result.status is Status.COLLIDES_ALWAYS
    assert not result.converged
    first, second = result.contact
    assert {first[:4], second[:4]} <= {"left", "righ", "jaw_"}
    assert result.restarts < SolveConfig().max_restarts


def test_a_hand_in_an_obstacle_always_collides(robot):
    target = free_targets(robot.with_scene(), 1)[0]
    end = target["left_6"] @ [*SPHERES["left_6"][-1, :3], 1.0]
    scene = Scene().sphere(0.05, end[:3], name="ball")
    result = robot.with_scene(scene).solve(target)
    assert result.status is Status.COLLIDES_ALWAYS
    assert result.contact == ("left_6", "ball")
    assert result.clearance == pytest.approx(-0.08)
    expected = (
        "'left_6' and 'ball' overlap by 0.08 m. Every solution of the target provably collides"
    )
    with pytest.raises(UnsolvedError, match=re.escape(expected)):
        result.or_raise()


def test_links_that_overlap_by_less_than_their_padding_may_be_apart(tmp_path):
    """Two plates 8 mm apart, with spheres that may extend 30 mm beyond each."""
    plate = '<collision><geometry><box size="0.1 0.1 0.02"/></geometry></collision>'
    ball = '<collision><geometry><sphere radius="0.01"/></geometry></collision>'
    limit = '<axis xyz="1 0 0"/><limit lower="-0.1" upper="0.1" velocity="1" effort="1"/>'
    joints = "".join(
        f'<link name="{name}">{shape}</link><joint name="move_{name}" type="prismatic">'
        f'<parent link="{parent}"/><child link="{name}"/><origin xyz="0 0 {z}"/>{limit}</joint>'
        for name, parent, z, shape in (
            *(("low", "base", 0.1, plate), ("a", "low", 0.3, ball), ("b", "a", 0.1, ball)),
            *(("c", "b", 0.1, ball), ("high", "c", -0.472, plate)),
        )
    )
    (tmp_path / "plates.urdf").write_text(f'<robot name="p"><link name="base"/>{joints}</robot>')
    arm = Chain.from_urdf(tmp_path / "plates.urdf")
    q = np.zeros(arm.n)
    fat = arm.with_geometry(padding=0.03).with_scene()
    plan = fat.plan(q=[*q[:-1], 0.1], start=q)
    assert plan.status.name == "START_COLLIDES"
    assert (
        "The spheres of both may extend up to 30 mm beyond the links; if the links do not touch, "
        "fit closer spheres with with_geometry(padding=0.005), or pass the pair in allow."
    ) in plan.message
    assert fat.with_scene(allow=[plan.contact]).is_free(q)


def test_what_no_joint_moves_touches_always(robot):
    start = robot.mid_range
    target = robot.fk(robot.random(seed=3))["left_6"]
    right = robot.fk(start)["right_6"]
    scene = Scene().sphere(0.02, right[:3, 3], name="ball")
    moving = [name for name in robot.joint_names if name.startswith("left")]
    posture = Posture(active=moving)
    result = robot.with_scene(scene).solve({"left_6": target[:3, 3]}, start, posture=posture)
    if result.missed == ():
        assert result.status is Status.COLLIDES_ALWAYS
        assert "ball" in result.contact


def test_every_solution_that_was_found_touches(robot):
    point = robot.fk(robot.mid_range)["left_6"][:3, 3]
    scene = Scene().sphere(0.05, point, name="ball")  # of a position nothing is proven
    config = SolveConfig(max_restarts=10)
    result = robot.with_scene(scene).solve({"left_6": point}, config=config)
    assert result.status is Status.COLLIDES
    assert "ball" in result.contact
    assert result.restarts == 10


# Bad input


def test_a_scene_needs_shapes_and_a_clearance_a_scene(robot):
    text = "the URDF has no collision shapes: expected <collision> elements in its links."
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}"):
        Robot.from_urdf(two_arms()).with_scene()
    text = (
        "the robot has no scene: call with_scene first, robot.with_scene(scene) or "
        "robot.with_scene() for self-collision alone."
    )
    for ask in (robot.clearance, robot.is_free):
        with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$"):
            ask(robot.mid_range)


def test_another_pose_of_a_base_that_does_not_move_is_refused(robot):
    text = "base_pose is given, but the base does not move: use with_base(pose)."
    checked = robot.with_scene()
    for ask in (checked.clearance, checked.is_free):
        with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$"):
            ask(robot.mid_range, [0.1, 0.0, 0.0])
        assert ask(robot.mid_range, np.eye(4)) == ask(robot.mid_range)  # where it is


def test_a_scene_that_swallows_the_base_is_named_once(robot, floating):
    base = np.eye(4)
    base[:3, 3] = 3.0, 0.0, 0.0
    scene = Scene().box([0.4, 0.4, 3.0], [3.0, 0.0, 0.5], name="cabinet")
    expected = (
        "'cabinet' collides with 'torso' at every value of the first joint, so no configuration is "
        "free: move it or the base, or leave it out."
    )
    swallowed, movable = robot.with_scene(scene).with_base(base), floating.with_scene(scene)
    with pytest.warns(GeometryWarning, match=f"^{re.escape(expected)}$"):
        swallowed.is_free(robot.mid_range)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        swallowed.is_free(robot.mid_range)  # it was said
        movable.is_free(robot.mid_range, base)  # which can move away
        robot.with_scene(scene).is_free(robot.mid_range)


def test_what_is_no_scene_or_margin_is_refused(robot, floating):
    with pytest.raises(InvalidInputError, match=r"^scene is 'table': expected a Scene, such as"):
        robot.with_scene("table")
    with pytest.raises(InvalidInputError, match=r"^margin is -0.1: expected 0 or more \[m\]\.$"):
        robot.with_scene(margin=-0.1)
    with pytest.raises(InvalidInputError, match=r"^q has 1 value for a robot of 15 joints"):
        robot.with_scene().clearance([0.0])
    with pytest.raises(InvalidInputError, match=r"^base_pose has the last row \[0. 0. 0. 0.\]"):
        floating.with_scene().clearance(robot.mid_range, np.zeros((4, 4)))


def test_the_geometry_of_another_robot_is_refused(robot):
    other = Robot.from_urdf(two_arms().replace("0 0.2 0.1", "0 0.25 0.1"))
    expected = "the geometry is for another robot: its joints differ. Expected the geometry"
    with pytest.raises(InvalidInputError, match=re.escape(expected)):
        other.with_geometry(robot.geometry)


def test_geometry_of_what_has_no_shapes_is_refused():
    with pytest.raises(InvalidInputError, match="no collision shapes"):
        Robot.from_urdf(two_arms()).with_geometry()
    with pytest.raises(InvalidInputError, match="no shape of 'stanford' comes with jointwise"):
        Robot.load("stanford").with_geometry("stanford")
    with pytest.raises(InvalidInputError, match=r"^stanford.* has no collision geometry: it was"):
        Robot.load("stanford").with_scene()


def test_a_table_of_ones_own_has_no_shapes(tmp_path):
    file = tmp_path / "arm.csv"
    file.write_text("a,alpha,d,theta\n0.3,0,0,0\n0.3,0,0,0\n")
    expected = "arm.csv has no collision geometry: it was made from DH rows. Load a URDF or MJCF "
    "file"
    with pytest.raises(InvalidInputError, match=f"^{re.escape(expected)}"):
        Robot.load(file).with_scene()
