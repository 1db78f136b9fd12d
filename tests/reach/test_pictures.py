"""Pictures of reach maps: a slice, a cloud of points, and the page that shows it."""

import socket
import sys
from urllib.request import urlopen

import matplotlib.pyplot as plt
import numpy as np
import pytest

from jointwise import Chain, InvalidInputError, JointwiseError, ReachMap, reach_map
from jointwise.reach import pictures
from jointwise.reach.grid import Grid
from tests.support.reach import TWO_LINKS, voxel_centres


@pytest.fixture
def axes():
    """Axes in a figure that is closed at the end."""
    figure, opened = plt.subplots()
    yield opened
    plt.close(figure)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_slice_shows_the_values_of_one_layer(small_map):
    ax = small_map.slice(z=0.26)
    assert ax.get_title() == "dexterity at z = 0.25 m"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x [m]", "y [m]")
    (image,) = ax.images
    layer = small_map.grid.voxel_at(np.array([0.0, 0.0, 0.25]))[2]
    assert (image.get_array().filled(0.0) == small_map.dexterity[:, :, layer].T).all()
    assert image.get_clim() == (0.0, 1.0)


@pytest.mark.parametrize("measure", ["dexterity", "manipulability", "margin"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_every_voxel_of_a_slice_is_drawn_at_its_place(small_map, axes, axis, measure):
    cut = 0.25
    ax = small_map.slice(axes, **{"xyz"[axis]: cut}, what=measure)
    (image,) = ax.images
    assert image.origin == "lower"
    left, right, bottom, top = image.get_extent()
    drawn = image.get_array().filled(0.0)
    rows, columns = drawn.shape
    across, up = (i for i in range(3) if i != axis)
    assert (ax.get_xlabel(), ax.get_ylabel()) == (f"{'xyz'[across]} [m]", f"{'xyz'[up]} [m]")
    values = getattr(small_map, measure)
    checked = 0
    for row in range(rows):
        for column in range(columns):
            point = np.zeros(3)
            point[axis] = cut
            point[across] = left + (column + 0.5) * (right - left) / columns
            point[up] = bottom + (row + 0.5) * (top - bottom) / rows
            voxel = small_map.grid.voxel_at(point)
            assert voxel_centres(small_map)[voxel] == pytest.approx(point, abs=1e-12)
            assert drawn[row, column] == values[voxel]
            checked += 1
    assert checked == values.size // values.shape[axis]


def test_extent_of_a_slice_is_half_a_voxel_beyond_the_centres():
    grid = Grid(0.2, (-3, 1, 10), (5, 2, 4), (2, 2, 2))
    assert pictures.slice_extent(grid, 0) == pytest.approx((0.1, 0.5, 1.9, 2.7))
    assert pictures.slice_extent(grid, 1) == pytest.approx((-0.7, 0.3, 1.9, 2.7))
    assert pictures.slice_extent(grid, 2) == pytest.approx((-0.7, 0.3, 0.1, 0.5))


def test_slice_leaves_voxels_that_are_not_reached_blank(small_map, axes):
    drawn = small_map.slice(axes, y=0.0).images[0].get_array()
    assert (drawn.mask == (drawn.data <= 0.0)).all()
    assert 0 < drawn.mask.sum() < drawn.mask.size


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"x": 0.0, "z": 0.0}, "2 of x, y and z are given: expected exactly one."),
        ({}, "0 of x, y and z are given: expected exactly one."),
        ({"z": 9.0}, "z is 9.0: expected -0.75 to 1, where the map is."),
        ({"z": 0.0, "what": "beauty"}, "what is 'beauty': expected 'dexterity' or "),
    ],
)
def test_invalid_slice_is_refused(small_map, options, message):
    with pytest.raises(InvalidInputError) as caught:
        small_map.slice(**options)
    assert str(caught.value).startswith(message)


