"""The combined solver: laws over arms with limits, prismatic joints, poses and aims."""

from math import inf, pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation

from jointwise import (
    Chain,
    DHJoint,
    InvalidInputError,
    Posture,
    SolveConfig,
    Status,
    UnsolvedError,
    aim,
    puma560,
    robots,
    two_link_planar,
)
from jointwise.engines.serial.packing import packed_arm
from jointwise.kernels.kinematics.tasks import unpack_problem
from jointwise.kernels.layout.task import Criteria
from jointwise.kernels.serial import descent, search
from jointwise.targets import pack_target
from testbed import twin
from testbed.named_arms import CHOSEN as ARMS
from tests.support.arms import angles, rows
from tests.support.examples import examples, trials

ROUNDING = 1e-12
LIMITED = [name for name in ARMS if name != "Jaco2-like"]


@st.composite
def limited_chains(draw):
    """Arms of nasty rows with nasty limits: locked, touching pi, wider than a turn, endless."""
    joints = draw(st.lists(rows(), min_size=1, max_size=6))
    limits = []
    for _ in joints:
        low = draw(st.sampled_from([-inf, -2 * pi, -pi, -1.0, 0.0, 0.5]))
        high = draw(st.sampled_from([0.5, 1.0, pi, 2 * pi, inf]))
        limits.append([low, high])
    return Chain.from_dh(joints, limits)


@st.composite
def requests(draw):
    """(chain, target, start): any kind of target, reachable or not, some half a turn off."""
    chain = draw(limited_chains())
    start = np.array([draw(angles) for _ in range(chain.n)])
    pose = chain.fk(chain.random(draw(st.integers(0, 50))))
    if draw(st.booleans()):
        turn = draw(st.sampled_from([[pi, 0, 0], [0, 0, pi], [0.3, 0.2, 0.1], [0, 2.0, 0]]))
        pose[:3, :3] = pose[:3, :3] @ Rotation.from_rotvec(turn).as_matrix()
    pose[:3, 3] += draw(st.sampled_from([[0, 0, 0], [0.1, -0.2, 0.3], [9.0, 0, 0]]))
    kind = draw(st.sampled_from(["position", "pose", "aim"]))
    targets = {"position": pose[:3, 3], "pose": pose, "aim": aim(pose[:3, 3], pose[:3, 2])}
    return chain, targets[kind], start


def numbers(chain, target, config=None, preferred=None):
    """The arm and the task, as kernels take them."""
    arm, packed = packed_arm(chain.arm, config or SolveConfig(), preferred), pack_target(target)
    weights = packed.kind.weights(chain.arm.angular_scale)
    return unpack_problem(arm, chain.n, packed.values, weights)


def tolerances(value):
    return Criteria(value, value, 100, True, 0.5)


def twin_errors(chain, q, target):
    """(distance, angle) by the twin's forward kinematics."""
    pose = twin.tip_pose(chain.arm.links, chain.prismatic, q)
    if isinstance(target, np.ndarray) and target.shape == (3,):
        return np.linalg.norm(pose[:3, 3] - target), np.nan
    if isinstance(target, np.ndarray):
        return np.linalg.norm(pose[:3, 3] - target[:3, 3]), twin.angle_between(pose, target)
    position, direction, axis_of_tip = target.values
    axis = pose[:3, :3] @ axis_of_tip
    angle = np.arctan2(np.linalg.norm(np.cross(axis, direction)), axis @ direction)
    return np.linalg.norm(pose[:3, 3] - position), angle


def assert_sound(chain, target, result, config):
    """Every promise that holds for every result."""
    distance, angle = twin_errors(chain, result.q, target)
    assert result.position_error == pytest.approx(distance, abs=ROUNDING)
    assert result.orientation_error == pytest.approx(angle, abs=1e-9, nan_ok=True)
    there = result.position_error < config.position_tolerance
    there &= np.isnan(angle) or result.orientation_error < config.orientation_tolerance
    assert result.converged is bool(there)
    assert (result.status is Status.CONVERGED) is result.converged
    assert np.isfinite(result.q).all()
    assert (result.q >= chain.limits[:, 0]).all()
    assert (result.q <= chain.limits[:, 1]).all()
    assert not result.q.flags.writeable


