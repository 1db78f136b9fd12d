"""The levels of a reach map, against plain Python that shares no code with them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import AimCone, Chain, robots, two_link_planar
from jointwise.kernels.batch import voxels as kernels
from jointwise.reach.levels import levels_of
from jointwise.reach.orientations import UP, orientation_set

# For each voxel, which of its directions are reached, or None if none is tried; and for each
# direction, its number of rotations.
trees = st.integers(1, 4).flatmap(
    lambda count: st.tuples(
        st.lists(st.none() | st.lists(st.booleans(), min_size=count, max_size=count), max_size=5),
        st.lists(st.integers(0, 3), min_size=count, max_size=count),
    )
)


@given(trees, st.booleans(), st.sampled_from([(3, 3), (4, 4)]))
def test_targets_are_written_for_rows_that_are_reached(tree, from_solution, shape):
    voxels, counts = tree
    rng = np.random.default_rng(0)
    points = rng.normal(size=(len(voxels), 3))
    pattern_offsets = np.array([0, *np.cumsum(counts)])
    patterns = rng.normal(size=(pattern_offsets[-1], *shape))
    converged = np.array([each for voxel in voxels if voxel for each in voxel], np.bool_)
    row_offsets = np.array([0, *np.cumsum([len(voxel or ()) for voxel in voxels])], np.int64)
    q = rng.normal(size=(len(converged), 2))
    expected_targets, expected_starts, expected_offsets, row = [], [], [0], 0
    for point, voxel in zip(points, voxels, strict=True):
        for direction, reached in enumerate(voxel or ()):
            begin, end = pattern_offsets[direction], pattern_offsets[direction + 1]
            for pattern in range(begin, end) if reached else ():
                target = patterns[pattern].copy()
                if shape == (3, 3):
                    target[0] = point
                else:
                    target[:3, 3] = point
                expected_targets.append(target.tolist())
                expected_starts.append(q[row].tolist() if from_solution else [7.0, 7.0])
            row += 1
            expected_offsets.append(len(expected_targets))

    offsets = np.empty(len(converged) + 1, np.int64)
    kernels.fill_next_offsets(converged, row_offsets, pattern_offsets, offsets)
    assert offsets.tolist() == expected_offsets
    targets = np.empty((len(expected_targets), *shape))
    starts = np.full((len(expected_targets), 2), 7.0)
    kernels.write_targets(
        points,
        kernels.Patterns(patterns, pattern_offsets, from_solution),
        kernels.Rows(row_offsets, q, converged),
        kernels.NextRows(offsets, targets, starts),
    )
    assert targets.tolist() == expected_targets
    assert starts.tolist() == expected_starts


def score(chain, q, converged, row_offsets, jacobian_rows=6):
    """The scores of each voxel, by the kernel."""
    count, n = len(row_offsets) - 1, q.shape[1]
    rows = kernels.Rows(np.asarray(row_offsets), q, np.asarray(converged, np.bool_))
    scores = kernels.Scores(np.empty(count, np.int64), np.empty((2, count)), np.empty((count, n)))
    kernels.score_voxels(chain.arm.packed, UP, jacobian_rows, rows, scores)
    return scores


@given(st.integers(0, 99), st.lists(st.integers(0, 4), min_size=1, max_size=6))
def test_best_solution_of_each_voxel_is_kept(seed, sizes):
    arm, rng = robots.ur5e(), np.random.default_rng(seed)
    q, converged = arm.random(seed, max(1, sum(sizes))), rng.random(sum(sizes)) < 0.6
    row_offsets = np.array([0, *np.cumsum(sizes)])
    lower, upper = arm.limits.T
    margin = (np.minimum(q - lower, upper - q) / (0.5 * (upper - lower))).min(axis=1)
    manipulability = [np.linalg.svd(arm.jacobian(each), compute_uv=False).prod() for each in q]
    scores = score(arm, q, converged, row_offsets)
    for voxel, (begin, end) in enumerate(pairwise(row_offsets)):
        rows = [row for row in range(begin, end) if converged[row]]
        assert scores.counts[voxel] == len(rows)
        if not rows:
            assert scores.greatest[:, voxel].tolist() == [0.0, 0.0]
            assert np.isnan(scores.q[voxel]).all()
            continue
        best = max(rows, key=lambda row: manipulability[row] * margin[row])
        expected = max(manipulability[row] for row in rows), max(margin[row] for row in rows)
        assert scores.greatest[:, voxel] == pytest.approx(expected, abs=1e-9)
        assert scores.q[voxel].tolist() == q[best].tolist()


@pytest.mark.parametrize(
    ("converged", "expected"),
    [([False, True, True, True], [1.0, 0.3]), ([True, True, True, True], [0.5, 1.0])],
)
def test_first_of_equally_good_solutions_is_kept(converged, expected):
    arm = Chain.from_dh(two_link_planar(1, 1), [(-1.0, 1.0), (-2.0, 2.0)])
    q = np.array([[0.5, 1.0], [1.0, 0.3], [-1.0, 0.4], [-1.0, 0.5]])  # the last three at a limit
    assert score(arm, q, converged, [0, 4], 3).q.tolist() == [expected]


@pytest.mark.parametrize(
    ("orientations", "kinds"),
    [
        (None, ["position"]),
        (AimCone((0, 0, -1), 0.5, 5), ["position", "aim"]),
        (12, ["position", "aim", "pose"]),
    ],
)
def test_levels_end_with_all_orientations(orientations, kinds):
    made = orientation_set(orientations)
    levels = list(levels_of(made, exact=False))
    assert [level.packed.kind.name for level in levels] == kinds
    assert [level.from_solution for level in levels] == [kind == "pose" for kind in kinds]
    assert len(levels[-1].packed.values) == levels[-1].offsets[-1] == made.count
    for before, level in pairwise(levels):
        assert len(level.offsets) == len(before.packed.values) + 1


def test_an_exact_map_has_one_level():
    made = orientation_set(12)
    (level,) = levels_of(made, exact=True)
    assert level.packed.kind.name == "pose"
    assert level.offsets.tolist() == [0, 12]
    assert not level.from_solution
