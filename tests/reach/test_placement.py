"""The best base for a list of targets, and candidates for it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import RigidTransform, Rotation

from jointwise import InvalidInputError, aim, best_base, direction, pose, position, robots
from jointwise.reach import base_candidates, base_search
from tests.support.reach import TWO_LINKS


@pytest.fixture
def targets():
    """(5, 4, 4) poses on a line, the tool pointing down."""
    poses = np.tile(np.diag([1.0, -1.0, -1.0, 1.0]), (5, 1, 1))
    poses[:, :3, 3] = [[2.0 + 0.1 * i, 1.0, 0.2] for i in range(5)]
    return poses


@pytest.fixture
def candidates(targets):
    """Bases around the targets, some of which reach all of them."""
    return base_candidates(targets, 1.2, 0.3)


def test_best_base_reaches_most_targets_with_the_largest_margin(small_map, targets, candidates):
    found = best_base(small_map.chain, targets, candidates)
    assert found.reached[found.best] == found.reached.max() == 5
    all_reached = found.reached == 5
    assert found.limit_margin[found.best] == found.limit_margin[all_reached].max()
    assert 0 < np.count_nonzero(all_reached) < len(candidates)
    assert (found.base_pose == candidates[found.best]).all()
    assert f"(candidate {found.best} of {len(candidates)}): 5 of 5 poses reached" in str(found)


def test_joint_values_reach_the_targets_from_the_best_base(targets, candidates):
    arm = robots.ur5e()
    found = best_base(arm, targets, candidates)
    assert_allclose(found.base_pose @ arm.fk(found.q), targets, atol=1e-3)


def test_margin_and_manipulability_are_the_smallest_over_the_targets(targets, candidates):
    arm = robots.ur5e()
    found = best_base(arm, targets, candidates)
    lower, upper = arm.limits.T
    margins = 1.0 - np.abs(found.q - arm.mid_range) / (0.5 * (upper - lower))
    assert found.limit_margin[found.best] == pytest.approx(margins.min())
    smallest = min(np.linalg.svd(arm.jacobian(q), compute_uv=False).prod() for q in found.q)
    assert found.manipulability[found.best] == pytest.approx(smallest)


def test_positions_are_reached_from_at_least_as_many_bases_as_poses(targets, candidates):
    poses = best_base(robots.ur5e(), targets, candidates)
    positions = best_base(robots.ur5e(), targets[:, :3, 3], candidates)
    assert (positions.reached >= poses.reached).all()
    assert positions.reached.sum() > poses.reached.sum()


def test_base_out_of_reach_has_no_joint_values(targets):
    far = np.eye(4)
    far[0, 3] = -50.0
    found = best_base(robots.ur5e(), targets, far[None])
    assert found.reached.tolist() == [0]
    assert found.limit_margin.tolist() == found.manipulability.tolist() == [0.0]
    assert np.isnan(found.q).all()


def test_result_does_not_depend_on_how_many_are_solved_at_once(monkeypatch, targets, candidates):
    arm = robots.ur5e()
    expected = best_base(arm, targets, candidates)
    monkeypatch.setattr(base_search, "ROWS_AT_ONCE", 15)
    found = best_base(arm, targets, candidates)
    assert found.best == expected.best
    for name in ("base_pose", "reached", "limit_margin", "manipulability", "q"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
        assert not getattr(found, name).flags.writeable


def test_manipulability_decides_for_an_arm_without_limits():
    candidates = base_candidates([[0.0, 0.0, 0.0]], 1.6, 0.2)
    found = best_base(TWO_LINKS, [[0.0, 0.0, 0.0]], candidates)
    assert (found.limit_margin[found.reached == 1] == 1.0).all()
    assert found.manipulability[found.best] == found.manipulability.max()
    # l1 l2 |sin q2| is largest at a right angle.
    assert np.linalg.norm(found.base_pose[:2, 3]) == pytest.approx(np.hypot(1.0, 0.6), abs=0.1)


def test_nearly_orthogonal_candidate_is_made_orthogonal():
    arm, candidate = robots.ur5e(), np.eye(4)
    candidate[:3, :3] = Rotation.from_rotvec([0.3, -0.2, 0.9]).as_matrix() * (1.0 + 4e-7)
    target = RigidTransform.from_translation([[0.4, 0.2, 0.3]])
    found = best_base(arm, target, candidate[None])
    assert found.reached.tolist() == [1]
    assert_allclose(found.base_pose[:3, :3].T @ found.base_pose[:3, :3], np.eye(3), atol=1e-14)
    tip = found.base_pose @ arm.fk(found.q[0])
    assert_allclose(tip[:3, 3], [0.4, 0.2, 0.3], atol=2e-4)


@pytest.mark.parametrize(("radius", "step"), [(0.25, 0.1), (1.0, 0.3), (0.3, 0.3), (0.2, 0.3)])
def test_candidates_are_all_grid_points_around_the_mean(radius, step):
    targets = [[0.1, -0.3, 7.0], [0.5, -0.1, 3.0]]
    bases = base_candidates(targets, radius, step, height=0.4)
    expected = {
        (i, j)
        for i in range(-20, 21)
        for j in range(-20, 21)
        if np.hypot(i * step, j * step) <= radius
    }
    numbers = np.rint((bases[:, :2, 3] - [0.3, -0.2]) / step)
    assert len(bases) == len(expected)
    assert set(map(tuple, numbers.astype(int).tolist())) == expected
    assert_allclose(bases[:, :2, 3], [0.3, -0.2] + numbers * step, atol=1e-12)
    assert (bases[:, 2, 3] == 0.4).all()
    assert (bases[:, :3, :3] == np.eye(3)).all()
    assert (bases[:, 3] == [0.0, 0.0, 0.0, 1.0]).all()


def test_candidates_are_on_the_floor_unless_a_height_is_given():
    poses = np.tile(np.eye(4), (2, 1, 1))
    poses[:, :3, 3] = [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]
    assert base_candidates(poses, 0.5, 1.0)[:, :3, 3].tolist() == [[2.0, 2.0, 0.0]]


FAR = np.eye(4)
FAR[0, 3] = -9e8
INVALID = {
    "candidates has shape (4, 4): expected (k, 4, 4), poses.": lambda: best_base(
        TWO_LINKS, [[0.0, 0.0, 0.0]], np.eye(4)
    ),
    "targets or candidates is empty: expected at least one of each.": lambda: best_base(
        TWO_LINKS, np.empty((0, 3)), np.eye(4)[None]
    ),
    "targets has shape (2, 2): expected (k, 3) for positions or (k, 4, 4) for poses.": (
        lambda: best_base(TWO_LINKS, np.eye(2), np.eye(4)[None])
    ),
    "targets in the frames of candidates[0, 0, 0, 3] is 1800000000.0: expected finite numbers "
    "below 1e9.": lambda: best_base(TWO_LINKS, [[9e8, 0.0, 0.0]], FAR[None]),
    "arm is 'ur5e': expected a Chain.": lambda: best_base("ur5e", [[0, 0, 0]], np.eye(4)[None]),
    "targets has shape (3,): expected (k, 3) for positions or (k, 4, 4) for poses.": (
        lambda: base_candidates([1, 2, 3], 1.0, 0.1)
    ),
    "targets has shape (4, 4): expected (k, 3) for positions or (k, 4, 4) for poses.": (
        lambda: base_candidates(np.eye(4), 1.0, 0.1)
    ),
    "targets is empty: expected at least one.": lambda: base_candidates(np.empty((0, 3)), 1.0, 0.1),
    "step is 0.0001 for a grid of 2 m by 2 m, more than 1,000,000 candidates: expected a larger "
    "step, or a smaller radius.": lambda: base_candidates([[0, 0, 0]], 1.0, 1e-4),
}


@pytest.mark.parametrize("message", INVALID)
def test_invalid_input_is_refused(message):
    with pytest.raises(InvalidInputError) as caught:
        INVALID[message]()
    assert str(caught.value) == message


@pytest.mark.parametrize("axis", [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
def test_the_best_base_for_aims_reaches_them_with_any_turn(axis):
    arm = robots.ur3e()
    points = np.array([[1.0, 0.0, 0.3], [1.0, 0.3, 0.2], [0.9, -0.2, 0.4]])
    directions = np.array([[0.0, 0.0, -1.0], [1.0, 0.0, -1.0], [1.0, 0.2, 0.0]])
    targets = aim(points, directions, axis)
    candidates = base_candidates(targets, 0.4, 0.2)
    assert (candidates == base_candidates(points, 0.4, 0.2)).all()
    found = best_base(arm, targets, candidates)
    assert found.reached[found.best] == 3
    tips = found.base_pose @ arm.fk(found.q)
    assert np.abs(tips[:, :3, 3] - points).max() < 1e-3
    units = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    assert ((tips[:, :3, :3] @ axis) * units).sum(axis=1).min() > 1.0 - 1e-4
    each = [aim(*pair, axis) for pair in zip(points, directions, strict=True)]
    listed = best_base(arm, each, candidates)
    assert (listed.q == found.q).all()
    posed = best_base(arm, pose(points, matrix=tips[:, :3, :3]), candidates)
    assert posed.reached[found.best] == 3


@pytest.mark.parametrize(
    ("targets", "text"),
    [
        (direction([[0.0, 0.0, 1.0]]), "targets has directions: expected positions, aims or poses"),
        (
            position([[0.4, 0.0, 0.3]], weight=2.0),
            "targets has a weight, a point or another frame: expe",
        ),
        (
            position([[0.4, 0.0, 0.3]], point=[0, 0, 0.1]),
            "targets has a weight, a point or another frame",
        ),
    ],
)
def test_other_targets_are_refused_for_a_base(targets, text):
    with pytest.raises(InvalidInputError, match=text):
        best_base(robots.ur3e(), targets, [np.eye(4)])
