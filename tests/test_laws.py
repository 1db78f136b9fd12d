"""What always holds, over random arms and nasty ones."""

from math import pi

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jointwise import CCDConfig, DHJoint, ccd_solve, forward_kinematics, puma560, two_link_planar
from testbed import twin
from tests.support.arms import angles, chains, problems

ROUNDING = 1e-12


@given(problems(), st.integers(0, 30), st.sampled_from([1e-2, 1e-4, 1e-8, 1e-15]))
def test_converged_is_true_exactly_when_the_error_is_below_the_tolerance(problem, sweeps, close):
    arm, target, start = problem
    result = ccd_solve(arm, target, start, CCDConfig(sweeps, close))
    assert result.converged is (result.position_error < close)
    assert result.position_error == pytest.approx(
        twin.error(arm, result.joint_angles, target), abs=ROUNDING
    )
    assert 0 <= result.iterations <= sweeps
    assert result.converged or result.iterations == sweeps
    assert np.isfinite(result.joint_angles).all()


@given(problems())
def test_the_error_never_rises_from_sweep_to_sweep(problem):
    arm, target, start = problem
    errors = [
        ccd_solve(arm, target, start, CCDConfig(sweeps)).position_error for sweeps in range(8)
    ]
    assert (np.diff(errors) <= ROUNDING).all()


@given(problems())
def test_sweep_by_sweep_is_the_same_as_all_at_once(problem):
    arm, target, start = problem
    q = start
    for _ in range(4):
        assume(_is_well_posed(arm, target, q))
        q = ccd_solve(arm, target, q, CCDConfig(max_iterations=1)).joint_angles
    result = ccd_solve(arm, target, start, CCDConfig(max_iterations=4))
    np.testing.assert_allclose(result.joint_angles, q, atol=1e-6)


@given(problems())
def test_already_there_takes_no_iteration_and_moves_nothing(problem):
    arm, _, start = problem
    result = ccd_solve(arm, twin.tip(arm, start), start)
    assert result.converged
    assert result.iterations == 0
    np.testing.assert_array_equal(result.joint_angles, start)


@given(problems())
def test_no_iterations_only_measure(problem):
    arm, target, start = problem
    result = ccd_solve(arm, target, start, CCDConfig(max_iterations=0))
    np.testing.assert_array_equal(result.joint_angles, start)
    assert result.position_error == pytest.approx(twin.error(arm, start, target), abs=ROUNDING)
    assert result.iterations == 0


@given(problems())
def test_one_sweep_agrees_with_the_slow_twin(problem):
    arm, target, start = problem
    assume(_is_well_posed(arm, target, start))
    expected, *_ = twin.solve(arm, target, start, max_iterations=1)
    result = ccd_solve(arm, target, start, CCDConfig(max_iterations=1))
    np.testing.assert_allclose(result.joint_angles, expected, atol=1e-6)


def test_a_solve_of_a_long_arm_agrees_with_the_slow_twin():
    rng = np.random.default_rng(5)
    for joints in (10, 20, 30):
        arm = [DHJoint(a=0.1, d=0.02, alpha=alpha) for alpha in rng.uniform(-2, 2, joints)]
        goal, start = rng.uniform(-3, 3, (2, joints))
        target = twin.tip(arm, goal)
        expected, converged, error, iterations = twin.solve(arm, target, start)
        result = ccd_solve(arm, target, start)
        np.testing.assert_allclose(result.joint_angles, expected, atol=1e-6)
        assert (result.converged, result.iterations) == (converged, iterations)
        assert result.position_error == pytest.approx(error, abs=1e-9)


@given(problems())
def test_a_prismatic_joint_keeps_its_value_exactly(problem):
    arm, target, start = problem
    result = ccd_solve(arm, target, start)
    prismatic = [joint.joint_type == "prismatic" for joint in arm]
    np.testing.assert_array_equal(result.joint_angles[prismatic], start[prismatic])