@given(requests(), st.sampled_from(["combined", "ccd", "ccd_anderson"]))
@examples(60)
def test_every_result_keeps_its_promises(problem, method):
    chain, target, start = problem
    config = SolveConfig(1e-6, 1e-6, 5, method)
    given_start = start.copy()
    result = chain.solve(target, start, config=config)
    assert_sound(chain, target, result, config)
    np.testing.assert_array_equal(start, given_start)
    again = chain.solve(target, start, config=config)
    np.testing.assert_array_equal(result.q, again.q)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("kind", ["position", "pose", "aim"])
def test_every_reachable_target_is_reached(name, kind):
    chain = ARMS[name]
    solutions, starts = chain.random(11, 150), chain.random(12, 150)
    for pose, start in zip(chain.fk(solutions), starts, strict=True):
        target = {"position": pose[:3, 3], "pose": pose, "aim": aim(pose[:3, 3], pose[:3, 2])}[kind]
        result = chain.solve(target, start)
        assert result.converged
        assert_sound(chain, target, result, SolveConfig())


@pytest.mark.long  # compiles; test_kernels_run_uncompiled tries it uncompiled
@given(requests(), st.booleans())
@examples(60)
def test_energy_never_rises_in_a_sweep(problem, with_penalties):
    chain, target, start = problem
    penalties = (SolveConfig(stiffness=0.5), chain.mid_range) if with_penalties else ()
    arm, task = numbers(chain, target, *penalties)
    q = chain.solve(target, start, config=SolveConfig(method="ccd", max_iterations=0)).q.copy()
    before = descent.energy(arm, task, q)
    for _ in range(6):
        descent.descend(arm, task, tolerances(1e-12), -1.0, 1, q)
        after = descent.energy(arm, task, q)
        assert after <= before + ROUNDING * (1.0 + before)
        before = after


@pytest.mark.long  # compiles; test_kernels_run_uncompiled tries it uncompiled
@given(requests(), st.integers(0, 5), st.booleans())
@examples(60)
def test_one_joint_alone_takes_the_best_value_of_its_range(problem, joint, with_posture):
    """The exact step against a fine grid, all other joints locked."""
    chain, target, start = problem
    joint %= chain.n
    inside = chain.solve(target, start, config=SolveConfig(method="ccd", max_iterations=0)).q
    limits = np.stack([inside, inside], axis=1)
    low, high = chain.limits[joint]
    half = pi if chain.prismatic[joint] == 0 else 5.0
    low, high = max(low, inside[joint] - half), min(high, inside[joint] + half)
    limits[joint] = low, high
    alone = chain.with_limits(limits)
    preferred = np.full(chain.n, 0.3) if with_posture else None
    arm, task = numbers(alone, target, preferred=preferred)
    q = inside.copy()
    descent.descend(arm, task, tolerances(1e-15), -1.0, 1, q)
    reached = descent.energy(arm, task, q)
    for value in np.linspace(low, high, 400):
        other = inside.copy()
        other[joint] = value
        assert reached <= descent.energy(arm, task, other) + 1e-9


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("kind", ["position", "pose", "aim"])
def test_an_unreached_target_ends_in_a_closest_approach_without_jitter(name, kind):
    chain, rng = ARMS[name], np.random.default_rng(8)
    for trial in range(trials(12, 30)):
        pose = np.eye(4)
        pose[:3, :3] = Rotation.random(rng=rng).as_matrix()
        pose[:3, 3] = rng.normal(size=3) * (2.0 if trial % 2 else 0.4)
        target = {"position": pose[:3, 3], "pose": pose, "aim": aim(pose[:3, 3], pose[:3, 2])}[kind]
        result = chain.solve(target, chain.random(trial) if trial % 3 else None)
        again = chain.solve(target, result.q)
        assert np.abs(again.q - result.q).max() < 1e-6
        assert again.status is result.status or result.converged
        if not result.converged:
            arm, task = numbers(chain, target)
            closest = descent.energy(arm, task, result.q.copy())
            for other in chain.random(trial, 200):
                assert closest <= descent.energy(arm, task, other)


