"""The page of a reach map: which voxels it draws, their colours, and the arm in one of them."""

import re
import socket
from urllib.request import urlopen

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from jointwise import Chain, DHJoint, reach_map
from jointwise.reach import page, pictures
from jointwise.reach.measures import measure_unit
from testbed.browser import CHROMIUM, TIMEOUT_MS, browser
from tests.support.reach import TIMEOUT_S, TWO_LINKS, voxel_centres


@pytest.fixture
def map_page(small_map):
    opened = page.MapPage(small_map, "small.zarr", "127.0.0.1", 0)
    yield opened
    opened.server.stop()


@given(
    hnp.arrays(bool, st.tuples(*[st.integers(1, 5)] * 3)),
    st.integers(0, 2),
    st.integers(0, 4) | st.none(),
)
def test_visible_voxels_are_those_up_to_the_cut_that_others_do_not_enclose(reached, axis, last):
    found = set(map(tuple, page.visible_voxels(reached, axis, last).tolist()))
    shown = {
        voxel
        for voxel in np.ndindex(reached.shape)
        if reached[voxel] and (last is None or voxel[axis] <= last)
    }
    sides = [sign * step for step in np.eye(3, dtype=int) for sign in (1, -1)]
    enclosed = {v for v in shown if all(tuple(np.add(v, side).tolist()) in shown for side in sides)}
    assert found == shown - enclosed


def shown_voxels(map_page):
    """Centres of the cubes that are drawn."""
    return np.array(map_page._cubes.batched_positions)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_cubes_are_drawn_up_to_the_cut_along_an_axis(map_page, small_map, axis):
    along = "xyz".index(axis)
    map_page._axis.value = axis
    low, high = small_map.grid.centres(along)[[0, -1]]
    slider, first_joint = map_page._coordinate, [0.0, 0.0, 0.25]
    assert (slider.min, slider.max, slider.value) == (low, high, first_joint[along])
    reached = voxel_centres(small_map)[small_map.dexterity > 0.0]
    for cut in (0.0, 0.5):
        slider.value = cut
        found = shown_voxels(map_page)
        assert found[:, along].max() == cut
        cut_face = reached[np.isclose(reached[:, along], cut)]
        assert {tuple(p) for p in found.round(6)} >= {tuple(p) for p in cut_face.round(6)}


@pytest.mark.parametrize("measure", ["dexterity", "manipulability", "limit_margin"])
def test_cubes_have_the_colours_of_the_chosen_measure(map_page, small_map, measure):
    map_page._measure.value = {"limit_margin": "limit margin"}.get(measure, measure)
    values = getattr(small_map, measure)
    largest = values.max() if measure == "manipulability" else 1.0
    voxels = [small_map.grid.voxel_at(centre) for centre in shown_voxels(map_page)]
    shares = np.array([values[voxel] for voxel in voxels], float) / largest
    expected = page.linear_colours(pictures.colours(shares)).astype(int)
    assert np.abs(map_page._cubes.batched_colors - expected).max() <= 1
    label, *_, top = re.findall(r">([^<]+)<", map_page._colour_bar.content)
    unit = {"dexterity": "share of the orientations", "limit_margin": "share of half the range"}
    assert label == f"{map_page._measure.value} [{unit.get(measure, 'm³')}]"
    assert float(top) == pytest.approx(largest, rel=1e-2)


def test_the_arm_is_drawn_in_the_configuration_of_the_selected_voxel(map_page, small_map):
    assert not map_page._arm.root.visible
    centre = shown_voxels(map_page)[3]
    drawn = []
    map_page._arm.show = drawn.append
    map_page.select(centre)
    (q,) = drawn
    assert (q == small_map.at(centre).q).all()
    assert small_map.chain.fk(q)[:3, 3] == pytest.approx(centre, abs=1e-5)
    assert map_page._arm.root.visible
    assert map_page._opacity.value == page.FADED
    for name, value in zip(small_map.chain.joint_names, q, strict=True):
        assert f"<td>{name} [rad]</td>" in map_page._details.content
        assert f">{value:.3f}<" in map_page._details.content
    map_page._deselect()
    assert not map_page._arm.root.visible
    assert map_page._opacity.value == 1.0


