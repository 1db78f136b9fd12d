"""Laws of plans on the page, without the page: where they start, what plays, and what ends them."""

import json
from functools import partial
from html import escape

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import Chain, InvalidInputError, PlanStatus, Robot, Scene
from jointwise.view import Page
from jointwise.view.controls.plan_controls import plan_lines
from jointwise.view.session import Session
from jointwise.view.state.live_plan import PlanRequest
from jointwise.view.state.status_text import status_text
from tests.support.two_arms import strings_of_spheres, two_arms

WALL = Scene().box([0.5, 0.04, 0.6], [0.55, 0.0, 0.3], name="wall")
MARGIN = 0.01
LEFT, RIGHT, BEYOND = [0.5, 0.35, 0.3], [0.5, -0.35, 0.3], [0.55, -0.3, 0.45]
MODELS = {
    "arm": Chain.load("ur5e").with_scene(WALL, margin=MARGIN),
    "robot": Robot.load("ur5e").with_scene(WALL, margin=MARGIN),
}
STEP = 0.05


@pytest.fixture(params=MODELS)
def session(request):
    """On one side of the wall, with its target on the other."""
    return across_the_wall(MODELS[request.param])


def across_the_wall(model):
    session = Session(model)
    session.set_target_kind("position")
    session.move_target(position=LEFT)
    session.start_here()
    session.move_target(position=RIGHT)
    return session


@pytest.fixture(scope="module")
def two_armed(tmp_path_factory):
    """A robot with two arms and a wall between them, in front of it."""
    file = tmp_path_factory.mktemp("two_arms") / "spheres.json"
    spheres = {link: rows.tolist() for link, rows in strings_of_spheres().items()}
    file.write_text(json.dumps({"spheres": spheres}))
    wall = Scene().box([0.3, 0.02, 0.3], [0.5, 0.0, 0.6], name="wall")
    return Robot.from_urdf(two_arms()).with_geometry(file).with_scene(wall)


def play(session, step=STEP):
    """(k, n) all joint values while a plan is played [rad, m]."""
    return np.array([session.q.copy() for _ in session.play_plan(lambda: step)])


def move_wall(session, position):
    session.obstacles.select("wall")
    session.edit_scene(partial(session.obstacles.move, position=position))
    session.obstacles.select(None)


def test_a_plan_starts_where_the_model_was_before_it_followed_its_target(session):
    start = session.start.q
    assert (start != session.q).any()
    for position in (BEYOND, RIGHT):
        session.move_target(position=position)
        assert session.start.q is start
    move_wall(session, [0.56, 0.0, 0.3])
    assert session.start.q is start
    session.make_plan()
    assert (session.live_plan.planned.plan.waypoints[0] == start).all()
    session.set_joint(0, session.q[0] + 0.01)
    assert session.start.q is session.q
    session.set_follows(False)
    session.move_target(position=BEYOND)
    assert session.start.q is session.q


def test_a_start_that_an_obstacle_has_been_moved_onto_is_not_kept(session):
    start = session.start.q
    move_wall(session, LEFT)
    assert not session.model.is_free(start)
    assert session.model.is_free(session.start.q)


def test_a_played_plan_goes_around_the_wall_to_the_target(session):
    start = session.start.q
    session.make_plan()
    live = session.live_plan
    assert session.message == PlanStatus.PLANNED.value
    assert (session.q == start).all()
    assert live.share == 0.0
    played = play(session)
    assert np.abs(np.diff([start, *played], axis=0)).max() < STEP + 1e-9
    assert session.model.is_free(played).all()
    assert live.share == 1.0
    assert (session.q == live.planned.plan.q).all()
    assert session.error.position_error < 1e-6
    assert (play(session)[0] == start).all()  # once more, from the start
    assert len(plan_lines(live.planned)) == 4
    (line,) = live.planned.lines()
    assert line[-1] == pytest.approx(RIGHT, abs=1e-6)


def test_a_share_of_a_plan_is_on_its_edges(session):
    session.make_plan()
    planned = session.live_plan.planned
    waypoints = planned.plan.waypoints

    @given(st.floats(0.0, 1.0))
    def is_on_an_edge(share):
        q = planned.at(share)
        before, after = waypoints[:-1], waypoints[1:]
        along = ((q - before) * (after - before)).sum(axis=1)
        along = (along / ((after - before) ** 2).sum(axis=1)).clip(0.0, 1.0)
        nearest = before + along[:, None] * (after - before)
        assert np.linalg.norm(nearest - q, axis=1).min() < 1e-9

    is_on_an_edge()
    assert (planned.at(0.0) == waypoints[0]).all()
    assert (planned.at(1.0) == waypoints[-1]).all()


def test_a_plan_is_made_again_from_its_start_and_played_on_when_something_moves(session):
    start = session.start.q
    session.make_plan()
    frames = session.play_plan(lambda: STEP)
    for _ in range(10):
        next(frames)
    share = session.live_plan.share
    assert 0.0 < share < 1.0
    for change in (
        partial(move_wall, session, [0.55, 0.0, 0.32]),
        partial(session.move_target, position=BEYOND),
    ):
        change()
        live = session.live_plan
        assert live.is_pending
        session.take_plan(live.request.answer())
        assert not live.is_pending
        assert session.model.is_free(live.planned.plan.resampled(STEP)).all()
        assert (live.planned.plan.waypoints[0] == start).all()
        assert live.share == share
        assert (session.q == live.planned.at(share)).all()
    for _ in frames:
        assert session.model.is_free(session.q)
    assert session.error.position_error < 1e-6


