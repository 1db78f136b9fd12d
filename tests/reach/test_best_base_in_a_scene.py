"""Where the base of an arm should stand among obstacles."""

from itertools import product

import numpy as np
import pytest
from scipy.spatial.transform import RigidTransform, Rotation

from jointwise import Chain, GeometryWarning, Scene, best_base
from jointwise.reach import base_candidates
from jointwise.reach.base_checks import BaseChecks
from jointwise.shape.geometry import group_of_spheres

ARM = Chain.load("ur5e").with_scene()
BOARDS = (
    Scene()
    .box([0.3, 1.0, 0.02], [0.75, 0.0, 0.35], name="lower board")
    .box([0.3, 1.0, 0.02], [0.75, 0.0, 0.85], name="upper board")
    .box([0.02, 1.0, 1.0], [0.9, 0.0, 0.5], name="back")
    .cylinder(0.05, 1.0, [0.45, 0.1, 0.5], name="post")
)


def poses(count=8, seed=0):
    """(count, 4, 4) poses between the two boards, the end effector pointing to the back."""
    rng, found = np.random.default_rng(seed), np.tile(np.eye(4), (count, 1, 1))
    found[:, :3, :3] = Rotation.from_euler("y", 90, degrees=True).as_matrix()
    found[:, :3, 3] = rng.uniform([0.65, -0.3, 0.45], [0.75, 0.3, 0.75], (count, 3))
    return found


def rotated_bases(count=5, seed=1):
    """(count, 4, 4) bases in front of the boards, each rotated about z."""
    rng = np.random.default_rng(seed)
    origins = rng.uniform([-0.2, -0.3, 0.2], [0.2, 0.3, 0.5], (count, 3))
    turns = Rotation.from_euler("z", rng.uniform(-np.pi, np.pi, (count, 1)))
    return RigidTransform.from_components(origins, turns).as_matrix()


def seen_from(base, scene):
    """The obstacles of a scene without grids, in the frame of a base."""
    return Scene(tuple(each.at(np.linalg.inv(base) @ each.pose) for each in scene))


@pytest.mark.parametrize("margin", [0.0, 0.01])
def test_a_target_is_reached_if_it_has_a_free_solution(margin):
    """All solutions of a UR5e are known, so which targets have a free one is known, too."""
    bases, targets = rotated_bases(), poses()
    expected = [
        sum(len(arm.solutions(np.linalg.inv(base) @ target)) > 0 for target in targets)
        for base, arm in (
            (base, ARM.with_scene(seen_from(base, BOARDS), margin=margin)) for base in bases
        )
    ]
    found = best_base(ARM.with_scene(BOARDS, margin=margin), targets, bases)
    assert found.reached.tolist() == expected
    assert max(expected) > 0
    assert best_base(ARM, targets, bases).reached.sum() > sum(expected)


def test_joint_values_are_free_from_the_best_base():
    bases, targets = rotated_bases(), poses()
    found = best_base(ARM.with_scene(BOARDS, margin=0.01), targets, bases)
    reached = ~np.isnan(found.q[:, 0])
    arm, q = ARM.with_scene(seen_from(found.base_pose, BOARDS)), found.q[reached]
    assert found.reached[found.best] == reached.sum() > 0
    assert np.abs(found.base_pose @ ARM.fk(q) - targets[reached]).max() < 1e-3
    assert found.clearance[reached] == pytest.approx(arm.clearance(q), abs=1e-9)
    assert found.clearance[reached].min() >= 0.01
    assert np.isnan(found.clearance[~reached]).all()
    assert str(found).endswith(f", clearance {found.clearance[reached].min():.3f} m")
    assert not found.clearance.flags.writeable