@given(problems(), st.floats(-pi, pi), st.floats(-2.0, 2.0))
def test_moving_base_and_target_together_changes_nothing(problem, turn, lift):
    arm, target, start = problem
    assume(_is_well_posed(arm, target, start))
    first = arm[0]
    moved_arm = (
        DHJoint(first.theta + turn, first.d + lift, first.a, first.alpha, first.joint_type),
        *arm[1:],
    )
    c, s = np.cos(turn), np.sin(turn)
    moved_target = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ target + [0.0, 0.0, lift]
    one = CCDConfig(max_iterations=1)
    np.testing.assert_allclose(
        ccd_solve(moved_arm, moved_target, start, one).joint_angles,
        ccd_solve(arm, target, start, one).joint_angles,
        atol=1e-6,
    )


@pytest.mark.filterwarnings("ignore::jointwise.errors.MillimetresWarning")
@given(problems(), st.sampled_from([1e-3, 1e3]))
def test_scaling_arm_and_target_changes_no_angle(problem, unit):
    arm, target, start = problem
    assume(_is_well_posed(arm, target, start))
    scaled = [DHJoint(j.theta, j.d * unit, j.a * unit, j.alpha, j.joint_type) for j in arm]
    prismatic = np.array([joint.joint_type == "prismatic" for joint in arm])
    scaled_start = np.where(prismatic, start * unit, start)
    expected = ccd_solve(arm, target, start, CCDConfig(1, 1e-9))
    result = ccd_solve(scaled, target * unit, scaled_start, CCDConfig(1, 1e-9 * unit))
    np.testing.assert_allclose(
        result.joint_angles[~prismatic], expected.joint_angles[~prismatic], atol=1e-6
    )


@given(problems())
def test_same_input_gives_same_bits_and_is_not_modified(problem):
    arm, target, start = problem
    given_target, given_start = target.copy(), start.copy()
    first, second = ccd_solve(arm, target, start), ccd_solve(list(arm), list(target), tuple(start))
    np.testing.assert_array_equal(target, given_target)
    np.testing.assert_array_equal(start, given_start)
    np.testing.assert_array_equal(first.joint_angles, second.joint_angles)
    assert first.position_error == second.position_error
    assert not first.joint_angles.flags.writeable


@given(chains, st.data())
def test_forward_kinematics_agrees_with_the_slow_twin(arm, data):
    q = np.array([data.draw(angles) for _ in arm])
    result = forward_kinematics(arm, q)
    assert result.frames.shape == (len(arm) + 1, 4, 4)
    np.testing.assert_array_equal(result.frames[0], np.eye(4))
    np.testing.assert_allclose(result.frames, twin.frames(arm, q), atol=ROUNDING)
    np.testing.assert_array_equal(result.end_effector, result.frames[-1])
    assert not result.frames.flags.writeable
    assert not result.end_effector.flags.writeable


@pytest.mark.parametrize("start", [0.0, 3.0, pi, -pi, 10 * pi + 3.0, -1000.0])
@pytest.mark.parametrize("turn", [0.3, -0.3, pi - 1e-9, -pi + 1e-9, pi / 2])
def test_a_joint_takes_the_short_way_and_its_angle_is_not_wrapped(start, turn):
    one_link = [DHJoint(a=1.0)]
    target = [np.cos(start + turn), np.sin(start + turn), 0.0]
    result = ccd_solve(one_link, target, [start])
    assert result.joint_angles[0] == pytest.approx(start + turn, abs=1e-6)


def test_a_target_straight_behind_is_reached_by_half_a_turn_counterclockwise():
    assert ccd_solve([DHJoint(a=1.0)], [-1.0, 0.0, 0.0], [0.0]).joint_angles[0] == pi


def test_full_turns_are_counted():
    """A target that runs round and round drags the angle along, lap after lap."""
    one_link, q = [DHJoint(a=1.0)], [0.0]
    for angle in np.arange(0.0, 50.0, 1.0):
        q = ccd_solve(one_link, [np.cos(angle), np.sin(angle), 0.0], q).joint_angles
    assert q[0] == pytest.approx(49.0)
    for angle in np.arange(49.0, -50.0, -1.0):
        q = ccd_solve(one_link, [np.cos(angle), np.sin(angle), 0.0], q).joint_angles
    assert q[0] == pytest.approx(-49.0)


