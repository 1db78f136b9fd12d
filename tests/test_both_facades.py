"""What an arm can solve a whole robot can solve, and the other way round: laws of both facades."""

import inspect

import numpy as np
import pytest

from jointwise import (
    Chain,
    InvalidInputError,
    Posture,
    Robot,
    Scene,
    SolveConfig,
    Status,
    direction,
    pose,
)
from jointwise.engines.choice import engine_for
from jointwise.engines.serial.engine import SERIAL
from jointwise.engines.serial.link_arm import LinkArm
from jointwise.verbs import Verbs
from tests.support.facades import FACADES, UR5E, Q, both, tip, to
from tests.support.two_arms import two_arms

# Solving


@both
def test_one_serial_target_is_solved_by_the_closed_form(facade):
    model = facade.load("ur5e")
    for target, start in zip(UR5E.fk(UR5E.random(1, 30)), UR5E.random(2, 30), strict=True):
        problem = model._problem(to(model, target), False, start, None, SolveConfig())
        engine = engine_for(problem)
        assert engine is SERIAL or isinstance(engine, LinkArm)
        result = model.solve(to(model, target), start)
        assert (result.converged, result.iterations, result.restarts) == (True, 0, 0)
        nearest = UR5E.solutions(target, 1, near=start, all_turns=True)[0]
        change = np.abs(nearest.q - start).max()
        assert np.abs(result.q - start).max() == pytest.approx(change, abs=1e-6)


@both
@pytest.mark.parametrize("name", ["ur5e", "panda"])
def test_a_serial_target_of_a_link_that_holds_something_is_solved_by_the_serial_engine(
    facade, name
):
    model = facade.load(name).with_scene()
    link = {"link": "tip"} if facade is Robot else {}
    model = model.attach("ball", [0.0, 0.0, 0.1], sphere=0.04, **link)
    arm = Chain.load(name)
    for target, start in zip(arm.fk(arm.random(1, 6)), arm.random(2, 6), strict=True):
        problem = model._problem(to(model, target), False, start, None, SolveConfig())
        assert engine_for(problem) is SERIAL or isinstance(engine_for(problem), LinkArm)
        result = model.solve(to(model, target), start)
        same = Chain.load(name).attach("ball", [0.0, 0.0, 0.1], sphere=0.04).with_scene()
        assert np.array_equal(result.q, same.solve(target, start).q)
        assert not result.converged or result.clearance >= 0.0


@both
def test_what_cannot_be_reached_is_proven(facade):
    model, target = facade.load("ur5e"), UR5E.fk(Q)
    inside = target.copy()
    inside[:3, 3] = [0.02, 0.01, 0.3]  # too close to the first axis
    for unreachable in (inside, [5.0, 0.0, 0.0]):
        result = model.solve(to(model, unreachable))
        assert result.status is Status.UNREACHABLE
        assert result.missed == ("tip",)
        assert "provably out of reach" in str(result)
    narrow = model.with_limits({name: [-0.1, 0.1] for name in model.joint_names})
    result = narrow.solve(to(model, target))
    assert result.status is Status.OUTSIDE_LIMITS
    assert (np.abs(result.q) <= 0.1).all()


@pytest.mark.parametrize("name", ["ur5e", "panda", "stanford"])
def test_both_facades_give_the_same_bits(name):
    arm, robot = Chain.load(name), Robot.load(name)
    poses, starts = arm.fk(arm.random(1, 12)), arm.random(2, 12)
    poses[0, :3, 3] *= 9.0
    for targets in (poses, poses[:, :3, 3].copy()):
        for given in (None, starts[0], starts):
            expected = arm.solve_batch(targets, given)
            found = robot.solve_batch({"tip": targets}, given)
            assert np.array_equal(found.q, expected.q)
            assert np.array_equal(found.status, expected.status)
            start = given if np.ndim(given) < 2 else given[1]
            assert robot.solve({"tip": targets[1]}, start) == found[1] == expected[1]
        assert robot.solve_path({"tip": targets[1:4]}).q.tolist() == (
            arm.solve_path(targets[1:4]).q.tolist()
        )
    for model in (robot, robot.chain(), arm.robot):
        np.testing.assert_allclose(tip(model, starts), arm.fk(starts), atol=1e-14)