def test_a_point_cloud_stays_where_it_is_while_the_base_turns():
    grid = np.linspace(-0.1, 0.1, 15)
    wall = np.array([[0.45, y, z + 0.4] for y, z in product(grid, grid)])
    scene, bases = Scene.from_points(wall, name="wall"), rotated_bases(3)
    found = best_base(ARM.with_scene(scene), poses(6), bases)
    reached = ~np.isnan(found.q[:, 0])
    spheres = [ARM.geometry.spheres(q) for q in found.q[reached]]
    for each in spheres:
        moving = each[group_of_spheres(ARM.geometry) > 0]
        centres = moving[:, :3] @ found.base_pose[:3, :3].T + found.base_pose[:3, 3]
        gaps = np.linalg.norm(centres[:, None] - wall, axis=2) - moving[:, 3:]
        assert gaps.min() >= 0.0
    assert reached.any()


def test_links_must_not_touch_each_other_either():
    bases, targets = rotated_bases(4), poses()
    checked, unchecked = (
        best_base(ARM.with_scene(self_collision=each), targets, bases) for each in (True, False)
    )
    assert (checked.reached <= unchecked.reached).all()
    reached = ~np.isnan(checked.q[:, 0])
    assert ARM.is_free(checked.q[reached]).all()
    assert np.isinf(unchecked.clearance[~np.isnan(unchecked.q[:, 0])]).all()
    without = best_base(Chain.load("ur5e"), targets, bases)
    assert (without.reached == unchecked.reached).all()


def test_a_base_may_stand_on_an_obstacle_but_not_in_one():
    column = Scene().cylinder(0.3, 0.4, [0.0, 0.0, 0.2], name="column")
    heights = [0.4, 0.3, 0.45]
    bases = np.tile(np.eye(4), (3, 1, 1))
    bases[:, 2, 3] = heights  # on it, in it, and above it
    found = best_base(ARM.with_scene(column), [[0.5, 0.2, 0.6]], bases)
    assert found.reached.tolist() == [1, 0, 1]


def test_where_every_base_touches_it_is_said_once_by_name():
    wall = Scene().box([9.0, 9.0, 3.0], name="rock")
    bases = base_candidates(poses(), 0.2, 0.2)
    with pytest.warns(GeometryWarning) as warned:
        found = best_base(ARM.with_scene(wall), poses(), bases)
    assert [str(each.message) for each in warned] == [
        "every candidate base collides with 'rock', so no target is reached: expected bases "
        "beside them, or on them."
    ]
    assert found.reached.tolist() == [0] * len(bases)
    assert np.isnan(found.q).all()
    assert str(found).endswith("0 of 8 poses reached, limit margin 0.00")


@pytest.mark.filterwarnings("error")
def test_obstacles_around_the_origin_are_not_around_a_base_elsewhere():
    box = Scene().box([0.5, 0.5, 0.5], name="box")  # which would swallow a base at the origin
    base = np.eye(4)
    base[:3, 3] = 2.0, 0.0, 0.0
    assert best_base(ARM.with_scene(box), [[2.5, 0.2, 0.4]], base[None]).reached.tolist() == [1]


def test_a_base_may_collide_with_an_obstacle_that_is_allowed():
    block = Scene().box([0.3, 0.3, 0.6], [0.0, 0.0, 0.0], name="block")
    foot, base = ARM.geometry.links[0][0], np.eye(4)[None]
    for allow in ([], [(foot, "block")]):
        arm = ARM.with_scene(block, allow=allow)
        hit = BaseChecks(arm).obstacles_hit(base)
        assert hit == ["" if allow else "block"]


def test_a_scene_is_seen_from_an_arm_whose_base_was_moved_before():
    """A candidate is the pose of the frame in which the arm is given."""
    lift = np.eye(4)
    lift[2, 3] = 0.2
    bases, targets = rotated_bases(3), poses(5)
    scene = ARM.with_scene(BOARDS)
    lifted = best_base(scene.with_base(lift), targets, bases)
    found = best_base(scene, targets, bases @ lift)
    assert lifted.reached.tolist() == found.reached.tolist()
    assert lifted.q == pytest.approx(found.q, abs=1e-4, nan_ok=True)
