"""A tracker with a scene never collides, keeps its limits, slides, comes to rest, and says so."""

import json
from math import inf

import numpy as np
import pytest

from jointwise import Chain, InvalidInputError, Robot, Scene, TrackStatus
from testbed.motion_laws import Limits, violations
from testbed.scene_twin import clearances, with_edges
from tests.support.examples import trials
from tests.support.facades import both, tip, to
from tests.support.two_arms import strings_of_spheres, two_arms

DT = 0.001
RATES = {"max_velocity": 2.5, "max_acceleration": 15.0}
PANDA_START = np.array([0.0, -0.9, 0.0, -2.4, 0.0, 1.5, 0.8])
WALL = Scene().box([0.02, 2.0, 2.0], [0.6, 0.0, 0.4], name="wall")


def obstacles(rng, size):
    """Things of all kinds around an arm of a size [m]."""
    scene = Scene().half_space([0.0, 0.0, 1.0], -0.15, name="floor")
    for k in range(6):
        direction = rng.normal(size=3)
        direction[2] = abs(direction[2])
        place = np.eye(4)
        place[:3, 3] = size * rng.uniform(0.35, 0.8) * direction / np.linalg.norm(direction)
        place[2, 3] += 0.25 * size
        if k % 3 == 0:
            scene = scene.box(size * rng.uniform(0.01, 0.3, 3), place)
        elif k % 3 == 1:
            scene = scene.sphere(size * rng.uniform(0.02, 0.1), place[:3, 3])
        else:
            scene = scene.cylinder(0.01 * size, 0.5 * size, place)
    return scene


def hostile(model, rng, count, links=("tip",)):
    """Poses and positions that are reached only through obstacles, jumps, shaking, and NaN."""
    targets = []
    while len(targets) < count:
        poses, kind = model.fk(model.random(int(rng.integers(1 << 30)))), rng.integers(4)
        drift = rng.normal(size=3) * rng.uniform(0.0, 1.0) * DT
        for k in range(int(10 ** rng.uniform(0.5, 2.8))):
            one = {}
            for link in links:
                pose = np.array(poses if isinstance(model, Chain) else poses[link])
                pose[:3, 3] += rng.normal(size=3) * 0.05 if kind == 3 else k * drift
                pose = pose * np.nan if rng.random() < 0.002 else pose
                one[link] = pose if kind in (0, 3) else pose[:3, 3]
            targets.append(one["tip"] if isinstance(model, Chain) else one)
    return targets[:count]


def free_start(model, least=0.02):
    """Joint values at which nothing is near."""
    return next(
        q for q in (model.random(seed) for seed in range(500)) if model.clearance(q) > least
    )


def assert_never_collides(model, q, margin, base=None, free_base=False):
    scene = model.scene
    found = clearances(model.geometry, scene, with_edges(q, trials(1, 4)), base, free_base)
    assert found.min() >= margin - 1e-9
    assert model.is_free(q).all()


def assert_keeps_limits(model, q, jerk=inf):
    from_rest = np.concatenate([np.tile(q[:1], (3, 1)), q])
    limits = Limits(*model.limits.T, *RATES.values(), jerk)
    assert not any(violations(from_rest, DT, limits).values())


@pytest.mark.parametrize(
    ("facade", "name", "jerk"),
    [
        (Chain, "panda", None),
        (Chain, "ur5e", 800.0),
        (Robot, "panda", 800.0),
        (Robot, "ur5e", None),
        (Chain, "so101", None),
        (Chain, "xarm7", 500.0),
    ],
)
def test_hostile_targets_never_make_it_collide(facade, name, jerk):
    rng, plain = np.random.default_rng(len(name)), facade.load(name)
    size = 0.3 if name == "so101" else 1.0
    model = plain.with_scene(obstacles(rng, size), margin=0.002)
    start = free_start(model)
    tracker = model.track(start, DT, **RATES, max_jerk=jerk)
    results = [tracker.step(target) for target in hostile(model, rng, 1500)]
    q = np.array([start, *(result.q for result in results)])
    assert_never_collides(model, q, 0.002)
    assert_keeps_limits(model, q, jerk or inf)
    assert np.ptp(q, axis=0).max() > 0.1  # it moves
    held = [result for result in results if result.status is TrackStatus.AT_OBSTACLE]
    assert held
    assert any(result.contact for result in held)


