"""URDF: which link is the end effector by default, and paths that lead through the root."""

import pickle
import re
from pathlib import Path

import numpy as np
import pinocchio
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation

from jointwise import Chain, InvalidInputError, JointwiseError
from jointwise.errors import AmbiguousLinkError
from tests.support.examples import examples
from tests.test_urdf import FILES, pinocchio_configuration

BY_NAME = {Path(file).name: file for file in FILES}
TIPS = {
    "TwoDofs.urdf": "Tip",
    "bluevolta_bravo7_gripper.urdf": "grasping_poing",
    "bluevolta_bravo7_no_ee.urdf": "end_effector_ball",
    "borinot_flying_arm_2.urdf": "flying_arm_2__ee",
    "bravo7_gripper.urdf": "grasping_poing",
    "bravo7_no_ee.urdf": "end_effector_ball",
    "double_pendulum.urdf": "link2",
    "double_pendulum_continuous.urdf": "link2",
    "double_pendulum_simple.urdf": "link3",
    "falcon_bravo7_gripper.urdf": "grasping_poing",
    "falcon_bravo7_no_ee.urdf": "end_effector_ball",
    "finger_edu.urdf": "finger_tip_link",  # the robot is one finger
    "hextilt_flying_arm_5.urdf": "flying_arm_5__gripper",
    "kinova.urdf": "j2s6s200_end_effector",
    "panda.urdf": "panda_hand_tcp",
    "panda_collision.urdf": "panda_hand_tcp",
    "so100.urdf": "gripper",
    "so101.urdf": "gripper_frame_link",
    "talos_left_arm.urdf": "gripper_left_base_link",
    "ur10_joint_limited_robot.urdf": "tool0",
    "ur10_robot.urdf": "tool0",
    "ur3_gripper.urdf": "tool0",
    "ur3_joint_limited_robot.urdf": "tool0",
    "ur3_robot.urdf": "tool0",
    "ur5_gripper.urdf": "tool0",
    "ur5_joint_limited_robot.urdf": "tool0",
    "ur5_robot.urdf": "tool0",
    "xarm7.urdf": "link_eef",
    "z1.urdf": "gripperStator",
}


@pytest.mark.parametrize("file", FILES, ids=lambda file: Path(file).name)
def test_real_arms_have_a_default_tip_and_other_robots_ask(file):
    name = Path(file).name
    if name in TIPS:
        chain = Chain.from_urdf(file)
        assert chain.tip_link == TIPS[name]
        assert chain.joint_names == Chain.from_urdf(file, tip_link=TIPS[name]).joint_names
    else:
        with pytest.raises(InvalidInputError):
            Chain.from_urdf(file)


def candidates(name):
    with pytest.raises(AmbiguousLinkError) as caught:
        Chain.from_urdf(BY_NAME[name])
    return re.search("Candidates: (.*)", str(caught.value))[1].split(", ")


def test_hands_are_offered_first_and_sensors_last():
    hands = ["gripper_left_base_link", "gripper_right_base_link"]
    assert candidates("talos_full_v2.urdf")[:4] == [*hands, "left_sole_link", "right_sole_link"]
    tools = ["hand_tool_link", "hand_grasping_frame", "hand_palm_link"]
    assert candidates("tiago.urdf")[:3] == tools
    assert {*candidates("romeo.urdf")[:4]} == {"l_gripper", "l_wrist", "r_gripper", "r_wrist"}
    sensors = ["xtion_depth_optical_frame", "xtion_optical_frame", "xtion_rgb_optical_frame"]
    assert candidates("tiago_no_hand.urdf")[:5] == ["wrist_ft_tool_link", "head_2_link", *sensors]


@pytest.mark.parametrize(
    ("name", "tip", "joints"),
    [
        ("talos_full_v2.urdf", "gripper_left_base_link", 9),
        ("tiago.urdf", "hand_tool_link", 8),
        ("romeo.urdf", "l_gripper", 8),
    ],
)
def test_a_tip_is_enough_for_humanoids(name, tip, joints):
    assert Chain.from_urdf(BY_NAME[name], tip_link=tip).n == joints


def test_the_default_tip_is_found_in_the_whole_file_even_if_only_the_arm_can_be_read():
    file = BY_NAME["alex_psyonic_hands.urdf"]  # fingers that mimic joints of other names
    chain = Chain.from_urdf(file, "RightWristRollLink")
    assert chain.tip_link == "Right_thumb_base"
    assert chain.robot.n == chain.n


