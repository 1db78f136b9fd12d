"""What ``with_geometry`` takes, and files that are refused."""

import json
import re
import sys
from dataclasses import replace

import numpy as np
import pytest

from jointwise import Chain, InvalidInputError, JointwiseError, Robot, Scene, pose
from jointwise.model.arm import arm_model
from jointwise.shape.files import to_text
from jointwise.shape.fitting import fit
from jointwise.shape.geometry import group_of_spheres
from testbed.geometry_arms import ARM

BARE, UR5E = Chain.load("ur5e"), Chain.load("ur5e").with_scene()
MAKERS = {
    "Chain.load": lambda: Chain.load("ur5e"),
    "Robot.load": lambda: Robot.load("ur5e"),
    "Chain.from_urdf": lambda: Chain.from_urdf(ARM, "foot", "tip"),
    "Robot.from_urdf": lambda: Robot.from_urdf(ARM),
}


@pytest.fixture
def one_ball(tmp_path):
    """A file with one sphere on the last joint of a UR5e."""
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"spheres": {BARE.joint_names[-1]: [[0.0, 0.0, 0.0, 0.5]]}}))
    return file


@pytest.mark.parametrize("owner", [Chain, Robot])
@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_spheres_are_read_from_the_path_of_a_file(owner, kind, one_ball):
    geometry = owner.load("ur5e").with_geometry(kind(one_ball)).geometry
    assert (geometry.count, geometry.source) == (1, "mine.json")


def test_spheres_are_read_for_a_file_of_ones_own(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM)
    (tmp_path / "arm.toml").write_text("joints = [{ a = 0.4 }, { a = 0.3 }]")
    for arm, key in (("arm.urdf", "boom"), ("arm.toml", "joint2")):
        (tmp_path / "mine.json").write_text(json.dumps({"spheres": {key: [[0, 0, 0, 0.1]]}}))
        chain = Chain.load(tmp_path / arm).with_geometry(tmp_path / "mine.json")
        assert group_of_spheres(chain.geometry).tolist() == [2]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("source", [True, 7, ["mine.json"]])
def test_a_source_that_is_neither_a_path_nor_a_geometry_is_refused(make, source):
    text = f"source is {source!r}: expected the path of a JSON file of spheres, the name of a"
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}"):
        make().with_geometry(source)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_nothing_is_read_until_a_scene_or_a_shape_is_asked_for(make):
    model = make()
    assert model.geometry is None
    assert model.with_scene().geometry.count == model.with_geometry().geometry.count > 0


@pytest.mark.parametrize("owner", [Chain, Robot])
def test_options_of_a_fit_are_refused_where_nothing_is_fitted(owner):
    text = (
        "padding and srdf are for shapes that are fitted: expected a URDF or MJCF file with "
        "collision shapes."
    )
    for options in ({"padding": 0.03}, {"srdf": "<robot/>"}):
        with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$"):
            owner.load("ur5e").with_geometry(**options)


@pytest.mark.parametrize("owner", [Chain, Robot])
def test_a_table_has_no_shapes(owner, tmp_path):
    (tmp_path / "arm.toml").write_text("joints = [{ a = 0.4 }, { a = 0.3 }]")
    text = (
        "arm.toml has no collision geometry: it was made from DH rows. Load a URDF or MJCF file "
        "with collision shapes instead, or add spheres: with_geometry('spheres.json')."
    )
    model = owner.load(tmp_path / "arm.toml")
    for find in (model.with_scene, model.with_geometry):
        with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$"):
            find()


def test_a_saved_file_is_read_back_where_a_link_is_named_base(tmp_path):
    """The link "base" of many arms is rotated against the link that does not move."""
    urdf = ARM.replace(
        "</robot>",
        '<link name="base"/><joint name="b" type="fixed"><parent link="foot"/><child link="base"/>'
        '<origin rpy="0 0 3.14" xyz="0 0 1"/></joint></robot>',
    )
    file = tmp_path / "mine.json"
    file.write_text('{"spheres": {"foot": [[0.1, 0.2, 0.3, 0.1]], "boom": [[0.1, 0, 0, 0.1]]}}')
    shape = Chain.from_urdf(urdf, "foot", "tip").with_geometry(file).geometry
    shape.save(tmp_path / "saved.json")
    again = Chain.from_urdf(urdf, "foot", "tip").with_geometry(tmp_path / "saved.json").geometry
    np.testing.assert_array_equal(again.spheres(np.zeros(3)), shape.spheres(np.zeros(3)))


SAVED = json.loads(to_text(UR5E.geometry))
TABLE = SAVED["tables"][0]
DAMAGED = (
    "a table of distances in mine.json is damaged: expected one that Geometry.save wrote. Write "
    "the file again, or remove its tables."
)
NO_SPHERE = (
    "mine.json has no spheres, so nothing could ever collide: expected at least one row of x, y, "
    "z, radius."
)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"spheres": {}}, NO_SPHERE),
        ({"spheres": {name: [] for name in BARE.joint_names}}, NO_SPHERE),
        (
            {"frames": [[1], [2, 3]]},
            "frames in mine.json are [[1], [2, 3]]: expected the matrices that Geometry.save "
            "writes, or none.",
        ),
        (
            {"frames": np.full((8, 4, 4), np.nan).tolist()},
            "mine.json is for another arm: its joints differ. Expected the geometry of this arm.",
        ),
        (
            {"links": {"base": 5}},
            'links in mine.json has 5: expected lists of names, such as {"base": ["link0"]}.',
        ),
        (
            {"links": {"base": "abc"}},
            'links in mine.json has \'abc\': expected lists of names, such as {"base": ["link0"]}.',
        ),
        (
            {"links": None},
            'links in mine.json has None: expected lists of names, such as {"base": ["link0"]}.',
        ),
        ({"tables": None}, "tables in mine.json is None: expected a list, or none."),
        ({"tables": [1]}, DAMAGED),
        *(({"tables": [TABLE | {"link_groups": pair}]}, DAMAGED) for pair in ([0, 99], [2, 2])),
        *(({"tables": [TABLE | {"link_groups": pair}]}, DAMAGED) for pair in ([2, 0], [-1, -3])),
        *(
            ({"tables": [TABLE | {"ranges": ranges}]}, DAMAGED)
            for ranges in ([0.0] * 4, [float("nan")] * 4, [-float("inf"), float("inf")] * 2)
        ),
    ],
)
def test_a_file_that_is_wrong_is_refused(changes, text, tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps(SAVED | changes))
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$"):
        BARE.with_geometry(tmp_path / "mine.json")


