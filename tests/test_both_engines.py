"""Laws of every engine: the serial one and the one of trees solve the same problems."""

import numpy as np
import pytest

from jointwise import Chain, PathOptions, Posture, Scene, SolveConfig, Status, aim, pose, position
from jointwise.engines.path_limits import path_limits
from jointwise.engines.run_options import RunOptions
from jointwise.engines.serial.engine import SERIAL
from jointwise.engines.tree.engine import TREE
from testbed import twin
from tests.support.scenes import table, with_spheres


def serial_engine(arm):
    return SERIAL


def tree_engine(arm):
    return TREE


ENGINES = [serial_engine, tree_engine]
every_engine = pytest.mark.parametrize("engine", ENGINES, ids=["serial", "tree"])
every_arm = pytest.mark.parametrize("name", ["ur5e", "panda", "stanford"])
every_kind = pytest.mark.parametrize("kind", ["pose", "position", "aim", "weights", "point"])

POINT = np.array([0.03, -0.05, 0.12])


def solve(engine, arm, target, start=None, posture=None, config=None):
    problem = arm._problem(target, False, start, posture, config or SolveConfig())
    return engine(arm).solve(problem)


def solve_batch(engine, arm, targets, starts=None, posture=None, config=None, **options):
    problem = arm._problem(targets, True, starts, posture, config or SolveConfig())
    return engine(arm).solve_batch(problem, RunOptions(**options))


def follow(engine, arm, targets, start=None, velocity=np.inf, **limits):
    problem = arm._problem(targets, True, start, None, SolveConfig(), path=True)
    largest = path_limits(np.full(arm.n, velocity), len(targets), **limits)
    return engine(arm).follow(problem, largest, PathOptions())


def targets_of(kind, poses):
    """Targets of a kind that a tip at these poses (m, 4, 4) reaches."""
    points, z = poses[:, :3, 3], poses[:, :3, 2]
    beyond = points + poses[:, :3, :3] @ POINT
    return {
        "pose": poses,
        "position": np.ascontiguousarray(points),
        "aim": aim(points, z),
        "weights": pose(points, matrix=poses[:, :3, :3], weight=(2.0, 0.1)),
        "point": aim(beyond, z, point=POINT, weight=(0.3, 1.0)),
    }[kind]


def errors_of(kind, arm, q, target):
    """(distance, angle) by the twin's forward kinematics; NaN where nothing is asked."""
    tip = twin.tip_pose(arm.arm.links, arm.prismatic, q)
    if kind == "position":
        return np.linalg.norm(tip[:3, 3] - target), np.nan
    if kind in ("pose", "weights"):
        matrix = np.asarray(target)
        return np.linalg.norm(tip[:3, 3] - matrix[:3, 3]), twin.angle_between(tip, matrix)
    place, wanted, axis = target.values
    reached = tip[:3, 3] + tip[:3, :3] @ (POINT if kind == "point" else np.zeros(3))
    pointing = tip[:3, :3] @ axis
    sine = np.linalg.norm(np.cross(pointing, wanted))
    return np.linalg.norm(reached - place), np.arctan2(sine, pointing @ wanted)


@every_engine
@every_arm
@every_kind
def test_what_can_be_reached_is_reached_and_errors_are_true(engine, name, kind):
    arm = Chain.load(name)
    targets = targets_of(kind, arm.fk(arm.random(1, 40)))
    solved = 0
    for target, start in zip(targets, arm.random(2, 40), strict=True):
        result = solve(engine, arm, target, start)
        distance, angle = errors_of(kind, arm, result.q, target)
        assert result.position_error == pytest.approx(distance, abs=1e-12)
        assert result.orientation_error == pytest.approx(angle, abs=1e-9, nan_ok=True)
        reached = distance < 1e-6 and not angle >= 1e-6
        assert result.converged is (result.status is Status.CONVERGED) is bool(reached)
        assert (arm.limits[:, 0] <= result.q).all()
        assert (result.q <= arm.limits[:, 1]).all()
        assert not result.q.flags.writeable
        solved += result.converged
    assert solved >= 39


