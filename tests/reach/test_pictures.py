"""Pictures of reach maps: a slice, and a cloud of points."""

import sys
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from jointwise import InvalidInputError, JointwiseError, ReachMap, reach_map
from jointwise.reach import Workers, pictures
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


@pytest.mark.parametrize("measure", ["dexterity", "manipulability", "limit_margin"])
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


def tick_labels(ax):
    """The boxes of the labels that are drawn on each axis of a figure, as lists."""
    ax.figure.canvas.draw()
    boxes = []
    for axis in (axis for each in ax.figure.axes for axis in (each.xaxis, each.yaxis)):
        low, high = sorted(axis.get_view_interval())
        ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
        labels = [label for tick in ticks for label in (tick.label1, tick.label2)]
        boxes.append([each.get_window_extent() for each in labels if each.get_visible()])
    return boxes


@pytest.mark.parametrize("resolution", [0.5, 0.1, 0.025])
@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (2, 3, 1), (1, 2, 20), (20, 1, 1), (40, 3, 3), (4, 1, 30)], ids=str
)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_tick_labels_of_a_slice_do_not_overlap(shape, resolution, axis):
    grid = Grid(resolution, tuple(-(count // 2) for count in shape), shape, (2, 2, 2))
    ax = pictures.draw_slice(None, grid, np.ones(shape, np.float32), axis, 0, "dexterity")
    for boxes in tick_labels(ax):
        assert not any(first.overlaps(second) for first, second in combinations(boxes, 2))
    x_axis, y_axis, *_ = tick_labels(ax)
    assert x_axis  # at least one number on each axis
    assert y_axis


def test_a_figure_has_the_shape_of_its_slice():
    """Of slices 40 x 10, 4 x 10 and 40 x 4 the second alone is higher than wide."""
    values = np.ones((40, 4, 10), np.float32)
    grid = Grid(0.1, (0, 0, 0), values.shape, (2, 2, 2))
    axes = [pictures.draw_slice(None, grid, values, axis, 0, "limit_margin") for axis in (1, 0, 2)]
    (wide, low), (narrow, high), (widest, lowest) = (ax.figure.get_size_inches() for ax in axes)
    assert wide > 2.0 * low
    assert narrow < 0.9 * high
    assert (widest, lowest) == (pytest.approx(wide), pytest.approx(2.3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"x": 0.0, "z": 0.0}, "2 of x, y and z are given: expected exactly one."),
        ({}, "0 of x, y and z are given: expected exactly one."),
        ({"z": 9.0}, "z is 9.0: expected -0.75 to 1, the extent of the map."),
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


@pytest.mark.parametrize(
    ("missing", "extra", "call"),
    [
        ("zarr", "reach", lambda opened: ReachMap("x")),
        ("xarray", "reach", lambda opened: opened.dataset()),
        (
            "distributed",
            "cluster",
            lambda opened: reach_map(TWO_LINKS, workers=Workers(client="tcp://x")),
        ),
        ("viser", "view", lambda opened: opened.show()),
        ("matplotlib.pyplot", "plot", lambda opened: opened.slice(z=0.0)),
    ],
)
def test_missing_library_is_named(small_map, monkeypatch, missing, extra, call):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(JointwiseError, match=rf"not installed: .* pip install '.\[{extra}\]'"):
        call(small_map)
