"""Spheres around an arm: no point of a shape is outside, none is fatter than allowed."""

import json
import re

import numpy as np
import pinocchio as pin
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

from jointwise import Chain, DHJoint, Geometry, GeometryWarning, InvalidInputError
from jointwise.model import data
from jointwise.shape.fitting import cache
from jointwise.shape.fitting.spheres import fit_spheres
from jointwise.shape.fitting.winding import winding_numbers
from jointwise.shape.geometry import group_of_spheres, group_spheres, kernel_spheres, make_geometry
from jointwise.shape.link_groups import bounding_sphere
from jointwise.shape.solids import primitives
from jointwise.shape.solids.mesh import Mesh, split_triangles
from jointwise.shape.solids.mesh_files import warn_if_open
from jointwise.shape.tables.table import Table, tabulate
from testbed.geometry_arms import ARM, outside, surface_points, write_stl
from tests.support.examples import examples
from tools.build_geometry import MODELS, find_file


@pytest.fixture(autouse=True, scope="module")
def cache_folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("JOINTWISE_CACHE_DIR", str(folder))
        yield folder


@pytest.fixture(scope="module")
def arm(cache_folder) -> Chain:
    return Chain.from_urdf(ARM, "foot", "tip").with_geometry(padding=0.02)


def distance_to_box(points, size):
    """How far points are outside of a box at the origin [m]."""
    return np.linalg.norm(np.maximum(np.abs(points) - 0.5 * np.array(size), 0.0), axis=-1)


# Fitting


