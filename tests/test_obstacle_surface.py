"""The surfaces of obstacles in pictures, and obstacles that are moved and resized."""

import numpy as np
import pytest
import trimesh

from jointwise import InvalidInputError, Scene
from jointwise.model.rotation import rpy_matrix

POSE = np.eye(4)
POSE[:3, :3] = rpy_matrix(np.array([0.3, -0.5, 1.1]))
POSE[:3, 3] = 0.4, -0.2, 0.6
SOLID = (
    Scene()
    .box([0.2, 0.3, 0.4], POSE, name="box")
    .sphere(0.2, POSE, name="sphere")
    .cylinder(0.1, 0.5, POSE, name="cylinder")
    .capsule(0.1, 0.5, POSE, name="capsule")
    .half_space([1.0, 2.0, 3.0], 0.4, name="floor")
)
TORUS = trimesh.creation.torus(0.4, 0.1)


def sampled(obstacle, count=2000):
    """(k, 3) points of the surface, base frame [m]."""
    mesh = trimesh.Trimesh(*obstacle.surface().moved(obstacle.pose), process=False)
    return mesh.sample(count, seed=1)


@pytest.mark.parametrize("name", SOLID.names)
def test_the_surface_of_an_obstacle_is_where_its_distance_is_zero(name):
    distances = Scene((SOLID[name],)).distance(sampled(SOLID[name]))
    assert np.abs(distances).max() < 0.003  # of a polyhedron around a sphere


@pytest.mark.parametrize("name", ["box", "sphere", "cylinder", "capsule"])
def test_the_surface_of_a_solid_is_closed_and_faces_outward(name):
    mesh = trimesh.Trimesh(*SOLID[name].surface())
    assert mesh.is_watertight
    assert mesh.volume > 0.0


@pytest.mark.parametrize(
    "scene",
    [
        Scene.from_mesh((TORUS.vertices, TORUS.faces), POSE, voxel=0.02),
        Scene.from_points(np.random.default_rng(3).normal(size=(40, 3)), voxel=0.05),
    ],
    ids=["mesh", "points"],
)
def test_the_surface_of_a_grid_is_closed_and_near_its_level(scene):
    (grid,) = scene.obstacles
    mesh = trimesh.Trimesh(*grid.surface())
    assert mesh.is_watertight
    assert mesh.volume > 0.0
    # Distances are too small by the diagonal of a cell at most.
    assert np.abs(scene.distance(sampled(grid))).max() < np.sqrt(3.0) * grid.voxel


def test_the_surface_of_a_grid_is_around_every_point():
    cloud = np.random.default_rng(3).normal(size=(40, 3))
    (grid,) = Scene.from_points(cloud, voxel=0.05).obstacles
    mesh = trimesh.Trimesh(*grid.surface().moved(grid.pose))
    nearest = np.linalg.norm(mesh.vertices[:, None] - cloud, axis=2).min(axis=0)
    assert nearest.max() < np.sqrt(3.0) * grid.voxel


@pytest.mark.parametrize("name", SOLID.names)
def test_an_obstacle_that_is_moved_has_the_distances_of_its_new_pose(name):
    moved, points = SOLID[name].at(POSE), sampled(SOLID[name], 20) + 0.1
    in_own_frame = np.linalg.inv(SOLID[name].pose)
    there = points @ in_own_frame[:3, :3].T + in_own_frame[:3, 3]
    there = there @ POSE[:3, :3].T + POSE[:3, 3]
    expected = Scene((SOLID[name],)).distance(points)
    assert Scene((moved,)).distance(there) == pytest.approx(expected, abs=1e-9)
    assert not moved.pose.flags.writeable


def test_an_obstacle_that_is_resized_stays_where_it_is():
    for name, sizes in {
        "box": {"size": [0.1, 0.1, 0.2]},
        "sphere": {"radius": 0.4},
        "cylinder": {"length": 0.9},
        "capsule": {"radius": 0.3, "length": 0.1},
    }.items():
        resized = SOLID[name].resized(**sizes)
        assert resized.sizes() == SOLID[name].sizes() | sizes
        assert (resized.pose == SOLID[name].pose).all()
    floor = SOLID["floor"].resized(offset=1.0)
    assert floor.sizes()["offset"] == pytest.approx(1.0)
    with pytest.raises(InvalidInputError, match=r"size is .*: expected three edges above zero"):
        SOLID["box"].resized(size=[0.1, 0.0, 0.1])


def test_a_grid_is_moved_but_not_rotated():
    scene = Scene.from_points([[0.5, 0.0, 0.0]], voxel=0.02)
    (grid,) = scene.obstacles
    shift = grid.pose.copy()
    shift[:3, 3] += 0.3
    assert Scene((grid.at(shift),)).distance([1.3, 0.3, 0.3]) == pytest.approx(
        scene.distance([1.0, 0.0, 0.0]), abs=1e-9
    )
    with pytest.raises(InvalidInputError) as caught:
        grid.at(POSE)
    assert str(caught.value) == (
        "'points' is a grid of distances, which cannot be rotated: expected a pose "
        "with its present rotation. Rotate its points or its mesh instead."
    )
