"""Laws of the solvers of whole robots."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from jointwise import Posture, Robot, SolveConfig, aim, position, robots
from jointwise.engines.tree.request import make_request
from jointwise.kernels.layout.tree import (
    SETTING_LOWER,
    SETTING_UPPER,
    TARGET_DIRECTIONS,
    TARGET_POINT,
    TARGET_POSITION_WEIGHT,
    unpack_memory,
    unpack_problem,
)
from jointwise.kernels.tree.base import direction_weight, fit_base
from jointwise.kernels.tree.factor import damped_step, factorise, substitute
from jointwise.kernels.tree.fk import evaluate, transform_target, tree_frames
from jointwise.kernels.tree.moments import assemble
from testbed.random_trees import random_tree
from testbed.whole_robots import all_values, random_base
from tests.support.examples import examples
from tests.support.random_trees import residual_and_jacobian, weigh
from tests.test_urdf_tips import BY_NAME

SEEDS = st.integers(0, 10_000)
HANDS_AND_FEET = [
    "left_ankle_roll_link",
    "right_ankle_roll_link",
    "left_rubber_hand",
    "right_rubber_hand",
]


@pytest.fixture(scope="module")
def g1():
    return Robot.from_urdf(BY_NAME["g1_29dof_rev_1_0.urdf"], free_base=True)


def tips(robot):
    """The links that carry no other."""
    parents = {place.parent for place in robot.model.links.values()}
    return [link for link in robot.link_names if link not in parents]


def targets_of(robot, q, base=None, links=None):
    """The poses of some links, as targets."""
    poses = robot.fk(q, base)
    return {link: poses[link] for link in links or tips(robot)}


def mixed_targets(robot, seed, base=None):
    """A pose, a position, an aim, a pose, ... for all links that a joint moves."""
    rng, found = np.random.default_rng(seed), {}
    poses = robot.fk(robot.random(seed + 1), base)
    links = [link for link, place in robot.model.links.items() if place.joint >= 0]
    for link in links:
        pose, kind = poses[link], rng.integers(0, 3)
        around = aim(pose[:3, 3], pose[:3, 2], axis=rng.normal(size=3))
        found[link] = (pose, pose[:3, 3], around)[kind]
    return found


def kernel_problem(robot, targets, q, base):
    """What kernels take: problem, targets, state, memory."""
    asked = robot.with_base(base)._problem([targets], True, q, None, SolveConfig())
    request = make_request(asked, many=True)
    problem = unpack_problem(request.tree.ints, request.tree.floats)
    memory = unpack_memory(problem, request.tree.memory)
    memory.lower[:], memory.upper[:] = (
        request.settings[SETTING_LOWER],
        request.settings[SETTING_UPPER],
    )
    memory.penalties[:] = memory.preferred[:] = 0.0  # the buffer is uninitialised
    return request, problem, request.targets[0], request.states[0], memory


@pytest.mark.long  # compiles; test_kernels_run_uncompiled tries it uncompiled
@examples(30)
@given(SEEDS, st.booleans())
def test_damped_steps_are_those_of_the_jacobian(seed, free_base):
    robot, rng = random_tree(seed, free_base=free_base), np.random.default_rng(seed)
    q, base = robot.random(seed), random_base(seed)
    targets = {
        link: weigh(target, rng.uniform(0.1, 2.0, 2), rng.uniform(-0.1, 0.1, 3))
        for link, target in mixed_targets(robot, seed).items()
    }
    request, problem, packed, state, memory = kernel_problem(robot, targets, q, base)
    evaluate(problem, packed, state, memory)
    assemble(problem, state, memory)
    n, first = memory.gradient.size, 6 if free_base else 0
    unknowns = [*range(first), *(first + request.tree.variables)]
    matrix, gradient = np.zeros((n, n)), np.zeros(n)
    to_base = base[:3, :3].T  # the kernel's base is the identity, targets are in its frame
    for link, target in targets.items():
        p, rotation, moves, turns = residual_and_jacobian(
            robot, q, base, link, target.point, free_base
        )
        moves, turns = to_base @ moves[:, unknowns], to_base @ turns[:, unknowns]
        if free_base:  # displacements and rotations of the base are in its own axes
            for jacobian in (moves, turns):
                jacobian[:, :3] = jacobian[:, :3] @ base[:3, :3]
                jacobian[:, 3:6] = jacobian[:, 3:6] @ base[:3, :3]
        position, orientation = target.weight
        orientation *= request.tree.angular_scale**2
        matrix += position * moves.T @ moves
        gradient += position * moves.T @ (to_base @ (target.position - p))
        if target.kind.directions == 3:
            turn = Rotation.from_matrix(target.matrix[:3, :3] @ rotation.T).as_rotvec()
            matrix += orientation * turns.T @ turns
        elif target.kind.directions == 1:
            _, direction, of_link = target.values
            axis = rotation @ of_link
            turn = np.cross(axis, direction)
            size = np.linalg.norm(turn)
            turn *= np.arctan2(size, axis @ direction) / size
            across = np.eye(3) - np.outer(to_base @ axis, to_base @ axis)
            matrix += orientation * turns.T @ across @ turns
        else:
            continue
        gradient += orientation * turns.T @ (to_base @ turn)
    np.testing.assert_allclose(memory.gradient, gradient, rtol=0.0, atol=1e-7)
    damping, held = 0.1, np.zeros(n, bool)
    held[first:] = rng.random(n - first) < 0.3
    memory.held[:] = held
    system = matrix + damping * np.eye(n)
    system[held] = np.eye(n)[held]
    factorise(problem, damping, memory)
    for _ in range(2):  # the same factors solve for any right-hand side
        values = rng.normal(size=n)
        expected = np.linalg.solve(system, values)
        substitute(problem, values, memory)
        np.testing.assert_allclose(values, expected, rtol=0.0, atol=1e-6)
    damped_step(problem, state, damping, memory)
    held = memory.held > 0.0
    system = matrix + damping * np.eye(n)
    system[held] = np.eye(n)[held]
    expected = np.linalg.solve(system, np.where(held, memory.step, gradient))
    after = state[: n - first] + expected[first:]
    if ((memory.lower <= after + 1e-9) & (after <= memory.upper + 1e-9)).all():  # not clamped
        np.testing.assert_allclose(memory.step, expected, rtol=0.0, atol=1e-6)


def chord_energy(problem, targets, state, memory):
    """Weighted squared distances of points and directions from their targets."""
    tree_frames(problem, state, memory.frames)
    energy, points, base = 0.0, np.empty((4, 3)), state[problem.strides.size :].reshape(3, 4)
    for k, target in enumerate(targets):
        transform_target(problem, state, memory.frames, target, k, points)
        wanted = target[TARGET_POINT : TARGET_POINT + 12].reshape(4, 3).copy()
        wanted[0] -= base[:, 3]
        energy += target[TARGET_POSITION_WEIGHT] * ((points[0] - wanted[0]) ** 2).sum()
        axes = slice(1, int(target[TARGET_DIRECTIONS]) + 1)
        energy += direction_weight(target) * ((points[axes] - wanted[axes]) ** 2).sum()
    return energy


@pytest.mark.long  # compiles; test_kernels_run_uncompiled tries it uncompiled
@examples(50)
@given(SEEDS)
def test_no_other_pose_of_the_base_is_better_than_the_fitted_one(seed):
    robot = random_tree(seed, free_base=True)
    targets = mixed_targets(robot, seed, random_base(seed + 1))
    _, problem, packed, state, memory = kernel_problem(
        robot, targets, robot.random(seed), random_base(seed)
    )
    before, q = chord_energy(problem, packed, state, memory), state[: problem.strides.size].copy()
    evaluate(problem, packed, state, memory)
    fit_base(problem, packed, state, memory)
    fitted = chord_energy(problem, packed, state, memory)
    assert fitted <= before + 1e-12
    np.testing.assert_array_equal(state[: problem.strides.size], q)
    base, rng = state[problem.strides.size :].reshape(3, 4), np.random.default_rng(seed)
    rotation, origin = base[:, :3].copy(), base[:, 3].copy()
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)
    for scale in (1e-3, 1.0) * 3:
        turn = Rotation.from_rotvec(scale * rng.normal(size=3)).as_matrix()
        base[:, :3], base[:, 3] = turn @ rotation, origin + scale * rng.normal(size=3)
        assert chord_energy(problem, packed, state, memory) >= fitted - 1e-12 * (1.0 + fitted)


def test_hands_and_feet_of_a_humanoid_are_reached(g1):
    for seed in range(12):
        targets = targets_of(g1, g1.random(seed), random_base(seed), HANDS_AND_FEET)
        result = g1.solve(targets, config=SolveConfig(seed=seed))
        assert result.converged
        assert result.message == "All targets are reached, within the tolerances."
        assert not result.missed
        poses = g1.fk(result.q, result.base_pose)
        for link, target in targets.items():
            np.testing.assert_allclose(poses[link], target, rtol=0.0, atol=2e-6)
        lower, upper = g1.limits.T
        assert (lower <= result.q).all()
        assert (result.q <= upper).all()


@examples(15)
@given(SEEDS)
def test_order_of_targets_does_not_matter(seed):
    robot = random_tree(seed)
    q, start = robot.random(seed), robot.random(seed)
    start += np.random.default_rng(seed).normal(scale=0.05, size=robot.n)
    targets = mixed_targets(robot, seed) | targets_of(robot, q)
    other = dict(reversed(targets.items()))
    one, two = (robot.solve(each, start) for each in (targets, other))
    assert one.converged == two.converged
    np.testing.assert_allclose(one.q, two.q, rtol=0.0, atol=1e-5)


def test_moving_base_and_targets_together_changes_nothing(g1):
    for seed in range(4):
        start, moved = g1.random(seed), random_base(seed + 9)
        base, targets = random_base(seed), {}
        targets = targets_of(g1, 0.9 * start, base, HANDS_AND_FEET)
        one = g1.with_base(base).solve(targets, start)
        shifted = {link: moved @ pose for link, pose in targets.items()}
        two = g1.with_base(moved @ base).solve(shifted, start)
        np.testing.assert_allclose(one.q, two.q, rtol=0.0, atol=1e-6)
        np.testing.assert_allclose(moved @ one.base_pose, two.base_pose, rtol=0.0, atol=1e-6)


def test_a_full_turn_of_a_joint_that_others_follow_is_none():
    """Half a turn of the follower, whose link has the target, is a full turn of the other joint."""
    joint = "<joint name='{0}' type='{1}'><parent link='base'/><child link='{0}_link'/>{2}</joint>"
    limit, follows = "<limit lower='-9' upper='9'/>", "<mimic joint='wheel' multiplier='0.5'/>"
    wheel = joint.format("wheel", "revolute", f"<axis xyz='0 0 1'/>{limit}")
    door = joint.format("door", "revolute", f"<axis xyz='0 0 1'/>{limit}{follows}")
    links = "".join(f"<link name='{name}'/>" for name in ("base", "wheel_link", "door_link"))
    robot = Robot.from_urdf(f"<robot name='doors'>{links}{wheel}{door}</robot>")
    target = {"door_link": robot.fk([4.0])["door_link"]}
    for start in ([-4.0], [0.0], [8.0]):
        result = robot.solve(target, start)
        assert result.converged
        assert np.allclose(robot.fk(result.q)["door_link"], target["door_link"], atol=1e-5)
        batch = robot.solve_batch([target], [start])
        np.testing.assert_array_equal(batch.q[0], result.q)


@examples(20)
@given(SEEDS)
def test_mimic_joints_are_solved_over_their_masters(seed):
    robot = random_tree(seed, joints=8)
    free = random_tree(seed, joints=8)
    targets = targets_of(robot, robot.random(seed))
    result = robot.solve(targets)
    values = all_values(robot, result.q)
    assert all(abs(value) <= 2.0 + 1e-9 for value in values.values())
    assert result.converged
    for link, pose in free.fk(result.q).items():
        if link in targets:
            np.testing.assert_allclose(pose, targets[link], rtol=0.0, atol=2e-6)


def every_joint(robot):
    """A posture that changes nothing but the engine: one target is solved by that of trees."""
    return Posture(active=robot.joint_names)


@pytest.mark.parametrize("posture", [lambda robot: None, every_joint], ids=["serial", "tree"])
@pytest.mark.parametrize("name", ["panda", "ur5e", "iiwa14"])
def test_a_chain_as_a_robot_is_solved_as_often(name, posture):
    chain, robot = getattr(robots, name)(), Robot.load(name)
    for seed in range(25):
        q, start = chain.random(seed), chain.random(seed + 1000)
        pose = chain.fk(q)
        assert chain.solve(pose, start).converged
        result = robot.solve({robot.link_names[-1]: pose}, start, posture=posture(robot))
        assert result.converged
        np.testing.assert_allclose(chain.fk(result.q), pose, rtol=0.0, atol=2e-6)


def weighted_residuals(robot, targets, q):
    """Of position targets."""
    poses = robot.fk(q)
    return np.concatenate(
        [
            np.sqrt(target.weight[0]) * (poses[link][:3, 3] - target.position)
            for link, target in targets.items()
        ]
    )


@examples(15)
@given(SEEDS)
def test_conflicting_targets_end_in_the_least_weighted_squares(seed):
    robot, rng = random_tree(seed, limit=1.5), np.random.default_rng(seed)
    start = 0.5 * robot.random(seed)
    poses = robot.fk(start)
    targets = {link: poses[link][:3, 3] + rng.normal(scale=0.2, size=3) for link in tips(robot)}
    targets |= {robot.link_names[-2]: poses[robot.link_names[-2]][:3, 3] + 3.0}
    targets = {link: position(at, weight=rng.uniform(0.2, 2.0)) for link, at in targets.items()}
    result = robot.solve(targets, start)
    assert not result.converged
    assert result.missed
    assert result.missed[0] in result.message

    def residuals(q):
        return weighted_residuals(robot, targets, q)

    local = least_squares(residuals, result.q, bounds=robot.limits.T, xtol=1e-12)
    assert np.square(residuals(result.q)).sum() <= 2.0 * local.cost * (1.0 + 1e-4)
    again = robot.solve(targets, result.q)
    np.testing.assert_allclose(again.q, result.q, rtol=0.0, atol=2e-2)


def test_held_joints_and_a_held_base_stay_at_the_start(g1):
    start, base = 0.5 * g1.random(3), random_base(3)
    active = [name for name in g1.joint_names if "left_" in name and "hip" not in name]
    targets = targets_of(g1, start, base, ["left_rubber_hand"])
    targets["left_rubber_hand"] = targets["left_rubber_hand"][:3, 3] + 0.02
    result = g1.with_base(base).solve(targets, start, posture=Posture(active=active))
    held = [i for i, name in enumerate(g1.joint_names) if name not in active]
    assert (result.q[held] == start[held]).all()
    np.testing.assert_allclose(result.base_pose, base, rtol=0.0, atol=1e-12)
    assert result.converged
    assert (result.q != start).any()


def test_a_solution_near_the_preferred_values_is_found():
    robot = Robot.load("panda")
    preferred, (lower, upper) = 0.5 * robot.mid_range, robot.limits.T
    targets = targets_of(robot, np.clip(preferred + 0.2, lower, upper), links=["tip"])
    for seed in range(5):
        start, held = robot.random(seed), robot.joint_names[2]
        result = robot.solve(targets, start, posture=Posture(preferred))
        assert result.converged
        assert np.abs(result.q - preferred).max() < 0.5
        active = [name for name in robot.joint_names if name != held]
        posture = Posture(preferred, active=active)
        result = robot.solve(targets, {held: 0.3}, posture=posture)
        assert result.converged
        assert result.q[2] == 0.3


def test_preferred_values_count_where_targets_cannot_be_reached():
    robot, far = Robot.load("panda"), {"tip": [2.0, 0.0, 0.5]}
    preferred, active = np.clip(robot.random(4), *robot.limits.T), robot.joint_names
    found = [
        robot.solve(far, posture=Posture(preferred, weight, active)) for weight in (0.001, 1000.0)
    ]
    distances = [np.abs(result.q - preferred).max() for result in found]
    assert distances[1] < 1e-2 < distances[0]
    assert found[0].errors["tip"].position_error < found[1].errors["tip"].position_error


def test_points_and_weights_decide_what_is_reached():
    robot = Robot.load("panda")
    tip = robot.fk(robot.random(2))["tip"]
    result = robot.solve({"tip": weigh(tip, (1.0, 0.0), np.array([0.0, 0.0, 0.1]))})
    found = robot.fk(result.q)["tip"]
    assert result.converged
    np.testing.assert_allclose(found[:3, 3] + 0.1 * found[:3, 2], tip[:3, 3], atol=2e-6)
    assert Rotation.from_matrix(found[:3, :3] @ tip[:3, :3].T).magnitude() > 0.01
    assert np.isnan(result.errors["tip"].orientation_error)  # it is free


def test_a_row_of_a_batch_is_a_single_solve(g1):
    q = g1.random(5, 40)
    poses = g1.fk(q)
    targets = {link: poses[link] for link in HANDS_AND_FEET}
    batch = g1.solve_batch(targets, threads=2)
    assert len(batch) == 40
    assert str(batch).startswith("40 of 40 solved")
    for i in (0, 17, 39):
        row = {link: many[i] for link, many in targets.items()}
        single, rows = g1.solve(row), g1.solve_batch([row])
        assert (single.q == batch[i].q).all()
        assert (rows[0].q == single.q).all()
        assert (single.base_pose == batch.base_poses[i]).all()
        assert single.errors == batch[i].errors


@examples(20)
@given(SEEDS, st.booleans())
def test_a_single_solve_is_the_only_row_of_a_batch(seed, free_base):
    """Of mixed targets, some free and some out of reach: all that a result says is the same."""
    robot, rng = random_tree(seed, free_base=free_base), np.random.default_rng(seed)
    robot, mixed = robot.with_base(random_base(seed)), mixed_targets(robot, seed)
    first, *others = mixed
    targets = {first: mixed[first]} | {
        link: weigh(mixed[link], rng.uniform(0.1, 2.0, 2) * rng.integers(0, 2, 2))
        for link in others
    }
    start, config = robot.random(seed + 2), SolveConfig(max_restarts=2)
    single = robot.solve(targets, start, config=config)
    row = robot.solve_batch([targets], start, config=config)[0]
    assert single.q.tobytes() == row.q.tobytes()
    assert single.base_pose.tobytes() == row.base_pose.tobytes()
    for name in ("converged", "missed", "status", "iterations", "restarts"):
        assert getattr(single, name) == getattr(row, name)
    assert list(single.errors) == list(row.errors)
    np.testing.assert_array_equal(list(single.errors.values()), list(row.errors.values()))
    for array in (single.q, single.base_pose):
        assert not array.flags.writeable


def test_an_earlier_request_leaves_nothing_behind(g1):
    """What is kept for the same links has no numbers of the targets, weights or starts."""
    q = 0.4 * g1.random(11, 2)
    plain, other = (targets_of(g1, each, links=HANDS_AND_FEET) for each in q)
    first = g1.solve(plain, start=q[0])
    hand, active = "left_rubber_hand", [name for name in g1.joint_names if "left" in name]
    changed = other | {hand: weigh(other[hand], (3.0, 3.0), np.array([0.1, 0.0, 0.0]))}
    g1.with_base([1.0, 0.0, 0.0]).solve(changed, start=q[1], posture=Posture(q[1]))
    g1.solve({hand: other[hand][:3, 3]}, posture=Posture(active=active))
    g1.solve({hand: aim([0.2, 0.2, 0.1], [1, 0, 0])}, posture=Posture(active=active))
    again = g1.solve(plain, start=q[0])
    assert first.q.tobytes() == again.q.tobytes()
    assert first.errors == again.errors


@pytest.mark.parametrize(("start", "lower"), [(3.0, -np.inf), (30.0, -np.inf), (-30.0, -1.0)])
def test_a_start_outside_a_single_limit_is_clamped(start, lower):
    limits = (lower, 1.0) if lower == -np.inf else (lower, np.inf)
    text = (
        '<robot name="one"><link name="a"/><link name="b"/><joint name="j" type="revolute">'
        '<parent link="a"/><child link="b"/><axis xyz="1 0 0"/>'
        f'<limit lower="{limits[0]}" upper="{limits[1]}"/></joint></robot>'
    )
    robot = Robot.from_urdf(text)
    held = robot.solve({"b": robot.fk(np.array([start]))["b"]}, np.array([start]))
    assert held.converged
    assert held.iterations == 0  # full turns away is the same pose
    assert limits[0] <= held.q[0] <= limits[1]
    assert abs(held.q[0] - start) < 36.0


def test_a_path_is_followed_within_the_velocities(g1):
    ends, share = 0.4 * g1.random(8, 2), 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 120))
    q = ends[0] + share[:, None] * (ends[1] - ends[0])
    poses = g1.fk(q)
    frames = {link: poses[link].copy() for link in HANDS_AND_FEET}
    path = g1.solve_path(frames, start=q[0])
    assert path.converged.all()
    assert path.largest_step < 0.1
    slow = g1.solve_path(frames, q[0], max_velocity=0.4, times=0.02)
    assert not slow.converged.all()
    assert slow.largest_step <= 0.4 * 0.02 + 1e-12
    rng = np.random.default_rng(0)
    for poses in frames.values():
        poses[:, :3, 3] += rng.normal(scale=0.005, size=(120, 3))
    rough = g1.solve_path(frames, q[0])
    smooth = g1.solve_path(frames, q[0], posture=Posture(smoothness=10.0))
    assert smooth.steps.mean() < 0.8 * rough.steps.mean()


def test_many_clips_have_the_bits_of_one_at_a_time(g1):
    q, hand, robot = 0.4 * g1.random(8), "left_rubber_hand", g1.with_base([0, 0, 0.1])
    clips, options = [], {"start": q, "max_velocity": 2.0, "times": 0.02}
    options["posture"] = Posture(smoothness=0.1)
    for frames in (1, 30, 7):
        poses = g1.fk(q + np.linspace(0.0, 0.05 * frames, frames)[:, None] * g1.random(9))
        clip = {link: poses[link] for link in HANDS_AND_FEET}
        clip[hand] = [weigh(pose, (0.5, 0.5)) for pose in clip[hand]]
        clips.append(clip)
    paths = robot.solve_paths(clips, threads=2, **options)
    assert [len(path) for path in paths] == [1, 30, 7]
    for clip, path in zip(clips, paths, strict=True):
        one = robot.solve_path(clip, **options)
        assert (path.q == one.q).all()
        assert (path.base_poses == one.base_poses).all()
    assert g1.solve_paths([]) == []


def test_a_joint_that_can_turn_fully_is_never_blocked():
    robot = Robot.load("ur5")
    lower, upper = robot.limits.T
    assert (upper - lower >= 2.0 * np.pi).all()
    for seed in range(20):
        targets = targets_of(robot, robot.random(seed), links=[robot.link_names[-1]])
        config = SolveConfig(max_restarts=30)
        result = robot.solve(
            targets, robot.random(seed + 50), posture=every_joint(robot), config=config
        )
        assert result.converged
        assert (lower <= result.q).all()
        assert (result.q <= upper).all()


@pytest.mark.parametrize("distance", [1.0, 5.0, 50.0])
def test_a_target_out_of_reach_does_not_keep_another_limb_from_its_target(distance):
    robot = Robot.load("tiago_dual")
    links = "arm_left_7_link", "arm_right_7_link"
    arms = [name for name in robot.joint_names if name.startswith("arm_")]
    reached = robot.fk(robot.mid_range)[links[1]].copy()
    reached[2, 3] += 0.02
    targets = {links[0]: [distance + 2.0, 0.0, 1.0], links[1]: reached[:3, 3]}
    result = robot.solve(targets, posture=Posture(active=arms))
    assert result.missed == (links[0],)
    assert result.errors[links[1]].position_error < 1e-6


def test_velocity_limits_hold_from_the_start_to_the_first_frame():
    robot = Robot.load("panda")
    frames = robot.fk(robot.random(1, 5))["tip"][:1].repeat(40, axis=0)
    start = robot.random(2)
    path = robot.solve_path(
        {"tip": frames}, start=start, max_velocity=0.5, times=0.01, posture=every_joint(robot)
    )
    steps = np.diff(np.vstack([start, path.q]), axis=0)
    assert np.abs(steps).max() <= 0.005 + 1e-12
    assert np.abs(steps[0]).max() > 0.001


def test_no_targets_have_no_rows():
    robot = Robot.load("panda")
    assert robot.solve_batch({"tip": np.zeros((0, 3))}).q.shape == (0, robot.n)
