"""Reach maps among obstacles: what they keep, and what their pictures show."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.contour import QuadContourSet

from jointwise import Chain, Scene, reach_map
from jointwise.reach import page

ARM = Chain.load("ur5e", geometry=True)
SCENE = (
    Scene()
    .box([1.0, 1.0, 0.1], [0.2, 0.0, -0.05], name="table")
    .cylinder(0.05, 0.6, [0.5, 0.3, 0.3], name="post")
    .half_space([0, 0, 1], -0.7, name="floor")
)
CLOUD = Scene.from_points([[0.6, 0.0, 0.5], [0.6, 0.1, 0.5]], voxel=0.05, name="cloud")
REGION = ((0.2, 0.7), (-0.3, 0.3), (-0.1, 0.4))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("maps")


@pytest.fixture(scope="module")
def found(folder):
    """A map among obstacles, one of which is a grid of distances."""
    settings = {"region": REGION, "progress": False, "store": folder / "found.zarr"}
    return reach_map(ARM, 0.1, 8, **settings, scene=SCENE + CLOUD, margin=0.002)


@pytest.fixture
def drawn(found):
    """The names and the contours in a slice at a y."""

    def draw(y):
        ax = found.slice(y=y)
        contours = [each for each in ax.get_children() if isinstance(each, QuadContourSet)]
        return [text.get_text() for text in ax.texts], len(contours)

    yield draw
    plt.close("all")


def test_a_map_keeps_its_obstacles_but_not_its_point_clouds(found):
    assert found.scene.names == ("table", "post", "floor")
    points = np.random.default_rng(0).uniform(-1, 1, (50, 3))
    assert (found.scene.distance(points) == SCENE.distance(points)).all()


def test_a_map_keeps_the_spheres_of_its_arm(found):
    kept, given = found.chain.geometry, ARM.geometry
    assert (kept.body.centres == given.body.centres).all()
    assert kept.names == given.names
    q = ARM.random(seed=1, count=20)
    assert (found.chain.clearance(q, SCENE) == ARM.clearance(q, SCENE)).all()


def test_solutions_of_the_map_are_free_of_everything(found):
    q = found.dataset()["configuration"].values.reshape(-1, 6)
    q = q[~np.isnan(q[:, 0])]
    assert len(q) > 20
    assert ARM.clearance(q, SCENE + CLOUD).min() >= 0.002


def test_a_map_without_scene_has_none(folder):
    settings = {"region": ((0.4, 0.4), (0, 0), (0.3, 0.3)), "progress": False}
    bare = reach_map(ARM.with_geometry(None), 0.1, 2, **settings, store=folder / "bare.zarr")
    assert bare.scene is None
    assert bare.chain.geometry is None
    held = ARM.attach("parcel", [0.0, 0.0, 0.1], sphere=0.03)
    found = reach_map(held, 0.1, 2, **settings, store=folder / "held.zarr")
    assert found.chain.geometry is None  # a file of spheres has none that are attached


def test_a_slice_shows_what_it_cuts(drawn):
    assert drawn(0.3) == (["table", "post"], 4)  # an area and an outline of each
    assert drawn(-0.3) == (["table"], 2)


def test_best_base_of_a_map_takes_a_scene(found):
    base = np.eye(4)
    base[2, 3] = 0.0
    targets = ARM.fk(ARM.random(seed=2, count=6))
    wall = Scene().box([0.1, 3.0, 3.0], [0.3, 0.0, 0.5], name="wall")
    free, all_reached = (
        found.best_base(targets, base[None], scene=scene, self_collision=scene is not None)
        for scene in (wall, None)
    )
    assert all_reached.reached.tolist() == [6]
    assert free.reached[0] < 6


def test_the_page_shows_the_obstacles_and_hides_them(found):
    opened = page.MapPage(found, "found.zarr", "127.0.0.1", 0)
    try:
        handles = opened._obstacles
        assert len(handles) == 3
        corners = np.asarray(handles[0].vertices)
        assert np.ptp(corners, axis=0) == pytest.approx([1.0, 1.0, 0.1], abs=1e-6)
        opened._with_obstacles.value = False
        assert not any(handle.visible for handle in handles)
    finally:
        opened.server.stop()