def test_unless_it_is_made_again_a_plan_ends_when_something_moves(session):
    session.plans_again = False
    session.make_plan()
    play(session)
    end = session.q
    session.move_target(position=LEFT)
    assert session.live_plan is None
    assert session.start.q is end
    session.make_plan()
    play(session)
    assert session.error.position_error < 1e-6
    move_wall(session, [0.55, 0.0, 0.32])
    assert session.live_plan is None


def test_an_earlier_answer_is_shown_until_the_latest_one_arrives(session):
    session.ask_plan()
    first = session.live_plan.request
    session.move_target(position=BEYOND)
    latest = session.live_plan.request
    session.take_plan(first.answer())
    assert session.live_plan.is_pending
    assert session.live_plan.planned.request is first
    session.take_plan(latest.answer())
    assert not session.live_plan.is_pending


def test_a_playing_plan_waits_until_it_is_made(session):
    session.ask_plan()
    frames, q = session.play_plan(lambda: STEP), session.q
    for _ in range(3):
        next(frames)
        assert session.q is q
    session.take_plan(session.live_plan.request.answer())
    next(frames)
    assert session.live_plan.share > 0.0


def test_without_a_path_the_model_is_shown_where_it_collides(session):
    session.make_plan()
    move_wall(session, RIGHT)
    session.make_plan()
    planned = session.live_plan.planned
    assert not planned.found
    assert "wall" in planned.contact
    assert session.clearance.distance == pytest.approx(planned.clearance)
    assert "wall" in session.clearance.obstacles
    assert session.message == planned.message
    assert session.message.endswith(status_text(PlanStatus.GOAL_COLLIDES))
    assert set(planned.contact) < set(session.message.split(", ")[0].split())
    assert "color:rgb" in plan_lines(planned)[0]
    assert planned.lines() == []
    assert len(play(session)) == 0
    move_wall(session, [0.55, 0.0, 0.3])
    session.make_plan()
    assert session.live_plan.planned.found


def test_an_unreachable_target_leaves_the_model_at_the_start(session):
    start = session.start.q
    session.move_target(position=[3.0, 0.0, 0.0])
    session.make_plan()
    assert session.message.endswith(status_text(PlanStatus.UNREACHABLE))
    assert (session.q == start).all()


MOVES = {
    "a joint": lambda session: session.set_joint(0, 0.1),
    "home": lambda session: session.set_joints(session.model.home),
    "a solve": lambda session: session.solve(),
    "reset": lambda session: session.reset(),
    "a recorded path": lambda session: (session.record_target(), next(session.play_path())),
    "tracking": lambda session: (session.set_tracking(True), session.track(0.01)),
    "start here": lambda session: session.start_here(),
}


@pytest.mark.parametrize("move", MOVES)
def test_whatever_else_moves_the_model_ends_the_plan(session, move):
    session.make_plan()
    request = session.live_plan.request
    MOVES[move](session)
    assert session.live_plan is None
    q = session.q
    session.take_plan(request.answer())  # one that was still being made
    assert session.live_plan is None
    assert session.q is q
    assert list(session.play_plan(lambda: STEP)) == []
    assert session.message == "There is no plan: press Plan first."


def test_a_plan_ends_tracking(session):
    session.set_tracking(True)
    session.make_plan()
    assert session.tracking is None
    assert session.live_plan.planned.found


def test_one_limb_is_planned_and_the_other_stays(two_armed):
    session = Session(two_armed)
    session.select("left_6")
    session.set_target_kind("position")
    session.move_target(position=[0.45, 0.25, 0.75])
    session.start_here()
    held = [i for i, name in enumerate(two_armed.joint_names) if "right" in name]
    before = session.start.q[held]
    session.move_target(position=[0.45, 0.12, 0.6])
    session.make_plan()
    assert list(session.live_plan.request.targets) == ["left_6"]
    assert session.live_plan.planned.found
    assert (play(session)[:, held] == before).all()
    assert session.errors["left_6"].position_error < 1e-6


def test_a_plan_made_in_python_is_shown_with_targets_at_its_end(session):
    model, start = session.model, session.start.q
    target = {"link6": RIGHT} if session.arm is None else RIGHT
    plan = model.plan(target, start)
    shown = Session(model)
    shown.show_plan(plan)
    assert not shown.live_plan.is_pending
    assert shown.live_plan.planned.plan is plan
    assert (shown.q == start).all()
    play(shown)
    assert (shown.q == plan.q).all()
    assert shown.error.position_error < 1e-6
    assert shown.message == plan.message


def test_a_plan_of_another_model_or_without_a_scene_is_refused():
    arm = MODELS["arm"]
    plan = arm.plan(q=arm.home, start=arm.home)
    with pytest.raises(InvalidInputError, match=r"the plan is for the joints shoulder_pan_joint, "):
        Page(Chain.load("panda").with_scene(WALL), "panda", port=0, plan=plan)
    with pytest.raises(InvalidInputError, match="the arm has no scene"):
        Session(Chain.load("ur5e")).show_plan(plan)


def test_an_invalid_request_is_answered_in_words(session):
    session.make_plan()
    request = session.live_plan.request
    outside = request.start._replace(q=np.full(6, 99.0))
    answer = PlanRequest(request.model, request.targets, outside).answer()
    assert not answer.found
    assert "beyond its upper limit" in answer.message
    assert escape(answer.message) in plan_lines(answer)[0]


def test_without_a_target_nothing_is_planned(two_armed):
    session = Session(two_armed)
    for link in tuple(session.targets):
        session.remove_target(link)
    with pytest.raises(InvalidInputError, match="no link has a target"):
        session.ask_plan()
