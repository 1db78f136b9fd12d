"""A scene that replaces another costs little: the shape of the model is packed once."""

import numpy as np
import pytest

from jointwise import Chain, Robot, Scene
from jointwise.engines.serial.check import serial_check
from jointwise.kernels.layout import scene as layout
from jointwise.scene import packing
from jointwise.scene.packing import PackedShape, with_world
from jointwise.scene.scene import kernel_world
from jointwise.shape.geometry import kernel_spheres
from tests.support.facades import both, tip, to
from tests.support.scenes import allowed_mask, among_all_kinds, pack_arm_in, random_pairs

pytestmark = pytest.mark.filterwarnings("ignore::jointwise.errors.GeometryWarning")


@pytest.mark.parametrize("seed", range(6))
def test_obstacles_added_to_a_packed_shape_are_those_packed_with_it(seed):
    arm = Chain.load("panda").with_scene()
    scene = among_all_kinds(seed) if seed else Scene().sphere(0.1)
    pairs = random_pairs(seed, arm.geometry.names, scene)
    shape = PackedShape(arm.arm.packed, kernel_spheres(arm.geometry))
    for allowed in (None, allowed_mask(arm.geometry.names, scene, pairs)):
        expected = pack_arm_in(arm, scene, allowed, 0.01 * seed)
        found = with_world(shape, kernel_world(scene), 0.01 * seed, allowed)
        assert np.array_equal(found, expected)


def test_an_empty_scene_is_packed_too():
    arm = Chain.load("panda").with_scene()
    shape = PackedShape(arm.arm.packed, kernel_spheres(arm.geometry))
    assert np.array_equal(with_world(shape, kernel_world(Scene())), pack_arm_in(arm, Scene(), None))


@both
def test_the_shape_is_packed_once_for_all_scenes(facade, monkeypatch):
    model = facade.load("panda").with_scene()
    q, target = model.mid_range, to(model, tip(model, model.random(3)))
    allow = [("panda_link5", "panda_link7")]
    options = [{}, {"self_collision": False}, {"allow": allow}, {"margin": 0.01}]
    for each in options:
        first = model.with_scene(among_all_kinds(1), **each)
        assert first.solve(target, q).clearance == first.solve(target, q).clearance
        assert np.isfinite(first.clearance(q))

    def packed_again(*_):
        raise AssertionError("the shape is packed again")

    for module in (layout, packing):
        monkeypatch.setattr(module, "pack_scene", packed_again)
    for each in options:
        other = model.with_scene(among_all_kinds(2), **each)
        assert np.isfinite(other.clearance(q))
        assert other.solve(target, q).clearance == other.solve(target, q).clearance


def test_a_check_is_kept_for_its_scene():
    arm = Chain.load("ur5e").with_scene(among_all_kinds(1))
    other = arm.with_scene(among_all_kinds(2))
    assert arm._check() is arm._check()
    assert arm._check() is not other._check()
    assert serial_check(arm.arm, arm._collision_model) is arm._check()
    assert Robot.load("ur5e").with_scene(arm.scene)._check().names[-8:] == arm._check().names[-8:]