@examples(8)
@given(
    st.tuples(*3 * [st.floats(0.002, 0.12)]),
    st.floats(0.015, 0.04),
    st.sampled_from(["box", "cylinder"]),
)
def test_no_point_is_outside_and_no_sphere_is_too_fat(size, padding, kind):
    mesh = (
        primitives.box(np.array(size))
        if kind == "box"
        else primitives.cylinder(size[0] / 2, size[2])
    )
    spheres = fit_spheres([mesh], padding)
    assert outside(surface_points(mesh.vertices[mesh.faces], 3000), spheres) <= 0.0
    bounds = size if kind == "box" else [size[0] * 1.005] * 2 + [size[2]]
    directions = np.random.default_rng(0).normal(size=(500, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    for *centre, radius in spheres:
        assert distance_to_box(centre + radius * directions, bounds).max() <= padding + 1e-9


def test_solids_that_overlap_share_spheres():
    one, two = primitives.box(np.full(3, 0.1)), primitives.box(np.full(3, 0.08))
    together = fit_spheres([one, two], 0.02)
    assert len(together) <= len(fit_spheres([one], 0.02)) + 2


@pytest.mark.parametrize(
    ("mesh", "contains"),
    [
        (primitives.sphere(0.1), lambda p: np.linalg.norm(p, axis=1) < 0.1),
        (
            primitives.cylinder(0.1, 0.3),
            lambda p: (np.hypot(*p.T[:2]) < 0.1) & (abs(p[:, 2]) < 0.15),
        ),
        (
            primitives.capsule(0.1, 0.3),
            lambda p: np.linalg.norm(p - p.clip(*np.outer([-0.15, 0.15], [0, 0, 1])), axis=1) < 0.1,
        ),
    ],
    ids=["sphere", "cylinder", "capsule"],
)
def test_curved_shapes_are_inside_their_polyhedra(mesh, contains):
    points = np.random.default_rng(1).uniform(-0.3, 0.3, (4000, 3))
    inside = winding_numbers(points, mesh.vertices[mesh.faces]) > 0.5
    assert (inside >= contains(points)).all()
    assert (inside <= contains(points / 1.02)).all()
    assert mesh.is_convex
    assert mesh.open_edges == 0


def test_triangles_are_split_without_a_change_of_the_surface():
    mesh = primitives.box(np.array([0.3, 0.01, 0.1]))
    small = split_triangles(mesh.vertices[mesh.faces], 0.02)
    a, b, c = small.swapaxes(0, 1)
    edges = np.linalg.norm(small - np.roll(small, 1, axis=1), axis=2)
    assert edges.max() <= 0.02
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
    assert area == pytest.approx(2 * (0.3 * 0.01 + 0.3 * 0.1 + 0.01 * 0.1))


@given(st.integers(0, 1000), st.integers(1, 12))
def test_a_bounding_sphere_contains_all_and_is_small(seed, count):
    rng = np.random.default_rng(seed)
    spheres = rng.uniform(0.01, 1.0, (count, 4))
    *centre, radius = bounding_sphere(spheres)
    reach = np.linalg.norm(spheres[:, :3] - centre, axis=1) + spheres[:, 3]
    assert radius >= reach.max() - 1e-15
    gaps = np.linalg.norm(spheres[:, None, :3] - spheres[None, :, :3], axis=2)
    assert radius <= 1.2 * (0.5 * gaps.max() + spheres[:, 3].max())


# The geometry of an arm


def test_link_groups_are_the_base_the_joints_and_what_is_attached(arm):
    geometry = arm.geometry
    assert geometry.links == (("foot",), ("tower",), ("boom",), ("fork", "finger"), ())
    assert kernel_spheres(geometry).first[[0, -1]].tolist() == [0, geometry.count]
    assert kernel_spheres(geometry).bounds[-1, 3] == -1.0
    assert geometry.padding == 0.02
    assert not any(array.flags.writeable for array in kernel_spheres(geometry))


def test_spheres_follow_the_joints(arm):
    """Points of the boom, placed by the frames of the chain, are inside its spheres."""
    q = [0.4, -0.7, 1.1]
    spheres = arm.geometry.spheres(q)
    mesh = primitives.cylinder(0.03 * 0.99, 0.3)
    x_axis = np.array([[0, 0, 1, 0.15], [0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1.0]])
    T_base_boom = arm.joint_frames(q)[1] @ np.linalg.inv(arm.joint_frames(np.zeros(3))[1])
    T_base_boom = T_base_boom @ np.array(
        [[1, 0, 0, 0], [0, 1, 0, 0.08], [0, 0, 1, 0.32], [0, 0, 0, 1.0]]
    )
    points = mesh.moved(T_base_boom @ x_axis).vertices
    assert outside(points, spheres[group_of_spheres(arm.geometry) == 2]) <= 0.0
    assert outside(points, spheres[group_of_spheres(arm.geometry) != 2]) > 0.05


def test_joints_outside_of_the_chain_are_at_zero(arm):
    spheres = arm.geometry.spheres(np.zeros(3))
    finger = np.array([[0.3 + 0.15, 0.08, 0.32]])
    assert outside(finger, spheres[group_of_spheres(arm.geometry) == 3]) <= 0.0


def test_a_base_in_the_middle_has_the_rest_of_the_robot_with_it():
    chain = Chain.from_urdf(ARM, "boom", "foot").with_geometry(padding=0.03)
    assert chain.geometry.links == (("boom", "fork", "finger"), ("tower",), ("foot",), ())


def test_what_is_fitted_is_kept_on_disk(arm, cache_folder):
    (file,) = [f for f in cache_folder.rglob("*.json") if '"padding": 0.02' in f.read_text()]
    again = Chain.from_urdf(ARM, "foot", "tip").with_geometry(padding=0.02).geometry
    for one, other in zip(kernel_spheres(arm.geometry), kernel_spheres(again), strict=True):
        np.testing.assert_array_equal(one, other)
    content = json.loads(cache.read(file))
    content["spheres"]["base"] = [[0, 0, 0, 1.0]]
    before = file.read_text()
    cache.write(file, json.dumps(content))
    assert (
        kernel_spheres(
            Chain.from_urdf(ARM, "foot", "tip").with_geometry(padding=0.02).geometry
        ).first[1]
        == 1
    )
    file.write_text(before)


def test_the_cache_is_optional(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("JOINTWISE_CACHE_DIR", str(tmp_path / "file"))
    assert Chain.from_urdf(ARM, "foot", "tower").with_geometry(padding=0.05).geometry.count > 0


# Pairs and tables


def test_neighbours_are_skipped_and_pairs_two_apart_have_tables(arm):
    body = kernel_spheres(arm.geometry)
    assert body.table_pairs[:, :2].tolist() == [[0, 2], [1, 3]]
    assert body.pairs.tolist() == [[0, 3]]
    assert [(a, b) for a, b, why in arm.geometry.skipped] == [(0, 1), (1, 2), (2, 3)]


def test_a_table_is_a_lower_bound_of_the_distance_and_free_where_links_are_apart(arm):
    """Compared with distances between dense points of the two shapes, at random joint values."""
    body = kernel_spheres(arm.geometry)
    tower = surface_points(_triangles(primitives.box(np.array([0.06, 0.06, 0.2]))), 1500)
    tower += [0.0, 0.0, 0.1 + 0.12]
    fork = surface_points(_triangles(primitives.sphere(0.04)), 1500)
    fork += [0.1, 0.0, 0.0]
    rest = np.linalg.inv(arm.joint_frames(np.zeros(3))) @ _fork_at_zero()
    apart = 2 * np.pi / 96 * (0.4 + 0.14) + 0.01  # within a cell, and between the points
    for q in arm.random(seed=2, count=60):
        q[0] = 0.0
        T_base_fork = arm.joint_frames(q)[2] @ rest[2]
        moved = fork @ T_base_fork[:3, :3].T + T_base_fork[:3, 3]
        near = min(np.linalg.norm(tower - point, axis=1).min() for point in moved[::16])
        i, j = np.floor((q[1:] + np.pi) / (2 * np.pi) * 96).astype(int)
        bound = body.tables[1, i, j]
        assert bound <= max(near, 0.0)
        assert bound > 0.0 or near < apart


def _triangles(mesh):
    return mesh.vertices[mesh.faces]


def _fork_at_zero():
    c, s = np.cos(0.3), np.sin(0.3)
    return np.array([[1, 0, 0, 0.3], [0, c, -s, 0.08], [0, s, c, 0.32], [0, 0, 0, 1.0]])


def test_pairs_that_always_touch_are_skipped_and_listed(arm):
    table = Table(np.zeros((96, 96)), np.array([-np.pi, np.pi, -np.pi, np.pi]), True)
    parts, names = group_spheres(arm.geometry), arm.geometry.links
    geometry = make_geometry(
        arm.arm, arm.joint_names, parts, names, None, "a test", {(1, 3): table}
    )
    assert (1, 3, "always touch") in geometry.skipped
    assert "not checked, always touch: tower and fork+finger" in str(geometry)
    assert kernel_spheres(geometry).pairs.tolist() == [[0, 2], [0, 3]]


@pytest.mark.parametrize(("apart", "always_touch"), [(0.0, True), (0.5, False)])
def test_a_table_tells_whether_solids_always_touch(apart, always_touch):
    box, far = primitives.box(np.full(3, 0.2)), np.eye(4)
    far[0, 3] = apart
    ranges = np.array([-0.1, 0.1, -0.1, 0.1])
    table = tabulate([box], [box], np.stack([far, np.eye(4)]), (False, False), ranges)
    assert table.always_touch == always_touch
    assert ((table.distances < 0.0) == always_touch).all()
    assert table.distances.max() == (-0.001 if always_touch else 0.001)


def test_wider_limits_leave_out_the_tables_of_prismatic_joints():
    slider = ARM.replace('"lift" type="revolute"', '"lift" type="prismatic"')
    slider = slider.replace('lower="-2" upper="2"', 'lower="0" upper="0.1"')
    chain = Chain.from_urdf(slider, "foot", "tip").with_geometry(padding=0.03)
    assert len(kernel_spheres(chain.geometry).table_pairs) == 2
    wider = kernel_spheres(chain.with_limits([[-9, 9], [0, 0.2], [-2, 2]]).geometry)
    assert wider.table_pairs.tolist() == []
    assert [0, 2] in wider.pairs.tolist()
    narrower = chain.with_limits([[-9, 9], [0.05, 0.1], [-2, 2]])
    assert len(kernel_spheres(narrower.geometry).table_pairs) == 2


# Files


def test_a_file_gives_the_same_geometry(arm, tmp_path):
    arm.geometry.save(tmp_path / "arm.json")
    read = Chain.from_urdf(ARM, "foot", "tip").with_geometry(tmp_path / "arm.json").geometry
    for one, other in zip(kernel_spheres(arm.geometry), kernel_spheres(read), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (read.links, read.skipped, read.padding, read.source) == (
        arm.geometry.links,
        arm.geometry.skipped,
        arm.geometry.padding,
        arm.geometry.source,
    )
    assert str(read) == str(arm.geometry)


def test_spheres_of_your_own_by_joint_and_by_link(tmp_path):
    file = tmp_path / "own.json"
    spheres = {"base": [[0, 0, 0, 0.1]], "fork": [[0.1, 0, 0, 0.05]], "bend": [[0, 0, 0, 0.02]]}
    file.write_text(json.dumps({"spheres": spheres, "disabled": [["base", "fork"]]}))
    geometry = Chain.from_urdf(ARM, "foot", "tip").with_geometry(file).geometry
    assert geometry.links[3] == ("fork", "bend")
    centre = geometry.spheres(np.zeros(3))[1]
    np.testing.assert_allclose(centre, [0.4, 0.08, 0.32, 0.05], atol=1e-12)
    assert (0, 3, "disabled") in geometry.skipped
    assert geometry.padding is None
    assert isinstance(geometry, Geometry)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("{", "own.json is not JSON: Expecting property name"),
        ("[]", "own.json has no spheres: expected"),
        (
            '{"spheres": {"bas": [[0, 0, 0, 1]]}}',
            "own.json has 'bas': expected one of foot, tower, boom, fork, finger, tip, base, turn, "
            "lift, bend.",
        ),
        (
            '{"spheres": {"base": [[0, 0, 1]]}}',
            "the spheres of 'base' in own.json are [[0, 0, 1]]: expected rows of x, y, z, radius.",
        ),
        (
            '{"spheres": {"base": [[0, 0, 0, -1]]}}',
            "a sphere of 'base' in own.json has the radius -1: expected more than zero.",
        ),
        (
            '{"spheres": {"base": [[0, NaN, 0, 1]]}}',
            "spheres of base in own.json[0, 1] is nan: expected finite numbers below 1e9.",
        ),
        (
            '{"spheres": {"base": [[0, 0, 0, 0.1]]}, "disabled": ["base"]}',
            "disabled in own.json has 'base': expected pairs of names.",
        ),
        (
            '{"spheres": {"base": [[0, 0, 0, 1]]}, '
            '"tables": [{"link_groups": [0, 2], "millimetres": "AA=="}]}',
            "a table of distances in own.json is damaged: expected one that Geometry.save wrote.",
        ),
    ],
)
def test_files_that_are_wrong(content, text, tmp_path):
    (tmp_path / "own.json").write_text(content)
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}"):
        Chain.from_urdf(ARM, "foot", "tip").with_geometry(tmp_path / "own.json")


def test_a_file_of_another_arm_is_refused(arm, tmp_path):
    arm.geometry.save(tmp_path / "arm.json")
    longer = Chain.from_urdf(ARM.replace('xyz="0.3 0 0"', 'xyz="0.4 0 0"'), "foot", "tip")
    with pytest.raises(InvalidInputError, match=r"^arm.json is for another arm: its joints differ"):
        longer.with_geometry(tmp_path / "arm.json")


@pytest.mark.parametrize("name", sorted(data.geometries()))
def test_shapes_that_come_with_jointwise(name):
    """They fit their robot, are small, and cite their source; the robot at home touches nothing."""
    chain = Chain.load(name).with_geometry()
    file = data.geometries()[name]
    content = json.loads(file.read_text())
    assert file.stat().st_size < 60_000
    assert content["license"] in ("Apache-2.0", "BSD-2-Clause", "BSD-3-Clause")
    assert " of " in chain.geometry.source
    assert chain.geometry.padding == 0.015
    assert 80 < chain.geometry.count < 2000
    assert chain.geometry.joints == chain.joint_names
    assert len(kernel_spheres(chain.geometry).table_pairs) == chain.n - 1


@pytest.mark.parametrize("name", ["panda", "ur5", "xarm7"])
def test_no_point_of_a_robot_is_outside_its_spheres(name):
    """By the meshes of example-robot-data and Pinocchio's forward kinematics."""
    model = MODELS[name]
    chain = Chain.load(name).with_geometry()
    file = find_file(model.file)
    robot = pin.buildModelFromUrdf(str(file))
    folder = str(file).split("/example-robot-data/")[0]
    shapes_of_robot = pin.buildGeomFromUrdf(
        robot, str(file), pin.GeometryType.COLLISION, package_dirs=[folder]
    )
    state, placed = robot.createData(), pin.GeometryData(shapes_of_robot)
    for q in chain.random(seed=3, count=2):
        values = np.zeros(robot.nq)
        values[: chain.n] = q
        pin.updateGeometryPlacements(robot, state, shapes_of_robot, placed, values)
        pin.updateFramePlacements(robot, state)
        T_base_world = state.oMf[robot.getFrameId(model.base)].inverse().homogeneous
        spheres = chain.geometry.spheres(q)
        for each, pose in zip(shapes_of_robot.geometryObjects, placed.oMg, strict=True):
            if robot.frames[each.parentFrame].name in model.without:
                continue
            if each.meshPath == "BOX":
                triangles = _triangles(primitives.box(2.0 * each.geometry.halfSide))
            else:
                triangles = np.array(trimesh.load_mesh(each.meshPath).triangles) * each.meshScale
            points = surface_points(triangles, 3000)
            T = T_base_world @ pose.homogeneous
            assert outside(points @ T[:3, :3].T + T[:3, 3], spheres) <= 1e-6


# SRDF


SRDF = """<robot name="arm">
  <disable_collisions link1="tower" link2="fork" reason="Never"/>
  <disable_collisions link1="finger" link2="tower"/>
  <disable_collisions link1="foot" link2="fork"/>
  <link_sphere_approximation link="boom">
    <sphere center="0.1 0 0" radius="0.05"/><sphere center="0.2 0 0" radius="0.05"/>
  </link_sphere_approximation>
  <link_sphere_approximation link="tip"><sphere center="0 0 0" radius="0"/>
  </link_sphere_approximation>
</robot>"""


def test_srdf_disables_pairs_and_gives_spheres():
    geometry = Chain.from_urdf(ARM, "foot", "tip").with_geometry(padding=0.03, srdf=SRDF).geometry
    assert (1, 3, "disabled") in geometry.skipped  # tower with fork and finger
    assert [0, 3] in kernel_spheres(geometry).pairs.tolist()  # foot and finger are not disabled
    assert np.diff(kernel_spheres(geometry).first)[2] == 2
    np.testing.assert_allclose(
        geometry.spheres(np.zeros(3))[group_of_spheres(geometry) == 2][0, 0], 0.1
    )
    assert geometry.padding is None


@pytest.mark.parametrize(
    ("srdf", "text"),
    [
        ("<robot", "the SRDF is not valid XML: unclosed token: line 1, column 0."),
        ("<urdf/>", "the SRDF begins with <urdf>: expected <robot>, an SRDF."),
        (
            '<robot><link_sphere_approximation link="a"><sphere center="0 0" radius="1"/>'
            "</link_sphere_approximation></robot>",
            "a sphere of link 'a' of the SRDF is '0 0 1': expected center='x y z' and radius, "
            "four numbers.",
        ),
        (
            '<robot><link_sphere_approximation link="a"/></robot>',
            "the SRDF has spheres of 'a': expected a link of the URDF.",
        ),
        (
            '<robot><disable_collisions link1="boom"/></robot>',
            "<disable_collisions> of the SRDF has link1='boom' and link2='': expected the names of "
            "two links.",
        ),
        (
            "<!DOCTYPE robot><robot/>",
            "the SRDF has a document type declaration, which is refused because its entities can "
            "be used for attacks: remove <!DOCTYPE ...>.",
        ),
    ],
)
def test_srdf_that_is_wrong(srdf, text):
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$"):
        Chain.from_urdf(ARM, "foot", "tip").with_geometry(srdf=srdf)


# Attached things


def test_what_is_attached_moves_with_the_end_effector(arm):
    holding = arm.attach("parcel", [0.0, 0.0, 0.1], box=(0.1, 0.06, 0.04))
    q = [0.3, 0.5, -0.4]
    held = holding.geometry.spheres(q)[group_of_spheres(holding.geometry) == 4]
    T = arm.fk(q)
    points = surface_points(_triangles(primitives.box(np.array([0.1, 0.06, 0.04]))), 2000)
    points += [0, 0, 0.1]
    points = points @ T[:3, :3].T + T[:3, 3]
    assert outside(points, held) <= 0.0
    assert holding.geometry.links[4] == ("parcel",)
    pairs = kernel_spheres(holding.geometry).pairs.tolist()
    assert [0, 4] in pairs
    assert [2, 4] in pairs
    assert [3, 4] not in pairs
    assert holding.detach().geometry.count == arm.geometry.count
    assert arm.geometry.count < holding.geometry.count


@pytest.mark.parametrize(
    ("solids", "text"),
    [
        ({}, "No solid is given: pass one of box, cylinder, sphere, mesh."),
        (
            {"box": (1, 1, 1), "sphere": 1.0},
            "Both box and sphere are given; pass only one.",
        ),
        ({"box": (1, 0, 1)}, "box is (1, 0, 1): expected three lengths above zero [m]."),
        ({"cylinder": 0.1}, "cylinder is 0.1: expected radius and length above zero [m]."),
        ({"sphere": -1}, "sphere is -1: expected a number above zero."),
        ({"mesh": "no.stl"}, "mesh is 'no.stl': expected a file."),
    ],
)
def test_attaching_what_is_wrong(arm, solids, text):
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$"):
        arm.attach("thing", **solids)


def test_attaching_needs_geometry_and_a_new_name(arm):
    bare = Chain.from_dh([DHJoint(a=0.4), DHJoint(a=0.3)])
    with pytest.raises(InvalidInputError, match=r"^arm has no collision geometry: it was made"):
        bare.attach("ball", sphere=0.1)
    with pytest.raises(InvalidInputError, match=r"^'boom' is already attached or a link"):
        arm.attach("boom", sphere=0.1)


# Meshes


def mesh_arm(filename: str) -> str:
    return ARM.replace('<box size="0.06 0.06 0.2"/>', f'<mesh filename="{filename}"/>')


@pytest.mark.parametrize("filename", ["package://some_robot/part.stl", "part.stl", "../part.stl"])
def test_meshes_are_found_around_the_urdf(filename, tmp_path):
    folder = tmp_path / "some_robot" / "urdf"
    folder.mkdir(parents=True)
    box = _triangles(primitives.box(np.array([0.06, 0.06, 0.2])))
    write_stl((folder if filename == "part.stl" else tmp_path / "some_robot") / "part.stl", box)
    (folder / "arm.urdf").write_text(mesh_arm(filename))
    geometry = (
        Chain.from_urdf(folder / "arm.urdf", "foot", "boom").with_geometry(padding=0.03).geometry
    )
    points = surface_points(box, 1000)
    points += [0, 0, 0.1 + 0.12]
    assert outside(points, geometry.spheres(np.zeros(2))[group_of_spheres(geometry) == 1]) <= 1e-8


def test_a_mesh_that_is_not_closed_is_covered_with_a_warning(tmp_path):
    box = _triangles(primitives.box(np.array([0.06, 0.06, 0.2])))
    write_stl(tmp_path / "part.stl", box[:-1])
    (tmp_path / "arm.urdf").write_text(mesh_arm("part.stl"))
    text = r"^the mesh part.stl is not closed \(3 open edges\): spheres cover its surface, but near"
    with pytest.warns(GeometryWarning, match=text):
        geometry = (
            Chain.from_urdf(tmp_path / "arm.urdf", "foot", "boom")
            .with_geometry(padding=0.03)
            .geometry
        )
    points = surface_points(box[:-1], 1000)
    points += [0, 0, 0.1 + 0.12]
    assert outside(points, geometry.spheres(np.zeros(2))[group_of_spheres(geometry) == 1]) <= 1e-8


def test_one_warning_names_the_first_meshes_with_holes():
    box = primitives.box(np.array([0.06, 0.06, 0.2]))
    torn = Mesh(box.vertices, box.faces[:-1])
    with pytest.warns(GeometryWarning) as caught:
        warn_if_open({"whole.stl": box, **{f"{i}.stl": torn for i in range(5)}})
    assert [str(warning.message) for warning in caught] == [
        "5 meshes are not closed (0.stl, 1.stl, 2.stl and 2 more): spheres cover their surfaces, "
        "but near their holes they may extend beyond them by more than the padding."
    ]


def test_triangles_that_face_inward_cost_no_spheres(tmp_path):
    """Of a mesh with a part inside: both are turned the same way."""
    parts = [_triangles(primitives.box(np.array([0.06, 0.06, 0.2]) * k)) for k in (1.0, 0.5)]
    flipped = [part.copy() for part in parts]
    flipped[0][::2] = flipped[0][::2, ::-1]
    flipped[1][1] = flipped[1][1, ::-1]
    found = []
    for name, triangles in (("right", parts), ("wrong", flipped)):
        write_stl(tmp_path / f"{name}.stl", np.concatenate(triangles))
        (tmp_path / "arm.urdf").write_text(mesh_arm(f"{name}.stl"))
        arm = Chain.from_urdf(tmp_path / "arm.urdf", "foot", "boom").with_geometry(padding=0.03)
        found.append(arm.geometry.spheres(np.zeros(2)))
    assert np.array_equal(*found)


def test_a_sheet_without_an_inside_is_covered():
    sheet = Mesh(np.array([[0, 0, 0], [0.2, 0, 0], [0, 0.1, 0.0]]), np.array([[0, 1, 2]]))
    spheres = fit_spheres([sheet], 0.02)
    assert outside(surface_points(_triangles(sheet), 1000), spheres) <= 0.0
    assert spheres[:, 3].max() <= 0.02


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, "Mesh 'part.stl' not found at or above"),
        (b"", "the mesh part.stl has no triangles: expected a surface."),
        (b"\xff" * 200, "the mesh part.stl has no triangles: expected a surface."),
        (b"facet vertex 1 2", "the mesh part.stl "),
    ],
)
def test_meshes_that_are_missing_or_broken(content, text, tmp_path):
    if content is not None:
        (tmp_path / "part.stl").write_bytes(content)
    (tmp_path / "arm.urdf").write_text(mesh_arm("part.stl"))
    text = f"the collision shape of link 'tower' of arm.urdf cannot be used. {text}"
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}"):
        Chain.from_urdf(tmp_path / "arm.urdf", "foot", "tip").with_scene()


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ('<box size="1 0 1"/>', "has the size 0: expected more than zero."),
        ('<box size="1 1"/>', "has the box size='1 1': expected three numbers below 1e9."),
        ('<cylinder radius="1"/>', "has the cylinder length='': expected a number below 1e9."),
        ('<sphere radius="-1"/>', "has the radius -1: expected more than zero."),
        ("<cone/>", "is <cone>: expected box, cylinder, sphere, capsule or mesh."),
        ("", "is empty: expected box, cylinder, sphere, capsule or mesh."),
    ],
)
def test_shapes_that_are_wrong(shape, text):
    urdf = ARM.replace('<box size="0.06 0.06 0.2"/>', shape)
    text = f"the collision shape of link 'tower' of the URDF {text}"
    with pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$"):
        Chain.from_urdf(urdf, "foot", "tip").with_scene()
    assert Chain.from_urdf(urdf, "foot", "tip").geometry is None


def test_an_arm_without_shapes_and_an_padding_that_is_wrong():
    with pytest.raises(InvalidInputError, match=r"^the URDF has no collision shapes: expected"):
        Chain.from_urdf(
            re.sub("<collision>.*?</collision>", "", ARM, flags=re.S), "foot", "tip"
        ).with_scene()
    with pytest.raises(InvalidInputError, match=r"^padding is 0.0001 m: expected 0.001 to 0.5."):
        Chain.from_urdf(ARM, "foot", "tip").with_geometry(padding=0.0001)
    text = "^padding is 0.001 m for a surface of 9.0 m²: expected at least 0.014 m."
    with pytest.raises(InvalidInputError, match=text):
        fit_spheres([primitives.box(np.full(3, 1.2247))], 0.001)
