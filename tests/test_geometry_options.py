"""What ``geometry=`` of ``load`` and ``from_urdf`` takes, and files that are refused."""

import json
import re
import sys
from dataclasses import replace

import numpy as np
import pytest

from jointwise import (
    Chain,
    GeometryWarning,
    InvalidInputError,
    JointwiseError,
    Robot,
    Scene,
    pose,
)
from jointwise.model.arm import arm_model
from jointwise.model.geometry import from_urdf
from jointwise.model.geometry.files import to_text
from tests.support.geometry_arms import ARM

BARE, UR5E = Chain.load("ur5e"), Chain.load("ur5e", geometry=True)
MAKERS = {
    "Chain.load": lambda geometry: Chain.load("ur5e", geometry=geometry),
    "Robot.load": lambda geometry: Robot.load("ur5e", geometry=geometry),
    "Chain.from_urdf": lambda geometry: Chain.from_urdf(ARM, "foot", "tip", geometry),
    "Robot.from_urdf": lambda geometry: Robot.from_urdf(ARM, geometry=geometry),
}


@pytest.fixture
def one_ball(tmp_path):
    """A file with one sphere on the last joint of a UR5e."""
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"spheres": {BARE.names[-1]: [[0.0, 0.0, 0.0, 0.5]]}}))
    return file


@pytest.mark.parametrize("owner", [Chain, Robot])
@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_load_takes_the_path_of_a_file_of_spheres(owner, kind, one_ball):
    geometry = owner.load("ur5e", geometry=kind(one_ball)).geometry
    assert (geometry.count, geometry.source) == (1, "mine.json")


def test_load_takes_a_path_for_a_file_of_ones_own(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM)
    (tmp_path / "arm.toml").write_text("joints = [{ a = 0.4 }, { a = 0.3 }]")
    for arm, key in (("arm.urdf", "boom"), ("arm.toml", "joint2")):
        (tmp_path / "mine.json").write_text(json.dumps({"spheres": {key: [[0, 0, 0, 0.1]]}}))
        chain = Chain.load(tmp_path / arm, geometry=tmp_path / "mine.json")
        assert chain.geometry.carriers.tolist() == [2]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("geometry", [None, 7, ["mine.json"]])
def test_geometry_that_is_neither_a_boolean_nor_a_path_is_refused(make, geometry):
    text = f"geometry is {geometry!r}: expected True, False, or the path of a JSON file of spheres."
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$"):
        make(geometry)


@pytest.mark.parametrize("owner", [Chain, Robot])
def test_a_table_has_no_shapes(owner, tmp_path):
    (tmp_path / "arm.toml").write_text("joints = [{ a = 0.4 }, { a = 0.3 }]")
    text = (
        "geometry is for a URDF: arm.toml has no collision shapes. Give it spheres by "
        "with_geometry."
    )
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$"):
        owner.load(tmp_path / "arm.toml", geometry=True)


def test_a_saved_file_is_read_back_where_a_link_is_named_base(tmp_path):
    """The link "base" of many arms is rotated against the link that does not move."""
    urdf = ARM.replace(
        "</robot>",
        '<link name="base"/><joint name="b" type="fixed"><parent link="foot"/><child link="base"/>'
        '<origin rpy="0 0 3.14" xyz="0 0 1"/></joint></robot>',
    )
    file = tmp_path / "mine.json"
    file.write_text('{"spheres": {"foot": [[0.1, 0.2, 0.3, 0.1]], "boom": [[0.1, 0, 0, 0.1]]}}')
    shape = Chain.from_urdf(urdf, "foot", "tip", file).geometry
    shape.save(tmp_path / "saved.json")
    again = Chain.from_urdf(urdf, "foot", "tip", tmp_path / "saved.json").geometry
    np.testing.assert_array_equal(again.spheres(np.zeros(3)), shape.spheres(np.zeros(3)))


