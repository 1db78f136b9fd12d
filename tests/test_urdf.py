"""URDF: compared with Pinocchio on real files, written and read again, and invalid input."""

import gzip
import io
import re
import subprocess
import sys
from functools import cache
from importlib.metadata import distribution
from math import pi

import numpy as np
import pinocchio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import Chain, InvalidInputError, JointwiseError, Robot, robots
from jointwise.model.urdf.reader import Reader, read_source
from testbed.whole_robots import urdf_mimics
from tests.support.arms import angles, chains
from tests.support.examples import examples, trials

FILES = sorted(
    str(file.locate())
    for file in distribution("example-robot-data").files or []
    if file.suffix == ".urdf"
)
# Files that Pinocchio itself does not read, and why.
NOT_READ_BY_PINOCCHIO = {
    "falcon.urdf": "a joint refers to a missing link",
    "ur3.urdf": "the robot has no name",
}
CONFIGURATIONS, JACOBIANS = 100, 5


def leaf_links(file):
    """The links without children, other than the base."""
    reader = Reader(file)
    reader.read(read_source(file)[1])
    children = {joint.child for joint in reader.joints}
    parents = {joint.parent for joint in reader.joints}
    return [link for link in reader.links if link in children - parents]


@cache
def chains_by_leaf(file):
    """The chain to every leaf link, except those without joints that move or with coupled ones."""
    by_leaf = {}
    for leaf in leaf_links(file):
        try:
            by_leaf[leaf] = Chain.from_urdf(file, tip_link=leaf)
        except InvalidInputError as error:
            if not re.search("no joint moves|move together|mimics 'index_q1'", str(error)):
                raise
    return by_leaf


def pinocchio_configuration(model, chain, q):
    """The configuration of a whole robot in Pinocchio, with the joints of the chain at ``q``."""
    full = pinocchio.neutral(model)
    for name, value in zip(chain.joint_names, q, strict=True):
        joint = model.joints[model.getJointId(name)]
        if joint.nq == 2:  # continuous: Pinocchio takes its cosine and sine
            full[joint.idx_q : joint.idx_q + 2] = np.cos(value), np.sin(value)
        else:
            full[joint.idx_q] = value
    return full


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.rpartition("/")[2])
def test_poses_jacobians_and_limits_are_those_of_pinocchio(file):
    if file.rpartition("/")[2] in NOT_READ_BY_PINOCCHIO:
        with pytest.raises(ValueError, match="does not contain a valid URDF model"):
            pinocchio.buildModelFromUrdf(file)
        return
    model = pinocchio.buildModelFromUrdf(file)
    data, mimics = model.createData(), urdf_mimics(file).keys()
    for leaf, chain in chains_by_leaf(file).items():
        frame, velocities = model.getFrameId(leaf), []
        for name, (lower, upper) in zip(chain.joint_names, chain.limits, strict=True):
            joint = model.joints[model.getJointId(name)]
            velocities.append(joint.idx_v)
            if joint.nq == 1 and upper < np.inf:
                ends = model.lowerPositionLimit[joint.idx_q], model.upperPositionLimit[joint.idx_q]
                if not mimics & {*chain.joint_names}:
                    assert (lower, upper) == ends
                else:  # narrowed by the limits of the joints that move together
                    assert ends[0] <= lower <= upper <= ends[1]
        configurations = chain.random(1, CONFIGURATIONS)
        for i, (q, pose) in enumerate(zip(configurations, chain.fk(configurations), strict=True)):
            full = pinocchio_configuration(model, chain, q)
            pinocchio.framesForwardKinematics(model, data, full)
            assert np.abs(data.oMf[frame].homogeneous - pose).max() < 1e-9
            if i < JACOBIANS:
                jacobian = pinocchio.computeFrameJacobian(
                    model, data, full, frame, pinocchio.LOCAL_WORLD_ALIGNED
                )
                assert np.abs(jacobian[:, velocities] - chain.jacobian(q)).max() < 1e-8


def test_at_least_60_real_files_contain_a_chain():
    assert sum(bool(chains_by_leaf(file)) for file in FILES) >= 60


def assert_same_arm(chain, expected):
    q = expected.random(seed=0, count=10)
    poses = expected.fk(q)
    tolerance = 1e-12 * max(1.0, np.abs(poses).max())
    np.testing.assert_allclose(chain.fk(q), poses, rtol=0.0, atol=tolerance)
    assert chain.joint_names == expected.joint_names
    np.testing.assert_array_equal(chain.limits, expected.limits)
    np.testing.assert_array_equal(chain.prismatic, expected.prismatic)