def test_a_target_beyond_reach_is_unreachable_without_a_long_search():
    chain = ARMS["UR5"]
    result = chain.solve([5.0, 0.0, 0.0])
    assert result.status is Status.UNREACHABLE
    assert result.restarts < 30
    tip = chain.fk(result.q)[:3, 3]
    assert tip[0] > 0.8
    assert abs(tip[1]) < 0.05


def test_a_straight_arm_with_the_target_on_its_own_line_is_solved():
    chain = Chain.from_dh(two_link_planar(1, 1))
    for target in ([1.0, 0.0, 0.0], [0.5, 0.0, 0.0], [-1.2, 0.0, 0.0]):
        assert chain.solve(target, [0.0, 0.0]).converged


@pytest.mark.parametrize("ends", [pi, 2 * pi, 7.0, inf])
def test_a_joint_with_a_full_turn_is_never_blocked_by_its_limits(ends):
    chain = Chain.from_dh([DHJoint(a=1.0)], [[-ends, ends]])
    for start in (-pi, -pi + 1e-9, -3.0, 0.0, 3.0, pi - 1e-12, pi):
        for goal in np.linspace(-pi, pi, 25):
            target = [np.cos(goal), np.sin(goal), 0.0]
            for method in ("combined", "ccd"):
                result = chain.solve(target, [start], config=SolveConfig(method=method))
                assert result.converged
                assert result.restarts == 0
                assert abs(result.q[0]) <= ends


def test_an_unlimited_joint_takes_the_short_way_from_its_start():
    chain = Chain.from_dh([DHJoint(a=1.0)])
    result = chain.solve([np.cos(0.2), np.sin(0.2), 0.0], [100.0 * pi])
    assert result.q[0] == pytest.approx(100.0 * pi + 0.2, abs=1e-5)


def test_the_solution_stays_near_the_start():
    for name in LIMITED:
        chain = ARMS[name]
        for q in chain.random(3, 50):
            nudge = np.where(chain.prismatic == 0, 0.02, 0.005)
            start = np.clip(q + nudge, *chain.limits.T)
            result = chain.solve(chain.fk(q), start)
            assert result.converged
            change = np.abs(result.q - start)
            assert np.linalg.norm(change) < 3.0 * np.linalg.norm(q - start) or change.max() < 0.1


def test_already_there_takes_no_iteration_and_moves_nothing():
    for chain in ARMS.values():
        q = chain.random(9)
        for target in (
            chain.fk(q),
            chain.fk(q)[:3, 3],
            aim(chain.fk(q)[:3, 3], chain.fk(q)[:3, 2]),
        ):
            result = chain.solve(target, q)
            assert (result.converged, result.iterations, result.restarts) == (True, 0, 0)
            np.testing.assert_array_equal(result.q, q)


def test_a_start_outside_the_limits_is_clamped():
    chain = ARMS["Panda"]
    result = chain.solve([0.3, 0.2, 0.5], [9.0] * 7)
    assert result.converged
    assert_sound(chain, np.array([0.3, 0.2, 0.5]), result, SolveConfig())


def test_an_aim_leaves_rotation_about_its_axis_free():
    chain = ARMS["Panda"]
    down = aim([0.4, 0.1, 0.3], direction=[0, 0, -1])
    result = chain.solve(down).or_raise()
    pose = chain.fk(result.q)
    np.testing.assert_allclose(pose[:3, 3], [0.4, 0.1, 0.3], atol=1e-6)
    np.testing.assert_allclose(pose[:3, 2], [0, 0, -1], atol=1e-6)
    sideways = chain.solve(aim([0.4, 0.1, 0.3], [0, 1, 0], axis=[1, 0, 0])).or_raise()
    np.testing.assert_allclose(chain.fk(sideways.q)[:3, 0], [0, 1, 0], atol=1e-6)


