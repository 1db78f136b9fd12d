"""Whole robots: forward kinematics, mimic joints, chains between links, and invalid input."""

import pickle
import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform

from jointwise import Chain, DimensionMismatchError, InvalidInputError, JointwiseError, Robot
from jointwise.kernels.layout.arrays import UNLIMITED
from jointwise.model import data as robot_files
from testbed.whole_robots import all_values, pinocchio_poses, random_base
from tests.support.examples import examples
from tests.test_urdf import LIMIT, joint
from tests.test_urdf import robot as urdf
from tests.test_urdf_tips import BY_NAME, link_poses, trees

REAL = ["g1_29dof_rev_1_0", "panda", "pr2", "romeo", "talos_full_v2", "tiago_pro", "bluevolta"]


def mimic(master, ratio="1", offset="0"):
    return f'<mimic joint="{master}" multiplier="{ratio}" offset="{offset}"/>'


# -- forward kinematics --------------------------------------------------------------------------


@pytest.mark.parametrize("name", REAL)
def test_poses_of_all_links_are_those_of_pinocchio(name):
    file = BY_NAME[f"{name}.urdf"]
    robot = Robot.from_urdf(file)
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (5, robot.n))
    expected, poses = pinocchio_poses(file, robot, q), robot.fk(q)
    assert expected.keys() == poses.keys()
    for link, pose in poses.items():
        np.testing.assert_allclose(pose, expected[link], rtol=0.0, atol=1e-12)


def followed_from(joint, mimics):
    """The joint, the one that it follows, the one that this one follows, and so on."""
    found = [joint]
    while found[-1] in mimics:
        found.append(int(mimics[found[-1]][0]))
    return found


@st.composite
def mimic_trees(draw):
    """A tree of joints as ``trees`` has them; (joint, ratio, offset) of those that mimic; URDF."""
    tree, mimics = draw(trees()), {}
    ratios = st.sampled_from([1.0, -1.0, 0.5, -2.0, 0.0])
    for i, (_, kind, *_) in enumerate(tree):
        masters = [
            k
            for k, other in enumerate(tree)
            if other[1] != "fixed" and i not in followed_from(k, mimics)
        ]
        if kind != "fixed" and masters and draw(st.booleans()):
            master = draw(st.sampled_from(masters))
            mimics[i] = (str(master), draw(ratios), draw(st.sampled_from([0.0, 0.25])))
    joints = []
    for i, (parent, kind, *vectors) in enumerate(tree):
        xyz, rpy, axis = (" ".join(map(str, vector)) for vector in vectors)
        more = f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/><limit lower="-9" upper="9"/>'
        more += mimic(*mimics[i]) if i in mimics else ""
        joints.append(joint(str(i), kind, f"l{parent}", f"l{i + 1}", more))
    links = " ".join(f"l{i}" for i in range(len(tree) + 1))
    return tree, mimics, urdf(*joints, links=links)


def twin_poses(tree, mimics, robot, q):
    """The poses of all links, by SciPy."""
    values = dict(zip(robot.joint_names, q.tolist(), strict=True))
    for i in mimics:
        *followers, last = followed_from(i, mimics)
        value = values.get(str(last), 0.0)
        for follower in reversed(followers):
            _, ratio, offset = mimics[follower]
            value = ratio * value + offset
        values[str(i)] = value
    return link_poses(tree, values)


@given(mimic_trees(), st.integers(0, 99))
@examples(100)
def test_poses_of_random_trees_are_those_of_their_slow_twin(case, seed):
    tree, mimics, text = case
    robot, base = Robot.from_urdf(text), random_base(seed)
    q = robot.random(seed)
    poses = robot.fk(q, base)
    assert {*poses} == {*robot.link_names} == {f"l{i}" for i in range(len(tree) + 1)}
    for i, expected in enumerate(twin_poses(tree, mimics, robot, q)):
        np.testing.assert_allclose(poses[f"l{i}"], base @ expected.as_matrix(), atol=1e-11)


@given(mimic_trees(), st.data())
@examples(100)
def test_a_chain_between_any_two_links_places_them_as_the_robot_does(case, data):
    robot = Robot.from_urdf(case[2])
    base, tip = data.draw(st.tuples(*[st.sampled_from(robot.link_names)] * 2))
    try:
        chain = robot.chain(base, tip)
    except InvalidInputError as error:
        assume(not re.search("no joint moves|move together", str(error)))
        raise
    q = robot.random(0)
    values = all_values(robot, q)
    poses = robot.fk(q)
    expected = np.linalg.inv(poses[base]) @ poses[tip]
    np.testing.assert_allclose(
        chain.fk([values[name] for name in chain.joint_names]), expected, rtol=0.0, atol=1e-10
    )
    assert all(
        lower - 1e-12 <= values[name] <= upper + 1e-12
        for name, (lower, upper) in zip(chain.joint_names, chain.limits, strict=True)
    )


