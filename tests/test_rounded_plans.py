"""Corners of plans are rounded within what is proven free, and passed without stopping."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jointwise import Chain, InvalidInputError, Plan, PlanStatus, Robot, Scene
from jointwise.errors import UnsolvedError
from jointwise.results.plan import PlanDetails
from tests.support.edge_twin import drawn_robot
from tests.support.facades import both
from tests.support.plan_checks import least_clearance
from tests.support.plan_scenes import SCENES, problems, robot_with_two_arms
from tests.support.scenes import everything

# Random obstacles may well touch the first link.
pytestmark = pytest.mark.filterwarnings("ignore::jointwise.errors.GeometryWarning")

SEEDS = st.integers(0, 100_000)
ROUNDING = 1e-9
LIMITS = {"max_velocity": 1.5, "max_acceleration": 6.0}
# A path around the boards of a shelf.
ARM = Chain.load("panda").with_scene(SCENES["panda"], margin=0.005)
START, END = problems("panda")[0]
PLAN = ARM.plan(q=END, start=START)


def on_blends(waypoints, blends, count=50):
    """(m, n) configurations on the parabolas, by their control points."""
    rows = []
    for i in np.flatnonzero(blends):
        before, corner, after = waypoints[i - 1 : i + 2]
        first = corner + blends[i] * (before - corner) / np.linalg.norm(before - corner)
        last = corner + blends[i] * (after - corner) / np.linalg.norm(after - corner)
        p = np.linspace(0.0, 1.0, count)[:, None]
        rows.append((1.0 - p) ** 2 * first + 2.0 * p * (1.0 - p) * corner + p**2 * last)
    return np.array(rows).reshape(-1, waypoints.shape[1])


def with_waypoints(model, waypoints):
    """A plan with given waypoints."""
    details = PlanDetails(model.joint_names, model.max_velocity, model._check())
    return Plan(np.array(waypoints, float), PlanStatus.PLANNED, 0, 0, details)


def spread(model, seed, count=7):
    """A path through random waypoints, proven or not."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(count - 1, model.n)) * rng.choice([0.02, 0.3, 1.0], (count - 1, 1))
    path = model.home + np.concatenate([np.zeros((1, model.n)), np.cumsum(steps, axis=0)])
    return with_waypoints(model, np.clip(path, *model.limits.T))


# The proof


@pytest.mark.parametrize("kind", ["arm", "robot", "tree"])
@settings(max_examples=12)
@given(seed=SEEDS, margin=st.sampled_from([0.0, 0.03]))
def test_a_proven_parabola_is_free_by_the_twin(kind, seed, margin):
    drawn, scene = drawn_robot(seed, branches=kind == "tree"), everything(seed)
    if kind == "arm":
        model = Chain.from_urdf(drawn.urdf(), tip_link=f"l{len(drawn.joints)}")
    else:
        model = Robot.from_urdf(drawn.urdf())
    model = drawn.shaped(model).with_scene(scene, margin=margin)
    check, rng = model._check(), np.random.default_rng(seed)
    for start in model.random(seed=seed, count=6):
        slope, bend = rng.normal(size=(2, model.n)) * rng.choice([0.03, 0.3, 1.0])
        p = np.linspace(0.0, 1.0, 400)[:, None]
        q = start + p * slope + p**2 * bend
        least = drawn.clearance(q, scene, np.eye(4)).min()
        if check.parabola_is_free(start, slope, bend):
            assert least >= margin - ROUNDING
            assert model.is_free(q).all()
        elif not drawn.tables:
            between = (p[1] * (np.abs(slope) + 2.0 * np.abs(bend))).max()
            assert least < margin + 0.01 + 4.0 * between


@both
@pytest.mark.parametrize("name", ["panda", "ur5e"])
def test_rounded_plans_are_free_by_numpy(facade, name):
    model, rounded = facade.load(name).with_scene(SCENES[name], margin=0.005), 0
    for start, end in problems(name, 8):
        plan = model.plan(q=end, start=start, max_samples=2000, shortcuts=False)
        if len(plan) < 3:
            continue
        smooth = plan.rounded()
        rounded += np.count_nonzero(smooth.blends)
        assert (smooth.waypoints == plan.waypoints).all()
        assert smooth.blends[[0, -1]].tolist() == [0.0, 0.0]
        lengths = np.linalg.norm(np.diff(plan.waypoints, axis=0), axis=1)
        assert (smooth.blends[1:-1] <= 0.5 * np.minimum(lengths[:-1], lengths[1:])).all()
        q = on_blends(plan.waypoints, smooth.blends)
        assert model.is_free(q).all()
        assert least_clearance(model, q[::8]) >= 0.005
        assert model.is_free(smooth.resampled(0.01)).all()
        assert smooth.clearance >= 0.005
        assert smooth.length <= plan.length + ROUNDING
    assert rounded > 0 or name == "ur5e"


