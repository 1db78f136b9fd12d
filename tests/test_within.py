"""Targets with a tolerance box: answers are inside it, by a twin that shares no code."""

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import (
    Chain,
    InvalidInputError,
    Posture,
    Robot,
    Scene,
    SolveConfig,
    Status,
    aim,
    direction,
    pose,
    position,
    within,
)
from jointwise.engines.serial.tolerance import solve_sampled
from jointwise.targets.deviation import deviations_of, poses_at
from testbed.box_twin import BOXES, deviation, outside
from tests.support.examples import examples
from tests.support.facades import both, tip, to
from tests.support.two_arms import two_arms

COUNT, NAMES = 12, ("ur5e", "panda")
TOLERANCE = 1.01e-6
HERE = np.eye(4)
kinds = pytest.mark.parametrize("kind", BOXES)
frames = pytest.mark.parametrize("frame", ["target", "tool"])
arms = pytest.mark.parametrize("name", NAMES)
# Slow, as it is not compiled for the path of one link: every joint named, so not the serial engine.
ENGINES = {"serial": lambda model: None, "tree": lambda model: Posture(active=model.joint_names)}


def reachable(arm, count=COUNT, seed=7):
    """(count, 4, 4) poses inside the limits."""
    return arm.fk(arm.random(seed, count))


@both
@arms
@kinds
@frames
def test_answers_are_inside_the_box_and_errors_are_what_is_outside(facade, name, kind, frame):
    model, box = facade.load(name), {**BOXES[kind], "frame": frame}
    targets = reachable(Chain.load(name))
    found = model.solve_batch(to(model, within(targets, **box)))
    assert found.converged.all()
    for row, (target, q) in enumerate(zip(targets, found.q, strict=True)):
        errors = outside(target, tip(model, q), **box)
        assert max(errors) < TOLERANCE
        assert found.position_error[row] == pytest.approx(errors[0], abs=1e-9)
        assert found.orientation_error[row] == pytest.approx(errors[1], abs=1e-9)


@both
@kinds
@pytest.mark.parametrize("engine", ENGINES)
def test_a_batch_has_the_bits_of_single_solves(facade, kind, engine):
    model = facade.load("panda")
    targets, posture = within(reachable(Chain.load("panda"), 5), **BOXES[kind]), ENGINES[engine]
    batch = model.solve_batch(to(model, targets), posture=posture(model))
    for row, target in enumerate(targets):
        single = model.solve(to(model, target), posture=posture(model))
        assert single.converged
        assert max(outside(target.matrix, tip(model, single.q), **BOXES[kind])) < TOLERANCE
        assert np.array_equal(batch.q[row], single.q)
        assert batch[row].status is single.status


@both
@kinds
@frames
def test_the_tree_engine_solves_for_boxes(facade, kind, frame):
    model, box = facade.load("panda"), {**BOXES[kind], "frame": frame}
    for target in reachable(Chain.load("panda"), 3):
        given = to(model, within(target, **box))
        result = model.solve(given, posture=ENGINES["tree"](model))
        errors = outside(target, tip(model, result.q), **box)
        assert result.converged
        assert max(errors) < TOLERANCE
        assert result.position_error == pytest.approx(errors[0], abs=1e-9)


@both
@arms
def test_a_box_without_extent_is_the_pose_itself(facade, name):
    model = facade.load(name)
    poses = reachable(Chain.load(name))
    boxed = within(poses)
    exact, found = (model.solve_batch(to(model, each)) for each in (poses, boxed))
    assert np.array_equal(exact.q, found.q)
    assert np.array_equal(exact.status, found.status)
    assert np.array_equal(model.solve(to(model, boxed[3])).q, exact.q[3])
    some = within(poses, position=[0.1 * (k == 0) for k in range(3)])
    mixed = model.solve_batch(to(model, [some[0], *boxed[1:]]))
    assert np.array_equal(mixed.q[1:], exact.q[1:])


@arms
def test_a_free_rotation_is_solved_wherever_a_position_is(name):
    arm = Chain.load(name)
    points = reachable(arm)[:, :3, 3]
    poses = reachable(arm, seed=8)
    poses[:, :3, 3] = points
    free = within(poses, rotation=inf)
    found, plain = arm.solve_batch(free), arm.solve_batch(points)
    assert np.array_equal(found.converged, plain.converged)
    assert np.abs(arm.fk(found.q)[:, :3, 3] - points).max() < 1e-6
    assert (found.orientation_error == 0.0).all()


def test_a_position_may_have_a_box():
    arm = Chain.load("ur5e")
    target = within(position([0.4, 0.2, 0.3], weight=2.0), position=(0.0, inf, (0.0, 0.1)))
    assert target.weight == (2.0, 2.0)
    x, _, z = arm.fk(arm.solve(target).q)[:3, 3]
    assert x == pytest.approx(0.4, abs=1e-6)
    assert 0.3 - 1e-6 < z < 0.4 + 1e-6