def test_cloud_has_the_centres_of_all_voxels_that_are_reached(small_map):
    points, point_colours = small_map.cloud()
    reached = small_map.dexterity > 0.0
    assert points == pytest.approx(voxel_centres(small_map)[reached])
    assert (point_colours == pictures.colours(small_map.dexterity[reached].astype(float))).all()


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_cloud_is_cut_along_an_axis(small_map, axis):
    points, _ = small_map.cloud()
    kept, kept_colours = small_map.cloud((axis, 0.25))
    expected = points[points[:, "xyz".index(axis)] < 0.26]
    assert 0 < len(expected) < len(points)
    assert kept.tolist() == expected.tolist()
    assert len(kept_colours) == len(kept)


def test_colours_go_from_dark_to_bright():
    found = pictures.colours(np.array([0.0, 0.125, 0.25, 1.0]))
    assert found.tolist() == [[68, 1, 84], [63, 41, 111], [59, 82, 139], [253, 231, 37]]


def record_handles(monkeypatch, api, name):
    """What a method of viser returns, call by call."""
    method, handles = getattr(api, name), []

    def recorded(*args, **options):
        handles.append(method(*args, **options))
        return handles[-1]

    monkeypatch.setattr(api, name, recorded)
    return handles


def test_page_shows_the_cloud_up_to_the_chosen_cut(small_map, monkeypatch):
    viser = pytest.importorskip("viser")
    clouds = record_handles(monkeypatch, viser.SceneApi, "add_point_cloud")
    sliders = record_handles(monkeypatch, viser.GuiApi, "add_slider")
    dropdowns = record_handles(monkeypatch, viser.GuiApi, "add_dropdown")
    server = small_map.show(port=0)
    try:
        (slider,), (dropdown,) = sliders, dropdowns

        def shown():
            return clouds[-1].points.tolist(), clouds[-1].colors.tolist()

        def expected(axis, coordinate):
            points, point_colours = small_map.cloud((axis, coordinate))
            return points.astype(np.float32).tolist(), point_colours.tolist()

        assert (slider.min, slider.max, slider.value) == (-1.0, 1.0, 0.0)
        assert shown() == expected("y", 0.0)
        slider.value = -0.5
        assert shown() == expected("y", -0.5)
        dropdown.value = "z"
        assert shown() == expected("z", -0.5)
        assert len({len(cloud.points) for cloud in clouds}) == 3
        with urlopen(f"http://127.0.0.1:{server.get_port()}", timeout=60) as response:
            assert response.status == 200
    finally:
        server.stop()


def test_page_is_cut_at_the_base_of_the_arm(tmp_path, monkeypatch):
    viser = pytest.importorskip("viser")
    sliders = record_handles(monkeypatch, viser.GuiApi, "add_slider")
    away = np.eye(4)
    away[1, 3] = 3.02
    arm = Chain.from_dh(TWO_LINKS.rows, base=away)
    store, region = tmp_path / "away.zarr", ((-1, 1), (2, 4), (0, 0))
    server = reach_map(arm, 0.5, None, region, store=store, progress=False).show(port=0)
    server.stop()
    assert sliders[0].value == 3.0


def test_page_is_served_until_interrupted(small_map, monkeypatch, capsys):
    pytest.importorskip("viser")
    addresses = []

    class Interrupted:
        def wait(self):
            address, *_ = capsys.readouterr().out.split(",")
            addresses.append(address)
            with urlopen(address, timeout=60) as response:
                assert response.status == 200
            raise KeyboardInterrupt

    monkeypatch.setattr(pictures, "Event", Interrupted)
    small_map.serve(port=0)
    (address,) = addresses
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])), timeout=60)


@pytest.mark.parametrize(
    ("missing", "extra", "call"),
    [
        ("zarr", "reach", lambda opened: ReachMap("x")),
        ("xarray", "reach", lambda opened: opened.dataset()),
        ("distributed", "cluster", lambda opened: reach_map(TWO_LINKS, client="tcp://x")),
        ("viser", "view", lambda opened: opened.show()),
        ("matplotlib.pyplot", "plot", lambda opened: opened.slice(z=0.0)),
    ],
)
def test_missing_library_is_named(small_map, monkeypatch, missing, extra, call):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(JointwiseError, match=rf"not installed: pip install 'jointwise\[{extra}\]'"):
        call(small_map)
