"""Meshes as obstacles: solid however their triangles are turned, and at the pose that is given."""

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from jointwise import Chain, InvalidInputError, Scene
from jointwise.scene import mesh_distances
from jointwise.shape.fitting import winding
from jointwise.shape.solids import primitives
from jointwise.shape.solids.mesh import Mesh
from jointwise.shape.solids.orientation import is_oriented, oriented
from jointwise.view.session import Session
from testbed.geometry_arms import write_stl
from tests.support.examples import examples

CUBE = primitives.box(np.full(3, 0.4))
POSE = np.eye(4)
POSE[:3, :3] = Rotation.from_euler("xyz", [0.4, -0.7, 1.1]).as_matrix()
POSE[:3, 3] = [0.5, -0.1, 0.3]
POINTS = np.random.default_rng(0).uniform(-0.6, 0.6, (300, 3))


def joined(*meshes):
    """One mesh of several, whose triangles are not changed."""
    firsts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    faces = [mesh.faces + first for mesh, first in zip(meshes, firsts, strict=False)]
    return Mesh(np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(faces))


def flipped(mesh, which=slice(None)):
    faces = mesh.faces.copy()
    faces[which] = faces[which][:, ::-1]
    return Mesh(mesh.vertices, faces)


def moved(mesh, *position):
    return Mesh(mesh.vertices + np.array(position), mesh.faces)


def distances(mesh, points=POINTS):
    return Scene.from_mesh(tuple(mesh), voxel=0.05).distance(points)


@examples(20)
@given(st.sets(st.integers(0, len(CUBE.faces) - 1)))
def test_a_mesh_is_solid_however_its_triangles_are_turned(which):
    mesh = flipped(CUBE, sorted(which))
    assert np.array_equal(distances(mesh), distances(CUBE))
    assert is_oriented(oriented(mesh))


@pytest.mark.parametrize("first", [CUBE, flipped(CUBE), flipped(CUBE, [2, 5])])
@pytest.mark.parametrize("turn", [slice(None), slice(0), [0], [1, 4, 7]])
def test_solids_that_overlap_are_solid_however_each_is_turned(first, turn):
    second = moved(CUBE, 0.2, 0.1, 0.1)
    found = distances(joined(first, flipped(second, turn)))
    assert np.array_equal(found, distances(joined(CUBE, second)))
    assert Scene.from_mesh(tuple(joined(first, flipped(second, turn)))).distance([0.1] * 3) < 0.0


@pytest.mark.parametrize("turned", [False, True])
def test_a_room_is_empty_inside(turned):
    room = joined(CUBE, flipped(primitives.box(np.full(3, 0.3))))
    room = flipped(room) if turned else room
    assert distances(room, np.zeros(3)) > 0.05
    assert distances(room, np.array([0.17, 0.0, 0.0])) < 0.0


def test_solids_that_touch_along_an_edge_are_left_as_they_are():
    two = joined(CUBE, moved(CUBE, 0.4, 0.4, 0.0))
    assert is_oriented(two)
    assert np.array_equal(oriented(two).faces, two.faces)
    assert distances(two, np.array([0.4, 0.4, 0.0])) < 0.0


