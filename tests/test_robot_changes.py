"""Robots of DH rows, the same robots otherwise, their Jacobians, and robots as URDF."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from jointwise import Chain, InvalidInputError, Robot, Scene, puma560
from jointwise.model import data
from testbed.random_trees import random_tree
from testbed.whole_robots import all_values, random_base
from tests.support.arms import chains
from tests.support.examples import examples
from tests.test_robot import mimic_trees
from tests.test_urdf import LIMIT, MIMIC, joint
from tests.test_urdf import robot as urdf

SEEDS = st.integers(0, 10_000)
# Files whose joints refer to what is missing, or that have no links.
NO_ROBOTS = {"alex_psyonic_hands", "falcon", "ur3"}


# DH rows


@examples(30)
@given(chains, st.booleans())
def test_a_robot_of_dh_rows_is_its_chain(rows, modified):
    name, base, tool = ("from_mdh", "from_dh")[not modified], random_base(1), random_base(2)
    robot, chain = (getattr(kind, name)(rows, base=base, tool=tool) for kind in (Robot, Chain))
    assert robot.joint_names == chain.joint_names
    assert (robot.link_names[0], robot.link_names[-1]) == (chain.base_link, chain.tip_link)
    q = robot.random(3)
    scale = max(1.0, np.abs(chain.fk(q)).max())
    np.testing.assert_allclose(robot.fk(q)["tip"], chain.fk(q), rtol=0.0, atol=1e-12 * scale)
    np.testing.assert_array_equal(robot.chain().arm.links, chain.arm.links)


def test_a_robot_of_a_table_is_its_chain(tmp_path):
    file = tmp_path / "arm.toml"
    file.write_text(
        'angles = "degrees"\njoints = [{ a = 0.4, alpha = 90 }, { a = 0.3, lower = -9 }]'
    )
    robot, chain = Robot.from_table(file), Chain.from_table(file)
    np.testing.assert_array_equal(robot.limits, chain.limits)
    np.testing.assert_allclose(robot.fk([0.1, 0.2])["tip"], chain.fk([0.1, 0.2]), atol=1e-15)
    assert Robot.load(file).name == "arm"


def test_wrong_rows_are_refused_as_for_a_chain():
    for kind in (Robot, Chain):
        with pytest.raises(InvalidInputError, match=r"^limits has shape \(1, 2\) for an arm of 6"):
            kind.from_dh(puma560(), limits=[[0.0, 1.0]])


# Jacobians


@examples(40)
@given(SEEDS, st.booleans())
def test_a_jacobian_is_that_of_finite_differences(seed, free_base):
    """With mimic and prismatic joints and a base elsewhere, which does not move, also if free."""
    robot = random_tree(seed, free_base=free_base).with_base(random_base(seed))
    q, h = robot.random(seed), 1e-6
    rows = np.concatenate([q + h * np.eye(robot.n), q - h * np.eye(robot.n)])
    for link, poses in robot.fk(rows).items():
        ahead, behind = np.split(poses, 2)
        moves = (ahead[:, :3, 3] - behind[:, :3, 3]) / (2 * h)
        turns = ahead[:, :3, :3] @ behind[:, :3, :3].swapaxes(1, 2)
        expected = np.hstack([moves, Rotation.from_matrix(turns).as_rotvec() / (2 * h)]).T
        found = robot.jacobian(q, link)
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-7)


@pytest.mark.parametrize("name", ["panda", "ur5e", "stanford"])
def test_the_jacobian_of_an_arm_is_that_of_its_robot(name):
    chain = Chain.load(name).with_base(random_base(1))
    robot = Robot.load(name).with_base(random_base(1))
    q = chain.random(2)
    np.testing.assert_allclose(robot.jacobian(q, chain.tip_link), chain.jacobian(q), atol=1e-12)


def test_the_jacobian_of_an_unknown_link_or_of_many_configurations_is_refused():
    robot = Robot.load("ur5e")
    with pytest.raises(InvalidInputError, match="no link named 'tpi' in ur5e; did you mean 'tip'"):
        robot.jacobian(robot.mid_range, "tpi")
    with pytest.raises(InvalidInputError, match=r"^q has shape \(2, 6\)"):
        robot.jacobian(robot.random(1, 2), "tip")


# Another base, another tool


def test_a_robot_is_moved_with_all_that_it_does():
    base, robot = random_base(5), random_tree(4)
    moved, q = robot.with_base(base), robot.random(1)
    assert not moved.base_pose.flags.writeable
    for link, pose in robot.fk(q).items():
        np.testing.assert_allclose(moved.fk(q)[link], base @ pose, atol=1e-12)
    links = robot.link_names[-2:]
    targets = {link: moved.fk(q)[link] for link in links}
    result = moved.solve(targets)
    assert result.converged
    np.testing.assert_array_equal(result.base_pose, moved.base_pose)
    np.testing.assert_allclose(moved.base_pose, base, atol=1e-15)
    for link in links:
        np.testing.assert_allclose(moved.fk(result.q)[link], targets[link], atol=2e-6)
    # Another base replaces the first, unlike that of a chain, whose frame moves along.
    np.testing.assert_array_equal(moved.with_base(np.eye(4)).base_pose, np.eye(4))


def test_a_tool_is_a_link():
    robot, tool = Robot.load("ur5e"), random_base(2)
    longer = robot.with_tool("tip", tool, name="torch")
    assert longer.link_names == (*robot.link_names, "torch")
    q = robot.random(1)
    np.testing.assert_allclose(longer.fk(q)["torch"], robot.fk(q)["tip"] @ tool, atol=1e-15)
    assert longer.solve({"torch": longer.fk(q)["torch"]}).converged
    chain = Chain.load("ur5e").with_tool(tool, name="torch")
    np.testing.assert_allclose(longer.chain(None, "torch").fk(q), chain.fk(q), atol=1e-12)
    with pytest.raises(InvalidInputError, match="'torch' is already a link: choose another name"):
        longer.with_tool("tip", tool, name="torch")
    with pytest.raises(InvalidInputError, match="no link named 'tpi' in ur5e; did you mean 'tip'"):
        robot.with_tool("tpi", tool)


def test_what_is_attached_to_a_link_moves_with_it_and_is_taken_off():
    robot = Robot.load("panda").with_scene()
    holding, q = robot.attach("ball", [0.0, 0.0, 0.1], link="tip", sphere=0.04), robot.random(1)
    ball = holding.geometry.spheres(q)[-1]
    centre = (robot.fk(q)["tip"] @ [0.0, 0.0, 0.1, 1.0])[:3]
    np.testing.assert_allclose(ball, [*centre, 0.04], atol=1e-12)
    scene = Scene().sphere(0.05, centre, name="lamp")
    assert holding.with_scene(scene, self_collision=False).clearance(q) == pytest.approx(-0.09)
    free = holding.detach().with_scene(scene, self_collision=False).clearance(q)
    assert free == robot.with_scene(scene, self_collision=False).clearance(q) > -0.09
    with pytest.raises(InvalidInputError, match="no link named 'tpi' in panda; did you mean 'tip'"):
        robot.attach("ball", link="tpi", sphere=0.04)


# Other limits


@examples(40)
@given(SEEDS)
def test_mimic_joints_stay_inside_their_limits_whatever_is_asked_for(seed):
    robot, rng = random_tree(seed), np.random.default_rng(seed)
    middle, half = rng.uniform(-1.0, 1.0, robot.n), rng.uniform(1.0, 4.0, robot.n)
    asked = np.stack([middle - half, middle + half], axis=1)
    other = robot.with_limits(asked)
    assert (other.limits[:, 0] >= asked[:, 0]).all()
    assert (other.limits[:, 1] <= asked[:, 1]).all()
    followed = {master for master, *_ in robot.mimics.values()}
    for name, limits, own in zip(robot.joint_names, other.limits, asked, strict=True):
        assert name in followed or (limits == own).all()
    for q in (*other.random(seed, 5), *other.limits.T):
        values = all_values(other, q)
        assert all(abs(values[name]) <= 2.0 + 1e-12 for name in robot.mimics)
    back = other.with_limits(robot.limits)
    np.testing.assert_array_equal(back.limits, robot.limits)
    np.testing.assert_array_equal(back.mid_range, robot.mid_range)


FOLLOWED = urdf(joint(), joint("k", child="two", more=LIMIT + MIMIC))


def test_limits_that_leave_no_value_to_a_mimic_joint_are_refused():
    robot = Robot.from_urdf(FOLLOWED)
    text = (
        "Joint 'j': expected limits that overlap -1 to 1, where all joints that follow it are "
        "inside their limits."
    )
    for refuse in (
        lambda: robot.with_limits({"j": [2.0, 3.0]}),
        lambda: robot.chain("base", "one").with_limits([[2.0, 3.0]]),
    ):
        with pytest.raises(InvalidInputError) as caught:
            refuse()
        assert str(caught.value) == text


def test_a_chain_has_the_limits_that_mimic_joints_beside_it_leave():
    chain = Robot.from_urdf(FOLLOWED).chain("base", "one").with_limits([[-0.5, 3.0]])
    for limits in (chain.limits, chain.robot.limits, chain.arm.limits):
        assert limits.tolist() == [[-0.5, 1.0]]


def test_limits_are_given_for_all_joints_or_for_some_by_name():
    robot = Robot.load("ur5e")
    first = robot.joint_names[0]
    some = robot.with_limits({first: [-1.0, 0.5]})
    assert some.limits[0].tolist() == [-1.0, 0.5]
    np.testing.assert_array_equal(some.limits[1:], robot.limits[1:])
    assert some.mid_range[0] == -0.25
    every = robot.with_limits(np.tile([-1.0, 1.0], (6, 1)))
    result = every.solve({"tip": robot.fk(np.full(6, 0.9))["tip"][:3, 3]})
    assert (np.abs(result.q) <= 1.0).all()
    with pytest.raises(
        InvalidInputError, match=f"no joint named 'x' in the model. Joints: {first}"
    ):
        robot.with_limits({"x": [0.0, 1.0]})
    with pytest.raises(InvalidInputError, match=r"^limits has shape \(1, 2\) for a robot of 6"):
        robot.with_limits([[0.0, 1.0]])


# Robots written as URDF


def assert_same_robot(again, robot):
    assert (again.name, again.joint_names) == (robot.name, robot.joint_names)
    for name in ("limits", "max_velocity", "prismatic", "mid_range"):
        np.testing.assert_array_equal(getattr(again, name), getattr(robot, name))
    assert dict(again.mimics) == dict(robot.mimics)
    q = robot.random(1, 5)
    found, poses = again.fk(q), robot.fk(q)
    assert set(found) >= set(poses)
    for link, pose in poses.items():
        tolerance = 1e-12 * max(1.0, np.abs(pose).max())
        np.testing.assert_allclose(found[link], pose, rtol=0.0, atol=tolerance)


@pytest.mark.parametrize("name", sorted(data.example_files().keys() - NO_ROBOTS))
def test_a_real_robot_is_written_and_read_as_the_same_robot(name):
    robot = Robot.load(name)
    again = Robot.from_urdf(robot.to_urdf())
    assert_same_robot(again, robot)
    assert again.link_names == robot.link_names
    assert again.to_urdf().count("\n") == robot.to_urdf().count("\n")


@pytest.mark.filterwarnings("ignore::jointwise.DegreesWarning")  # a follower's of 9 rad
@examples(60)
@given(mimic_trees())
def test_any_tree_is_written_and_read_as_the_same_robot(case):
    robot = Robot.from_urdf(case[2])
    again = Robot.from_urdf(robot.to_urdf())
    assert_same_robot(again, robot)
    assert set(again.link_names) == set(robot.link_names)


@examples(30)
@given(SEEDS)
def test_a_changed_robot_is_written_and_read_as_the_same_robot(seed):
    robot = random_tree(seed).with_tool("l3", random_base(seed), name="l1_fixed")
    assert_same_robot(Robot.from_urdf(robot.to_urdf()), robot)


def test_velocities_are_written_also_of_joints_without_limits():
    spin = joint("spin", "continuous", more='<limit velocity="3"/>')
    slide = joint("slide", "prismatic", "one", "two", '<limit lower="0" upper="1e16"/>')
    robot = Robot.from_urdf(urdf(spin, slide))
    assert robot.max_velocity.tolist() == [3.0, np.inf]
    again = Robot.from_urdf(robot.to_urdf())
    assert_same_robot(again, robot)
    assert Chain.from_urdf(robot.chain().to_urdf()).max_velocity.tolist() == [3.0, np.inf]