def test_a_rigid_transform_is_a_pose():
    chain = ARMS["iiwa 14"]
    pose = chain.fk(chain.random(4))
    by_matrix = chain.solve(pose)
    by_transform = chain.solve(RigidTransform.from_matrix(pose))
    np.testing.assert_allclose(by_matrix.q, by_transform.q, atol=1e-6)


def test_solutions_of_a_six_joint_arm_are_its_eight_branches():
    chain = ARMS["UR5"]
    pose = chain.fk([0.4, -1.1, 1.3, -0.8, 1.2, 0.3])
    found = chain.solutions(pose, count=20)
    assert len(found) == 8
    for result in found:
        assert_sound(chain, pose, result, SolveConfig())
        assert result.converged
    values = np.array([result.q for result in found])
    apart = np.abs((values[:, None] - values[None] + pi) % (2 * pi) - pi).max(axis=2)
    assert (apart + 9 * np.eye(8) > 0.1).all()
    assert len(chain.solutions(pose, count=3)) == 3
    assert len(chain.solutions(pose, 50, config=SolveConfig(1e-3, 1e-3))) == 8
    assert len(chain.solutions(pose, 50, near=found[0].q)) == 8
    assert not chain.solutions([9.0, 0.0, 0.0])


def test_solutions_of_a_redundant_arm_are_spread_out():
    chain = ARMS["Panda"]
    pose = chain.fk(chain.mid_range)
    found = chain.solutions(pose, count=6)
    assert len(found) == 6
    values = np.array([result.q for result in found])
    apart = np.abs(values[:, None] - values[None]).max(axis=2)
    assert (apart + 9 * np.eye(6) > 0.3).all()


def test_a_posture_selects_the_nearest_solution():
    chain = ARMS["Panda"]
    preferred = chain.mid_range + 0.2
    pose = chain.fk(chain.mid_range)
    nearest = chain.solve(pose, posture=Posture(preferred)).or_raise()
    distance = np.linalg.norm(nearest.q - preferred)
    for other in [chain.solve(pose, preferred), *chain.solutions(pose, count=50)]:
        assert other.converged
        assert distance <= np.linalg.norm(other.q - preferred) + 0.01


def test_a_stiff_joint_moves_less():
    chain = Chain.from_dh(puma560())
    start, target = np.array([0.1, 0.5, 0.3, 0, 0, 0]), [0.3, 0.4, 0.3]
    one = {"method": "ccd", "max_iterations": 1}
    loose = chain.solve(target, start, config=SolveConfig(**one)).q
    stiff = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    held = chain.solve(target, start, config=SolveConfig(**one, stiffness=stiff)).q
    assert abs(held[1] - start[1]) < 0.5 * abs(loose[1] - start[1])


def test_anderson_acceleration_speeds_up_ccd():
    chain = ARMS["UR5"]
    plain = SolveConfig(1e-4, 1e-4, method="ccd", max_iterations=20)
    accelerated = SolveConfig(1e-4, 1e-4, method="ccd_anderson", max_iterations=20)
    solutions, starts = chain.random(21, 200), chain.random(22, 200)
    solved = [0, 0]
    for pose, start in zip(chain.fk(solutions), starts, strict=True):
        for k, config in enumerate((plain, accelerated)):
            solved[k] += chain.solve(pose, start, config=config).converged
    assert solved[1] > 1.5 * solved[0]


def test_or_raise_says_why():
    chain = ARMS["UR5"]
    solved = chain.solve([0.4, 0.2, 0.3])
    assert solved.or_raise() is solved
    with pytest.raises(UnsolvedError) as caught:
        chain.solve([2.0, 0.0, 0.089159]).or_raise()
    assert str(caught.value).endswith(Status.UNREACHABLE.value)
    assert "Missed by 1." in str(caught.value)