# -- the rule, on small robots -------------------------------------------------------------------


def urdf(*joints):
    """A URDF of joints, each as "parent child name type"."""
    elements, links = [], {}
    for parent, child, name, kind in map(str.split, joints):
        links |= {parent: None, child: None}
        elements.append(
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            '<limit lower="-1" upper="1"/></joint>'
        )
    names = "".join(f'<link name="{link}"/>' for link in links)
    return f'<robot name="r">{names}{"".join(elements)}</robot>'


ARM = ("base arm j1 revolute", "arm wrist j2 revolute")
RULES = {
    "a jaw": ([*ARM, "wrist part gripper revolute"], "wrist"),
    "two fingers": ([*ARM, "wrist f1 j3 prismatic", "wrist rfinger j4 prismatic"], "wrist"),
    "a wrist called gripper": ([*ARM, "wrist end gripper_roll revolute"], "end"),
    "a camera beside": ([*ARM, "wrist hand_camera c fixed", "wrist plate p fixed"], "plate"),
    "only a camera": ([*ARM, "wrist CameraLink c fixed"], "wrist"),
    "an IMU in between": ([*ARM, "arm ArmIMULink c fixed"], "wrist"),
    "a camera that moves": ([*ARM, "arm cam pan revolute"], "wrist"),
    "wheels": ([*ARM, "base wheel_l l continuous", "base wheel_r r continuous"], "wrist"),
    "tcp before tool0": ([*ARM, "wrist tool0 t fixed", "wrist my_tcp u fixed"], "my_tcp"),
    "a tool before a plate": ([*ARM, "wrist plate p fixed", "wrist tool0 t fixed"], "tool0"),
    "a hand with a frame": (
        [*ARM, "wrist hand h fixed", "hand jaw j3 revolute", "hand hand_tcp t fixed"],
        "hand_tcp",
    ),
    "a finger robot": (["base f1 finger1 revolute", "f1 f2 finger2 revolute"], "f2"),
    "two plates": ([*ARM, "wrist plate1 p fixed", "wrist plate2 q fixed"], None),
    "two tools": ([*ARM, "wrist l_tcp p fixed", "wrist r_tcp q fixed"], None),
    "two arms": ([*ARM, "base other k revolute"], None),
}


@pytest.mark.parametrize("name", RULES)
def test_the_rule_on_small_robots(name):
    joints, tip = RULES[name]
    if tip is not None:
        chain = Chain.from_urdf(urdf(*joints))
        assert (chain.base_link, chain.tip_link) == ("base", tip)
        return
    with pytest.raises(AmbiguousLinkError):
        Chain.from_urdf(urdf(*joints))


def test_an_ambiguous_link_error_is_pickled():
    error = AmbiguousLinkError("arm.urdf", "tip", 2, "a, b.")
    text = "arm.urdf has 2 links that could be the tip: choose one with {}. Candidates: a, b."
    assert str(pickle.loads(pickle.dumps(error))) == text.format("tip_link=NAME")
    assert error.text("--tip NAME") == text.format("--tip NAME")


# -- paths through the root ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "tip"),
    [
        ("left_sole_link", "gripper_right_base_link"),
        ("gripper_left_base_link", "gripper_right_base_link"),
        ("right_sole_link", "base_link"),
        ("gripper_left_base_link", "torso_2_link"),
    ],
)
def test_a_path_through_the_root_of_talos_is_that_of_pinocchio(base, tip):
    file = BY_NAME["talos_full_v2.urdf"]
    model = pinocchio.buildModelFromUrdf(file)
    data, chain = model.createData(), Chain.from_urdf(file, base, tip)
    configurations = chain.random(1, 100)
    for q, pose in zip(configurations, chain.fk(configurations), strict=True):
        pinocchio.framesForwardKinematics(model, data, pinocchio_configuration(model, chain, q))
        expected = data.oMf[model.getFrameId(base)].actInv(data.oMf[model.getFrameId(tip)])
        assert np.abs(expected.homogeneous - pose).max() < 1e-9
    for name, (lower, upper) in zip(chain.joint_names, chain.limits, strict=True):
        joint = model.joints[model.getJointId(name)]
        assert lower == model.lowerPositionLimit[joint.idx_q]
        assert upper == model.upperPositionLimit[joint.idx_q]


