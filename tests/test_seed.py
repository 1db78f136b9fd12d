"""The test vectors that ``ccd_solve`` was specified with, one test each."""

from math import pi

import numpy as np
import pytest

from jointwise import (
    DEFAULT_CCD_CONFIG,
    CCDConfig,
    DimensionMismatchError,
    ccd_solve,
    fk_position,
    three_link_spatial,
    two_link_planar,
)


def assert_reaches(arm, result, target, decimals):
    assert result.converged
    np.testing.assert_array_almost_equal(fk_position(arm, result.joint_angles), target, decimals)


def test_default_ccd_config():
    assert CCDConfig(max_iterations=100, tolerance=1e-4) == DEFAULT_CCD_CONFIG


def test_two_link_planar_reachable_target():
    arm, target = two_link_planar(1, 1), [1.5, 0.5, 0]
    result = ccd_solve(arm, target, [0, 0])
    assert_reaches(arm, result, target, 3)
    assert result.position_error < 1e-4


def test_two_link_planar_negative_quadrant():
    arm, target = two_link_planar(1, 1), [-0.5, -1.0, 0]
    assert_reaches(arm, ccd_solve(arm, target, [pi / 2, 0]), target, 2)


def test_two_link_planar_reach_boundary():
    result = ccd_solve(two_link_planar(1, 1), [1.9, 0, 0], [0.1, -0.1])
    assert result.converged
    assert result.position_error < 1e-3


def test_two_link_planar_unreachable_target():
    result = ccd_solve(two_link_planar(1, 1), [3, 0, 0], [0, 0], CCDConfig(max_iterations=50))
    assert result.converged is False
    assert result.iterations == 50
    assert result.position_error == pytest.approx(1.0)


def test_joint_angles_count():
    assert len(ccd_solve(two_link_planar(1, 1), [1, 1, 0], [0, 0]).joint_angles) == 2


def test_three_link_spatial_3d_target():
    arm, target = three_link_spatial(), [0.5, 0.5, 0.8]
    assert_reaches(arm, ccd_solve(arm, target, [0, 0.3, 0.3]), target, 2)


def test_three_link_spatial_convergence_from_zeros():
    assert ccd_solve(three_link_spatial(), [0.8, 0.3, 0.7], [0, 0, 0]).converged


def test_fk_round_trip():
    arm = two_link_planar(1, 0.5)
    target = fk_position(arm, [pi / 4, -pi / 6])
    assert_reaches(arm, ccd_solve(arm, target, [0, 0]), target, 3)


def test_custom_config_tighter_tolerance():
    arm, target = two_link_planar(1, 1), [1.5, 0.5, 0]
    loose = ccd_solve(arm, target, [0, 0], CCDConfig(tolerance=1e-2))
    tight = ccd_solve(arm, target, [0, 0], CCDConfig(tolerance=1e-6))
    assert loose.converged
    assert tight.converged
    assert tight.position_error <= loose.position_error


def test_custom_config_max_iterations_limits_computation():
    config = CCDConfig(max_iterations=3, tolerance=1e-10)
    assert ccd_solve(two_link_planar(1, 1), [1, 1, 0], [0, 0], config).iterations <= 3


def test_error_initial_angles_length_differs_from_joints_length():
    with pytest.raises(DimensionMismatchError) as caught:
        ccd_solve(two_link_planar(1, 1), [1, 1, 0], [0, 0, 0])
    assert isinstance(caught.value, ValueError)