@given(chains, st.booleans(), st.data())
@examples(50)
def test_a_written_urdf_is_read_as_the_same_arm(rows, modified, data):
    make = Chain.from_mdh if modified else Chain.from_dh
    ends = st.sampled_from([(-1.0, 2.0), (-np.inf, np.inf), (0.0, np.inf), (0.5, 0.5)])
    chain = make(rows, [data.draw(ends) for _ in rows])
    assert_same_arm(Chain.from_urdf(chain.to_urdf()), chain)


@given(st.tuples(angles, angles, angles))
@examples(50)
def test_a_written_rotation_is_exact_at_a_pitch_of_90_degrees(rpy):
    from scipy.spatial.transform import RigidTransform, Rotation

    base = RigidTransform.from_rotation(Rotation.from_euler("xyz", [rpy[0], pi / 2, rpy[2]]))
    tool = RigidTransform.from_rotation(Rotation.from_euler("xyz", rpy))
    chain = Chain.load("panda").with_tool(tool).with_tool(base)
    assert_same_arm(Chain.from_urdf(chain.to_urdf()), chain)


@pytest.mark.parametrize("name", robots.names())
def test_every_robot_is_written_and_read_as_the_same_arm(name):
    chain = Chain.load(name)
    assert_same_arm(Chain.from_urdf(io.StringIO(chain.to_urdf(name))), chain)


@given(chains, st.data())
@examples(30)
def test_pinocchio_reads_a_written_urdf_as_the_same_arm(rows, data):
    ends = st.sampled_from([(-1.0, 2.0), (-np.inf, np.inf), (0.0, np.inf)])
    chain = Chain.from_dh(rows, [data.draw(ends) for _ in rows])
    model = pinocchio.buildModelFromXML(chain.to_urdf())
    q, frame, results = chain.random(0), model.getFrameId("tip"), model.createData()
    pinocchio.framesForwardKinematics(model, results, pinocchio_configuration(model, chain, q))
    pose = chain.fk(q)
    tolerance = 1e-9 * max(1.0, np.abs(pose).max())
    np.testing.assert_allclose(results.oMf[frame].homogeneous, pose, rtol=0.0, atol=tolerance)


def test_a_nearly_orthonormal_tool_is_made_orthonormal():
    tool = np.eye(4)
    tool[0, 1] = 9e-7
    chain = Chain.load("ur5").with_tool(tool)
    assert_same_arm(Chain.from_urdf(chain.to_urdf()), chain)
    rotation = chain.fk(chain.mid_range)[:3, :3]
    assert np.abs(rotation @ rotation.T - np.eye(3)).max() < 1e-14


def test_the_first_of_two_origins_is_used():
    origins = '<limit/><origin xyz="1 0 0"/><origin xyz="2 0 0"/>'
    assert Chain.from_urdf(robot(joint(more=origins), links="base one")).fk([0.0])[0, 3] == 1.0


def test_names_with_special_characters_are_written_and_read():
    chain = Chain.from_dh(
        Chain.load("puma560").rows, names=['a"b', "<c>\n", "d&e", "ä\xa0", "tip_joint", "'"]
    )
    with pytest.raises(InvalidInputError, match=r"the name 'a\\x00' cannot be written"):
        chain.to_urdf("a\0")
    assert_same_arm(Chain.from_urdf(chain.to_urdf('"R2 & D2"').encode()), chain)


# -- invalid input ------------------------------------------------------------------------------


def robot(*joints, links="base one two", head=""):
    elements = "".join(f'<link name="{link}"/>' for link in links.split())
    return f'{head}<robot name="r">{elements}{"".join(joints)}</robot>'


LIMIT = '<limit lower="-1" upper="1"/>'
MIMIC = '<mimic joint="j"/>'


def joint(name="j", kind="revolute", parent="base", child="one", more=LIMIT):
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{more}</joint>'


FIRST, SECOND = joint(), joint("k", parent="one", child="two")
FORK = joint("k", child="two")
TWO_THREE = joint("k", parent="two", child="three")
ENTITY_BOMB = (
    "<!DOCTYPE r ["
    + '<!ENTITY a0 "ha">'
    + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
    + ']><robot name="r"><link name="&a11;"/></robot>'
)

