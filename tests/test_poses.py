"""Poses, joint values and DH rows as people have them, and statuses and errors as they read."""

import inspect
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation

from jointwise import (
    CCDConfig,
    Chain,
    DegreesWarning,
    DHJoint,
    InvalidInputError,
    SolveConfig,
    Status,
    aim,
    ccd_solve,
    fk_position,
    pose,
    puma560,
    robots,
    scara,
    two_link_planar,
)
from jointwise.targets import POSE, WITHIN

UR5E = robots.ur5e()
Q = UR5E.random(seed=5)
FAR = [9.0, 0.0, 0.0]
ANGLES = st.floats(-math.pi, math.pi)
POSITION = [0.4, -0.1, 0.3]


@given(st.tuples(ANGLES, ANGLES, ANGLES))
def test_a_pose_is_the_same_in_every_way_to_write_it(rpy):
    rotation = Rotation.from_euler("xyz", rpy)
    ways = {
        "rpy": rpy,
        "quat": 3.0 * rotation.as_quat(),
        "rotvec": rotation.as_rotvec(),
        "matrix": rotation.as_matrix(),
    }
    for name, value in ways.items():
        matrix = pose(POSITION, **{name: value}).matrix
        np.testing.assert_allclose(matrix[:3, :3], rotation.as_matrix(), atol=1e-12)
        np.testing.assert_array_equal(matrix[:3, 3], POSITION)


NEAR_A_ROTATION = st.floats(-8.0, -4.0).map(lambda exponent: 10.0**exponent)
NASTY = st.sampled_from([0.0, math.nan, math.inf, -math.inf, -2.0, 1e9])


@given(
    st.tuples(ANGLES, ANGLES, ANGLES),
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
    NASTY | NEAR_A_ROTATION,
)
def test_a_row_is_invalid_if_it_is_refused_as_a_single_pose(rpy, place, change):
    row = pose(POSITION, rpy=rpy).matrix.copy()
    row[place] += change
    with np.errstate(invalid="ignore"):
        x, y, z = row[:3, :3].T
        defects = [row[:3, :3].T @ row[:3, :3] - np.eye(3), np.cross(x, y) - z]
        defects.append(row[3] - [0.0, 0.0, 0.0, 1.0])
        worst = max(np.abs(each).max() for each in defects)
    assume(not 0.999e-6 < worst < 1.001e-6)  # rounding decides
    try:
        POSE.check(row)
        valid = True
    except InvalidInputError:
        valid = False
    rows = np.array([row, np.eye(4)])
    assert POSE.are_valid(rows).tolist() == [valid, True]
    boxes = np.concatenate([rows, np.zeros((2, 4, 4))], axis=1)
    assert WITHIN.are_valid(boxes).tolist() == [valid, True]


def test_many_poses():
    rotations = Rotation.random(3, rng=1)
    positions = np.arange(9.0).reshape(3, 3)
    for each in (
        pose(positions, quat=rotations.as_quat()),
        pose(positions, matrix=rotations.as_matrix()),
    ):
        expected = RigidTransform.from_components(positions, rotations)
        np.testing.assert_allclose(each.matrix, expected.as_matrix(), atol=1e-12)
    assert pose(positions, rpy=[0.0, 0.0, 0.0]).matrix.shape == (3, 4, 4)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "no orientation is given: pass exactly one of quat, rpy, rotvec, matrix."),
        (
            {"quat": [0, 0, 0, 1], "rpy": [0, 0, 0]},
            "quat and rpy are given: pass exactly one of quat, rpy, rotvec, matrix.",
        ),
        ({"quat": [0, 0, 0, 0]}, "quat has no length: expected x, y, z, w, not all zero."),
        (
            {"quat": [0, 0, 1]},
            "position has shape (3,) and quat (3,): expected (3,) and (4,), or m positions (m, 3) "
            "with one orientation or m.",
        ),
        (
            {"matrix": 2.0 * np.eye(3)},
            "matrix deviates from a rotation by 3. SciPy's Rotation.from_matrix gives the nearest "
            "rotation.",
        ),
        (
            {"matrix": -np.eye(3)},
            "matrix is a reflection. Negate one of its axes to make it right-handed.",
        ),
        ({"rpy": [0, 0, math.nan]}, "rpy[2] is nan: expected finite numbers below 1e9."),
    ],
)
def test_what_is_no_pose_is_refused(arguments, text):
    with pytest.raises(InvalidInputError) as problem:
        pose(POSITION, **arguments)
    assert str(problem.value) == text


