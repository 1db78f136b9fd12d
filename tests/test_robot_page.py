"""The page of a robot without a browser: what is drawn, and where."""

from functools import partial
from io import BytesIO

import numpy as np
import pytest
import trimesh
import yourdfpy

from jointwise import Chain, JointwiseError, Robot
from jointwise.cli.commands.view import _file_with_meshes, _title
from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.model import data
from jointwise.model.arm import arm_model
from jointwise.model.tree_poses import joint_poses
from jointwise.view import Page
from jointwise.view.graphics import meshes, shapes
from jointwise.view.graphics.joint_frames import JointFrames
from jointwise.view.graphics.target_gizmo import pose_matrix
from jointwise.view.graphics.tree_shapes import link_parts
from jointwise.view.server import free_port, open_server
from testbed.random_trees import random_tree
from tests.support.two_arms import two_arms

TWO_ARMS = Robot.from_urdf(two_arms())


@pytest.fixture
def scene():
    """The scene of a server without visitors."""
    server = open_server("127.0.0.1", free_port("127.0.0.1", 0), "robot")
    yield server.scene
    server.stop()


@pytest.mark.parametrize("seed", range(4))
def test_nodes_of_the_scene_are_where_forward_kinematics_has_the_bodies(scene, seed):
    robot = random_tree(seed, joints=12)
    tree, q = robot.model.tree, robot.random(seed)
    prismatic = tree.kinds == PRISMATIC
    frames = JointFrames(scene, "/robot", tree.placements, tree.parents.tolist(), prismatic)
    frames.move(tree.ratios * q[tree.variables] + tree.offsets)
    poses = {-1: np.eye(4)}
    for body, (parent, handle) in enumerate(zip(tree.parents, frames._handles, strict=True)):
        poses[body] = poses[parent] @ pose_matrix(handle.wxyz, handle.position)
        assert poses[body] == pytest.approx(joint_poses(tree, q[None])[0, body], abs=1e-9)


@pytest.mark.parametrize("robot", [TWO_ARMS, random_tree(3)], ids=["two arms", "random"])
def test_every_link_is_drawn_from_its_origin_to_the_joints_that_it_carries(robot):
    parts = [part for part in link_parts(robot) if part.role == "link"]
    assert {part.link for part in parts} == set(robot.link_names)
    q = np.where(robot.prismatic, 0.0, robot.random(1))
    poses, size = robot.fk(q), 0.0
    bodies = np.concatenate([joint_poses(robot.model.tree, q[None])[0], np.eye(4)[None]])
    for part in parts:
        drawn = trimesh.transform_points(part.mesh.vertices, bodies[part.joint])
        children = [k for k, place in robot.model.links.items() if place.parent == part.link]
        for corner in (part.link, *children):
            if not robot.mimics:  # a mimic prismatic joint may have an offset
                size = max(size, np.linalg.norm(drawn - poses[corner][:3, 3], axis=1).min())
    assert size < 0.03


def test_the_rail_of_a_prismatic_joint_spans_its_range():
    parts = link_parts(TWO_ARMS)
    rails = {part.link: part.mesh.bounds for part in parts if part.role == "rail"}
    assert rails.keys() == {"base", "left_6"}
    assert rails["base"][:, 2] == pytest.approx([0.5, 0.8])  # of the lift
    assert np.ptp(rails["left_6"], axis=0).max() == pytest.approx(0.1)  # of both jaws


def test_meshes_of_links_are_where_another_reader_has_them():
    file = data.example_files()["panda"]
    robot = Robot.from_urdf(file)
    carried = meshes.load_meshes(robot, file)
    q = np.random.default_rng(2).uniform(*robot.limits.T)
    find = partial(yourdfpy.filename_handler_magic, dir=file.parent)
    reference = yourdfpy.URDF.load(file, filename_handler=find)
    reference.update_cfg(dict(zip(robot.joint_names, q, strict=True)))
    frames = shapes.carrying_frames(robot, q)
    bounds = [
        trimesh.load(BytesIO(mesh.glb), file_type="glb").apply_transform(frames[mesh.joint]).bounds
        for mesh in carried
    ]
    drawn = np.array([np.min(bounds, axis=0)[0], np.max(bounds, axis=0)[1]])
    assert drawn == pytest.approx(reference.scene.bounds, abs=1e-5)