def test_a_configuration_inside_the_box_stays():
    arm = Chain.load("panda")
    q = arm.random(4)
    turned = poses_at(within(arm.fk(q), rotation=1.0).values, np.array([0.0] * 5 + [0.9]))
    result = arm.solve(within(turned, rotation=1.0), q)
    assert np.array_equal(result.q, q)
    assert result.iterations == 0


@given(st.integers(0, 2), st.sampled_from(["target", "tool"]), st.integers(0, 10_000))
@examples(60)
def test_deviations_and_poses_are_inverse_and_those_of_the_twin(axis, frame, seed):
    random = np.random.default_rng(seed)
    target = Chain.load("panda").fk(Chain.load("panda").random(seed))
    rotation = [3.0 if k == axis else 0.5 for k in range(3)]
    wanted = random.uniform(-1.0, 1.0, 6) * [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]
    boxed = within(target, rotation=rotation, frame=frame)
    reached = poses_at(boxed.values, wanted)
    assert deviations_of(boxed.values, reached) == pytest.approx(wanted, abs=1e-12)
    found = np.concatenate(deviation(target, reached, rotation, frame))
    assert found == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("box", [*BOXES.values(), {"position": inf, "rotation": inf}], ids=repr)
def test_closed_forms_of_poses_inside_the_box_are_solutions(box):
    arm = Chain.load("ur5e").arm
    for target in within(reachable(Chain.load("ur5e"), 3), **box):
        q, criteria = arm.mid_range.copy(), (1e-6, 1e-6, 0, False, 0.0)
        assert solve_sampled(arm, arm.packed, arm.closed_form.packed, target.values, criteria, q)
        assert max(outside(target.matrix, Chain.load("ur5e").fk(q), **box)) < TOLERANCE


def test_a_box_that_one_attempt_misses_is_solved_in_closed_form():
    arm, config = Chain.load("ur5e"), SolveConfig(max_restarts=0)
    targets = reachable(arm, 100)
    assert arm.solve_batch(within(targets, rotation=(0, 0, 0.01)), config=config).converged.all()


@frames
def test_unreachable_is_a_proof_for_all_of_the_box(frame):
    arm = Chain.load("ur5e")
    far = pose([3.0, 0.0, 0.4], rpy=[0.0, 0.0, 0.0])
    assert arm.solve(within(far, 1.0, frame=frame)).status is Status.UNREACHABLE
    near = within(far, position=((-3.0, 0.0), 0.0, 0.0), rotation=inf)
    assert arm.solve(near).converged
    batch = arm.solve_batch([within(far, 1.0), near])
    assert batch[0].status is Status.UNREACHABLE
    assert batch.converged[1]


@both
def test_what_collides_at_the_pose_may_be_free_inside_the_box(facade):
    ball = Scene().sphere(0.08, [0.4, 0.1, 0.4], name="ball")
    model = facade.load("ur5e").with_scene(ball)
    target = pose([0.4, 0.1, 0.4], rpy=[np.pi, 0.0, 0.0])
    assert model.solve(to(model, target)).status is Status.COLLIDES_ALWAYS
    result = model.solve(to(model, within(target, position=0.3)))
    assert result.converged
    assert model.is_free(result.q)


@both
@frames
@pytest.mark.parametrize("engine", ENGINES)
def test_a_tracker_stays_inside_the_box(facade, frame, engine):
    model, arm = facade.load("panda"), Chain.load("panda")
    q = arm.mid_range + 0.3 * (arm.random(3) - arm.mid_range)
    targets = np.tile(arm.fk(q), (150, 1, 1))
    targets[:, 0, 3] += np.linspace(0.0, 0.1, 150)
    box = {"position": (0.0, 0.02, 0.01), "rotation": (0.1, 0.0, inf), "frame": frame}
    posture = ENGINES[engine](model)
    tracker = model.track(q, 0.02, max_velocity=3.0, max_acceleration=30.0, posture=posture)
    run = tracker.run(to(model, within(targets, **box)))
    assert {each.status.name for each in list(run)[10:]} == {"FOLLOWING"}
    for k in range(0, 150, 10):
        errors = outside(targets[k], tip(model, run.q[k]), **box)
        assert run.position_error[k] == pytest.approx(errors[0], abs=1e-9)
        assert run.orientation_error[k] == pytest.approx(errors[1], abs=1e-9)


def test_paths_and_plans_end_inside_the_box():
    arm = Chain.load("ur5e").with_scene(Scene().box([0.1, 0.1, 0.1], [0.0, 0.8, 0.1]))
    targets = reachable(arm, 1, seed=2) + np.zeros((20, 4, 4))
    targets[:, 2, 3] += np.linspace(0.0, 0.05, 20)
    path = arm.solve_path(within(targets, rotation=(0, 0, inf)))
    assert path.converged.all()
    for target, q in zip(targets, path.q, strict=True):
        assert max(outside(target, arm.fk(q), rotation=(0, 0, inf))) < TOLERANCE
    plan = arm.plan(within(targets[-1], rotation=(0, 0, inf)), arm.home)
    assert plan.found
    end = outside(targets[-1], arm.fk(plan.waypoints[-1]), rotation=(0, 0, inf))
    assert max(end) < TOLERANCE