@both
@pytest.mark.parametrize("several", [False, True])
def test_an_invalid_row_is_a_status(facade, several):
    model = facade.from_urdf(two_arms(), *(["base", "left_6"] if facade is Chain else []))
    q, starts = model.random(1, 8), model.random(2, 8)
    poses = tip(model, q, "left_6")
    poses[1, 0, 3], poses[2, :3, :3] = np.nan, 1.1 * poses[2, :3, :3]
    starts[3, -1], starts[4, 0] = np.nan, 1e12
    targets = to(model, poses, "left_6")
    if several and facade is Robot:
        targets["right_6"] = model.fk(q)["right_6"]
    options = {"posture": Posture(model.mid_range)} if several and facade is Chain else {}
    batch = model.solve_batch(targets, starts, **options)
    invalid = [1, 2, 3, 4]
    assert np.flatnonzero(batch.status == Status.INVALID).tolist() == invalid
    assert np.isnan(batch.q[invalid]).all()
    assert np.isnan(batch.position_error[invalid]).all()
    assert batch.converged.tolist() == [i not in invalid for i in range(8)]
    assert str(batch[1]) == Status.INVALID.value
    assert "4 INVALID: The target or the start is invalid" in batch.summary()


@both
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("given", [False, True], ids=["no start", "start"])
def test_a_path_goes_on_after_an_invalid_target(facade, several, given):
    model = facade.from_urdf(two_arms(), *(["base", "left_6"] if facade is Chain else []))
    q = model.mid_range + np.linspace(0.3, 0.36, 9)[:, None] * (model.random(1) - model.mid_range)
    poses, start = tip(model, q, "left_6"), q[0] if given else None
    options = {"posture": Posture(smoothness=1e-9)} if several and facade is Chain else {}

    def path_of(rows, spoilt):
        targets = to(model, spoilt[rows], "left_6")
        if several and facade is Robot:
            targets["right_6"] = model.fk(q)["right_6"][rows]
        return model.solve_path(targets, start, **options)

    spoilt, invalid = poses.copy(), [0, 3, 4, 7]
    spoilt[0, 0, 3], spoilt[3, :3, :3], spoilt[4, 1, 3] = np.nan, 1.1 * poses[3, :3, :3], 1e12
    spoilt[7, 3, 3] = 2.0
    valid = [i for i in range(9) if i not in invalid]
    path, expected = path_of(slice(None), spoilt), path_of(valid, poses)
    assert np.flatnonzero(path.status == Status.INVALID).tolist() == invalid
    assert path.q[valid].tolist() == expected.q.tolist()
    assert np.isnan(path.q[invalid]).all()
    assert np.isnan(path.position_error[invalid]).all()
    assert path.converged.tolist() == [i in valid for i in range(9)]
    assert expected.breaks == ()
    assert path.breaks == (5, 8)  # the joints cannot be moved through an invalid target
    assert 0.0 < path.largest_step < 0.1
    assert str(path[3]) == Status.INVALID.value
    none = path_of([0, 3], spoilt)
    assert (none.status.tolist(), none.breaks) == ([Status.INVALID] * 2, ())
    assert none.largest_step == 0.0


@both
def test_a_way_around_an_invalid_target_is_checked_for_collisions(facade):
    ball = Scene().sphere(0.05, [-0.6, -0.48, 0.44], name="ball")
    model = facade.load("ur5e").with_scene(ball, self_collision=False)
    q = np.array([[0.0, -0.5, 0.3, 0.2, 0.1, 0.0]] * 3)
    q[2, 0] = 1.0
    poses = tip(model, q)
    poses[1] = np.nan
    path = model.solve_path(to(model, poses), q[0])
    clear = model.solve_path(to(model, poses[[0, 2]]), q[0])
    assert path.status.tolist() == [Status.CONVERGED, Status.INVALID, Status.CONVERGED]
    assert (path.colliding, clear.colliding) == ((2,), (1,))