@every_engine
@every_kind
@pytest.mark.parametrize("given", ["no start", "one start", "starts"])
def test_a_row_of_a_batch_is_the_single_solve_bit_for_bit(engine, kind, given):
    arm = Chain.load("panda")
    targets = targets_of(kind, arm.fk(arm.random(3, 30)))
    starts = {"no start": None, "one start": arm.random(4), "starts": arm.random(4, 30)}[given]
    for config in (SolveConfig(), SolveConfig(max_restarts=2, seed=5)):
        batch = solve_batch(engine, arm, targets, starts, config=config)
        for i in range(30):
            start = starts[i] if given == "starts" else starts
            assert batch[i] == solve(engine, arm, targets[i], start, config=config)
        for threads in (1, 3):
            again = solve_batch(engine, arm, targets, starts, config=config, threads=threads)
            assert np.array_equal(again.q, batch.q)


@every_engine
def test_a_row_of_a_batch_with_a_posture_is_the_single_solve(engine):
    arm = Chain.load("panda")
    active = None if engine is serial_engine else arm.joint_names[1:]
    posture = Posture(arm.mid_range + 0.1, active=active)
    targets, starts = arm.fk(arm.random(3, 8))[:, :3, 3].copy(), arm.random(4, 8)
    for given in (None, starts):
        batch = solve_batch(engine, arm, targets, given, posture)
        for i in range(8):
            start = None if given is None else given[i]
            assert batch[i] == solve(engine, arm, targets[i], start, posture)


@every_engine
def test_an_invalid_row_is_a_status_and_changes_no_other(engine):
    arm = Chain.load("ur5e")
    poses, starts = arm.fk(arm.random(5, 9)), arm.random(6, 9)
    expected = solve_batch(engine, arm, poses, starts)
    spoilt, wrong = poses.copy(), starts.copy()
    spoilt[1, 2, 3], spoilt[2, :3, :3], spoilt[3, 0, 3] = np.nan, 1.1 * poses[2, :3, :3], 1e12
    wrong[4, 5], wrong[5, 0], wrong[6, 1] = np.nan, np.inf, -1e12
    batch = solve_batch(engine, arm, spoilt, wrong)
    valid = [0, 7, 8]
    assert np.flatnonzero(batch.status != Status.INVALID).tolist() == valid
    assert batch.q[valid].tolist() == expected.q[valid].tolist()
    invalid = np.delete(np.arange(9), valid)
    assert np.isnan(batch.q[invalid]).all()
    assert np.isnan(batch.position_error[invalid]).all()


@every_engine
def test_a_start_outside_the_limits_is_brought_in(engine):
    arm = Chain.load("panda")
    target = arm.fk(arm.mid_range)[:3, 3]
    for start in (np.full(7, 9.0), np.full(7, -9.0)):
        result = solve(engine, arm, target, start)
        assert result.converged
        assert (arm.limits[:, 0] <= result.q).all()
        assert (result.q <= arm.limits[:, 1]).all()


@every_engine
def test_already_there_takes_no_iteration(engine):
    for name in ("ur5e", "panda"):
        arm = Chain.load(name)
        q = arm.random(7)
        result = solve(engine, arm, arm.fk(q), q)
        assert (result.converged, result.iterations, result.restarts) == (True, 0, 0)
        assert np.array_equal(result.q, q)


@every_engine
def test_a_heavier_part_of_a_target_is_missed_by_less(engine):
    """Of the minima of a weighted sum: as a weight grows, its term falls and the other rises."""
    arm, compared = Chain.load("panda"), 0
    for seed in range(6):
        q = arm.random(seed)
        target = arm.fk(q)
        target[:3, 3] *= 2.5
        distances, angles = [], []
        for share in (0.01, 0.1, 1.0, 10.0):
            weighted = pose(target[:3, 3], matrix=target[:3, :3], weight=(1.0, share))
            result = solve(engine, arm, weighted, q, config=SolveConfig(max_restarts=0))
            if result.converged:
                break
            distances.append(result.position_error)
            angles.append(result.orientation_error)
            q = result.q
        compared += len(angles) > 1
        assert (np.diff(distances) >= -1e-4).all()
        assert (np.diff(angles) <= 1e-4).all()
    assert compared >= 3


def test_both_engines_miss_by_about_as_much():
    """The engine of trees ends in the smallest errors near the start, the other one may leave."""
    arm = Chain.load("panda")
    scale, compared = arm.arm.angular_scale, 0
    for seed in range(12):
        q = arm.random(seed)
        target = arm.fk(q)
        target[:3, 3] *= 1.6
        for weight in ((1.0, 1.0), (1.0, 0.1), (0.1, 1.0)):
            weighted = pose(target[:3, 3], matrix=target[:3, :3], weight=weight)
            found = [solve(engine, arm, weighted, q) for engine in ENGINES]
            if any(each.converged for each in found):
                continue
            costs = [
                weight[0] * each.position_error**2
                + weight[1] * (2.0 * scale * np.sin(0.5 * each.orientation_error)) ** 2
                for each in found
            ]
            assert costs[0] < 1.1 * costs[1]
            compared += 1
    assert compared > 10


