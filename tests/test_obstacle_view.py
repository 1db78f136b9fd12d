"""Obstacles on the page in a browser: drawn, dragged, edited, saved and loaded."""

import numpy as np
import pytest

from jointwise import Chain, Scene, Status
from jointwise.view import Page
from jointwise.view.graphics.shapes import COLLIDING_COLOR
from jointwise.view.state.status_text import REMEDIES
from testbed.browser import CHROMIUM, Tab

if CHROMIUM is None:
    pytest.skip("no chromium: apt-get install chromium", allow_module_level=True)

CLOUD = np.random.default_rng(1).uniform([0.3, 0.5, 0.6], [0.6, 0.6, 0.8], (200, 3))
SOLID = (
    Scene()
    .box([0.9, 1.5, 0.04], [0.5, 0.1, -0.02], name="table")
    .cylinder(0.04, 0.7, [0.45, -0.35, 0.35], name="pole")
    .sphere(0.06, [0.8, 0.3, 0.06], name="ball")
    .capsule(0.03, 0.2, [0.8, 0.5, 0.13], name="bar")
    .half_space([0.0, 0.0, 1.0], -0.05, name="floor")
)
CELL = SOLID + Scene.from_points(CLOUD, name="cloud")
ON_POLE = np.array([0.45, -0.35, 0.65])


@pytest.fixture(scope="module")
def page():
    arm = Chain.load("panda").with_scene(CELL, margin=0.01)
    with Page(arm, "panda", port=0) as opened:
        yield opened


@pytest.fixture(scope="module")
def tab(chromium, page):
    with Tab(chromium, page, width=940, height=460) as opened:  # few pixels are drawn faster
        yield opened
        assert opened.script_errors == []


def red_pixels(tab):
    """How many pixels are of the colour of what collides."""
    red, green, blue = tab.colors()
    return np.count_nonzero((red > green + 70.0) & (red > blue + 50.0))


def green_pixels(tab):
    """How many pixels are of the colour of spheres."""
    red, green, blue = tab.colors()
    return np.count_nonzero((green > red + 25.0) & (green > blue + 8.0))


def select(tab, name):
    """Select an obstacle by its name."""
    expected = None if name == "none" else name
    tab.select("Obstacle", name, lambda: tab.session.obstacles.selected == expected)


def handles(tab):
    return tab.visitor.drawing.obstacles.handle


def shown_position(tab):
    return [float(field.input_value()) for field in tab.fields("Position [m]")]


def test_every_obstacle_is_drawn_and_has_handles_to_drag_it(tab):
    obstacles = tab.session.obstacles
    tab.content.get_by_text("clearance").wait_for()

    def obstacles_are_drawn():
        colors = tab.colors()
        grey = (np.ptp(colors, axis=0) < 25.0) & (np.abs(colors.mean(axis=0) - 170.0) < 50.0)
        return np.count_nonzero(grey) > 5000

    tab.wait_until(obstacles_are_drawn)
    assert set(tab.visitor.drawing.obstacles._drawn) == set(CELL.names)
    assert not handles(tab).visible
    for name in ("cloud", "floor", "ball"):
        select(tab, name)
        tab.wait_until(lambda: handles(tab).visible)
        position = CLOUD.mean(axis=0) if name == "cloud" else CELL[name].pose[:3, 3]
        tab.wait_until(lambda p=position: np.allclose(handles(tab).position, p, atol=0.03))
        assert handles(tab).disable_rotations == (name != "floor")
        tab.screenshot(f"obstacle-{name}")
    assert obstacles.scene.obstacles == CELL.obstacles


def test_a_grid_cannot_be_saved_and_the_status_says_why(tab):
    tab.click("Save scene")
    tab.content.get_by_text("'cloud' is a grid of distances, which a scene").wait_for()
    for name in ("cloud", "floor"):  # which reaches almost to the upper edge of the picture
        select(tab, name)
        tab.click("Delete")
        tab.content.get_by_text(f"{name} removed.").wait_for()


def test_an_obstacle_is_selected_by_a_click_and_deselected_by_one_beside_it(tab):
    obstacles = tab.session.obstacles
    tab.click_scene(tab.pixel(ON_POLE))
    tab.wait_until(lambda: obstacles.selected == "pole")
    tab.wait_until(lambda: handles(tab).visible)
    tab.content.get_by_text("radius", exact=True).wait_for()
    tab.wait_until(lambda: shown_position(tab) == [0.45, -0.35, 0.35])
    tab.screenshot("obstacle-selected")
    box = tab.content.locator("canvas").first.bounding_box()
    tab.click_scene((box["x"] + 20, box["y"] + 20))  # at the sky
    tab.wait_until(lambda: obstacles.selected is None)
    tab.wait_until(lambda: not handles(tab).visible)


def test_the_arm_is_solved_for_while_an_obstacle_is_dragged(tab):
    session, obstacles = tab.session, tab.session.obstacles
    select(tab, "pole")
    tab.wait_until(lambda: handles(tab).visible)
    tab.content.get_by_text("Position [m]", exact=True).wait_for()
    tab.screenshot("obstacle-handles")  # the handles are drawn before the text is shown
    before, solve_seconds = obstacles.obstacle.pose[:3, 3].copy(), session.solve_seconds
    on_arrow = before + 0.17 * session.model.max_reach * np.eye(3)[2]
    draw_count = tab.visitor.draw_count
    with tab.held(handles(tab), on_arrow) as pixel:
        tab.content.mouse.move(*pixel - (0, 15), steps=5)
        tab.wait_until(lambda: obstacles.obstacle.pose[2, 3] > before[2])
        assert tab.visitor.draw_count > draw_count
        tab.content.mouse.move(*pixel - (0, 30), steps=5)
    assert obstacles.obstacle.pose[2, 3] > before[2] + 0.03
    tab.wait_until(
        lambda: np.allclose(shown_position(tab), obstacles.obstacle.pose[:3, 3], atol=1e-3)
    )
    moved = obstacles.obstacle.pose[:3, 3] - before
    assert np.abs(moved[:2]).max() < 1e-9
    assert tab.visitor.draw_count > draw_count + 1
    assert session.error.position_error < 1e-6
    assert session.solve_seconds != solve_seconds
    assert session.model.is_free(session.q)
    tab.screenshot("obstacle-dragged")