@both
def test_an_invalid_start_of_a_path_is_refused(facade):
    model = facade.load("ur5e")
    poses = tip(model, model.random(1, 2))
    poses[0, 0, 3] = np.nan
    with pytest.raises(InvalidInputError, match=r"start\[1\] is nan: expected finite numbers"):
        model.solve_path(to(model, poses), [0.0, np.nan, 0.0, 0.0, 0.0, 0.0])


@both
def test_a_start_by_name_may_leave_joints_out(facade):
    model, target = facade.load("ur5e"), UR5E.fk(Q)
    by_name = {"elbow_joint": 1.0, "shoulder_pan_joint": -0.4}
    start = model.home.copy()
    start[[0, 2]] = -0.4, 1.0
    limits = {"max_velocity": 1.0, "max_acceleration": 5.0}
    assert model.solve(to(model, target), by_name) == model.solve(to(model, target), start)
    for verb in (model.solve_batch, model.solve_path):
        many = to(model, target[None])
        assert verb(many, by_name).q.tolist() == verb(many, start).q.tolist()
    steps = [model.track(q, 0.01, **limits).step(to(model, target)) for q in (by_name, start)]
    assert steps[0].q.tolist() == steps[1].q.tolist()
    with pytest.raises(InvalidInputError, match="no joint named 'elbow' in the model; did you"):
        model.solve(to(model, target), {"elbow": 1.0})


@both
@pytest.mark.parametrize("verb", ["solve", "solve_batch", "solve_path", "solve_paths", "track"])
def test_a_third_positional_argument_is_refused(facade, verb):
    """It was the configuration of an arm, and the base of a robot."""
    model = facade.load("ur5e")
    with pytest.raises(TypeError, match="3 positional arguments but 4 were given"):
        getattr(model, verb)(to(model, UR5E.fk(Q)), Q, SolveConfig())


@pytest.mark.parametrize("name", [name for name in vars(Verbs) if not name.startswith("_")])
def test_verbs_are_the_same_for_both(name):
    verb = getattr(Verbs, name)
    for facade in FACADES:
        own = getattr(facade, name)
        if callable(verb):
            assert own is verb
            assert inspect.signature(own) == inspect.signature(verb)
        else:
            assert isinstance(own, property)


# Targets


@both
def test_every_verb_brings_the_point_of_a_target_there(facade):
    model, point = facade.load("ur5e"), np.array([0.02, 0.03, 0.15])
    poses = tip(model, model.random(3, 6))
    places = poses[:, :3, 3] + poses[:, :3, :3] @ point
    many = pose(places, matrix=poses[:, :3, :3], point=point)
    found = [
        np.array([model.solve(to(model, each)).or_raise().q for each in many]),
        model.solve_batch(to(model, many)).q,
        model.solve_batch(to(model, list(many))).q,
        model.solve_path(to(model, many)).q,
        model.solve_paths([to(model, many)])[0].q,
    ]
    if facade is Chain:
        found.append(np.array([model.solutions(each)[0].q for each in many]))
        found.append(model.solutions_batch(many).q[:, 0])
        found.append(np.array([model.trace(many[i], found[0][i] + 0.01).q[-1] for i in range(6)]))
    for q in found:
        reached = tip(model, q)
        np.testing.assert_allclose(reached[:, :3, :3], poses[:, :3, :3], atol=2e-6)
        np.testing.assert_allclose(reached @ [*point, 1.0], np.insert(places, 3, 1, 1), atol=2e-6)


