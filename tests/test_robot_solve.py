"""Laws of the solvers of whole robots."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from jointwise import Robot, SolveConfig, aim, robots
from jointwise.kernels.tree_fk import evaluate
from jointwise.kernels.tree_moments import assemble
from jointwise.kernels.tree_shapes import LOWER, UPPER, unpack_memory, unpack_problem
from jointwise.kernels.tree_sweep import sweep_tree, tree_energy
from jointwise.solvers.robot import solve_robot, solve_robot_batch, solve_robot_path
from jointwise.solvers.robot.path import Motion
from jointwise.solvers.robot.requests import Options, make_request, one_target_each
from tests.support.random_trees import random_tree, residual_and_jacobian
from tests.support.whole_robots import all_values, random_base
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
    links = [link for link, place in robot.model.links.items() if place.body >= 0]
    for link in links:
        pose, kind = poses[link], rng.integers(0, 3)
        around = aim(pose[:3, 3], pose[:3, 2], axis=rng.normal(size=3))
        found[link] = (pose, pose[:3, 3], around)[kind]
    return found


def position_of(target):
    """Of a target of any kind."""
    if hasattr(target, "position"):
        return target.position
    return target[:3, 3] if np.ndim(target) == 2 else target


def kernel_problem(robot, targets, options, q, base):
    """What kernels take: problem, targets, state, memory."""
    request = make_request(robot.model, one_target_each(robot.model, targets), q, base, options)
    problem = unpack_problem(request.problem.ints, request.problem.floats)
    memory = unpack_memory(problem, request.problem.memory)
    memory.lower[:], memory.upper[:] = request.settings[LOWER], request.settings[UPPER]
    memory.springs[:] = memory.rest[:] = 0.0  # the buffer is uninitialised
    return request, problem, request.targets[0], request.state, memory


@settings(max_examples=30)
@given(SEEDS, st.booleans())
def test_matrix_and_gradient_are_those_of_the_jacobian(seed, free_base):
    robot, rng = random_tree(seed, free_base=free_base), np.random.default_rng(seed)
    q, base, targets = robot.random(seed), random_base(seed), mixed_targets(robot, seed)
    weights = {link: rng.uniform(0.1, 2.0, 2) for link in targets}
    points = {link: rng.uniform(-0.1, 0.1, 3) for link in targets}
    request, problem, packed, state, memory = kernel_problem(
        robot, targets, Options(weights=weights, offsets=points), q, base
    )
    evaluate(problem, packed, state, memory)
    assemble(problem, state, memory)
    n, first = problem.row_starts.size - 1, 6 if free_base else 0
    unknowns = [*range(first), *(first + request.problem.variables)]
    matrix, gradient = np.zeros((n, n)), np.zeros(n)
    to_base = base[:3, :3].T  # the kernel's base is the identity, targets are in its frame
    for link, target in targets.items():
        p, rotation, moves, turns = residual_and_jacobian(
            robot, q, base, link, points[link], free_base
        )
        moves, turns = to_base @ moves[:, unknowns], to_base @ turns[:, unknowns]
        if free_base:  # displacements and rotations of the base are in its own axes
            for jacobian in (moves, turns):
                jacobian[:, :3] = jacobian[:, :3] @ base[:3, :3]
                jacobian[:, 3:6] = jacobian[:, 3:6] @ base[:3, :3]
        position, orientation = weights[link]
        orientation *= request.problem.angular_scale**2
        matrix += position * moves.T @ moves
        gradient += position * moves.T @ (to_base @ (position_of(target) - p))
        if np.ndim(target) == 2:
            turn = Rotation.from_matrix(target[:3, :3] @ rotation.T).as_rotvec()
            matrix += orientation * turns.T @ turns
        elif hasattr(target, "axis"):
            axis = rotation @ target.axis
            turn = np.cross(axis, target.direction)
            size = np.linalg.norm(turn)
            turn *= np.arctan2(size, axis @ target.direction) / size
            across = np.eye(3) - np.outer(to_base @ axis, to_base @ axis)
            matrix += orientation * turns.T @ across @ turns
        else:
            continue
        gradient += orientation * turns.T @ (to_base @ turn)
    found = np.zeros((n, n))
    for i in range(n):
        entries = slice(problem.row_starts[i], problem.row_starts[i + 1])
        found[i, problem.ancestors[entries]] = memory.matrix[entries]
    np.testing.assert_allclose(found, np.tril(matrix), rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(memory.gradient, gradient, rtol=0.0, atol=1e-7)


@settings(max_examples=50)
@given(SEEDS, st.booleans())
def test_energy_never_rises_in_a_sweep(seed, free_base):
    robot = random_tree(seed, free_base=free_base, limit=(0.3, 2.0, 4.0)[seed % 3])
    targets = mixed_targets(robot, seed, random_base(seed + 1))
    _, problem, packed, state, memory = kernel_problem(
        robot, targets, Options(), robot.random(seed), random_base(seed)
    )
    energy = first = tree_energy(problem, packed, state, memory)
    for _ in range(5):
        sweep_tree(problem, packed, state, memory)
        before, energy = energy, tree_energy(problem, packed, state, memory)
        assert energy <= before + 1e-12 * first
        values = state[: problem.strides.size]
        assert (memory.lower <= values).all()
        assert (values <= memory.upper).all()


def test_hands_and_feet_of_a_humanoid_are_reached(g1):
    for seed in range(12):
        targets = targets_of(g1, g1.random(seed), random_base(seed), HANDS_AND_FEET)
        result = solve_robot(g1.model, targets, seed=seed)
        assert result.converged
        assert result.message.startswith("All targets are reached")
        assert not result.missed
        poses = g1.fk(result.joint_angles, result.base)
        for link, target in targets.items():
            np.testing.assert_allclose(poses[link], target, rtol=0.0, atol=2e-6)
        lower, upper = g1.limits.T
        assert (lower <= result.joint_angles).all()
        assert (result.joint_angles <= upper).all()


@settings(max_examples=15)
@given(SEEDS)
def test_order_of_targets_does_not_matter(seed):
    robot = random_tree(seed)
    q, start = robot.random(seed), robot.random(seed)
    start += np.random.default_rng(seed).normal(scale=0.05, size=robot.n)
    targets = mixed_targets(robot, seed) | targets_of(robot, q)
    other = dict(reversed(targets.items()))
    one, two = (solve_robot(robot.model, each, start) for each in (targets, other))
    assert one.converged == two.converged
    np.testing.assert_allclose(one.joint_angles, two.joint_angles, rtol=0.0, atol=1e-5)


def test_moving_base_and_targets_together_changes_nothing(g1):
    for seed in range(4):
        start, moved = g1.random(seed), random_base(seed + 9)
        base, targets = random_base(seed), {}
        targets = targets_of(g1, 0.9 * start, base, HANDS_AND_FEET)
        one = solve_robot(g1.model, targets, start, base)
        shifted = {link: moved @ pose for link, pose in targets.items()}
        two = solve_robot(g1.model, shifted, start, moved @ base)
        np.testing.assert_allclose(one.joint_angles, two.joint_angles, rtol=0.0, atol=1e-6)
        np.testing.assert_allclose(moved @ one.base, two.base, rtol=0.0, atol=1e-6)


@settings(max_examples=20)
@given(SEEDS)
def test_mimic_joints_are_solved_over_their_masters(seed):
    robot = random_tree(seed, joints=8)
    free = random_tree(seed, joints=8)
    targets = targets_of(robot, robot.random(seed))
    result = solve_robot(robot.model, targets)
    values = all_values(robot, result.joint_angles)
    assert all(abs(value) <= 2.0 + 1e-9 for value in values.values())
    assert result.converged
    for link, pose in free.fk(result.joint_angles).items():
        if link in targets:
            np.testing.assert_allclose(pose, targets[link], rtol=0.0, atol=2e-6)


@pytest.mark.parametrize("name", ["panda", "ur5e", "iiwa14"])
def test_a_chain_as_a_robot_is_solved_as_often(name):
    chain, robot = getattr(robots, name)(), Robot.load(name)
    for seed in range(25):
        q, start = chain.random(seed), chain.random(seed + 1000)
        pose = chain.fk(q)
        assert chain.solve(pose, start).converged
        result = solve_robot(robot.model, {robot.link_names[-1]: pose}, start)
        assert result.converged
        np.testing.assert_allclose(chain.fk(result.joint_angles), pose, rtol=0.0, atol=2e-6)


def weighted_residuals(robot, targets, weights, q):
    """Of position targets."""
    poses = robot.fk(q)
    return np.concatenate(
        [np.sqrt(weights[link]) * (poses[link][:3, 3] - at) for link, at in targets.items()]
    )


@settings(max_examples=15)
@given(SEEDS)
def test_conflicting_targets_end_in_the_least_weighted_squares(seed):
    robot, rng = random_tree(seed, limit=1.5), np.random.default_rng(seed)
    start = 0.5 * robot.random(seed)
    poses = robot.fk(start)
    targets = {link: poses[link][:3, 3] + rng.normal(scale=0.2, size=3) for link in tips(robot)}
    targets |= {robot.link_names[-2]: poses[robot.link_names[-2]][:3, 3] + 3.0}
    weights = {link: float(rng.uniform(0.2, 2.0)) for link in targets}
    result = solve_robot(robot.model, targets, start, options=Options(weights=weights))
    assert not result.converged
    assert result.missed
    assert result.missed[0] in result.message

    def residuals(q):
        return weighted_residuals(robot, targets, weights, q)

    local = least_squares(residuals, result.joint_angles, bounds=robot.limits.T, xtol=1e-12)
    assert np.square(residuals(result.joint_angles)).sum() <= 2.0 * local.cost * (1.0 + 1e-4)
    again = solve_robot(robot.model, targets, result.joint_angles, options=Options(weights=weights))
    np.testing.assert_allclose(again.joint_angles, result.joint_angles, rtol=0.0, atol=2e-2)


def test_held_joints_and_a_held_base_stay_at_the_start(g1):
    start, base = 0.5 * g1.random(3), random_base(3)
    active = [name for name in g1.joint_names if "left_" in name and "hip" not in name]
    targets = targets_of(g1, start, base, ["left_rubber_hand"])
    targets["left_rubber_hand"] = targets["left_rubber_hand"][:3, 3] + 0.02
    result = solve_robot(g1.model, targets, start, base, Options(active=active))
    held = [i for i, name in enumerate(g1.joint_names) if name not in active]
    assert (result.joint_angles[held] == start[held]).all()
    np.testing.assert_allclose(result.base, base, rtol=0.0, atol=1e-12)
    assert result.converged
    assert (result.joint_angles != start).any()


def test_a_solution_near_the_rest_values_is_found():
    robot = Robot.load("panda")
    rest, (lower, upper) = 0.5 * robot.home, robot.limits.T
    targets = targets_of(robot, np.clip(rest + 0.2, lower, upper), links=["tip"])
    for seed in range(5):
        start, held = robot.random(seed), robot.joint_names[2]
        result = solve_robot(robot.model, targets, start, options=Options(rest=rest))
        assert result.converged
        assert np.abs(result.joint_angles - rest).max() < 0.5
        active = [name for name in robot.joint_names if name != held]
        options = Options(rest=rest, active=active)
        result = solve_robot(robot.model, targets, {held: 0.3}, options=options)
        assert result.converged
        assert result.joint_angles[2] == 0.3


def test_rest_values_count_where_targets_cannot_be_reached():
    robot, far = Robot.load("panda"), {"tip": [2.0, 0.0, 0.5]}
    rest = np.clip(robot.random(4), *robot.limits.T)
    found = [
        solve_robot(robot.model, far, options=Options(rest=rest, rest_weight=weight))
        for weight in (0.001, 1000.0)
    ]
    distances = [np.abs(result.joint_angles - rest).max() for result in found]
    assert distances[1] < 1e-2 < distances[0]
    assert found[0].errors["tip"].position_error < found[1].errors["tip"].position_error


def test_offsets_and_weights_decide_what_is_reached():
    robot = Robot.load("panda")
    tip = robot.fk(robot.random(2))["tip"]
    options = Options(offsets={"tip": [0.0, 0.0, 0.1]}, weights={"tip": (1.0, 0.0)})
    result = solve_robot(robot.model, {"tip": tip}, options=options)
    found = robot.fk(result.joint_angles)["tip"]
    assert result.converged
    np.testing.assert_allclose(found[:3, 3] + 0.1 * found[:3, 2], tip[:3, 3], atol=2e-6)
    assert result.errors["tip"].orientation_error > 0.01


def test_a_row_of_a_batch_is_a_single_solve(g1):
    q = g1.random(5, 40)
    poses = g1.fk(q)
    targets = {link: poses[link] for link in HANDS_AND_FEET}
    batch = solve_robot_batch(g1.model, targets, threads=2)
    assert len(batch) == 40
    assert str(batch) == "40 of 40 sets of targets reached."
    for i in (0, 17, 39):
        row = {link: many[i] for link, many in targets.items()}
        single, rows = solve_robot(g1.model, row), solve_robot_batch(g1.model, [row])
        assert (single.joint_angles == batch[i].joint_angles).all()
        assert (rows[0].joint_angles == single.joint_angles).all()
        assert (single.base == batch.bases[i]).all()
        assert single.errors == batch[i].errors


@settings(max_examples=20)
@given(SEEDS, st.booleans())
def test_a_single_solve_is_the_only_row_of_a_batch(seed, free_base):
    """Of mixed targets, some free and some out of reach: all that a result says is the same."""
    robot, rng = random_tree(seed, free_base=free_base), np.random.default_rng(seed)
    base, targets = random_base(seed), mixed_targets(robot, seed)
    options = {
        "start": robot.random(seed + 2),
        "base": base,
        "weights": {link: rng.uniform(0.1, 2.0, 2) * rng.integers(0, 2, 2) for link in targets}
        | {next(iter(targets)): 1.0},
        "config": SolveConfig(max_restarts=2),
    }
    single, row = robot.solve(targets, **options), robot.solve_batch([targets], **options)[0]
    assert single.joint_angles.tobytes() == row.joint_angles.tobytes()
    assert single.base.tobytes() == row.base.tobytes()
    for name in ("converged", "missed", "status", "iterations", "restarts"):
        assert getattr(single, name) == getattr(row, name)
    assert list(single.errors) == list(row.errors)
    np.testing.assert_array_equal(list(single.errors.values()), list(row.errors.values()))
    for array in (single.joint_angles, single.base):
        assert not array.flags.writeable


def test_an_earlier_request_leaves_nothing_behind(g1):
    """What is kept for the same links has no numbers of the targets, weights or starts."""
    q = 0.4 * g1.random(11, 2)
    plain, other = (targets_of(g1, each, links=HANDS_AND_FEET) for each in q)
    first = g1.solve(plain, start=q[0])
    hand, active = "left_rubber_hand", [name for name in g1.joint_names if "left" in name]
    options = {"weights": {hand: 3.0}, "offsets": {hand: [0.1, 0.0, 0.0]}, "rest": q[1]}
    g1.solve(other, start=q[1], base=[1.0, 0.0, 0.0], **options)
    g1.solve({hand: other[hand][:3, 3]}, active=active)
    g1.solve({hand: aim([0.2, 0.2, 0.1], [1, 0, 0])}, active=active)
    again = g1.solve(plain, start=q[0])
    assert first.joint_angles.tobytes() == again.joint_angles.tobytes()
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
    assert limits[0] <= held.joint_angles[0] <= limits[1]
    assert abs(held.joint_angles[0] - start) < 36.0


def test_a_path_is_followed_within_the_velocities(g1):
    ends, share = 0.4 * g1.random(8, 2), 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 120))
    q = ends[0] + share[:, None] * (ends[1] - ends[0])
    poses = g1.fk(q)
    frames = {link: poses[link].copy() for link in HANDS_AND_FEET}
    path = solve_robot_path(g1.model, frames, start=q[0])
    assert path.converged.all()
    assert path.largest_step < 0.1
    slow = solve_robot_path(g1.model, frames, q[0], motion=Motion(max_velocity=0.4, dt=0.02))
    assert not slow.converged.all()
    assert slow.largest_step <= 0.4 * 0.02 + 1e-12
    rng = np.random.default_rng(0)
    for poses in frames.values():
        poses[:, :3, 3] += rng.normal(scale=0.005, size=(120, 3))
    rough = solve_robot_path(g1.model, frames, q[0])
    smooth = solve_robot_path(g1.model, frames, q[0], motion=Motion(smooth=10.0))
    assert smooth.steps.mean() < 0.8 * rough.steps.mean()


def test_many_clips_have_the_bits_of_one_at_a_time(g1):
    q = 0.4 * g1.random(8)
    clips, motion = [], {"smooth": 0.1, "max_velocity": 2.0, "dt": 0.02}
    for frames in (1, 30, 7):
        poses = g1.fk(q + np.linspace(0.0, 0.05 * frames, frames)[:, None] * g1.random(9))
        clips.append({link: poses[link] for link in HANDS_AND_FEET})
    options = motion | {"start": q, "weights": {"left_rubber_hand": 0.5}, "base": [0, 0, 0.1]}
    paths = g1.solve_paths(clips, threads=2, **options)
    assert [len(path) for path in paths] == [1, 30, 7]
    for clip, path in zip(clips, paths, strict=True):
        one = g1.solve_path(clip, **options)
        assert (path.joint_angles == one.joint_angles).all()
        assert (path.bases == one.bases).all()
    assert g1.solve_paths([]) == []


def test_a_joint_that_can_turn_fully_is_never_blocked():
    robot = Robot.load("ur5")
    lower, upper = robot.limits.T
    assert (upper - lower >= 2.0 * np.pi).all()
    for seed in range(20):
        targets = targets_of(robot, robot.random(seed), links=[robot.link_names[-1]])
        config = SolveConfig(max_restarts=30)
        result = solve_robot(robot.model, targets, robot.random(seed + 50), config=config)
        assert result.converged
        assert (lower <= result.joint_angles).all()
        assert (result.joint_angles <= upper).all()


@pytest.mark.parametrize("distance", [1.0, 5.0, 50.0])
def test_a_target_out_of_reach_does_not_keep_another_limb_from_its_target(distance):
    robot = Robot.load("tiago_dual")
    links = "arm_left_7_link", "arm_right_7_link"
    arms = [name for name in robot.joint_names if name.startswith("arm_")]
    reached = robot.fk(robot.home)[links[1]].copy()
    reached[2, 3] += 0.02
    targets = {links[0]: [distance + 2.0, 0.0, 1.0], links[1]: reached[:3, 3]}
    result = robot.solve(targets, active=arms)
    assert result.missed == (links[0],)
    assert result.errors[links[1]].position_error < 1e-6


def test_velocity_limits_hold_from_the_start_to_the_first_frame():
    robot = Robot.load("panda")
    frames = robot.fk(robot.random(1, 5))["tip"][:1].repeat(40, axis=0)
    start = robot.random(2)
    path = robot.solve_path({"tip": frames}, start=start, max_velocity=0.5, dt=0.01)
    steps = np.diff(np.vstack([start, path.joint_angles]), axis=0)
    assert np.abs(steps).max() <= 0.005 + 1e-12
    assert np.abs(steps[0]).max() > 0.001


def test_no_targets_have_no_rows():
    robot = Robot.load("panda")
    assert robot.solve_batch({"tip": np.zeros((0, 3))}).joint_angles.shape == (0, robot.n)