def test_each_configuration_may_have_a_base_pose_of_its_own():
    robot = Robot.load("panda")
    q, bases = robot.random(seed=1, count=4), np.array([random_base(seed) for seed in range(4)])
    every = robot.fk(q, bases)
    for i, base in enumerate(bases):
        for link, pose in robot.fk(q[i], base).items():
            np.testing.assert_allclose(every[link][i], pose, atol=1e-12)


def test_many_configurations_and_names_give_the_same_poses():
    robot = Robot.load("talos_full_v2", free_base=True)
    q, base = robot.random(1, 3), random_base(2)
    many = robot.fk(q, base)
    for i, row in enumerate(q):
        one = robot.fk(dict(zip(robot.joint_names, row, strict=True)), base)
        for link in robot.link_names:
            np.testing.assert_allclose(many[link][i], one[link], atol=1e-15)
    moved = robot.fk(q[0], RigidTransform.from_matrix(base))
    assert np.abs(moved["head_2_link"] - many["head_2_link"][0]).max() < 1e-14
    assert (robot.fk(q[0], [1.0, 2.0, 3.0])["base_link"][:3, 3] == [1.0, 2.0, 3.0]).all()
    assert robot.free_base


# -- the model -----------------------------------------------------------------------------------


def test_bodies_are_in_depth_first_order_and_share_variables():
    robot = Robot.load("talos_full_v2")
    tree, names = robot.model.tree, robot.model.all_joint_names
    assert (tree.parents < np.arange(len(tree.parents))).all()
    # Depth first: the parent of a body is the body before it, or an ancestor of that.
    for body in range(1, len(names)):
        ancestors, parent = {-1}, body - 1
        while parent >= 0:
            ancestors.add(parent)
            parent = tree.parents[parent]
        assert tree.parents[body] in ancestors
    assert len(names) - len(robot.joint_names) == len(robot.mimics) == 12
    assert robot.mimics["gripper_left_fingertip_1_joint"] == ("gripper_left_joint", -1.0, 0.0)
    for body, name in enumerate(names):
        master, ratio, offset = robot.mimics.get(name, (name, 1.0, 0.0))
        assert robot.joint_names[tree.variables[body]] == master
        assert (tree.ratios[body], tree.offsets[body]) == (ratio, offset)


# Limits of a joint that moves freely in -1 to 1, after a mimic joint with limits -1 to 1.
NARROWED = {
    "alike": (mimic("j"), (-1.0, 1.0)),
    "half": (mimic("j", "2"), (-0.5, 0.5)),
    "twice": (mimic("j", "0.5"), (-1.0, 1.0)),
    "opposite": (mimic("j", "-2", "0.5"), (-0.25, 0.75)),
    "offset": (mimic("j", "1", "0.5"), (-1.0, 0.5)),
    "held": (mimic("j", "0", "7"), (-1.0, 1.0)),
}


@pytest.mark.parametrize("name", NARROWED)
def test_limits_of_mimic_joints_narrow_those_of_the_joint_they_follow(name):
    more, expected = NARROWED[name]
    robot = Robot.from_urdf(urdf(joint(), joint("k", child="two", more=LIMIT + more)))
    assert robot.limits.tolist() == [list(expected)]
    tree = robot.model.tree
    assert ([*tree.lower], [*tree.upper]) == ([expected[0]], [expected[1]])
    assert robot.mid_range == [np.mean(expected)]