def test_a_corner_stays_where_no_blend_is_proven():
    """The corner is a millimetre inside an obstacle's margin for everything that cuts it."""
    arm = Chain.load("ur5e").with_scene()
    corner = np.array([0.0, -1.2, 1.6, -2.0, -1.5, 0.0])
    before, after = corner + 0.5 * np.eye(6)[0], corner + np.array([0.5, 0.6, -0.3, 0, 0, 0])
    middle = on_blends(np.array([before, corner, after]), np.array([0.0, 0.3, 0.0]), 3)[1]
    spheres = arm.geometry.spheres(middle)
    for at in spheres[spheres[:, 0].argsort()[:3]]:
        scene = Scene().sphere(0.01, at[:3], name="ball")
        model = arm.with_scene(scene)
        blends = with_waypoints(model, [before, corner, after]).rounded().blends
        assert blends[1] < 0.3
        assert model.is_free(on_blends(np.array([before, corner, after]), blends)).all()
    blocked = arm.with_scene(Scene().sphere(0.3, arm.fk(corner)[:3, 3]))
    assert not with_waypoints(blocked, [before, corner, after]).rounded().blends.any()


def test_a_robot_with_two_arms_a_lift_and_a_mimic_joint_is_rounded(tmp_path):
    robot = robot_with_two_arms(tmp_path).with_scene(
        Scene().box([0.05, 1.2, 0.3], [0.35, 0.0, 0.75], name="bar")
    )
    q = robot.random(3, 4000)
    q, corners = q[robot.is_free(q)][:8], 0
    for start, end in zip(q[:4], q[4:], strict=True):
        plan = robot.plan(q=end, start=start, max_samples=1000, shortcuts=False)
        if plan.found:
            smooth = plan.rounded()
            corners += np.count_nonzero(smooth.blends)
            some = on_blends(plan.waypoints, smooth.blends)
            assert robot.is_free(some).all()
            assert least_clearance(robot, some[::20]) >= 0.0
    assert corners > 0


# Times


