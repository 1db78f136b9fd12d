"""The maker's home configuration: of arms that come with jointwise, of an SRDF, of a DH table."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from jointwise import (
    Chain,
    InvalidInputError,
    Posture,
    Robot,
    direction,
    position,
    robots,
)
from jointwise.model import data
from tests.support.facades import both
from tests.support.two_arms import two_arms

# Published configurations, in degrees or radians as their makers print them.
PUBLISHED = {
    "fr3": np.radians([0, -45, 0, -135, 0, 90, 45]),
    "gen3": np.radians([0, 15, 180, -130, 0, 55, 90]),
    "kr6_r900": np.radians([0, -90, 90, 0, 0, 0]),
    "panda": np.radians([0, -45, 0, -135, 0, 90, 45]),
    "puma560": np.radians([0, 90, -90, 0, 0, 0]),
    "sawyer": [0.0, -1.18, 0.0, 2.18, 0.0, 0.57, 3.3161],
    "xarm7": np.zeros(7),
    **dict.fromkeys(("ur3e", "ur5", "ur5e", "ur10e"), np.radians([0, -90, 0, 0, 0, 0])),
}
STATE = '<group_state name="{}" group="arm">{}</group_state>'
JOINT = '<joint name="{}" value="{}"/>'


def at_zero(model):
    """The home of a model with several limbs whose files name none."""
    return np.clip(0.0, *model.limits.T)


def srdf(**states):
    """The text of an SRDF with these group states, each a mapping of joints to texts."""
    texts = (
        STATE.format(name, "".join(JOINT.format(*pair) for pair in joints.items()))
        for name, joints in states.items()
    )
    return f"<robot name='arm'>{''.join(texts)}</robot>"


@both
@pytest.mark.parametrize("name", robots.names())
def test_home_is_the_published_one_or_the_middle_of_the_ranges(facade, name):
    model = facade.load(name)
    expected = PUBLISHED.get(name, model.mid_range)
    np.testing.assert_allclose(model.home, expected, atol=1e-15)
    assert (model.limits[:, 0] <= model.home).all()
    assert (model.home <= model.limits[:, 1]).all()
    assert not model.home.flags.writeable


@both
@pytest.mark.parametrize("posture", [None, Posture(q={"panda_joint1": 0.3})])
def test_the_default_start_is_home(facade, posture):
    model = facade.load("panda")
    target = Chain.load("panda").fk(model.home + 0.1)[:3, 3]
    given = target if facade is Chain else {"tip": target}
    result = model.solve(given, posture=posture)
    assert result.restarts == 0
    if posture is None:
        assert result == model.solve(given, model.home) != model.solve(given, model.mid_range)
    many = target[None] if facade is Chain else {"tip": target[None]}
    assert model.solve_batch(many, posture=posture)[0].q.tolist() == result.q.tolist()
    joint = model.joint_names[0]
    named, values = {joint: 0.7}, np.array([0.7, *model.home[1:]])
    assert model.solve(given, named) == model.solve(given, values)


@pytest.mark.parametrize(
    "change",
    [
        lambda arm: arm.with_tool([0.0, 0.0, 0.1]),
        lambda arm: arm.with_base([0.0, 0.0, 0.1]),
        lambda arm: arm.with_limits(arm.limits),
        lambda arm: arm.with_external_axis([0.0, 1.0, 0.0], [-1.0, 2.0]),
        lambda arm: arm.robot.chain(),
        lambda arm: pickle.loads(pickle.dumps(arm)),
    ],
)
def test_a_changed_arm_keeps_its_home(change):
    arm = Chain.load("panda")
    other = change(arm)
    expected = [0.0] * (other.n - arm.n) + arm.home.tolist()
    assert other.home.tolist() == other.arm.home.tolist() == expected
    target = other.fk(other.home)[:3, 3]
    assert other.solve(target) == other.solve(target, other.home)
    for kind in (direction([0.0, 0.0, -1.0]), position(target, point=[0.0, 0.0, 0.1])):
        result = other.solve(kind)
        assert result.q.tolist() == other.solve(kind, other.home).q.tolist()


def limbs(count, length):
    """The text of a URDF with limbs of hinges below one link, each from -1 to 2 rad."""
    names = [(f"limb{i}_", range(length)) for i in range(count)]
    links = ["root", *(f"{limb}{k}" for limb, joints in names for k in joints)]
    joint = (
        '<joint name="j_{0}" type="revolute"><parent link="{1}"/><child link="{0}"/>'
        '<origin xyz="0 0 0.2"/><axis xyz="1 0 0"/>'
        '<limit lower="{2}" upper="2" velocity="1" effort="1"/></joint>'
    )
    joints = (
        joint.format(f"{limb}{k}", f"{limb}{k - 1}" if k else "root", 0.5 if k == 1 else -1)
        for limb, each in names
        for k in each
    )
    return (
        f"<robot name='r'>{''.join(f'<link name={name!r}/>' for name in links)}"
        f"{''.join(joints)}</robot>"
    )


@pytest.mark.parametrize(
    ("count", "length", "is_zero"), [(1, 6, False), (2, 2, False), (2, 3, True), (4, 4, True)]
)
def test_a_robot_with_several_limbs_is_at_zero_where_its_limits_allow_it(count, length, is_zero):
    robot = Robot.from_urdf(limbs(count, length))
    expected = np.clip(0.0, *robot.limits.T) if is_zero else robot.mid_range
    assert robot.home.tolist() == expected.tolist()
    chain = Chain.from_urdf(limbs(count, length), "root", f"limb0_{length - 1}")
    assert chain.home.tolist() == robot.home[:length].tolist()
    named = Robot.from_urdf(limbs(count, length), srdf=srdf(home={"j_limb0_0": "0.25"}))
    assert named.home.tolist() == [0.25, *expected[1:]]


KEYFRAME = '<key name="{}" qpos="{} {}"/>'


@pytest.mark.parametrize(
    ("keyframes", "chosen"),
    [
        ([("bow", 0.4, 0.5), ("Home", 0.1, 0.2)], [0.1, 0.2]),
        ([("stand", 0.1, 0.2), ("half_sitting", 0.3, 0.4)], [0.3, 0.4]),
        ([("bow", 0.4, 0.5), ("wave", 0.1, 0.2)], [0.4, 0.5]),
        ([], [0.25, 0.0]),
    ],
)
def test_a_keyframe_is_the_home_of_an_mjcf_model(keyframes, chosen):
    pytest.importorskip("mujoco")
    hinges = '<joint name="a" range="0 0.5"/><joint name="b" axis="0 1 0" range="-1 1"/>'
    body = f'<body>{hinges}<geom size="0.1"/><site name="hand" pos="1 0 0"/></body>'
    keys = "".join(KEYFRAME.format(*key) for key in keyframes)
    robot = Robot.from_mjcf(
        f'<mujoco><compiler angle="radian"/><worldbody>{body}</worldbody>'
        f"<keyframe>{keys}</keyframe></mujoco>"
    )
    assert robot.home.tolist() == chosen


@pytest.mark.parametrize("name", ["home", "Home", "ready", "default", "half_sitting", "standing"])
def test_a_group_state_is_the_home(name):
    text = two_arms()
    joints = Robot.from_urdf(text).joint_names
    other = srdf(other={joints[0]: "0.9"}, **{name: {joints[2]: "0.25", "unknown": "1"}})
    robot = Robot.from_urdf(text, srdf=other)
    assert robot.home[2] == 0.25
    assert np.delete(robot.home, 2).tolist() == np.delete(at_zero(robot), 2).tolist()


def test_states_of_several_groups_are_one_home_and_home_comes_before_ready():
    text = two_arms()
    left, right, *_ = joints = Robot.from_urdf(text).joint_names
    states = [("ready", left, "0.9"), ("home", right, "0.02"), ("home", left, "0.1")]
    parts = (STATE.format(name, JOINT.format(joint, value)) for name, joint, value in states)
    floating = STATE.format("home", JOINT.format(joints[3], "0 0 1 0 0 0 1"))
    robot = Robot.from_urdf(text, srdf=f"<robot name='arm'>{''.join(parts)}{floating}</robot>")
    expected = at_zero(robot)
    expected[:2] = np.clip([0.1, 0.02], *robot.limits[:2].T)
    assert robot.home.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("file", "is_found"),
    [
        ("urdf/arm.srdf", True),
        ("srdf/arm.srdf", True),
        ("srdf/arm_v2.srdf", True),
        ("srdf/arm_v2-left.srdf", False),
        ("srdf/ar.srdf", False),
        ("srdf/leg.srdf", False),
    ],
)
def test_the_srdf_beside_a_urdf_is_found(tmp_path, file, is_found):
    urdf = tmp_path / "urdf" / "arm_v2.urdf"
    name = Chain.from_urdf(two_arms(), "base", "left_6").joint_names[2]
    for path, text in ((urdf, two_arms()), (tmp_path / file, srdf(home={name: "0.2"}))):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    for model in (Robot.from_urdf(urdf), Chain.from_urdf(urdf, "base", "left_6")):
        assert (model.home[model.joint_names.index(name)] == 0.2) == is_found
        assert (model.home == at_zero(model)).all() != is_found


def test_the_longest_name_wins_and_a_broken_srdf_is_ignored(tmp_path):
    urdf = tmp_path / "arm_v2.urdf"
    urdf.write_text(two_arms())
    name = Robot.from_urdf(urdf).joint_names[2]
    (tmp_path / "arm.srdf").write_text(srdf(home={name: "0.1"}))
    assert Robot.from_urdf(urdf).home[2] == 0.1
    (tmp_path / "arm_v2.srdf").write_text(srdf(home={name: "0.2"}))
    assert Robot.from_urdf(urdf).home[2] == 0.2
    (tmp_path / "arm_v2.srdf").write_text("<robot")
    robot = Robot.from_urdf(urdf)
    assert robot.home.tolist() == at_zero(robot).tolist()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<robot", "the SRDF is not valid XML"),
        ("<!DOCTYPE a><robot/>", "the SRDF has a document type declaration"),
        (srdf(home={"a": "1e12"}), "joint 'a' in a group state of the SRDF has the value '1e12'"),
        (srdf(home={"a": "x"}), "has the value 'x': expected a number below 1e9"),
        ("no_such_file.srdf", "cannot be read, No such file or directory"),
    ],
)
def test_a_given_srdf_that_cannot_be_read_is_refused(text, problem):
    with pytest.raises(InvalidInputError, match=problem):
        Robot.from_urdf(two_arms(), srdf=text)


def test_a_dh_table_may_have_a_home(tmp_path):
    file = tmp_path / "arm.toml"
    rows = (
        '{ a = 1, home = 30 }, { type = "prismatic", lower = 0, upper = 2, home = 0.5 }, { a = 1 }'
    )
    file.write_text(f'angles = "degrees"\njoints = [{rows}]')
    np.testing.assert_allclose(Chain.from_table(file).home, [np.radians(30), 0.5, 0.0])
    (tmp_path / "arm.csv").write_text("a,lower,upper,home\n1,-1,1,0.2\n1,-1,1,7\n1,-1,2,\n")
    assert Chain.from_table(tmp_path / "arm.csv").home.tolist() == [0.2, 1.0, 0.5]
    file.write_text('joints = [{ a = 1, home = "x" }]')
    with pytest.raises(InvalidInputError, match=r"home in row 1 of arm.toml is 'x'"):
        Chain.from_table(file)


@pytest.mark.parametrize(
    ("name", "joint", "value"),
    [
        ("talos_full_v2", "arm_left_4_joint", -0.525366),
        ("panda", "panda_joint4", -2.35619),
        ("romeo", "LKneePitch", None),
    ],
)
def test_robots_of_example_robot_data_have_their_reference_posture(name, joint, value):
    file = data.example_files().get(name)
    if file is None:
        pytest.skip("example-robot-data is not installed")
    robot = Robot.from_urdf(Path(file))
    found = robot.home[robot.joint_names.index(joint)]
    if value is None:
        assert found != robot.mid_range[robot.joint_names.index(joint)]
    else:
        assert found == value