@every_engine
def test_other_seeds_are_other_searches_and_the_same_seed_the_same(engine):
    arm = Chain.load("panda")
    targets, start = arm.fk(arm.random(8, 20)), arm.limits[:, 0]
    first, second, other = (
        solve_batch(engine, arm, targets, start, config=SolveConfig(seed=seed))
        for seed in (1, 1, 2)
    )
    assert list(first) == list(second)
    assert not np.array_equal(first.q, other.q)


# Scenes


@every_engine
def test_solutions_in_a_scene_are_free_and_batches_are_single_solves(engine):
    arm = with_spheres(Chain.load("panda")).with_scene(table(), margin=0.02)
    targets = arm.fk(arm.random(9, 40))
    config = SolveConfig(max_restarts=10)
    batch = solve_batch(engine, arm, targets, config=config)
    solved = batch.converged
    assert solved.sum() > 10
    assert arm.is_free(batch.q[solved]).all()
    assert (batch.clearance[solved] >= 0.02).all()
    np.testing.assert_allclose(batch.clearance, arm.clearance(batch.q), atol=1e-12)
    collides = np.isin(batch.status, [Status.COLLIDES, Status.COLLIDES_ALWAYS])
    assert collides.any()
    assert not arm.is_free(batch.q[collides]).any()
    for i in range(0, 40, 5):
        alone = solve(engine, arm, targets[i], config=config)
        assert alone == batch[i]
        assert alone.contact == batch.contact[i]


@every_engine
def test_a_hand_that_collides_at_the_target_is_proven(engine):
    arm = with_spheres(Chain.load("panda"))
    target = arm.fk(arm.mid_range)
    arm = arm.with_scene(Scene().sphere(0.05, target[:3, 3], name="ball"))
    result = solve(engine, arm, target)
    assert result.status is Status.COLLIDES_ALWAYS
    assert result.contact == ("link7", "ball")
    assert result.missed == ()


# Paths


@every_engine
def test_a_path_breaks_where_a_step_is_above_its_limit(engine):
    arm, start = Chain.load("ur5e"), np.array([0.3, -1.2, 1.4, -0.6, 1.1, 0.2])
    q = np.tile(start, (5, 1))
    q[:, 1] += [0.0, 0.05, 0.1, 0.3, 0.35]
    targets = arm.fk(q)
    assert follow(engine, arm, targets, start, times=None, max_step=None).breaks == ()
    path = follow(engine, arm, targets, start, times=None, max_step=0.1)
    assert path.converged.all()
    np.testing.assert_allclose(path.q, q, atol=1e-4)
    assert path.breaks == (3,)
    away = start + 0.2
    assert follow(engine, arm, targets, away, times=None, max_step=0.15).breaks == (0, 3)


@every_engine
def test_a_path_keeps_the_velocity_limits_or_says_where_not(engine):
    arm, start = Chain.load("ur5e"), np.array([0.3, -1.2, 1.4, -0.6, 1.1, 0.2])
    q = np.linspace(start, start + np.array([0.0, 0.3, 0.0, 0.0, 0.2, 0.0]), 7)
    targets = arm.fk(q)
    for times in (0.1, 0.1 * np.arange(7.0)):
        enough = follow(engine, arm, targets, start, 1.0, times=times, max_step=None)
        assert enough.converged.all()
        assert enough.breaks == ()
        short = follow(engine, arm, targets, start, 0.1, times=times, max_step=None)
        too_far = np.flatnonzero(short.steps > 0.01 + 1e-9) + 1
        assert set(too_far) <= set(short.breaks)
        assert short.breaks or not short.converged.all()


@every_engine
def test_a_path_of_points_and_of_positions(engine):
    arm = Chain.load("panda")
    line = np.linspace([0.4, -0.1, 0.4], [0.4, 0.1, 0.4], 9)
    for targets in (line, position(line, point=POINT)):
        path = follow(engine, arm, targets, arm.mid_range, times=None, max_step=None)
        assert path.converged.all()
        assert path.breaks == ()
        on_link = np.zeros(3) if targets is line else POINT
        poses = arm.fk(path.q)
        np.testing.assert_allclose(poses[:, :3, 3] + poses[:, :3, :3] @ on_link, line, atol=2e-6)
