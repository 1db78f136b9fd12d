"""Limbs that share no moving joint are solved as if each were alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jointwise import Posture, Robot
from testbed.far_targets import limbs, moving_joints
from testbed.random_trees import random_tree
from tests.support.examples import examples
from tests.test_urdf_tips import BY_NAME

SIDES = ("left", "right")
ROBOTS = {
    "g1_29dof_rev_1_0.urdf": [
        f"{s}_{link}" for s in SIDES for link in ("rubber_hand", "knee_link")
    ],
    "baxter.urdf": [f"{side}_gripper" for side in SIDES],
    "talos_full_v2.urdf": [
        link for side in SIDES for link in (f"gripper_{side}_base_link", f"{side}_sole_link")
    ],
    "tiago_dual.urdf": [f"hand_{side}_tool_link" for side in SIDES],
}


def load(file):
    """A robot, its links with targets, and a posture that holds a torso that all of them share."""
    robot = Robot.from_urdf(BY_NAME[file])
    active = [name for name in robot.joint_names if "torso" not in name]
    return robot, tuple(ROBOTS[file]), Posture(active=active) if "tiago" in file else None


@pytest.mark.filterwarnings("ignore::jointwise.errors.DegreesWarning")
@pytest.mark.parametrize("file", ROBOTS)
def test_a_target_far_away_spoils_no_other_limb(file):
    robot, links, posture = load(file)
    found = list(limbs(robot, links, range(12), posture))
    assert len(found) >= 8
    assert [limb for limb in found if limb.spoiled] == []


@pytest.mark.parametrize("follow", [False, True], ids=["solve", "path"])
@examples(40)
@given(seed=st.integers(0, 10_000))
def test_the_answer_for_a_limb_is_that_for_its_targets_alone(follow, seed):
    """To the last bit, whether the targets of other limbs are reached, far away or absent."""
    robot, rng = random_tree(seed), np.random.default_rng(seed)
    links = [link for link in robot.link_names[1:] if moving_joints(robot, link)]
    chosen = rng.choice(links, min(4, len(links)), replace=False).tolist()
    poses, start = robot.fk(robot.random(seed)), robot.random(seed + 1)
    targets = {link: poses[link].copy() for link in chosen}
    targets[chosen[0]][:3, 3] += rng.normal(size=3) * rng.choice([0.0, 3.0])
    joints = {link: moving_joints(robot, link) for link in chosen}
    limb, moved_by = {chosen[-1]}, joints[chosen[-1]]
    for _ in chosen:  # links of one limb may share joints through a third
        limb |= {link for link in chosen if joints[link] & moved_by}
        moved_by = moved_by.union(*(joints[link] for link in limb))
    every_joint = Posture(active=robot.joint_names)  # also one target is solved as a tree
    if follow:
        targets = {link: np.array([pose] * 3) for link, pose in targets.items()}
    own = {link: targets[link] for link in targets if link in limb}
    solve = robot.solve_path if follow else robot.solve
    everything, alone = (solve(each, start, posture=every_joint) for each in (targets, own))
    at = [robot.joint_names.index(name) for name in sorted(moved_by)]
    np.testing.assert_array_equal(everything.q[..., at], alone.q[..., at])
    for link in own:
        np.testing.assert_array_equal(everything.errors[link], alone.errors[link])
