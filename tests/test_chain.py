"""Chain: the same arm from any table, forward kinematics, and what it prints."""

from math import inf, pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import RigidTransform, Rotation

from benchmarks.problems import CHOSEN as ARMS
from jointwise import Chain, forward_kinematics, puma560, scara, two_link_planar
from tests.support import twin
from tests.support.arms import angles, chains

H = pi / 2


@given(chains, st.data())
def test_a_chain_of_dh_rows_stands_where_forward_kinematics_says(rows, data):
    q = np.array([data.draw(angles) for _ in rows])
    expected = twin.frames(rows, q)[-1]
    assert_allclose(Chain.from_dh(rows).fk(q), expected, atol=1e-12)
    assert_allclose(forward_kinematics(rows, q).end_effector, expected, atol=1e-12)


@given(chains, st.data())
def test_modified_rows_are_a_and_alpha_before_theta_and_d(rows, data):
    q = np.array([data.draw(angles) for _ in rows])
    expected = np.eye(4)
    for row, value in zip(rows, q, strict=True):
        turn, slide = (value, 0.0) if row.joint_type == "revolute" else (0.0, value)
        expected = expected @ twin.dh_matrix(0.0, 0.0, row.a, row.alpha)
        expected = expected @ twin.dh_matrix(row.theta + turn, row.d + slide, 0.0, 0.0)
    assert_allclose(Chain.from_mdh(rows).fk(q), expected, atol=1e-12)


def test_panda_from_its_dh_table_is_panda_from_its_urdf():
    """The table is from Franka's documentation, the origins from its ``panda.urdf``."""
    origins = [((0, 0, 0.333), 0), ((0, 0, 0), -H), ((0, -0.316, 0), H), ((0.0825, 0, 0), H)]
    origins += [((-0.0825, 0.384, 0), -H), ((0, 0, 0), H), ((0.088, 0, 0), H)]
    pose = RigidTransform.identity()
    q = ARMS["Panda"].random(4)
    for (xyz, roll), value in zip(origins, q, strict=True):
        turn = Rotation.from_euler("x", roll) * Rotation.from_euler("z", value)
        pose = pose * RigidTransform.from_components(xyz, turn)
    pose = pose * RigidTransform.from_translation([0, 0, 0.107])
    assert_allclose(ARMS["Panda"].fk(q), pose.as_matrix(), atol=1e-12)


def test_base_and_tool_stand_at_the_ends():
    rng = np.random.default_rng(3)
    base = RigidTransform.from_components(rng.normal(size=3), Rotation.from_rotvec([1, 2, 3]))
    tool = RigidTransform.from_components(rng.normal(size=3), Rotation.from_rotvec([-1, 2, 0]))
    plain, q = Chain.from_dh(puma560()), rng.uniform(-3, 3, 6)
    expected = base.as_matrix() @ plain.fk(q) @ tool.as_matrix()
    assert_allclose(Chain.from_dh(puma560(), base=base, tool=tool).fk(q), expected, atol=1e-12)
    other = Chain.from_dh(puma560(), base=base.as_matrix()).with_tool(tool.as_matrix())
    assert_allclose(other.fk(q), expected, atol=1e-12)


def test_many_configurations_at_once():
    chain = ARMS["iiwa 14"]
    many = chain.random(1, 20)
    poses = chain.fk(many)
    assert poses.shape == (20, 4, 4)
    for q, pose in zip(many, poses, strict=True):
        assert_allclose(chain.fk(q), pose, atol=0.0)
    assert chain.fk(np.empty((0, 7))).shape == (0, 4, 4)


