"""Chain: DH rows, forward kinematics, the Jacobian, limits, and the printed table."""

from math import inf, pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import RigidTransform, Rotation

from jointwise import Chain, forward_kinematics, puma560, scara, two_link_planar
from testbed import twin
from testbed.named_arms import CHOSEN as ARMS
from tests.support.arms import angles, chains

HALF_PI = pi / 2


@given(chains, st.data())
def test_forward_kinematics_of_dh_rows_is_the_product_of_their_matrices(rows, data):
    q = np.array([data.draw(angles) for _ in rows])
    expected = twin.frames(rows, q)[-1]
    assert_allclose(Chain.from_dh(rows).fk(q), expected, atol=1e-12)
    assert_allclose(forward_kinematics(rows, q).end_effector, expected, atol=1e-12)


@given(chains, st.data())
def test_modified_rows_apply_a_and_alpha_before_theta_and_d(rows, data):
    q = np.array([data.draw(angles) for _ in rows])
    expected = np.eye(4)
    for row, value in zip(rows, q, strict=True):
        angle, travel = (value, 0.0) if row.joint_type == "revolute" else (0.0, value)
        expected = expected @ twin.dh_matrix(0.0, 0.0, row.a, row.alpha)
        expected = expected @ twin.dh_matrix(row.theta + angle, row.d + travel, 0.0, 0.0)
    assert_allclose(Chain.from_mdh(rows).fk(q), expected, atol=1e-12)


def test_the_dh_table_of_the_panda_gives_the_poses_of_its_urdf():
    """The table is from Franka's documentation, the origins from its ``panda.urdf``."""
    origins = [((0, 0, 0.333), 0), ((0, 0, 0), -HALF_PI), ((0, -0.316, 0), HALF_PI)]
    origins += [((0.0825, 0, 0), HALF_PI), ((-0.0825, 0.384, 0), -HALF_PI)]
    origins += [((0, 0, 0), HALF_PI), ((0.088, 0, 0), HALF_PI)]
    pose = RigidTransform.identity()
    q = ARMS["Panda"].random(4)
    for (xyz, roll), value in zip(origins, q, strict=True):
        rotation = Rotation.from_euler("x", roll) * Rotation.from_euler("z", value)
        pose = pose * RigidTransform.from_components(xyz, rotation)
    pose = pose * RigidTransform.from_translation([0, 0, 0.107])
    assert_allclose(ARMS["Panda"].fk(q), pose.as_matrix(), atol=1e-12)


def test_base_and_tool_are_the_first_and_last_transform():
    rng = np.random.default_rng(3)
    base = RigidTransform.from_components(rng.normal(size=3), Rotation.from_rotvec([1, 2, 3]))
    tool = RigidTransform.from_components(rng.normal(size=3), Rotation.from_rotvec([-1, 2, 0]))
    bare, q = Chain.from_dh(puma560()), rng.uniform(-3, 3, 6)
    expected = base.as_matrix() @ bare.fk(q) @ tool.as_matrix()
    assert_allclose(Chain.from_dh(puma560(), base=base, tool=tool).fk(q), expected, atol=1e-12)
    other = Chain.from_dh(puma560(), base=base.as_matrix()).with_tool(tool.as_matrix())
    assert_allclose(other.fk(q), expected, atol=1e-12)


def test_forward_kinematics_of_many_configurations():
    chain = ARMS["iiwa 14"]
    many = chain.random(1, 20)
    poses = chain.fk(many)
    assert poses.shape == (20, 4, 4)
    for q, pose in zip(many, poses, strict=True):
        assert_allclose(chain.fk(q), pose, atol=0.0)
    assert chain.fk(np.empty((0, 7))).shape == (0, 4, 4)