def test_limits_and_velocities_that_a_file_does_not_have_are_infinite():
    fast = '<limit lower="-1" upper="1" velocity="3"/>'
    slow = '<limit lower="-9" upper="9" velocity="4"/>'
    joints = [
        joint("wheel", "continuous", more=""),
        joint("arm", parent="one", child="two", more=fast),
        joint("follower", parent="two", child="three", more=slow + mimic("arm", "-2")),
        joint("slide", "prismatic", "three", "four", '<limit lower="1" upper="1e16"/>'),
    ]
    robot = Robot.from_urdf(urdf(*joints, links="base one two three four"))
    assert robot.joint_names == ("wheel", "arm", "slide")
    assert robot.prismatic.tolist() == [False, False, True]
    assert robot.limits.tolist() == [[-np.inf, np.inf], [-1.0, 1.0], [1.0, np.inf]]
    assert robot.max_velocity.tolist() == [np.inf, 2.0, np.inf]
    assert robot.mid_range.tolist() == [0.0, 0.0, 1.0]
    tree = robot.model.tree
    assert tree.lower.tolist() == [-UNLIMITED, -1.0, 1.0]
    assert tree.upper.tolist() == [UNLIMITED, 1.0, UNLIMITED]
    assert tree.velocity.tolist() == [UNLIMITED, 2.0, UNLIMITED]
    assert tree.kinds.tolist() == [0, 0, 0, 1]
    assert tree.variables.tolist() == [0, 1, 1, 2]
    assert tree.ratios.tolist() == [1.0, 1.0, -2.0, 1.0]


def test_random_values_are_inside_the_limits_and_the_same_for_a_seed():
    robot = Robot.load("tiago_pro")
    q = robot.random(3, 50)
    assert q.shape == (50, robot.n)
    assert (q >= robot.limits[:, 0]).all()
    assert (q <= robot.limits[:, 1]).all()
    assert (q == robot.random(3, 50)).all()
    assert (robot.random(4) != robot.random(3)).any()


def test_nothing_of_a_robot_can_be_written_to():
    robot = Robot.load("talos_full_v2")
    arrays = [*robot.model.tree, robot.limits, robot.mid_range, robot.prismatic, robot.max_velocity]
    arrays += [place.transform for place in robot.model.links.values()]
    arrays += [*robot.fk(robot.mid_range).values()]
    assert not any(array.flags.writeable for array in arrays)
    with pytest.raises(AttributeError):
        robot.model = None
    with pytest.raises(TypeError):
        robot.mimics["j"] = None


def test_a_robot_is_pickled():
    robot = Robot.load("panda")
    again = pickle.loads(pickle.dumps(robot))
    assert str(again) == str(robot)
    assert repr(again) == "<Robot panda: 7 joints>"
    assert (again.fk(robot.mid_range)["tip"] == robot.fk(robot.mid_range)["tip"]).all()


def test_a_floating_joint_at_the_root_is_a_free_base():
    text = urdf(joint("f", "floating", more=""), joint("k", parent="one", child="two"))
    robot = Robot.from_urdf(text)
    assert robot.free_base
    assert robot.link_names == ("one", "two")
    assert robot.joint_names == ("k",)


def test_a_robot_is_drawn_as_a_tree():
    joints = [
        joint("j1", "continuous", more=""),
        joint("j2", "prismatic", "one", "two"),
        joint("c", "fixed", "one", "cam"),
        joint("d", "fixed", "cam", "lens"),
        joint("j3", parent="two", child="tool", more=LIMIT + mimic("j2", "-0.5", "0.1")),
    ]
    robot = Robot.from_urdf(urdf(*joints, links="base one two cam lens tool"), free_base=True)
    assert str(robot).splitlines() == [
        "link     joint  type          lower    upper  mimics",
        "base",
        "one      j1     revolute       none     none",
        "├─ two   j2     prismatic  -1.000 m  1.000 m",
        "│  tool  j3     revolute    -22.92°   34.38°  -0.5 j2 + 0.1",
        "└─ cam          fixed",
        "   lens         fixed",
        "r: 6 links, 2 independent joints, 1 mimic joint, free base",
    ]


# -- chains and names ----------------------------------------------------------------------------


def test_a_mimic_joint_alone_in_a_chain_is_a_joint_like_others():
    file = BY_NAME["panda.urdf"]
    for chain in (
        Chain.from_urdf(file, tip_link="panda_rightfinger"),
        Robot.from_urdf(file).chain("panda_link0", "panda_rightfinger"),
    ):
        assert chain.joint_names[-1] == "panda_finger_joint2"
        target = chain.fk(chain.random(1))
        assert chain.solve(target).converged
        assert chain.limits[-1].tolist() == [0.0, 0.04]


def test_robots_are_loaded_by_name_and_by_path(tmp_path):
    ours, chain = Robot.load("puma560"), Chain.load("puma560")
    assert ours.joint_names == chain.joint_names
    q = chain.random(0)
    np.testing.assert_allclose(ours.fk(q)["tip"], chain.fk(q), atol=1e-12)
    assert Robot.load("iiwa7").n == 7
    (tmp_path / "r.urdf").write_text(urdf(joint(), links="base one"))
    assert Robot.load(tmp_path / "r.urdf").name == "r"
    assert Robot.load("talos_full_v2").name == "talos"
    assert Chain.load("kinova").n == 6