@settings(max_examples=25)
@given(seed=SEEDS, dt=st.sampled_from([0.001, 0.01]), share=st.sampled_from([0.02, 0.3, 1.0]))
def test_timed_plans_keep_their_limits_between_all_samples(seed, dt, share):
    arm, rng = Chain.load("ur5e").with_scene(), np.random.default_rng(seed)
    plan = spread(arm, seed)
    lengths = np.linalg.norm(np.diff(plan.waypoints, axis=0), axis=1)
    blends = np.zeros(len(plan))
    blends[1:-1] = share * 0.5 * np.minimum(lengths[1:], lengths[:-1]) * rng.integers(0, 2, 5)
    smooth = replace(plan, _details=plan._details._replace(blends=blends))
    velocity, acceleration = rng.uniform(0.2, 3.0, 6), rng.uniform(0.5, 20.0, 6)
    timed = smooth.timed(max_velocity=velocity, max_acceleration=acceleration, dt=dt)
    assert (np.abs(timed.velocities) <= velocity * (1.0 + 1e-9)).all()
    assert (np.abs(np.diff(timed.q, axis=0)) <= dt * velocity * (1.0 + 1e-9)).all()
    changes = np.diff(timed.velocities, axis=0) / dt
    assert (np.abs(changes) <= acceleration * (1.0 + 1e-6) + 1e-9).all()
    from_rest = np.concatenate([timed.q[:1], timed.q, timed.q[-1:]])
    second = np.diff(from_rest, 2, axis=0) / dt**2
    assert (np.abs(second) <= acceleration * (1.0 + 1e-6) + 1e-6).all()
    assert timed.q[0].tobytes() == plan.waypoints[0].tobytes()
    assert timed.q[-1].tobytes() == plan.waypoints[-1].tobytes()
    at_rest = {row.tobytes() for row in timed.q[(timed.velocities == 0.0).all(axis=1)]}
    for waypoint, blend in zip(plan.waypoints, blends, strict=True):
        assert (waypoint.tobytes() in at_rest) == (blend == 0.0)
    on_path = smooth.resampled(1e-3)
    for row in timed.q[:: max(1, len(timed) // 40)]:
        assert np.abs(on_path - row).max(axis=1).min() <= 1e-3


def test_blends_are_passed_at_speed_and_save_time():
    smooth = PLAN.rounded()
    stopping, passing = PLAN.timed(**LIMITS, dt=0.002), smooth.timed(**LIMITS, dt=0.002)
    assert np.count_nonzero(smooth.blends) >= 2
    assert passing.duration < 0.9 * stopping.duration
    still = (passing.velocities == 0.0).all(axis=1)
    assert still.sum() == np.count_nonzero(smooth.blends == 0.0)
    assert ARM.is_free(passing.q).all()
    assert ARM.edge_is_free(passing.q[:-1], passing.q[1:]).all()


def test_edges_in_line_are_passed_at_full_speed():
    arm = Chain.load("ur5e").with_scene()
    path = arm.home + np.array([0.0, 0.5, 1.0])[:, None] * np.ones(6)
    whole = with_waypoints(arm, path[[0, 2]]).timed(**LIMITS, dt=0.001)
    parts = with_waypoints(arm, path).rounded()
    assert parts.blends[1] > 0.2
    assert parts.timed(**LIMITS, dt=0.001).duration == pytest.approx(whole.duration, abs=0.0015)


def test_a_path_that_turns_around_stops_where_it_does():
    arm = Chain.load("ur5e").with_scene()
    path = arm.home + np.array([0.0, 0.5, 0.1])[:, None] * np.ones(6)
    timed = with_waypoints(arm, path).rounded().timed(**LIMITS, dt=0.001)
    assert np.abs(np.diff(timed.velocities, axis=0)).max() <= 6.0 * 0.001 * (1.0 + 1e-6)
    assert timed.duration > 0.5


# What a rounded plan is


def test_blends_may_be_limited():
    smooth = PLAN.rounded(0.05)
    assert 0.0 < smooth.blends.max() <= 0.05
    assert smooth.length > PLAN.rounded().length
    assert not PLAN.blends.any()
    assert not PLAN.blends.flags.writeable
    assert not smooth.blends.flags.writeable


def test_rounded_plans_compare_print_pickle_and_save(tmp_path):
    smooth = PLAN.rounded()
    assert smooth == PLAN.rounded()
    assert smooth != PLAN
    assert hash(smooth) == hash(PLAN.rounded())
    assert pickle.loads(pickle.dumps(smooth)) == smooth
    count = np.count_nonzero(smooth.blends)
    assert f"{len(PLAN) - 1} edges, {count} rounded corners and a length of" in str(smooth)
    smooth.save(tmp_path / "path.csv")
    PLAN.save(tmp_path / "plain.csv")
    header, *rows = (tmp_path / "path.csv").read_text().splitlines()
    assert header.split(",") == [*ARM.joint_names, "blend"]
    assert [float(row.split(",")[-1]) for row in rows] == smooth.blends.tolist()
    assert "blend" not in (tmp_path / "plain.csv").read_text()
    smooth.save(tmp_path / "path.npz")
    assert (np.load(tmp_path / "path.npz")["blends"] == smooth.blends).all()


def test_places_on_blends_are_near_their_waypoints():
    smooth = PLAN.rounded()
    assert 0.0 <= smooth.closest <= len(PLAN) - 1
    assert smooth.clearance == pytest.approx(ARM.clearance(smooth.resampled(0.01)).min(), abs=1e-3)


def test_short_paths_have_no_corners():
    at_goal = ARM.plan(q=START, start=START)
    assert at_goal.rounded().blends.tolist() == [0.0]
    assert at_goal.rounded().timed(**LIMITS).duration == 0.0
    twice = with_waypoints(ARM, [START, START, START]).rounded()
    assert twice.blends.tolist() == [0.0] * 3
    assert twice.timed(**LIMITS).duration == 0.0
    assert twice.length == 0.0


@pytest.mark.parametrize("given", [0.0, -1.0, np.nan, "wide", np.ones(3)])
def test_limits_of_blends_must_be_positive(given):
    with pytest.raises(InvalidInputError, match="longest"):
        PLAN.rounded(given)


def test_a_plan_without_a_path_is_not_rounded():
    unreachable = ARM.plan([9.0, 0.0, 0.0], START)
    with pytest.raises(UnsolvedError, match="provably out of reach"):
        unreachable.rounded()