SAVED = json.loads(to_text(UR5E.geometry))
TABLE = SAVED["tables"][0]
DAMAGED = (
    "a table of distances in mine.json is damaged: expected one that Geometry.save wrote. Write "
    "the file again, or remove its tables."
)
NO_SPHERE = (
    "mine.json has no sphere at all, so that nothing would ever touch: expected at least one row "
    "of x, y, z, radius."
)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"spheres": {}}, NO_SPHERE),
        ({"spheres": {name: [] for name in BARE.names}}, NO_SPHERE),
        (
            {"frames": [[1], [2, 3]]},
            "frames in mine.json are [[1], [2, 3]]: expected the matrices that Geometry.save "
            "writes, or none.",
        ),
        (
            {"frames": np.full((8, 4, 4), np.nan).tolist()},
            "mine.json is of another arm: its joints are elsewhere. Expected the geometry of this "
            "arm.",
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
        *(({"tables": [TABLE | {"carriers": pair}]}, DAMAGED) for pair in ([0, 99], [2, 2])),
        *(({"tables": [TABLE | {"carriers": pair}]}, DAMAGED) for pair in ([2, 0], [-1, -3])),
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
    text = "mine.json has lists in lists too deep to be read: expected rows of numbers."
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$"):
        BARE.with_geometry(tmp_path / "mine.json")


# Another base


POSE = pose([0.3, -0.2, 0.8], rpy=[0.4, -1.1, 2.0]).as_matrix()


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
    solved = moved.solve(moved.fk(q), q, scene=wall)
    centres = moved.geometry.spheres(solved.joint_angles)[moved.geometry.carriers > 0]
    walls = (wall.distance(centres[:, :3]) - centres[:, 3]).min()
    np.testing.assert_allclose(
        solved.clearance, min(walls, moved.clearance(solved.joint_angles)), atol=1e-12
    )
    assert BARE.with_base([0.0, 0.0, 1.0]).geometry is None


def test_the_shape_of_an_arm_fits_one_with_another_base():
    elsewhere = BARE.with_base(POSE)
    for source in (UR5E.geometry, "ur5e"):
        geometry = elsewhere.with_geometry(source).geometry
        np.testing.assert_allclose(geometry.spheres(BARE.home), moved_spheres(BARE.home), atol=1e-5)


def test_the_shape_of_an_arm_does_not_fit_one_with_another_link():
    links = BARE.arm.links.copy()
    links[1, :, 3] += 0.001
    other = replace(BARE, arm=arm_model(links, BARE.prismatic, BARE.limits)).with_base(POSE)
    text = (
        "the geometry is of another arm: its joints are elsewhere. Expected the geometry of this "
        "arm."
    )
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$"):
        other.with_geometry(UR5E.geometry)


def test_a_chain_of_a_robot_with_geometry_says_that_it_has_none():
    robot = Robot.load("ur5e", geometry=True)
    text = (
        "the chain has no geometry, although the robot has: its collisions are not checked. Give "
        "it a shape by with_geometry, or read it by "
        "Chain.from_urdf(source, base, tip, geometry=True)."
    )
    with pytest.warns(GeometryWarning, match=f"^{re.escape(text)}$") as warned:
        chain = robot.chain(robot.link_names[0], "tip")
    assert (chain.geometry, warned[0].filename) == (None, __file__)


def test_a_missing_library_is_told_before_anything_is_fitted(tmp_path, monkeypatch):
    monkeypatch.setenv("JOINTWISE_CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(sys.modules, "coal", None)
    monkeypatch.setattr(from_urdf, "fit_spheres", lambda *_: pytest.fail("fitted"))
    with pytest.raises(JointwiseError) as caught:
        Chain.from_urdf(ARM, "foot", "tip", True)
    assert str(caught.value) == (
        "distances of meshes need coal, which is not installed: pip install 'jointwise[geometry]'."
    )


def test_a_long_fit_is_announced(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("JOINTWISE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(from_urdf, "FEW_TRIANGLES", 1)
    for announced in (1, 0):  # then it is read from the cache
        Chain.from_urdf(ARM, "foot", "tip", True)
        assert capsys.readouterr().err.count("fitting spheres to the shapes of") == announced