def test_blocking_limits_are_reported():
    chain = Chain.from_dh(two_link_planar(1, 1), [[-0.5, 0.5], [-0.5, 0.5]])
    result = chain.solve([0.0, 1.5, 0.0])
    assert result.status is Status.OUTSIDE_LIMITS
    np.testing.assert_allclose(result.q, [0.5, 0.5])


def test_limits_are_blamed_only_if_the_target_is_reached_without_them():
    chain, rng = ARMS["Panda"], np.random.default_rng(3)
    free = chain.with_limits(None)
    seen = set()
    for trial in range(60):
        pose = chain.fk(chain.random(trial))
        pose[:3, :3] = Rotation.random(rng=rng).as_matrix()
        result = chain.solve(pose)
        seen.add(result.status)
        if result.status is Status.OUTSIDE_LIMITS:
            assert free.solve(pose).converged
    assert seen >= {Status.CONVERGED, Status.OUTSIDE_LIMITS}


def test_a_locked_joint_is_not_to_blame():
    chain = Chain.from_dh(two_link_planar(1, 1), [[-pi, pi], [0.5, 0.5]])
    for method in ("combined", "ccd"):
        result = chain.solve([0.0, 1.0, 0.7], config=SolveConfig(method=method))
        assert result.status is Status.STALLED
        assert result.q[1] == 0.5


def test_prismatic_joints_alone_reach_what_they_can():
    gantry = [
        DHJoint(alpha=-pi / 2, joint_type="prismatic"),
        DHJoint(theta=-pi / 2, alpha=-pi / 2, joint_type="prismatic"),
    ]
    chain = Chain.from_dh([*gantry, DHJoint(joint_type="prismatic")], [[0, 1], [-1, 1], [-2, inf]])
    q = np.array([0.3, -0.4, 5.0])
    for method in ("combined", "ccd"):
        result = chain.solve(chain.fk(q)[:3, 3], config=SolveConfig(method=method)).or_raise()
        np.testing.assert_allclose(result.q, q, atol=1e-5)


@pytest.mark.parametrize("defect", [1e-7, 4e-7, 1e-6, 1e-5])
def test_a_rotation_with_a_defect_is_accepted_or_refused_clearly(defect):
    chain, rng = ARMS["UR5"], np.random.default_rng(1)
    for _ in range(100):
        pose = chain.fk(chain.random(1))
        pose[:3] += defect * rng.normal(size=(3, 4))
        outcomes = set()
        for config in (SolveConfig(1e-4, 1e-4), SolveConfig(1e-4, 1e-4, method="ccd")):
            try:
                chain.solve(pose, config=config)
                outcomes.add("taken")
            except InvalidInputError:
                outcomes.add("refused")
        assert len(outcomes) == 1


def test_other_seeds_find_other_solutions_of_the_same_quality():
    chain = ARMS["Panda"]
    pose = chain.fk(chain.random(77))
    results = [chain.solve(pose, config=SolveConfig(seed=seed)) for seed in range(5)]
    assert all(result.converged for result in results)
    same = chain.solve(pose, config=SolveConfig(seed=3))
    np.testing.assert_array_equal(same.q, results[3].q)


def test_moving_base_and_target_together_changes_nothing():
    rng = np.random.default_rng(2)
    move = RigidTransform.from_components(rng.normal(size=3), Rotation.random(rng=rng))
    here = Chain.from_dh(puma560())
    there = Chain.from_dh(puma560(), base=move)
    for q, start in zip(here.random(1, 20), here.random(2, 20), strict=True):
        a = here.solve(here.fk(q), start)
        b = there.solve(move.as_matrix() @ here.fk(q), start)
        assert a.converged
        assert b.converged
        same = np.abs(a.q - b.q).max() < 1e-6
        assert same or a.restarts + b.restarts > 0


