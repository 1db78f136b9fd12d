"""Shapes of MJCF models: compared with where MuJoCo places their geoms."""

import pickle
import re

import numpy as np
import pytest

from jointwise import GeometryWarning, InvalidInputError, Robot
from jointwise.model.arm import arm_model
from jointwise.model.tree_path import ChainOfRobot, chain_between
from jointwise.shape.geometry import group_of_spheres, kernel_spheres
from jointwise.shape.solids import primitives
from jointwise.shape.sources.mjcf import MjcfShapes
from testbed.geometry_arms import outside, surface_points, write_stl
from testbed.whole_robots import all_values

mujoco = pytest.importorskip("mujoco")

PADDING = 0.03
TETRAHEDRON = "0 0 0  0.1 0 0  0 0.1 0  0 0 0.1"
# One geom of each kind that has an inside, on bodies that move; a mast and a floor that do not.
ARM = f"""
<mujoco model="arm">
  <asset><mesh name="wedge" vertex="{TETRAHEDRON}"/></asset>
  <worldbody>
    <geom type="plane" size="1 1 0.1"/>
    <geom name="mast" type="cylinder" size="0.03" fromto="-0.3 0 0 -0.3 0.1 0.4"/>
    <body name="tower" pos="0 0 0.1" euler="10 20 30">
      <joint name="turn" axis="0 0 1" range="-170 170"/>
      <geom name="block" type="box" size="0.05 0.04 0.1" pos="0 0 0.1" euler="0 0 45"/>
      <body name="boom" pos="0 0.05 0.25">
        <joint name="lift" axis="0 1 0" range="-90 90"/>
        <geom name="bar" type="capsule" size="0.03" fromto="0 0 0 0.3 0 0.05"/>
        <body name="bracket" pos="0.1 0.05 0"><geom name="ball" size="0.04"/></body>
        <body name="hand" pos="0.35 0 0">
          <joint name="slide" type="slide" axis="1 0 0" range="0 0.1"/>
          <geom name="egg" type="ellipsoid" size="0.05 0.03 0.08" euler="20 0 0"/>
          <geom name="wedge" type="mesh" mesh="wedge" pos="0.05 0 0"/>
          <site name="palm" pos="0.1 0 0"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(autouse=True, scope="module")
def cache_folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JOINTWISE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def robot():
    return Robot.from_mjcf(ARM)


@pytest.fixture(scope="module")
def shape(robot, cache_folder):
    return MjcfShapes(ARM, PADDING).for_robot(robot.model)


def geom_points(model, robot, q, number):
    """Points on the surface of a geom, world frame, placed by MuJoCo."""
    data = mujoco.MjData(model)
    for name, value in all_values(robot, q).items():
        data.qpos[model.joint(name).qposadr] = value
    mujoco.mj_kinematics(model, data)
    x, y, z = model.geom_size[number]
    kind = mujoco.mjtGeom(int(model.geom_type[number]))
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = int(model.geom_dataid[number])
        first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        points = model.mesh_vert[first : first + count].astype(float)
        points = np.concatenate([points, 0.5 * (points[:1] + points[1:])])
    else:
        directions = np.random.default_rng(0).normal(size=(2000, 3))
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        if kind == mujoco.mjtGeom.mjGEOM_BOX:
            points = np.sign(directions) * [x, y, z]
        elif kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
            points = directions * [x, y, z]
        elif kind == mujoco.mjtGeom.mjGEOM_SPHERE:
            points = directions * x
        else:
            points = directions * x
            if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
                points[:, :2] *= x / np.linalg.norm(points[:, :2], axis=1)[:, None]
                points[:, 2] = 0.0
            points[:, 2] += np.where(directions[:, 2] > 0.0, y, -y)
    return points @ data.geom_xmat[number].reshape(3, 3).T + data.geom_xpos[number]


def test_no_point_of_a_geom_is_outside_the_spheres_of_its_link(robot, shape):
    model = mujoco.MjModel.from_xml_string(ARM)
    groups = group_of_spheres(shape)
    for q in robot.random(seed=1, count=4):
        spheres = shape.spheres(q)
        for number in range(model.ngeom):
            if model.geom_type[number] == mujoco.mjtGeom.mjGEOM_PLANE:
                continue
            name = model.body(model.geom_bodyid[number]).name
            group = robot.model.links[name].joint + 1
            points = geom_points(model, robot, q, number)
            assert outside(points, spheres[groups == group]) <= 1e-6  # meshes are float32
    assert shape.links == (("world",), ("tower",), ("boom", "bracket"), ("hand",), ())
    assert shape.padding == PADDING


@pytest.mark.parametrize(("base", "tip"), [("world", "palm"), ("hand", "world"), ("boom", "palm")])
def test_a_chain_has_the_spheres_of_all_links(robot, base, tip):
    links, prismatic, limits, _, names, *_ = chain_between(robot.model, base, tip)
    arm = arm_model(links, prismatic, limits)
    found = MjcfShapes(ARM, PADDING).for_chain(ChainOfRobot(robot.model, arm, names, base))
    model, q = mujoco.MjModel.from_xml_string(ARM), np.array([0.0, 0.0, 0.0])
    for name in names:
        q[robot.joint_names.index(name)] = 0.07
    spheres = found.spheres([0.07] * len(names))
    T_base_world = np.linalg.inv(robot.fk(q)[base])
    for number in range(1, model.ngeom):
        points = geom_points(model, robot, q, number)
        inside = points @ T_base_world[:3, :3].T + T_base_world[:3, 3]
        assert outside(inside, spheres) <= 1e-6


def test_meshes_are_found_beside_a_model(tmp_path):
    mesh = primitives.box(np.array([0.1, 0.2, 0.3]))
    write_stl(tmp_path / "part.stl", mesh.vertices[mesh.faces])
    stl = bytearray(80) + len(mesh.faces).to_bytes(4, "little")
    for triangle in mesh.vertices[mesh.faces].astype(np.float32):  # MuJoCo reads binary files
        stl += np.zeros(3, np.float32).tobytes() + triangle.tobytes() + b"\0\0"
    (tmp_path / "part.stl").write_bytes(stl)
    (tmp_path / "arm.xml").write_text(
        '<mujoco><asset><mesh name="part" file="part.stl"/></asset><worldbody><body name="a">'
        '<joint name="j"/><geom type="mesh" mesh="part" pos="0.2 0 0"/></body></worldbody></mujoco>'
    )
    robot = Robot.load(tmp_path / "arm.xml")
    source = pickle.loads(pickle.dumps(MjcfShapes(tmp_path / "arm.xml", PADDING)))
    points = surface_points(mesh.vertices[mesh.faces], 500) + np.array([0.2, 0.0, 0.0])
    shape = source.for_robot(robot.model)
    assert outside(points, shape.spheres([0.0])) <= 1e-6
    assert shape.source == "arm.xml"


def body(name, geoms, joint=True):
    return f'<body name="{name}">{"<joint/>" if joint else ""}{geoms}</body>'


def radii(*bodies, more=""):
    """The radius of the only sphere of each link of a model, by link."""
    text = f"<mujoco><worldbody>{''.join(bodies)}</worldbody>{more}</mujoco>"
    shape = MjcfShapes(text, 0.5).for_robot(Robot.from_mjcf(text).model)
    sizes = np.split(kernel_spheres(shape).radii, kernel_spheres(shape).first[1:-1])
    return {name: size.max() for name, size in zip(shape.names, sizes, strict=True) if len(size)}


def test_geoms_that_collide_are_used_and_drawn_ones_where_there_are_none():
    seen = 'contype="0" conaffinity="0"'
    found = radii(
        body("a", f'<geom size="0.1"/><geom size="0.9" {seen} group="2"/>'),
        body("b", f'<geom size="0.2" {seen} group="2"/><geom size="0.9" {seen} group="4"/>'),
        body("c", '<geom size="0.3" contype="0"/>'),
        body("d", f'<geom size="0.4" {seen} group="5"/>'),
    )
    expected = {"a": 0.1, "b": 0.2, "c": 0.3}
    assert found.keys() == expected.keys()
    for name, radius in expected.items():
        assert found[name] == pytest.approx(radius, rel=0.03)


def test_excluded_bodies_are_not_checked():
    bodies = [
        f'<body name="{name}" pos="{x} 0 0"><joint/><geom size="0.1"/></body>'
        for x, name in enumerate("abc")
    ]
    text = (
        f"<mujoco><worldbody>{''.join(bodies)}</worldbody>"
        '<contact><exclude body1="c" body2="a"/></contact></mujoco>'
    )
    shape = MjcfShapes(text, 0.1).for_robot(Robot.from_mjcf(text).model)
    assert (1, 3, "disabled") in shape.skipped


@pytest.mark.parametrize("moves", [False, True])
def test_a_height_field_is_left_out_with_a_warning_if_it_moves(moves, recwarn):
    field = '<geom type="hfield" hfield="h"/>'
    ball = '<geom size="0.1"/>'
    text = (
        '<mujoco><asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/></asset><worldbody>'
        f"{'' if moves else field}{body('a', ball + (field if moves else ''))}</worldbody></mujoco>"
    )
    shape = MjcfShapes(text, 0.1).for_robot(Robot.from_mjcf(text).model)
    assert shape.names[:2] == ("", "a")
    assert [str(each.message).split(":")[0] for each in recwarn] == [
        "the hfield of the body 'a' is not checked for collisions"
    ] * moves


def test_objects_are_not_part_of_the_robot():
    found = radii(
        body("arm", '<geom size="0.1"/>'),
        '<body name="cup" pos="0 0 2"><freejoint/><geom size="0.3"/></body>',
    )
    assert found.keys() == {"arm"}


def test_a_model_without_geoms_and_a_padding_that_is_wrong(robot):
    text = (
        '<mujoco><worldbody><body name="a"><joint name="j"/><inertial mass="1" pos="0 0 0" '
        'diaginertia="1 1 1"/></body></worldbody></mujoco>'
    )
    message = "the MJCF model has no solid geoms: expected at least one in its bodies."
    with pytest.raises(InvalidInputError, match=f"^{re.escape(message)}"):
        MjcfShapes(text).for_robot(Robot.from_mjcf(text).model)
    with pytest.raises(InvalidInputError, match=r"^padding is 0.0001 m: expected 0.001 to 0.5."):
        MjcfShapes(ARM, 0.0001).for_robot(robot.model)


def test_an_open_mesh_is_covered_with_a_warning():
    faces = "0 2 1  0 1 3  0 3 2"  # without the one opposite to the origin
    text = ARM.replace(f'vertex="{TETRAHEDRON}"', f'vertex="{TETRAHEDRON}" face="{faces}"')
    text = text.replace('<mesh name="wedge"', '<mesh name="wedge" inertia="shell"')
    with pytest.warns(GeometryWarning, match=r"^the mesh of the body 'hand' is not closed"):
        MjcfShapes(text, PADDING).for_robot(Robot.from_mjcf(text).model)
