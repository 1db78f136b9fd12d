"""The levels of a reach map, beside a twin in plain Python that shares no code with them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import Chain, kernels, robots, two_link_planar
from jointwise.reach.levels import levels_of
from jointwise.reach.orientations import UP, ways_of

# Which of the directions of each voxel are reached, if any is tried; and rotations a direction.
directions = st.integers(1, 4).flatmap(
    lambda count: st.tuples(
        st.lists(st.none() | st.lists(st.booleans(), min_size=count, max_size=count), max_size=5),
        st.lists(st.integers(0, 3), min_size=count, max_size=count),
    )
)


@given(directions, st.booleans(), st.sampled_from([(3, 3), (4, 4)]))
def test_what_is_reached_is_asked_for_more(tree, follow, shape):
    voxels, widths = tree
    rng = np.random.default_rng(0)
    points, ends = rng.normal(size=(len(voxels), 3)), np.array([0, *np.cumsum(widths)])
    patterns = rng.normal(size=(ends[-1], *shape))
    reached = np.array([one for voxel in voxels if voxel for one in voxel], np.bool_)
    firsts = np.array([0, *np.cumsum([len(voxel or ()) for voxel in voxels])], np.int64)
    values = rng.normal(size=(len(reached), 2))
    wanted, starts, row, last = [], [], 0, [0]
    for point, voxel in zip(points, voxels, strict=True):
        for way, one in enumerate(voxel or ()):
            for pattern in range(ends[way], ends[way + 1]) if one else ():
                target = patterns[pattern].copy()
                if shape == (3, 3):
                    target[0] = point
                else:
                    target[:3, 3] = point
                wanted.append(target)
                starts.append(values[row])
            row += 1
            last.append(len(wanted))
    begins = np.empty(len(reached) + 1, np.int64)
    kernels.voxels.count(reached, firsts, ends, begins)
    assert begins.tolist() == last
    targets, first = np.empty((len(wanted), *shape)), np.full((len(wanted), 2), 7.0)
    kernels.voxels.lay(follow, points, firsts, begins, ends, patterns, values, targets, first)
    assert targets.tolist() == [target.tolist() for target in wanted]
    assert first.tolist() == ([q.tolist() for q in starts] if follow else first.tolist())
    assert follow or (first == 7.0).all()


def weighed(arm, values, reached, firsts, freedoms=6):
    """What the kernel finds."""
    count, n = len(firsts) - 1, values.shape[1]
    found = np.empty(count, np.int64), np.empty((2, count)), np.empty((count, n))
    block, lists = arm.arm.block, (np.asarray(firsts), values, np.asarray(reached, np.bool_))
    kernels.voxels.weigh(block, UP, freedoms, *lists, *found)
    return found


@given(st.integers(0, 99), st.lists(st.integers(0, 4), min_size=1, max_size=6))
def test_of_each_voxel_the_best_is_kept(seed, sizes):
    arm, rng = robots.ur5e(), np.random.default_rng(seed)
    values, reached = arm.random(seed, max(1, sum(sizes))), rng.random(sum(sizes)) < 0.6
    firsts = np.array([0, *np.cumsum(sizes)])
    lower, upper = arm.limits.T
    spare = (np.minimum(values - lower, upper - values) / (0.5 * (upper - lower))).min(axis=1)
    freedom = [np.linalg.svd(arm.jacobian(q), compute_uv=False).prod() for q in values]
    counts, greatest, chosen = weighed(arm, values, reached, firsts)
    for voxel, (begin, end) in enumerate(pairwise(firsts)):
        rows = [row for row in range(begin, end) if reached[row]]
        assert counts[voxel] == len(rows)
        if not rows:
            assert (greatest[:, voxel] == 0.0).all()
            assert np.isnan(chosen[voxel]).all()
            continue
        best = max(rows, key=lambda row: freedom[row] * spare[row])
        assert greatest[0, voxel] == pytest.approx(max(freedom[row] for row in rows), abs=1e-9)
        assert greatest[1, voxel] == pytest.approx(max(spare[row] for row in rows))
        assert chosen[voxel].tolist() == values[best].tolist()


def test_of_equals_the_first_is_kept():
    arm = Chain.from_dh(two_link_planar(1, 1), [(-1.0, 1.0), (-2.0, 2.0)])
    values = np.array([[0.5, 1.0], [1.0, 0.3], [-1.0, 0.4], [-1.0, 0.5]])  # margins of zero
    _, _, chosen = weighed(arm, values, [False, True, True, True], [0, 4], 3)
    assert chosen.tolist() == [[1.0, 0.3]]
    _, _, chosen = weighed(arm, values, [True, True, True, True], [0, 4], 3)
    assert chosen.tolist() == [[0.5, 1.0]]


@pytest.mark.parametrize(("orientations", "shapes"), [(None, [1]), (12, [1, 3, 4])])
def test_levels_ask_for_all_ways_at_the_origin(orientations, shapes):
    arm, ways = robots.ur5e().arm, ways_of(orientations)
    levels = list(levels_of(arm, ways))
    assert [level.patterns.shape[1] for level in levels] == shapes
    assert len(levels[-1].patterns) == levels[-1].ends[-1] == ways.count
    for before, level in pairwise(levels):
        assert len(level.ends) == len(before.patterns) + 1