def test_what_touches_turns_red_and_the_status_names_it(tab):
    session, spheres = tab.session, tab.visitor.drawing.model.spheres._handles
    select(tab, "none")
    tab.wait_until(lambda: not handles(tab).visible)
    tab.content.get_by_text("Position [m]", exact=True).wait_for(state="hidden")
    tab.screenshot("obstacle-none")  # the red arrow is no longer drawn
    before = red_pixels(tab)
    tab.type_position(0.45, -0.33, 0.4)
    tab.content.get_by_text("collides with pole").wait_for()
    tab.content.get_by_text(REMEDIES[Status.COLLIDES]).wait_for()
    tab.wait_until(lambda: red_pixels(tab) > before + 600)
    clearance = session.clearance
    assert "pole" in clearance.obstacles
    for group, handle in spheres.items():
        collides = group in clearance.link_groups
        assert handle.visible == collides
        assert (tuple(handle.color) == COLLIDING_COLOR) == collides
    tab.screenshot("obstacle-touched")
    tab.type_position(0.3, 0.3, 0.6)
    tab.content.get_by_text(Status.CONVERGED.value).wait_for()
    tab.wait_until(lambda: red_pixels(tab) < before + 400)
    assert not any(handle.visible for handle in spheres.values())


def test_the_checkbox_shows_the_spheres(tab):
    spheres = tab.visitor.drawing.model.spheres._handles
    before = green_pixels(tab)
    tab.content.get_by_label("Spheres").check()
    tab.wait_until(lambda: all(handle.visible for handle in spheres.values()))
    tab.wait_until(lambda: green_pixels(tab) > before + 400)
    tab.screenshot("spheres")
    tab.content.get_by_label("Spheres").uncheck()
    tab.wait_until(lambda: not any(handle.visible for handle in spheres.values()))


def test_an_obstacle_is_added_resized_turned_and_deleted(tab):
    obstacles = tab.session.obstacles
    names = obstacles.scene.names
    tab.click("Box")
    tab.wait_until(lambda: obstacles.selected == "box2")
    size, place = [0.1, 0.2, 0.3], [0.6, -0.4, 0.5]
    tab.type_values("size", size, lambda: obstacles.obstacle.sizes() == {"size": size})
    tab.type_values(
        "Position [m]", place, lambda: np.allclose(obstacles.obstacle.pose[:3, 3], place)
    )
    tab.type_values(
        "Rotation [rad]",
        [0, 0, 0.5],
        lambda: np.isclose(obstacles.obstacle.pose[1, 0], np.sin(0.5)),
    )
    refusal = "size is [0.0, 0.2, 0.3]: expected three edges above zero"
    tab.type_values("size", [0, 0.2, 0.3], lambda: refusal in tab.session.message)
    tab.content.get_by_text(refusal).wait_for()
    assert obstacles.obstacle.sizes() == {"size": [0.1, 0.2, 0.3]}
    tab.click("Cylinder")
    tab.wait_until(lambda: obstacles.selected == "cylinder2")
    tab.type_values("radius", [0.07], lambda: obstacles.obstacle.radius == 0.07)
    tab.click("Delete")
    tab.content.get_by_text("cylinder2 removed.").wait_for()
    tab.content.get_by_text("Position [m]", exact=True).wait_for(state="hidden")
    assert obstacles.scene.names == (*names, "box2")
    assert set(tab.visitor.drawing.obstacles._drawn) == {*names, "box2"}


def test_the_margin_is_changed_by_its_slider(tab):
    obstacles = tab.session.obstacles
    assert obstacles.margin == 0.01
    slider = tab.slider("Margin [mm]")
    tab.press(slider, "ArrowRight", lambda: obstacles.margin > 0.0105)


def test_a_scene_is_saved_and_loaded_and_a_bad_file_changes_nothing(tab, tmp_path):
    obstacles = tab.session.obstacles
    with tab.content.expect_download() as download:
        tab.click("Save scene")
    assert download.value.suggested_filename == "scene.toml"
    saved = download.value.path().read_text()
    assert saved == obstacles.scene.to_toml()
    for name, content, message, count in (
        ("empty.toml", "", "0 obstacles loaded from empty.toml.", 0),
        ("cell.toml", saved, "5 obstacles loaded from cell.toml.", 5),
        ("bad.toml", "[[box]]\nsize = 3\n", "bad.toml, [[box]] 'box1': size has shape ()", 5),
    ):
        (tmp_path / name).write_text(content)
        with tab.content.expect_file_chooser() as chooser:
            tab.click("Load scene")
        chooser.value.set_files(tmp_path / name)
        tab.content.get_by_text(message).wait_for()
        assert len(obstacles.scene) == len(tab.visitor.drawing.obstacles._drawn) == count


def test_a_drag_that_begins_at_an_obstacle_turns_the_view(tab):
    camera, before = tab.visitor.client.camera, tab.visitor.client.camera.position
    start = tab.pixel(np.array([0.8, 0.0, 0.0]))
    tab.until(
        lambda: np.linalg.norm(camera.position - before) > 0.05,
        lambda: tab.drag(start, np.add(start, (-30, 0))),
    )
    assert tab.session.obstacles.selected is None