@both
def test_a_part_of_a_target_without_a_weight_is_free(facade):
    model, target = facade.load("ur5e"), UR5E.fk(Q)
    far = target.copy()
    far[:3, 3] = [9.0, 0.0, 0.0]
    turned = model.solve(to(model, pose(far[:3, 3], matrix=far[:3, :3], weight=(0.0, 1.0))))
    assert turned.converged
    assert np.isnan(turned.position_error)
    np.testing.assert_allclose(tip(model, turned.q)[:3, :3], far[:3, :3], atol=2e-6)
    placed = model.solve(to(model, pose(target[:3, 3], rpy=[1.0, 2.0, 3.0], weight=(1.0, 0.0))))
    assert placed.converged
    assert np.isnan(placed.orientation_error)
    np.testing.assert_allclose(tip(model, placed.q)[:3, 3], target[:3, 3], atol=2e-6)
    pointed = model.solve(to(model, direction([0.0, 1.0, -1.0], axis=[1.0, 0.0, 0.0])))
    assert pointed.converged
    x = tip(model, pointed.q)[:3, 0]
    np.testing.assert_allclose(x, np.array([0.0, 1.0, -1.0]) / np.sqrt(2.0), atol=2e-6)


def test_what_needs_a_whole_target_refuses_a_part_of_one():
    one = direction([0.0, 0.0, -1.0])
    other = pose([0.3, 0.2, 0.4], rpy=[0.0, 0.0, 0.0], weight=(0.0, 1.0))
    panda = Chain.load("panda")
    for verb in (UR5E.solutions, UR5E.trace, panda.solutions, panda.redundancy_intervals):
        with pytest.raises(
            InvalidInputError, match="target is a direction: expected a target with"
        ):
            verb(one)
        with pytest.raises(InvalidInputError, match="target has a weight of 0: expected one above"):
            verb(other)


# Postures


@both
def test_a_posture_chooses_among_solutions(facade):
    model = facade.load("panda")
    target, preferred = to(model, tip(model, model.mid_range)), model.mid_range + 0.2
    result = model.solve(target, posture=Posture(preferred))
    near = np.linalg.norm(result.q - preferred)
    assert result.converged
    for other in (model.solve(target), model.solve(target, preferred)):
        assert near < np.linalg.norm(other.q - preferred) + 0.01
    assert near < 0.9 * np.linalg.norm(model.solve(target, model.random(1)).q - preferred)
    by_name = Posture(dict(zip(model.joint_names, preferred.tolist(), strict=True)))
    assert model.solve(target, posture=by_name) == result
    many = to(model, np.stack(2 * [tip(model, model.mid_range)]))
    assert model.solve_batch(many, posture=by_name)[1] == result


@both
def test_joints_that_are_not_active_stay_at_the_start(facade):
    model = facade.load("panda")
    start = model.home.copy()
    start[[0, 2]] = 0.2, -0.1
    active = Posture(active=[name for i, name in enumerate(model.joint_names) if i not in (0, 2)])
    target = tip(model, model.mid_range)[:3, 3] + [0.0, 0.05, 0.1]
    for result in (
        model.solve(to(model, target), start, posture=active),
        model.solve_batch(to(model, target[None]), start, posture=active)[0],
        model.solve_path(to(model, target[None]), start, posture=active)[0],
    ):
        assert result.converged
        assert result.q[[0, 2]].tolist() == [0.2, -0.1]
        assert np.allclose(tip(model, result.q)[:3, 3], target, atol=1e-6)


@both
def test_a_heavier_posture_is_nearer_where_the_target_is_out_of_reach(facade):
    model = facade.load("panda")
    preferred, far = model.mid_range + 0.3, 1.9 * tip(model, model.mid_range)[:3, 3]
    misses, distances = [], []
    for weight in (0.02, 0.1, 1.0, 10.0):
        result = model.solve(to(model, far), posture=Posture(preferred, weight=weight))
        misses.append(result.position_error)
        distances.append(np.linalg.norm(result.q - preferred))
    assert (np.diff(distances) < 0.0).all()
    assert (np.diff(misses) > 0.0).all()
    near = model.solve(to(model, 0.5 * far), posture=Posture(preferred, weight=1.0))
    assert near.converged