def test_angles_in_degrees_are_warned_about():
    text = (
        r"^rpy has 180 \(and 1 more\), more than two turns: angles are in radians\. "
        r"If these are degrees, use numpy\.radians\.$"
    )
    with pytest.warns(DegreesWarning, match=text):
        pose(POSITION, rpy=[180, 0, -90])


def test_many_rows_in_degrees_are_one_warning_where_the_user_wrote_them():
    text = "^alpha of joints\\[0\\] is 90 \\(and 1 more\\), more than two turns: "
    with pytest.warns(DegreesWarning, match=text) as warned:
        Chain.from_dh([(0.0, 0.1, 0.3, 90.0), (0.0, 0.0, 0.3, -90.0)])
    assert [each.filename for each in warned] == [__file__]


def test_joint_values_typed_in_degrees_are_warned_about():
    panda = robots.panda()
    typed = [0, -45, 0, -135, 0, 90, 45]
    text = "^q has -45 for panda_joint2, more than a turn outside its limits"
    with pytest.warns(DegreesWarning, match=text) as warned:
        panda.fk(typed)
    assert warned[0].filename == __file__
    panda.fk(np.radians(typed))
    several_turns = Chain.from_dh([DHJoint(a=1.0)], limits=[[-10 * math.pi, 10 * math.pi]])
    several_turns.fk([20.0])  # inside the limits: no warning, which would be an error here


@pytest.mark.parametrize("points", [1.0, [1.0, 2.0], np.zeros((2, 2, 3))])
def test_a_position_of_another_shape_is_refused(points):
    with pytest.raises(InvalidInputError, match="expected"):
        pose(points, rpy=[0, 0, 0])


@pytest.mark.parametrize(
    ("shape", "remedy"),
    [
        ((7,), " For a position and a quaternion x, y, z, w: jointwise.pose(v[:3], quat=v[3:])."),
        ((6,), " For a position and roll, pitch, yaw: jointwise.pose(v[:3], rpy=v[3:])."),
        (
            (2, 7),
            " For a position and a quaternion x, y, z, w: jointwise.pose(v[:, :3], quat=v[:, 3:]).",
        ),
    ],
)
def test_positions_with_orientation_in_one_vector_get_the_remedy(shape, remedy):
    solve = UR5E.solve if len(shape) == 1 else UR5E.solve_batch
    with pytest.raises(InvalidInputError) as problem:
        solve(np.zeros(shape))
    assert str(problem.value).endswith(remedy)


def test_a_batch_takes_lists_of_poses_and_of_aims():
    poses = UR5E.fk(UR5E.random(seed=6, count=4))
    wanted = UR5E.solve_batch(poses)
    for targets in (
        list(poses),
        [RigidTransform.from_matrix(each) for each in poses],
        [RigidTransform.from_matrix(poses[0]), *poses[1:]],
        tuple(pose(each[:3, 3], matrix=each[:3, :3]) for each in poses),
    ):
        batch = UR5E.solve_batch(targets)
        np.testing.assert_allclose(batch.q, wanted.q, atol=1e-9)
    aims = [aim(each[:3, 3], each[:3, 1], [0.0, 1.0, 0.0]) for each in poses]
    batch = UR5E.solve_batch(aims)
    for each, result in zip(aims, batch, strict=True):
        assert np.array_equal(result.q, UR5E.solve(each).q)