@pytest.mark.parametrize("name", ARMS)
def test_the_jacobian_is_the_derivative_of_forward_kinematics(name):
    chain = ARMS[name]
    q, step = chain.random(2), 1e-6
    jacobian = chain.jacobian(q)
    assert jacobian.shape == (6, chain.n)
    for i in range(chain.n):
        ahead, behind = q.copy(), q.copy()
        ahead[i], behind[i] = q[i] + step, q[i] - step
        derivative = (chain.fk(ahead) - chain.fk(behind)) / (2 * step)
        skew = derivative[:3, :3] @ chain.fk(q)[:3, :3].T
        angular = [skew[2, 1], skew[0, 2], skew[1, 0]]
        assert_allclose(jacobian[:3, i], derivative[:3, 3], atol=1e-8)
        assert_allclose(jacobian[3:, i], angular, atol=1e-8)


@pytest.mark.parametrize("name", ARMS)
def test_the_reach_bounds_the_distance_of_the_end_effector(name):
    chain = ARMS[name]
    positions = chain.fk(chain.random(6, 500))[:, :3, 3]
    distances = np.linalg.norm(positions - chain.arm.base_origin, axis=1)
    assert distances.max() <= chain.max_reach
    assert distances.max() > 0.5 * chain.max_reach


def test_random_values_are_within_limits_and_repeatable():
    for chain in ARMS.values():
        many = chain.random(5, 100)
        assert (many >= chain.limits[:, 0]).all()
        assert (many <= chain.limits[:, 1]).all()
        assert np.isfinite(many).all()
        assert (many == chain.random(5, 100)).all()
        assert chain.random(5).shape == (chain.n,)


def test_mid_range_is_the_middle_of_the_limits_or_the_value_nearest_to_zero():
    limits = [[-1.0, 3.0], [-inf, inf], [1.0, inf], [-inf, -2.0]]
    assert_allclose(Chain.from_dh(scara(1, 1), limits).mid_range, [1.0, 0.0, 1.0, -2.0])


def test_a_chain_is_immutable():
    chain = Chain.from_dh(two_link_planar(1, 1))
    with pytest.raises(AttributeError):
        chain.base_link = "a"
    for array in (chain.mid_range, chain.limits, chain.prismatic, chain.arm.links):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
    limits = np.array([[-1.0, 1.0], [-1.0, 1.0]])
    limited = chain.with_limits(limits)
    limits[:] = 0.0
    assert_allclose(limited.limits, [[-1.0, 1.0], [-1.0, 1.0]])
    assert np.isinf(chain.limits).all()


def test_str_is_the_dh_table():
    chain = Chain.from_dh(scara(0.4, 0.3), [[-pi, pi], [-2, 2], [0, 0.2], [-inf, inf]])
    assert repr(chain) == "<Chain of 4 joints: joint1, joint2, joint3, joint4>"
    assert str(chain).splitlines() == [
        "joint   type       theta [°]    d [m]    a [m]  alpha [°]     lower    upper",
        "joint1  revolute        0.00  0.00000  0.40000       0.00  -180.00°  180.00°",
        "joint2  revolute        0.00  0.00000  0.30000     180.00  -114.59°  114.59°",
        "joint3  prismatic       0.00  0.00000  0.00000       0.00   0.000 m  0.200 m",
        "joint4  revolute        0.00  0.00000  0.00000       0.00      none     none",
        "standard DH rows; end effector at 0.70000, 0.00000, 0.00000 m with all joints at 0",
        "reach at most 0.9000 m from the first joint, the sum of the lengths",
        "working radius 0.7000 m from the axis of joint1, within the limits",
    ]
    last = "modified DH rows; end effector at 0.08800, 0.00000, 0.92600 m with all joints at 0"
    assert str(ARMS["Panda"]).splitlines()[-4] == last


def test_str_without_dh_rows_is_the_table_of_links():
    panda = ARMS["Panda"]
    lines = str(Chain.from_urdf(panda.to_urdf())).splitlines()
    assert lines[2].split()[:8] == [
        "panda_joint2",
        "revolute",
        "0.00000",
        "0.00000",
        "0.00000",
        "-90.00",
        "0.00",
        "0.00",
    ]
    assert lines[-5].startswith("end effector ")
    assert lines[-5].split()[2:] == ["0.00000", "0.00000", "0.10700", "0.00", "0.00", "0.00"]
    assert lines[-4] == (
        "each joint's frame in the frame of the previous joint; end effector at 0.08800, 0.00000, "
        "0.92600 m with all joints at 0"
    )