def test_a_file_that_is_nested_too_deep_is_refused(tmp_path):
    (tmp_path / "mine.json").write_text("[" * 100_000)
    text = "mine.json has lists nested too deeply to be read: expected rows of numbers."
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$"):
        BARE.with_geometry(tmp_path / "mine.json")


# Another base


POSE = pose([0.3, -0.2, 0.8], rpy=[0.4, -1.1, 2.0]).matrix


def moved_spheres(q):
    """The spheres of a UR5e whose base is at ``POSE``."""
    spheres = UR5E.geometry.spheres(q)
    return np.column_stack([spheres[:, :3] @ POSE[:3, :3].T + POSE[:3, 3], spheres[:, 3]])


def test_the_shape_of_an_arm_moves_with_its_base():
    q, moved = UR5E.random(seed=1), UR5E.with_base(POSE)
    np.testing.assert_allclose(moved.fk(q), POSE @ UR5E.fk(q), atol=1e-12)
    np.testing.assert_allclose(moved.geometry.spheres(q), moved_spheres(q), atol=1e-12)
    wall = Scene().box([0.2, 3.0, 3.0], [0.9, 0.0, 0.0])
    rows = UR5E.random(seed=2, count=50)
    np.testing.assert_allclose(moved.clearance(rows), UR5E.clearance(rows), atol=1e-12)
    solved = moved.with_scene(wall).solve(moved.fk(q), q)
    centres = moved.geometry.spheres(solved.q)[group_of_spheres(moved.geometry) > 0]
    walls = (wall.distance(centres[:, :3]) - centres[:, 3]).min()
    np.testing.assert_allclose(solved.clearance, min(walls, moved.clearance(solved.q)), atol=1e-12)
    assert BARE.with_base([0.0, 0.0, 1.0]).geometry is None


def test_the_shape_of_an_arm_fits_one_with_another_base():
    elsewhere = BARE.with_base(POSE)
    for source in (UR5E.geometry, "ur5e"):
        geometry = elsewhere.with_geometry(source).geometry
        q = BARE.mid_range
        np.testing.assert_allclose(geometry.spheres(q), moved_spheres(q), atol=1e-5)


def test_the_shape_of_an_arm_does_not_fit_one_with_another_link():
    links = BARE.arm.links.copy()
    links[1, :, 3] += 0.001
    other = replace(BARE, arm=arm_model(links, BARE.prismatic, BARE.limits)).with_base(POSE)
    text = "the geometry is for another arm: its joints differ. Expected the geometry of this arm."
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$"):
        other.with_geometry(UR5E.geometry)


@pytest.mark.parametrize("place", [np.eye(4), POSE], ids=["origin", "elsewhere"])
def test_a_chain_has_the_shape_and_the_scene_of_its_robot(place):
    wall = Scene().box([0.2, 3.0, 3.0], [0.9, 0.0, 0.0], name="wall")
    robot = Robot.load("ur5e").with_base(place).with_scene(wall, margin=0.01)
    chain, q = robot.chain(), robot.random(seed=4, count=50)
    assert (chain.scene, chain.margin) == (robot.scene, 0.01)
    np.testing.assert_allclose(chain.clearance(q), robot.clearance(q), atol=1e-9)
    bare = Robot.load("ur5e").with_base(place).chain().with_scene(wall, margin=0.01)
    np.testing.assert_allclose(chain.clearance(q), bare.clearance(q), atol=1e-9)


def test_a_chain_against_whose_base_the_root_of_a_placed_robot_moves_is_refused():
    text = (
        "the robot has a scene or a base pose, and its root moves relative to 'tip' in this "
        "chain, so it is ambiguous whether the root or 'tip' is fixed: make the chain from a robot "
        "without a scene and a base pose"
    )
    for robot in (Robot.load("ur5e").with_base(POSE), Robot.load("ur5e").with_scene()):
        with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}"):
            robot.chain("tip", "link2")


def test_a_missing_library_is_told_before_anything_is_fitted(tmp_path, monkeypatch):
    monkeypatch.setenv("JOINTWISE_CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(sys.modules, "coal", None)
    monkeypatch.setattr(fit, "results", lambda *_: pytest.fail("fitted"))
    with pytest.raises(JointwiseError) as caught:
        Chain.from_urdf(ARM, "foot", "tip").with_scene()
    assert str(caught.value) == (
        "fitting spheres to collision shapes needs coal, which is not installed: in a clone of "
        "jointwise, run pip install '.[geometry]'."
    )


def test_a_long_fit_shows_its_progress(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("JOINTWISE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(fit, "FEW_TRIANGLES", 1)
    for announced in (1, 0):  # then it is read from the cache
        Chain.from_urdf(ARM, "foot", "tip").with_scene()
        shown = capsys.readouterr().err
        assert shown.count("fitting spheres to the URDF, once") == announced
        assert shown.count("6/6") == announced  # four link groups, two tables
