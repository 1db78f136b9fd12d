"""MJCF: compared with MuJoCo, which compiles it, and invalid input."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import Chain, InvalidInputError, JointwiseError, Robot
from jointwise.errors import AmbiguousLinkError
from testbed.whole_robots import all_values, mujoco_poses, random_base
from tests.support.examples import examples
from tests.test_robot_changes import assert_same_robot

mujoco = pytest.importorskip("mujoco")


@pytest.fixture(autouse=True, scope="module")
def _no_log():
    """MuJoCo writes its warnings to a log file in the working directory."""
    mujoco.set_mju_user_warning(lambda _: None)
    yield
    mujoco.set_mju_user_warning(None)


GEOM = '<geom size="0.1"/>'


def mjcf(*bodies, more=""):
    return f'<mujoco model="m"><worldbody>{"".join(bodies)}</worldbody>{more}</mujoco>'


def body(name, *inside, more=""):
    return f'<body name="{name}" {more}>{GEOM}{"".join(inside)}</body>'


def equality(*constraints):
    return f"<equality>{''.join(constraints)}</equality>"


HINGE = '<joint name="j" axis="1 1 0" range="-60 60" limited="true"/>'
SLIDE = '<joint name="k" type="slide" axis="0 0 -1" range="0 1" limited="true" ref="0.5"/>'
ARM = body("arm", HINGE, body("hand", SLIDE, '<site name="palm" pos="1 2 3" euler="10 20 30"/>'))


def assert_poses_are_those_of_mujoco(text, seed=0):
    robot, model = Robot.from_mjcf(text), mujoco.MjModel.from_xml_string(text)
    for q in robot.random(seed, 5):
        base = random_base(seed) if robot.free_base else np.eye(4)
        poses, expected = robot.fk(q, base), mujoco_poses(model, robot, q, base)
        assert expected
        for link, pose in expected.items():
            np.testing.assert_allclose(poses[link], pose, rtol=0.0, atol=1e-12)
    return robot


numbers = st.integers(-20, 20).map(lambda tenths: tenths / 10)
triples = st.tuples(numbers, numbers, numbers)


def attribute(name, values):
    return f'{name}="{" ".join(map(str, values))}"'


@st.composite
def models(draw):
    """The text of a model of nested bodies, with up to three joints each."""

    def nested(name, depth):
        joints = ""
        for i in range(draw(st.integers(0, 3))):
            kind = draw(st.sampled_from(["hinge", "slide"]))
            axis, anchor = draw(triples.filter(any)), draw(triples)
            joints += (
                f'<joint name="{name}{i}" type="{kind}" {attribute("axis", axis)} '
                f'{attribute("pos", anchor)} ref="{draw(numbers)}"/>'
            )
        count = draw(st.integers(0, 2)) if depth < 3 else 0
        children = [nested(f"{name}{letter}", depth + 1) for letter in "ab"[:count]]
        place = f"{attribute('pos', draw(triples))} {attribute('euler', draw(triples))}"
        return body(name, joints, *children, more=place)

    first = nested("r", 0)
    free = '<freejoint name="free"/>' if draw(st.booleans()) else ""
    return mjcf(body("root", free, first))


@given(models(), st.integers(0, 9))
@examples(100)
def test_poses_of_random_models_are_those_of_mujoco(text, seed):
    assert_poses_are_those_of_mujoco(text, seed)


def test_bodies_and_sites_are_links_and_limits_are_read():
    robot = assert_poses_are_those_of_mujoco(mjcf(ARM))
    assert robot.name == "m"
    assert robot.link_names == ("world", "arm", "hand", "palm")
    assert robot.joint_names == ("j", "k")
    assert robot.prismatic.tolist() == [False, True]
    np.testing.assert_allclose(robot.limits, [[-np.pi / 3, np.pi / 3], [0.0, 1.0]])
    assert (robot.max_velocity == np.inf).all()
    assert not robot.free_base
    assert robot.chain("palm", "arm").joint_names == ("k",)


@given(models())
@examples(60)
def test_a_model_is_written_as_a_urdf_and_read_as_the_same_robot(text):
    """Also where bodies have several joints, between which a URDF has links."""
    robot = Robot.from_mjcf(text)
    again = Robot.from_urdf(robot.to_urdf(), robot.free_base)
    assert_same_robot(again, robot)
    assert (again.max_velocity == np.inf).all()


@pytest.mark.parametrize("name", ["joints", "a tendon"])
def test_mimic_joints_of_a_model_are_written(name):
    robot = Robot.from_mjcf(mjcf(FOLLOWED, more=COUPLED[name]))
    assert_same_robot(Robot.from_urdf(robot.to_urdf()), robot)


def test_bodies_and_joints_without_names_get_their_number():
    robot = Robot.from_mjcf(mjcf(f"<body>{GEOM}<joint/></body>"))
    assert robot.link_names == ("world", "body1")
    assert robot.joint_names == ("joint0",)


def test_a_free_joint_is_a_free_base_and_other_free_bodies_are_objects():
    box = body("box", "<freejoint/>")
    hand = body("mocap", more='mocap="true"')
    human = body("human", '<freejoint name="root"/>', ARM)
    robot = assert_poses_are_those_of_mujoco(mjcf(box, human, hand))
    assert robot.free_base
    assert robot.link_names == ("human", "arm", "hand", "palm")
    fixed = assert_poses_are_those_of_mujoco(mjcf(box, ARM, hand))
    assert not fixed.free_base
    assert fixed.link_names == ("world", "arm", "hand", "palm")
    drone = Robot.from_mjcf(mjcf(box))
    assert (drone.free_base, drone.n, drone.link_names) == (True, 0, ("box",))


REFERENCE = '<joint name="l" axis="0 1 0" ref="30"/>'
FOLLOWED = body("arm", HINGE, body("hand", SLIDE), body("foot", REFERENCE))


TENDON = (
    '<tendon><fixed name="t"><joint joint="j" coef="1"/><joint joint="k" coef="2"/></fixed>'
    "</tendon>"
)
COUPLED = {
    "joints": equality(
        '<joint joint1="k" joint2="j" polycoef="0.1 -0.5 0 0 0"/>',
        '<joint joint1="l" joint2="j" active="false"/>',
    ),
    "a tendon": TENDON + equality('<tendon tendon1="t" polycoef="0.2 0 0 0 0"/>'),
}


@pytest.mark.parametrize("kind", COUPLED)
def test_equality_constraints_of_two_joints_are_mimic_joints(kind):
    text = mjcf(FOLLOWED, more=COUPLED[kind])
    robot, model = assert_poses_are_those_of_mujoco(text), mujoco.MjModel.from_xml_string(text)
    assert robot.joint_names == ("j", "l")
    assert robot.mimics["k"] == ("j", -0.5, 0.6)
    np.testing.assert_allclose(robot.limits[0], [-0.8, np.pi / 3])
    data = mujoco.MjData(model)
    for q in robot.random(0, 5):
        for name, value in all_values(robot, q).items():
            data.qpos[model.joint(name).qposadr[0]] = value
        mujoco.mj_forward(model, data)
        equal = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        assert equal.sum() == 1
        assert np.abs(data.efc_pos[equal]).max() < 1e-12


def test_a_joint_that_an_equality_constraint_holds_does_not_move():
    text = mjcf(FOLLOWED, more=equality('<joint joint1="l" polycoef="0.2 0 0 0 0"/>'))
    robot, model = Robot.from_mjcf(text), mujoco.MjModel.from_xml_string(text)
    assert robot.joint_names == ("j", "k")
    data = mujoco.MjData(model)
    data.qpos[:] = 0.1, 0.2, np.radians(30.0) + 0.2
    mujoco.mj_kinematics(model, data)
    np.testing.assert_allclose(robot.fk([0.1, 0.2])["foot"][:3, 3], data.body("foot").xpos)
    rotation = data.body("foot").xmat.reshape(3, 3)
    np.testing.assert_allclose(robot.fk([0.1, 0.2])["foot"][:3, :3], rotation, atol=1e-15)


def keyframes(**values):
    keys = "".join(f'<key name="{name}" qpos="{qpos}"/>' for name, qpos in values.items())
    return f"<keyframe>{keys}</keyframe>"


def test_the_keyframe_named_home_is_the_home_configuration():
    free = body("human", '<freejoint name="root"/>', FOLLOWED)
    base, coupled = "0 0 1 1 0 0 0 ", COUPLED["joints"]
    text = mjcf(free, more=coupled + keyframes(away=base + "1 1 1", home=base + "0.1 0.55 0.3"))
    robot = Robot.from_mjcf(text)
    assert robot.joint_names == ("j", "l")
    assert robot.home.tolist() == [0.1, 0.3]
    assert robot.mid_range.tolist() != [0.1, 0.3]
    # A mimic joint alone in a chain has the value that the joint which it follows gives it.
    np.testing.assert_allclose(robot.chain("arm", "hand").home, [0.55])


def test_home_is_the_first_keyframe_if_none_has_such_a_name_else_the_middle_of_the_ranges():
    robot = Robot.from_mjcf(mjcf(ARM))
    assert (robot.home == robot.mid_range).all()
    robot = Robot.from_mjcf(mjcf(ARM, more=keyframes(rest="0.1 0.2", bow="0.3 0.4")))
    assert robot.home.tolist() == [0.1, 0.2]


def test_home_is_inside_the_limits_and_that_of_a_chain():
    robot = Robot.from_mjcf(mjcf(ARM, more=keyframes(home="0.2 7")))
    assert robot.home.tolist() == [0.2, 1.0]
    assert robot.chain().home.tolist() == [0.2, 1.0]
    assert robot.chain("hand", "arm").home.tolist() == [1.0]
    assert robot.with_limits({"k": [0.0, 0.5]}).home.tolist() == [0.2, 0.5]


def test_an_arm_is_loaded_from_a_file_with_its_default_tip(tmp_path):
    file = tmp_path / "arm.xml"
    file.write_text(mjcf(ARM))
    chain = Chain.load(file)
    assert (chain.base_link, chain.tip_link) == ("world", "palm")
    q = chain.random(1)
    np.testing.assert_allclose(chain.fk(q), Robot.load(file).fk(q)["palm"], atol=1e-15)
    assert chain.solve(chain.fk(q)[:3, 3]).converged
    assert Chain.load(file, "arm", "hand").joint_names == ("k",)
    file.write_text(mjcf(ARM, body("other", '<joint name="l"/>')))
    with pytest.raises(AmbiguousLinkError, match=r"choose one with tip_link=NAME.*palm, other"):
        Chain.load(file)


def test_a_path_leads_to_included_files_and_warnings_leave_no_log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.xml").write_text(f"<mujocoinclude>{ARM}</mujocoinclude>")
    file = tmp_path / "m.xml"
    head = '<compiler settotalmass="1"/>'  # which MuJoCo warns about
    file.write_text(mjcf('<include file="arm.xml"/>').replace("<worldbody>", head + "<worldbody>"))
    for robot in (Robot.load(file), Robot.from_mjcf("m.xml"), Robot.from_mjcf(file)):
        assert robot.joint_names == ("j", "k")
    assert {path.name for path in tmp_path.iterdir()} == {"arm.xml", "m.xml"}


def test_without_mujoco_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(JointwiseError) as caught:
        Robot.from_mjcf(mjcf(ARM))
    assert str(caught.value) == (
        "MJCF is read by MuJoCo, which is not installed: in a clone of "
        "jointwise, run pip install '.[mjcf]'."
    )


INVALID = {
    "a ball joint": (
        mjcf(body("b", '<joint name="ball" type="ball"/>')),
        "joint 'ball' of the MJCF model is a ball joint: expected hinge, slide, or one free joint. "
        "Replace it by three hinges.",
    ),
    "two robots": (
        mjcf(body("a", "<freejoint/>", ARM), body("b", '<joint name="l"/>')),
        "the MJCF model has 2 robots: expected one, with a free joint or fixed to the world. Their "
        "bases: world, a.",
    ),
    "tendons": (
        mjcf(
            ARM,
            more='<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>'
            + equality('<tendon tendon1="t"/>'),
        ),
        "the MJCF model has an equality constraint of tendons: expected constraints of joints, or "
        "of one tendon that connects two joints.",
    ),
    "a curved constraint": (
        mjcf(ARM, more=equality('<joint joint1="k" joint2="j" polycoef="0 1 2 0 0"/>')),
        "joint 'k' of the MJCF model has an equality constraint with polycoef='0 1 2 0 0': "
        "expected a linear one, with zeros after the second number.",
    ),
    "two constraints of a joint": (
        mjcf(
            FOLLOWED,
            more=equality('<joint joint1="k" joint2="j"/>', '<joint joint1="k" joint2="l"/>'),
        ),
        "joint 'k' of the MJCF model has two equality constraints: expected one.",
    ),
    "mimics of each other": (
        mjcf(
            FOLLOWED,
            more=equality('<joint joint1="k" joint2="l"/>', '<joint joint1="l" joint2="k"/>'),
        ),
        "joint 'k' of the MJCF model mimics 'l', which mimics 'k': expected one of them to be "
        "independent.",
    ),
    "URDF": (
        '<robot name="r"/>',
        "the MJCF model begins with <robot>: expected <mujoco>, an MJCF model.",
    ),
    "no XML": (
        "<mujoco",
        "the MJCF model is not valid XML: unclosed token: line 1, column 0.",
    ),
    "a document type declaration": (
        '<!DOCTYPE m [<!ENTITY a "b">]><mujoco/>',
        "the MJCF model has a document type declaration, which is refused because its entities can "
        "be used for attacks: remove <!DOCTYPE ...>.",
    ),
    "no file": (
        "nowhere.xml",
        "'nowhere.xml' cannot be read, No such file or directory: expected a path, an open file or "
        "the text of an MJCF model.",
    ),
}


@pytest.mark.parametrize("name", INVALID)
def test_what_is_no_robot_is_refused(name):
    text, message = INVALID[name]
    with pytest.raises(InvalidInputError) as caught:
        Robot.from_mjcf(text)
    assert str(caught.value) == message


def test_what_mujoco_cannot_read_is_refused_with_its_reason():
    with pytest.raises(InvalidInputError, match=r"^MuJoCo cannot read the MJCF model: .*mjMINVAL"):
        Robot.from_mjcf(mjcf("<body><joint/></body>"))


def test_free_base_is_not_for_mjcf(tmp_path):
    (tmp_path / "m.xml").write_text(mjcf(ARM))
    with pytest.raises(InvalidInputError) as caught:
        Robot.load(tmp_path / "m.xml", free_base=True)
    assert str(caught.value) == (
        "free_base is for a URDF, and m.xml is MJCF: give its base a free joint instead."
    )