# -- invalid input -------------------------------------------------------------------------------

FOLLOWER = joint("k", child="two", more=LIMIT + mimic("j"))


def second(more):
    return urdf(joint(), joint("k", child="two", more=more))


INVALID = {
    "a mimic of itself": (
        urdf(joint(more=LIMIT + mimic("j")), links="base one"),
        "joint 'j' of the URDF mimics itself: expected another joint, or no <mimic>.",
    ),
    "mimics of each other": (
        urdf(
            joint(more=LIMIT + mimic("l")),
            FOLLOWER,
            joint("l", child="three", more=LIMIT + mimic("k")),
            joint("m", child="four", more=LIMIT + mimic("l")),
            links="base one two three four",
        ),
        "joint 'j' of the URDF mimics 'l', which mimics 'k', which mimics 'j': expected one of "
        "them to be independent.",
    ),
    "a mimic of an unknown joint": (
        urdf(joint("left_j"), joint("k", child="two", more=LIMIT + mimic("left_i"))),
        "joint 'k' of the URDF mimics 'left_i': expected the name of a joint that moves; did you "
        "mean 'left_j'?",
    ),
    "a mimic of a fixed joint": (
        urdf(joint(kind="fixed"), FOLLOWER),
        "joint 'k' of the URDF mimics 'j': expected the name of a joint that moves.",
    ),
    "a mimic without a joint": (
        second(LIMIT + "<mimic/>"),
        "joint 'k' of the URDF mimics '': expected the name of a joint that moves.",
    ),
    "a multiplier that is no number": (
        second(LIMIT + mimic("j", "nan")),
        "joint 'k' of the URDF has the mimic multiplier='nan': expected a number below 1e9.",
    ),
    "an infinite offset": (
        second(LIMIT + mimic("j", "1", "inf")),
        "joint 'k' of the URDF has the mimic offset='inf': expected a number below 1e9.",
    ),
    "limits that exclude each other": (
        second('<limit lower="2" upper="3"/>' + mimic("j")),
        "joint 'k' of the URDF has the limits 2 and 3: no value of 'j' keeps all joints that "
        "follow it inside their limits. Widen them.",
    ),
    "limits at infinity": (
        second('<limit lower="1e16" upper="1e17"/>'),
        "Joint 'k' of the URDF: its limits are inf and inf. Expected -inf and inf where it is "
        "unlimited.",
    ),
    "crossed limits": (
        second('<limit lower="1" upper="0"/>'),
        "Joint 'k' of the URDF: lower limit 1 is above upper limit 0.",
    ),
    "a negative velocity": (
        second('<limit lower="0" upper="1" velocity="-1"/>'),
        "joint 'k' of the URDF has the limit velocity='-1': expected a number, 0 or more.",
    ),
    "two joints of one name": (
        urdf(joint(), joint(child="two")),
        "the URDF has two joints named 'j': expected unique names.",
    ),
    "two parents": (
        urdf(joint(), joint("k", child="two"), joint("l", parent="one", child="two")),
        "link 'two' of the URDF is the child of two joints, 'k' and 'l': expected one. Closed "
        "loops are read from MJCF only.",
    ),
    "a cycle beside the root": (
        urdf(
            joint("k", parent="one", child="two"),
            joint("l", parent="two", child="one"),
        ),
        "the joints of the URDF form a cycle through link 'one': expected a tree.",
    ),
    "a cycle alone": (
        urdf(
            joint("k", parent="one", child="two"),
            joint("l", parent="two", child="one"),
            links="one two",
        ),
        "the joints of the URDF form a cycle through link 'one': expected a tree.",
    ),
    "two roots": (
        urdf(joint()),
        "the URDF has 2 links that no joint moves: expected one, the root. Connect them by fixed "
        "joints. Roots: base, two.",
    ),
    "an unknown link": (
        urdf(joint(parent="nothing")),
        "joint 'j' of the URDF refers to the link 'nothing': expected a link of the file.",
    ),
    "a planar joint": (
        urdf(joint(kind="planar"), links="base one"),
        "joint 'j' of the URDF is of type 'planar': expected revolute, continuous, prismatic or "
        "fixed.",
    ),
    "a document type declaration": (
        urdf(joint(), head='<!DOCTYPE r [<!ENTITY a "b">]>'),
        "the URDF has a document type declaration, which is refused because its entities can be "
        "used for attacks: remove <!DOCTYPE ...>.",
    ),
    "MJCF": (
        "<mujoco/>",
        "the URDF begins with <mujoco>: expected <robot>, a URDF.",
    ),
}