def test_without_meshes_a_robot_is_drawn_from_its_joints_and_the_note_tells_so(tmp_path):
    file = tmp_path / "bare.urdf"
    file.write_text(two_arms())
    with Page(TWO_ARMS, "bare", port=0, urdf=file) as page:
        assert page.note == (
            "The robot is drawn from its joints, without meshes: no meshes were found around "
            "bare.urdf."
        )
    with pytest.raises(JointwiseError, match=r"the links of bare\.urdf are not those of the robot"):
        meshes.load_meshes(Robot.load("ur5e"), file)


MJCF = """<mujoco model="digger"><compiler angle="radian"/>
<asset><material name="steel" rgba="0.2 0.4 0.6 1"/></asset>
<worldbody><geom type="plane" size="1 1 1"/><body name="arm" pos="0.1 0 0.2" euler="0.3 0 0">
<joint name="turn" range="-2 2"/>
<geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0" material="steel"/>
<geom type="sphere" size="0.5" group="3"/>
<body name="stick" pos="0.3 0 0"><joint name="slide" type="slide" axis="1 0 0" range="0 0.5"/>
<geom type="capsule" fromto="0 0 0 0.3 0 0.1" size="0.02" rgba="1 0 0 1"/>
<site name="bucket" pos="0.3 0 0.1"/></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("facade", [Robot, Chain])
def test_geoms_are_drawn_where_mujoco_has_them(tmp_path, facade):
    mujoco = pytest.importorskip("mujoco")
    file = tmp_path / "scene.xml"
    file.write_text(MJCF)
    model, q = facade.load(file), np.array([0.7, 0.2])
    carried = meshes.load_meshes(model, file)
    assert [mesh.joint for mesh in carried] == [0, 1]
    assert [mesh.link for mesh in carried] == (
        ["arm", "stick"] if facade is Robot else [None, None]
    )
    compiled = mujoco.MjModel.from_xml_path(str(file))
    state = mujoco.MjData(compiled)
    state.qpos[:] = q
    mujoco.mj_kinematics(compiled, state)
    frames = shapes.carrying_frames(model, q)
    for mesh, geom in zip(carried, (1, 3), strict=True):
        drawn = trimesh.load(BytesIO(mesh.glb), file_type="glb")
        (part,) = drawn.geometry.values()
        colour = part.visual.material.baseColorFactor
        expected = [51, 102, 153, 255] if geom == 1 else [255, 0, 0, 255]
        assert np.abs(np.array(colour, int) - expected).max() <= 1
        middle = drawn.apply_transform(frames[mesh.joint]).to_mesh().bounding_box_oriented
        assert middle.centroid == pytest.approx(state.geom_xpos[geom], abs=2e-3)


def test_a_page_of_mjcf_is_titled_by_its_model(tmp_path):
    pytest.importorskip("mujoco")
    file = tmp_path / "scene.xml"
    for text, title in ((MJCF, "digger"), (MJCF.replace(' model="digger"', ""), str(file))):
        file.write_text(text)
        for facade in (Robot, Chain):
            assert _title(str(file), facade.load(file)) == title
    assert _file_with_meshes(str(file)) == str(file)
    assert _title("panda", Robot.load("panda")) == "panda"


def test_named_arms_are_drawn_with_the_meshes_of_example_robot_data(capsys):
    assert _file_with_meshes("ur5e") is None
    assert capsys.readouterr().out == ""
    for name in ("panda", "xarm7", "so101"):
        file = _file_with_meshes(name)
        assert capsys.readouterr().out.startswith(f"{name} is drawn with its meshes from the pack")
        carried = meshes.load_meshes(Chain.load(name), file)
        assert {mesh.joint for mesh in carried} >= {*range(Chain.load(name).n - 1)}


def test_meshes_of_an_arm_that_moves_otherwise_are_refused():
    file = data.example_files()["panda"]
    panda = Chain.load("panda")
    links = panda.arm.links.copy()
    links[3, :, 3] += 0.1
    other = Chain._from_arm(arm_model(links, panda.prismatic, panda.limits), panda.joint_names)
    with pytest.raises(JointwiseError, match=r"the joints of panda.urdf do not move like those of"):
        meshes.load_meshes(other, file)
