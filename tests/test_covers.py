"""Spheres around boxes and cylinders: all of the solid is inside, and none is too fat."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jointwise import Chain, InvalidInputError, Robot
from jointwise.shape.solids.covers import MAX_SPHERES, box_spheres, cylinder_spheres
from tests.support.examples import examples

EDGES = st.floats(-4.0, 0.7).map(lambda power: 10.0**power)
PADDINGS = st.floats(0.05, 0.4)
POINTS = np.random.default_rng(1).uniform(-1.0, 1.0, (400, 3))


def outside(points, spheres):
    """How far points are outside of all spheres [m]."""
    return min_gaps(points, spheres).max()


def min_gaps(points, spheres):
    apart = np.linalg.norm(points[:, None] - spheres[None, :, :3], axis=2)
    return (apart - spheres[:, 3]).min(axis=1)


@examples(25)
@given(size=st.tuples(EDGES, EDGES, EDGES), share=PADDINGS)
def test_spheres_of_a_box_contain_it_and_are_not_too_fat(size, share):
    size, padding = np.array(size), share * max(size)
    spheres = box_spheres(size, padding)
    on_faces = POINTS.copy()
    on_faces[np.arange(len(POINTS)), np.arange(len(POINTS)) % 3] = np.sign(POINTS[:, 0])
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    for points in (POINTS, on_faces, corners):
        assert outside(0.5 * points * size, spheres) <= 0.0
    centres = spheres[:, :3]
    assert (np.abs(centres) <= 0.5 * size + 1e-12).all()
    beyond = np.abs(centres) + spheres[:, 3:] - 0.5 * size
    assert beyond.max() <= padding + 1e-8


@examples(25)
@example(radius=1.0, length=0.1, share=0.05190223177513567)  # an inner ring was too fat
@given(radius=EDGES, length=EDGES, share=PADDINGS)
def test_spheres_of_a_cylinder_contain_it_and_are_not_too_fat(radius, length, share):
    padding = share * max(radius, length)
    spheres = cylinder_spheres(radius, length, padding)
    angles, shares, heights = np.pi * POINTS[:, 0], np.sqrt(np.abs(POINTS[:, 1])), POINTS[:, 2]
    for rho, z in ((shares, heights), (shares, np.sign(heights)), (np.ones(400), heights)):
        points = np.stack([rho * np.cos(angles), rho * np.sin(angles)], axis=1) * radius
        assert outside(np.insert(points, 2, 0.5 * z * length, axis=1), spheres) <= 0.0
    across = np.linalg.norm(spheres[:, :2], axis=1)
    assert (across + spheres[:, 3] - radius).max() <= padding + 1e-8
    assert (np.abs(spheres[:, 2]) + spheres[:, 3] - 0.5 * length).max() <= padding + 1e-8


@pytest.mark.parametrize("model", [Chain, Robot])
@pytest.mark.parametrize("edge", [0.02, 0.3, 2.0])
def test_an_attached_box_of_any_size_has_few_spheres(model, edge):
    bare = model.load("panda").with_scene()
    link = {"link": "tip"} if model is Robot else {}
    holding = bare.attach("crate", [0.0, 0.0, 0.1 + edge], box=[edge] * 3, **link)
    assert holding.geometry.count - bare.geometry.count < 400


@pytest.mark.parametrize("size", [1e4, 1e8, 0.999e9])
def test_too_many_spheres_are_refused(size):
    text = r"^padding is 0.01 m, which would need .*e\+\d+ spheres: expected at most 20,000\."
    arm = Chain.load("ur5e")
    for solid in ({"box": [size] * 3}, {"cylinder": [size, 1.0]}, {"cylinder": [0.01, size]}):
        with pytest.raises(InvalidInputError, match=text):
            arm.attach("thing", padding=0.01, **solid)
    assert MAX_SPHERES == 20_000
