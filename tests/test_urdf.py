"""URDF: against Pinocchio on real files, there and back again, and what is refused."""

import gzip
import io
import re
import subprocess
import sys
from importlib.metadata import distribution
from math import pi

import numpy as np
import pinocchio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jointwise import Chain, InvalidInputError, JointwiseError, robots
from jointwise.model.urdf_xml import Reader, text_of
from tests.support.arms import angles, chains

FILES = sorted(
    str(file.locate())
    for file in distribution("example-robot-data").files or []
    if file.suffix == ".urdf"
)
# Files that Pinocchio itself does not read.
UNREAD = {
    "falcon.urdf": "a joint on a link that is not there",
    "ur3.urdf": "a robot without a name",
}
CONFIGURATIONS, JACOBIANS = 100, 5


def leaves(file):
    """Links on which nothing hangs, and the base."""
    reader = Reader(file)
    reader.read(text_of(file)[1])
    children = {joint.child for joint in reader.joints}
    parents = {joint.parent for joint in reader.joints}
    return [link for link in reader.links if link in children - parents]


def chains_of(file):
    """A chain to every leaf that moves on its own, by leaf."""
    found = {}
    for leaf in leaves(file):
        try:
            found[leaf] = Chain.from_urdf(file, tip=leaf)
        except InvalidInputError as refusal:
            if not re.search("no joint moves|mimics", str(refusal)):
                raise
    return found


def whole(model, chain, q):
    """The whole robot's configuration, with the joints of the chain at ``q``."""
    full = pinocchio.neutral(model)
    for name, value in zip(chain.names, q, strict=True):
        joint = model.joints[model.getJointId(name)]
        if joint.nq == 2:  # a joint without end, as a direction
            full[joint.idx_q : joint.idx_q + 2] = np.cos(value), np.sin(value)
        else:
            full[joint.idx_q] = value
    return full


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.rpartition("/")[2])
def test_pinocchio_sees_the_same_arm(file):
    if file.rpartition("/")[2] in UNREAD:
        with pytest.raises(ValueError, match="does not contain a valid URDF model"):
            pinocchio.buildModelFromUrdf(file)
        return
    model = pinocchio.buildModelFromUrdf(file)
    data = model.createData()
    for leaf, chain in chains_of(file).items():
        frame, velocities = model.getFrameId(leaf), []
        for name, (lower, upper) in zip(chain.names, chain.limits, strict=True):
            joint = model.joints[model.getJointId(name)]
            velocities.append(joint.idx_v)
            if joint.nq == 1 and upper < np.inf:
                assert lower == model.lowerPositionLimit[joint.idx_q]
                assert upper == model.upperPositionLimit[joint.idx_q]
        configurations = chain.random(1, CONFIGURATIONS)
        for number, (q, pose) in enumerate(
            zip(configurations, chain.fk(configurations), strict=True)
        ):
            full = whole(model, chain, q)
            pinocchio.framesForwardKinematics(model, data, full)
            assert np.abs(data.oMf[frame].homogeneous - pose).max() < 1e-9
            if number < JACOBIANS:
                jacobian = pinocchio.computeFrameJacobian(
                    model, data, full, frame, pinocchio.LOCAL_WORLD_ALIGNED
                )
                assert np.abs(jacobian[:, velocities] - chain.jacobian(q)).max() < 1e-8


def test_enough_real_files_were_read():
    assert sum(bool(chains_of(file)) for file in FILES) >= 60


def same(chain, again, seed=0):
    q = chain.random(seed, 10)
    assert np.abs(chain.fk(q) - again.fk(q)).max() < 1e-12 * max(1.0, chain.reach)
    assert again.names == chain.names
    assert np.array_equal(again.limits, chain.limits)
    assert np.array_equal(again.arm.kinds, chain.prismatic)


@given(chains, st.booleans(), st.data())
@settings(max_examples=50)
def test_there_and_back_again(rows, modified, data):
    make = Chain.from_mdh if modified else Chain.from_dh
    ends = st.sampled_from([(-1.0, 2.0), (-np.inf, np.inf), (0.0, np.inf), (0.5, 0.5)])
    chain = make(rows, [data.draw(ends) for _ in rows])
    same(chain, Chain.from_urdf(chain.to_urdf()))