def test_a_voxel_that_is_not_reached_is_not_selected(map_page):
    map_page.select(np.array([99.0, 0.0, 0.0]))
    assert not map_page._arm.root.visible


def test_a_map_in_which_nothing_is_reached_has_no_cubes(tmp_path):
    region = ((0.0, 0.0), (0.0, 0.0), (5.0, 5.0))
    empty = reach_map(TWO_LINKS, 0.5, None, region, store=tmp_path / "x.zarr", progress=False)
    opened = page.MapPage(empty, "x.zarr", "127.0.0.1", 0)
    opened.server.stop()
    assert opened._cubes is None


def test_the_first_cut_is_at_the_base_of_the_arm(tmp_path):
    away = np.eye(4)
    away[1, 3] = 3.02
    arm = Chain.from_dh(TWO_LINKS.rows, base=away)
    store, region = tmp_path / "away.zarr", ((-1, 1), (2, 4), (0, 0))
    opened = page.MapPage(
        reach_map(arm, 0.5, None, region, store=store, progress=False), "away", "127.0.0.1", 0
    )
    opened.server.stop()
    assert opened._coordinate.value == 3.0


REVOLUTE, PRISMATIC = DHJoint(a=1.0), DHJoint(joint_type="prismatic")


@pytest.mark.parametrize(
    ("rows", "orientations", "unit"),
    [
        ([REVOLUTE] * 2, None, "m²"),
        ([REVOLUTE, PRISMATIC], None, "m"),
        ([PRISMATIC] * 3, None, "1"),
        ([REVOLUTE] * 7, None, "m³"),
        ([REVOLUTE] * 6, 100, "m³"),
        ([REVOLUTE] * 5 + [PRISMATIC], 100, "m²"),
        ([REVOLUTE] * 6 + [PRISMATIC], 100, "mixed units"),
        ([REVOLUTE] * 5, 100, "mixed units"),
        ([REVOLUTE] * 5, {"count": 7}, "m³"),
    ],
)
def test_the_unit_of_manipulability_is_that_of_the_product_of_singular_values(
    rows, orientations, unit
):
    assert measure_unit("manipulability", Chain.from_dh(rows).arm, orientations) == unit


def test_page_is_served_until_interrupted(small_map, monkeypatch, capsys):
    addresses = []

    class Interrupted:
        def wait(self):
            address, *_ = capsys.readouterr().out.split(",")
            addresses.append(address)
            with urlopen(address, timeout=TIMEOUT_S) as response:
                assert response.status == 200
            raise KeyboardInterrupt

    monkeypatch.setattr(page, "Event", Interrupted)
    small_map.serve(port=0)
    assert "viser" not in capsys.readouterr().out
    (address,) = addresses
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])), timeout=TIMEOUT_S)


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt-get install chromium")
def test_a_click_on_a_voxel_draws_the_arm_in_it(map_page):
    with browser() as chromium:
        tab = chromium.new_page(viewport={"width": 900, "height": 600})
        tab.set_default_timeout(TIMEOUT_MS)
        tab.goto(f"http://127.0.0.1:{map_page.server.get_port()}")
        tab.locator(".mantine-Notification-closeButton").click()
        tab.get_by_text("dexterity [share of the orientations]").wait_for()
        assert tab.title() == "small.zarr – jointwise"
        box = tab.locator("canvas").first.bounding_box()
        middle = box["x"] + 0.45 * box["width"], box["y"] + 0.5 * box["height"]
        button = tab.get_by_role("button", name="Deselect voxel")
        for _ in range(100):  # the first frames may not have the cubes yet
            tab.mouse.click(*middle)
            tab.wait_for_timeout(200)
            if button.count():
                break
        button.wait_for()
        assert map_page._arm.root.visible