def test_a_joint_with_tip_or_target_on_its_axis_does_not_move():
    on_axis_tip = ccd_solve([DHJoint(d=1.0)], [0.5, 0.0, 1.0], [0.7])
    assert on_axis_tip.joint_angles[0] == 0.7
    on_axis_target = ccd_solve([DHJoint(a=1.0)], [0.0, 0.0, 1.0], [0.7])
    assert on_axis_target.joint_angles[0] == 0.7


def test_a_joint_moves_however_close_tip_and_target_are_to_its_axis():
    post = [DHJoint(d=1.0, a=1e-6)]
    result = ccd_solve(post, [0.0, 1e-6, 1.0], [0.0], CCDConfig(tolerance=1e-12))
    assert result.converged
    assert result.joint_angles[0] == pytest.approx(pi / 2)


@pytest.mark.parametrize("length", [1e-200, 1e-104, 1e-80, 1e-50, 1e8])
def test_arms_of_extreme_size_get_an_honest_result(length):
    arm, target = two_link_planar(length, length), np.array([length, length / 2, 0.0])
    result = ccd_solve(arm, target, [0.1, 0.2], CCDConfig(tolerance=1e-3 * length))
    assert result.converged is (result.position_error < 1e-3 * length)
    assert np.isfinite(result.joint_angles).all()
    assert result.position_error <= twin.error(arm, [0.1, 0.2], target)


@given(problems(), st.sampled_from([1e3, 1e6, -9e8]))
def test_start_angles_far_from_zero(problem, far):
    arm, target, start = problem
    prismatic = np.array([joint.joint_type == "prismatic" for joint in arm])
    start = np.where(prismatic, start, start + far)
    result = ccd_solve(arm, target, start, CCDConfig(5))
    before = ccd_solve(arm, target, start, CCDConfig(0)).position_error
    assert result.position_error <= before + 1e-15 * abs(far) * 20.0


def test_a_straight_arm_pulled_along_its_own_line_stays_straight():
    """Tip and target are in one direction from every joint: CCD cannot bend it, and says so."""
    result = ccd_solve(two_link_planar(1, 1), [1.0, 0.0, 0.0], [0.0, 0.0])
    assert not result.converged
    np.testing.assert_array_equal(result.joint_angles, [0.0, 0.0])
    assert result.position_error == 1.0


def test_the_wrist_of_the_puma_stays_still():
    """Its tip is the wrist's centre, which the last three joints cannot move."""
    start = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    result = ccd_solve(puma560(), [0.5, 0.3, 0.2], start)
    assert result.converged
    np.testing.assert_array_equal(result.joint_angles[3:], start[3:])
    assert (result.joint_angles[:3] != start[:3]).all()


def _is_well_posed(arm, target, start):
    """Whether one sweep is decided by the input and not by rounding.

    A joint turned by about half a turn, or with tip or target next to its axis, may go
    either way at the last digit; then two correct results need not agree.
    """
    q = np.array(start)
    for i in range(len(arm) - 1, -1, -1):
        if arm[i].joint_type != "revolute":
            continue
        frame = twin.frames(arm, q)[i]
        local_tip = frame[:3, :3].T @ (twin.tip(arm, q) - frame[:3, 3])
        local_target = frame[:3, :3].T @ (target - frame[:3, 3])
        tip_off, target_off = np.hypot(*local_tip[:2]), np.hypot(*local_target[:2])
        if min(tip_off, target_off) < 1e-15:
            continue
        if min(tip_off, target_off) < 1e-6:
            return False
        turn = np.arctan2(local_target[1], local_target[0]) - np.arctan2(local_tip[1], local_tip[0])
        if abs(np.cos(turn) + 1.0) < 1e-9:
            return False
        q[i] += np.arctan2(np.sin(turn), np.cos(turn))
    return True