@pytest.mark.parametrize("free_base", [False, True])
def test_hands_of_a_robot_do_not_go_through_it(tmp_path, free_base):
    file = tmp_path / "spheres.json"
    spheres = {link: rows.tolist() for link, rows in strings_of_spheres().items()}
    file.write_text(json.dumps({"spheres": spheres}))
    robot = Robot.from_urdf(two_arms(), free_base=free_base).with_geometry(file)
    model = robot.with_scene(Scene().sphere(0.1, [0.4, 0.0, 0.8], name="ball"))
    rng, start = np.random.default_rng(3), free_start(model, 0.01)
    tracker = model.track(start, DT, **RATES)
    hands = ("left_6", "right_6")
    targets = hostile(model, rng, 800, hands)
    into_chest = [{hand: np.array([0.0, 0.0, 0.6]) for hand in hands}] * 800
    results = [tracker.step(target) for target in targets + into_chest]
    q = np.array([start, *(result.q for result in results)])
    assert_never_collides(model, q, 0.0, free_base=free_base)
    assert_keeps_limits(model, q)
    last = results[-1]
    assert last.status is TrackStatus.AT_OBSTACLE
    assert last.contact is not None


def with_pointer(facade):
    """A Panda with a thin pointer, of which only the end can collide; there is its tool."""
    if facade is Chain:
        model = Chain.load("panda").with_tool([0.0, 0.0, 0.3], radius=0.0)
        return model.attach("pointer", [0.0, 0.0, 0.0], sphere=0.01)
    model = Robot.load("panda").with_tool("tip", [0.0, 0.0, 0.3], "pen", radius=0.0)
    return model.attach("pointer", [0.0, 0.0, 0.0], link="pen", sphere=0.01)


@both
@pytest.mark.parametrize("jerk", [None, 1000.0])
def test_it_slides_to_the_point_of_a_wall_that_is_nearest_to_the_target(facade, jerk):
    link, wall = "pen", Scene().box([0.02, 2.0, 2.0], [0.7, 0.0, 0.4], name="wall")
    model = with_pointer(facade).with_scene(wall)
    start = np.array([0.0, -0.9, 0.0, -2.4, 0.0, 3.0, 0.8])
    tracker, before = model.track(start, DT, **RATES, max_jerk=jerk), [start]
    pose = tip(model, start, link)
    for shift in ([0.3, 0.0, 0.0], [0.25, 0.15, 0.1]):
        target = pose[:3, 3] + shift
        run = tracker.run(to(model, [target] * 2000, link))
        nearest = [0.69 - 0.01, *target[1:]]
        assert np.linalg.norm(tip(model, run.q[-1], link)[:3, 3] - nearest) < 2e-3
        assert run[-1].status is TrackStatus.AT_OBSTACLE
        assert run[-1].contact == ("pointer", "wall")
        assert (run.q[-200:] == run.q[-1]).all()  # at rest: it does not chatter
        assert (run.velocities[-200:] == 0.0).all()
        q = np.concatenate([before, run.q])
        assert_never_collides(model, q, 0.0)
        assert_keeps_limits(model, q, jerk or inf)
        before = run.q[-1:]


@both
def test_far_from_obstacles_steps_have_the_bits_of_those_without_a_scene(facade):
    plain = facade.load("panda")
    far = Scene().box([1.0, 1.0, 1.0], [5.0, 0.0, 0.0])
    pose = tip(plain, PANDA_START)
    targets = np.tile(pose, (1000, 1, 1))
    targets[:, :3, 3] += 0.05 * np.sin(np.linspace(0.0, 6.0, 1000))[:, None]
    trackers = [
        model.track(PANDA_START, DT, **RATES, max_jerk=500.0)
        for model in (plain, plain.with_scene(far))
    ]
    one, other = (tracker.run(to(plain, targets)) for tracker in trackers)
    assert (one.q == other.q).all()
    assert (one.status == other.status).all()
    assert not any(other.contacts)


@both
def test_a_step_and_a_run_and_a_copy_give_the_same_bits(facade):
    model = facade.load("panda").with_scene(WALL)
    target = tip(model, PANDA_START)[:3, 3] + [0.5, 0.1, 0.0]
    trackers = [model.track(PANDA_START, DT, **RATES) for _ in range(2)]
    run = trackers[0].run(to(model, [target] * 1200))
    steps = [trackers[1].step(to(model, target)) for _ in range(600)]
    twin = trackers[1].copy()
    saved = trackers[1].state
    again = [twin.step(to(model, target)) for _ in range(600)]
    assert (run.q == [step.q for step in steps + again]).all()
    assert run[900] == again[300]
    trackers[0].state = saved
    assert (trackers[0].run(to(model, [target] * 600)).q == run.q[600:]).all()


