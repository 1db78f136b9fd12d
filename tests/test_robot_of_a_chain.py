"""A chain and its robot have one scene, whatever link the chain begins at."""

import json

import numpy as np
import pytest

from jointwise import Chain, InvalidInputError, Robot, Scene
from tests.support.scenes import everything
from tests.support.two_arms import two_arms

pytestmark = pytest.mark.filterwarnings("ignore::jointwise.errors.GeometryWarning")

BASE = np.eye(4)
BASE[:3, 3] = 0.2, -0.1, 0.3


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    robot = Robot.from_urdf(two_arms())
    file = tmp_path_factory.mktemp("robot") / "spheres.json"
    spheres = {link: [[0.02, 0.0, 0.0, 0.03]] for link in robot.link_names}
    file.write_text(json.dumps({"spheres": spheres}))
    return robot.with_geometry(file)


def beside_at_zero(robot, chain, values):
    """Joint values of the robot: those of the chain, others at zero, clipped to their limits."""
    q = np.clip(np.zeros(robot.n), *robot.limits.T)
    q[[robot.joint_names.index(name) for name in chain.joint_names]] = values
    return q


def test_the_robot_of_a_chain_has_its_scene():
    scene = everything(2)
    for arm in (Chain.load("panda"), Chain.load("ur5e").with_base(BASE)):
        allow = [(arm.with_scene().geometry.names[-2], scene.names[0])]
        placed = arm.with_scene(scene, margin=0.01, allow=allow)
        q = placed.random(seed=1, count=100)
        assert placed.robot.scene is scene
        assert placed.robot.margin == 0.01
        np.testing.assert_allclose(placed.robot.clearance(q), placed.clearance(q), atol=1e-9)
        holding = placed.attach("ball", [0.0, 0.0, 0.1], sphere=0.05)
        assert holding.robot.geometry.attached == ("ball",)
        np.testing.assert_allclose(holding.robot.clearance(q), holding.clearance(q), atol=1e-9)
        assert arm.robot.scene is None
        assert placed.robot is placed.robot


@pytest.mark.parametrize("base", ["torso", "left_1", "base"])
@pytest.mark.parametrize("moved", [False, True])
def test_a_chain_of_a_robot_in_a_scene_may_begin_at_any_link_above_its_tip(robot, base, moved):
    whole = robot.with_base(BASE).with_scene(everything(3), self_collision=False)
    if not moved:
        whole = robot.with_scene(everything(3), self_collision=False)
    chain = whole.chain(base, "left_6")
    assert chain.scene is whole.scene
    values = chain.random(seed=1, count=50)
    q = np.array([beside_at_zero(robot, chain, each) for each in values])
    np.testing.assert_allclose(chain.fk(values), whole.fk(q)["left_6"], atol=1e-9)
    np.testing.assert_allclose(chain.robot.fk(q)["left_6"], whole.fk(q)["left_6"], atol=1e-9)
    assert (chain.clearance(values) >= whole.clearance(q) - 1e-9).all()
    # Links that do not move against the base of the chain are checked as its base is: not at all.
    moving = [name for name in robot.link_names if name in str(chain.geometry.links[1:])]
    free = whole.with_scene(
        whole.scene,
        self_collision=False,
        allow=[
            (link, obstacle)
            for link in robot.link_names
            if link not in moving and link != "base"
            for obstacle in whole.scene.names
        ],
    )
    np.testing.assert_allclose(chain.clearance(values), free.clearance(q), atol=1e-9)


@pytest.mark.parametrize("base", ["torso", "left_1", "base"])
@pytest.mark.parametrize("in_scene", [False, True])
def test_the_robot_of_a_chain_is_where_the_chain_is(robot, base, in_scene):
    chain = robot.chain(base, "left_6").with_base(BASE)
    if in_scene:
        chain = chain.with_scene(everything(3))
    values = chain.random(seed=1)
    q = beside_at_zero(robot, chain, values)
    np.testing.assert_allclose(chain.robot.fk(q)["left_6"], chain.fk(values), atol=1e-9)
    turned = chain.with_base(BASE @ BASE)
    np.testing.assert_allclose(turned.robot.fk(q)["left_6"], turned.fk(values), atol=1e-9)


@pytest.mark.parametrize("change", [lambda arm: arm.with_base(BASE), lambda arm: arm.with_scene()])
def test_a_chain_that_is_placed_has_no_robot_whose_root_moves(robot, change):
    chain = robot.chain("left_6", "right_6")
    assert chain.robot is robot
    with pytest.raises(InvalidInputError, match="root moves relative to 'left_6'"):
        change(chain).robot  # noqa: B018


def test_a_chain_whose_base_the_root_moves_against_is_refused(robot):
    text = "its root moves relative to 'left_6' in this chain"
    for whole in (robot.with_scene(Scene()), robot.with_base(BASE)):
        with pytest.raises(InvalidInputError, match=text):
            whole.chain("left_6", "right_6")
    assert robot.chain("left_6", "right_6").scene is None


def test_detach_takes_off_what_other_links_of_the_robot_hold(robot):
    bare = robot.with_scene(everything(4)).chain("base", "left_6")
    q = bare.random(seed=1, count=40)
    for link in ("left_3", "right_6", "left_6", "torso"):
        holding = robot.attach("ball", link=link, sphere=0.1).with_scene(everything(4))
        chain = holding.chain("base", "left_6")
        assert chain.geometry.count == bare.geometry.count + 1
        both = chain.attach("cup", sphere=0.02)
        for held in (chain, both):
            free = held.detach()
            assert free.geometry.count == bare.geometry.count
            assert free.robot.geometry.attached == ()
            assert np.array_equal(free.clearance(q), bare.clearance(q))
