"""Forward kinematics compared with the closed forms of textbooks, and SciPy types."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import RigidTransform, Rotation

from jointwise import (
    DHJoint,
    ccd_solve,
    fk_position,
    fk_rotation,
    forward_kinematics,
    puma560,
    scara,
    stanford_arm,
    three_link_spatial,
    two_link_planar,
)
from jointwise.model.rotation import quaternion, rpy_matrix

RNG = np.random.default_rng(7)


@pytest.mark.parametrize("q", RNG.uniform(-4, 4, (5, 2)))
def test_two_link_planar_matches_the_closed_form(q):
    expected = [np.cos(q[0]) + 0.5 * np.cos(q.sum()), np.sin(q[0]) + 0.5 * np.sin(q.sum()), 0.0]
    assert_allclose(fk_position(two_link_planar(1.0, 0.5), q), expected, atol=1e-14)


@pytest.mark.parametrize("q", RNG.uniform(-4, 4, (5, 3)))
def test_three_link_spatial_matches_the_closed_form(q):
    radius = np.cos(q[1]) + 0.5 * np.cos(q[1] + q[2])
    height = 0.5 + np.sin(q[1]) + 0.5 * np.sin(q[1] + q[2])
    expected = [radius * np.cos(q[0]), radius * np.sin(q[0]), height]
    assert_allclose(fk_position(three_link_spatial(), q), expected, atol=1e-14)


@pytest.mark.parametrize("q", RNG.uniform(-4, 4, (5, 4)))
def test_scara_matches_the_closed_form(q):
    expected = [
        0.4 * np.cos(q[0]) + 0.3 * np.cos(q[0] + q[1]),
        0.4 * np.sin(q[0]) + 0.3 * np.sin(q[0] + q[1]),
        -q[2],
    ]
    arm = scara(0.4, 0.3)
    assert_allclose(fk_position(arm, q), expected, atol=1e-14)
    rotation = Rotation.from_euler("z", q[0] + q[1]) * Rotation.from_euler("x", np.pi)
    rotation = rotation * Rotation.from_euler("z", q[3])
    assert_allclose(fk_rotation(arm, q).as_matrix(), rotation.as_matrix(), atol=1e-14)


@pytest.mark.parametrize("q", RNG.uniform(-4, 4, (5, 6)))
def test_stanford_arm_matches_the_closed_form(q):
    c1, s1, c2, s2 = np.cos(q[0]), np.sin(q[0]), np.cos(q[1]), np.sin(q[1])
    expected = [
        c1 * s2 * q[2] - 0.154 * s1,
        s1 * s2 * q[2] + 0.154 * c1,
        c2 * q[2] + 0.412,
    ]
    assert_allclose(fk_position(stanford_arm(), q), expected, atol=1e-14)


def test_puma560_at_zero_is_at_its_published_lengths():
    expected = [0.4318 + 0.0203, -0.15005, -0.4318]
    assert_allclose(fk_position(puma560(), np.zeros(6)), expected, atol=1e-15)


def test_results_convert_to_scipy():
    arm, q = puma560(), RNG.uniform(-3, 3, 6)
    result = forward_kinematics(arm, q)
    assert isinstance(result.transform, RigidTransform)
    assert isinstance(result.rotation, Rotation)
    assert_allclose(result.transform.as_matrix(), result.end_effector, atol=1e-14)
    assert_allclose(result.rotation.as_matrix(), result.end_effector[:3, :3], atol=1e-14)
    assert_allclose(fk_rotation(arm, q).as_matrix(), result.end_effector[:3, :3], atol=1e-14)
    assert_allclose(fk_position(arm, q), result.end_effector[:3, 3])


def test_a_rigid_transform_is_accepted_as_target():
    arm = three_link_spatial()
    reachable = forward_kinematics(arm, [0.3, 0.4, 0.5])
    by_transform = ccd_solve(arm, reachable.transform, [0.0, 0.0, 0.0])
    by_position = ccd_solve(arm, reachable.position, [0.0, 0.0, 0.0])
    assert by_transform.converged
    assert_allclose(by_transform.q, by_position.q, atol=1e-12)


def test_rows_are_immutable_and_compare_by_value():
    row = DHJoint(1, 2, 3, 4, "prismatic")
    assert row == DHJoint(1.0, 2.0, 3.0, 4.0, "prismatic")
    assert isinstance(row.theta, float)
    with pytest.raises(AttributeError):
        row.theta = 0.0


def test_rotations_without_scipy_are_those_of_scipy():
    quarters = np.array(np.meshgrid(*[[-np.pi, 0.0, np.pi / 2]] * 3)).reshape(3, -1).T
    rpy = np.concatenate([np.random.default_rng(0).uniform(-7.0, 7.0, (500, 3)), quarters])
    rotations = Rotation.from_euler("xyz", rpy)
    assert_allclose(rpy_matrix(rpy), rotations.as_matrix(), atol=1e-15)
    for matrix in rotations.as_matrix():
        expected = Rotation.from_matrix(matrix).as_quat()
        assert_allclose(quaternion(matrix), expected, atol=1e-15)
