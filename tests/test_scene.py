"""Scenes: distances are exact, input is checked, files give the same scene again."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import InvalidInputError, Scene
from jointwise.scene.half_space import EDGE
from jointwise.scene.scene import numbered_names
from tests.support import collision_twin as twin
from tests.support.examples import examples
from tests.support.scenes import everything

NUMBERS = st.integers(0, 10_000)
BALL = Scene().sphere(0.1, name="ball")["ball"]
NO_SIZE = "no size named 'radios' in the sphere 'ball'; did you mean 'radius'? Sizes: radius."
TEXT_FILE = io.StringIO("[[sphere]]\nradius = 1")
EXPECTED_FILE = "expected a path, or a file opened in binary mode, such as open(path, 'rb')."


def reference(scene, points):
    return np.array([min(twin.obstacle(point, each) for each in scene) for point in points])


@given(seed=NUMBERS)
def test_distances_are_those_of_the_twin(seed):
    scene, points = everything(seed), np.random.default_rng(seed).uniform(-1.0, 1.0, (20, 3))
    for obstacle in scene:
        alone = Scene((obstacle,))
        assert alone.distance(points) == pytest.approx(reference(alone, points), abs=1e-10)
    assert scene.distance(points) == pytest.approx(reference(scene, points), abs=1e-10)


def test_many_obstacles_of_a_kind_fill_several_blocks():
    scene, centres = Scene(), np.random.default_rng(0).uniform(-1.0, 1.0, (19, 3))
    for centre in centres:
        scene = scene.sphere(0.1, centre).cylinder(0.05, 0.2, np.add(centre, [0.0, 0.0, 0.3]))
    points = np.random.default_rng(1).uniform(-1.0, 1.0, (50, 3))
    assert scene.distance(points) == pytest.approx(reference(scene, points), abs=1e-10)
    assert [name for name in numbered_names(scene) if name[:1] == "s"] == [
        f"sphere{i}" for i in range(1, 20)
    ]


def test_one_point_gives_a_number_and_an_empty_scene_is_infinitely_far():
    assert Scene().sphere(0.5).distance([2.0, 0.0, 0.0]) == 1.5
    assert Scene().distance([2.0, 0.0, 0.0]) == np.inf
    assert Scene().distance(np.zeros((2, 3))).tolist() == [np.inf, np.inf]


@given(seed=NUMBERS)
def test_the_distance_from_points_is_never_too_large(seed):
    rng = np.random.default_rng(seed)
    cloud, voxel = rng.uniform(-0.3, 0.3, (rng.integers(1, 40), 3)), rng.uniform(0.05, 0.1)
    scene, points = Scene.from_points(cloud, voxel), rng.uniform(-0.8, 0.8, (50, 3))
    exact = np.linalg.norm(points[:, None] - cloud[None], axis=2).min(axis=1)
    found = scene.distance(points)
    assert (found <= exact + 1e-12).all()
    inside = ((points >= cloud.min(axis=0)) & (points <= cloud.max(axis=0))).all(axis=1)
    assert (found[inside] >= exact[inside] - np.sqrt(3.0) * voxel).all()


def test_a_closed_mesh_is_solid():
    from jointwise.shape.solids.primitives import box

    mesh = box(np.array([0.4, 0.3, 0.2]))
    scene = Scene.from_mesh((mesh.vertices, mesh.faces), [0.1, 0.0, 0.0], voxel=0.02, name="block")
    points = np.random.default_rng(0).uniform(-0.4, 0.4, (200, 3))
    exact = Scene().box([0.4, 0.3, 0.2], [0.1, 0.0, 0.0]).distance(points)
    found = scene.distance(points)
    assert (found <= exact + 1e-9).all()
    inside_the_grid = np.abs(exact) < 0.08
    assert (found[inside_the_grid] >= exact[inside_the_grid] - 0.06).all()
    assert scene.distance([0.1, 0.0, 0.0]) < -0.08


@pytest.mark.parametrize("seed", range(3))
def test_a_file_gives_the_same_scene_again(tmp_path, seed):
    scene, points = everything(seed), np.random.default_rng(seed).uniform(-1.0, 1.0, (50, 3))
    file = tmp_path / "scene.toml"
    scene.to_toml(file)
    again = Scene.from_toml(file)
    assert sorted(again.names) == sorted(scene.names)
    assert again.distance(points) == pytest.approx(scene.distance(points), abs=1e-11)


def test_a_urdf_gives_its_collision_shapes(tmp_path):
    text = """<robot name="cell"><link name="world"/>
    <link name="table"><collision><origin xyz="0 0 -0.1"/><geometry><box size="1 2 0.2"/></geometry>
    </collision><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
    <joint name="j" type="fixed"><parent link="world"/><child link="table"/>
    <origin xyz="0.5 0 0"/></joint></robot>"""
    scene = Scene.from_urdf(text, [0.0, 0.0, 0.3])
    assert scene.names == ("table", "table#2")
    assert scene.distance([0.5, 0.0, 0.6]) == pytest.approx(0.2)
    assert scene.distance([0.5, 1.5, 0.2]) == pytest.approx(0.5)


def test_a_name_that_is_given_to_an_obstacle_is_a_free_one():
    scene = Scene().sphere(0.1).sphere(0.2).without("sphere1").sphere(0.3).sphere(0.4)
    assert scene.names == ("sphere2", "sphere3", "sphere4")


def test_a_file_keeps_any_name(tmp_path):
    name = 'a "quoted" \\ name\nin two lines, höher 😀'
    Scene().sphere(0.1, name=name).to_toml(tmp_path / "scene.toml")
    assert Scene.from_toml(tmp_path / "scene.toml").names == (name,)


def test_scenes_are_added_and_obstacles_left_out():
    both = Scene().box([1, 1, 1]) + Scene().sphere(0.2, [3, 0, 0], name="ball")
    assert repr(both) == "<Scene of 2 obstacles: box1, ball>"
    assert both.without("box1").names == ("ball",)
    assert both["ball"].kind == "sphere"
    assert len(both) == 2


def test_a_scene_is_made_of_any_sequence():
    assert Scene([BALL]).box([1, 1, 1]).names == ("ball", "box1")
    assert Scene([BALL]).obstacles == (BALL,)


def test_what_leaves_a_scene_is_read_only():
    size = np.array([1.0, 1.0, 1.0])
    box = Scene().box(size)["box1"]
    size[0] = 5.0
    assert box.sizes() == {"size": [1.0, 1.0, 1.0]}
    for array in (box.pose, box.size):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


def test_a_half_space_is_exact_far_away():
    floor = Scene().half_space([0, 0, 1], -0.2)
    assert floor.distance([300.0, -200.0, 1.0]) == pytest.approx(1.2, abs=1e-10)
    assert floor.distance([0.0, 0.0, -100.0]) == pytest.approx(-99.8, abs=1e-10)
    assert EDGE >= 1e4


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: Scene().box([1.0, 0.0, 1.0]),
            "size is [1.0, 0.0, 1.0]: expected three edges above zero [m]. For a flat obstacle, "
            "pass its thickness.",
        ),
        (lambda: Scene().box([1.0, 2.0]), "size has shape (2,): expected (3,), three edges [m]."),
        (lambda: Scene().sphere(-1.0), "radius is -1.0: expected a number above zero."),
        (
            lambda: Scene().cylinder(0.1, float("nan")),
            "length is nan: expected a finite number below 1e9.",
        ),
        (
            lambda: Scene().half_space([0, 0, 0]),
            "normal is [0, 0, 0]: expected (3,), the direction out of the half-space, such as "
            "[0, 0, 1] for a floor.",
        ),
        (
            lambda: Scene().sphere(1, name="a").sphere(1, name="a"),
            "name is 'a', which is taken: choose another.",
        ),
        (
            lambda: Scene.from_points([[0.0, 0.0, 1.0], [np.nan, 0.0, 0.0]]),
            "cloud[1] is [nan, 0.0, 0.0]: expected finite numbers. Leave out points without a "
            "measurement, cloud[np.isfinite(cloud).all(axis=1)].",
        ),
        (
            lambda: Scene.from_points(np.zeros((0, 3))),
            "cloud has shape (0, 3): expected (k, 3), at least one point [m].",
        ),
        (
            lambda: Scene.from_points([[0.0, 0.0, 0.0], [50.0, 50.0, 50.0]], voxel=0.01),
            "voxel is 0.01: the grid would have 1.3e+11 cells, expected at most 3.2e+07. Use a "
            "larger voxel, or leave out far points.",
        ),
        (
            lambda: Scene.from_mesh((np.eye(3), [[0, 1, 2]])),
            "the mesh 'mesh' is not closed (3 edges with a triangle on one side only): expected a "
            "closed surface. Repair it, or use its vertices as a point cloud.",
        ),
        (
            lambda: Scene.from_points(np.zeros((1, 3))).to_toml(),
            "'points' is a grid of distances, which a scene file cannot hold: expected boxes, "
            "spheres, cylinders, capsules and half-spaces. Save its points in a file of their "
            "own.",
        ),
        (lambda: Scene()["a"], "no obstacle is named 'a': expected one of none."),
        (
            lambda: Scene().distance([1.0, 2.0]),
            "points has shape (2,): expected (3,) or (k, 3).",
        ),
        *(
            (
                lambda faces=faces: Scene.from_mesh((np.eye(3), faces)),
                f"triangles has {found}: expected (m, 3), indices of vertices from 0 to 2.",
            )
            for faces, found in (
                ([], "shape (0,)"),
                ([[0, 1]], "shape (1, 2)"),
                ([[0, 1, 3]], "3"),
                ([[0, 1, -1]], "-1"),
                ([[0, 1, 1.5]], "1.5"),
            )
        ),
        (lambda: Scene.from_mesh("missing.stl"), "mesh is 'missing.stl': expected a file."),
        *(
            (lambda offset=offset: Scene().half_space([0, 0, 2], offset, name="wall"), text)
            for offset, text in (
                (5001, "the plane of 'wall' is 5001 m from the origin: expected 5000 m at most."),
                (-2e4, "the plane of 'wall' is 20000 m from the origin: expected 5000 m at most."),
            )
        ),
        (
            lambda: Scene().half_space([0, 0, 1])["half_space1"].at([0, 9e3, 0]),
            "the plane of 'half_space1' is 9000 m from the origin: expected 5000 m at most.",
        ),
        (lambda: Scene().sphere(1, name=3), "name is 3: expected a string that is not empty."),
        (lambda: Scene().sphere(1, name=""), "name is '': expected a string that is not empty."),
        (
            lambda: Scene.from_mesh((np.eye(3), [[0, 1, 2], [2, 1, 0]]), voxel=0.2, name=""),
            "name is '': expected a string that is not empty.",
        ),
        (
            lambda: Scene((BALL, BALL)),
            "obstacles has the name 'ball' twice: expected a unique name for each.",
        ),
        (
            lambda: Scene(BALL),
            "obstacles is <sphere 'ball'>: expected a sequence of obstacles.",
        ),
        (
            lambda: Scene(["ball"]),
            "obstacles has 'ball': expected obstacles. Add them with Scene().box(...) and "
            "the like.",
        ),
        (
            lambda: Scene((BALL,)).replaced("ball"),
            "obstacle is 'ball': expected an obstacle, such as scene[name].at(pose).",
        ),
        (lambda: BALL.resized(radios=1), NO_SIZE),
        (
            lambda: Scene().half_space([0, 0, 1], name="floor")["floor"].resized(height=1),
            "no size named 'height' in the half_space 'floor'. Sizes: normal, offset.",
        ),
        (
            lambda: Scene.from_points(np.zeros((1, 3)))["points"].resized(voxel=0.1),
            "'points' is a grid of distances, which cannot be resized: make it again from its "
            "points or its mesh.",
        ),
        (lambda: Scene.from_toml(None), f"source is None: {EXPECTED_FILE}"),
        (lambda: Scene.from_toml(TEXT_FILE), f"source is {TEXT_FILE!r}: {EXPECTED_FILE}"),
    ],
)
def test_bad_scenes_are_refused(make, text):
    with pytest.raises(InvalidInputError) as error:
        make()
    assert str(error.value) == text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (
            "[[ball]]\nradius = 1",
            "s.toml has 'ball': expected tables [[box]], [[sphere]], [[cylinder]], [[capsule]], "
            "[[half_space]].",
        ),
        (
            "[[box]]\nname = 'a'\nedges = [1, 1, 1]",
            "s.toml, [[box]] 'a' has the keys name, edges: expected name, size, xyz, rpy.",
        ),
        (
            "[[box]]\nsize = [1, 1, 1]\npose = [1, 0, 0]",
            "s.toml, [[box]] 'box1' has the keys size, pose: expected name, size, xyz, rpy.",
        ),
        (
            "[[sphere]]\nradius = 1\nposition = [1, 0, 0]",
            "s.toml, [[sphere]] 'sphere1' has the keys radius, position: expected name, radius, "
            "xyz, rpy.",
        ),
        (
            "[[half_space]]\nnormal = [0, 0, 1]\nxyz = [1, 0, 0]",
            "s.toml, [[half_space]] 'half_space1' has the keys normal, xyz: expected name, normal, "
            "offset.",
        ),
        (
            "[[sphere]]\nname = ''\nradius = 1",
            "s.toml, [[sphere]] '': name is '': expected a string that is not empty.",
        ),
        (
            "[[box]]\nsize = [1, 1, 0]",
            "s.toml, [[box]] 'box1': size is [1.0, 1.0, 0.0]: expected three edges above zero [m]. "
            "For a flat obstacle, pass its thickness.",
        ),
        (
            "[[sphere]]\nname = 'a'\nradius = 1\n[[sphere]]\nname = 'a'\nradius = 1",
            "s.toml has the name 'a' twice.",
        ),
    ],
)
def test_bad_files_are_refused(tmp_path, content, text):
    file = tmp_path / "s.toml"
    file.write_text(content)
    with pytest.raises(InvalidInputError) as error:
        Scene.from_toml(file)
    assert str(error.value) == text


@examples(60)
@given(seed=st.integers(0, 10_000), voxel=st.floats(0.02, 0.3), spread=st.floats(0.0, 1.0))
def test_distances_from_a_cloud_keep_their_bounds(seed, voxel, spread):
    rng = np.random.default_rng(seed)
    cloud = rng.normal(size=3) + spread * rng.uniform(-1.0, 1.0, (12, 3))
    scene, points = Scene.from_points(cloud, voxel), rng.normal(size=3) + rng.normal(size=(300, 3))
    points = np.concatenate([points, cloud + 6.0 * voxel * rng.uniform(-1.0, 1.0, cloud.shape)])
    exact = np.linalg.norm(points[:, None] - cloud, axis=2).min(axis=1)
    found = scene.distance(points)
    assert (found <= exact + 1e-9).all()
    lower, upper = cloud.min(axis=0), cloud.max(axis=0)
    outside = np.maximum(np.maximum(lower - points, points - upper), 0.0)
    near = (outside <= 4.0 * voxel).all(axis=1)
    assert near.any()
    assert (found[near] >= exact[near] - np.sqrt(3.0) * voxel - 1e-9).all()
    enlarged = np.linalg.norm(np.maximum(outside - 5.0 * voxel, 0.0), axis=1)
    beyond = enlarged > 0.0
    assert (found[beyond] >= enlarged[beyond] - 1e-9).all()