@pytest.mark.parametrize("name", ARMS)
def test_the_jacobian_is_the_slope_of_forward_kinematics(name):
    chain = ARMS[name]
    q, small = chain.random(2), 1e-6
    jacobian = chain.jacobian(q)
    assert jacobian.shape == (6, chain.n)
    for i in range(chain.n):
        ahead, behind = q.copy(), q.copy()
        ahead[i], behind[i] = q[i] + small, q[i] - small
        slope = (chain.fk(ahead) - chain.fk(behind)) / (2 * small)
        turning = slope[:3, :3] @ chain.fk(q)[:3, :3].T
        assert_allclose(jacobian[:3, i], slope[:3, 3], atol=1e-8)
        spin = [turning[2, 1], turning[0, 2], turning[1, 0]]
        assert_allclose(jacobian[3:, i], spin, atol=1e-8)


@pytest.mark.parametrize("name", ARMS)
def test_nothing_reaches_beyond_the_reach(name):
    chain = ARMS[name]
    first = chain.arm.links[0, :, 3]
    distances = np.linalg.norm(chain.fk(chain.random(6, 500))[:, :3, 3] - first, axis=1)
    assert distances.max() <= chain.reach
    assert distances.max() > 0.5 * chain.reach


def test_random_values_are_inside_and_the_same_for_the_same_seed():
    for chain in ARMS.values():
        many = chain.random(5, 100)
        assert (many >= chain.limits[:, 0]).all()
        assert (many <= chain.limits[:, 1]).all()
        assert np.isfinite(many).all()
        assert (many == chain.random(5, 100)).all()
        assert chain.random(5).shape == (chain.n,)


def test_home_is_the_middle_or_zero():
    limits = [[-1.0, 3.0], [-inf, inf], [1.0, inf], [-inf, -2.0]]
    assert_allclose(Chain.from_dh(scara(1, 1), limits).home, [1.0, 0.0, 1.0, -2.0])


def test_nothing_of_a_chain_can_be_changed():
    chain = Chain.from_dh(two_link_planar(1, 1))
    with pytest.raises(AttributeError):
        chain.names = ("a", "b")
    for array in (chain.home, chain.limits, chain.arm.links, chain.arm.bounds):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
    limits = np.array([[-1.0, 1.0], [-1.0, 1.0]])
    limited = chain.with_limits(limits)
    limits[:] = 0.0
    assert_allclose(limited.limits, [[-1.0, 1.0], [-1.0, 1.0]])
    assert np.isinf(chain.limits).all()


def test_printing_gives_the_table_to_check_against_a_data_sheet():
    chain = Chain.from_dh(scara(0.4, 0.3), [[-pi, pi], [-2, 2], [0, 0.2], [-inf, inf]])
    assert repr(chain) == "<Chain of 4 joints: joint1, joint2, joint3, joint4>"
    assert str(chain).splitlines() == [
        "joint   type    theta [°]    d [m]    a [m]  alpha [°]     lower    upper",
        "joint1  turns        0.00  0.00000  0.40000       0.00  -180.00°  180.00°",
        "joint2  turns        0.00  0.00000  0.30000     180.00  -114.59°  114.59°",
        "joint3  slides       0.00  0.00000  0.00000       0.00   0.000 m  0.200 m",
        "joint4  turns        0.00  0.00000  0.00000       0.00     -inf°     inf°",
        "standard DH rows; tip at 0.70000, 0.00000, 0.00000 m with all joints at 0",
        "reach 0.9000 m from the first joint",
    ]
    last = "modified DH rows; tip at 0.08800, 0.00000, 0.92600 m with all joints at 0"
    assert str(ARMS["Panda"]).splitlines()[-2] == last


def test_an_arm_of_other_origin_prints_its_links():
    panda = ARMS["Panda"]
    lines = str(Chain(panda.arm, panda.names)).splitlines()
    assert lines[2].split()[:8] == [
        "panda_joint2",
        "turns",
        "0.00000",
        "0.00000",
        "0.00000",
        "-90.00",
        "0.00",
        "0.00",
    ]
    assert lines[-3].split() == ["tip", "0.00000", "0.00000", "0.10700", "0.00", "0.00", "0.00"]
    assert lines[-2].startswith("links; tip at 0.08800, 0.00000, 0.92600 m")