@both
def test_the_scene_may_be_replaced_between_steps(facade):
    model = facade.load("panda").with_scene(Scene())
    tracker, q = model.track(PANDA_START, DT, **RATES), [PANDA_START]
    target = tip(model, PANDA_START)[:3, 3] + [0.4, 0.0, 0.0]
    q += [tracker.step(to(model, target)).q for _ in range(50)]
    tracker.scene = WALL
    assert tracker.scene is WALL
    before = len(q)
    results = [tracker.step(to(model, target)) for _ in range(1500)]
    q += [result.q for result in results]
    assert results[-1].status is TrackStatus.AT_OBSTACLE
    assert_never_collides(model.with_scene(WALL), np.array(q[before:]), 0.0)
    tracker.scene = Scene()
    results = [tracker.step(to(model, target)) for _ in range(1500)]
    q += [result.q for result in results]
    assert results[-1].status is TrackStatus.FOLLOWING
    assert_keeps_limits(model, np.array(q))


@both
@pytest.mark.parametrize("kind", ["ball", "bar"])
def test_an_arm_that_a_new_obstacle_touches_moves_out_of_it(facade, kind):
    model = facade.load("panda").with_scene(Scene())
    tracker = model.track(PANDA_START, DT, **RATES)
    pose = tip(model, PANDA_START)
    target = pose[:3, 3] + [0.1, 0.2, 0.0]
    q = [PANDA_START, *(tracker.step(to(model, target)).q for _ in range(100))]
    tracker.scene = {
        "ball": Scene().sphere(0.1, pose[:3, 3], name="thing"),
        "bar": Scene().box([0.1, 0.6, 0.05], pose[:3, 3], name="thing"),
    }[kind]
    results = [tracker.step(to(model, target)) for _ in range(600)]
    first, last = results[0], results[-1]
    assert first.status is TrackStatus.COLLIDES
    assert first.contact[1] == "thing"
    assert "collides" in first.status.value
    assert last.status is not TrackStatus.COLLIDES
    q += [result.q for result in results]
    braked = np.array([result.q for result in results[120::20]])
    gaps = np.minimum(clearances(model.geometry, tracker.scene, braked), 0.0)
    assert np.diff(gaps).min() > -1e-3
    free = [result.status is not TrackStatus.COLLIDES for result in results]
    assert all(free[free.index(True) :])  # once out, it stays out
    assert_keeps_limits(model, np.array(q))


@both
def test_an_arm_that_finds_no_way_out_of_a_new_obstacle_stops(facade):
    model = facade.load("panda").with_scene(Scene())
    tracker = model.track(PANDA_START, DT, **RATES)
    target = tip(model, PANDA_START)[:3, 3] + [0.1, 0.2, 0.0]
    q = [PANDA_START, *(tracker.step(to(model, target)).q for _ in range(100))]
    tracker.scene = Scene().box([0.05, 3.0, 3.0], [0.3, 0.0, 0.0], name="wall")  # on both sides
    results = [tracker.step(to(model, target)) for _ in range(1000)]
    q += [result.q for result in results]
    assert results[-1].status is TrackStatus.COLLIDES
    assert results[-1].contact[1] == "wall"
    assert not results[-1].velocities.any()
    assert_keeps_limits(model, np.array(q))
    tracker.scene = Scene()
    assert tracker.step(to(model, target)).status is TrackStatus.APPROACHING


def test_pairs_that_may_touch_are_not_in_the_way():
    arm = Chain.load("panda")
    ball = Scene().sphere(0.05, arm.fk(PANDA_START)[:3, 3], name="ball")
    geometry = arm.with_scene().geometry
    allow = [(link, "ball") for links in geometry.links for link in links]
    tracker = arm.with_scene(ball, allow=allow).track(PANDA_START, DT, **RATES)
    target = arm.fk(PANDA_START)[:3, 3] + [0.02, 0.0, 0.0]
    assert tracker.run([target] * 800)[-1].status is TrackStatus.FOLLOWING
    tracker.scene = Scene()  # drops the pairs
    assert tracker.step(target).status is TrackStatus.FOLLOWING


def test_another_branch_that_collides_is_not_offered():
    arm = Chain.load("ur5e")
    start = [0.0, -1.2, 1.8, -0.6, 1.5, 0.0]
    pose = arm.fk(start)
    others = [q for q in arm.solutions(pose).q if np.abs(q - start).max() > 0.1]
    free = arm.with_scene(Scene())
    assert free.track(start, DT, **RATES).switch_branch(pose) is any(map(free.is_free, others))


def test_wrong_scenes_are_refused():
    arm = Chain.load("panda")
    tracker = arm.track(PANDA_START, DT, **RATES)
    assert tracker.scene is None
    with pytest.raises(InvalidInputError) as error:
        tracker.scene = Scene()
    assert str(error.value) == (
        "the tracked model has no scene to replace: call with_scene() before track."
    )
    tracker = arm.with_scene().track(PANDA_START, DT, **RATES)
    with pytest.raises(InvalidInputError, match=r"scene is None: expected a Scene\."):
        tracker.scene = None
    with pytest.raises(InvalidInputError, match=r"Scene\.from_toml\(\"cell\.toml\"\)"):
        tracker.scene = "cell.toml"