@both
def test_a_smooth_path_moves_less(facade):
    """Where targets are out of reach: what can be reached is reached."""
    model, rng = facade.load("panda"), np.random.default_rng(1)
    targets = np.array([1.5, 0.0, 0.5]) + rng.normal(0.0, 0.2, (12, 3))
    rough = model.solve_path(to(model, targets), model.mid_range)
    smooth = model.solve_path(to(model, targets), model.mid_range, posture=Posture(smoothness=10.0))
    assert smooth.steps.sum() < 0.8 * rough.steps.sum()


# Paths


@both
def test_a_path_of_an_arm_has_breaks_times_and_the_velocities_of_its_urdf(facade):
    model = facade.from_urdf(two_arms(), *(["base", "left_6"] if facade is Chain else []))
    assert (model.max_velocity == 1.0).all()
    moving = model.joint_names.index("left_2_joint")
    q = np.tile(model.mid_range, (6, 1))
    q[:, moving] += [0.0, 0.05, 0.1, 0.15, 0.2, 0.25]
    targets, start = to(model, tip(model, q, "left_6"), "left_6"), q[0]
    path = model.solve_path(targets, start)
    assert path.converged.all()
    assert path.converged.shape == (6,)
    assert path.breaks == ()
    slow = model.solve_path(targets, start, times=0.1)  # twice the time that is needed
    assert slow.converged.all()
    assert slow.breaks == ()
    for times, options in (
        (0.01, {}),
        (0.01 * np.arange(6.0), {}),
        (0.1, {"max_velocity": 0.1}),
    ):
        fast = model.solve_path(targets, start, times=times, **options)
        too_far = np.flatnonzero(fast.steps > 0.01 + 1e-9) + 1
        assert set(too_far) <= set(fast.breaks)
        assert fast.breaks == (1, 2, 3, 4, 5)
    # If only that joint is slow, a jump at the start may spare the others: fewer breaks are better.
    fast = model.solve_path(targets, start, times=0.1, max_velocity={"left_2_joint": 0.1})
    too_far = np.flatnonzero(np.abs(np.diff(fast.q[:, moving])) > 0.01 + 1e-9) + 1
    assert set(too_far) <= set(fast.breaks)
    assert 1 <= len(fast.breaks) <= 5
    assert model.solve_path(targets, start, max_step=0.01).breaks == (1, 2, 3, 4, 5)
    assert model.solve_path(targets, start - 0.1, max_step=0.06).breaks[0] == 0
    with pytest.raises(InvalidInputError, match="max_velocity needs times"):
        model.solve_path(targets, start, max_velocity=1.0)


def test_a_robot_obeys_the_velocities_of_its_urdf_in_a_path_of_several_links():
    model = Robot.from_urdf(two_arms())
    q = np.linspace(model.mid_range, model.mid_range + 0.1, 6)
    targets = {link: model.fk(q)[link] for link in ("left_6", "right_6")}
    for times in (0.01, 0.01 * np.arange(6.0)):
        path = model.solve_path(targets, q[0], times=times)
        assert (path.steps <= 0.01 + 1e-9).all()
        assert not path.converged[1:].any()
    assert model.solve_path(targets, q[0], times=0.1).converged.all()
    assert model.solve_path(targets, q[0] + 0.2, max_step=0.1).breaks == (0,)


def test_a_chain_has_the_limits_and_velocities_of_its_robot():
    robot = Robot.from_urdf(two_arms().replace('velocity="1"', 'velocity="0.5"'))
    for arm in (robot.chain("base", "left_6"), Chain.from_urdf(robot.to_urdf(), "base", "left_6")):
        of_robot = [robot.joint_names.index(name) for name in arm.joint_names]
        assert arm.max_velocity.tolist() == robot.max_velocity[of_robot].tolist() == [0.5] * 7
        assert arm.limits.tolist() == robot.limits[of_robot].tolist()
