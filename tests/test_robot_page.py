"""The page of a robot without a browser: what is drawn, and where."""

from functools import partial
from io import BytesIO

import numpy as np
import pytest
import trimesh
import yourdfpy

from jointwise import JointwiseError, Robot
from jointwise.kernels.layout.arm import PRISMATIC
from jointwise.model import data
from jointwise.model.tree_poses import joint_poses
from jointwise.view import Page
from jointwise.view.graphics import meshes, shapes
from jointwise.view.graphics.joint_frames import JointFrames
from jointwise.view.graphics.target_gizmo import pose_matrix
from jointwise.view.graphics.tree_shapes import link_parts
from jointwise.view.server import free_port, open_server
from tests.support.random_trees import random_tree
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
