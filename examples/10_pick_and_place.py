"""Pick and place: every motion planned and proven free.

A Panda takes a block and puts it down behind a wall: ``python examples/10_pick_and_place.py``. A
file name after it writes the picture of the longest motion.
"""

import sys

import numpy as np

from jointwise import Chain, Scene, plot, pose

# A table with a wall on it, and a block, 50 mm wide and 100 mm high.
cell = (
    Scene()
    .box([1.2, 1.6, 0.04], [0.4, 0.0, -0.02], name="table")
    .box([0.4, 0.03, 0.4], [0.6, 0.0, 0.2], name="wall")
)
SIZE, TAKEN, PLACED = [0.05, 0.05, 0.1], [0.5, -0.3, 0.05], [0.5, 0.3, 0.05]

# The shape of the Panda has no hand, so a box stands for it. The end effector is between the tips
# of its fingers, which hold the upper half of the block.
HAND, GRASP = 0.12, 0.025
panda = Chain.load("panda").attach("hand", [0.0, 0.0, 0.5 * HAND], box=[0.05, 0.18, HAND])
panda = panda.with_tool([0.0, 0.0, HAND], radius=0)


def hand_poses(block, above):
    """Poses of the hand at a block or above it, pointing down: four turns about the vertical.

    Args:
        block: (3,) the centre of the block [m].
        above: How much higher the hand is [m].
    """
    position = np.add(block, [0.0, 0.0, GRASP + above])
    return [pose(position, rpy=np.radians([180, 0, turn])) for turn in (0, 90, 180, 270)]


def planned(phase, arm, targets, start):
    """The plan of one phase, to any of the targets; prints its length and its clearance."""
    plan = arm.plan(targets, start).or_raise()
    print(f"{phase:9}{plan.length:5.2f} rad in {len(plan) - 1} edges, at least", end=" ")
    print(f"{1e3 * plan.clearance:.0f} mm between {' and '.join(plan.contact)}")
    return plan


# Approach: the block is an obstacle, like everything else. Any of four turns of the hand will do.
beside = cell.box(SIZE, TAKEN, name="block")
free = panda.with_scene(beside, margin=0.005)
approach = planned("approach", free, hand_poses(TAKEN, 0.1), panda.home)

# Grasp: only the hand may touch the block, and it keeps its turn.
turn = approach.target_index
grasping = panda.with_scene(beside, margin=0.005, allow=[("hand", "block")])
grasp = planned("grasp", grasping, hand_poses(TAKEN, 0.0)[turn], approach.q)

# Lift: the block is part of the arm now, and no longer an obstacle. It still stands on the table.
holding = panda.attach("block", [0.0, 0.0, GRASP], box=SIZE)
standing = holding.with_scene(cell, margin=0.005, allow=[("block", "table")])
lift = planned("lift", standing, hand_poses(TAKEN, 0.1)[turn], grasp.q)

# Carry: no contact is allowed. Then the block is put down.
carrying = holding.with_scene(cell, margin=0.005)
carry = planned("carry", carrying, hand_poses(PLACED, 0.1), lift.q)
turn = carry.target_index
place = planned("place", standing, hand_poses(PLACED, 0.0)[turn], carry.q)

# Retreat: the block is an obstacle again, at its new place, and the hand still touches it.
leaving = grasping.scene.replaced(grasping.scene["block"].at(PLACED))
leaving = panda.with_scene(leaving, margin=0.005, allow=[("hand", "block")])
retreat = planned("retreat", leaving, hand_poses(PLACED, 0.1)[turn], place.q)

ax = plot.plan(carrying, carry)
if len(sys.argv) > 1:
    ax.figure.savefig(sys.argv[1])