numbers = st.integers(-20, 20).map(lambda tenths: tenths / 10)
triples = st.tuples(numbers, numbers, numbers)


@st.composite
def trees(draw):
    """For each link but the first: its parent, and type, xyz, rpy and axis of its joint."""
    kinds = st.sampled_from(["revolute", "continuous", "prismatic", "fixed"])
    vectors = st.tuples(triples, triples, triples.filter(any))
    count = draw(st.integers(1, 9))
    return [(draw(st.integers(0, i)), draw(kinds), *draw(vectors)) for i in range(count)]


def link_poses(tree, values):
    """The pose of every link, by SciPy; ``values`` has joint values by the number of the joint."""
    poses = [RigidTransform.identity()]
    for i, (parent, kind, xyz, rpy, axis) in enumerate(tree):
        pose = poses[parent] * RigidTransform.from_components(xyz, Rotation.from_euler("xyz", rpy))
        motion = values.get(str(i), 0.7) * np.array(axis) / np.linalg.norm(axis)
        if kind == "prismatic":
            pose = pose * RigidTransform.from_translation(motion)
        elif kind != "fixed":
            pose = pose * RigidTransform.from_rotation(Rotation.from_rotvec(motion))
        poses.append(pose)
    return poses


@given(trees(), st.data())
@examples(100)
def test_a_chain_between_any_two_links_is_that_of_the_whole_tree(tree, data):
    text = "".join(f'<link name="l{i}"/>' for i in range(len(tree) + 1))
    for i, (parent, kind, *vectors) in enumerate(tree):
        xyz, rpy, axis = (" ".join(map(str, vector)) for vector in vectors)
        text += (
            f'<joint name="{i}" type="{kind}"><parent link="l{parent}"/><child link="l{i + 1}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>'
            '<limit lower="-1" upper="2"/></joint>'
        )
    base, tip = data.draw(st.tuples(*[st.integers(0, len(tree))] * 2))
    try:
        chain = Chain.from_urdf(f'<robot name="r">{text}</robot>', f"l{base}", f"l{tip}")
    except InvalidInputError as error:
        assume("no joint moves" not in str(error))
        raise
    q = chain.random(seed=0)
    poses = link_poses(tree, dict(zip(chain.joint_names, q, strict=True)))
    expected = (poses[base].inv() * poses[tip]).as_matrix()
    np.testing.assert_allclose(chain.fk(q), expected, rtol=0.0, atol=1e-11)
    assert all(limits in ([-1, 2], [-np.inf, np.inf]) for limits in chain.limits.tolist())


def test_meshes_of_a_path_that_leads_upward_are_refused(tmp_path):
    from jointwise.view.graphics.meshes import load_meshes

    file = tmp_path / "arm.urdf"
    file.write_text(urdf(*ARM, "base other k revolute"))
    chain = Chain.from_urdf(file, "other", "wrist")
    text = "the meshes of arm.urdf are drawn only for a base above the tip."
    with pytest.raises(JointwiseError) as caught:
        load_meshes(chain, file)
    assert str(caught.value) == text


def test_the_mesh_of_a_mimic_joint_with_an_offset_is_drawn_where_it_is(tmp_path):
    from jointwise.view.graphics.meshes import load_meshes

    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box((1.0, 2.0, 3.0))
    box.export(tmp_path / "box.stl")
    text = urdf("base other j1 revolute", "base jaw j2 revolute")
    axis = '<axis xyz="0 0 1"/>'
    text = text.replace('"j2" type="revolute">', f'"j2" type="revolute">{axis}')
    text = text.replace("/></joint></robot>", '/><mimic joint="j1" offset="0.5"/></joint></robot>')
    mesh = '<visual><geometry><mesh filename="box.stl"/></geometry></visual>'
    file = tmp_path / "arm.urdf"
    file.write_text(text.replace('<link name="jaw"/>', f'<link name="jaw">{mesh}</link>'))
    meshes = load_meshes(Chain.from_urdf(file, "base", "jaw"), file)
    (mesh,) = (mesh for mesh in meshes if mesh.joint == 0)
    corners = sorted(map(tuple, np.abs(mesh.hull).round(9)))
    assert corners == [(0.5, 1.0, 1.5)] * 8