@pytest.mark.parametrize("name", INVALID)
def test_what_is_no_robot_is_refused(name):
    text, message = INVALID[name]
    with pytest.raises(InvalidInputError) as caught:
        Robot.from_urdf(text)
    assert str(caught.value) == message


def test_a_base_that_is_freed_twice_is_refused():
    text = urdf(joint("f", "floating", more=""), joint("k", parent="one", child="two"))
    with pytest.raises(InvalidInputError) as caught:
        Robot.from_urdf(text, free_base=True)
    assert str(caught.value) == (
        "joint 'f' of the URDF frees the base, and so does free_base: expected only one of them."
    )


CALLS = {
    "an unknown link": (
        lambda robot: robot.chain("base", "tow"),
        "no link named 'tow' in r; did you mean 'two'? Links: base, one, two.",
    ),
    "one link twice": (
        lambda robot: robot.chain("one", "one"),
        "no joint moves between base 'one' and tip 'one' of r: expected at least one.",
    ),
    "coupled joints": (
        lambda robot: robot.chain("one", "two"),
        "joints 'j' and 'k' of r move together, because one mimics the other or both mimic a "
        "third: expected independent joints in a chain. Use a Robot: "
        "robot.solve({'two': target}).",
    ),
    "too many values": (
        lambda robot: robot.fk([0.0, 0.0]),
        "q has 2 values for a robot of 1 joint: expected one value per joint, shape (1,).",
    ),
    "NaN": (
        lambda robot: robot.fk([np.nan]),
        "q[0] is nan: expected finite numbers below 1e9.",
    ),
    "the value of a mimic joint": (
        lambda robot: robot.fk({"j": 0.0, "k": 0.0}),
        "no joint named 'k' in the model. Joints: j.",
    ),
    "a base of two numbers": (
        lambda robot: robot.fk([0.0], base_pose=[1.0, 2.0]),
        "base_pose has shape (2,): expected (4, 4), a pose.",
    ),
    "too many base poses": (
        lambda robot: robot.fk([0.0], base_pose=np.tile(np.eye(4), (3, 1, 1))),
        "base_pose has shape (3, 4, 4) for q of shape (1,): expected one pose for each "
        "configuration, or (4, 4) for all.",
    ),
    "no base poses": (
        lambda robot: robot.fk(np.zeros((2, 1)), base_pose=np.empty((0, 4, 4))),
        "base_pose has shape (0, 4, 4) for q of shape (2, 1): expected one pose for each "
        "configuration, or (4, 4) for all.",
    ),
    "a base with NaN": (
        lambda robot: robot.fk([0.0], base_pose=[1.0, 2.0, np.nan]),
        "base_pose[2] is nan: expected finite numbers below 1e9.",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_invalid_arguments_are_refused(name):
    call, message = CALLS[name]
    with pytest.raises(JointwiseError) as caught:
        call(Robot.from_urdf(urdf(joint(), FOLLOWER)))
    assert str(caught.value) == message


def test_a_wrong_number_of_values_is_a_dimension_mismatch():
    with pytest.raises(DimensionMismatchError):
        Robot.load("panda").fk(np.zeros(8))


def test_an_unknown_robot_is_refused_with_the_package_that_has_more(monkeypatch):
    for installed in ({}, {"talos_full_v2": "talos_full_v2.urdf"}):
        monkeypatch.setattr(robot_files, "example_files", lambda files=installed: files)
        with pytest.raises(InvalidInputError, match="no robot named 'talosaurus'") as caught:
            Robot.load("talosaurus")
        text = ". More by name: pip install example-robot-data. A path"
        assert (text in str(caught.value)) == (not installed)


def test_the_british_centre_of_mass_is_refused_with_its_name():
    with pytest.raises(InvalidInputError, match=r"; did you mean 'center_of_mass'\? Links: base"):
        Robot.load("panda").solve({"centre_of_mass": [0.0, 0.0, 1.0]})


def test_an_unknown_robot_is_refused_with_the_nearest_name():
    with pytest.raises(InvalidInputError, match="no robot named 'talos_ful_v2'; did you mean 'tal"):
        Robot.load("talos_ful_v2")