@given(st.tuples(angles, angles, angles))
@settings(max_examples=200)
def test_a_turn_survives_where_roll_and_yaw_are_one(rpy):
    from scipy.spatial.transform import RigidTransform, Rotation

    base = RigidTransform.from_rotation(Rotation.from_euler("xyz", [rpy[0], pi / 2, rpy[2]]))
    tool = RigidTransform.from_rotation(Rotation.from_euler("xyz", rpy))
    chain = Chain.load("panda").with_tool(tool).with_tool(base)
    same(chain, Chain.from_urdf(chain.to_urdf()))


@pytest.mark.parametrize("name", robots.names())
def test_every_robot_there_and_back_again(name):
    chain = Chain.load(name)
    same(chain, Chain.from_urdf(io.StringIO(chain.to_urdf(name))))


@given(chains, st.data())
@settings(max_examples=30)
def test_other_tools_read_what_is_written(rows, data):
    ends = st.sampled_from([(-1.0, 2.0), (-np.inf, np.inf), (0.0, np.inf)])
    chain = Chain.from_dh(rows, [data.draw(ends) for _ in rows])
    model = pinocchio.buildModelFromXML(chain.to_urdf())
    q, frame, results = chain.random(0), model.getFrameId("tip"), model.createData()
    pinocchio.framesForwardKinematics(model, results, whole(model, chain, q))
    assert np.abs(results.oMf[frame].homogeneous - chain.fk(q)).max() < 1e-9 * (1 + chain.reach)


def test_a_tool_that_is_nearly_a_rotation_becomes_one():
    tool = np.eye(4)
    tool[0, 1] = 9e-7
    chain = Chain.load("ur5").with_tool(tool)
    same(chain, Chain.from_urdf(chain.to_urdf()))
    turn = chain.fk(chain.home)[:3, :3]
    assert np.abs(turn @ turn.T - np.eye(3)).max() < 1e-14


def test_the_first_of_two_origins_counts_as_for_others():
    twice = '<limit/><origin xyz="1 0 0"/><origin xyz="2 0 0"/>'
    assert Chain.from_urdf(robot(joint(more=twice), links="base one")).fk([0.0])[0, 3] == 1.0


def test_names_that_need_care_survive():
    chain = Chain.from_dh(
        Chain.load("puma560").rows, names=['a"b', "<c>\n", "d&e", "ä\xa0", "tip_joint", "'"]
    )
    with pytest.raises(InvalidInputError, match=r"the name 'a\\x00' cannot be written"):
        chain.to_urdf("a\0")
    same(chain, Chain.from_urdf(chain.to_urdf('"R2 & D2"').encode()))


# -- what is refused ----------------------------------------------------------------------------


def robot(*joints, links="base one two", head=""):
    named = "".join(f'<link name="{link}"/>' for link in links.split())
    return f'{head}<robot name="r">{named}{"".join(joints)}</robot>'


LIMIT = '<limit lower="-1" upper="1"/>'


def joint(name="j", kind="revolute", parent="base", child="one", more=LIMIT):
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{more}</joint>'


