"""Things fixed to the links of a robot or to the end effector of an arm."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import Chain, InvalidInputError, Robot, Scene, Status
from jointwise.shape.attached import attach, detach
from jointwise.shape.files import to_text
from jointwise.shape.geometry import group_of_spheres, kernel_spheres, kernel_tree
from tests.support.examples import examples
from tests.support.scenes import everything
from tests.support.two_arms import _joint, two_arms

# Random obstacles may well touch the first link.
pytestmark = pytest.mark.filterwarnings("ignore::jointwise.errors.GeometryWarning")

SEEDS = st.integers(0, 10_000)
MUG = np.array([[0.12, 0.0, 0.0, 0.05], [0.2, 0.0, 0.05, 0.03]])
LINKS = ["left_6", "right_3", "torso", "jaw_2", "base"]


def spheres_of(robot):
    return {link: [[0.02, 0.0, 0.0, 0.03]] for link in robot.link_names}


def with_spheres(robot, folder, extra=None):
    file = folder / "spheres.json"
    file.write_text(json.dumps({"spheres": {**spheres_of(robot), **(extra or {})}}))
    return robot.with_geometry(file)


@pytest.fixture(scope="module")
def robots(tmp_path_factory):
    folder = tmp_path_factory.mktemp("robots")
    return {
        free: with_spheres(Robot.from_urdf(two_arms(), free_base=free), folder)
        for free in (False, True)
    }


def with_joint(link, free_base, folder):
    """The robot with the mug on a joint of its own, which cannot move."""
    joint = _joint("hold", "revolute", link, "mug", "0 0 0", "0 0 1", (0.0, 0.0))
    text = two_arms().replace("</robot>", f'<link name="mug"/>{joint}</robot>')
    return with_spheres(Robot.from_urdf(text, free_base=free_base), folder, {"mug": MUG.tolist()})


def holding(robot, link, name="mug"):
    return robot.with_geometry(attach(robot.geometry, MUG, name, robot.model.links[link]))


@pytest.mark.parametrize("free_base", [False, True])
@pytest.mark.parametrize("link", LINKS)
def test_an_attached_thing_is_a_link_on_a_joint_that_does_not_move(
    robots, link, free_base, tmp_path
):
    robot = holding(robots[free_base], link)
    other = with_joint(link, free_base, tmp_path)
    hold = other.joint_names.index("hold")
    base = np.eye(4)
    base[:3, 3] = 0.1, 0.2, 0.3
    for seed in range(5):
        scene, q = everything(seed), robot.random(seed=seed, count=20)
        same = np.insert(q, hold, 0.0, axis=1)
        found, expected = (
            model.with_base(base).with_scene(scene).clearance(values)
            for model, values in ((robot, q), (other, same))
        )
        np.testing.assert_allclose(found, expected, atol=1e-12)


@examples(20)
@given(seed=SEEDS)
def test_it_moves_with_its_link(robots, seed):
    robot = robots[False]
    link = str(np.random.default_rng(seed).choice(robot.link_names))
    held, q = holding(robot, link).geometry, robot.random(seed=seed)
    pose = robot.fk(q)[link]
    group = held.links.index(("mug",))
    found = held.spheres(q)[group_of_spheres(held) == group]
    np.testing.assert_allclose(found[:, :3], MUG[:, :3] @ pose[:3, :3].T + pose[:3, 3], atol=1e-12)
    assert np.array_equal(found[:, 3], MUG[:, 3])


def test_contacts_name_it_and_solutions_avoid_it(robots):
    held, scene = holding(robots[False], "right_6"), Scene().box([0.1, 3.0, 3.0], [0.7, 0, 0.8])
    bare, robot = robots[False].with_scene(scene), held.with_scene(scene)
    q = robot.random(seed=3, count=300)
    hits = (bare.clearance(q) > 0.0) & (robot.clearance(q) < -0.01)
    hits &= held.with_scene().clearance(q) > 0.0
    assert hits.any()  # only the mug collides, with the wall
    free = q[robot.is_free(q)][:5]
    for values in free:
        start = robot.mid_range  # the other arm stays there, and is free
        result = robot.solve({"right_6": robot.fk(values)["right_6"]}, start)
        assert result.converged, result.message
        assert robot.clearance(result.q) >= 0.0
    touching = q[hits][0]
    target = {"right_6": robot.fk(touching)["right_6"]}
    result = robot.solve(target, touching)
    assert result.status is Status.COLLIDES_ALWAYS  # the mug is where the hand is
    assert "mug" in result.contact


def test_things_on_one_link_are_not_checked_against_each_other(robots):
    one = holding(robots[False], "left_6")
    two = holding(one, "left_6", "spoon")
    other = holding(one, "right_6", "spoon")
    mug, spoon = (two.geometry.links.index((name,)) for name in ("mug", "spoon"))
    assert (mug, spoon, "fixed to each other") in two.geometry.skipped
    assert [mug, spoon] not in kernel_spheres(two.geometry).pairs.tolist()
    assert [mug, spoon] in kernel_spheres(other.geometry).pairs.tolist()
    hand = two.geometry.links.index(("left_6",))
    assert (hand, mug, "neighbours") in two.geometry.skipped


@pytest.mark.parametrize("order", [("mug", "spoon"), ("spoon", "mug")])
def test_what_is_detached_leaves_the_rest_as_it_was(robots, order):
    bare = robots[False]
    mug, spoon = holding(bare, "left_6"), holding(bare, "right_6", "spoon")
    both = holding(mug, "right_6", "spoon")
    assert both.geometry.attached == ("mug", "spoon")
    kept = spoon if order[0] == "mug" else mug
    left = detach(both.geometry, order[0])
    for expected, found in ((kept.geometry, left), (bare.geometry, detach(left, order[1]))):
        assert_same(expected, found)
    assert_same(bare.geometry, detach(both.geometry))
    assert to_text(both.geometry) == to_text(bare.geometry)


def assert_same(one, other):
    for a, b in zip(
        (*kernel_spheres(one), *kernel_tree(one)),
        (*kernel_spheres(other), *kernel_tree(other)),
        strict=True,
    ):
        assert np.array_equal(a, b)
    assert (one.links, one.skipped, one.attached) == (other.links, other.skipped, other.attached)


def test_things_on_an_end_effector_are_detached_by_name():
    shape = Chain.load("panda").with_scene().geometry
    ball, cup = np.array([[0.0, 0.0, 0.2, 0.05]]), np.array([[0.1, 0.0, 0.2, 0.02]] * 3)
    both = attach(attach(shape, ball, "ball"), cup, "cup")
    assert both.attached == ("ball", "cup")
    assert_same(detach(both, "ball"), attach(shape, cup, "cup"))
    assert_same(detach(both, "cup"), attach(shape, ball, "ball"))
    assert_same(detach(both), shape)
    assert "attached" in str(both)


def test_names_that_are_wrong(robots):
    held = holding(robots[False], "left_6").geometry
    with pytest.raises(InvalidInputError, match=r"^'mug' is already attached or a link"):
        attach(held, MUG, "mug", robots[False].model.links["torso"])
    with pytest.raises(InvalidInputError, match=r"^'head' is already attached or a link"):
        attach(held, MUG, "head", robots[False].model.links["torso"])
    text = r"^no attached thing named 'mugg' in the geometry; did you mean 'mug'\?"
    with pytest.raises(InvalidInputError, match=text):
        detach(held, "mugg")


def test_a_robot_without_joints_is_refused(robots):
    text = '<robot name="box"><link name="box"/></robot>'
    robot = Robot.from_urdf(text, free_base=True)
    held = replace(
        robots[False].geometry,
        _tree=robot.model.tree,
    )
    with pytest.raises(InvalidInputError, match=r"^the robot has no joints"):
        attach(held, MUG, "mug", robot.model.links["box"])


def test_several_things_on_an_arm_are_checked_as_those_on_its_robot_are():
    ball, cup = np.array([[0.0, 0.0, 0.2, 0.05]]), np.array([[0.1, 0.0, 0.2, 0.02]] * 3)
    robot, scene = Robot.load("panda").with_scene(), everything(4)
    shape, place = robot.geometry, robot.model.links["tip"]
    for names in (["ball"], ["ball", "cup"]):
        for name, spheres in zip(names, (ball, cup), strict=False):
            if name not in shape.attached:
                shape = attach(shape, spheres, name, place)
        held = robot.with_geometry(shape).with_scene(scene)
        arm, q = held.chain(tip_link="tip"), held.random(seed=2, count=200)
        assert arm.geometry.attached == tuple(names)
        np.testing.assert_allclose(arm.clearance(q), held.clearance(q), atol=1e-12)
        assert np.array_equal(arm.is_free(q), held.is_free(q))
        contact = [arm._check().name_pair(row) for row in arm._check().contacts(q)]
        assert any("+".join(names) in pair for pair in contact)
    both = ("ball+cup", "panda_link5")
    alone = arm.with_scene(allow=[both]).clearance(q)
    assert (alone >= arm.with_scene().clearance(q)).all()


@pytest.mark.parametrize(("name", "wrist"), [("kr6_r900", "link_5"), ("irb120", "link_5")])
def test_a_gripper_on_a_short_flange_is_not_checked_against_the_wrist(name, wrist):
    arm = Chain.load(name).with_tool([0.0, 0.0, 0.12], radius=0)
    held = arm.attach("hand", [0.0, 0.0, -0.06], box=[0.05, 0.18, 0.12])
    q = arm.random(seed=1, count=300)
    bare, free = (model.with_scene().is_free(q) for model in (arm, held))
    assert free.mean() > 0.6
    assert not (free & ~bare).any()  # the gripper hides no contact of the arm
    assert f"not checked, always touch: {wrist} and hand" in str(held.geometry)
    apart = held.detach().attach("hand", [0.0, 0.0, 0.06], box=[0.05, 0.18, 0.12])
    assert "always touch" not in str(apart.geometry)
    robot = held.with_scene().robot
    assert (wrist, "hand") in {
        (robot.geometry.names[a], robot.geometry.names[b]) for a, b, _ in robot.geometry.skipped
    }


def test_an_attached_thing_is_checked_against_links_that_it_sometimes_hits():
    held = Chain.load("irb120").attach("bar", [0.0, 0.0, 0.06], box=[0.05, 0.4, 0.12])
    names = held.geometry.names
    checked = {(names[a], names[b]) for a, b in kernel_spheres(held.geometry).pairs.tolist()}
    assert {("link_4", "bar"), ("link_3", "bar"), ("base_link", "bar")} <= checked
    swallowing = Chain.load("irb120").attach("room", box=[3.0, 3.0, 3.0], padding=0.4).with_scene()
    assert not swallowing.is_free(swallowing.random(seed=1, count=20)).any()


def test_a_pair_that_always_touches_is_left_out_of_robots_too():
    bare, box = Robot.load("irb120"), [0.2, 0.2, 0.12]
    robot = bare.attach("hand", [0.0, 0.0, 0.06], link="tool0", box=box)
    arm = robot.chain(tip_link="tool0").with_scene()
    q = arm.random(seed=2, count=100)
    assert (arm.is_free(q) == robot.with_scene().is_free(q)).all()
    assert arm.is_free(q).mean() > 0.3