# Joints beside an arm that cannot be read, or that make the whole file no tree.
LINKS = "base one two three end"
BESIDE = {
    "a planar joint": [joint("p", "planar", "base", "three")],
    "a floating joint": [joint("p", "floating", "one", "three")],
    "a joint without a limit": [joint("p", "prismatic", "one", "three", "")],
    "crossed limits": [joint("p", parent="one", child="three", more='<limit lower="2"/>')],
    "a name twice": [joint("j", parent="one", child="three")],
    "a mimic of an unknown joint": [joint("p", child="three", more=LIMIT + '<mimic joint="x"/>')],
    "a loop": [joint("p", child="three"), joint("q", parent="one", child="three")],
    "a missing link": [joint("p", child="three"), joint("q", parent="three", child="nothing")],
    "a second root": [],
    "a cycle": [joint("p", parent="three", child="three")],
}
LAST = joint("e", parent="two", child="end")
FOLLOWER = joint("k", child="two", more=LIMIT + MIMIC)

TEXTS = {
    "no file": (
        ("nowhere.urdf",),
        "'nowhere.urdf' cannot be read, No such file or directory: expected a path, an open file "
        "or the text of a URDF.",
    ),
    "a number": (
        (42,),
        "42 cannot be read, it is neither text, nor a path, nor a file: expected a path, an open "
        "file or the text of a URDF.",
    ),
    "half a compressed file": (
        (gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(bytes(range(256)))[:99])),),
        "<gzip on 0x0> cannot be read, Compressed file ended before the end-of-stream marker was "
        "reached: expected a path, an open file or the text of a URDF.",
    ),
    "xacro in numbers": (
        (robot(joint(more='<limit lower="${-pi}" upper="1"/>')),),
        "the URDF is a xacro file: expected a URDF. Run 'xacro FILE > robot.urdf' and read "
        "robot.urdf.",
    ),
    "xacro by another name": (
        ('<robot xmlns:x="http://www.ros.org/wiki/xacro"><x:include/></robot>',),
        "the URDF is a xacro file: expected a URDF. Run 'xacro FILE > robot.urdf' and read "
        "robot.urdf.",
    ),
    "a link without a name": (
        ("<robot><link/></robot>",),
        "the URDF has a link without a name: expected a name for every link.",
    ),
    "a link twice": (
        (robot(FIRST, links="base one one"),),
        "the URDF has two links named 'one': expected unique names.",
    ),
    "a joint without a child": (
        (robot('<joint name="j" type="fixed"><parent link="base"/></joint>'),),
        "joint 'j' of the URDF has no parent or no child: expected <parent link=...> and "
        "<child link=...>.",
    ),
    "a list as base": (
        (robot(FIRST, SECOND), ["base"]),
        "no link named ['base'] in the URDF. Links: base, one, two.",
    ),
    "no XML": (("<robot",), "the URDF is not valid XML: unclosed token: line 1, column 0."),
    "SDF": (("<sdf/>",), "the URDF begins with <sdf>: expected <robot>, a URDF."),
    "xacro": (
        ("<robot><xacro:property name='a' value='1'/></robot>",),
        "the URDF is a xacro file: expected a URDF. Run 'xacro FILE > robot.urdf' and read "
        "robot.urdf.",
    ),
    "entity bomb": (
        (ENTITY_BOMB,),
        "the URDF has a document type declaration, which is refused because its entities can be "
        "used for attacks: remove <!DOCTYPE ...>.",
    ),
    "an unknown tip": (
        (robot(FIRST, SECOND), None, "TOW"),
        "no link named 'TOW' in the URDF; did you mean 'two'? Links: base, one, two.",
    ),
    "an unknown base": (
        (robot(FIRST, SECOND), "pelvis"),
        "no link named 'pelvis' in the URDF. Links: base, one, two.",
    ),
    "two tips": (
        (robot(FIRST, FORK),),
        "the URDF has 2 links that could be the tip: choose one with tip_link=NAME. Candidates: "
        "one, two.",
    ),
    "two bases": (
        (robot(FIRST),),
        "the URDF has 2 links that could be the base: choose one with base_link=NAME. Candidates: "
        "base, two.",
    ),
    "an empty robot": (
        ("<robot/>",),
        "the URDF has no links: expected <link> and <joint> elements inside <robot>.",
    ),
    "fixed joints only": (
        (robot(joint(kind="fixed"), links="base one"), "base", "one"),
        "no joint moves between base 'base' and tip 'one' of r: expected at least one.",
    ),
    "base and tip in two trees": (
        (robot(FIRST, TWO_THREE, links="base one two three"), "one", "three"),
        "no joints of the URDF connect base 'one' and tip 'three': expected two links of one tree. "
        "Their roots are 'base' and 'two'.",
    ),
    "a closed loop": (
        (robot(FIRST, SECOND, joint("l", child="two")), None, "two"),
        "link 'two' of the URDF is the child of two joints, 'k' and 'l': expected one. Closed "
        "loops are read from MJCF only.",
    ),
    "a cycle": (
        (robot(SECOND, joint("l", parent="two", child="one")), None, "two"),
        "the joints of the URDF form a cycle through link 'two': expected a tree.",
    ),
    "an unknown parent": (
        (robot(joint(parent="nothing")), None, "one"),
        "joint 'j' of the URDF refers to the link 'nothing': expected a link of the file.",
    ),
    "a free base without joints": (
        (robot(joint(kind="floating"), links="base one"),),
        "the URDF has no link that could be the tip: expected a tree of links with joints that "
        "move.",
    ),
    "a base above a floating joint": (
        (robot(joint(kind="floating"), SECOND), "base", "two"),
        "joint 'j' of the URDF is of type 'floating': expected revolute, continuous, prismatic or "
        "fixed.",
    ),
    "planar": (
        (robot(joint(kind="planar"), links="base one"),),
        "joint 'j' of the URDF is of type 'planar': expected revolute, continuous, prismatic or "
        "fixed.",
    ),
    "a mimic of an unknown joint": (
        (robot(joint(more='<limit/><mimic joint="other"/>'), links="base one"), None, "one"),
        "joint 'j' of the URDF mimics 'other': expected the name of a joint that moves.",
    ),
    "a mimic of a joint beside an arm, where others cannot be read": (
        (
            robot(FIRST, FOLLOWER, *BESIDE["a planar joint"], links="base one two three"),
            None,
            "two",
        ),
        "joint 'p' of the URDF is of type 'planar': expected revolute, continuous, prismatic or "
        "fixed.",
    ),
    "joints that move together": (
        (robot(FIRST, joint("k", parent="one", child="two", more=LIMIT + MIMIC)), "base", "two"),
        "joints 'j' and 'k' of r move together, because one mimics the other or both mimic a "
        "third: expected independent joints in a chain. Use a Robot: "
        "robot.solve({'two': target}).",
    ),
    "no limit": (
        (robot(joint(more=""), links="base one"),),
        "joint 'j' of the URDF is revolute and has no limit: expected a <limit> with lower and "
        "upper, or the type continuous.",
    ),
    "no limit of a prismatic joint": (
        (robot(joint(kind="prismatic", more=""), links="base one"),),
        "joint 'j' of the URDF is prismatic and has no limit: expected a <limit> with lower and "
        "upper.",
    ),
    "crossed limits": (
        (robot(joint(more='<limit lower="1" upper="-1"/>'), links="base one"),),
        "Joint 'j' of the URDF: lower limit 1 is above upper limit -1.",
    ),
    "text as limit": (
        (robot(joint(more='<limit lower="far" upper="1"/>'), links="base one"),),
        "joint 'j' of the URDF has the limit lower='far': expected a number.",
    ),
    "two coordinates": (
        (robot(joint(more='<limit/><origin xyz="1 2"/>'), links="base one"),),
        "joint 'j' of the URDF has the origin xyz='1 2': expected three numbers below 1e9.",
    ),
    "nan in an origin": (
        (robot(joint(more='<limit/><origin rpy="0 nan 0"/>'), links="base one"),),
        "joint 'j' of the URDF has the origin rpy='0 nan 0': expected three numbers below 1e9.",
    ),
    "an axis of zeros": (
        (robot(joint(more='<limit/><axis xyz="0 0 0"/>'), links="base one"),),
        "joint 'j' of the URDF has the axis xyz='0 0 0': expected three numbers, not all zero.",
    ),
    "one joint name twice": (
        (robot(FIRST, joint("j", parent="one", child="two")),),
        "the URDF has two joints named 'j': expected unique names.",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_error_texts(name):
    arguments, text = TEXTS[name]
    with pytest.raises(InvalidInputError) as caught:
        Chain.from_urdf(*arguments)
    assert re.sub("gzip .* 0x[0-9a-f]+", "gzip on 0x0", str(caught.value)) == text


@pytest.mark.parametrize("name", BESIDE)
def test_an_arm_is_read_if_something_beside_it_cannot_be(name):
    text = robot(FIRST, SECOND, LAST, *BESIDE[name], links=LINKS)
    with pytest.raises(InvalidInputError):
        Robot.from_urdf(text)
    for base in (None, "base"):
        assert Chain.from_urdf(text, base, "end").joint_names == ("j", "k", "e")
    camera = text.replace('"three"', '"camera"').replace('"nothing"', '"no_camera"')
    if name != "a second root":  # a camera is never the default tip
        assert Chain.from_urdf(camera).joint_names == ("j", "k", "e")


def test_an_external_entity_is_not_fetched(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("base")
    text = robot(FIRST, head=f'<!DOCTYPE r [<!ENTITY s SYSTEM "file://{secret}">]>')
    with pytest.raises(InvalidInputError, match="document type"):
        Chain.from_urdf(text.replace('"base"', '"&s;"'))


def test_deep_nesting_long_chains_and_large_files_are_read():
    deep = "<a>" * 100_000 + "</a>" * 100_000
    assert Chain.from_urdf(robot(FIRST, deep, links="base one")).n == 1
    count = trials(4_000, 20_000)
    names = " ".join(f"l{i}" for i in range(count + 1))
    joints = (joint(f"j{i}", "fixed", f"l{i}", f"l{i + 1}", "") for i in range(1, count))
    long = robot(joint("j0", "continuous", "l0", "l1", ""), *joints, links=names)
    assert len(long) > 100 * count
    assert Chain.from_urdf(long).n == 1
    assert Chain.from_urdf(long.replace('"fixed"', '"continuous"')).n == count
    with pytest.raises(InvalidInputError, match=rf"no link named 'l'.* and {count - 11} more\."):
        Chain.from_urdf(long, tip_link="l")
    tree = robot(*(joint(f"j{i}", child=f"l{i}") for i in range(1, 2000)), links=f"base {names}")
    with pytest.raises(InvalidInputError, match=f"{count - 1997} links that could be the base"):
        Chain.from_urdf(tree)


def test_a_path_an_open_file_and_text_give_the_same_arm(tmp_path):
    expected = Chain.load("puma560")
    text = expected.to_urdf()
    file = tmp_path / "puma.urdf"
    file.write_text(text)
    for source in (file, str(file), text, text.encode(), "\ufeff \n" + text, io.StringIO(text)):
        assert_same_arm(Chain.from_urdf(source), expected)
    with file.open("rb") as opened:
        assert_same_arm(Chain.from_urdf(opened), expected)
    assert_same_arm(Chain.load(str(file)), expected)


# -- random and hostile input -------------------------------------------------------------------

VALID = [
    robot(FIRST, SECOND),
    Chain.load("panda").to_urdf(),
    robot(joint(kind="prismatic", more='<limit upper="1"/><axis xyz="1 1 0"/><mimic joint="x"/>')),
]
REPLACEMENTS = [
    "",
    "0",
    "-1",
    "nan",
    "inf",
    "1e999",
    "1e8",
    "base",
    "fixed",
    "continuous",
    "floating",
]
REPLACEMENTS += [
    "0 0 0",
    "1 1",
    '"',
    "<",
    "&amp;",
    "\0",
    "ä",
    "<!--",
    "]]>",
    "<joint>",
    "</robot>",
    "one",
]


@given(st.data())
@examples(100)
def test_a_mutated_file_gives_a_chain_or_raises_a_jointwise_error(data):
    text = data.draw(st.sampled_from(VALID))
    for _ in range(data.draw(st.integers(1, 6))):
        values = [match.span(1) for match in re.finditer('"([^"]*)"', text)]
        anywhere = st.tuples(*[st.integers(0, len(text))] * 2).map(lambda ends: tuple(sorted(ends)))
        span = st.sampled_from(values) | anywhere if values else anywhere
        start, stop = data.draw(span)
        replacement = data.draw(
            st.sampled_from(REPLACEMENTS) | st.just(text[start:stop] * 2) | st.text(max_size=9)
        )
        text = text[:start] + replacement + text[stop:]
    source = data.draw(st.sampled_from([text, text.encode("utf-8", "surrogatepass")]))
    if isinstance(source, str) and not source.lstrip().startswith("<"):
        source = io.StringIO(source)  # else it would be read as a path
    try:
        chain = Chain.from_urdf(source)
    except JointwiseError:
        return
    assert np.isfinite(chain.fk(chain.mid_range)).all()


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_noise_raises_a_jointwise_error(noise):
    with pytest.raises(JointwiseError):
        Chain.from_urdf(noise)


@pytest.mark.parametrize("runs", [3000, pytest.param(15000, marks=pytest.mark.long)])
def test_the_coverage_guided_fuzzer_finds_no_other_exception(runs):
    process = subprocess.run(
        [sys.executable, "-m", "tests.support.fuzz_urdf", f"-runs={runs}", "-seed=1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert f"Done {runs} runs" in process.stderr