FIRST, SECOND = joint(), joint("k", parent="one", child="two")
FORK = joint("k", child="two")
BOMB = (
    "<!DOCTYPE r ["
    + '<!ENTITY a0 "ha">'
    + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
    + ']><robot name="r"><link name="&a11;"/></robot>'
)

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
        "the URDF is xacro, from which URDF is made: run 'xacro FILE > robot.urdf' first and read "
        "robot.urdf.",
    ),
    "xacro by another name": (
        ('<robot xmlns:x="http://www.ros.org/wiki/xacro"><x:include/></robot>',),
        "the URDF is xacro, from which URDF is made: run 'xacro FILE > robot.urdf' first and read "
        "robot.urdf.",
    ),
    "a link without a name": (
        ("<robot><link/></robot>",),
        "the URDF has a link without a name: expected a name of its own for each.",
    ),
    "a link twice": (
        (robot(FIRST, links="base one one"),),
        "the URDF has two links named 'one': expected a name of its own for each.",
    ),
    "a joint in the air": (
        (robot('<joint name="j" type="fixed"><parent link="base"/></joint>'),),
        "joint 'j' of the URDF lacks a parent or a child: expected <parent link=...> and <child>.",
    ),
    "a list of bases": (
        (robot(FIRST, SECOND), ["base"]),
        "no link named ['base'] in the URDF. Links: base, one, two.",
    ),
    "no XML": (("<robot",), "the URDF is no XML: unclosed token: line 1, column 0."),
    "SDF": (("<sdf/>",), "the URDF begins with <sdf>: expected <robot>, a URDF."),
    "xacro": (
        ("<robot><xacro:property name='a' value='1'/></robot>",),
        "the URDF is xacro, from which URDF is made: run 'xacro FILE > robot.urdf' first and read "
        "robot.urdf.",
    ),
    "entity bomb": (
        (BOMB,),
        "the URDF has a document type: expected none. A URDF needs no entities, and they can be "
        "used to attack who reads them. Remove <!DOCTYPE ...>.",
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
        "the URDF has 2 links that could be the tip: say which, tip=... Choices: one, two.",
    ),
    "two bases": (
        (robot(FIRST),),
        "the URDF has 2 links that could be the base: say which, base=... Choices: base, two.",
    ),
    "nothing": (
        ("<robot/>",),
        "the URDF has no link to be the base: expected a tree of links with joints that move.",
    ),
    "nothing that moves": (
        (robot(joint(kind="fixed"), links="base one"), "base", "one"),
        "no joint moves between base and tip of the URDF: expected at least one.",
    ),
    "the wrong way": (
        (robot(FIRST, SECOND), "two", "one"),
        "link 'one' of the URDF does not hang on 'two' but on 'base': expected a base from which "
        "joints lead to the tip.",
    ),
    "a loop": (
        (robot(FIRST, SECOND, joint("l", child="two")), None, "two"),
        "link 'two' of the URDF hangs on two joints, 'k' and 'l': expected one. Closed loops "
        "cannot be solved here.",
    ),
    "a circle": (
        (robot(SECOND, joint("l", parent="two", child="one")), None, "two"),
        "the joints of the URDF go round in a circle through link 'two': expected a tree.",
    ),
    "a parent that is not there": (
        (robot(joint(parent="nothing")), None, "one"),
        "joint 'j' of the URDF names the link 'nothing': expected one of the file.",
    ),
    "floating": (
        (robot(joint(kind="floating"), links="base one"),),
        "joint 'j' of the URDF is of type 'floating': expected revolute, continuous, prismatic or "
        "fixed.",
    ),
    "planar": (
        (robot(joint(kind="planar"), links="base one"),),
        "joint 'j' of the URDF is of type 'planar': expected revolute, continuous, prismatic or "
        "fixed.",
    ),
    "mimic": (
        (robot(joint(more='<limit/><mimic joint="other"/>'), links="base one"),),
        "joint 'j' of the URDF mimics 'other': expected joints that move on their own. Choose a "
        "base and a tip with no such joint between them.",
    ),
    "no limit": (
        (robot(joint(more=""), links="base one"),),
        "joint 'j' of the URDF is revolute and has no limit: expected a <limit> with lower and "
        "upper, or the type continuous for one that turns freely.",
    ),
    "crossed limits": (
        (robot(joint(more='<limit lower="1" upper="-1"/>'), links="base one"),),
        "limits of 'j' are 1.0 and -1.0: expected a lower and an upper value, -inf and inf where "
        "it is free.",
    ),
    "a limit in words": (
        (robot(joint(more='<limit lower="far" upper="1"/>'), links="base one"),),
        "joint 'j' of the URDF has the limit lower='far': expected a number.",
    ),
    "two coordinates": (
        (robot(joint(more='<limit/><origin xyz="1 2"/>'), links="base one"),),
        "joint 'j' of the URDF has the origin xyz='1 2': expected three numbers below 1e9.",
    ),
    "not a number": (
        (robot(joint(more='<limit/><origin rpy="0 nan 0"/>'), links="base one"),),
        "joint 'j' of the URDF has the origin rpy='0 nan 0': expected three numbers below 1e9.",
    ),
    "no axis": (
        (robot(joint(more='<limit/><axis xyz="0 0 0"/>'), links="base one"),),
        "joint 'j' of the URDF has an axis of no length: expected three numbers, not all zero.",
    ),
    "one name twice": (
        (robot(FIRST, joint("j", parent="one", child="two")),),
        "names has 'j' twice: expected different words.",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_error_says_what_was_given_and_what_is_accepted(name):
    arguments, text = TEXTS[name]
    with pytest.raises(InvalidInputError) as caught:
        Chain.from_urdf(*arguments)
    assert re.sub("gzip .* 0x[0-9a-f]+", "gzip on 0x0", str(caught.value)) == text


def test_an_external_entity_is_not_fetched(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("base")
    text = robot(FIRST, head=f'<!DOCTYPE r [<!ENTITY s SYSTEM "file://{secret}">]>')
    with pytest.raises(InvalidInputError, match="document type"):
        Chain.from_urdf(text.replace('"base"', '"&s;"'))


def test_deep_nesting_long_chains_and_large_files_are_read():
    deep = "<a>" * 100_000 + "</a>" * 100_000
    assert Chain.from_urdf(robot(FIRST, deep, links="base one")).n == 1
    count = 20_000
    names = " ".join(f"l{i}" for i in range(count + 1))
    joints = (joint(f"j{i}", "fixed", f"l{i}", f"l{i + 1}", "") for i in range(1, count))
    long = robot(joint("j0", "continuous", "l0", "l1", ""), *joints, links=names)
    assert len(long) > 2_000_000
    assert Chain.from_urdf(long).n == 1
    assert Chain.from_urdf(long.replace('"fixed"', '"continuous"')).n == count
    with pytest.raises(InvalidInputError, match=r"no link named 'l'.* and 19989 more\."):
        Chain.from_urdf(long, tip="l")
    tree = robot(*(joint(f"j{i}", child=f"l{i}") for i in range(1, 2000)), links=f"base {names}")
    with pytest.raises(InvalidInputError, match="18003 links that could be the base"):
        Chain.from_urdf(tree)


def test_a_path_an_open_file_and_the_text_are_the_same(tmp_path):
    text = Chain.load("puma560").to_urdf()
    file = tmp_path / "puma.urdf"
    file.write_text(text)
    for source in (file, str(file), text, text.encode(), "\ufeff \n" + text, io.StringIO(text)):
        same(Chain.load("puma560"), Chain.from_urdf(source))
    with file.open("rb") as opened:
        same(Chain.load("puma560"), Chain.from_urdf(opened))
    same(Chain.load("puma560"), Chain.load(str(file)))


# -- hostile input ------------------------------------------------------------------------------

SEEDS = [
    robot(FIRST, SECOND),
    Chain.load("panda").to_urdf(),
    robot(joint(kind="prismatic", more='<limit upper="1"/><axis xyz="1 1 0"/><mimic joint="x"/>')),
]
NASTY = ["", "0", "-1", "nan", "inf", "1e999", "1e8", "base", "fixed", "continuous", "floating"]
NASTY += ["0 0 0", "1 1", '"', "<", "&amp;", "\0", "ä", "<!--", "]]>", "<joint>", "</robot>", "one"]


@given(st.data())
@settings(max_examples=400)
def test_mutated_files_end_in_a_chain_or_a_clear_error(data):
    text = data.draw(st.sampled_from(SEEDS))
    for _ in range(data.draw(st.integers(1, 6))):
        values = [match.span(1) for match in re.finditer('"([^"]*)"', text)]
        anywhere = st.tuples(*[st.integers(0, len(text))] * 2).map(lambda ends: tuple(sorted(ends)))
        place = st.sampled_from(values) | anywhere if values else anywhere
        begin, end = data.draw(place)
        other = data.draw(
            st.sampled_from(NASTY) | st.just(text[begin:end] * 2) | st.text(max_size=9)
        )
        text = text[:begin] + other + text[end:]
    source = data.draw(st.sampled_from([text, text.encode("utf-8", "surrogatepass")]))
    if isinstance(source, str) and not source.lstrip().startswith("<"):
        source = io.StringIO(source)  # it would be taken for a path
    try:
        chain = Chain.from_urdf(source)
    except JointwiseError:
        return
    assert np.isfinite(chain.fk(chain.home)).all()


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_noise_ends_in_a_clear_error(noise):
    with pytest.raises(JointwiseError):
        Chain.from_urdf(noise)


def test_a_fuzzer_that_learns_finds_nothing():
    runs = subprocess.run(
        [sys.executable, "-m", "tests.support.fuzz_urdf", "-runs=15000", "-seed=1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert runs.returncode == 0, runs.stderr
    assert "Done 15000 runs" in runs.stderr
