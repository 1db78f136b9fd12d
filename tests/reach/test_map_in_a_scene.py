"""Reach maps among obstacles: what they keep, and what their pictures show."""

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.contour import QuadContourSet

from jointwise import Chain, InvalidInputError, Scene, best_base, reach_map
from jointwise.reach import Workers, page
from jointwise.reach.chunks import REACH_CONFIG, Job, compute_chunk
from jointwise.reach.grid import grid_over
from jointwise.reach.orientations import orientation_set
from jointwise.shape.geometry import kernel_spheres

ARM = Chain.load("ur5e").with_scene()
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
    return reach_map(ARM.with_scene(SCENE + CLOUD, margin=0.002), 0.1, 8, **settings)


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
    assert (kernel_spheres(kept).centres == kernel_spheres(given).centres).all()
    assert kept.names == given.names
    q = ARM.random(seed=1, count=20)
    clearances = [arm.with_scene(SCENE).clearance(q) for arm in (found.chain, ARM)]
    assert (clearances[0] == clearances[1]).all()


def test_solutions_of_the_map_are_free_of_everything(found):
    q = found.dataset()["q"].values.reshape(-1, 6)
    q = q[~np.isnan(q[:, 0])]
    assert len(q) > 20
    assert ARM.with_scene(SCENE + CLOUD).clearance(q).min() >= 0.002


def test_a_map_without_scene_has_none(folder):
    settings = {"region": ((0.4, 0.4), (0, 0), (0.3, 0.3)), "progress": False}
    bare = reach_map(Chain.load("ur5e"), 0.1, 2, **settings, store=folder / "bare.zarr")
    assert bare.scene is None
    assert bare.chain.geometry is None
    held = ARM.attach("parcel", [0.0, 0.0, 0.1], sphere=0.03)
    found = reach_map(held, 0.1, 2, **settings, store=folder / "held.zarr")
    assert found.chain.geometry is None  # a file of spheres has none that are attached


def test_a_slice_shows_what_it_cuts(drawn):
    assert drawn(0.3) == (["table", "post"], 4)  # an area and an outline of each
    assert drawn(-0.3) == (["table"], 2)


def test_the_arm_of_a_map_has_its_shape_for_another_scene(found):
    base = np.eye(4)
    base[2, 3] = 0.0
    targets = ARM.fk(ARM.random(seed=2, count=6))
    wall = Scene().box([0.1, 3.0, 3.0], [0.3, 0.0, 0.5], name="wall")
    assert found.chain.scene is None
    free, all_reached = (
        best_base(arm, targets, base[None]) for arm in (found.chain.with_scene(wall), found.chain)
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


def test_another_scene_or_margin_is_another_map(found, folder):
    settings = {"region": REGION, "progress": False, "store": folder / "found.zarr"}
    margin = r"another map: settings\.scene\.margin is 0\.002, not 0\.0; settings\.scene\.sh"
    for arm, expected in (
        (ARM.with_scene(SCENE + CLOUD), margin),
        (ARM.with_scene(SCENE, margin=0.002), r"another map: settings\.scene\.sha256 differ"),
        (Chain.load("ur5e"), r"another map: settings\.scene differ"),
    ):
        with pytest.raises(InvalidInputError, match=expected):
            reach_map(arm, 0.1, 8, **settings)


def test_a_job_in_a_scene_is_sent_to_the_workers_of_a_cluster():
    arm = ARM.with_scene(SCENE + CLOUD, margin=0.002)
    grid = grid_over(arm.arm, 0.1, REGION, 3, 1000)
    job = Job(arm.arm, grid, orientation_set(8), REACH_CONFIG, "cpu", arm._check_or_none())
    sent = pickle.loads(pickle.dumps(job))
    for array, again in zip(
        compute_chunk(job, (1, 1, 1)), compute_chunk(sent, (1, 1, 1)), strict=True
    ):
        assert array.tobytes() == again.tobytes()


def test_a_map_of_an_arm_with_a_scene_needs_a_cpu(tmp_path, monkeypatch):
    monkeypatch.setattr("jointwise.jobs.workers.wants_gpu", lambda device: True)
    with pytest.raises(InvalidInputError) as caught:
        reach_map(ARM, 0.1, 8, workers=Workers("cuda"), store=tmp_path / "map.zarr")
    assert str(caught.value) == (
        "device is 'cuda' for the map of an arm with a scene: expected 'cpu', or an arm without a "
        "scene."
    )
