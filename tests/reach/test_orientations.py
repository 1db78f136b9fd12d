"""Sets of orientations: uniform rotations, and directions in a cone."""

from math import pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import AimCone, InvalidInputError
from jointwise.reach.orientations import cone_directions, orientation_set, uniform_rotations


@pytest.mark.parametrize("count", [1, 2, 100, 1000])
def test_rotations_are_rotation_matrices(count):
    matrices = uniform_rotations(count).rotations
    assert matrices.shape == (count, 3, 3)
    products = matrices @ np.swapaxes(matrices, 1, 2)
    assert products == pytest.approx(np.tile(np.eye(3), (count, 1, 1)))
    assert np.linalg.det(matrices) == pytest.approx(np.ones(count))


@pytest.mark.parametrize("count", [100, 1000])
def test_rotations_are_uniform(count):
    matrices = uniform_rotations(count).rotations
    assert np.abs(matrices.mean(axis=0)).max() < 3.0 / count
    # The angle to the nearest neighbour is much larger than among random rotations.
    traces = np.einsum("aij,bij->ab", matrices, matrices) - 10.0 * np.eye(count)
    nearest = np.arccos(np.clip(0.5 * (traces.max(axis=1) - 1.0), -1.0, 1.0))
    assert nearest.min() > 0.9 * (8.0 * pi**2 * 6.0 / (8.0 * pi * count)) ** (1 / 3)


def test_no_two_of_a_hundred_rotations_are_closer_than_46_degrees():
    matrices = uniform_rotations(100).rotations
    traces = np.einsum("aij,bij->ab", matrices, matrices)[~np.eye(100, dtype=bool)]
    assert np.degrees(np.arccos(0.5 * (traces.max() - 1.0))) > 46.0


@pytest.mark.parametrize("count", [1, 7, 100])
def test_rotations_are_grouped_by_the_direction_of_z(count):
    orientations = uniform_rotations(count)
    offsets = orientations.offsets
    assert offsets[0] == 0
    assert offsets[-1] == orientations.count == count
    for direction, begin, end in zip(
        orientations.directions, offsets[:-1], offsets[1:], strict=True
    ):
        assert end > begin
        for rotation in orientations.rotations[begin:end]:
            assert rotation[:, 2] == pytest.approx(direction, abs=1e-12)


@given(st.floats(0.05, pi), st.sampled_from([(0, 0, 1), (1, 0, 0), (-1, 2, 0.5), (0, 0, -1)]))
def test_directions_fill_their_cone(half_angle, direction):
    cone = AimCone(direction, half_angle, 200)
    directions = cone_directions(cone)
    assert np.linalg.norm(directions, axis=1) == pytest.approx(np.ones(200))
    height = directions @ cone.direction
    assert (np.arccos(np.clip(height, -1.0, 1.0)) <= half_angle + 1e-9).all()
    # Of points that are uniform on a sphere, the height is uniform.
    assert height.mean() == pytest.approx(0.5 * (1.0 + np.cos(half_angle)), abs=1e-6)
    mean = height.mean() * np.array(cone.direction)
    assert directions.mean(axis=0) == pytest.approx(mean, abs=0.02)


@pytest.mark.parametrize(
    ("orientations", "count", "jacobian_rows"),
    [(None, 1, 3), (AimCone((1, 0, 0), 0.5, 7), 7, 5), (12, 12, 6)],
)
def test_orientations_prescribe_rows_of_the_jacobian(orientations, count, jacobian_rows):
    made = orientation_set(orientations)
    assert (made.count, made.jacobian_rows) == (count, jacobian_rows)


def test_invalid_cone_is_refused():
    with pytest.raises(InvalidInputError, match=r"half_angle is 4.0: expected at most pi\."):
        AimCone((0, 0, 1), 4.0)
    with pytest.raises(InvalidInputError, match="direction has no length"):
        AimCone((0, 0, 0), 1.0)
    with pytest.raises(InvalidInputError, match=r"count is 0: expected at least 1\."):
        AimCone((0, 0, 1), 1.0, 0)
