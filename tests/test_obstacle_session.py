"""Laws of obstacles on the page, without the page: editing, solving, and what collides."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import Chain, InvalidInputError, Robot, Scene, Status
from jointwise.shape.geometry import group_of_spheres
from jointwise.view.controls.obstacle_controls import clearance_lines
from jointwise.view.controls.page_controls import status_lines
from jointwise.view.session import Session
from jointwise.view.state.obstacles import ADDED, Clearance
from jointwise.view.state.status_text import REMEDIES
from tests.support.examples import examples

ARM = Chain.load("panda").with_scene()
CELL = (
    Scene()
    .box([0.9, 1.5, 0.04], [0.5, 0.1, -0.02], name="table")
    .cylinder(0.04, 0.7, [0.45, -0.35, 0.35], name="pole")
    .box([0.5, 0.3, 0.02], [0.5, 0.6, 0.3], name="shelf")
)
MARGIN = 0.01
IN_CELL = ARM.with_scene(CELL, margin=MARGIN)
ROBOT_IN_CELL = Robot.load("panda").with_scene(CELL, margin=MARGIN)


@pytest.fixture
def arm_session():
    return Session(IN_CELL)


@pytest.fixture(params=[IN_CELL, ROBOT_IN_CELL], ids=["arm", "robot"])
def session(request):
    return Session(request.param)


def edit(session, how, *arguments, **options):
    session.edit_scene(partial(getattr(session.obstacles, how), *arguments, **options))


def test_an_arm_starts_free_of_its_scene_and_of_itself(session):
    assert session.message == Status.CONVERGED.value
    assert IN_CELL.is_free(session.q)
    assert session.clearance.distance >= MARGIN


@examples(25)
@given(st.tuples(*[st.floats(-0.7, 0.7)] * 3))
def test_an_arm_is_solved_for_wherever_an_obstacle_is_moved(position):
    session = Session(IN_CELL)
    session.obstacles.select("pole")
    edit(session, "move", position=position)
    scene = session.obstacles.scene
    assert scene["pole"].pose[:3, 3] == pytest.approx(position)
    assert session.error.position_error < 1e-6
    free = ARM.with_scene(scene, margin=MARGIN).is_free(session.q)
    assert free == (session.message == Status.CONVERGED.value)
    assert free or session.message in REMEDIES.values()


@examples(25)
@given(st.integers(0, 10_000))
def test_what_touches_is_what_is_nearer_than_the_margin_on_its_own(seed):
    session = Session(IN_CELL)
    q = ARM.random(seed)
    found = session.obstacles.clearance(q)
    assert found.distance == IN_CELL.clearance(q)
    alone = {
        each.name: ARM.with_scene(Scene((each,)), self_collision=False).clearance(q) < MARGIN
        for each in CELL
    }
    assert found.obstacles == {name for name, collides in alone.items() if collides}
    assert bool(found.link_groups) == (found.distance < MARGIN)
    names = {ARM.geometry.names[group] for group in found.link_groups}
    if found.link_groups:
        assert set(found.nearest) <= names | found.obstacles
    # Each link on its own: spheres of the others do not count.
    spheres, groups = ARM.geometry.spheres(q), group_of_spheres(ARM.geometry)
    if found.distance >= MARGIN:
        return
    for group in range(1, ARM.n + 1):
        own = spheres[groups == group]
        if len(own) and (CELL.distance(own[:, :3]) - own[:, 3]).min() < MARGIN:
            assert group in found.link_groups


def test_the_clearance_follows_sliders_and_the_scene(session):
    session.set_joints(np.zeros(7))
    assert session.clearance.distance == IN_CELL.clearance(np.zeros(7))
    tip = ARM.fk(session.q)[:3, 3]
    session.set_follows(False)
    session.obstacles.select("pole")
    edit(session, "move", position=tip)
    assert session.message == f"Scene changed; the {session.noun} does not follow it."
    clearance = session.clearance
    assert clearance.distance < 0.0
    assert "pole" in clearance.obstacles


def test_tracking_obeys_obstacles_that_were_moved_or_removed_meanwhile(session):
    session.set_tracking(True)
    session.track(0.03)
    session.obstacles.select("pole")
    edit(session, "remove")
    assert session.tracking._tracker.scene.names == session.obstacles.scene.names
    assert "pole" not in session.tracking._tracker.scene.names
    edit(session, "set_margin", 0.02)
    session.track(0.03)
    assert session.tracking._tracker.scene.names == session.obstacles.scene.names


def test_an_obstacle_on_the_target_gives_a_message_with_a_remedy(session):
    session.set_target_kind("pose")
    session.obstacles.select("pole")
    edit(session, "move", position=session.T_base_target[:3, 3])
    assert session.message == REMEDIES[Status.COLLIDES_ALWAYS]
    assert "move the target or the obstacle" in session.message
    (line,) = (line for line in status_lines(session) if "collides" in line and "pole" in line)
    assert "<b>panda_link" in line
    assert line.endswith(" mm deep</span>")


def test_obstacles_are_added_in_turn_selected_resized_and_removed(session):
    obstacles = session.obstacles
    for kind, sizes in ADDED.items():
        edit(session, "add", kind)
        assert obstacles.obstacle.kind == kind
        assert obstacles.obstacle.sizes().keys() == sizes.keys()
        assert session.message.startswith(f"{obstacles.selected} added. ")
    places = [each.pose[:3, 3] for each in obstacles.scene.obstacles[-3:]]
    gaps = np.diff(places, axis=0)
    assert np.linalg.norm(gaps, axis=1).min() > 0.1
    edit(session, "resize", length=0.9)
    assert obstacles.obstacle.length == 0.9
    name = obstacles.selected
    edit(session, "remove")
    assert session.message.startswith(f"{name} removed. ")
    assert obstacles.selected is None
    assert obstacles.scene.names == (*CELL.names, "box3", "sphere1")


def test_a_removed_name_is_not_given_twice(session):
    for _ in range(2):
        edit(session, "add", "sphere")
    session.obstacles.select("sphere1")
    edit(session, "remove")
    edit(session, "add", "sphere")
    assert session.obstacles.scene.names[-2:] == ("sphere2", "sphere3")


def test_selecting_an_obstacle_again_deselects_it(session):
    session.obstacles.select("pole")
    session.obstacles.select("pole")
    assert session.obstacles.obstacle is None
    with pytest.raises(InvalidInputError) as caught:
        session.obstacles.remove()
    assert str(caught.value) == ("No obstacle is selected: click one, or choose it by its name.")
    with pytest.raises(InvalidInputError, match="no obstacle is named 'stool'"):
        session.obstacles.select("stool")


def test_a_ray_meets_the_first_obstacle_on_its_way(session):
    obstacles = session.obstacles
    down, left = np.array([0.0, 0.0, -1.0]), np.array([0.0, -1.0, 0.0])
    assert obstacles.hit(np.array([0.5, 0.6, 2.0]), down) == "shelf"
    assert obstacles.hit(np.array([0.5, 0.2, 2.0]), down) == "table"
    assert obstacles.hit(np.array([0.45, 0.5, 0.5]), left) == "pole"
    assert obstacles.hit(np.array([0.45, 0.5, 0.5]), -left) is None
    assert obstacles.hit(np.array([0.5, 0.6, 0.3]), down) == "table"  # from inside of the shelf
    assert Session(ARM).obstacles.hit(np.zeros(3), down) is None


@pytest.mark.parametrize(
    ("how", "arguments", "text"),
    [
        ("resize", {"radius": 0.0}, "radius is 0.0: expected a number above zero."),
        ("move", {"position": [np.nan, 0.0, 0.0]}, "expected finite numbers"),
        ("set_margin", {"margin": -0.1}, "margin is -0.1: expected 0 or more [m]."),
        (
            "load",
            {"name": "cell.toml", "content": b"[[box]]\nsize = [1, 1]\n"},
            "cell.toml, [[box]] 'box1': size has shape (2,): expected (3,), three edges [m].",
        ),
        (
            "load",
            {"name": "cell.toml", "content": b"[[cone]]\n"},
            "cell.toml has 'cone': expected tables [[box]], [[sphere]], [[cylinder]], [[capsule]], "
            "[[half_space]].",
        ),
        (
            "load",
            {"name": "photo.png", "content": b"\x89PNG\xff"},
            "photo.png is not a TOML file: ",
        ),
        ("load", {"name": "cell.toml", "content": b"[[box"}, "cell.toml is not a TOML file: "),
    ],
)
def test_an_invalid_edit_is_refused_and_nothing_changes(session, how, arguments, text):
    session.obstacles.select("pole")
    scene, q = session.obstacles.scene, session.q
    with pytest.raises(InvalidInputError) as caught:
        edit(session, how, **arguments)
    assert text in str(caught.value)
    assert session.obstacles.scene is scene
    assert session.obstacles.margin == MARGIN
    assert session.q is q


def test_a_saved_scene_loads_again(session):
    session.obstacles.select("pole")
    edit(session, "move", rpy=[0.1, 0.2, 0.3])
    saved = session.obstacles.scene.to_toml()
    other = Session(ARM)
    edit(other, "load", "cell.toml", saved.encode())
    assert other.message.startswith("3 obstacles loaded from cell.toml. ")
    points = np.random.default_rng(1).normal(size=(50, 3))
    expected = session.obstacles.scene.distance(points)
    assert other.obstacles.scene.distance(points) == pytest.approx(expected, abs=1e-12)


def test_a_scene_with_a_grid_cannot_be_saved_and_says_why():
    session = Session(ARM.with_scene(Scene.from_points([[0.5, 0.4, 0.4]])))
    with pytest.raises(
        InvalidInputError, match="'points' is a grid of distances, which a scene file cannot hold"
    ):
        session.obstacles.scene.to_toml()


def test_sessions_do_not_share_what_they_change(session):
    other = Session(IN_CELL)
    before = other.obstacles.scene
    session.obstacles.select("table")
    edit(session, "remove")
    edit(session, "set_margin", 0.05)
    assert other.obstacles.scene is before
    assert other.obstacles.margin == MARGIN
    assert before.names == CELL.names


@pytest.mark.parametrize("model", [ARM, ROBOT_IN_CELL], ids=["arm", "robot"])
def test_a_scene_that_swallows_the_base_is_named_in_every_status(model):
    swallowing = Scene().box([0.4, 0.4, 0.6], [0.0, 0.0, 0.2], name="crate")
    for _ in range(2):  # the second session of the same scene is told, too
        session = Session(model.with_scene(swallowing))
        (line,) = (
            line for line in status_lines(session) if "crate" in line and "every value" in line
        )
        assert "&#x27;crate&#x27; collides with &#x27;panda_link1&#x27;" in line
    session.obstacles.select("crate")
    edit(session, "move", position=[0.8, 0.0, 0.2])
    assert not session.obstacles.warning


def test_only_free_solutions_are_found(arm_session):
    session = arm_session
    session.set_target_kind("pose")
    session.find_solutions()
    assert session.message == f"{len(session.solutions)} free solutions found."
    assert all(IN_CELL.is_free(q) for q in session.solutions)
    session.obstacles.select("pole")
    edit(session, "move", position=session.T_base_target[:3, 3])
    session.find_solutions()
    assert session.solutions == []
    assert session.message == "No free solution found."


def test_a_path_is_played_around_obstacles_and_names_a_remedy_where_it_cannot(session):
    for position in ([0.5, 0.0, 0.4], [0.5, 0.3, 0.4]):
        session.move_target(position=position)
        session.record_target()
    assert all(IN_CELL.is_free(session.q) for _ in session.play_path())
    session.clear_path()
    for position in ([0.4, -0.2, 0.4], [0.45, -0.35, 0.4]):
        session.move_target(position=position)
        session.record_target()
    messages = {session.message for _ in session.play_path()}
    assert messages & set(REMEDIES.values())


def test_ccd_step_by_step_does_not_look_at_obstacles(arm_session):
    session = arm_session
    session.obstacles.select("pole")
    edit(session, "move", position=session.T_base_target[:3, 3])
    assert [None for _ in session.play_ccd()]
    assert session.message == Status.CONVERGED.value
    assert session.clearance.distance < 0.0


def test_the_points_to_show_are_of_obstacles_too_but_not_of_half_spaces(session):
    edit(session, "load", "floor.toml", b"[[half_space]]\nnormal = [0, 0, 1]\noffset = -1\n")
    bare = session.points()
    assert bare[:, 2].min() > -0.5
    edit(session, "load", "far.toml", b"[[sphere]]\nradius = 0.1\nxyz = [0.0, 0.6, -0.5]\n")
    assert session.points()[:, 2].min() == pytest.approx(-0.6, abs=0.01)


@pytest.mark.parametrize(
    ("clearance", "text"),
    [
        (Clearance(np.inf, None), "clearance unlimited: no obstacles"),
        (Clearance(0.0123, ("link<1>", "pole")), "clearance 12.3 mm: link&lt;1&gt;, pole"),
        (Clearance(0.004, ("link1", "pole")), "<b>link1 is 4.0 mm from pole</b>, less than the"),
        (Clearance(-0.004, ("link1", "pole")), "<b>link1 collides with pole</b>, 4.0 mm deep"),
    ],
)
def test_the_status_has_the_clearance_in_millimetres_and_the_names(clearance, text):
    (line,) = clearance_lines(Session(ARM.with_scene(margin=MARGIN)).obstacles, clearance)
    assert text in line
    assert ("color:rgb(200, 30, 40)" in line) == (clearance.distance < MARGIN)


def test_without_a_scene_nothing_is_checked():
    session = Session(Chain.load("panda"))
    assert session.obstacles is None
    assert session.model.geometry is None
    assert "clearance" not in str(status_lines(session))