BAD = {
    "frame is 'base': expected 'target' or 'tool'.": {"frame": "base"},
    "rotation about x is NaN: expected a number, (low, high), or inf for free.": {"rotation": nan},
    "position along y: low end 2 is above high end 1.": {"position": (0, (2, 1), 0)},
    "position along x is -0.1: expected 0 or more for ±, or (low, high).": {"position": -0.1},
    "rotation about z is (inf, inf): expected a finite end.": {"rotation": (0, 0, (inf, inf))},
    "position is (1, 2): expected a number for all axes, or three, each a number or (low, high).": {
        "position": (1, 2)
    },
    "rotation is 'free': expected a number for all axes, or three, each a number or (low, high).": {
        "rotation": "free"
    },
}


@pytest.mark.parametrize("text", BAD)
def test_bad_boxes_are_refused(text):
    with pytest.raises(InvalidInputError) as caught:
        within(HERE, **BAD[text])
    assert str(caught.value) == text


REFUSED = {
    "target is an aim: expected a pose or a position. For a free turn, use rotation=(0, 0, inf).": (
        aim([0, 0, 1], [0, 0, 1])
    ),
    "target is a direction: expected a pose or a position. For a free turn, use "
    "rotation=(0, 0, inf).": direction([0, 0, 1]),
    "target has a tolerance box already: expected a pose or a position.": within(HERE),
    "target has shape (2,): expected (4, 4) for a pose, (3,) for a position, or m of them.": [1, 2],
    "target[0, 0] is nan: expected finite numbers below 1e9.": np.full((4, 4), nan),
}


@pytest.mark.parametrize("text", REFUSED)
def test_targets_that_have_no_box_are_refused(text):
    with pytest.raises(InvalidInputError) as caught:
        within(REFUSED[text], 0.1)
    assert str(caught.value) == text


def test_a_position_has_no_rotation_to_limit():
    with pytest.raises(InvalidInputError, match="rotation is given for a position, whose rotation"):
        within([0.1, 0.2, 0.3], rotation=0.1)


def test_solutions_of_a_box_are_not_listed():
    arm = Chain.load("ur5e")
    for call in (arm.solutions, lambda target: arm.solutions_batch([target])):
        with pytest.raises(InvalidInputError, match="which has infinitely many solutions: expecte"):
            call(within(reachable(arm, 1)[0], 0.1))


def test_a_list_of_boxes_is_one_batch_and_poses_without_a_box_are_refused_in_it():
    arm = Chain.load("ur5e")
    poses = reachable(arm, 3)
    sizes = (0.0, 0.1, 0.2)
    targets = [within(each, size) for each, size in zip(poses, sizes, strict=True)]
    found = arm.solve_batch(targets)
    for target, q, size in zip(poses, found.q, sizes, strict=True):
        assert max(outside(target, arm.fk(q), size)) < TOLERANCE
    with pytest.raises(InvalidInputError, match="mix poses and poses within boxes: expected one"):
        arm.solve_batch([*targets, poses[0]])


def test_the_box_of_a_target_is_as_given():
    many = within(np.tile(HERE, (2, 1, 1)), (0.1, (0.0, inf), 0.0), (0.0, 0.2, inf))
    assert many.box.shape == (2, 4, 3)
    assert len(many) == 2
    assert many[1].box.tolist() == [[-0.1, 0, 0], [0.1, inf, 0], [0, -0.2, -inf], [0, 0.2, inf]]
    assert pose([0, 0, 0], rpy=[0, 0, 0]).box is None
    with pytest.raises(TypeError, match="no array stands for a target of kind 'within'"):
        np.asarray(within(HERE))


@pytest.mark.parametrize("free_base", [False, True])
@frames
def test_a_robot_takes_boxes_of_several_links(free_base, frame):
    robot = Robot.from_urdf(two_arms(), free_base=free_base)
    poses = robot.fk(robot.random(3))
    left, right = poses["left_6"], poses["right_6"]
    boxes = {"position": 0.02}, {"rotation": (0.1, 0.1, inf)}
    targets = {
        "left_6": within(left, **boxes[0], frame=frame),
        "right_6": within(right, **boxes[1], frame=frame),
        "head": poses["head"][:3, 3],
    }
    result = robot.solve(targets)
    assert result.converged
    found = robot.fk(result.q, base_pose=result.base_pose)
    assert max(outside(left, found["left_6"], **boxes[0], frame=frame)) < TOLERANCE
    assert max(outside(right, found["right_6"], **boxes[1], frame=frame)) < TOLERANCE