def test_kernels_are_compiled_once_for_each_kind_of_target():
    """Read-only or not, contiguous or not, any seed and configuration: the same machine code."""
    chain = ARMS["UR5"]
    pose = chain.fk(chain.random(5))
    for target in (pose, pose[:3, 3], np.asfortranarray(pose), pose.tolist()):
        chain.solve(target, chain.random(1), config=SolveConfig(seed=4))
        stiff, posture = SolveConfig(stiffness=0.1), Posture(chain.mid_range)
        chain.solve(target, tuple(chain.random(1)), posture=posture, config=stiff)
        chain.solutions(target)
    chain.solve(aim(pose[:3, 3], pose[:3, 2]))
    assert len(search.search_attempts.signatures) <= 3
    assert len(search.collect_solutions.signatures) <= 3


def test_a_trace_has_every_move_of_every_sweep():
    chain = ARMS["PUMA 560"]
    pose, start = chain.fk(chain.random(31)), chain.random(32)
    trace = chain.trace(pose, start)
    assert trace.converged
    assert trace.sweeps == 3
    np.testing.assert_array_equal(trace.q[0], start)
    for q, distance, angle in zip(
        trace.q, trace.position_error, trace.orientation_error, strict=True
    ):
        assert (distance, angle) == pytest.approx(twin_errors(chain, q, pose), abs=1e-9)
    moves = list(trace.moves())
    assert [move.joint for move in moves] == [5, 4, 3, 2, 1, 0] * 3
    arm, task = numbers(chain, pose)
    falling = [descent.energy(arm, task, move.q) for move in moves]
    assert (np.diff(falling) <= ROUNDING).all()
    np.testing.assert_array_equal(moves[-1].q, trace.q[3])
    near = chain.random(31) + 0.02
    assert chain.trace(pose, near).sweeps == 0
    assert not chain.trace([9.0, 0.0, 0.0]).converged


def test_a_trace_is_the_first_attempt_of_a_search():
    chain = ARMS["Panda"]
    pose, start = chain.fk(chain.random(31)), chain.random(31) + 0.3
    for each in (start, chain.random(31) + 0.02):
        result = chain.solve(pose, each)
        assert result.restarts == 0
        assert result.iterations == len(chain.trace(pose, each))


def test_trace_of_plain_ccd_is_plain_ccd():
    chain = ARMS["PUMA 560"]
    target, start = chain.fk(chain.random(33))[:3, 3], chain.random(34)
    config = SolveConfig(method="ccd", position_tolerance=1e-4)
    trace = chain.trace(target, start, config=config)
    result = chain.solve(target, start, config=config)
    assert result.converged
    assert trace.sweeps == len(trace) == result.iterations
    np.testing.assert_allclose(trace.q[-1], result.q, atol=1e-9)


@pytest.mark.parametrize("target", [[5.0, 0.0, 0.0], [2.0, 2.0, 2.0], [0.0, 0.0, 3.0]])
def test_the_trace_of_an_unreachable_target_never_leads_away(target):
    trace = robots.panda().trace(target)
    assert (np.diff(trace.position_error) <= 1e-12).all()
    reached = robots.panda().solve(target).position_error
    assert trace.position_error[-1] < 1.1 * reached


def test_targets_of_links_and_pairs_get_the_form_that_an_arm_takes():
    arm, position, quaternion = robots.ur5e(), [0.4, 0.2, 0.4], [0.0, 0.0, 0.0, 1.0]
    with pytest.raises(InvalidInputError, match=r"use a Robot: arm\.robot\.solve\(\{\.\.\.\}\)\.$"):
        arm.solve({"tip": position})
    assert arm.robot.solve({arm.tip_link: position}).converged
    for pair in ((position, quaternion), [np.array(position), np.array(quaternion)]):
        with pytest.raises(InvalidInputError, match=r"pass pose\(position, quat=quaternion\)\.$"):
            arm.solve(pair)
    for other in ("ab", [[1, [2]], [3]], [position, "ab"]):
        with pytest.raises(InvalidInputError, match=r": expected numbers\.$"):
            arm.solve(other)