@pytest.mark.parametrize(
    ("targets", "text"),
    [
        (
            [aim([0.4, 0, 0.3], [0, 0, -1]), np.eye(4)],
            "targets mix aims and poses: expected one kind in a batch or a path.",
        ),
        (
            [aim([0.4, 0, 0.3], [0, 0, -1]), aim([0.4, 0, 0.3], [0, 0, -1], [1, 0, 0])],
            "targets have different axes: expected aims with one axis in a batch. Solve a batch "
            "for each axis.",
        ),
        (
            [aim([0.4, 0, 0.3], [0, 0, -1]), [0.4, 0.2]],
            "targets[1] has shape (2,): expected (3,) for a position or (4, 4) for a pose. For a "
            "planar arm, add z = 0.",
        ),
    ],
)
def test_a_list_of_several_kinds_is_refused(targets, text):
    with pytest.raises(InvalidInputError) as problem:
        UR5E.solve_batch(targets)
    assert str(problem.value) == text


def test_a_path_takes_many_targets_in_one_object():
    positions = np.linspace([0.4, -0.1, 0.3], [0.4, 0.1, 0.3], 5)
    aims = aim(positions, [0.0, 0.0, -1.0])
    assert UR5E.solve_path(aims).converged.all()
    poses = pose(positions, rpy=[math.pi, 0.0, 0.0])
    assert len(UR5E.solve_path(poses)) == 5


def test_a_tool_by_its_position():
    tool = np.eye(4)
    tool[:3, 3] = 0.0, 0.01, 0.2
    by_pose, by_position = UR5E.with_tool(tool), UR5E.with_tool([0.0, 0.01, 0.2])
    np.testing.assert_allclose(by_position.fk(Q), by_pose.fk(Q), atol=1e-15)
    with pytest.raises(InvalidInputError, match=r"tool is \[\[1\], \[2, 3\]\]: expected numbers"):
        UR5E.with_tool([[1], [2, 3]])
    text = r"tool\[1\] is nan: expected finite numbers below 1e9\."
    with pytest.raises(InvalidInputError, match=text):
        UR5E.with_tool([0.0, math.nan, 0.2])


def test_dh_rows_as_tuples_and_as_an_array():
    rows = puma560()
    numbers = [(row.theta, row.d, row.a, row.alpha) for row in rows]
    for given_rows in (numbers, [list(row) for row in numbers], np.array(numbers)):
        np.testing.assert_array_equal(
            Chain.from_dh(given_rows).fk(Q), Chain.from_dh(rows).fk(Q), strict=True
        )
        assert np.array_equal(fk_position(given_rows, Q), fk_position(rows, Q))
    slider = [(0, 0, 0.4, 0), (0, 0, 0.3, math.pi), (0, 0, 0, 0, "prismatic"), (0, 0, 0, 0)]
    assert np.array_equal(fk_position(slider, [0.1] * 4), fk_position(scara(0.4, 0.3), [0.1] * 4))
    modified = Chain.from_mdh(np.array(numbers))
    np.testing.assert_array_equal(modified.fk(Q), Chain.from_mdh(rows).fk(Q))


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (
            (0.0, 1.0, 0.0),
            "joints[1] is (0.0, 1.0, 0.0): expected DHJoint(theta, d, a, alpha, joint_type), or "
            "these as a tuple.",
        ),
        ((0.0, 1.0, 0.0, "x"), "joints[1]: alpha is 'x': expected a number."),
    ],
)
def test_a_row_that_does_not_fit_is_named(row, text):
    for use in (Chain.from_dh, lambda rows: fk_position(rows, [0.0, 0.0])):
        with pytest.raises(InvalidInputError) as problem:
            use([DHJoint(a=1.0), row])
        assert str(problem.value) == text


def test_joint_values_by_name():
    by_name = dict(reversed(list(zip(UR5E.joint_names, Q.tolist(), strict=True))))
    np.testing.assert_array_equal(UR5E.fk(by_name), UR5E.fk(Q))
    np.testing.assert_array_equal(UR5E.joint_frames(by_name), UR5E.joint_frames(Q))
    np.testing.assert_array_equal(UR5E.jacobian(by_name), UR5E.jacobian(Q))
    np.testing.assert_array_equal(UR5E.outline(by_name), UR5E.outline(Q))
    target, start = UR5E.fk(UR5E.random(seed=8)), by_name
    for solve in (UR5E.solve, UR5E.trace):
        result, expected = solve(target, start), solve(target, Q)
        np.testing.assert_array_equal(result.q, expected.q)
    batch = UR5E.solve_batch(target[None], by_name)
    np.testing.assert_array_equal(batch.q[0], UR5E.solve(target, Q).q)
    path = UR5E.solve_path([target], by_name)
    np.testing.assert_array_equal(path.q[0], UR5E.solve(target, Q).q)


