"""A posture never leads farther away from the joint values that it prefers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import Chain, Posture, Robot, Scene
from jointwise.posture import POSTURE_WEIGHT
from testbed.postures import arm_postures, compare, standing_postures
from testbed.random_trees import random_tree
from tests.support.examples import examples
from tests.test_robot_solve import HANDS_AND_FEET, tips
from tests.test_urdf_tips import BY_NAME

# Which engine solves: that of arms, that of trees, or as a solve with another weight chooses.
every_engine = pytest.mark.parametrize(
    ("engine", "weight"),
    [("", POSTURE_WEIGHT), ("tree", POSTURE_WEIGHT), ("", 0.02)],
    ids=["serial", "tree", "another weight"],
)


@every_engine
@pytest.mark.parametrize("name", ["panda", "iiwa14", "ur5e", "stanford", "fetch"])
def test_an_arm_is_never_farther_than_without_its_posture(name, engine, weight):
    found = list(arm_postures(Chain.load(name), range(20), weight, engine))
    assert [each for each in found if each.is_broken] == []


def test_a_standing_humanoid_is_never_farther_than_without_its_posture():
    robot = Robot.from_urdf(BY_NAME["g1_29dof_rev_1_0.urdf"], free_base=True)
    feet, hands = tuple(HANDS_AND_FEET[:2]), tuple(HANDS_AND_FEET[2:])
    found = list(standing_postures(robot, feet, hands, range(17)))
    assert [each for each in found if each.is_broken] == []


@examples(30)
@given(seed=st.integers(0, 10_000), free_base=st.booleans(), far=st.booleans())
def test_a_tree_is_never_farther_than_without_its_posture(seed, free_base, far):
    robot, rng = random_tree(seed, free_base=free_base), np.random.default_rng(seed)
    poses = robot.fk(robot.random(seed))
    targets = {link: poses[link].copy() for link in tips(robot)[:3]}
    if far:
        targets[next(iter(targets))][:3, 3] += 2.0 * rng.normal(size=3)
    posture, start = Posture(robot.random(seed + 1)), robot.random(seed + 2)
    found = compare(robot.solve, targets, start, posture, seed)
    assert not found.is_broken
    assert not (found.is_farther and len(targets) > 1)  # an arm may come closer to a far target


@every_engine
def test_a_free_solution_is_never_farther_than_without_its_posture(engine, weight):
    scene = Scene().box([0.6, 1.2, 0.04], [0.6, 0.0, 0.2]).cylinder(0.05, 0.8, [0.3, 0.4, 0.6])
    arm = Chain.load("panda").with_scene(scene)
    found = list(arm_postures(arm, range(12), weight, engine))
    assert sum(each.reached[0] for each in found) >= 3
    assert [each for each in found if each.is_broken] == []