def klein_bottle(n=7):
    """A closed surface without an inside; n is odd, or points of it would coincide."""
    u, v = (angles.ravel() for angles in np.meshgrid(*[np.arange(n) * 2 * np.pi / n] * 2))
    radius = 1.0 + 0.4 * (np.cos(u / 2) * np.sin(v) - np.sin(u / 2) * np.sin(2 * v))
    height = 0.4 * (np.sin(u / 2) * np.sin(v) + np.cos(u / 2) * np.sin(2 * v))
    vertices = np.stack([radius * np.cos(u), radius * np.sin(u), height], axis=1)

    def corner(i, j):  # once around, v changes its sign
        return (j % n if i < n else -j % n) * n + i % n

    quads = [
        [corner(i + a, j + b) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
        for i in range(n)
        for j in range(n)
    ]
    return Mesh(vertices, np.array([q[k:] + q[:1] if k else q[:3] for q in quads for k in (0, 2)]))


def test_a_surface_without_an_inside_is_refused():
    bottle = klein_bottle()
    assert bottle.open_edges == 0
    with pytest.raises(InvalidInputError) as error:
        Scene.from_mesh(tuple(bottle), name="bottle", voxel=0.1)
    assert str(error.value) == (
        "the mesh 'bottle' has no inside, because its triangles cannot all face outward: expected "
        "the surface of a solid. Repair it, or use its vertices as a point cloud."
    )


# Grids and their poses


@pytest.mark.parametrize("pose", [None, [0.5, 0.0, 0.3], POSE])
def test_a_mesh_at_the_pose_that_it_was_made_with_is_where_it_was(pose):
    scene = Scene.from_mesh(tuple(CUBE), pose, voxel=0.05, name="cube")
    again = scene.replaced(scene["cube"].at(np.eye(4) if pose is None else pose))
    assert np.array_equal(again.distance(POINTS), scene.distance(POINTS))


def test_a_mesh_is_moved_as_a_box_is():
    scene = Scene.from_mesh(tuple(CUBE), POSE, voxel=0.05, name="cube")
    pose = scene["cube"].pose.copy()
    pose[:3, 3] = [-0.2, 0.3, 0.1]
    there = scene.replaced(scene["cube"].at(pose))
    exact = Scene().box([0.4] * 3, pose).distance(POINTS)
    found = there.distance(POINTS)
    assert (found <= exact + 1e-9).all()
    near = np.abs(exact) < 0.15
    assert (found[near] >= exact[near] - 0.15).all()
    surface = there["cube"].surface()
    assert np.abs(surface.vertices).max() < 0.2 + 3 * 0.05
    assert np.abs(there.distance(surface.moved(pose).vertices)).max() < 0.1


def test_points_are_moved_by_the_position():
    scene = Scene.from_points([[0.5, 0.0, 0.0], [0.6, 0.1, 0.2]])
    assert np.array_equal(scene["points"].pose, np.eye(4))
    there = scene.replaced(scene["points"].at([0.1, 0.2, 0.3]))
    expected = scene.distance(POINTS)
    assert there.distance(np.add(POINTS, [0.1, 0.2, 0.3])) == pytest.approx(expected, abs=1e-9)


def test_a_grid_of_a_urdf_has_the_pose_of_its_link(tmp_path):
    write_stl(tmp_path / "cube.stl", CUBE.vertices[CUBE.faces])
    (tmp_path / "cell.urdf").write_text(
        '<robot name="cell"><link name="crate"><collision><origin xyz="0.5 0 0.3"/><geometry>'
        '<mesh filename="cube.stl"/></geometry></collision></link></robot>'
    )
    (crate,) = Scene.from_urdf(tmp_path / "cell.urdf", [0.0, 0.1, 0.0])
    assert crate.pose[:3, 3] == pytest.approx([0.5, 0.1, 0.3])


def test_a_grid_on_the_page_is_moved_and_not_rotated():
    scene = Scene.from_mesh(tuple(CUBE), POSE, voxel=0.05, name="cube")
    session = Session(Chain.load("panda").with_scene(scene))
    session.obstacles.select("cube")
    session.obstacles.move(position=[0.6, 0.5, 0.4])
    assert session.obstacles.obstacle.pose[:3, 3] == pytest.approx([0.6, 0.5, 0.4])
    dragged = session.obstacles.obstacle.pose.astype(np.float32).astype(float)  # as from a browser
    session.obstacles.move(dragged)
    assert np.array_equal(session.obstacles.obstacle.pose[:3, :3], scene["cube"].pose[:3, :3])
    with pytest.raises(InvalidInputError) as error:
        session.obstacles.move(rpy=[0.0, 0.0, 0.0])
    assert str(error.value) == (
        "'cube' is a grid of distances, which cannot be rotated: expected a pose with its "
        "present rotation. Rotate its points or its mesh instead."
    )


# Files


@pytest.mark.filterwarnings("error")
def test_an_open_mesh_is_refused_without_a_word_about_spheres(tmp_path):
    write_stl(tmp_path / "part.stl", CUBE.vertices[CUBE.faces][:-1])
    with pytest.raises(InvalidInputError) as error:
        Scene.from_mesh(tmp_path / "part.stl")
    assert str(error.value) == (
        "the mesh 'part' is not closed (3 edges with a triangle on one side only): expected a "
        "closed surface. Repair it, or use its vertices as a point cloud."
    )


def test_a_missing_mesh_of_a_urdf_is_named_with_advice_that_helps(tmp_path):
    (tmp_path / "cell.urdf").write_text(
        '<robot name="cell"><link name="crate"><collision><geometry><mesh filename="no.stl"/>'
        "</geometry></collision></link></robot>"
    )
    with pytest.raises(InvalidInputError) as error:
        Scene.from_urdf(tmp_path / "cell.urdf")
    assert str(error.value) == (
        "the collision shape of link 'crate' of cell.urdf cannot be used. Mesh 'no.stl' not "
        f"found at or above {tmp_path}. Copy it there, or remove the <collision> element."
    )
    with pytest.raises(InvalidInputError) as error:
        Scene.from_urdf((tmp_path / "cell.urdf").read_text())
    assert str(error.value).endswith(
        "Mesh 'no.stl' not found: the URDF was given as text, so its folder is unknown. Pass the "
        "path of the URDF."
    )


@pytest.mark.parametrize("voxel", [0.02, 0.05, 0.013])
@pytest.mark.parametrize("angle", [0.0, 0.4])
def test_cells_have_the_exact_distance_from_a_box(voxel, angle):
    """Also where the surface is exactly between the centres of cells."""
    size = np.array([0.4, 0.2, 0.1])
    pose = np.eye(4)
    pose[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    (grid,) = Scene.from_mesh(tuple(primitives.box(size)), pose, voxel)
    cells = np.moveaxis(np.indices(grid.distances.shape), 0, -1)
    centres = grid.corner + voxel * (cells + 0.5)
    expected = Scene().box(size, pose).distance(centres.reshape(-1, 3))
    np.testing.assert_allclose(grid.distances.ravel(), expected, atol=1e-9)


def test_a_grid_of_a_mesh_is_computed_in_short_steps(monkeypatch):
    """Ctrl-C is noticed between them: none grows with both the cells and the triangles."""
    steps, squares, angles = [], mesh_distances._squares, winding.np.arctan2

    def counted_squares(planes, points):
        steps.append(len(points) * len(planes.axes) - len(planes.axes))
        return squares(planes, points)

    def counted_angles(volume, product):
        steps.append(np.size(volume) - np.shape(volume)[-1])
        return angles(volume, product)

    monkeypatch.setattr(mesh_distances, "_squares", counted_squares)
    monkeypatch.setattr(winding.np, "arctan2", counted_angles)
    solid = trimesh.creation.icosphere(4, 0.2)
    scene = Scene.from_mesh((solid.vertices, solid.faces), voxel=0.02)
    assert scene.distance([0.0, 0.0, 0.0]) < 0.0
    assert len(steps) > 100
    assert max(steps) <= max(mesh_distances.MAX_TERMS, winding.MAX_TERMS)
