"""Sources of shapes: lazy, pickled, with the numbers of a chain or robot that has the shape."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from jointwise import Chain, InvalidInputError, Robot
from jointwise.model import data, urdf
from jointwise.model.arm import arm_model
from jointwise.model.tree_path import ChainOfRobot, chain_between
from jointwise.shape.geometry import kernel_spheres
from jointwise.shape.sources.file import FileShapes
from jointwise.shape.sources.given import GivenShapes
from jointwise.shape.sources.source import no_shape_error
from jointwise.shape.sources.urdf import UrdfShapes
from testbed.geometry_arms import ARM

CHAINS = [("foot", "tip"), ("boom", "foot"), ("boom", "finger"), ("foot", "finger")]


@pytest.fixture(autouse=True, scope="module")
def cache_folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JOINTWISE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def assert_same(one, other):
    for a, b in zip(kernel_spheres(one), kernel_spheres(other), strict=True):
        np.testing.assert_array_equal(a, b)
    assert (one.links, one.joints, one.skipped) == (other.links, other.joints, other.skipped)
    assert (one.padding, one.source) == (other.padding, other.source)


def chain_of(text, base, tip):
    model = urdf.read_robot(urdf.Tree(text))
    links, prismatic, limits, _, names, *_ = chain_between(model, base, tip)
    return ChainOfRobot(model, arm_model(links, prismatic, limits), names, base)


@pytest.mark.parametrize(("base", "tip"), CHAINS)
def test_a_urdf_gives_a_chain_the_shape_that_it_is_read_with(base, tip):
    source = UrdfShapes(urdf.Tree(ARM), None, 0.03)
    expected = Chain.from_urdf(ARM, base, tip).with_geometry(padding=0.03)
    model = urdf.read_robot(urdf.Tree(ARM))
    found = source.for_chain(ChainOfRobot(model, expected.arm, expected.joint_names, base))
    assert_same(found, expected.geometry)


def test_a_urdf_gives_a_robot_the_shape_that_it_is_read_with():
    robot = Robot.from_urdf(ARM).with_geometry(padding=0.03)
    assert_same(UrdfShapes(urdf.Tree(ARM), None, 0.03).for_robot(robot.model), robot.geometry)


@pytest.mark.parametrize("name", ["panda", "ur5e"])
def test_a_file_gives_a_named_robot_its_shape(name):
    source = FileShapes(data.find_geometry(name))
    robot, chain = Robot.load(name).with_scene(), Chain.load(name).with_scene()
    assert_same(source.for_robot(robot.model), robot.geometry)
    base, *_ = robot.model.links
    found = source.for_chain(ChainOfRobot(robot.model, chain.arm, chain.joint_names, base))
    assert_same(found, chain.geometry)


def test_a_file_of_the_robot_is_one_of_its_chains_too(tmp_path):
    robot = Robot.from_urdf(ARM).with_geometry(padding=0.03)
    robot.geometry.save(tmp_path / "robot.json")
    chain = chain_of(ARM, "foot", "tip")
    found = FileShapes(tmp_path / "robot.json").for_chain(chain)
    assert_same(found, GivenShapes(robot.geometry).for_chain(chain))
    assert found.joints == ("turn", "lift", "bend")
    with pytest.raises(
        InvalidInputError, match=r"^robot.json is for another arm: its joints differ"
    ):
        FileShapes(tmp_path / "robot.json").for_chain(
            chain_of(ARM.replace('xyz="0.3 0 0"', 'xyz="0.4 0 0"'), "foot", "tip")
        )


def test_an_srdf_disables_pairs_of_a_file(tmp_path):
    robot = Robot.from_urdf(ARM).with_geometry(padding=0.03)
    robot.geometry.save(tmp_path / "robot.json")
    text = '<robot name="arm"><disable_collisions link1="foot" link2="fork"/></robot>'
    (tmp_path / "arm.srdf").write_text(text)
    with (tmp_path / "arm.srdf").open() as opened:
        for srdf in (text, tmp_path / "arm.srdf", opened):
            source = pickle.loads(pickle.dumps(FileShapes(tmp_path / "robot.json", srdf)))
            assert (0, 3, "disabled") in source.for_robot(robot.model).skipped


def test_a_given_shape_is_itself_where_it_fits():
    robot = Robot.from_urdf(ARM).with_geometry(padding=0.03)
    assert GivenShapes(robot.geometry).for_robot(robot.model) is robot.geometry
    again = Robot.from_urdf(ARM)
    assert GivenShapes(robot.geometry).for_robot(again.model) is robot.geometry
    chain = Chain.from_urdf(ARM, "foot", "tip").with_geometry(padding=0.03)
    found = GivenShapes(chain.geometry).for_chain(
        ChainOfRobot(again.model, chain.arm, chain.joint_names, "foot")
    )
    assert found is chain.geometry


def test_a_given_shape_follows_the_base_and_the_limits():
    chain = Chain.from_urdf(ARM, "foot", "tip").with_geometry(padding=0.03)
    moved = (
        Chain.from_urdf(ARM, "foot", "tip")
        .with_base([0.1, 0.2, 0.3])
        .with_limits([[-0.5, 0.5]] * 3)
    )
    model = urdf.read_robot(urdf.Tree(ARM))
    found = GivenShapes(chain.geometry).for_chain(
        ChainOfRobot(model, moved.arm, moved.joint_names, "foot")
    )
    q = [0.1, 0.2, 0.3]
    expected = chain.geometry.spheres(q) + np.array([0.1, 0.2, 0.3, 0.0])
    np.testing.assert_allclose(found.spheres(q), expected, atol=1e-12)


def test_a_given_shape_of_another_robot_is_refused():
    robot = Robot.from_urdf(ARM).with_geometry(padding=0.03)
    other = Robot.from_urdf(ARM.replace('"turn"', '"yaw"'))
    text = r"^the geometry has the joints turn, lift, bend, grip: expected yaw, lift, bend, grip\."
    with pytest.raises(InvalidInputError, match=text):
        GivenShapes(robot.geometry).for_robot(other.model)
    longer = Robot.from_urdf(ARM.replace('xyz="0.3 0 0"', 'xyz="0.4 0 0"'))
    with pytest.raises(InvalidInputError, match=r"^the geometry is for another robot"):
        GivenShapes(robot.geometry).for_robot(longer.model)


def test_sources_are_pickled():
    robot = Robot.from_urdf(ARM).with_geometry(padding=0.03)
    sources = [
        UrdfShapes(urdf.Tree(ARM), None, 0.03),
        FileShapes(data.find_geometry("panda")),
        GivenShapes(robot.geometry),
    ]
    models = [robot.model, Robot.load("panda").model, robot.model]
    for source, model in zip(sources, models, strict=True):
        again = pickle.loads(pickle.dumps(source))
        assert_same(again.for_robot(model), source.for_robot(model))


def test_a_source_reads_nothing_until_it_is_asked():
    code = """
import sys
from jointwise.model import urdf
from jointwise.shape.sources.file import FileShapes
from jointwise.shape.sources.mjcf import MjcfShapes
from jointwise.shape.sources.urdf import UrdfShapes
MjcfShapes("nowhere.xml")
UrdfShapes(urdf.Tree(sys.argv[1]), None, srdf="nowhere.srdf")
FileShapes("nowhere.json")
print([name for name in ("trimesh", "coal", "mujoco") if name in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", code, ARM], capture_output=True, text=True)
    assert run.stdout == "[]\n", run.stderr


def test_a_robot_without_a_source_is_told_what_to_do():
    text = str(no_shape_error("arm.csv"))
    assert text.startswith("arm.csv has no collision geometry")
    assert "with_geometry" in text