def test_a_name_that_does_not_fit_is_refused():
    with pytest.raises(InvalidInputError) as problem:
        UR5E.fk({**dict.fromkeys(UR5E.joint_names, 0.0), "elbow": 1.0})
    assert str(problem.value) == (
        "no joint named 'elbow' in the model; did you mean 'elbow_joint'? "
        f"Joints: {', '.join(UR5E.joint_names)}."
    )


def test_joints_without_a_name_are_at_home():
    q = UR5E.home.copy()
    q[2] = 1.0
    np.testing.assert_array_equal(UR5E.fk({"elbow_joint": 1.0}), UR5E.fk(q))
    np.testing.assert_array_equal(UR5E.fk({}), UR5E.fk(UR5E.home))


@pytest.mark.parametrize("name", ["panda", "ur5e", "stanford"])
def test_manipulability_is_the_volume_of_the_jacobian(name):
    chain = getattr(robots, name)()
    for q in chain.random(seed=2, count=20):
        jacobian = chain.jacobian(q)
        expected = math.sqrt(max(np.linalg.det(jacobian @ jacobian.T), 0.0))
        assert chain.manipulability(q) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_an_orientation_that_nobody_asked_for_has_no_error():
    """NaN for positions, in every result; a number for poses and aims."""
    target = UR5E.fk(Q)
    reached, missed = target[:3, 3], np.array(FAR)
    ccd, quick = SolveConfig(method="ccd"), SolveConfig(search_unreached=False)
    for position in (reached, missed):
        results = [UR5E.solve(position), UR5E.solve(position, config=ccd)]
        results.append(UR5E.solve_batch(position[None])[0])
        results.append(UR5E.solve_batch(position[None], config=quick)[0])
        results.append(ccd_solve(two_link_planar(1.0, 1.0), position, [0.1, 0.2], CCDConfig()))
        assert all(math.isnan(result.orientation_error) for result in results)
        assert np.isnan(UR5E.trace(position).orientation_error).all()
    for prescribed in (target, aim(target[:3, 3], target[:3, 2])):
        assert UR5E.solve(prescribed).orientation_error < 1e-6
        assert np.isfinite(UR5E.trace(prescribed).orientation_error).all()


def test_texts_do_not_mention_an_orientation_that_is_free():
    assert " rad" not in UR5E.solve_batch(UR5E.fk(Q)[None, :3, 3]).summary()
    assert " rad" in UR5E.solve_batch(UR5E.fk(Q)[None]).summary()
    with pytest.raises(Exception, match=r"^Missed by [0-9.]+ m\. "):
        UR5E.solve(FAR).or_raise()


def test_statuses_of_a_batch_compare_with_the_enumeration():
    targets = UR5E.fk(UR5E.random(seed=9, count=3))
    targets[1, :3, 3], targets[2, 0, 0] = FAR, np.nan
    batch = UR5E.solve_batch(targets)
    expected = [Status.CONVERGED, Status.UNREACHABLE, Status.INVALID]
    assert [Status(code) for code in batch.status] == expected
    assert [batch[i].status for i in range(3)] == expected
    for status in Status:
        mask = batch.status == status
        assert mask.tolist() == [each is status for each in expected]
    assert str(Status.STALLED) == f"{Status.STALLED}" == "Status.STALLED"
    assert Status(Status.STALLED.value) is Status.STALLED
    assert all(Status)
    for wrong in (len(Status), -1, 1.5, "nothing"):
        with pytest.raises(ValueError, match="not a valid Status"):
            Status(wrong)


@pytest.mark.parametrize("method", ["solve", "solve_batch", "solve_path", "fk", "from_dh"])
def test_signatures_are_readable(method):
    """Types by their names: what ``Target`` stands for would fill a screen."""
    signature = str(inspect.signature(getattr(Chain, method)))
    assert "Union" not in signature
    assert "Buffer" not in signature
    assert "position_tolerance" not in signature
